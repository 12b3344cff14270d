/*
 * Backend `trace`: a number is a node of an expression graph (tools/gen/graph.h). Running a kernel
 * on the constants of one robot and symbols for its state gives straight-line code for that robot.
 */
#ifndef TOOLS_GEN_TRACE_H
#define TOOLS_GEN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/gen/graph.h"

/* id is a ref_t. */
typedef struct {
    int32_t id;
} dyn_real_trace_t;

#define DYN_REAL trace
#include "dyn/number/arm.inc"
#undef DYN_REAL

/* Selects the graph for new nodes. Call it before dyn_prepare_trace, the inputs and the kernel. After
 * trace_hold it holds vectors (graph_hold). */
void trace_use(graph_t *graph);
void trace_hold(void);

dyn_real_trace_t trace_const(double value);
dyn_real_trace_t trace_input(int32_t array, int32_t index);
dyn_real_trace_t trace_neg(dyn_real_trace_t a);
dyn_real_trace_t trace_add(dyn_real_trace_t a, dyn_real_trace_t b);
dyn_real_trace_t trace_sub(dyn_real_trace_t a, dyn_real_trace_t b);
dyn_real_trace_t trace_mul(dyn_real_trace_t a, dyn_real_trace_t b);
dyn_real_trace_t trace_recip(dyn_real_trace_t a);
dyn_real_trace_t trace_other(graph_op_t op, dyn_real_trace_t a, dyn_real_trace_t b);
void trace_sincos(dyn_real_trace_t q, dyn_real_trace_t offset, dyn_real_trace_t *cosine,
                  dyn_real_trace_t *sine);
dyn_vec_trace_t trace_joined(dyn_vec_trace_t a);
/* Makes each number a result of the graph. */
void trace_results(const dyn_real_trace_t *result, uint32_t count);
/*
 * Computes values of numbers in a graph that was never rewritten; the numbers need not be results.
 */
void trace_values(const graph_t *graph, graph_lookup_t input, void *context,
                  const dyn_real_trace_t *number, int count, double *value);

#endif

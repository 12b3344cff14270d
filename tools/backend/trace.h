/*
 * Backend `trace`: a number is a node of an expression graph. Running a kernel on the constants of
 * one robot and symbols for its state gives straight-line code for that robot.
 *
 * Equal expressions are one node (hash-consing, operands of sums and products in canonical order,
 * signs moved outwards so that a - b and b - a share); constants fold; zeros and ones vanish; a
 * quarter turn in an angle becomes a change of names. What no result needs is not printed.
 */
#ifndef TOOLS_BACKEND_TRACE_H
#define TOOLS_BACKEND_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int32_t id;
} dyn_real_trace_t;

#define DYN_REAL trace
#include "dyn/instance.h"
#undef DYN_REAL

typedef enum {
    TRACE_CONST, /* value */
    TRACE_INPUT, /* name[index] */
    TRACE_ANGLE, /* a + value: offset of an angle, not counted */
    TRACE_SIN,
    TRACE_COS,
    TRACE_NEG,
    TRACE_ADD,
    TRACE_SUB,
    TRACE_MUL,
    TRACE_RECIP,
    TRACE_SQRT,
    TRACE_CLAMP, /* a to -b .. b */
    TRACE_MIN
} trace_op_t;

typedef struct {
    trace_op_t op;
    int32_t a, b; /* operands; of an input a is its index */
    double value;
    char name[16]; /* of an input its array, else a hint from the kernel, or empty */
} trace_node_t;

typedef struct trace_graph trace_graph_t;

typedef struct {
    long mul, add, div, sqrt, sincos; /* signs and angle offsets are free; x + x is an addition */
} trace_ops_t;

trace_graph_t *trace_new(void);
void trace_free(trace_graph_t *graph);
/* New nodes go there from now on: before dyn_prepare_trace, inputs and the kernel. */
void trace_use(trace_graph_t *graph);

dyn_real_trace_t trace_const(double value);
dyn_real_trace_t trace_input(const char *array, int32_t index);
dyn_real_trace_t trace_node(trace_op_t op, dyn_real_trace_t a, dyn_real_trace_t b);
void trace_sincos(dyn_real_trace_t q, dyn_real_trace_t offset, dyn_real_trace_t *cosine,
                  dyn_real_trace_t *sine);
/* A name for the node, for readable output; the first one stays. */
void trace_hint(const char *name, uint32_t joint, const char *part, dyn_real_trace_t a);

int32_t trace_size(const trace_graph_t *graph);
const trace_node_t *trace_at(const trace_graph_t *graph, int32_t id);
trace_ops_t trace_count(const trace_graph_t *graph, const dyn_real_trace_t *results, int n);

/* Value of the results, with input(array, index) giving the symbols. */
typedef double (*trace_lookup_t)(void *context, const char *array, int32_t index);
void trace_eval(const trace_graph_t *graph, trace_lookup_t input, void *context,
                const dyn_real_trace_t *results, int n, double *values);

typedef enum { TRACE_F64, TRACE_F32 } trace_type_t;
/*
 * One C11 function `void name(const T q[], ..., T result[])` that needs <math.h> only. The arrays
 * are those of the inputs in the order given, NULL at the end.
 */
void trace_print(const trace_graph_t *graph, FILE *out, trace_type_t type, const char *name,
                 const char *const *arrays, const char *result, const dyn_real_trace_t *results,
                 int n);

#endif

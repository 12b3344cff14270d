/* Implements the numbers of tools/gen/trace.h, which build the graph. */
#include "tools/gen/trace.h"

#include <stdlib.h>

typedef dyn_real_trace_t real;

static graph_t *current;
static bool holds;
static int32_t held; /* number of vectors held so far */

void trace_use(graph_t *graph) {
    current = graph;
    holds = false;
}

void trace_hold(void) {
    holds = true;
    held = 0;
}

real trace_const(double value) {
    return (real){graph_const(current, value)};
}

real trace_input(int32_t array, int32_t index) {
    return (real){graph_input(current, array, index)};
}

real trace_neg(real a) {
    return (real){graph_neg(a.id)};
}

real trace_add(real a, real b) {
    return (real){graph_add(current, a.id, b.id)};
}

real trace_sub(real a, real b) {
    return (real){graph_sub(current, a.id, b.id)};
}

real trace_mul(real a, real b) {
    return (real){graph_mul(current, a.id, b.id)};
}

real trace_recip(real a) {
    return (real){graph_recip(current, a.id)};
}

real trace_other(graph_op_t op, real a, real b) {
    return (real){graph_other(current, op, a.id, b.id)};
}

void trace_sincos(real q, real offset, real *cosine, real *sine) {
    const ref_t angle = graph_angle(current, q.id, offset.id, 0);
    graph_sincos(current, angle, &cosine->id, &sine->id);
}

dyn_vec_trace_t trace_joined(dyn_vec_trace_t a) {
    if (!holds)
        return a;
    a.x.id = graph_hold(current, a.x.id, held, 0);
    a.y.id = graph_hold(current, a.y.id, held, 1);
    a.z.id = graph_hold(current, a.z.id, held++, 2);
    return a;
}

void trace_results(const real *result, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        graph_output(current, result[i].id);
}

void trace_values(const graph_t *graph, graph_lookup_t input, void *context, const real *number,
                  int count, double *value) {
    double *all = malloc((size_t)graph_size(graph) * sizeof *all);
    if (!all)
        abort();
    graph_eval_all(graph, input, context, all);
    for (int i = 0; i < count; i++) {
        const ref_t r = number[i].id;
        value[i] = r & 1 ? -all[r >> 1] : all[r >> 1];
    }
    free(all);
}

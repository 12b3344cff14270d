/*
 * The annealer: applies random exact rewritings to an expression graph (reassociate, distribute,
 * factor, pull a constant out of a sum, s^2 = 1 - c^2) and accepts them by Metropolis' rule while
 * the temperature falls. The same seed gives the same graph on every machine.
 */
#ifndef TOOLS_GEN_ANNEAL_H
#define TOOLS_GEN_ANNEAL_H

#include "tools/gen/graph.h"

typedef struct {
    graph_cost_t cost;
    long moves;       /* total over all seeds */
    int seeds;        /* independent runs; the best continues */
    double hot, cold; /* temperatures, in units of the cost */
    /* Called now and then, may be NULL: moves done, moves in all, and the least cost. */
    void (*progress)(void *context, long done, long of, double least);
    void *context;
} anneal_t;

/* Cost of an executed operation on a Cortex-M4F, as far as a graph can know it. */
extern const graph_cost_t anneal_m4f;

/* Returns a graph that computes the same and costs no more; does not change `from`. */
graph_t *anneal_run(const graph_t *from, const anneal_t *how);
/* The same, but takes the result from the folder in APPELL_CACHE if it is there: anneal_cache.c. */
graph_t *anneal_cached(const graph_t *from, const anneal_t *how);

#endif

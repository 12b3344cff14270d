/*
 * The annealer: random exact rewritings of an expression graph (reassociate, distribute, factor,
 * pull a constant out of a sum, s^2 = 1 - c^2), accepted by Metropolis' rule while the temperature
 * falls. The same seed gives the same graph on every machine.
 */
#ifndef TOOLS_GEN_ANNEAL_H
#define TOOLS_GEN_ANNEAL_H

#include "tools/gen/graph.h"

typedef struct {
    graph_cost_t cost;
    long moves;       /* in all, over all seeds */
    int seeds;        /* independent runs; the best continues */
    double hot, cold; /* temperatures, in units of the cost */
    /* Told now and then, may be NULL: moves done of all, and the least cost. */
    void (*progress)(void *context, long done, long of, double least);
    void *context;
} anneal_t;

/* The cost of an executed operation on a Cortex-M4F, as far as a graph can know it. */
extern const graph_cost_t anneal_m4f;

/* A graph that computes the same and costs no more; `from` stays. */
graph_t *anneal_run(const graph_t *from, const anneal_t *how);
/* The same graph, from the folder that APPELL_CACHE names where it is there: anneal_cache.c. */
graph_t *anneal_cached(const graph_t *from, const anneal_t *how);

#endif

/*
 * The annealer applies random exact rewritings to an expression graph (reassociate, distribute,
 * factor, pull a constant out of a sum, s^2 = 1 - c^2) and accepts them by the Metropolis rule
 * while the temperature falls. The same seed gives the same graph on every machine.
 */
#ifndef TOOLS_GEN_ANNEAL_H
#define TOOLS_GEN_ANNEAL_H

#include "tools/gen/graph.h"

typedef struct {
    graph_cost_t cost;
    long moves;       /* number of attempted rewritings, in all runs together */
    int seeds;        /* number of independent runs; the best result is returned */
    double hot, cold; /* first and last temperature, in units of the cost */
    /* Called from time to time with the moves done, all moves and the least cost; may be NULL. */
    void (*progress)(void *context, long done, long of, double least);
    void *context;
} anneal_t;

/* Costs of the operations on a Cortex-M4F, as far as they can be known from a graph alone. */
extern const graph_cost_t anneal_m4f;

/* Returns a graph that computes the same results and costs no more. Does not change `from`. */
graph_t *anneal_run(const graph_t *from, const anneal_t *how);
/* Like anneal_run, but reads the result from the folder in APPELL_CACHE if it is there
 * (anneal_cache.c). */
graph_t *anneal_cached(const graph_t *from, const anneal_t *how);

#endif

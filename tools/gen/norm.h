/*
 * Norms of the held vectors of a graph (graph_hold). Bounds of components grow at every rotation,
 * those of a norm do not.
 *
 * A held vector y is a function of the held vectors x before it, of inputs, sines and cosines. If
 * dy/dx depends on no held vector and has the same singular values at all probes, it is taken to
 * have them in every state: those of a rotation are 1, the largest of a lever arm is its length.
 * That is tested, not proved: an analytic function that is constant at random states to nine digits
 * and not elsewhere would deceive it. Otherwise intervals bound them. So
 *     |y| <= sum |dy/dx| |x| + |rest|,   |error of y| <= sum |dy/dx| |error of x| + |rounding|,
 * where rest is y with the x of the first kind set to zero, and rounding what computing y from the
 * x adds. The elements beside the diagonal of a symmetric tensor count with sqrt 2, so that a
 * rotation keeps its norm, too.
 */
#ifndef TOOLS_GEN_NORM_H
#define TOOLS_GEN_NORM_H

#include "tools/gen/fixed.h"

typedef struct {
    double size, error;
} norm_t;

/* Nodes below the roots must have their bounds. */
typedef struct {
    const graph_t *g;
    const fixed_node_t *node;
    const double *value; /* of every node, at every probe: a state within the limits */
    const norm_t *norm;  /* of the held vectors before this one, by number */
    int32_t *slot;       /* zero for every node */
} norm_from_t;

enum { NORM_PARTS = 6, NORM_PROBES = 3 };

/* The weight of a component in the norm. */
double norm_weight(int part);
/* Bounds the norm of the vector with these components, and its error without the rounding of its own
 * computation. Both are infinite if nothing is known. */
norm_t norm_bound(const norm_from_t *from, const int32_t root[], const int part[], int parts);

#endif

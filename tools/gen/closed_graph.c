/* Turns the closed form of the inertia matrix into a graph: a dictionary of monomials, in which
 * equal beginnings of products are the same nodes, and sums over it. */
#include <stdlib.h>

#include "tools/gen/closed.h"

typedef struct {
    const closed_t *arm;
    graph_t *g;
    ref_t variable[POLY_VARIABLES]; /* GRAPH_NONE: not made yet */
} builder_t;

/* Makes cosine and sine of q_first + ... + q_last. Inside a group the angles of the links suffice:
 * a difference of two is a product of their sines and cosines. */
static void make_angle(builder_t *b, uint32_t first, uint32_t last) {
    ref_t angle = 0;
    const int at = poly_cosine(first, last);
    for (uint32_t i = first; i <= last; i++) {
        const bool turns = closed_turning(b->arm, i, i);
        angle = graph_angle(b->g, angle, turns ? graph_input(b->g, GEN_Q, (int32_t)i) : GRAPH_NONE,
                            b->arm->joint[i].theta);
    }
    graph_sincos(b->g, angle, &b->variable[at], &b->variable[at + 1]);
}

/* The first joint of the group's angles; joint 1 stands still. */
static uint32_t group_of(const closed_t *c, uint32_t joint) {
    uint32_t first = 1;
    for (uint32_t i = 2; i <= joint; i++)
        first = c->joint[i].starts ? i : first;
    return first;
}

static void need_angle(builder_t *b, uint32_t first, uint32_t last) {
    const int at = poly_cosine(first, last);
    const uint32_t group = group_of(b->arm, first);
    if (b->variable[at] != GRAPH_NONE)
        return;
    if (first <= group) {
        make_angle(b, first, last);
        return;
    }
    const int x = poly_cosine(group, first - 1), y = poly_cosine(group, last);
    need_angle(b, group, first - 1);
    need_angle(b, group, last);
    const ref_t ca = b->variable[x], sa = b->variable[x + 1];
    const ref_t cb = b->variable[y], sb = b->variable[y + 1];
    b->variable[at] = graph_add(b->g, graph_mul(b->g, ca, cb), graph_mul(b->g, sa, sb));
    b->variable[at + 1] = graph_sub(b->g, graph_mul(b->g, ca, sb), graph_mul(b->g, sa, cb));
}

static ref_t variable(builder_t *b, int v) {
    if (v >= POLY_ANGLE) {
        const uint32_t angle = (uint32_t)(v - POLY_ANGLE) / 2;
        need_angle(b, angle / DYN_MAX_JOINTS, angle % DYN_MAX_JOINTS);
    } else if (b->variable[v] == GRAPH_NONE)
        b->variable[v] = graph_input(b->g, GEN_Q, v - POLY_POSITION);
    return b->variable[v];
}

static ref_t sum_of(builder_t *b, const poly_t *p) {
    ref_t sum = graph_const(b->g, 0);
    for (int32_t i = 0; i < p->count; i++) {
        int count;
        const poly_factor_t *factor = poly_factors(b->arm->d, p->term[i].monomial, &count);
        ref_t product = graph_const(b->g, 1);
        for (int f = 0; f < count; f++)
            for (int e = factor[f] % POLY_EXPONENT; e > 0; e--)
                product = graph_mul(b->g, product, variable(b, factor[f] / POLY_EXPONENT));
        sum = graph_add(b->g, sum, graph_mul(b->g, graph_const(b->g, p->term[i].k), product));
    }
    return sum;
}

graph_t *closed_graph(const closed_t *c) {
    builder_t *b = graph_must(malloc(sizeof *b));
    b->arm = c;
    b->g = graph_new();
    for (int v = 0; v < POLY_VARIABLES; v++)
        b->variable[v] = GRAPH_NONE;
    for (uint32_t i = 0; i < c->n * (c->n + 1) / 2; i++)
        graph_output(b->g, sum_of(b, &c->H[i]));
    graph_sweep(b->g);
    graph_t *g = b->g;
    free(b);
    return g;
}

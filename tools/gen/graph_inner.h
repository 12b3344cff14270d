/*
 * Private to the files of the expression graph: graph.c stores and makes nodes, graph_read.c walks
 * and evaluates a graph, graph_rewrite.c changes it.
 */
#ifndef TOOLS_GEN_GRAPH_INNER_H
#define TOOLS_GEN_GRAPH_INNER_H

#include <stdlib.h>

#include "tools/gen/graph.h"

typedef graph_node_t node_t;

enum { NOT_HASHED = -2, END = -1 };

typedef struct {
    int32_t *at, old;
} change_t;

typedef struct {
    int32_t *id;
    int32_t count, room;
} list_t;

struct graph {
    node_t *node;
    double *value;
    int32_t used, room;
    int32_t *bucket; /* first node of each bucket's list, or END */
    int32_t buckets; /* number of buckets, a power of two */
    int32_t vacant;  /* number of ids in vacancy that new nodes may still take */
    list_t vacancy, freed, made, out;
    change_t *change;
    int32_t changes, change_room;
    bool trying, full, fixed;
    graph_cost_t cost;
    double total, total_before;
    long renewed; /* nodes that were renewed since the graph was made */
};

void graph_list_push(list_t *l, int32_t id);

/* Every change of a node goes through set(), so that it can be undone. A try with very many changes
 * goes on through a whole graph; it is given up, because its list of changes takes memory. */
enum { MOST_CHANGES = 1000000 };
static inline void set(graph_t *g, int32_t *at, int32_t to) {
    if (g->trying) {
        g->full = g->full || g->changes >= MOST_CHANGES;
        if (g->changes == g->change_room) {
            g->change_room = g->change_room ? 2 * g->change_room : 1024;
            g->change = graph_must(realloc(g->change, (size_t)g->change_room * sizeof *g->change));
        }
        g->change[g->changes++] = (change_t){at, *at};
    }
    *at = to;
}

static inline int32_t id_of(ref_t a) {
    return a >> 1;
}

static inline const node_t *of(const graph_t *g, ref_t a) {
    return &g->node[a >> 1];
}

static inline bool uses_a(int32_t op) {
    return op > GRAPH_INPUT;
}

static inline bool op_uses_b(int32_t op, ref_t b) {
    return graph_uses_b(op) || (op == GRAPH_ANGLE && b != GRAPH_NONE);
}

static inline bool uses_angle_b(const node_t *n) {
    return op_uses_b(n->op, n->b);
}

/* Hash table. graph_find returns an equal node or END; two angles are equal only if their offsets
 * are equal too. */
int32_t graph_find(const graph_t *g, int32_t op, int32_t a, int32_t b, double value);
void graph_put_hash(graph_t *g, int32_t id);
void graph_unhash(graph_t *g, int32_t id);
void graph_grow(graph_t *g, int32_t room);

/* Nodes: these link and unlink operand k of `user`, make a node, and drop a node without users. */
void graph_link_use(graph_t *g, int32_t user, int k, ref_t to);
void graph_unlink_use(graph_t *g, int32_t user, int k, ref_t from);
double graph_cost_of(const graph_t *g, int32_t id);
int32_t graph_make(graph_t *g, int32_t op, int32_t a, int32_t b, double value);
void graph_drop(graph_t *g, int32_t id);

/* Each simplifies an operation (constants, zero, one, a common factor, x - x) and returns the
 * result, or GRAPH_NONE if there is nothing to simplify. */
ref_t graph_fold_add(graph_t *g, ref_t a, ref_t b);
ref_t graph_fold_mul(graph_t *g, ref_t a, ref_t b);
ref_t graph_fold_recip(graph_t *g, ref_t a);
ref_t graph_fold_hold(const graph_t *g, ref_t a);
/* Brings operands into canonical order and form; returns the sign of the node. */
int graph_normalise(int32_t op, ref_t *a, ref_t *b);
double graph_value_other(int32_t op, double a, double b);

#endif

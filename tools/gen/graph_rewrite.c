/* Changes an expression graph for the annealer; every change can be undone. */
#include <assert.h>
#include <stdlib.h>

#include "tools/gen/graph_inner.h"

void graph_cost_set(graph_t *g, const graph_cost_t *cost, int32_t room) {
    assert(!g->trying);
    g->cost = *cost;
    if (g->room < room)
        graph_grow(g, room);
    g->fixed = true;
    g->total = 0;
    for (int32_t i = 0; i < g->used; i++)
        if (g->node[i].op != GRAPH_FREE)
            g->total += graph_cost_of(g, i);
}

double graph_cost(const graph_t *g) {
    return g->total;
}

bool graph_full(const graph_t *g) {
    return g->full;
}

void graph_try(graph_t *g) {
    g->trying = true;
    g->full = false;
    g->changes = 0;
    g->made.count = g->freed.count = 0;
    g->total_before = g->total;
}

void graph_undo(graph_t *g) {
    for (int32_t i = g->changes - 1; i >= 0; i--)
        *g->change[i].at = g->change[i].old;
    g->total = g->total_before;
    g->trying = g->full = false;
}

void graph_settle(graph_t *g) {
    for (int32_t i = 0; i < g->made.count; i++)
        graph_drop(g, g->made.id[i]);
    g->made.count = 0;
}

void graph_keep(graph_t *g) {
    graph_settle(g);
    g->trying = false;
    g->vacancy.count = g->vacant;
    for (int32_t i = 0; i < g->freed.count; i++)
        graph_list_push(&g->vacancy, g->freed.id[i]);
    g->vacant = g->vacancy.count;
}

static void renew(graph_t *g, int32_t id);

/* The node now means its negative, so the signs in all its users change. */
static void flip_users(graph_t *g, int32_t id) {
    list_t user = {0};
    for (int32_t u = g->node[id].use; u != END; u = g->node[u >> 1].next_use[u & 1]) {
        node_t *n = &g->node[u >> 1];
        graph_unhash(g, u >> 1);
        set(g, u & 1 ? &n->b : &n->a, (u & 1 ? n->b : n->a) ^ 1);
        graph_list_push(&user, u >> 1);
    }
    for (int32_t i = 0; i < user.count; i++) {
        const node_t *n = &g->node[user.id[i]];
        if (n->op != GRAPH_FREE && n->op != GRAPH_OUT && n->hash_prev == NOT_HASHED)
            renew(g, user.id[i]);
    }
    free(user.id);
}

/* Updates a node whose operands have changed: folds it, merges it with an equal node, or hashes it
 * again. The node must not be in the hash table. */
static void renew(graph_t *g, int32_t id) {
    node_t *n = &g->node[id];
    ref_t a = n->a, b = n->b;
    if (g->full)
        return; /* everything is undone */
    g->renewed++;
    ref_t folded = n->op == GRAPH_ADD     ? graph_fold_add(g, a, b)
                   : n->op == GRAPH_MUL   ? graph_fold_mul(g, a, b)
                   : n->op == GRAPH_RECIP ? graph_fold_recip(g, a)
                   : n->op == GRAPH_HOLD  ? graph_fold_hold(g, a)
                                          : GRAPH_NONE;
    if (folded != GRAPH_NONE) {
        graph_replace(g, id, folded);
        return;
    }
    const int sign = graph_normalise(n->op, &a, &b);
    const int32_t other = graph_find(g, n->op, a, b, 0);
    if (other != END) {
        graph_replace(g, id, 2 * other + sign);
        return;
    }
    if (id_of(a) != id_of(n->a)) {
        graph_unlink_use(g, id, 0, n->a);
        graph_unlink_use(g, id, 1, n->b);
        graph_link_use(g, id, 0, a);
        graph_link_use(g, id, 1, b);
    }
    set(g, &n->a, a);
    set(g, &n->b, b);
    graph_put_hash(g, id);
    if (sign)
        flip_users(g, id);
}

void graph_replace(graph_t *g, int32_t id, ref_t by) {
    node_t *to = &g->node[id_of(by)];
    if (id_of(by) == id || g->full)
        return;
    set(g, &to->refs, to->refs + 1); /* keeps the node alive during the replacement */
    while (g->node[id].use != END) {
        const int32_t u = g->node[id].use, user = u >> 1;
        const int k = u & 1;
        node_t *n = &g->node[user];
        const ref_t old = k ? n->b : n->a, now = by ^ (old & 1);
        g->total -= graph_cost_of(g, user);
        graph_unhash(g, user);
        graph_unlink_use(g, user, k, old);
        graph_link_use(g, user, k, now);
        set(g, k ? &n->b : &n->a, now);
        g->total += graph_cost_of(g, user);
        if (n->op != GRAPH_OUT)
            renew(g, user);
    }
    set(g, &to->refs, to->refs - 1);
    graph_drop(g, id);
}

long graph_renewed(const graph_t *g) {
    return g->renewed;
}

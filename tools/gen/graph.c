/* Stores, finds and makes the nodes of the expression graph (tools/gen/graph.h). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dyn/model/model.h"
#include "tools/gen/graph_inner.h"

void *graph_must(void *memory) {
    if (!memory) {
        fprintf(stderr, "appell: error: no memory for the formulas; use a lower --monomials or "
                        "--effort, or free some memory\n");
        exit(2);
    }
    return memory;
}

void graph_list_push(list_t *l, int32_t id) {
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->id = graph_must(realloc(l->id, (size_t)l->room * sizeof *l->id));
    }
    l->id[l->count++] = id;
}

bool graph_uses_b(int32_t op) {
    return op == GRAPH_ADD || op == GRAPH_MUL || op == GRAPH_CLAMP || op == GRAPH_MIN;
}

int32_t graph_size(const graph_t *g) {
    return g->used;
}

const graph_node_t *graph_at(const graph_t *g, int32_t id) {
    return &g->node[id];
}

double graph_value(const graph_t *g, int32_t id) {
    return g->value[id];
}

/* ----------------------------------------------------------------------------------- hash table */

static uint32_t hash_of(int32_t op, int32_t a, int32_t b) {
    uint64_t h = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) + (uint64_t)op * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(h ^ (h >> 31));
}

/* Finds an equal node. Two angles are equal only if their offsets are equal too. */
int32_t graph_find(const graph_t *g, int32_t op, int32_t a, int32_t b, double value) {
    const uint32_t at = hash_of(op, a, b) & (uint32_t)(g->buckets - 1);
    for (int32_t i = g->bucket[at]; i != END; i = g->node[i].hash_next) {
        const node_t *n = &g->node[i];
        if (n->op == op && n->a == a && n->b == b &&
            (op != GRAPH_ANGLE || fabs(g->value[i] - value) < 1e-13))
            return i;
    }
    return END;
}

void graph_put_hash(graph_t *g, int32_t id) {
    node_t *n = &g->node[id];
    int32_t *head = &g->bucket[hash_of(n->op, n->a, n->b) & (uint32_t)(g->buckets - 1)];
    set(g, &n->hash_prev, END);
    set(g, &n->hash_next, *head);
    if (*head != END)
        set(g, &g->node[*head].hash_prev, id);
    set(g, head, id);
}

void graph_unhash(graph_t *g, int32_t id) {
    node_t *n = &g->node[id];
    if (n->hash_prev == NOT_HASHED)
        return;
    if (n->hash_prev == END)
        set(g, &g->bucket[hash_of(n->op, n->a, n->b) & (uint32_t)(g->buckets - 1)], n->hash_next);
    else
        set(g, &g->node[n->hash_prev].hash_next, n->hash_next);
    if (n->hash_next != END)
        set(g, &g->node[n->hash_next].hash_prev, n->hash_prev);
    set(g, &n->hash_prev, NOT_HASHED);
}

void graph_grow(graph_t *g, int32_t room) {
    g->room = room;
    while (g->buckets < 2 * room)
        g->buckets *= 2;
    g->node = graph_must(realloc(g->node, (size_t)room * sizeof *g->node));
    g->value = graph_must(realloc(g->value, (size_t)room * sizeof *g->value));
    g->bucket = graph_must(realloc(g->bucket, (size_t)g->buckets * sizeof *g->bucket));
    for (int32_t i = 0; i < g->buckets; i++)
        g->bucket[i] = END;
    for (int32_t i = 0; i < g->used; i++)
        if (g->node[i].op != GRAPH_FREE && g->node[i].op != GRAPH_OUT)
            graph_put_hash(g, i);
}

/* ---------------------------------------------------------------------------------------- nodes */

void graph_link_use(graph_t *g, int32_t user, int k, ref_t to) {
    node_t *u = &g->node[user], *n = &g->node[id_of(to)];
    set(g, &u->prev_use[k], END);
    set(g, &u->next_use[k], n->use);
    if (n->use != END)
        set(g, &g->node[n->use >> 1].prev_use[n->use & 1], 2 * user + k);
    set(g, &n->use, 2 * user + k);
    set(g, &n->refs, n->refs + 1);
}

void graph_unlink_use(graph_t *g, int32_t user, int k, ref_t from) {
    node_t *u = &g->node[user], *n = &g->node[id_of(from)];
    if (u->prev_use[k] == END)
        set(g, &n->use, u->next_use[k]);
    else
        set(g, &g->node[u->prev_use[k] >> 1].next_use[u->prev_use[k] & 1], u->next_use[k]);
    if (u->next_use[k] != END)
        set(g, &g->node[u->next_use[k] >> 1].prev_use[u->next_use[k] & 1], u->prev_use[k]);
    set(g, &n->refs, n->refs - 1);
}

static bool is_const_id(const graph_t *g, ref_t a) {
    return of(g, a)->op == GRAPH_CONST;
}

double graph_cost_of(const graph_t *g, int32_t id) {
    const node_t *n = &g->node[id];
    switch (n->op) {
    case GRAPH_MUL:
        if (is_const_id(g, n->a) || is_const_id(g, n->b)) {
            const double c = g->value[id_of(is_const_id(g, n->a) ? n->a : n->b)];
            return c == 2 ? g->cost.add : g->cost.mul + g->cost.constant;
        }
        return g->cost.mul;
    case GRAPH_ADD:
        return g->cost.add + (is_const_id(g, n->a) || is_const_id(g, n->b) ? g->cost.constant : 0);
    case GRAPH_RECIP:
        return g->cost.recip;
    case GRAPH_SIN:
    case GRAPH_COS:
        return g->cost.sincos;
    default:
        return 0;
    }
}

static int32_t take_node(graph_t *g) {
    if (g->vacant > 0) {
        set(g, &g->vacant, g->vacant - 1);
        return g->vacancy.id[g->vacant];
    }
    if (g->used == g->room) {
        if (g->trying || g->fixed) {
            g->full = true;
            return END;
        }
        graph_grow(g, 2 * g->room);
    }
    set(g, &g->used, g->used + 1);
    return g->used - 1;
}

int32_t graph_make(graph_t *g, int32_t op, int32_t a, int32_t b, double value) {
    const int32_t id = take_node(g);
    if (id == END)
        return 0;
    node_t *n = &g->node[id];
    set(g, &n->op, op);
    set(g, &n->a, a);
    set(g, &n->b, b);
    set(g, &n->refs, 0);
    set(g, &n->use, END);
    n->stamp = 0;
    g->value[id] = value;
    if (uses_a(op))
        graph_link_use(g, id, 0, a);
    if (op_uses_b(op, b))
        graph_link_use(g, id, 1, b);
    if (op != GRAPH_OUT)
        graph_put_hash(g, id);
    else
        set(g, &n->hash_prev, NOT_HASHED);
    g->total += graph_cost_of(g, id);
    if (g->trying)
        graph_list_push(&g->made, id);
    return id;
}

static ref_t unique(graph_t *g, int32_t op, int32_t a, int32_t b, double value) {
    const int32_t id = graph_find(g, op, a, b, value);
    return 2 * (id != END ? id : graph_make(g, op, a, b, value));
}

/* Drops a node that has no users, then those of its operands that this leaves without users. */
void graph_drop(graph_t *g, int32_t id) {
    node_t *n = &g->node[id];
    if (n->refs > 0 || n->op == GRAPH_FREE || n->op == GRAPH_INPUT || id < 2)
        return;
    const int32_t op = n->op, a = n->a, b = n->b;
    g->total -= graph_cost_of(g, id);
    graph_unhash(g, id);
    set(g, &n->op, GRAPH_FREE);
    if (g->trying)
        graph_list_push(&g->freed, id);
    else {
        graph_list_push(&g->vacancy, id); /* outside of a try, vacant always equals vacancy.count */
        g->vacant = g->vacancy.count;
    }
    if (uses_a(op)) {
        graph_unlink_use(g, id, 0, a);
        if (op_uses_b(op, b))
            graph_unlink_use(g, id, 1, b);
        graph_drop(g, id_of(a));
        if (op_uses_b(op, b))
            graph_drop(g, id_of(b));
    }
}

/* --------------------------------------------------------------------------------- construction */

graph_t *graph_new(void) {
    graph_t *g = graph_must(calloc(1, sizeof *g));
    g->buckets = 1024;
    graph_grow(g, 512);
    graph_const(g, 0);
    graph_const(g, 1);
    return g;
}

void graph_free(graph_t *g) {
    if (!g)
        return;
    free(g->node);
    free(g->value);
    free(g->bucket);
    free(g->vacancy.id);
    free(g->freed.id);
    free(g->made.id);
    free(g->out.id);
    free(g->change);
    free(g);
}

/* Limits of the size of a constant. All numbers of a robot in SI units are between them, and a
 * float holds them with a margin of 1e7. */
static const double least_const = 1e-30, most_const = 1e30;

ref_t graph_const(graph_t *g, double value) {
    if (g->trying && value != 0 && !(fabs(value) >= least_const && fabs(value) <= most_const)) {
        g->full = true;
        return 0;
    }
    const double size = fabs(value) < least_const ? 0 : fabs(value);
    int exponent;
    const int64_t mantissa = llround(ldexp(frexp(size, &exponent), 49));
    /* The same number, rounded differently, may have the neighbouring mantissa. */
    for (int64_t k = -1; k <= 1 && size > 0; k++) {
        const int64_t m = mantissa + k;
        const int32_t id = graph_find(g, GRAPH_CONST, (int32_t)(uint32_t)m,
                                      exponent * (1 << 18) + (int32_t)(m >> 32), 0);
        if (id != END)
            return 2 * id + (value < 0);
    }
    return unique(g, GRAPH_CONST, (int32_t)(uint32_t)mantissa,
                  exponent * (1 << 18) + (int32_t)(mantissa >> 32), size) +
           (value < 0 && size > 0);
}

ref_t graph_input(graph_t *g, int32_t array, int32_t index) {
    return unique(g, GRAPH_INPUT, array, index, 0);
}

bool graph_is_const(const graph_t *g, ref_t a, double *value) {
    if (!is_const_id(g, a))
        return false;
    if (value)
        *value = a & 1 ? -g->value[id_of(a)] : g->value[id_of(a)];
    return true;
}

/* Splits a into coefficient times *base and returns the coefficient. A product that waits for its
 * renewal may still have signs at its operands. */
static double coefficient(const graph_t *g, ref_t a, int32_t *base) {
    const node_t *n = of(g, a);
    const double sign = a & 1 ? -1 : 1;
    if (n->op == GRAPH_MUL) {
        const bool first = is_const_id(g, n->a);
        if (first || is_const_id(g, n->b)) {
            *base = id_of(first ? n->b : n->a);
            return ((n->a ^ n->b) & 1 ? -sign : sign) * g->value[id_of(first ? n->a : n->b)];
        }
    }
    *base = id_of(a);
    return sign;
}

/* Returns y if sum = x + y and minus = -x, else GRAPH_NONE. */
static ref_t cancelled(const graph_t *g, ref_t sum, ref_t minus) {
    const node_t *n = of(g, sum);
    if (n->op != GRAPH_ADD)
        return GRAPH_NONE;
    if ((n->a ^ (sum & 1)) == (minus ^ 1))
        return n->b ^ (sum & 1);
    if ((n->b ^ (sum & 1)) == (minus ^ 1))
        return n->a ^ (sum & 1);
    return GRAPH_NONE;
}

/* Returns the simplified sum, or GRAPH_NONE if there is nothing to simplify. */
ref_t graph_fold_add(graph_t *g, ref_t a, ref_t b) {
    double x, y;
    const bool ca = graph_is_const(g, a, &x), cb = graph_is_const(g, b, &y);
    if (ca && cb)
        return graph_const(g, x + y);
    if (ca && x == 0)
        return b;
    if (cb && y == 0)
        return a;
    int32_t base_a, base_b;
    x = coefficient(g, a, &base_a);
    y = coefficient(g, b, &base_b);
    if (base_a == base_b) {
        /* A difference that is only a rounding error becomes zero. */
        const double sum = fabs(x + y) < 1e-15 * fabs(x) ? 0 : x + y;
        return graph_mul(g, graph_const(g, sum), 2 * base_a);
    }
    const ref_t c = cancelled(g, a, b);
    return c != GRAPH_NONE ? c : cancelled(g, b, a);
}

ref_t graph_fold_mul(graph_t *g, ref_t a, ref_t b) {
    const int sign = (a ^ b) & 1;
    double x, y;
    if (!is_const_id(g, a)) {
        const ref_t t = a;
        a = b;
        b = t;
    }
    if (!graph_is_const(g, a & ~1, &x))
        return GRAPH_NONE;
    if (graph_is_const(g, b & ~1, &y))
        return graph_const(g, sign ? -x * y : x * y);
    if (x == 0)
        return 0;
    if (x == 1)
        return (b & ~1) | sign;
    int32_t base;
    y = coefficient(g, b & ~1, &base);
    return y == 1 ? GRAPH_NONE : graph_mul(g, graph_const(g, sign ? -x * y : x * y), 2 * base);
}

ref_t graph_fold_recip(graph_t *g, ref_t a) {
    double x;
    return graph_is_const(g, a, &x) ? graph_const(g, 1 / x) : GRAPH_NONE;
}

/* Brings operands into canonical order and form; returns the sign of the node. */
int graph_normalise(int32_t op, ref_t *a, ref_t *b) {
    int sign = 0;
    const bool commutes = op == GRAPH_ADD || op == GRAPH_MUL || op == GRAPH_MIN;
    if (commutes && id_of(*a) > id_of(*b)) {
        const ref_t t = *a;
        *a = *b;
        *b = t;
    }
    if (op == GRAPH_ADD && (*a & 1)) {
        sign = 1;
        *a ^= 1;
        *b ^= 1;
    } else if (op == GRAPH_MUL) {
        sign = (*a ^ *b) & 1;
        *a &= ~1;
        *b &= ~1;
    } else if (op == GRAPH_RECIP || op == GRAPH_CLAMP || op == GRAPH_SIGN || op == GRAPH_HOLD) {
        sign = *a & 1;
        *a &= ~1;
    }
    return sign;
}

static ref_t canonical(graph_t *g, int32_t op, ref_t a, ref_t b) {
    const int sign = graph_normalise(op, &a, &b);
    return unique(g, op, a, b, 0) ^ sign;
}

ref_t graph_add(graph_t *g, ref_t a, ref_t b) {
    const ref_t folded = graph_fold_add(g, a, b);
    return folded != GRAPH_NONE ? folded : canonical(g, GRAPH_ADD, a, b);
}

ref_t graph_mul(graph_t *g, ref_t a, ref_t b) {
    const ref_t folded = graph_fold_mul(g, a, b);
    return folded != GRAPH_NONE ? folded : canonical(g, GRAPH_MUL, a, b);
}

ref_t graph_recip(graph_t *g, ref_t a) {
    const ref_t folded = graph_fold_recip(g, a);
    return folded != GRAPH_NONE ? folded : canonical(g, GRAPH_RECIP, a, GRAPH_NONE);
}

ref_t graph_fold_hold(const graph_t *g, ref_t a) {
    return of(g, a)->op <= GRAPH_ANGLE ? a : GRAPH_NONE;
}

ref_t graph_hold(graph_t *g, ref_t a, int32_t vector, int32_t part) {
    const ref_t folded = graph_fold_hold(g, a);
    return folded != GRAPH_NONE ? folded : canonical(g, GRAPH_HOLD, a, GRAPH_PARTS * vector + part);
}

double graph_value_other(int32_t op, double a, double b) {
    switch (op) {
    case GRAPH_HOLD:
        return a;
    case GRAPH_SQRT:
        return sqrt(a);
    case GRAPH_CLAMP:
        return fmax(-b, fmin(b, a));
    case GRAPH_MIN:
        return fmin(a, b);
    case GRAPH_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    default:
        return 0;
    }
}

ref_t graph_other(graph_t *g, graph_op_t op, ref_t a, ref_t b) {
    double x, y = 0;
    if (!graph_uses_b(op))
        b = GRAPH_NONE;
    if (graph_is_const(g, a, &x) && (b == GRAPH_NONE || graph_is_const(g, b, &y)))
        return graph_const(g, graph_value_other(op, x, y));
    return canonical(g, op, a, b);
}

ref_t graph_angle(graph_t *g, ref_t a, ref_t b, double offset) {
    double x;
    if (graph_is_const(g, a, &x)) {
        offset += x;
        if (b == GRAPH_NONE)
            return graph_const(g, offset);
        a = b;
        b = GRAPH_NONE;
    }
    if (b != GRAPH_NONE && graph_is_const(g, b, &x)) {
        offset += x;
        b = GRAPH_NONE;
    }
    const node_t *n = of(g, a);
    if (n->op == GRAPH_ANGLE && b == GRAPH_NONE) {
        offset += g->value[id_of(a)];
        b = n->b;
        a = n->a;
    } else if (n->op == GRAPH_ANGLE && g->value[id_of(a)] != 0) {
        /* The offsets of both angles are added; only the outermost angle has an offset. */
        offset += g->value[id_of(a)];
        a = n->b == GRAPH_NONE ? n->a : unique(g, GRAPH_ANGLE, n->a, n->b, 0);
    }
    if (b == GRAPH_NONE && offset == 0)
        return a;
    return unique(g, GRAPH_ANGLE, a, b, offset);
}

void graph_sincos(graph_t *g, ref_t angle, ref_t *cosine, ref_t *sine) {
    double c, s, x;
    if (graph_is_const(g, angle, &x)) {
        dyn_exact_turn(x, &c, &s);
        *cosine = graph_const(g, c);
        *sine = graph_const(g, s);
        return;
    }
    const double offset = of(g, angle)->op == GRAPH_ANGLE ? g->value[id_of(angle)] : 0;
    dyn_exact_turn(offset, &c, &s);
    if (c == 0 || s == 0)
        angle = graph_angle(g, angle, GRAPH_NONE, -offset);
    const ref_t qc = unique(g, GRAPH_COS, angle, GRAPH_NONE, 0);
    const ref_t qs = unique(g, GRAPH_SIN, angle, GRAPH_NONE, 0);
    if (c != 0 && s != 0) {
        *cosine = qc;
        *sine = qs;
    } else {
        *cosine = c != 0 ? qc ^ (c < 0) : qs ^ (s > 0);
        *sine = c != 0 ? qs ^ (c < 0) : qc ^ (s < 0);
    }
}

void graph_output(graph_t *g, ref_t a) {
    graph_list_push(&g->out, graph_make(g, GRAPH_OUT, a, GRAPH_NONE, 0));
}

int graph_outputs(const graph_t *g) {
    return g->out.count;
}

ref_t graph_result(const graph_t *g, int which) {
    return g->node[g->out.id[which]].a;
}

void graph_sweep(graph_t *g) {
    for (int32_t i = g->used - 1; i >= 2; i--)
        if (g->node[i].op != GRAPH_OUT)
            graph_drop(g, i);
}

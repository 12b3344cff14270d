/* Reads an expression graph: order of computation, counts, values, rounding errors, copies. */
#include <math.h>
#include <stdlib.h>

#include "tools/gen/graph_inner.h"

static void visit(const graph_t *g, int32_t id, bool *seen, int32_t *order, int32_t *count) {
    if (seen[id])
        return;
    seen[id] = true;
    const node_t *n = &g->node[id];
    if (uses_a(n->op))
        visit(g, id_of(n->a), seen, order, count);
    if (uses_angle_b(n))
        visit(g, id_of(n->b), seen, order, count);
    order[(*count)++] = id;
}

int32_t *graph_order(const graph_t *g, int32_t *count) {
    bool *seen = graph_must(calloc((size_t)g->used + 1, sizeof *seen));
    int32_t *order = graph_must(malloc(((size_t)g->used + 1) * sizeof *order));
    *count = 0;
    for (int32_t i = 0; i < g->out.count; i++)
        visit(g, id_of(g->node[g->out.id[i]].a), seen, order, count);
    free(seen);
    return order;
}

graph_ops_t graph_count(const graph_t *g) {
    graph_ops_t out = {0};
    int32_t count;
    int32_t *order = graph_order(g, &count);
    for (int32_t i = 0; i < count; i++)
        switch (g->node[order[i]].op) {
        case GRAPH_MUL:
            out.mul++;
            break;
        case GRAPH_ADD:
            out.add++;
            break;
        case GRAPH_RECIP:
            out.div++;
            break;
        case GRAPH_SQRT:
            out.sqrt++;
            break;
        case GRAPH_SIN: {
            const int32_t cosine = graph_find(g, GRAPH_COS, g->node[order[i]].a, GRAPH_NONE, 0);
            out.sincos += cosine == END || g->node[cosine].refs == 0;
            break;
        }
        case GRAPH_COS:
            out.sincos++;
            break;
        case GRAPH_CONST:
            out.constants++;
            break;
        default:
            break;
        }
    free(order);
    return out;
}

double graph_total(const graph_t *g, const graph_cost_t *cost) {
    graph_t view = *g;
    double total = 0;
    int32_t count;
    int32_t *order = graph_order(g, &count);
    view.cost = *cost;
    for (int32_t i = 0; i < count; i++)
        total += graph_cost_of(&view, order[i]);
    free(order);
    return total;
}

static double signed_value(const double *v, ref_t a) {
    return a & 1 ? -v[id_of(a)] : v[id_of(a)];
}

static double node_value(const graph_t *g, int32_t id, const double *v, graph_lookup_t input,
                         void *context) {
    const node_t *n = &g->node[id];
    const double a = uses_a(n->op) ? signed_value(v, n->a) : 0;
    const double b = uses_angle_b(n) ? signed_value(v, n->b) : 0;
    switch (n->op) {
    case GRAPH_CONST:
        return g->value[id];
    case GRAPH_INPUT:
        return input(context, n->a, n->b);
    case GRAPH_ANGLE:
        return a + b + g->value[id];
    case GRAPH_SIN:
        return sin(a);
    case GRAPH_COS:
        return cos(a);
    case GRAPH_ADD:
        return a + b;
    case GRAPH_MUL:
        return a * b;
    case GRAPH_RECIP:
        return 1 / a;
    default:
        return graph_value_other(n->op, a, b);
    }
}

void graph_eval(const graph_t *g, graph_lookup_t input, void *context, double *value) {
    int32_t count;
    int32_t *order = graph_order(g, &count);
    for (int32_t i = 0; i < count; i++)
        value[order[i]] = node_value(g, order[i], value, input, context);
    free(order);
}

void graph_eval_all(const graph_t *g, graph_lookup_t input, void *context, double *value) {
    for (int32_t i = 0; i < g->used; i++)
        value[i] = g->node[i].op == GRAPH_FREE ? 0 : node_value(g, i, value, input, context);
}

void graph_errors(const graph_t *g, const double *value, double unit, double trig, double *error) {
    int32_t count;
    int32_t *order = graph_order(g, &count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const node_t *n = &g->node[id];
        const int32_t a = uses_a(n->op) ? id_of(n->a) : 0, b = uses_angle_b(n) ? id_of(n->b) : 0;
        const double own = unit * fabs(value[id]);
        switch (n->op) {
        case GRAPH_SIN:
        case GRAPH_COS:
            error[id] = trig + error[a];
            break;
        case GRAPH_MUL:
            error[id] = own + error[a] * fabs(value[b]) + error[b] * fabs(value[a]);
            break;
        case GRAPH_RECIP:
            error[id] = own + error[a] * value[id] * value[id];
            break;
        case GRAPH_SQRT:
            error[id] = own + error[a] / fmax(2 * value[id], 1e-30);
            break;
        case GRAPH_CONST:
            /* Constants that agree to about 2^-49 (relative) share a node, so the value may be
             * wrong by that. */
            error[id] = fmax(own, ldexp(fabs(value[id]), -49));
            break;
        case GRAPH_INPUT:
            error[id] = 0;
            break;
        case GRAPH_HOLD:
            error[id] = error[a];
            break;
        default:
            error[id] = own + error[a] + (b ? error[b] : 0);
        }
    }
    free(order);
}

graph_t *graph_copy(const graph_t *g) {
    graph_t *to = graph_new();
    int32_t count;
    int32_t *order = graph_order(g, &count);
    ref_t *map = graph_must(calloc((size_t)g->used + 1, sizeof *map));
    map[0] = 0;
    map[1] = 2;
    for (int32_t i = 0; i < count; i++) {
        const int32_t id = order[i];
        const node_t *n = &g->node[id];
        ref_t a = n->a, b = n->b;
        if (id < 2)
            continue;
        if (uses_a(n->op))
            a = map[id_of(a)] ^ (a & 1);
        if (uses_angle_b(n))
            b = map[id_of(b)] ^ (b & 1);
        /* In the new graph ids have another order, so the canonical form may have another sign. */
        const int sign = graph_normalise(n->op, &a, &b);
        map[id] = 2 * graph_make(to, n->op, a, b, g->value[id]) + sign;
    }
    for (int32_t i = 0; i < g->out.count; i++) {
        const ref_t a = g->node[g->out.id[i]].a;
        graph_output(to, map[id_of(a)] ^ (a & 1));
    }
    free(map);
    free(order);
    return to;
}

/* Format of a node in a file. */
typedef struct {
    int32_t op, a, b, unused;
    double value;
} record_t;

void graph_save(const graph_t *g, FILE *out) {
    for (int32_t i = 2; i < g->used; i++) {
        const node_t *n = &g->node[i];
        const record_t r = {n->op, n->a, n->b, 0, g->value[i]};
        fwrite(&r, sizeof r, 1, out);
    }
}

/* True if the reference points to an existing node. */
static bool refers(const graph_t *g, ref_t a) {
    return a >= 0 && id_of(a) < g->used;
}

graph_t *graph_load(FILE *in) {
    graph_t *g = graph_new();
    record_t r;
    while (fread(&r, sizeof r, 1, in) == 1) {
        if (r.op <= GRAPH_FREE || r.op > GRAPH_HOLD || (uses_a(r.op) && !refers(g, r.a)) ||
            (op_uses_b(r.op, r.b) && !refers(g, r.b))) {
            graph_free(g);
            return NULL;
        }
        if (r.op == GRAPH_OUT)
            graph_output(g, r.a);
        else
            graph_make(g, r.op, r.a, r.b, r.value);
    }
    return g;
}

/* Computes what fixed-point code computes (tools/gen/fixed.h). */
#include <math.h>
#include <stdlib.h>

#include "dyn/number/trig.h"
#include "tools/gen/fixed.h"

int32_t fixed_recip(int32_t a, int down) {
    const int zeros = __builtin_clz((uint32_t)a | 1u);
    const uint32_t m = (uint32_t)a << zeros;
    uint32_t y = 3031741621u - (uint32_t)(((uint64_t)m * 2021161081u) >> 32);
    for (int i = 0; i < 3; i++)
        y = (uint32_t)(((uint64_t)y * (0x80000000u - (uint32_t)(((uint64_t)m * y) >> 32))) >> 30);
    const uint64_t wide = ((uint64_t)y * (1u << zeros)) >> down;
    const uint32_t over = (uint32_t)(wide >> 31); /* not zero if the result is too large */
    return (int32_t)(((uint32_t)wide | (0u - ((over | (0u - over)) >> 31))) & INT32_MAX);
}

int32_t fixed_clamped(int32_t a, int bits) {
    const uint32_t sign = (uint32_t)(a >> 31), size = ((uint32_t)a ^ sign) - sign;
    const uint32_t most = (uint32_t)INT32_MAX >> bits;
    const uint32_t over = (most - size) >> 31, least = (size & (over - 1u)) | (most & (0u - over));
    return (int32_t)(((least << bits) ^ sign) - sign);
}

static int32_t shifted(int32_t raw, ref_t a, int down) {
    raw >>= down;
    return a & 1 ? (int32_t)(0u - (uint32_t)raw) : raw;
}

static int32_t run(const fixed_t *f, int32_t id, const int32_t *v, fixed_lookup_t input,
                   void *context) {
    const graph_node_t *g = graph_at(f->g, id);
    const fixed_node_t *n = &f->node[id];
    const int32_t stored = fixed_stored(f, id);
    int32_t c, s;
    if (stored != id)
        return v[stored];
    switch (g->op) {
    case GRAPH_CONST:
        return n->raw;
    case GRAPH_INPUT:
        return input(context, g->a, g->b);
    case GRAPH_ANGLE: {
        const double turns = graph_value(f->g, id) / 6.28318530717958647692;
        const uint32_t offset = (uint32_t)(int64_t)rint(ldexp(turns - rint(turns), 32));
        return (int32_t)((uint32_t)v[g->a >> 1] +
                         (g->b != GRAPH_NONE ? (uint32_t)v[g->b >> 1] : 0) + offset);
    }
    case GRAPH_SIN:
    case GRAPH_COS:
        dyn_sincos_q30(v[g->a >> 1], &c, &s);
        return g->op == GRAPH_SIN ? s : c;
    case GRAPH_MUL:
        return (int32_t)(((int64_t)v[g->a >> 1] * v[g->b >> 1]) >> n->cut);
    case GRAPH_ADD:
        return (int32_t)((uint32_t)shifted(v[g->a >> 1], g->a, n->down[0]) +
                         (uint32_t)shifted(v[g->b >> 1], g->b, n->down[1]));
    case GRAPH_RECIP:
        return n->down[1] ? -fixed_recip((int32_t)(0u - (uint32_t)v[g->a >> 1]), n->down[0])
                          : fixed_recip(v[g->a >> 1], n->down[0]);
    default:
        return 0;
    }
}

void fixed_eval(const fixed_t *f, fixed_lookup_t input, void *context, int32_t *result) {
    int32_t *v = malloc((size_t)graph_size(f->g) * sizeof *v);
    if (!v)
        abort();
    for (int32_t i = 0; i < f->count; i++)
        v[f->order[i]] = run(f, f->order[i], v, input, context);
    for (int i = 0; i < graph_outputs(f->g); i++) {
        const ref_t r = graph_result(f->g, i);
        const int down = f->node[r >> 1].exponent - f->result_exponent[i];
        int32_t raw = v[r >> 1];
        if (down >= 0)
            raw >>= down > 31 ? 31 : down;
        else if (!f->clamped[i])
            raw = (int32_t)((uint32_t)raw << -down);
        else
            raw = fixed_clamped(raw, -down);
        result[i] = r & 1 ? (int32_t)(0u - (uint32_t)raw) : raw;
    }
    free(v);
}

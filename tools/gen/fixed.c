/* Chooses exponents and computes bounds and errors for tools/gen/fixed.h. */
#include "tools/gen/fixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/trig.h"

/*
 * The product of two numbers that use all their bits leaves one of its upper 32 bits empty; loose
 * bounds of the factors leave more bits empty. If more than SLACK bits are empty, fewer than CUT
 * low bits are cut off, which costs two more instructions.
 */
enum { SLACK = 3, TURN_BITS = 30, CUT = 32 };

/* Largest error of the sine and cosine of dyn/number/trig.h in q30. */
static const double trig_error = 3e-9;

static double size_of(const fixed_node_t *n) {
    return fmax(fabs(n->lo), fabs(n->hi));
}

/* Returns the largest exponent with which a value of size `most` fits an int32. */
static int room_for(double most) {
    int e;
    if (most == 0)
        return 62;
    (void)frexp(most * (1 + 1e-12), &e); /* most < 2^e */
    return 31 - e;
}

static double unit(int exponent) {
    return ldexp(1, -exponent);
}

static void widest_sine(double lo, double hi, double shift, double *least, double *most) {
    const double half = 3.14159265358979323846;
    lo += shift;
    hi += shift;
    *least = fmin(sin(lo), sin(hi));
    *most = fmax(sin(lo), sin(hi));
    if (ceil((lo - half / 2) / (2 * half)) <= floor((hi - half / 2) / (2 * half)))
        *most = 1;
    if (ceil((lo + half / 2) / (2 * half)) <= floor((hi + half / 2) / (2 * half)))
        *least = -1;
}

static fixed_node_t flip(fixed_node_t n, ref_t a) {
    if (a & 1) {
        const double t = n.lo;
        n.lo = -n.hi;
        n.hi = -t;
    }
    return n;
}

static void bound_product(fixed_node_t *n, fixed_node_t a, fixed_node_t b, bool square) {
    const double p[4] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    n->lo = fmin(fmin(p[0], p[1]), fmin(p[2], p[3]));
    n->hi = fmax(fmax(p[0], p[1]), fmax(p[2], p[3]));
    if (square)
        n->lo = a.lo <= 0 && a.hi >= 0 ? 0 : fmin(p[0], p[3]);
    n->err = size_of(&a) * b.err + size_of(&b) * a.err + a.err * b.err;
}

static bool power_of_two(double value) {
    int e;
    return frexp(value, &e) == 0.5;
}

static void place_product(const fixed_t *f, fixed_node_t *n, const graph_node_t *g) {
    const fixed_node_t *a = &f->node[g->a >> 1], *b = &f->node[g->b >> 1];
    for (int k = 0; k < 2; k++) {
        double c;
        if (graph_is_const(f->g, k ? g->b : g->a, &c) && power_of_two(c)) {
            const fixed_node_t *other = k ? a : b;
            n->err = other->err * c;
            n->exponent = other->exponent - ilogb(c);
            n->cut = 0;
            return;
        }
    }
    const int natural = a->exponent + b->exponent - CUT;
    const int spare = room_for(fmax(fabs(n->lo), fabs(n->hi)) + n->err) - natural;
    n->cut = (int8_t)(spare > SLACK ? CUT - (spare < CUT - 1 ? spare : CUT - 1) : CUT);
    n->exponent = natural + CUT - n->cut;
    n->err += unit(n->exponent);
}

static void place_sum(const fixed_t *f, fixed_node_t *n, const graph_node_t *g) {
    const fixed_node_t *part[2] = {&f->node[g->a >> 1], &f->node[g->b >> 1]};
    int e = part[0]->exponent < part[1]->exponent ? part[0]->exponent : part[1]->exponent;
    const int room = room_for(size_of(n) + n->err + 4 * unit(e));
    if (room < e)
        e = room;
    /* Each shifted operand also fits by itself, because a shift to the right does not make it
     * larger. */
    n->exponent = e;
    for (int k = 0; k < 2; k++) {
        const int down = part[k]->exponent - e;
        n->down[k] = (int8_t)(down > 31 ? 31 : down);
        n->err += down > 0 ? unit(e) : 0;
    }
}

static void place_recip(fixed_t *f, fixed_node_t *n, const graph_node_t *g) {
    fixed_node_t a = f->node[g->a >> 1];
    const bool negative = a.hi < 0;
    if (negative)
        a = flip(a, 1);
    double least = a.lo - a.err;
    if (least <= 0) {
        f->proved = false;
        least = fmax(size_of(&a), 1e-30) * ldexp(1, -12);
    }
    n->lo = 1 / (a.hi + a.err);
    n->hi = 1 / least;
    n->exponent = room_for(n->hi);
    n->err = a.err / (least * least) + unit(n->exponent) + 1e-9 * n->hi;
    n->down[0] = (int8_t)(62 - n->exponent - a.exponent);
    n->down[1] = negative;
    if (negative)
        *n = flip(*n, 1);
}

static void tighten(fixed_t *f, fixed_node_t *n, const double *value, int32_t id, int32_t size,
                    const fixed_options_t *o) {
    for (int k = 0; k < o->known_count; k++) {
        const fixed_known_t *known = &o->known[k];
        const double ratio = value[id] / known->value[0];
        if (!isfinite(ratio) || ratio == 0 ||
            fabs(value[size + id] / known->value[1] - ratio) > 1e-9 * fabs(ratio))
            continue;
        const double lo = ratio * (ratio > 0 ? known->lo : known->hi);
        const double hi = ratio * (ratio > 0 ? known->hi : known->lo);
        n->lo = fmax(n->lo, lo);
        n->hi = fmin(n->hi, hi);
        f->proved = f->proved && !known->guessed;
    }
}

static void place(fixed_t *f, int32_t id, const double *value, const fixed_options_t *o) {
    const graph_node_t *g = graph_at(f->g, id);
    fixed_node_t *n = &f->node[id];
    const fixed_node_t none = {0};
    const fixed_node_t a = g->op > GRAPH_INPUT ? flip(f->node[g->a >> 1], g->a) : none;
    const fixed_node_t b = graph_uses_b(g->op) || (g->op == GRAPH_ANGLE && g->b != GRAPH_NONE)
                               ? flip(f->node[g->b >> 1], g->b)
                               : none;
    const int32_t size = graph_size(f->g);
    switch (g->op) {
    case GRAPH_CONST:
        n->lo = n->hi = graph_value(f->g, id);
        n->exponent = n->hi == 0 ? 31 : 30 - ilogb(n->hi);
        n->raw = (int32_t)fmin(rint(ldexp(n->hi, n->exponent)), 2147483647.0);
        n->err = 0.5 * unit(n->exponent);
        break;
    case GRAPH_INPUT:
        o->input_range(o->context, g->a, g->b, &n->lo, &n->hi);
        n->exponent = o->input_exponent(o->context, g->a, g->b);
        break;
    case GRAPH_ANGLE:
        n->lo = a.lo + b.lo + graph_value(f->g, id);
        n->hi = a.hi + b.hi + graph_value(f->g, id);
        break;
    case GRAPH_SIN:
    case GRAPH_COS:
        widest_sine(a.lo, a.hi, g->op == GRAPH_COS ? 1.57079632679489661923 : 0, &n->lo, &n->hi);
        n->exponent = TURN_BITS;
        n->err = trig_error;
        break;
    case GRAPH_MUL:
        bound_product(n, a, b, g->a == g->b);
        tighten(f, n, value, id, size, o);
        place_product(f, n, g);
        break;
    case GRAPH_ADD:
        n->lo = a.lo + b.lo;
        n->hi = a.hi + b.hi;
        n->err = a.err + b.err;
        tighten(f, n, value, id, size, o);
        place_sum(f, n, g);
        break;
    case GRAPH_RECIP:
        place_recip(f, n, g);
        break;
    default:
        f->proved = false; /* sqrt, clamp, min and sign have no fixed-point code */
    }
}

fixed_t *fixed_make(const graph_t *g, const fixed_options_t *o) {
    const int32_t size = graph_size(g);
    const int results = graph_outputs(g);
    fixed_t *f = calloc(1, sizeof *f);
    double *value = calloc((size_t)size * GEN_PROBES, sizeof *value);
    if (!f || !value)
        abort();
    f->g = g;
    f->proved = true;
    f->node = calloc((size_t)size, sizeof *f->node);
    f->result_exponent = calloc((size_t)results, sizeof *f->result_exponent);
    f->result_bound = calloc((size_t)results, sizeof *f->result_bound);
    f->result_error = calloc((size_t)results, sizeof *f->result_error);
    f->clamped = calloc((size_t)results, sizeof *f->clamped);
    f->order = graph_order(g, &f->count);
    if (!f->node || !f->result_exponent || !f->clamped || !f->result_bound || !f->result_error)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++)
        graph_eval(g, gen_probe, &probe, value + probe * size);
    for (int32_t i = 0; i < f->count; i++)
        place(f, f->order[i], value, o);
    for (int i = 0; i < results; i++) {
        const fixed_node_t *n = &f->node[graph_result(g, i) >> 1];
        f->result_exponent[i] = o->result_exponent(o->context, i);
        f->result_bound[i] = size_of(n) + n->err;
        f->result_error[i] = n->err + unit(f->result_exponent[i]);
        f->clamped[i] = ldexp(f->result_bound[i], f->result_exponent[i]) >= 2147483647.0;
    }
    free(value);
    return f;
}

bool fixed_lost(const fixed_t *f) {
    for (int i = 0; i < graph_outputs(f->g); i++)
        if (ldexp(f->result_error[i], f->result_exponent[i]) >= 0x1p30)
            return true;
    return false;
}

void fixed_free(fixed_t *f) {
    if (!f)
        return;
    free(f->node);
    free(f->order);
    free(f->result_exponent);
    free(f->result_bound);
    free(f->result_error);
    free(f->clamped);
    free(f);
}

int32_t fixed_recip(int32_t a, int down) {
    const int zeros = __builtin_clz((uint32_t)a | 1u);
    const uint32_t m = (uint32_t)a << zeros;
    uint32_t y = 3031741621u - (uint32_t)(((uint64_t)m * 2021161081u) >> 32);
    for (int i = 0; i < 3; i++)
        y = (uint32_t)(((uint64_t)y * (0x80000000u - (uint32_t)(((uint64_t)m * y) >> 32))) >> 30);
    const int right = down - zeros;
    return right < 0 || (right == 0 && (y >> 31)) ? 2147483647
           : right > 31                           ? 0
                                                  : (int32_t)(y >> right);
}

static int32_t shifted(int32_t raw, ref_t a, int down) {
    raw >>= down;
    return a & 1 ? (int32_t)(0u - (uint32_t)raw) : raw;
}

static int32_t run(const fixed_t *f, int32_t id, const int32_t *v, fixed_lookup_t input,
                   void *context) {
    const graph_node_t *g = graph_at(f->g, id);
    const fixed_node_t *n = &f->node[id];
    int32_t c, s;
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
        if (n->cut == 0)
            return v[(graph_is_const(f->g, g->a, NULL) && power_of_two(graph_value(f->g, g->a >> 1))
                          ? g->b
                          : g->a) >>
                     1];
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
        else {
            const int32_t most = INT32_MAX >> -down;
            raw = raw > most    ? INT32_MAX
                  : raw < -most ? -INT32_MAX
                                : (int32_t)((uint32_t)raw << -down);
        }
        result[i] = r & 1 ? (int32_t)(0u - (uint32_t)raw) : raw;
    }
    free(v);
}

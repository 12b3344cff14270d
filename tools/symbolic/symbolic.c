/* Makes formulas, their dictionary and the order of their terms (tools/symbolic/symbolic.h). */
#include "tools/symbolic/symbolic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "tools/gen/gen.h"

/* ---------------------------------------------------------------------------------- dictionary */

/* The product without its parameters, as a monomial. */
static int32_t product_of(const symbolic_t *s, int32_t monomial) {
    int count, skip = 0;
    const poly_factor_t *factor = poly_factors(s->closed->d, monomial, &count);
    while (skip < count && factor[skip] / POLY_EXPONENT < POLY_PARAMETERS)
        skip++;
    poly_factor_t rest[POLY_FACTORS];
    if (count == skip)
        return 0;
    memcpy(rest, factor + skip, (size_t)(count - skip) * sizeof *rest);
    return poly_monomial(s->closed->d, rest, count - skip);
}

static int length_of(const poly_dictionary_t *d, int32_t monomial) {
    int count, sum = 0;
    const poly_factor_t *factor = poly_factors(d, monomial, &count);
    for (int i = 0; i < count; i++)
        sum += factor[i] % POLY_EXPONENT;
    return sum;
}

typedef struct {
    const poly_dictionary_t *d;
    int32_t monomial;
    int length;
} key_order_t;

/* Short products first; among equally long ones ascending multi-indices, as in the paper. */
static int by_length(const void *a, const void *b) {
    const key_order_t *x = a, *y = b;
    if (x->length != y->length)
        return x->length - y->length;
    int m, n;
    const poly_factor_t *f = poly_factors(x->d, x->monomial, &m);
    const poly_factor_t *g = poly_factors(y->d, y->monomial, &n);
    for (int i = 0; i < m && i < n; i++)
        if (f[i] != g[i])
            return f[i] < g[i] ? -1 : 1;
    return m - n;
}

typedef struct {
    symbolic_t *s;
    int32_t *index; /* of each monomial among the keys, or -1 */
    int32_t index_room;
    key_order_t *key;
    int32_t keys, room;
} collect_t;

/* Adds a product and, one factor shorter each, the products that it is made from. */
static void collect(collect_t *c, int32_t monomial) {
    poly_dictionary_t *d = c->s->closed->d;
    if (monomial >= c->index_room) {
        const int32_t room = monomial * 2 + 64;
        c->index = graph_must(realloc(c->index, (size_t)room * sizeof *c->index));
        for (int32_t i = c->index_room; i < room; i++)
            c->index[i] = -1;
        c->index_room = room;
    }
    if (monomial <= 0 || c->index[monomial] >= 0)
        return;
    if (c->keys == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->key = graph_must(realloc(c->key, (size_t)c->room * sizeof *c->key));
    }
    c->index[monomial] = c->keys;
    c->key[c->keys++] = (key_order_t){d, monomial, length_of(d, monomial)};
    int count;
    poly_factor_t shorter[POLY_FACTORS];
    const poly_factor_t *factor = poly_factors(d, monomial, &count);
    memcpy(shorter, factor, (size_t)count * sizeof *factor);
    count -= --shorter[count - 1] % POLY_EXPONENT == 0;
    if (count > 0)
        collect(c, poly_monomial(d, shorter, count));
}

static int32_t entry_of(const symbolic_t *s, int32_t monomial) {
    int32_t low = 0, high = s->entries;
    const key_order_t wanted = {s->closed->d, monomial, length_of(s->closed->d, monomial)};
    while (low < high) {
        const int32_t middle = (low + high) / 2, m = s->entry[middle].monomial;
        const key_order_t here = {s->closed->d, m, length_of(s->closed->d, m)};
        const int order = by_length(&here, &wanted);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int results(const symbolic_t *s) {
    return (int)(s->closed->n * (s->closed->n + 1) / 2 + s->closed->n);
}

static const poly_t *result(const symbolic_t *s, int i) {
    const int H = (int)(s->closed->n * (s->closed->n + 1) / 2);
    return i < H ? &s->closed->H[i] : &s->closed->G[i - H];
}

static void make_dictionary(symbolic_t *s) {
    collect_t c = {.s = s};
    poly_dictionary_t *d = s->closed->d;
    for (int i = 0; i < results(s); i++) {
        const poly_t *p = result(s, i);
        for (int32_t k = 0; k < p->count && !poly_full(d); k++)
            collect(&c, product_of(s, p->term[k].monomial));
    }
    if (poly_full(d))
        c.keys = 0;
    if (c.keys > 0)
        qsort(c.key, (size_t)c.keys, sizeof *c.key, by_length);
    s->entries = c.keys;
    s->entry = graph_must(calloc((size_t)c.keys + 1, sizeof *s->entry));
    s->words = s->closed->n <= 9;
    for (int32_t i = 0; i < c.keys; i++)
        s->entry[i].monomial = c.key[i].monomial;
    for (int32_t i = 0; i < c.keys; i++) {
        int count;
        poly_factor_t shorter[POLY_FACTORS];
        const poly_factor_t *factor = poly_factors(d, s->entry[i].monomial, &count);
        memcpy(shorter, factor, (size_t)count * sizeof *factor);
        s->entry[i].variable = shorter[count - 1] / POLY_EXPONENT;
        count -= --shorter[count - 1] % POLY_EXPONENT == 0;
        s->entry[i].before = count > 0 ? entry_of(s, poly_monomial(d, shorter, count)) : -1;
        /* what a named angle means stands in the list of the angles */
        if (s->entry[i].variable >= POLY_ANGLE + 2 * POLY_RANGES)
            s->words = false;
        if (c.key[i].length > 1) {
            s->words = false;
            s->all.dictionary++;
        }
    }
    free(c.key);
    free(c.index);
}

/* ---------------------------------------------------------------------------------------- terms */

typedef struct {
    const poly_dictionary_t *d;
    int32_t entry;
    symbolic_part_t part;
} piece_t;

/* Parts of a coefficient in the order of their names. */
static int by_entry(const void *a, const void *b) {
    const piece_t *x = a, *y = b;
    if (x->entry != y->entry)
        return x->entry < y->entry ? -1 : 1;
    int m, n;
    const poly_factor_t *f = poly_factors(x->d, x->part.monomial, &m);
    const poly_factor_t *g = poly_factors(y->d, y->part.monomial, &n);
    for (int i = 0; i < m && i < n; i++)
        if (f[i] / POLY_EXPONENT != g[i] / POLY_EXPONENT)
            return f[i] < g[i] ? -1 : 1;
        else if (f[i] != g[i])
            return f[i] > g[i] ? -1 : 1;
    return m - n;
}

symbolic_sum_t symbolic_sum(const symbolic_t *s, const poly_t *p) {
    const size_t count = (size_t)p->count;
    piece_t *piece = graph_must(calloc(count + 1, sizeof *piece));
    symbolic_sum_t sum = {graph_must(calloc(count + 1, sizeof *sum.term)),
                          graph_must(calloc(count + 1, sizeof *sum.part)), 0};
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t product = product_of(s, p->term[i].monomial);
        piece[i].entry = product > 0 ? entry_of(s, product) : -1;
        piece[i].d = s->closed->d;
        piece[i].part = (symbolic_part_t){p->term[i].k, p->term[i].monomial};
    }
    qsort(piece, count, sizeof *piece, by_entry);
    for (int32_t i = 0; i < p->count; i++) {
        if (i == 0 || piece[i].entry != piece[i - 1].entry)
            sum.term[sum.terms++] = (symbolic_term_t){piece[i].entry, i, 0};
        sum.term[sum.terms - 1].parts++;
        sum.part[i] = piece[i].part;
    }
    free(piece);
    return sum;
}

void symbolic_sum_free(symbolic_sum_t *sum) {
    free(sum->term);
    free(sum->part);
}

static void finish(symbolic_t *s) {
    bool used[POLY_VARIABLES] = {false};
    make_dictionary(s);
    s->digits = 6;
    for (int i = 0; i < results(s) && !poly_full(s->closed->d); i++) {
        symbolic_sum_t sum = symbolic_sum(s, result(s, i));
        const bool matrix = i < results(s) - (int)s->closed->n;
        for (int32_t k = 0; k < sum.terms; k++) {
            const symbolic_term_t *t = &sum.term[k];
            const bool one = !s->named && fabs(sum.part[t->first].k) == 1;
            s->all.mul += t->entry >= 0 && !one;
            s->all.add += k > 0;
            for (int32_t e = t->entry; matrix && e >= 0; e = s->entry[e].before) {
                s->matrix.dictionary += !s->entry[e].matrix && s->entry[e].before >= 0;
                s->entry[e].matrix = true;
            }
        }
        if (matrix) {
            s->matrix.mul = s->all.mul;
            s->matrix.add = s->all.add;
        }
        symbolic_sum_free(&sum);
        const poly_t *p = result(s, i);
        for (int32_t k = 0; k < p->count; k++) {
            int count;
            const poly_factor_t *factor = poly_factors(s->closed->d, p->term[k].monomial, &count);
            for (int f = 0; f < count; f++)
                used[factor[f] / POLY_EXPONENT] = true;
        }
    }
    for (int i = 0; i < s->parameters; i++) {
        const int own = symbolic_variable(&s->parameter[i]);
        s->parameter[i].used = used[own] || (own >= POLY_ANGLE && used[own + 1]);
    }
}

/* ------------------------------------------------------------------------------------ the whole */

static symbolic_t *derived(symbolic_t *s, closed_progress_t *progress) {
    s->closed->progress = progress;
    if (closed_derive(s->closed))
        finish(s);
    if (!poly_full(s->closed->d))
        return s;
    symbolic_free(s);
    return NULL;
}

symbolic_t *symbolic_numbers(const dyn_model_t *model, int32_t most, closed_progress_t *progress) {
    symbolic_t *s = graph_must(calloc(1, sizeof *s));
    gen_arm_t *arm = graph_must(calloc(1, sizeof *arm));
    const dyn_model_t quiet = gen_quiet(model, gen_noise(GEN_F64));
    /* Not regrouped: the frames are those of the robot, so that no angle gets an offset. */
    gen_arm(&quiet, GEN_NO_BASE, arm);
    s->closed = closed_from_arm(arm, most);
    free(arm);
    return derived(s, progress);
}

symbolic_t *symbolic_named(const dyn_source_t *source, symbolic_names_t names, int32_t most,
                           closed_progress_t *progress) {
    symbolic_t *s = graph_must(calloc(1, sizeof *s));
    s->named = true;
    symbolic_arm(s, source, names, most);
    return derived(s, progress);
}

void symbolic_free(symbolic_t *s) {
    if (!s)
        return;
    closed_free(s->closed);
    free(s->entry);
    free(s);
}

bool symbolic_gravity(const symbolic_t *s) {
    const poly_t *g = s->closed->gravity;
    return g[0].count || g[1].count || g[2].count;
}

void symbolic_value(const symbolic_t *s, const double *q, double *H, double *G) {
    double *value = graph_must(calloc(POLY_VARIABLES, sizeof *value));
    closed_state(s->closed, q, value);
    for (int i = 0; i < s->parameters; i++)
        value[symbolic_variable(&s->parameter[i])] = s->parameter[i].value;
    for (int i = 0; i < (int)DYN_MAX_JOINTS; i++) {
        const int cosine = POLY_ANGLE + 2 * (POLY_RANGES + i);
        value[cosine] = cos(s->alpha[i]);
        value[cosine + 1] = sin(s->alpha[i]);
    }
    const int matrix = results(s) - (int)s->closed->n;
    for (int i = 0; i < results(s); i++)
        *(i < matrix ? &H[i] : &G[i - matrix]) = poly_value(s->closed->d, result(s, i), value);
    free(value);
}

/* Unlike fmax it keeps what is not a number. */
static double larger(double a, double b) {
    return isnan(a) || a >= b ? a : b;
}

/* What the weights of the links can exert at most on a joint: a force, or a torque with every length
 * as lever. Gravity torques may cancel, of a balanced arm for example; their rounding does not. */
static double most_weight(const dyn_model_t *m, double farthest) {
    double sum = 0, lever = 1;
    for (uint32_t i = 0; i < m->n; i++) {
        const dyn_model_joint_t *j = &m->joint[i];
        const dyn_body_t *body[2] = {&j->link, &m->payload};
        lever += fabs(j->a) + fabs(j->d) + (j->type == DYN_PRISMATIC ? farthest : 0);
        for (int k = 0; k < (i + 1 == m->n ? 2 : 1); k++)
            sum += body[k]->mass *
                   (lever + fabs(body[k]->com[0]) + fabs(body[k]->com[1]) + fabs(body[k]->com[2]));
    }
    return sum * (fabs(m->gravity[0]) + fabs(m->gravity[1]) + fabs(m->gravity[2]));
}

bool symbolic_check(symbolic_t *s, const dyn_model_t *model, double most) {
    enum { STATES = 100, PACKED = DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2 };
    static const double pi = 3.14159265358979323846;
    static dyn_arm_f64_t arm;
    static dyn_fast_forward_scratch_f64_t scratch;
    double *H = graph_must(calloc(2 * PACKED, sizeof *H)), *M = H + PACKED;
    double q[DYN_MAX_JOINTS], G[DYN_MAX_JOINTS], g[DYN_MAX_JOINTS];
    const uint32_t n = s->closed->n;
    const double weight = most_weight(model, pi);
    uint32_t random = 1;
    s->worst_H = s->worst_G = dyn_prepare_f64(model, NULL, &arm) == DYN_OK ? 0 : HUGE_VAL;
    for (s->states = 0; s->states < STATES && !(s->worst_H >= HUGE_VAL); s->states++) {
        double largest_H = 0, off_H = 0, off_G = 0;
        for (uint32_t i = 0; i < n; i++) {
            random = random * 1664525u + 1013904223u;
            q[i] = ((double)(random >> 8) / 0x800000 - 1) * pi;
        }
        symbolic_value(s, q, H, G);
        dyn_fast_mass_f64(&arm, &scratch.fast, q, M);
        dyn_rotor_mass_f64(&arm, M);
        dyn_fast_gravity_f64(&arm, &scratch.fast, q, g);
        for (uint32_t i = 0; i < n * (n + 1) / 2; i++) {
            largest_H = fmax(largest_H, fabs(M[i]));
            off_H = larger(off_H, fabs(M[i] - H[i]));
        }
        for (uint32_t i = 0; i < n; i++)
            off_G = larger(off_G, fabs(g[i] - G[i]));
        s->worst_H = larger(s->worst_H, off_H / fmax(largest_H, 1e-300));
        s->worst_G = larger(s->worst_G, off_G / fmax(weight, 1e-300));
    }
    free(H);
    return s->worst_H <= most && s->worst_G <= most;
}

symbolic_angle_t symbolic_angle(const symbolic_t *s, int variable) {
    const int angle = (variable - POLY_ANGLE) / 2;
    symbolic_angle_t a = {.sign = 1, .sine = (variable - POLY_ANGLE) % 2, .named = -1};
    if (angle >= POLY_RANGES) {
        a.named = angle - POLY_RANGES;
        return a;
    }
    const uint32_t first = (uint32_t)angle / DYN_MAX_JOINTS,
                   last = (uint32_t)angle % DYN_MAX_JOINTS;
    const double quarter = 1.57079632679489661923, all = closed_offset(s->closed, first, last);
    const double turns = rint(all / quarter);
    a.joints = closed_turning(s->closed, first, last);
    a.offset = all - turns * quarter;
    if (fabs(a.offset) > 1e-12) {
        a.offset = all;
        return a;
    }
    a.offset = 0;
    /* cos(x + 90) = -sin x, sin(x + 90) = cos x */
    for (int k = ((int)turns % 4 + 4) % 4; k > 0; k--) {
        a.sign = a.sine ? a.sign : -a.sign;
        a.sine = !a.sine;
    }
    return a;
}

/* The dictionary of monomials and the arithmetic of tools/gen/poly.h. */
#include "tools/gen/poly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/graph.h"

/* A coefficient that is smaller than this part of what went into it is rounding: the sums are at
 * most a few hundred operations deep, each with a relative error of 1.1e-16. */
static const double rounding = 1e-13;

typedef struct {
    int32_t first, count; /* factors */
    int32_t next;         /* in the list of its hash bucket */
    uint32_t hash;
} monomial_t;

struct poly_dictionary {
    monomial_t *monomial;
    int32_t count, room, most;
    poly_factor_t *factor;
    int32_t factors, factor_room;
    int32_t *bucket;
    uint32_t buckets; /* a power of two */
    int64_t terms;    /* that the polynomials have room for */
    bool full;
};

static void *grown(void *array, int32_t *room, int32_t wanted, size_t size) {
    if (wanted <= *room)
        return array;
    *room = wanted > 2 * *room ? wanted + 8 : 2 * *room;
    return graph_must(realloc(array, (size_t)*room * size));
}

poly_dictionary_t *poly_new(int32_t most) {
    poly_dictionary_t *d = graph_must(calloc(1, sizeof *d));
    d->most = most;
    for (d->buckets = 1024; d->buckets < (uint32_t)most; d->buckets *= 2)
        ;
    d->bucket = graph_must(malloc(d->buckets * sizeof *d->bucket));
    for (uint32_t i = 0; i < d->buckets; i++)
        d->bucket[i] = -1;
    (void)poly_monomial(d, NULL, 0);
    return d;
}

void poly_delete(poly_dictionary_t *d) {
    if (!d)
        return;
    free(d->monomial);
    free(d->factor);
    free(d->bucket);
    free(d);
}

bool poly_full(const poly_dictionary_t *d) {
    return d->full;
}

int32_t poly_monomials(const poly_dictionary_t *d) {
    return d->count;
}

const poly_factor_t *poly_factors(const poly_dictionary_t *d, int32_t monomial, int *count) {
    *count = d->monomial[monomial].count;
    return d->factor + d->monomial[monomial].first;
}

int32_t poly_monomial(poly_dictionary_t *d, const poly_factor_t *factor, int count) {
    uint32_t hash = 2166136261u;
    for (int i = 0; i < count; i++)
        hash = (hash ^ (uint32_t)factor[i]) * 16777619u;
    int32_t *bucket = &d->bucket[hash & (d->buckets - 1)];
    for (int32_t i = *bucket; i >= 0; i = d->monomial[i].next) {
        const monomial_t *m = &d->monomial[i];
        if (m->hash == hash && m->count == count &&
            (count == 0 ||
             memcmp(d->factor + m->first, factor, (size_t)count * sizeof *factor) == 0))
            return i;
    }
    if (d->count == d->most || d->factors > INT32_MAX / 2 - POLY_FACTORS) {
        d->full = true;
        return -1;
    }
    d->monomial = grown(d->monomial, &d->room, d->count + 1, sizeof *d->monomial);
    d->factor = grown(d->factor, &d->factor_room, d->factors + count, sizeof *d->factor);
    d->monomial[d->count] = (monomial_t){d->factors, count, *bucket, hash};
    if (count > 0)
        memcpy(d->factor + d->factors, factor, (size_t)count * sizeof *factor);
    d->factors += count;
    *bucket = d->count;
    return d->count++;
}

/* --------------------------------------------------------------------------------------- terms */

void poly_free(poly_t *p) {
    if (p->d)
        p->d->terms -= p->room;
    free(p->term);
    *p = (poly_t){0};
}

static int ascending(const void *a, const void *b) {
    const int32_t x = ((const poly_term_t *)a)->monomial, y = ((const poly_term_t *)b)->monomial;
    return (x > y) - (x < y);
}

void poly_gather(poly_t *p) {
    int32_t used = 0;
    if (p->count > 0)
        qsort(p->term, (size_t)p->count, sizeof *p->term, ascending);
    for (int32_t i = 0; i < p->count; i++)
        if (used > 0 && p->term[used - 1].monomial == p->term[i].monomial) {
            p->term[used - 1].k += p->term[i].k;
            p->term[used - 1].size += p->term[i].size;
        } else
            p->term[used++] = p->term[i];
    p->count = 0;
    for (int32_t i = 0; i < used; i++)
        if (fabs(p->term[i].k) > rounding * p->term[i].size)
            p->term[p->count++] = p->term[i];
}

static void widen(poly_dictionary_t *d, poly_t *p, int32_t wanted) {
    const int32_t before = p->room;
    p->term = grown(p->term, &p->room, wanted, sizeof *p->term);
    p->d = d;
    d->terms += p->room - before;
    d->full = d->full || d->terms > POLY_TERMS * (int64_t)d->most;
}

static void push(poly_dictionary_t *d, poly_t *p, poly_term_t t) {
    /* A sum that was gathered needs no more room than twice its terms. */
    if (p->count == p->room && p->count > 64) {
        poly_gather(p);
        if (p->count > d->most)
            d->full = true;
        if (p->count > p->room / 2)
            widen(d, p, 2 * p->room);
    }
    if (d->full || t.monomial < 0)
        return;
    widen(d, p, p->count + 1);
    p->term[p->count++] = t;
}

/* ------------------------------------------------------------------------------------- products */

typedef struct {
    poly_factor_t factor[POLY_FACTORS];
    int count;
    double k, size;
} product_t;

static bool is_trig(poly_factor_t factor) {
    return factor / POLY_EXPONENT >= POLY_ANGLE;
}

static int angle_of(poly_factor_t factor) {
    return (factor / POLY_EXPONENT - POLY_ANGLE) / 2;
}

static bool is_sine(poly_factor_t factor) {
    return (factor / POLY_EXPONENT - POLY_ANGLE) % 2 == 1;
}

/* Multiplies by a variable or, for a negative step, takes it away. */
static bool multiply(product_t *p, int variable, int step) {
    int i = 0;
    while (i < p->count && p->factor[i] / POLY_EXPONENT < variable)
        i++;
    if (i < p->count && p->factor[i] / POLY_EXPONENT == variable) {
        const int exponent = p->factor[i] % POLY_EXPONENT + step;
        if (exponent >= POLY_EXPONENT)
            return false;
        if (exponent > 0) {
            p->factor[i] = (poly_factor_t)(variable * POLY_EXPONENT + exponent);
            return true;
        }
        p->count--;
        memmove(p->factor + i, p->factor + i + 1, (size_t)(p->count - i) * sizeof *p->factor);
        return true;
    }
    if (p->count == POLY_FACTORS)
        return false;
    memmove(p->factor + i + 1, p->factor + i, (size_t)(p->count - i) * sizeof *p->factor);
    p->factor[i] = (poly_factor_t)(variable * POLY_EXPONENT + step);
    p->count++;
    return true;
}

/*
 * Finds two factors that the normal form replaces: x is the sine of the shorter angle a, y the sine
 * or cosine of the longer angle b of the same group; y is x for a square.
 */
static bool reducible(const product_t *p, int *x, int *y) {
    for (int i = 0; i < p->count; i++) {
        if (!is_trig(p->factor[i]) || !is_sine(p->factor[i]))
            continue;
        if (p->factor[i] % POLY_EXPONENT >= 2) {
            *x = *y = i;
            return true;
        }
        const int a = angle_of(p->factor[i]);
        for (int j = i + 1; j < p->count && a < POLY_RANGES; j++) {
            const int b = angle_of(p->factor[j]);
            if (b >= POLY_RANGES || b / DYN_MAX_JOINTS != a / DYN_MAX_JOINTS)
                break;
            if (b > a) {
                *x = i;
                *y = j;
                return true;
            }
        }
    }
    return false;
}

static void push_reduced(poly_dictionary_t *d, poly_t *sum, const product_t *p) {
    int x, y;
    if (!reducible(p, &x, &y)) {
        push(d, sum, (poly_term_t){poly_monomial(d, p->factor, p->count), p->k, p->size});
        return;
    }
    const int a = p->factor[x] / POLY_EXPONENT, b = p->factor[y] / POLY_EXPONENT;
    const bool sines = is_sine(p->factor[y]);
    product_t left = *p;
    bool fits = multiply(&left, a, -1) && multiply(&left, b, -1);
    product_t other = left, difference = left;
    /* sines: cos(b - a) - cos a cos b; else cos a sin b - sin(b - a) */
    fits = fits && multiply(&other, a - 1, 1) && multiply(&other, sines ? b - 1 : b + 1, 1);
    (sines ? &other : &difference)->k *= -1;
    if (x != y) {
        const uint32_t to_a = (uint32_t)angle_of(p->factor[x]) % DYN_MAX_JOINTS;
        const uint32_t to_b = (uint32_t)angle_of(p->factor[y]) % DYN_MAX_JOINTS;
        fits = fits && multiply(&difference, poly_cosine(to_a + 1, to_b) + !sines, 1);
    }
    if (!fits) {
        d->full = true;
        return;
    }
    push_reduced(d, sum, &difference);
    push_reduced(d, sum, &other);
}

void poly_add_product(poly_dictionary_t *d, poly_t *sum, double k, const poly_t *a,
                      const poly_t *b) {
    for (int32_t i = 0; i < a->count && k != 0; i++)
        for (int32_t j = 0; j < b->count && !d->full; j++) {
            const poly_term_t *s = &a->term[i], *t = &b->term[j];
            product_t p = {.k = k * s->k * t->k, .size = fabs(k) * s->size * t->size};
            int count, fits = 1;
            const poly_factor_t *factor = poly_factors(d, s->monomial, &p.count);
            if (p.count > 0)
                memcpy(p.factor, factor, (size_t)p.count * sizeof *factor);
            factor = poly_factors(d, t->monomial, &count);
            for (int f = 0; f < count && fits; f++)
                fits = multiply(&p, factor[f] / POLY_EXPONENT, factor[f] % POLY_EXPONENT);
            d->full = d->full || !fits;
            if (fits)
                push_reduced(d, sum, &p);
        }
}

void poly_add(poly_dictionary_t *d, poly_t *sum, double k, const poly_t *a) {
    for (int32_t i = 0; i < a->count && k != 0; i++)
        push(d, sum,
             (poly_term_t){a->term[i].monomial, k * a->term[i].k, fabs(k) * a->term[i].size});
}

void poly_add_number(poly_dictionary_t *d, poly_t *sum, double k) {
    if (k != 0)
        push(d, sum, (poly_term_t){0, k, fabs(k)});
}

void poly_add_variable(poly_dictionary_t *d, poly_t *sum, double k, int variable) {
    const poly_factor_t factor = (poly_factor_t)(variable * POLY_EXPONENT + 1);
    if (k != 0)
        push(d, sum, (poly_term_t){poly_monomial(d, &factor, 1), k, fabs(k)});
}

double poly_value(const poly_dictionary_t *d, const poly_t *p, const double *value) {
    double sum = 0;
    for (int32_t i = 0; i < p->count; i++) {
        double product = p->term[i].k;
        int count;
        const poly_factor_t *factor = poly_factors(d, p->term[i].monomial, &count);
        for (int f = 0; f < count; f++)
            for (int e = factor[f] % POLY_EXPONENT; e > 0; e--)
                product *= value[factor[f] / POLY_EXPONENT];
        sum += product;
    }
    return sum;
}

/*
 * Numbers of the two float backends. Before: DYN_REAL, and REAL_ROUNDING, by what part of it a
 * number may change when it is rounded.
 *
 * A zero or one that the compiler knows (the resting base, the y of (a, 0, d)) drops out here. It
 * may not do that by itself, because x * 0 is not 0 for an infinite x and x + 0 is not x for x =
 * -0; the kernels do not care for either. That is how the first and the last link get cheaper
 * without a line of their own.
 */
#include <stdbool.h>
#include <stdint.h>

#include "dyn/name.h"

#define INLINE static inline __attribute__((always_inline, unused))

typedef DYN_T(real) real;
typedef real acc; /* a sum of products that is rounded once, where that makes a difference */

#define KNOWN(x, value)     (__builtin_constant_p((x) == (value)) && (x) == (value))
#define NAMED(joint, value) ((void)(joint), (void)(value))

INLINE real real_known(int value) {
    return (real)value;
}

INLINE real real_neg(real a) {
    return -a;
}

INLINE real real_add(real a, real b) {
    if (KNOWN(a, 0))
        return b;
    if (KNOWN(b, 0))
        return a;
    return a + b;
}

INLINE real real_sub(real a, real b) {
    if (KNOWN(a, 0))
        return -b;
    if (KNOWN(b, 0))
        return a;
    return a - b;
}

INLINE real real_mul(real a, real b) {
    if (KNOWN(a, 0) || KNOWN(b, 0))
        return 0;
    if (KNOWN(a, 1))
        return b;
    if (KNOWN(b, 1))
        return a;
    return a * b;
}

INLINE acc acc_mul(real a, real b) {
    return real_mul(a, b);
}

INLINE acc acc_mac(acc sum, real a, real b) {
    return real_add(sum, real_mul(a, b));
}

INLINE acc acc_msub(acc sum, real a, real b) {
    return real_sub(sum, real_mul(a, b));
}

INLINE real acc_round(acc sum) {
    return sum;
}

/* A plane rotation keeps its cosine and sine in a format of its own; here it is the same. */
INLINE acc turn_mul(real cs, real a) {
    return real_mul(cs, a);
}

INLINE acc turn_mac(acc sum, real cs, real a) {
    return real_add(sum, real_mul(cs, a));
}

INLINE acc turn_msub(acc sum, real cs, real a) {
    return real_sub(sum, real_mul(cs, a));
}

INLINE real turn_round(acc sum) {
    return sum;
}

INLINE real turn_known(int value) {
    return (real)value;
}

/* A cosine or sine as an ordinary number. */
INLINE real turn_real(real cs) {
    return cs;
}

#ifndef real_clamp
INLINE real real_clamp(real a, real limit) {
    return a > limit ? limit : a < -limit ? -limit : a;
}

/* 1 where it was clamped, for dyn/gain.h. */
INLINE uint32_t real_beyond(real a, real limit) {
    return (uint32_t)(a > limit) | (uint32_t)(a < -limit);
}
#endif

INLINE real real_shift_mass(real a, unsigned shift) {
    (void)shift;
    return a;
}

/*
 * Pivots of a factorisation: how many were none, looked at once at the end. A NaN exceeds nothing,
 * and is forgotten by no later pivot. Written so that the compiler makes no branch of it.
 */
typedef struct {
    uint32_t failed;
} pivot;

INLINE pivot pivot_begin(void) {
    return (pivot){0};
}

/*
 * For dyn/scale.h. A singular matrix has a pivot that is nothing but rounding, as often above zero
 * as below. Of a diagonal element M_ii the elimination takes products that sum up to M_ii at most.
 * Each has been rounded three times, as a reciprocal, as a quotient and as a product, and each of
 * the n - 1 differences once, half a unit of M_ii at most: n + 2 roundings of M_ii 2^-24 (2^-53),
 * and for six joints eight of them. In longer arms they are more, but of either sign.
 */
#define real_least real_least
INLINE real real_least(real diagonal) {
    return real_mul(diagonal, 8 * REAL_ROUNDING);
}

#define pivot_see_above pivot_see_above
INLINE pivot pivot_see_above(pivot p, real d, real least, int bits) {
    (void)bits;
    return (pivot){d > least ? p.failed : p.failed + 1};
}

INLINE pivot pivot_see(pivot p, real d) {
    return pivot_see_above(p, d, 0, 0);
}

INLINE bool pivot_ok(pivot p) {
    return p.failed == 0;
}

/* For prepare.c: whether the format can hold a constant that is not vital. */
INLINE bool real_holds(double value, int exponent) {
    (void)value;
    (void)exponent;
    return true;
}

/* For prepare.c: a constant of the model, in units of 2^exponent (of no interest to a float). */
INLINE bool real_from_model(double value, int exponent, real *out) {
    (void)exponent;
    *out = (real)value;
    return true;
}

INLINE real turn_from_model(double cs) {
    return (real)cs;
}

INLINE real angle_from_model(double rad) {
    return (real)rad;
}

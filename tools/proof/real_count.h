/* The number operations of the backend `count`, for kernels. */
#ifndef TOOLS_PROOF_REAL_COUNT_H
#define TOOLS_PROOF_REAL_COUNT_H

#include "tools/proof/count.h"

#include <math.h>
#include <stdbool.h>

#define DYN_REAL count
#define INLINE   static inline __attribute__((unused))

typedef dyn_real_count_t real;
typedef real acc;

#define NAMED(joint, value) ((void)(joint), (void)(value))

INLINE real real_known(int value) {
    return (real){value, true};
}

INLINE bool is_known(real a, int value) {
    return a.known && a.v == value;
}

INLINE real real_neg(real a) {
    return (real){-a.v, a.known};
}

INLINE real real_add(real a, real b) {
    if (is_known(a, 0))
        return b;
    if (is_known(b, 0))
        return a;
    return count_op(COUNT_ADD, a.v + b.v);
}

INLINE real real_sub(real a, real b) {
    return real_add(a, real_neg(b));
}

INLINE real real_mul(real a, real b) {
    if (is_known(a, 0) || is_known(b, 0))
        return real_known(0);
    if (is_known(a, 1))
        return b;
    if (is_known(b, 1))
        return a;
    return count_op(COUNT_MUL, a.v * b.v);
}

#define acc_mul(a, b)       real_mul(a, b)
#define acc_mac(sum, a, b)  real_add(sum, real_mul(a, b))
#define acc_msub(sum, a, b) real_sub(sum, real_mul(a, b))
#define acc_round(sum)      (sum)
#define turn_mul            acc_mul
#define turn_mac            acc_mac
#define turn_msub           acc_msub
#define turn_round          acc_round
#define turn_known          real_known
#define turn_real(cs)       (cs)

/* A value that a loop carries counts as unknown to the compiler, even if it is constant
 * (dyn/number/tensor.h). */
#define real_carried(a) count_input((a).v)

#define real_shift_mass(a, shift) ((void)(shift), (a))
#define add_rotor(j, x)           ((real){(x).v + (j)->rotor.v, (x).known})

INLINE void real_sincos(real q, real offset, real *cosine, real *sine) {
    *cosine = count_op(COUNT_SINCOS, cos(q.v + offset.v)); /* sine and cosine together count once */
    *sine = count_input(sin(q.v + offset.v));
}

INLINE real real_recip(real a) {
    return count_op(COUNT_DIV, 1 / a.v);
}

INLINE real real_sqrt(real a) {
    return count_op(COUNT_SQRT, sqrt(a.v));
}

INLINE real real_clamp(real a, real limit) {
    return (real){fmax(-limit.v, fmin(limit.v, a.v)), a.known};
}

typedef struct {
    double smallest;
} pivot;

INLINE pivot pivot_begin(void) {
    return (pivot){INFINITY};
}

INLINE pivot pivot_see(pivot p, real d) {
    return (pivot){fmin(p.smallest, d.v)};
}

/* The same code as for floats; a comparison is not counted. */
#define real_least real_least
INLINE real real_least(real diagonal) {
    return real_mul(diagonal, count_input(0x1p-50));
}

#define pivot_see_above pivot_see_above
INLINE pivot pivot_see_above(pivot p, real d, real least, int bits) {
    (void)bits;
    return (pivot){fmin(p.smallest, d.v - least.v)};
}

INLINE bool pivot_ok(pivot p) {
    return p.smallest > 0;
}

#define real_beyond(a, limit) ((uint32_t)(fabs((a).v) > (limit).v))

INLINE bool real_fits(double value, int exponent) {
    (void)value;
    (void)exponent;
    return true;
}

INLINE bool real_from_model(double value, int exponent, real *out) {
    (void)exponent;
    *out = count_input(value);
    return true;
}

#define turn_from_model  count_input
#define angle_from_model count_input

#define real_merged real_merged
INLINE real real_merged(real a) {
    return count_input(a.v);
}

#include "dyn/number/vec.inc"

#endif

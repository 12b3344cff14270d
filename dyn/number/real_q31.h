/*
 * The number operations of q31, for kernels: int32 with 28 fractional bits (30 for the cosine and
 * sine of a plane rotation), products summed in int64 and truncated once. Truncation is towards
 * minus infinity: rounding to nearest costs a fifth more instructions for half the error. A
 * rotation keeps only the upper word of the sum. It loses up to four units instead of one, but
 * takes one instruction instead of two, or none where an addition shifts its operand; that saves a
 * twelfth of the instructions of the inertia matrix. Sums and products do not saturate:
 * tools/proof/range.h proves beforehand that no sum leaves its type within the limits of the arm.
 *
 * A Cortex-M3 has SMULL and SMLAL but no SMLSL, so a difference negates a factor; INT32_MIN is
 * therefore not a valid value. The compiler drops zeros that it knows.
 */
#ifndef DYN_NUMBER_REAL_Q31_H
#define DYN_NUMBER_REAL_Q31_H

#include "dyn/number/q31.h"
#include "dyn/number/trig.h"

#include <stdbool.h>

#ifndef DYN_REAL /* the checked variant of tools/proof defines DYN_REAL itself */
#define DYN_REAL q31
#endif

#define INLINE static inline __attribute__((always_inline, unused))

typedef int32_t real;
typedef int64_t acc;

#define TURN_BITS 30

/* Hooks that the checked variant replaces; here they only compute. */
#ifndef Q31_CUT
#define Q31_CUT(sum, bits)  ((int32_t)((sum) >> (bits)))
#define Q31_CUT_TURN(sum)   ((int32_t)((uint32_t)((sum) >> 32) << (32 - TURN_BITS)))
#define Q31_SUM(a, b)       ((a) + (b))
#define Q31_SUM64(a, b)     ((a) + (b))
#define Q31_UP(a, bits)     ((int32_t)((uint32_t)(a) << (bits)))
#define NAMED(joint, value) ((void)(joint), (void)(value))
#endif

INLINE real real_known(int value) {
    return (real)value * (1 << DYN_Q31_BITS);
}

/* Uses unsigned arithmetic: from a signed negation gcc would make a 64-bit product of five
 * steps. */
INLINE real real_neg(real a) {
    return (real)(0u - (uint32_t)a);
}

INLINE real real_add(real a, real b) {
    return Q31_SUM(a, b);
}

INLINE real real_sub(real a, real b) {
    return Q31_SUM(a, real_neg(b));
}

INLINE acc acc_mul(real a, real b) {
    return (acc)a * b;
}

INLINE acc acc_mac(acc sum, real a, real b) {
    return Q31_SUM64(sum, (acc)a * b);
}

INLINE acc acc_msub(acc sum, real a, real b) {
    return Q31_SUM64(sum, (acc)real_neg(a) * b);
}

INLINE real acc_round(acc sum) {
    return Q31_CUT(sum, DYN_Q31_BITS);
}

INLINE real real_mul(real a, real b) {
    return acc_round(acc_mul(a, b));
}

INLINE acc turn_mul(real cs, real a) {
    return (acc)cs * a;
}

INLINE acc turn_mac(acc sum, real cs, real a) {
    return Q31_SUM64(sum, (acc)cs * a);
}

INLINE acc turn_msub(acc sum, real cs, real a) {
    return Q31_SUM64(sum, (acc)real_neg(cs) * a);
}

INLINE real turn_round(acc sum) {
    return Q31_CUT_TURN(sum);
}

INLINE real turn_known(int value) {
    return (real)value * (1 << TURN_BITS);
}

INLINE real turn_real(real cs) {
    return cs >> (TURN_BITS - DYN_Q31_BITS);
}

INLINE real real_clamp(real a, real limit) {
    return a > limit ? limit : a < -limit ? -limit : a;
}

INLINE real real_shift_mass(real a, unsigned shift) {
    return a >> shift;
}

/* For dyn/number/gain.h: the factor is a mantissa of at most 2^30 and a shift, so that the product
 * has at most 61 bits and cannot overflow. */
typedef int64_t q31_wide;
#define wider           q31_wide
#define gain_wide(g, a) ((wider)(((wider)(g).k * (a)) >> (g).cut))
#define gain_mul(g, a)  Q31_CUT((wider)(g).k *(a), (int)(g).cut)
#define wide_add(a, b)  ((a) + (b))

/* Uses the signs of the differences, because a 64-bit comparison makes branches. */
INLINE real wide_clamp(q31_wide a, real limit, uint32_t *beyond) {
    const uint32_t above = (uint32_t)((uint64_t)(limit - a) >> 63);
    const uint32_t below = (uint32_t)((uint64_t)(a + limit) >> 63);
    const uint32_t top = (uint32_t)limit & (0u - above),
                   low = (0u - (uint32_t)limit) & (0u - below);
    *beyond = above | below;
    return (real)(((uint32_t)a & (*beyond - 1u)) | top | low);
}
#define wide_clamp          wide_clamp
#define wide_fit(a, beyond) wide_clamp(a, INT32_MAX, beyond)
#define gain_from_model(value, exponent, gain)                                                     \
    dyn_q31_gain(value, exponent, &(gain)->k, &(gain)->cut)

/* For firmware/control/number.h. gain_turn converts a position that does not wrap around into a
 * binary angle, which does. gain_count and gain_count_wide multiply a plain integer; gain_whole
 * returns one. part_turn converts a fraction of a turn in Q28 (one turn is 2^28) into a binary
 * angle (one turn is 2^32). */
#define gain_turn(g, a)       ((real)(uint32_t)(((wider)(g).k * (a)) >> (g).cut))
#define gain_count(g, n)      Q31_CUT((wider)(g).k *(int32_t)(n), (int)(g).cut)
#define gain_whole(g, a)      gain_mul(g, a)
#define gain_count_wide(g, n) ((wider)(((wider)(g).k * (int32_t)(n)) >> (g).cut))
#define wide_sub(a, b)        ((wider)(a) - (b))
#define wide_mul(a, b)        (((wider)(a) * (b)) >> DYN_Q31_BITS)
#define real_exceeds(a, b, by)                                                                     \
    ((a) > (b) && (uint32_t)(a) - (uint32_t)(b) > (uint32_t)(by)) /* exact because a > b */
#define real_slack(limit)    ((limit) >> 12)
#define real_q15(a)          ((int32_t)(((int64_t)(a)*32767) >> DYN_Q31_BITS))
#define real_half(a)         ((a) >> 1)
#define REAL_SQUARE_EXPONENT 8
#define real_square(a)       ((real)(((wider)(a) * (a)) >> (DYN_Q31_BITS + REAL_SQUARE_EXPONENT)))
#define real_root_mean(sum)  (real_sqrt((sum) >> 1) * 4) /* 4^2 / 2 = 2^8 / 32 */
#define real_to_model        dyn_q31_to
#define part_turn(u)         ((real)((uint32_t)(u) << (32 - DYN_Q31_BITS)))

INLINE void real_sincos(real q, real offset, real *cosine, real *sine) {
    dyn_sincos_q30((int32_t)((uint32_t)q + (uint32_t)offset), cosine, sine);
}

/* Converts radians in Q28 to a binary angle: the factor 2^32 / (2 pi 2^28) is
 * 2.5464790894703255. */
#define real_angle real_angle
INLINE real real_angle(real rad) {
    return (real)(uint32_t)(int64_t)(((int64_t)rad * 2734261102) >> 30);
}

/* Magnitude, sign and minimum by masks, because a conditional expression may become a branch, and
 * the time would then depend on the state. q31_lesser is only for numbers that are not negative. */
INLINE int32_t q31_size(int32_t a) {
    return (int32_t)((uint32_t)(a ^ (a >> 31)) - (uint32_t)(a >> 31));
}

INLINE int32_t q31_signed(int32_t size, int32_t sign) {
    return (size ^ (sign >> 31)) - (sign >> 31);
}

INLINE int32_t q31_lesser(int32_t a, int32_t b) {
    return b + ((a - b) & ((a - b) >> 31));
}

/* 1/a by Newton's iteration on the normalised mantissa m. The start value 48/17 - 32/17 m has a
 * relative error of at most 1/17; after three steps the error is at most 2^-32. Saturates if 1/a
 * does not fit the format. The time is constant. */
INLINE real real_recip(real a) {
    const uint32_t size = (uint32_t)q31_size(a);
    const int zeros = __builtin_clz(size | 1);
    const uint32_t m = size << zeros;                                         /* [0.5, 1) in Q32 */
    uint32_t y = 3031741621u - (uint32_t)(((uint64_t)m * 2021161081u) >> 32); /* 1/m, Q30 */
    for (int i = 0; i < 3; i++) {
        uint32_t my = (uint32_t)(((uint64_t)m * y) >> 32); /* about 1 in Q30 */
        y = (uint32_t)(((uint64_t)y * (0x80000000u - my)) >> 30);
    }
    /* a = m 2^(32 - zeros - 28), so 1/a = y 2^(28 + zeros - 32) in Q30; Q28 has two fraction bits
     * fewer. */
    const uint64_t wide = ((uint64_t)y << zeros) >> 6;
    const uint32_t over = (uint32_t)(-(int32_t)(wide >> 31) >> 31); /* all ones if too large */
    return q31_signed((int32_t)(((uint32_t)wide | over) & INT32_MAX), a);
}

/* Square root digit by digit, truncated. Returns zero for a negative number. */
INLINE real real_sqrt(real a) {
    uint64_t rest = (uint64_t)(a & ~(a >> 31)) << DYN_Q31_BITS, root = 0;
    for (uint64_t bit = (uint64_t)1 << 58; bit != 0; bit >>= 2) {
        const uint64_t trial = root + bit;
        const uint64_t take = ~(uint64_t)((int64_t)(rest - trial) >> 63);
        rest -= trial & take;
        root = (root >> 1) + (bit & take);
    }
    return (real)root;
}

/* Powers of two for the solvers, see dyn/number/scale.h. The functions shift by a variable amount
 * of at most 31 bits to the left or right, in constant time. */
#define real_headroom real_headroom
INLINE int real_headroom(real a) {
    return __builtin_clz((uint32_t)a | 1) - (31 - DYN_Q31_BITS - 1);
}

#define real_scale real_scale
INLINE real real_scale(real a, int left) {
    const int by = q31_lesser(q31_size(left), 31);
    const int up = by & ~(left >> 31), down = by & (left >> 31);
    return Q31_UP(a, up) >> down;
}

#define real_scale_clamped real_scale_clamped
INLINE real real_scale_clamped(real a, int left) {
    const int by = q31_lesser(q31_size(left), 31);
    const int up = by & ~(left >> 31), down = by & (left >> 31);
    const int32_t most = INT32_MAX >> up;
    const int32_t inside = q31_signed(q31_lesser(q31_size(a), most), a);
    return (real)((uint32_t)inside << up) >> down;
}

/* 1/sqrt(a) by Newton's iteration on the mantissa m, where a = m 4^k. The start value 2.185 - 1.249
 * m has a relative error of at most 1/8; after four steps the error is at most 2^-31. The result
 * saturates if it does not fit the format. The time is constant. a must be positive. */
#define real_recip_sqrt real_recip_sqrt
INLINE real real_recip_sqrt(real a) {
    const int zeros = __builtin_clz((uint32_t)a | 1) & ~1;
    const uint32_t m = (uint32_t)a << zeros;                                  /* [1/4, 1) in Q32 */
    uint32_t y = 2346125886u - (uint32_t)(((uint64_t)m * 1341103538u) >> 32); /* 1/sqrt(m), Q30 */
    for (int i = 0; i < 4; i++) {
        uint32_t my = (uint32_t)(((uint64_t)m * y) >> 32);   /* Q30 */
        uint32_t myy = (uint32_t)(((uint64_t)my * y) >> 30); /* about 1 in Q30 */
        y = (uint32_t)(((uint64_t)y * (0xC0000000u - myy)) >> 31);
    }
    /* a = m 2^(32 - zeros - 28), so 1/sqrt(a) = y 2^(zeros / 2 - 2) in Q30; Q28 has two fraction
     * bits fewer. */
    const int64_t wide = ((int64_t)y << (zeros / 2)) >> 4;
    return wide > INT32_MAX ? INT32_MAX : (real)wide;
}

/* The smallest pivot of a factorisation so far. The status is read once at the end. */
typedef struct {
    real smallest;
} pivot;

INLINE pivot pivot_begin(void) {
    return (pivot){INT32_MAX};
}

INLINE pivot pivot_see(pivot p, real d) {
    return (pivot){d < p.smallest ? d : p.smallest};
}

/* Refuses a pivot of 2^-bits or less like one that is not positive. bits is 3 for a solver that
 * needs 1/a and 6 for one that needs 1/sqrt(a), because both saturate at 8;
 * dyn/kernel/fast_solve.inc scales its pivots and passes 20. */
#define pivot_see_above pivot_see_above
INLINE pivot pivot_see_above(pivot p, real d, real least, int bits) {
    (void)least;
    return pivot_see(p, d - (1 << (DYN_Q31_BITS - bits)));
}

INLINE bool pivot_ok(pivot p) {
    return p.smallest > 0;
}

/* For prepare.c: whether the format can represent an optional constant. */
INLINE bool real_fits(double value, int exponent) {
    const int32_t raw = dyn_q31_from(value, exponent);
    return raw < INT32_MAX && raw > -INT32_MAX;
}

/* For prepare.c: converts a constant of the model to units of 2^exponent; returns false if it does
 * not fit. */
INLINE bool real_from_model(double value, int exponent, real *out) {
    *out = dyn_q31_from(value, exponent);
    return *out<INT32_MAX && * out> - INT32_MAX;
}

INLINE real turn_from_model(double cs) {
    return (real)rint(ldexp(cs, TURN_BITS));
}

INLINE real angle_from_model(double rad) {
    return dyn_q31_angle(rad);
}

#include "dyn/number/vec.inc"

#endif

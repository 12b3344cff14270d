/* Sine and cosine of one angle together, in constant time: the nearest angle is looked up in a
 * table with equal spacing, and short polynomials and the addition theorem add the remainder. The
 * index stays within the table for every argument, NaN included. */
#ifndef DYN_NUMBER_TRIG_H
#define DYN_NUMBER_TRIG_H

#include <math.h>
#include <stdint.h>

/* The tables contain sin(2 pi k / 512) in float, sin(2 pi k / 128) in double and sin(2 pi k /
 * 256) in Q30. Each table covers a turn and a quarter, because the cosine is read a quarter turn
 * later. */
extern const float dyn_sine_f32[512 + 128];
extern const double dyn_sine_f64[128 + 32];
extern const int32_t dyn_sine_q30[256 + 64];

/* The absolute error is below 1.2e-7 for |x| up to 1e4 rad (test_dyn_trig; the largest seen is
 * 9.6e-8). It consists of half an ulp of the table and half an ulp of the last sum, 2^-25 each, and
 * of r^3/6 < 3.9e-8, because sin r is replaced by r, with |r| <= pi/512. Adding 1.5 * 2^23 rounds x
 * 512/2pi to k: the low mantissa bits of the sum are k. x - k 2pi/512 takes two fused steps, which
 * are worth their 3 cycles: without them it would take four constants of 6 bits each. Beyond 5e4
 * rad the method fails and the result is meaningless. */
static inline __attribute__((always_inline)) void dyn_sincos_f32(float x, float *cosine,
                                                                 float *sine) {
    union {
        float f;
        uint32_t u;
    } t = {.f = x * 81.487330863050417f + 12582912.0f};
    const float *entry = &dyn_sine_f32[t.u & 511u];
    float k = t.f - 12582912.0f;
    float S = entry[0], C = entry[128];
    float r = __builtin_fmaf(-k, 0.012271846644580364f, x);
    r = __builtin_fmaf(-k, -3.4149522e-10f, r);
    float h = r * r * 0.5f; /* 1 - cos r, next term r^4/24 < 6e-11 */
    *sine = S + (C * r - S * h);
    *cosine = C - (S * r + C * h);
}

/* The same in double, without fused steps: the first part of 2pi/128 has 31 bits, so that its
 * product with a k below 2^22 is exact. The error is below 2.5e-16 for |x| up to 2e5 rad
 * (test_dyn_trig): half an ulp of the table and of the last sum, and the error of the terms in r,
 * which is below 2^-5.3 of that. For larger x the error is as if x were off by one ulp. The terms
 * left out are r^9/362880 < 1e-20 and r^8/40320 < 4e-18. This is a function because double is
 * emulated in software on most targets and makes long code when inlined. */
void dyn_sincos_f64(double x, double *cosine, double *sine);

/* The error of dyn_sincos_q30 is below 3e-9 (test_dyn_trig): half a unit of the table and one unit
 * of truncation, where a unit is 2^-30, and r^4/24 < 1e-9. r is the angle beyond the table entry in
 * radians, Q36; dyn_mulh keeps the upper half of the 64-bit product. */
static inline __attribute__((always_inline)) int32_t dyn_mulh(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b) >> 32);
}

static inline __attribute__((always_inline)) void dyn_sincos_q30(int32_t angle, int32_t *cosine,
                                                                 int32_t *sine) {
    const int32_t *entry = &dyn_sine_q30[((uint32_t)angle + 0x800000u) >> 24];
    int32_t S = entry[0], C = entry[64];
    int32_t r = dyn_mulh((int32_t)((uint32_t)angle << 8), 1686629713); /* times 2 pi 2^28: Q36 */
    int32_t r2 = dyn_mulh(r, r);                                       /* Q40 */
    int32_t r3 = dyn_mulh(r, r2);                                      /* Q44 */
    int32_t s = r - (dyn_mulh(r3, 715827883) >> 8);                    /* r^3 times 2^32 / 6, to
                                                                        * Q36 */
    int32_t h = -(r2 >> 5);                                            /* cos r - 1, Q36 */
    *sine = S + (int32_t)(((int64_t)C * s + (int64_t)S * h) >> 36);
    *cosine = C + (int32_t)(((int64_t)C * h + (int64_t)S * -s) >> 36);
}

#endif

/* Sine and cosine of one angle together, in constant time: the nearest angle of a table with equal
 * spacing, and short polynomials for the remainder, by the addition theorem. The index stays within
 * the table for every argument, NaN included. */
#ifndef DYN_NUMBER_TRIG_H
#define DYN_NUMBER_TRIG_H

#include <math.h>
#include <stdint.h>

/* sin(2 pi k / 512) in float, sin(2 pi k / 128) in double and, in Q30, sin(2 pi k / 256); each
 * table has a turn and a quarter, for the cosine. */
extern const float dyn_sine_f32[512 + 128];
extern const double dyn_sine_f64[128 + 32];
extern const int32_t dyn_sine_q30[256 + 64];

/* Absolute error below 1.2e-7 to 1e4 rad (test_dyn_trig): half an ulp of the table and of the last
 * sum, 2^-25 each, and r^3/6 < 3.9e-8 for |r| <= pi/512, so that sin r is r: 9.5e-8 is the largest
 * seen. k = round(x 512/2pi) by adding 1.5 * 2^23: the low mantissa bits of the sum are k. x - k
 * 2pi/512 takes two fused steps, which are worth their 3 cycles here: without them it takes four
 * constants of 6 bits each. Beyond 5e4 rad the method fails and the result is meaningless. */
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
 * product with a k below 2^22 is exact. Error below 2.5e-16 to 2e5 rad (test_dyn_trig), half an ulp
 * of the table and of the last sum, and terms of r below 2^-5.3 of that; for larger x the error is
 * that of an x that is off by an ulp. r^9/362880 < 1e-20, r^8/40320 < 4e-18. A function, because
 * double is emulated in software on most targets and long when inlined. */
void dyn_sincos_f64(double x, double *cosine, double *sine);

/* Error below 3e-9 (test_dyn_trig): half a unit of the table and one of truncation, 2^-30 each, and
 * r^4/24 < 1e-9. r is the rest in radians, Q36; products keep the upper half of 64 bits. */
static inline __attribute__((always_inline)) int32_t dyn_mulh(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b) >> 32);
}

static inline __attribute__((always_inline)) void dyn_sincos_q30(int32_t angle, int32_t *cosine,
                                                                 int32_t *sine) {
    const int32_t *entry = &dyn_sine_q30[((uint32_t)angle + 0x800000u) >> 24];
    int32_t S = entry[0], C = entry[64];
    int32_t r = dyn_mulh((int32_t)((uint32_t)angle << 8), 1686629713); /* 2 pi 2^28 */
    int32_t r2 = dyn_mulh(r, r);                                       /* Q40 */
    int32_t r3 = dyn_mulh(r, r2);                                      /* Q44 */
    int32_t s = r - (dyn_mulh(r3, 715827883) >> 8);                    /* 2^32 / 6, to Q36 */
    int32_t h = -(r2 >> 5);                                            /* cos r - 1, Q36 */
    *sine = S + (int32_t)(((int64_t)C * s + (int64_t)S * h) >> 36);
    *cosine = C + (int32_t)(((int64_t)C * h + (int64_t)S * -s) >> 36);
}

#endif

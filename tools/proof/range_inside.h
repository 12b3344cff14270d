/* Shared by the files of the backend `range`: range.c has numbers and vectors, range_tensor.c has
 * tensors, range_units.c has the runs and the choice of units. */
#ifndef TOOLS_PROOF_RANGE_INSIDE_H
#define TOOLS_PROOF_RANGE_INSIDE_H

#include "tools/proof/range.h"

#include <math.h>

typedef dyn_real_range_t real;
typedef dyn_vec_range_t vec;
typedef dyn_sym_range_t sym;
typedef range_acc_t acc;

/* The present run. Kernels have no argument for it, so there is one run at a time. */
typedef struct {
    range_format_t format;
    range_report_t *report;
    const char *problem;
    double inside; /* largest value since the last named one, relative to the range of the format */
    bool constants_fit;
} range_now_t;
extern range_now_t range_now;

/*
 * How q31 truncates a sum of products: `limit` is the largest sum that the accumulator holds,
 * `unit` the largest error. For most sums that is one unit in the last place. A turn loses up to
 * four units, because it multiplies by numbers in Q30 and keeps only the upper word.
 */
typedef struct {
    double limit, unit;
} rounding_t;
static const double q31_unit = 0x1p-28;
static const double q31_limit = 8.0 * (1 - 0x1p-31);
static const rounding_t acc_rounding = {0x1p63 / 0x1p56, 0x1p-28},
                        turn_rounding = {0x1p63 / 0x1p58, 0x1p-26};
/* Errors of dyn_sincos_q30 and dyn_sincos_f32; test_dyn_trig asserts them. */
static const double q31_trig = 3e-9, f32_trig = 1.2e-7;
static const double f32_half_ulp = 0x1p-24;

/* Widens a bound. The relative error of the double arithmetic that computes the bounds is below
 * 1e-15. */
static inline double widen(double x) {
    return x * (1 + 1e-15);
}

static inline double size(real a) {
    return fmax(fabs(a.lo), fabs(a.hi));
}

static inline double executed(real a) {
    return size(a) + a.err;
}

static inline bool is_zero(real a) {
    return a.lo == 0 && a.hi == 0 && a.err == 0;
}

/* A turn by zero changes nothing, except in q31, where the multiplication by 1 rounds. */
static inline bool turns_not(dyn_turn_range_t t) {
    return range_now.format != RANGE_Q31 && t.c.lo == 1 && t.c.hi == 1 && t.c.err == 0 &&
           is_zero(t.s);
}

static inline void record(double value, double limit) {
    double part = value / limit;
    if (part > range_now.inside)
        range_now.inside = part;
}

static inline real recorded(real a) {
    if (range_now.format != RANGE_F32)
        record(executed(a), q31_limit);
    return a;
}

static inline double out_lo(double x) {
    return x - fabs(x) * 1e-15;
}

static inline double out_hi(double x) {
    return x + fabs(x) * 1e-15;
}

static inline real sum_exact(real a, real b) {
    return (real){out_lo(a.lo + b.lo), out_hi(a.hi + b.hi), widen(a.err + b.err)};
}

static inline double norm3(double x, double y, double z) {
    return widen(sqrt(x * x + y * y + z * z));
}

static inline double executed_norm(vec a) {
    return a.norm + a.norm_err;
}

static inline acc minor(real a1, real b2, real a2, real b1) {
    return range_acc_add(range_acc_mul(a1, b2), range_acc_mul(range_neg(a2), b1));
}

static inline double cross_error(vec a, vec b) {
    return a.norm * b.norm_err + b.norm * a.norm_err + a.norm_err * b.norm_err;
}

/* Explained in range.c. */
vec range_tighten(vec a);
vec range_vec_round(acc x, acc y, acc z, rounding_t how, double norm, double brought);

#endif

/*
 * Backend `range`: a number is a guaranteed bound. Running a kernel once, with the limits of the
 * arm as inputs, bounds every intermediate for every state within the limits; nothing is sampled.
 * Each bound also carries the largest error of the executed arithmetic (q31 or f32, including the
 * rounding of constants and inputs), so the result is also a proof of accuracy.
 *
 * A vector is bounded by its components and by its norm, a symmetric tensor by its elements and its
 * eigenvalues. A frame change keeps norm and eigenvalues; intervals alone would grow at every plane
 * rotation. The bounds themselves are computed in double precision and widened by more than the
 * rounding of double.
 */
#ifndef TOOLS_PROOF_RANGE_H
#define TOOLS_PROOF_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* The exact value is between lo and hi; the executed value differs from it by at most err. */
typedef struct {
    double lo, hi, err;
} dyn_real_range_t;

#define DYN_VEC_MORE double norm, norm_err;
/* The eigenvalues of the tensor are between lo and hi; `off` bounds the norm of the error. Both are
 * valid only if `known` is true and the elements still equal of[]. */
#define DYN_SYM_MORE                                                                               \
    double lo, hi, off;                                                                            \
    dyn_real_range_t of[6];                                                                        \
    bool known;
#define DYN_REAL range
#include "dyn/number/arm.inc"
#undef DYN_REAL

typedef enum {
    RANGE_EXACT, /* exact arithmetic: bounds without rounding errors */
    RANGE_Q31,   /* arithmetic of dyn/number/real_q31.h in the given units */
    RANGE_F32    /* arithmetic of dyn/number/real_f32.h in SI units */
} range_format_t;

/*
 * One named intermediate value of one joint, with up to three components, in the units of the run.
 */
typedef struct {
    const char *problem; /* set by range_problem; "" if it was not called */
    char name[12];
    uint32_t joint;
    int parts;
    double bound[3]; /* bounds of the executed components, including their errors */
    double error;    /* largest error of the components */
    /* largest value computed since the last named one, relative to the range of the format */
    double inside;
    /* free bits of this value and of `inside`; negative: an overflow is possible */
    double headroom;
} range_entry_t;

#define RANGE_ENTRIES 2048

typedef struct {
    range_format_t format;
    bool fits;  /* no overflow is possible within the limits */
    int status; /* status of dyn_prepare: DYN_E_UNITS if a constant does not fit */
    uint32_t entries;
    uint32_t tightest; /* entry with the least headroom */
    range_entry_t entry[RANGE_ENTRIES];
    uint32_t n;
    double tau_bound[DYN_MAX_JOINTS]; /* SI */
    double tau_error[DYN_MAX_JOINTS]; /* SI, guaranteed */
} range_report_t;

/* A kernel with the arguments of inverse dynamics, so that every method can be bounded. */
typedef void (*range_inverse_t)(const dyn_arm_range_t *arm, const dyn_real_range_t q[],
                                const dyn_real_range_t qd[], const dyn_real_range_t qdd[],
                                dyn_real_range_t tau[]);
void range_ne(const dyn_arm_range_t *arm, const dyn_real_range_t q[], const dyn_real_range_t qd[],
              const dyn_real_range_t qdd[], dyn_real_range_t tau[]);
/* Newton-Euler with rotors and friction, so that the chosen units fit those too. */
void range_ne_drive(const dyn_arm_range_t *arm, const dyn_real_range_t q[],
                    const dyn_real_range_t qd[], const dyn_real_range_t qdd[],
                    dyn_real_range_t tau[]);

/* The kernels of dyn/paper/ga.c and dyn/kernel/fast.c, with the constants that only they use. */
void range_ga(const dyn_arm_range_t *arm, const dyn_real_range_t q[], const dyn_real_range_t qd[],
              const dyn_real_range_t qdd[], dyn_real_range_t tau[]);
void range_fast(const dyn_arm_range_t *arm, const dyn_real_range_t q[], const dyn_real_range_t qd[],
                const dyn_real_range_t qdd[], dyn_real_range_t tau[]);

/*
 * Gravity, bias, inertia matrix and inverse dynamics by the default methods, with rotors and
 * friction: everything that the proof covers. The names are filed under the problems "constants",
 * "gravity", "bias", "mass" and "id". Returns tau of "id".
 */
void range_all(const dyn_arm_range_t *arm, const dyn_real_range_t q[], const dyn_real_range_t qd[],
               const dyn_real_range_t qdd[], dyn_real_range_t tau[]);

/*
 * Computes the bounds for all states within model->joint[].drive.limits. RANGE_F32 ignores `units`;
 * NULL stands for SI units. Returns 0, or DYN_E_NUMBER if limits are missing (velocity or
 * acceleration is zero, or a prismatic joint has no range), or another status of dyn_prepare.
 */
int range_run(range_inverse_t kernel, const dyn_model_t *model, const dyn_units_t *units,
              range_format_t format, range_report_t *report);

/*
 * Chooses the units with the smallest guaranteed error among those with which nothing can overflow.
 * Returns 0 and the report of the proof, or DYN_E_UNITS with the report of the nearest choice if
 * none fits, or another status of range_run.
 */
int range_choose_units(range_inverse_t kernel, const dyn_model_t *model, dyn_units_t *units,
                       range_report_t *report);

/* For a run of several kernels: all names after this call belong to this problem. `problem` is a
 * string literal. */
void range_problem(const char *problem);

/* Returns NULL if there is no such entry. If problem is NULL, returns the first entry with this
 * name and joint. */
const range_entry_t *range_find(const range_report_t *report, const char *problem, const char *name,
                                uint32_t joint);

/* Everything below is used only by tools/proof/real_range.h. */
typedef struct {
    dyn_real_range_t value;
    double magnitude; /* sum of the absolute products; the accumulator must be able to hold it */
    double rounding;  /* part of the error that comes from rounding in this sum */
} range_acc_t;

dyn_real_range_t range_add(dyn_real_range_t a, dyn_real_range_t b);
dyn_real_range_t range_neg(dyn_real_range_t a);
dyn_real_range_t range_shift(dyn_real_range_t a, unsigned shift);
range_acc_t range_acc_mul(dyn_real_range_t a, dyn_real_range_t b);
range_acc_t range_acc_add(range_acc_t a, range_acc_t b);
dyn_real_range_t range_acc_round(range_acc_t sum);
dyn_real_range_t range_turn_round(range_acc_t sum);
void range_sincos(dyn_real_range_t q, dyn_real_range_t offset, dyn_real_range_t *cosine,
                  dyn_real_range_t *sine);
dyn_real_range_t range_recip(dyn_real_range_t a);
dyn_real_range_t range_sqrt(dyn_real_range_t a);
dyn_real_range_t range_clamp(dyn_real_range_t a, dyn_real_range_t limit);
/* For optional constants, which a kernel can do without: true if the format can hold the value. */
bool range_fits(double value, int exponent);
bool range_constant(double value, int exponent, dyn_real_range_t *out);
dyn_real_range_t range_turn_constant(double cs);
dyn_real_range_t range_angle_constant(double rad);
/* Converts radians to an angle; in q31 that is a binary angle. */
dyn_real_range_t range_angle(dyn_real_range_t rad);
/* The operations of dyn/number/gain.h. Their products have 64 bits, so only values that are
 * converted back to a number must fit the format. */
bool range_gain_constant(double value, int exponent, dyn_real_range_t *out);
dyn_real_range_t range_gain_wide(dyn_real_range_t k, dyn_real_range_t a);
dyn_real_range_t range_gain_mul(dyn_real_range_t k, dyn_real_range_t a);
dyn_real_range_t range_wide_add(dyn_real_range_t a, dyn_real_range_t b);
dyn_real_range_t range_wide_clamp(dyn_real_range_t a, dyn_real_range_t limit, uint32_t *beyond);
dyn_real_range_t range_wide_fit(dyn_real_range_t a, uint32_t *beyond);
void range_named_real(const char *name, uint32_t joint, dyn_real_range_t a);
void range_named_vec(const char *name, uint32_t joint, dyn_vec_range_t a);

dyn_vec_range_t range_vec_make(dyn_real_range_t x, dyn_real_range_t y, dyn_real_range_t z);
dyn_vec_range_t range_vec_add(dyn_vec_range_t a, dyn_vec_range_t b);
dyn_vec_range_t range_vec_scale(dyn_real_range_t k, dyn_vec_range_t a);
dyn_vec_range_t range_vec_cross(dyn_vec_range_t a, dyn_vec_range_t b);
dyn_vec_range_t range_vec_cross2(dyn_vec_range_t a, dyn_vec_range_t b, dyn_vec_range_t c,
                                 dyn_vec_range_t d);
dyn_vec_range_t range_sym_mul(dyn_sym_range_t J, dyn_vec_range_t a);
dyn_vec_range_t range_sym_mul_add_cross(dyn_sym_range_t J, dyn_vec_range_t a, dyn_vec_range_t b,
                                        dyn_vec_range_t c);
dyn_vec_range_t range_sym_euler(dyn_sym_range_t J, dyn_vec_range_t wd, dyn_vec_range_t w);
/* Turns a vector about an axis (0: x, 1: y, 2: z). back: converts to the axes before the turn. */
dyn_vec_range_t range_vec_turn(int axis, bool back, dyn_turn_range_t t, dyn_vec_range_t a);
dyn_vec_range_t range_vec_shift(dyn_vec_range_t a, unsigned shift);
dyn_sym_range_t range_sym_add(dyn_sym_range_t A, dyn_sym_range_t B);
dyn_sym_range_t range_sym_turn_back(int axis, dyn_turn_range_t t, dyn_sym_range_t T);
dyn_sym_range_t range_sym_shift_mass(dyn_sym_range_t T, unsigned shift);
dyn_sym_range_t range_sym_add_outer(dyn_sym_range_t T, dyn_vec_range_t p, dyn_vec_range_t a,
                                    dyn_vec_range_t b);
dyn_real_range_t range_sym_to_parent_xx_yy(dyn_turn_range_t x, dyn_turn_range_t z,
                                           dyn_sym_range_t T);

/* Omega of dyn/number/tensor.h. Its norm is at most |w|^2 + |wd|, whatever the bounds of the
 * elements are. */
typedef struct {
    dyn_real_range_t xx, yy, zz, xy, yx, yz, zy, zx, xz;
    dyn_real_range_t x2, y2, z2;
    double norm, norm_err;
} range_omega_t;

range_omega_t range_omega_make(dyn_vec_range_t w, dyn_vec_range_t wd);
dyn_vec_range_t range_omega_mul(range_omega_t o, dyn_vec_range_t r);
dyn_vec_range_t range_omega_euler_add_cross(range_omega_t o, dyn_sym_range_t J, dyn_vec_range_t a,
                                            dyn_vec_range_t b);

#endif

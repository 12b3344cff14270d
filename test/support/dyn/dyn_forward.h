/* Units, random states and error bounds that the tests of inertia matrices and forward dynamics
 * share. */
#ifndef TEST_SUPPORT_DYN_DYN_FORWARD_H
#define TEST_SUPPORT_DYN_DYN_FORWARD_H

#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"

#define DYN_PACKED (DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2)

/* The target gets shorter arms and fewer states, because double is slow there. */
#ifdef __arm__
enum { FORWARD_JOINTS = 7, FORWARD_STATES = 4 };
#else
enum { FORWARD_JOINTS = DYN_MAX_JOINTS, FORWARD_STATES = 20 };
#endif

/* Finds the smallest and largest eigenvalue of a packed symmetric matrix, by Jacobi's rotations. */
void spd_eigenvalues(uint32_t n, const double *packed, double *smallest, double *largest);
double spd_largest(uint32_t n, const double *packed);
/* y = A x */
void spd_multiply(uint32_t n, const double *packed, const double *x, double *y);

/*
 * Chooses units in which composite bodies fit q31. The mass of link i and all later links, its
 * first moment and its inertia about the origin of frame i have bounds that no pose exceeds. In
 * these units the bounds and the rotor inertia are at most 2. The plane rotation of a tensor may
 * double them, which stays below 8. The unit of time keeps angular speeds below 1 and
 * accelerations, from gravity and from speeds at the limits of the model, below 2.
 */
void forward_units(const dyn_model_t *model, dyn_units_t *units);

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
} forward_state_t;

typedef struct {
    float q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
} forward_f32_t;

typedef struct {
    int32_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
} forward_q31_t;

/* Makes a random state within the limits of the model, with torques up to 10 N m. */
void forward_random(const dyn_model_t *model, dyn_arms_random_t *seed, forward_state_t *s);
/* Rounds the state and writes the rounded values back to s, so that both number types get the same
 * state. */
void forward_to_f32(const dyn_model_t *model, forward_state_t *s, forward_f32_t *out);
void forward_to_q31(const dyn_model_t *model, const dyn_units_t *units, forward_state_t *s,
                    forward_q31_t *out);

double forward_largest(uint32_t n, const double *x);

/* The tolerance that the reference values state: max(1e-10, 1e-13 cond(M)) (1 + largest
 * acceleration). */
double forward_tolerance(uint32_t n, const double *M, const double *qdd);

/*
 * Bounds of the rounding error of the f32 kernels compared with double. A frame change rounds a
 * body or a load about 12 times, each time by at most half a unit of the largest element or of a
 * sum of two such elements; the sine adds one and a half roundings. With n changes to the base that
 * is 16 n eps of the largest element. Translation and rotation are compared without scaling,
 * because the arms are about a metre long. The accelerations then satisfy |dqdd| <= |M^-1| (|drhs|
 * + |dM| |qdd|) in the Euclidean norm; `force` is the largest torque of the state or its bias.
 * cond(M) eps would be far too large for most arms, as the reference values show; the tests print
 * the differences that they find.
 */
double forward_matrix_error_f32(uint32_t n, const double *M);
double forward_error_f32(uint32_t n, const double *M, double force, const double *qdd);

/*
 * Bounds of the error of the q31 kernels. A truncation loses at most one unit of the last place, in
 * a rotation four, in the mass unit of the link where it happens; mass units towards the base are
 * larger. There are 16 n truncations. Each counts as 8 units in the result: four units times a
 * length or load of at most 2 in the units of forward_units. The solver adds as many truncations of
 * the equilibrated matrix, whose unit is at most sqrt(M_ii M_jj). error[i] = sum over j of
 * |M^-1|_ij (drhs_j + sum of dM_jk |qdd_k|).
 */
int forward_element_exponent(const dyn_model_t *model, const dyn_units_t *units, uint32_t r,
                             uint32_t c);
double forward_matrix_error_q31(uint32_t n, int exponent);
void forward_error_q31(const dyn_model_t *model, const dyn_units_t *units, const double *M,
                       const double *qdd, double *error);

#endif

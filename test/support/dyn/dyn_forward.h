/* What the tests of inertia matrices and forward dynamics share. */
#ifndef TEST_SUPPORT_DYN_DYN_FORWARD_H
#define TEST_SUPPORT_DYN_DYN_FORWARD_H

#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"

#define DYN_PACKED (DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2)

/* Double is slow on the target: shorter arms and fewer states there. */
#ifdef __arm__
enum { FORWARD_JOINTS = 7, FORWARD_STATES = 4 };
#else
enum { FORWARD_JOINTS = DYN_MAX_JOINTS, FORWARD_STATES = 20 };
#endif

/* Largest and smallest eigenvalue of a packed symmetric matrix, by Jacobi's rotations. */
void spd_eigenvalues(uint32_t n, const double *packed, double *smallest, double *largest);
double spd_largest(uint32_t n, const double *packed);
/* y = A x */
void spd_multiply(uint32_t n, const double *packed, const double *x, double *y);

/*
 * Units in which composite bodies fit q31. The mass of link i and all later links, its first moment
 * and its inertia about the origin of frame i have bounds that no pose exceeds. In these units
 * they, and the rotor, are at most 2, and the plane rotation of a tensor, which may double them,
 * stays below 8. The unit of time is such that velocities at the limits of the model and gravity
 * stay below 2.
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

/* A random state within the limits of the model, torques within 10. */
void forward_random(const dyn_model_t *model, dyn_arms_random_t *seed, forward_state_t *s);
/* Rounds the state and writes the rounded values back to s: both number types get the same
 * state. */
void forward_to_f32(const dyn_model_t *model, forward_state_t *s, forward_f32_t *out);
void forward_to_q31(const dyn_model_t *model, const dyn_units_t *units, forward_state_t *s,
                    forward_q31_t *out);

double forward_largest(uint32_t n, const double *x);

/* The tolerance of the reference values: 1e-13 cond(M) (1 + largest), not below 1e-10. */
double forward_tolerance(uint32_t n, const double *M, const double *qdd);

/*
 * Bounds of the difference between the kernels and double by rounding, f32 first. A frame change
 * rounds a body or a load about 12 times, each time by at most half a unit of the largest element
 * or of a sum of two such; the sine adds one and a half. With n changes to the base that is 16 n
 * eps of the largest element. Translation and rotation are compared without scaling, because the
 * arms are about a metre long. For the accelerations then |dqdd| <= |M^-1| (|drhs| + |dM| |qdd|),
 * Euclidean; `force` is the largest torque of the state or its bias. cond(M) eps would be far too
 * large for most arms, as the reference values show; the tests print the differences that they see.
 */
double forward_matrix_error_f32(uint32_t n, const double *M);
double forward_error_f32(uint32_t n, const double *M, double force, const double *qdd);

/*
 * q31: a truncation is at most one unit of the last place, in the mass unit of the link where it
 * happens; mass units towards the base are larger. There are 16 n truncations, each passed on with
 * a factor of at most 8 (lengths and loads are numbers below 8). The solver adds as many of the
 * equilibrated matrix, whose unit is sqrt(M_ii M_jj) at most. error[i] = sum over j of |M^-1|_ij
 * (drhs_j + sum of dM_jk |qdd_k|).
 */
int forward_element_exponent(const dyn_model_t *model, const dyn_units_t *units, uint32_t r,
                             uint32_t c);
double forward_matrix_error_q31(uint32_t n, int exponent);
void forward_error_q31(const dyn_model_t *model, const dyn_units_t *units, const double *M,
                       const double *qdd, double *error);

#endif

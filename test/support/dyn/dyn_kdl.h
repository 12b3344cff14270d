/*
 * C functions that compute dynamics with the Orocos KDL, for comparison with our kernels. Chains
 * are built from the description of the arm in its original convention, not from our model, so that
 * the conversion is tested, too. Host only.
 */
#ifndef TEST_SUPPORT_DYN_DYN_KDL_H
#define TEST_SUPPORT_DYN_DYN_KDL_H

#include "dyn/model/convert.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kdl_arm kdl_arm_t;

kdl_arm_t *kdl_arm_new(const dyn_source_t *source);
void kdl_arm_free(kdl_arm_t *arm);

/* The torques include rotors; wrench as in dyn/kernel/wrench.c, or NULL. */
void kdl_inverse(kdl_arm_t *arm, const double *q, const double *qd, const double *qdd,
                 const double *wrench, double *tau);
/* M is the packed lower triangle and includes rotors. */
void kdl_mass(kdl_arm_t *arm, const double *q, double *M);
/* Returns Coriolis and centrifugal torques without gravity. */
void kdl_coriolis(kdl_arm_t *arm, const double *q, const double *qd, double *tau);
void kdl_gravity(kdl_arm_t *arm, const double *q, double *tau);
void kdl_forward(kdl_arm_t *arm, const double *q, const double *qd, const double *tau, double *qdd);
/* Pose and Jacobian of the end effector in world axes; the first three rows of the Jacobian are
 * velocity. */
void kdl_pose(kdl_arm_t *arm, const double *q, double *pose);
void kdl_jacobian(kdl_arm_t *arm, const double *q, double *J);

#ifdef __cplusplus
}
#endif

#endif

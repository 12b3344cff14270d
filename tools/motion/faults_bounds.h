/* Bounds how fast and how far an arm can move after a fault, from its model. The inertia is that of
 * the pose that gravity loads most; all other quantities are the largest over the sampled poses. */
#ifndef TOOLS_MOTION_FAULTS_BOUNDS_H
#define TOOLS_MOTION_FAULTS_BOUNDS_H

#include <stdint.h>

#include "dyn/number/f64.h"
#include "tools/robot/robot.h"

typedef struct {
    const robot_t *robot;
    dyn_arm_f64_t arm;
    dyn_fast_scratch_f64_t scratch;
    double pose[DYN_MAX_JOINTS]; /* sampled pose that gravity loads most */
    /* The largest values over all sampled poses, gravity_most to effector: */
    double gravity_most[DYN_MAX_JOINTS];
    double reach[DYN_MAX_JOINTS];    /* from the axis to the end effector, m; prismatic: 1 */
    double mobility[DYN_MAX_JOINTS]; /* (M^-1)_ii */
    double pull;                     /* sqrt(g' M^-1 g) */
    double effector;                 /* sqrt(J M^-1 J'), J: gradient of the end effector's height */
    double inertia[DYN_MAX_JOINTS];  /* M_ii in `pose` only, including rotors */
    uint32_t joint;                  /* joint with the largest gravity torque / torque limit */
} bounds_t;

/* Finds the pose that gravity loads most (`pose` replaces it if it is not NULL), the inertia in it,
 * and the largest values over the sampled poses. *bounds must be zero before the call. Returns
 * DYN_OK or another status. */
int bounds_find(bounds_t *bounds, const robot_t *robot, const double *pose);
/* Returns the height of the end effector in m. */
double bounds_height(const bounds_t *bounds, const double *q);

/* Bounds the speed of joint i in the `seconds` after the fault. moved: speeds of the joints before
 * the fault. off: distance of the joint from its reference. */
double bounds_speed(const bounds_t *bounds, uint32_t stop, uint32_t i, const double *moved,
                    double off, double seconds);
/* Bounds how far joint i moves in the `seconds` after the fault. speed: bounds_speed of it. */
double bounds_travel(const bounds_t *bounds, uint32_t stop, uint32_t i, double speed,
                     const double *moved, double off, double seconds);
/* Bounds how far the end effector falls in m in the `seconds` after the fault. speed: bounds_speed
 * of every joint. */
double bounds_fall(const bounds_t *bounds, uint32_t stop, const double *speed, const double *moved,
                   const double *off, double seconds);

#endif

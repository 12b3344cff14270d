/* Plans motions and gains for a robot from its limits and its dynamics. */
#ifndef TOOLS_MOTION_PLAN_H
#define TOOLS_MOTION_PLAN_H

#include <stdint.h>

#include "dyn/model/model.h"
#include "firmware/control/motion.h"
#include "tools/eval/ik.h"
#include "tools/robot/robot.h"

/* A planned motion with its start position and gains. */
typedef struct {
    char name[24];
    char title[120];
    float start[DYN_MAX_JOINTS], kp[DYN_MAX_JOINTS], kd[DYN_MAX_JOINTS];
    motion_t motion; /* value[]: where it ends */
    float *point;    /* control points; the caller frees them */
    uint32_t points;
    double from[3], to[3]; /* for control points: start and end of the end effector's line, m */
} plan_t;

/* Plans a motion of all joints at once, as near to their velocity limits as the other limits
 * allow. */
void plan_fast(const robot_t *robot, plan_t *plan);
/* Plans a straight line of the end effector at constant attitude. Returns -1 if a point is out of
 * reach. */
int plan_line(const robot_t *robot, const double from[3], const double to[3],
              const double attitude[3][3], double seconds, plan_t *plan);

/* Where a line cannot be followed. */
typedef struct {
    double part, at[3];  /* fraction of the way, and place of the end effector there, m */
    ik_answer_t nearest; /* the closest position of the arm that was found */
} plan_gap_t;
/* Plans a straight line of the end effector from the joint positions `start` to a pose; the attitude
 * turns about one axis. Returns -1 with *gap if a pose on the way is out of reach. */
int plan_from(const dyn_model_t *model, const double start[], const dyn_pose_t *to, double seconds,
              plan_t *plan, plan_gap_t *gap);
/* Returns the fraction of the way at which a control point lies. */
double plan_point_part(const plan_t *plan, uint32_t point);
/* Computes the pose of the tool frame in the world. */
void plan_effector(const dyn_model_t *model, const double q[], dyn_pose_t *out);

/* Sets the gains of a critically damped PD controller with a bandwidth of `hz`. They use the
 * inertia that each joint has while the others are free, at its least value during the motion. */
void plan_gains(const robot_t *robot, double hz, plan_t *plan);

#endif

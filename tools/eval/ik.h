/*
 * Inverse kinematics by damped least squares (Levenberg and Marquardt) with joint limits and
 * restarts from random positions. It works for any chain, redundant or not, and finds one solution:
 * the first one to which the iteration converges.
 */
#ifndef TOOLS_EVAL_IK_H
#define TOOLS_EVAL_IK_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/eval/eval.h"

typedef struct {
    const dyn_model_t *model;
    evaluator_t *evaluator; /* an evaluator of eval_f64 */
    double start[DYN_MAX_JOINTS];
    long restarts;
    uint64_t seed;
} ik_t;

typedef struct {
    double q[DYN_MAX_JOINTS];     /* the solution, or the closest position found */
    double position_m, angle_rad; /* error of the end effector at q */
    long attempts;
} ik_answer_t;

/* Writes axis times angle of a rotation; the angle is at most half a turn. */
void ik_rotation_vector(const double r[3][3], double out[3]);

/* Sets start[] to the middle of the limits, or to 0 for a joint without limits. */
void ik_middle(const dyn_model_t *model, double start[]);

/* Returns true if the end effector reaches the pose. The same call always gives the same result. */
bool ik_solve(const ik_t *ik, const dyn_pose_t *effector, ik_answer_t *answer);

#endif

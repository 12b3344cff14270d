/*
 * Inverse kinematics by damped least squares (Levenberg and Marquardt) with joint limits and
 * restarts from random positions. Works for any chain, redundant or not; finds one solution, the
 * nearest in the sense of the iteration to where it starts.
 */
#ifndef TOOLS_EVAL_IK_H
#define TOOLS_EVAL_IK_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/eval/eval.h"

typedef struct {
    const dyn_model_t *model;
    evaluator_t *evaluator; /* of eval_f64 */
    double start[DYN_MAX_JOINTS];
    long restarts;
    uint64_t seed;
} ik_t;

typedef struct {
    double q[DYN_MAX_JOINTS];     /* the solution, or what came nearest */
    double position_m, angle_rad; /* how far the end effector then is from where it should be */
    long attempts;
} ik_answer_t;

/* Where there are limits their middle, else 0. */
void ik_middle(const dyn_model_t *model, double start[]);

/* Whether the end effector reaches the pose. The same call always gives the same answer. */
bool ik_solve(const ik_t *ik, const dyn_pose_t *effector, ik_answer_t *answer);

#endif

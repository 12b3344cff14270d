/*
 * An arm of MuJoCo, made from the model of a robot: the MJCF is written as text, one body per joint.
 * Controller and arm then share no code: an error in our dynamics cannot hide.
 */
#ifndef TEST_SUPPORT_MUJOCO_ARM_H
#define TEST_SUPPORT_MUJOCO_ARM_H

#include <mujoco/mujoco.h>

#include "dyn/model/model.h"

typedef struct {
    mjModel *model;
    mjData *data;
    uint32_t n;
} mujoco_arm_t;

/* Makes the arm. Rotors are armature, friction is damping, frictionloss and, where Coulomb friction
 * differs between the directions, a constant force. With `margin` > 0 every joint has mechanical stops
 * this far (rad or m) beyond its position limits. The test fails if MuJoCo refuses the model. */
void mujoco_arm_make(mujoco_arm_t *arm, const dyn_model_t *model, double step_s, double margin);
void mujoco_arm_free(mujoco_arm_t *arm);

#endif

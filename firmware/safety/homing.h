/* Homing: a motion that finds the position of one joint. */
#ifndef FIRMWARE_SAFETY_HOMING_H
#define FIRMWARE_SAFETY_HOMING_H

#include "firmware/control/reference.h"
#include "firmware/safety/guard.h"

/* Phases of homing, in their order. */
enum { HOMING_SEEK, HOMING_BACK, HOMING_TOUCH, HOMING_AWAY, HOMING_DONE };

/* Runs one tick of homing: decides whether the next phase begins. */
finding_t homing_step(const control_t *control, motion_state_t *motion, loop_t *loop,
                      uint32_t switches);
/* Limits the torque with which homing pushes; called after the feedback. */
void homing_limit(const control_t *control, const motion_state_t *motion, loop_t *loop);

#endif

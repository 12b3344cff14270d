/* A motion that looks for the position of one joint. */
#ifndef FIRMWARE_SAFETY_HOMING_H
#define FIRMWARE_SAFETY_HOMING_H

#include "firmware/control/reference.h"
#include "firmware/safety/guard.h"

/* Its course. */
enum { HOMING_SEEK, HOMING_BACK, HOMING_TOUCH, HOMING_AWAY, HOMING_DONE };

/* One tick of it: where it is now in its course. */
finding_t homing_step(const control_t *control, motion_state_t *motion, loop_t *loop,
                      uint32_t switches);
/* What it may press with, after the feedback. */
void homing_limit(const control_t *control, const motion_state_t *motion, loop_t *loop);

#endif

/* Stops after a fault: chooses the stop that arm and pose allow, and lowers the arm. */
#ifndef FIRMWARE_SAFETY_STOP_H
#define FIRMWARE_SAFETY_STOP_H

#include "firmware/control/reference.h"
#include "firmware/safety/faults.h"

/* Returns the first joint where gravity takes more than the torque limit, or, if `lasting`, than the
 * torque that the motor can give for ever; or APP_NO_JOINT. Uses the scratch. */
uint32_t stop_weak(const control_t *control, scratch_t *scratch, const real_t q[], bool lasting);
/* Returns the best stop, not better than `best`, that arm and pose allow. */
uint32_t stop_choose(const control_t *control, scratch_t *scratch, const loop_t *loop,
                     uint32_t best);
/* Lowers the arm: makes each joint jog slowly in the direction in which gravity pulls it. */
void stop_lower(const control_t *control, scratch_t *scratch, const loop_t *loop,
                motion_state_t *motion);

#endif

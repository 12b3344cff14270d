/* Stops after a fault: which one the arm and its pose allow, and lowering. */
#ifndef FIRMWARE_SAFETY_STOP_H
#define FIRMWARE_SAFETY_STOP_H

#include "firmware/control/reference.h"
#include "firmware/safety/faults.h"

/* The joint whose motor cannot give this part of its torque limit's worth of gravity; UINT32_MAX:
 * all can. Uses the scratch. */
uint32_t stop_weak(const control_t *control, scratch_t *scratch, const real_t q[], real_t part);
/* The best stop from `best` on that arm and pose allow. */
uint32_t stop_choose(const control_t *control, scratch_t *scratch, const loop_t *loop,
                     uint32_t best);
/* Lowering: which way gravity pulls. */
void stop_lower(const control_t *control, scratch_t *scratch, const loop_t *loop,
                motion_state_t *motion);

#endif

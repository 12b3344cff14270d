/* Whether a joint turns the way that its motor pushes it: the guard that asks the model. */
#ifndef FIRMWARE_SAFETY_DIRECTION_H
#define FIRMWARE_SAFETY_DIRECTION_H

#include "firmware/safety/guard.h"

/* The joint that turns the wrong way, or APP_NO_JOINT. In every tick. */
uint32_t direction_guard(const control_t *control, scratch_t *scratch, guard_t *guard,
                         const loop_t *loop);

#endif

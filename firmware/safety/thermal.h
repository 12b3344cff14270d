/* Thermal guard: the heat of the motors, from the torques that they give. */
#ifndef FIRMWARE_SAFETY_THERMAL_H
#define FIRMWARE_SAFETY_THERMAL_H

#include <stdbool.h>

#include "firmware/control/control.h"
#include "firmware/control/setup.h"
#include "firmware/safety/guard.h"

/* Must be at least DYN_MAX_JOINTS; fixed point can add this many squares (real_square). */
enum { THERMAL_WINDOW = 32 }; /* ticks */

typedef struct {
    real_t power[DYN_MAX_JOINTS];  /* sum of the squares of the torques since the last update */
    uint32_t heat[DYN_MAX_JOINTS]; /* 2^30: that of a motor that gives its limit for ever */
    uint16_t tick;
    bool started; /* false: nobody knows the heat of these motors; thermal_start has to come */
} thermal_t;

enum { THERMAL_NONE = 255 }; /* no guard, because the joint has no torque limit */

/* Makes the constants; called in the background. */
void thermal_setup(const setup_t *from, control_t *control);
/* Called when the loop is closed: after a reset or for another robot it makes each motor almost as
 * hot as it may be, unless it is hotter. */
void thermal_start(const control_t *control, thermal_t *thermal);
/* Other motors: nobody knows how hot they are, and the torques of the window were not theirs. */
void thermal_forget(thermal_t *thermal);
/* Called in every tick in which the outputs are off or the loop is closed: adds the torques of the
 * loop. Finds a joint that is too hot. */
finding_t thermal_guard(const control_t *control, thermal_t *thermal, const loop_t *loop);
/* Returns the heat of a joint in percent of the heat that trips, at most 254; or THERMAL_NONE. */
uint32_t thermal_percent(const control_t *control, const thermal_t *thermal, uint32_t joint);

#endif

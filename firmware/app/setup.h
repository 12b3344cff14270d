/* Makes the constants of control step and simulated arm from settings and parameters, in double,
 * never in the tick. Functions that return bool return false if a constant does not fit the units
 * of fixed point. */
#ifndef FIRMWARE_APP_SETUP_H
#define FIRMWARE_APP_SETUP_H

#include "firmware/app/app.h"
#include "firmware/control/setup.h"

#define FREE_RANGE 25.0 /* range in each direction for a joint without limits, rad or m */

setup_t setup_from(const app_t *app);
bool setup_control(const app_t *app, control_t *control);
/* Makes settings and parameters from app->memory.image. */
void setup_settings(app_t *app);
/* Returns the exponent of the unit of position for a joint with these limits. */
int8_t setup_unit(const settings_t *settings);
/* Convert a position from SI to a number of the loop, and back. */
bool setup_position(const app_t *app, uint32_t joint, float q, real_t *out);
float setup_position_si(const app_t *app, uint32_t joint, real_t q);

/* Prepares homing of the one joint whose value is not zero. Returns APP_OK or a negative
 * app_error_t. */
int homing_start(app_t *app, const motion_t *motion);

/* Changes a parameter, as app_set without its rule about overrides. */
int setup_change(app_t *app, uint32_t parameter, uint32_t joint, float value);
/* Puts a value back that was in use before; only the outputs can be in the way. */
int setup_restore(app_t *app, uint32_t parameter, uint32_t joint, float value);
/* Ends all overrides, as far as the outputs allow. */
void setup_end_overrides(app_t *app);
bool setup_overridden(const app_t *app, uint32_t parameter, uint32_t joint);
/* Finds out anew what NOTICE_... has to say. */
void setup_notice(app_t *app);

#endif

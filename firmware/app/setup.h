/* Makes the constants of control step and simulated arm from settings and parameters, in double,
 * never in the tick. Functions that return bool return false if a constant does not fit the units
 * of fixed point. */
#ifndef FIRMWARE_APP_SETUP_H
#define FIRMWARE_APP_SETUP_H

#include "firmware/app/app.h"
#include "firmware/control/setup.h"
#include "firmware/params/gains.h"

#define FREE_RANGE 25.0 /* range in each direction for a joint without limits, rad or m */

setup_t setup_from(const app_t *app);
bool setup_control(const app_t *app, control_t *control);
/* Makes settings and parameters from app->memory.image. Returns APP_OK or a negative app_error_t. */
int setup_settings(app_t *app);
/* Returns the exponent of the unit of position for a joint with these limits. */
int8_t setup_unit(const settings_t *settings);
/* Convert a position from SI to a number of the loop, and back. */
bool setup_position(const app_t *app, uint32_t joint, float q, real_t *out);
float setup_position_si(const app_t *app, uint32_t joint, real_t q);

/* Prepares homing of the one joint whose value is not zero. Returns APP_OK or a negative
 * app_error_t. */
int homing_start(app_t *app, const motion_t *motion);

/* Returns the largest gains that a joint can have at this rate, with the present payload. */
gains_t setup_gains_most(const app_t *app, uint32_t joint, float rate_hz);
/* Returns whether the gains of a joint are not negative and at most so large. */
bool setup_gains_work(const settings_t *settings, gains_t most);

/* Changes a parameter, as app_set without its rule about overrides. */
int setup_change(app_t *app, uint32_t parameter, uint32_t joint, float value);
/* Puts a value back that was in use before. Returns APP_E_STATE while it must wait until the outputs
 * are off: it can change only then, or it takes a guard or torque from the arm. */
int setup_restore(app_t *app, uint32_t parameter, uint32_t joint, float value);
/* Returns where the value of a parameter is. */
float *setup_place(app_t *app, uint32_t parameter, uint32_t joint);
/* Puts all values beneath back without making constants from them, because a robot is loaded next. */
void setup_forget_overrides(app_t *app);
/* Keeps the lease within its longest time after a change of arm or rate. */
void setup_cap_lease(app_t *app);
bool setup_overridden(const app_t *app, uint32_t parameter, uint32_t joint);
/* Finds out anew what NOTICE_... has to say, of the parameters and of an arm at rest. */
void setup_notice(app_t *app);
void setup_judge_load(app_t *app);

#endif

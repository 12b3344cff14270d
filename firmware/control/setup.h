/* Makes constants of the tick from settings and parameters; shared by the set-up of control step,
 * guards and simulated arm. Runs in the background, in double. */
#ifndef FIRMWARE_CONTROL_SETUP_H
#define FIRMWARE_CONTROL_SETUP_H

#include <stdbool.h>

#include "firmware/control/control.h"
#include "firmware/params/settings.h"

#define TURN 6.28318530717958647692

#define STOP_MARGIN 0.02 /* distance in rad or m from the position limit to the mechanical stop */

/* The inputs of the set-up. */
typedef struct {
    uint32_t n;
    const arm_t *arm;
    const flex_t *flex;       /* NULL: no elastic links */
    const dyn_units_t *units; /* units of fixed point; not used in floats */
    const settings_t *joint;
    const float *parameter; /* parameters that are not per joint; the index is PARAMETER_... */
    float volts;            /* nominal supply, V */
    float tool_m;           /* distance of the tool from the origin of the last link, m */
} setup_t;

/* Exponents of the units of a joint. Integers have the exponent WHOLE, fractions PART, speeds
 * of the tool TOOL_SPEED. */
typedef struct {
    int p, v, a, tau, volt; /* units of the loop: position, speed, acceleration, torque, voltage */
    int travel;             /* unit of position of a prismatic joint in the kernels */
} exponents_t;

enum { WHOLE = DYN_Q31_BITS, PART = 0, TOOL_SPEED = 4 }; /* tool: up to 128 m/s */

exponents_t setup_exponents(const setup_t *from, uint32_t joint);
/* Converts the value; one that the number format cannot hold becomes the largest that it holds. */
real_t setup_bound(double value, int exponent);
/* Returns 1e30 (no limit) in floats; in fixed point `bound`, or the largest number that the format
 * holds if that is less. */
real_t setup_open_end(double bound, int exponent);
/* Computes the factors of a time step of h seconds. */
bool setup_step(double h, exponents_t e, step_t *out);
/* Returns rad or m per encoder count, with the sign of the encoder. */
double setup_count(const settings_t *settings);
/* Returns the observer's double pole p = exp(-w h). Each tick corrects the estimated position by
 * 1 - p^2 times the position error and the estimated speed by (1 - p)^2 / h times the position
 * error. */
double setup_observer_pole(const setup_t *from);

/* Returns the largest distance that the tool can have from the axis of a revolute joint, m: the sum
 * of the lengths behind it. A prismatic joint moves the tool at its own speed: 1. */
float setup_reach(const setup_t *from, uint32_t joint);

/* Makes the constants of the control step; the guards have their own (firmware/safety/guard.h).
 * Returns false if a constant does not fit the units. */
bool control_setup(const setup_t *from, control_t *control);

#endif

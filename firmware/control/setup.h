/* Makes constants of the tick from settings and parameters: what the set-up of control step, guards
 * and simulated arm share. Runs in the background, in double. */
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
    const dyn_units_t *units; /* units of fixed point */
    const settings_t *joint;
    const float *parameter; /* parameters that are not per joint, by PARAMETER_... */
    float volts;            /* nominal supply */
} setup_t;

/* Exponents of the units of a joint. Integers have the exponent WHOLE, fractions PART. */
typedef struct {
    int p, v, a, tau, volt; /* units of the loop */
    int travel;             /* unit of the kernels: position of a prismatic joint */
} exponents_t;

enum { WHOLE = DYN_Q31_BITS, PART = 0 };

exponents_t setup_exponents(const setup_t *from, uint32_t joint);
/* The value, clamped to the end of the number format. */
real_t setup_bound(double value, int exponent);
/* No limit (1e30) in floats; in fixed point `bound`, clamped to the end of the number format. */
real_t setup_open_end(double bound, int exponent);
/* Factors of a time step of h seconds. */
bool setup_step(double h, exponents_t e, step_t *out);
/* rad or m per encoder count, with its sign. */
double setup_count(const settings_t *settings);
/* The observer's double pole p = exp(-w h). Each tick corrects the estimate by the position error
 * times 1 - p^2 (position) and (1 - p)^2 / h (speed). */
double setup_observer_pole(const setup_t *from);

/* Constants of the control step; the guards have their own (firmware/safety/guard.h). False: one
 * does not fit the units. */
bool control_setup(const setup_t *from, control_t *control);

#endif

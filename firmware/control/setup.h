/* From settings and parameters to constants of the tick: what the set-up of control step, guards
 * and simulated arm share. In double and in the background. */
#ifndef FIRMWARE_CONTROL_SETUP_H
#define FIRMWARE_CONTROL_SETUP_H

#include <stdbool.h>

#include "firmware/control/control.h"
#include "firmware/params/settings.h"

#define TURN 6.28318530717958647692

#define STOP_MARGIN 0.02 /* rad or m behind the limit is where the joint stops */

/* What constants are made from. */
typedef struct {
    uint32_t n;
    const arm_t *arm;
    const flex_t *flex;       /* NULL: no elastic links */
    const dyn_units_t *units; /* of fixed point */
    const settings_t *joint;
    const float *parameter; /* those that are not per joint, by PARAMETER_... */
    float volts;            /* nominal supply */
} setup_t;

/* Units of a joint: whole numbers are raw, a part is a number of the format. */
typedef struct {
    int p, v, a, tau, volt; /* of the loop */
    int travel;             /* of the kernels: position of a prismatic joint */
} exponents_t;

enum { WHOLE = DYN_Q31_BITS, PART = 0 };

exponents_t setup_exponents(const setup_t *from, uint32_t joint);
/* A bound, or the end of the number format where that is nearer. */
real_t setup_bound(double value, int exponent);
/* A limit that a float does not have and a number format does. */
real_t setup_open_end(double bound, int exponent);
/* Factors of a time step of h seconds. */
bool setup_step(double h, exponents_t e, step_t *out);
/* rad or m of a count of the encoder, with its sign. */
double setup_count(const settings_t *settings);
/* Both poles of the observer lie at exp(-w h), which this is: it takes over a part 1 - p^2 of the
 * position, (1 - p)^2 / h of the speed. */
double setup_observer_pole(const setup_t *from);

/* Constants of the control step; guards have their own (firmware/safety/guard.h). False: one does
 * not fit the units. */
bool control_setup(const setup_t *from, control_t *control);

#endif

/*
 * Thermal guard: a first-order model of the winding of each motor. With the torque limit as unit of
 * torque, the heat h follows dh/dt = (tau^2 - h) / T. It trips where the torque that the motor can
 * give for ever, f, would lead: h > f^2. The robot file states how long the motor can give its
 * limit, from cold: 1 - exp(-time / T) = f^2.
 *
 * Each tick adds the squares of the torques. In a window of 32 ticks each joint has one tick in
 * which the mean of its squares goes into its heat, so that no tick has to update all joints. The
 * heat is an integer in both number types, because a tick changes it by less than a float resolves.
 * With the part a = 32 ticks / T of a window, rounding is less than half of 2^-30 / (a f^2) of the
 * heat that trips: 1e-6 with the defaults at 1 kHz, 3e-4 with f = 0.2, 6e-3 with that at 20 kHz.
 *
 * Heat is in parts of the torque limit of the robot, not of the limit that limits_scale leaves. So
 * hold_fraction changes what trips, and neither changes how hot a motor is.
 */
#include "firmware/safety/thermal.h"

#include <assert.h>
#include <math.h>

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

static_assert(THERMAL_WINDOW >= DYN_MAX_JOINTS, "each joint has a tick of the window");

#define ONE     0x1p30 /* heat of a motor that gives its limit for ever */
#define PART_Q  31     /* fractional bits of control_joint_t.cool */
#define TIME_S  30.0   /* a motor gives its torque limit for this time, unless its file says it */
#define F2_MOST 0.99   /* a motor that can give its limit for ever has no T of its own */

/* Returns the torque limit of a joint, or the largest torque that fixed point can hold if that is
 * less. */
static double limit_of(const settings_t *s, int e) {
    return real_fits((double)s->torque, e) ? (double)s->torque : ldexp(7.9, e);
}

/* Returns the fraction of its torque limit that a motor can give for ever. */
static double part_of(const settings_t *s, float otherwise) {
    return s->lasting > 0 ? (double)s->lasting / LASTING_ALL : (double)otherwise;
}

/* Returns time / T = -ln(1 - f^2). Newton's method on exp, because a logarithm would take a
 * kilobyte of flash; from the left it never goes too far, and F2_MOST takes the eight steps. */
static __attribute__((noinline)) double time_constants(double f2) {
    double x = f2;
    for (int k = 0; k < 8; k++)
        x += 1 - (1 - f2) * exp(x);
    return x;
}

/* Returns the part of the way to its next value that the heat goes in a window. Below 32 / f^2
 * rounding would hide a heat that is more than 1/32 above what trips; such a motor is taken for a faster one. */
static int32_t follow(double f2, double time_s, double rate_hz) {
    const double windows = time_s * rate_hz / THERMAL_WINDOW;
    const double part = ldexp(1 - exp(-time_constants(f2) / windows), PART_Q);
    return (int32_t)fmin(fmax(part, 32 / f2), INT32_MAX);
}

/* T is a fact of the motor: of hold_fraction only the default has a part in it. */
static void joint_setup(const setup_t *from, uint32_t i, control_joint_t *out) {
    const settings_t *s = &from->joint[i];
    const int e = setup_exponents(from, i).tau;
    out->lasting = setup_open_end(ldexp(7.9, e), e);
    out->cool = 0;
    if (!(s->torque > 0))
        return;
    const double limit = limit_of(s, e), more = (double)s->torque / limit;
    const double f = more * part_of(s, parameter_table[PARAMETER_hold_fraction].fallback);
    const double now = more * part_of(s, from->parameter[PARAMETER_hold_fraction]);
    out->lasting = setup_bound(fmin(now, 1) * limit, e);
    (void)gain_from_model(ONE / THERMAL_WINDOW / (limit * limit),
                          WHOLE - (2 * e + REAL_SQUARE_EXPONENT), &out->warm);
    out->cool =
        follow(fmin(f * f, F2_MOST), s->heating > 0 ? (double)s->heating / HEATING_PER_S : TIME_S,
               (double)from->parameter[PARAMETER_rate_hz]);
}

void thermal_setup(const setup_t *from, control_t *out) {
    (void)real_from_model((double)from->parameter[PARAMETER_limits_scale], PART, &out->scale);
    for (uint32_t i = 0; i < from->n; i++)
        joint_setup(from, i, &out->joint[i]);
}

/* Returns the heat that trips, never 0. A thousandth is added, so that rounding does not trip a motor
 * that gives its lasting torque. */
static __attribute__((noinline)) uint32_t trip(const control_joint_t *j) {
    const uint32_t hot =
        (uint32_t)gain_whole(j->warm, (real)(real_square(j->lasting) * THERMAL_WINDOW));
    return hot + hot / 1024 + 1;
}

/* Returns the heat that nobody knows better: 31/32 of what trips. At its limit a motor then trips
 * after less than a tenth of its time, for f up to 0.9; the lasting torque never trips. */
static uint32_t unknown(const control_joint_t *j, uint32_t heat) {
    const uint32_t hot = trip(j) - trip(j) / 32;
    return j->cool != 0 && heat < hot ? hot : heat;
}

void thermal_start(const control_t *c, thermal_t *t) {
    for (uint32_t i = 0; i < c->arm->n && !t->started; i++)
        t->heat[i] = unknown(&c->joint[i], t->heat[i]);
    t->started = true;
}

void thermal_forget(thermal_t *t) {
    for (uint32_t i = 0; i < DYN_MAX_JOINTS; i++)
        t->power[i] = 0;
    t->started = false;
}

/* Moves the heat of joint i towards the mean square of its torques since the last time. */
static finding_t update(const control_joint_t *j, thermal_t *t, uint32_t i) {
    const real power = t->power[i];
    const finding_t nothing = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
    t->power[i] = 0;
    if (j->cool == 0)
        return nothing;
    const int32_t to = gain_whole(j->warm, power) - (int32_t)t->heat[i];
    const int64_t part = (int64_t)to * j->cool + (INT64_C(1) << (PART_Q - 1));
    t->heat[i] += (uint32_t)(part >> PART_Q);
    if (t->heat[i] <= trip(j))
        return nothing;
    return (finding_t){APP_FAULT_THERMAL, i, real_root_mean(power), j->lasting};
}

finding_t thermal_guard(const control_t *c, thermal_t *t, const loop_t *s) {
    const uint32_t i = t->tick++ % THERMAL_WINDOW;
    for (uint32_t k = 0; k < c->arm->n; k++)
        t->power[k] += real_square(s->tau[k]);
    return i < c->arm->n ? update(&c->joint[i], t, i)
                         : (finding_t){APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
}

uint32_t thermal_percent(const control_t *c, const thermal_t *t, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    if (j->cool == 0)
        return THERMAL_NONE;
    const uint32_t heat = t->started ? t->heat[i] : unknown(j, t->heat[i]);
    const uint64_t percent = (uint64_t)heat * 100 / trip(j);
    return percent < THERMAL_NONE ? (uint32_t)percent : THERMAL_NONE - 1;
}

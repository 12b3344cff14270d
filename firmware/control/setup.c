/* Implements firmware/control/setup.h. */
#include "firmware/control/setup.h"

#include <math.h>

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

#define OBSERVER_PART_OF_RATE 0.2
#define NO_LIMIT              1e30
#define FADE_S                0.1 /* s; time constant with which an old torque fades */
#define FADE_CONSTANTS        8   /* after this many time constants it is gone */

exponents_t setup_exponents(const setup_t *from, uint32_t i) {
    const settings_t *s = &from->joint[i];
    const dyn_q31_exponents_t e = dyn_q31_joint_exponents(
        s->prismatic ? DYN_PRISMATIC : DYN_REVOLUTE, (double)s->volt, from->units, i);
    return (exponents_t){s->unit, e.velocity, e.acceleration, e.torque, e.voltage, e.position};
}

real setup_open_end(double bound, int exponent) {
    real out;
    const double end = real_fits(NO_LIMIT, exponent) ? NO_LIMIT : bound;
    const double most = ldexp(7.9, exponent);
    (void)real_from_model(real_fits(end, exponent) ? end : most, exponent, &out);
    return out;
}

real setup_bound(double value, int exponent) {
    real out;
    const double most = ldexp(7.9, exponent);
    (void)real_from_model(real_fits(value, exponent) ? value : most, exponent, &out);
    return out;
}

bool setup_step(double h, exponents_t e, step_t *out) {
    bool fits = gain_from_model(h / 2, e.p - e.v, &out->q_qd);
    fits = gain_from_model(h / 2, e.v - e.a, &out->qd_qdd) && fits;
    return gain_from_model(h * h / 8, e.p - e.a, &out->q_qdd) && fits;
}

double setup_count(const settings_t *s) {
    return (double)s->sign * (s->prismatic ? 1 : TURN) / ((double)s->counts * (double)s->ratio);
}

double setup_observer_pole(const setup_t *from) {
    const double rate = (double)from->parameter[PARAMETER_rate_hz];
    const double hz =
        fmin((double)from->parameter[PARAMETER_observer_hz], OBSERVER_PART_OF_RATE * rate);
    return exp(-TURN * hz / rate);
}

static float length_of(const setup_t *from, uint32_t i) {
    const DYN_T(joint) *j = &from->arm->joint[i];
    const settings_t *s = &from->joint[i];
    const float a = (float)real_to_model(j->a, from->units->length);
    float d =
        fabsf((float)real_to_model(s->prismatic ? j->offset : j->fixed_d, from->units->length));
    if (s->prismatic)
        d += fmaxf(fabsf(s->position[0]), fabsf(s->position[1]));
    return sqrtf(a * a + d * d);
}

float setup_reach(const setup_t *from, uint32_t at) {
    float sum = from->tool_m;
    if (from->joint[at].prismatic)
        return 1;
    for (uint32_t i = at + 1; i < from->n; i++)
        sum += length_of(from, i);
    return sum;
}

static bool sensor_make(const settings_t *s, exponents_t e, control_joint_t *out) {
    const double per_rad = ldexp(1 / TURN, 32);
    bool fits = gain_from_model(setup_count(s), e.p - WHOLE, &out->per_count);
    fits = real_from_model((double)s->offset, e.p, &out->offset) && fits;
    out->wrap = (int32_t)s->counts;
    if (s->prismatic)
        return gain_from_model(1, e.travel - e.p, &out->angle) && fits;
    return gain_from_model(per_rad, WHOLE - e.p, &out->angle) && fits;
}

static bool feedback_make(const setup_t *from, const settings_t *s, exponents_t e,
                          control_joint_t *out) {
    const double w = TURN * (double)from->parameter[PARAMETER_torque_hz];
    const double pole = setup_observer_pole(from),
                 rate = (double)from->parameter[PARAMETER_rate_hz];
    const bool torque = from->parameter[PARAMETER_feedback] == FEEDBACK_COMPUTED_TORQUE;
    const int to = torque ? e.a : e.tau;
    bool fits = gain_from_model((1 - pole) * (1 - pole) * rate, e.v - e.p, &out->observe);
    fits = gain_from_model(torque ? w * w : (double)s->kp, to - e.p, &out->kp) && fits;
    fits = gain_from_model(torque ? 2 * w : (double)s->kd, to - e.v, &out->kd) && fits;
    out->tau_max = setup_open_end(ldexp(7.9, e.tau), e.tau);
    const double torque_most = (double)s->torque * (double)from->parameter[PARAMETER_limits_scale];
    if (torque_most > 0 && real_fits(torque_most, e.tau))
        (void)real_from_model(torque_most, e.tau, &out->tau_max);
    out->qd_max = setup_open_end(ldexp(7.9, e.v), e.v);
    out->motor = s->motor;
    if (s->motor)
        return gain_from_model(1 / (double)from->volts, PART - e.volt, &out->duty) && fits;
    return gain_from_model(s->torque > 0 ? 1 / (double)s->torque : 0, PART - e.tau, &out->duty) &&
           fits;
}

static bool jog_make(const settings_t *s, double h, exponents_t e, control_joint_t *out) {
    const double v = (double)s->velocity, a = (double)s->acceleration;
    bool fits = gain_from_model(1 / h, e.a - e.v, &out->qdd_qd);
    fits = real_from_model(a * h, e.v, &out->qd_change) && fits;
    fits = gain_from_model(v / (2 * a), e.p - e.v, &out->brake_q) && fits;
    fits = gain_from_model(1 / v, PART - e.v, &out->brake_part) && fits;
    fits = real_from_model((double)s->position[0], e.p, &out->lower) && fits;
    out->bounded = s->bounded;
    return real_from_model((double)s->position[1], e.p, &out->upper) && fits;
}

bool control_setup(const setup_t *from, control_t *out) {
    const double h = 1 / (double)from->parameter[PARAMETER_rate_hz],
                 pole = setup_observer_pole(from);
    bool fits = real_from_model(1 - pole * pole, PART, &out->observe);
    out->arm = from->arm;
    out->flex = from->flex;
    out->feedback = (uint32_t)from->parameter[PARAMETER_feedback];
    out->feedforward = (uint32_t)from->parameter[PARAMETER_feedforward];
    out->simulated = from->parameter[PARAMETER_arm] == ARM_SIMULATED;
    out->sample_every = (uint32_t)from->parameter[PARAMETER_sample_every];
    out->watch = from->parameter[PARAMETER_stages] != 0;
#if APP_CONTROLS > 1
    (void)real_from_model(exp(-h / FADE_S), PART, &out->fade);
    out->fade_ticks = (uint32_t)ceil(FADE_CONSTANTS * FADE_S / h);
#endif
    fits = gain_from_model(0.001 / (double)from->volts, PART - WHOLE, &out->supply_per_mV) && fits;
    for (uint32_t i = 0; i < from->n; i++) {
        const exponents_t e = setup_exponents(from, i);
        control_joint_t *j = &out->joint[i];
        fits = setup_step(h, e, &j->half) && fits;
        fits = sensor_make(&from->joint[i], e, j) && fits;
        fits = feedback_make(from, &from->joint[i], e, j) && fits;
        fits = jog_make(&from->joint[i], h, e, j) && fits;
    }
    return fits;
}

/* In every tick the guards compare the inputs and the results of the control step with limits,
 * before the outputs change. guard_setup prepares the limits outside the tick. */
#include "firmware/safety/guard.h"

#include <math.h>

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

enum { COUNT_MOST = UINT16_MAX };

#define LOOK_S     0.006 /* s between two checks of the directions */
#define WRONG_PART 0.02  /* smallest suspicious speed error, as a fraction of the velocity limit */
/* Smallest torque for a conclusion about the direction, divided by kd and by the speed of one
 * encoder count. That speed, gained within 6 ms, is an acceleration. With the inertia kd / 2w of a
 * loop of 5 Hz it takes a torque of 2.7 kd times the speed. While the other joints stand still, the
 * inertia of a joint is up to twice that. */
#define FIRM      5.5
#define SINK_PART 0.1 /* speed of lowering, as a fraction of the velocity limit */
#define DAMP_S    0.5

static const finding_t nothing = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};

/* Makes a finding whose value and limit are integers, without a unit. */
INLINE finding_t found(uint32_t fault, uint32_t at, int32_t value, int32_t limit) {
    return (finding_t){fault, at, (real)value, (real)limit};
}

INLINE uint32_t first_of(uint32_t bits) {
    return bits == 0 ? APP_NO_JOINT : (uint32_t)__builtin_ctz(bits);
}

INLINE uint16_t counted(bool happened, uint16_t before) {
    return happened ? (uint16_t)(before + (before < COUNT_MOST)) : 0;
}

/* Returns the fault of the deepest cause for which the hardware has switched the outputs off: a
 * failed oscillator also sets the flag of the e-stop. */
INLINE uint32_t fault_of_cause(uint32_t latched) {
    return latched & CAUSE_CLOCK    ? APP_FAULT_CLOCK
           : latched & CAUSE_POWER  ? APP_FAULT_POWER
           : latched & CAUSE_ESTOP  ? APP_FAULT_ESTOP
           : latched & CAUSE_DRIVER ? APP_FAULT_DRIVER
                                    : APP_FAULT_TICK_STOPPED;
}

/* The worst stop comes first, and the fault that is latched already is left out where it allows to
 * hold the arm: a fault that lasts neither makes its own stop worse nor hides another one. */
finding_t guard_inputs(const control_t *c, guard_t *g, const app_inputs_t *in, uint32_t latched) {
    const uint32_t missing = ~in->counts_valid & joints_mask(c->arm->n);
    const uint32_t spoilt = in->parity & missing, unwell = in->unwell & missing;
    g->supply_mV = in->supply_mV;
    g->late = counted(in->overrun, g->late);
    g->unread = counted(missing != 0, g->unread);
    if (missing != 0 || in->overrun || in->lost > 0)
        sensors_start(&g->sensors); /* the next step is one of more than a tick */
    if (in->latched)
        return found(fault_of_cause(in->latched), APP_NO_JOINT, 1, 0);
    if (in->supply_mV >= 0 && in->supply_mV < c->supply_least_mV)
        return found(APP_FAULT_SUPPLY_LOW, APP_NO_JOINT, in->supply_mV, c->supply_least_mV);
    if (g->unread > c->unread)
        return found(unwell   ? APP_FAULT_MAGNET
                     : spoilt ? APP_FAULT_PARITY
                              : APP_FAULT_ENCODER,
                     first_of(unwell   ? unwell
                              : spoilt ? spoilt
                                       : missing),
                     g->unread, c->unread);
    if (in->supply_mV > c->supply_most_mV)
        return found(APP_FAULT_SUPPLY_HIGH, APP_NO_JOINT, in->supply_mV, c->supply_most_mV);
    if (g->late > c->late)
        return found(APP_FAULT_OVERRUN, APP_NO_JOINT, g->late, c->late);
    if (in->lost > 0 && in->overrun)
        return found(APP_FAULT_OVERRUN, APP_NO_JOINT, (int32_t)in->lost, 0);
    if (in->lost > 0 && latched != APP_FAULT_LOST)
        return found(APP_FAULT_LOST, APP_NO_JOINT, (int32_t)in->lost, 0);
    if (in->stalled && latched != APP_FAULT_BACKGROUND)
        return found(APP_FAULT_BACKGROUND, APP_NO_JOINT, 1, 0);
    if (in->supply_mV == SUPPLY_FAILED && latched != APP_FAULT_SUPPLY_SENSOR)
        return found(APP_FAULT_SUPPLY_SENSOR, APP_NO_JOINT, 1, 0);
    return nothing;
}

/* Checks a joint. The comparisons of a number with itself find NaN, the only value that differs
 * from itself. */
INLINE finding_t guard_joint(const control_joint_t *j, guard_t *g, const loop_t *s, uint32_t i) {
    const real q = s->q[i], ref = s->q_ref[i];
    const uint32_t bit = 1u << i;
    uint32_t beyond;
    if (s->tau_model[i] != s->tau_model[i] || s->q_hat[i] != s->q_hat[i] ||
        s->tau[i] != s->tau[i] || s->volt[i] != s->volt[i])
        return (finding_t){APP_FAULT_NUMBER, i, s->tau_model[i], j->tau_max};
    if (real_size(s->qd_hat[i]) >= j->fast)
        return (finding_t){APP_FAULT_VELOCITY, i, s->qd_hat[i], j->fast};
    if (j->bounded && !(s->unhomed & bit)) {
        if (q <= j->upper && q >= j->lower)
            g->outside &= ~bit;
        if (real_exceeds(q, j->upper, j->beyond) && !(g->outside & bit))
            return (finding_t){APP_FAULT_POSITION, i, q, j->upper};
        if (real_exceeds(j->lower, q, j->beyond) && !(g->outside & bit))
            return (finding_t){APP_FAULT_POSITION, i, q, j->lower};
    }
    if ((real_exceeds(ref, q, j->track) || real_exceeds(q, ref, j->track)) && !(s->pressing & bit))
        return (finding_t){APP_FAULT_TRACKING, i, wide_fit(wide_sub(ref, q), &beyond), j->track};
    return nothing;
}

static finding_t guard_joints(const control_t *c, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const finding_t here = guard_joint(&c->joint[i], g, s, i);
        if (here.fault != APP_FAULT_NONE)
            return here;
    }
    return nothing;
}

finding_t guard_tool(const control_t *c, const loop_t *s) {
    wider speed = 0;
    uint32_t beyond;
    for (uint32_t i = 0; i < c->arm->n; i++)
        speed = wide_add(speed, gain_wide(c->joint[i].reach, real_size(s->qd_hat[i])));
    const real tool = wide_fit(speed, &beyond);
    return tool > c->tool_fast ? (finding_t){APP_FAULT_TOOL_SPEED, APP_NO_JOINT, tool, c->tool_fast}
                               : nothing;
}

finding_t guard_loop(const control_t *c, guard_t *g, const loop_t *s, uint32_t wrong) {
    finding_t out = sensors_guard(c, &g->sensors, s);
    if (out.fault == APP_FAULT_NONE)
        out = guard_joints(c, g, s);
    if (out.fault != APP_FAULT_NONE)
        return out;
    out = effort_guard(c, &g->effort, s, g->supply_mV);
    if (wrong != APP_NO_JOINT)
        out = (finding_t){APP_FAULT_DIRECTION, wrong, s->qd_hat[wrong], s->qd_ref[wrong]};
    return out;
}

void guard_start(const control_t *c, guard_t *g, const loop_t *s) {
    *g = (guard_t){.effort = g->effort, .late = g->late, .unread = g->unread};
    effort_start(&g->effort);
    sensors_start(&g->sensors);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        g->outside |= (uint32_t)(j->bounded && (s->q[i] > j->upper || s->q[i] < j->lower)) << i;
    }
}

/* Sets the limits of a joint, and returns the speed of the tool that its quantisation may feign,
 * m/s. Quantisation changes the estimated speed by up to `step` in either
 * direction; the check of the directions must not take that for motion. */
static double joint_setup(const setup_t *from, uint32_t i, control_joint_t *out) {
    const settings_t *s = &from->joint[i];
    const exponents_t e = setup_exponents(from, i);
    const float *t = from->parameter;
    const double pole = setup_observer_pole(from), v = (double)s->velocity;
    const double fast = (double)t[PARAMETER_guard_speed] * v * (double)t[PARAMETER_limits_scale];
    const double step = fabs(setup_count(s)) * (1 + (double)t[PARAMETER_sim_noise]) * (1 - pole) *
                        (1 - pole) * (double)t[PARAMETER_rate_hz];
    out->track = setup_bound((double)t[PARAMETER_guard_tracking], e.p);
    out->beyond = setup_bound((double)t[PARAMETER_guard_position], e.p);
    out->fast = setup_bound(fast, e.v);
    out->wrong = setup_bound(fmax(v * WRONG_PART, 2 * step) / 16, e.v);
    /* The threshold is the noise plus three quarters of the model's Coulomb friction. Then a
     * friction between half and one and a half times that of the model makes no check wrong: with
     * an error of half the friction, the motion takes less than a quarter of a command only if the
     * command is below two thirds of the friction. */
    const double half = real_to_model(from->arm->joint[i].drive.coulomb, e.tau);
    out->firm = setup_bound(FIRM * (double)s->kd * step + 1.5 * half, e.tau);
    out->sink = setup_bound(v * SINK_PART, e.v);
    const double reach = (double)setup_reach(from, i);
    (void)gain_from_model(reach, TOOL_SPEED - e.v, &out->reach);
    return 2 * step * reach;
}

static uint16_t ticks_of(const setup_t *from, double seconds) {
    return (uint16_t)fmin(ceil(seconds * (double)from->parameter[PARAMETER_rate_hz]), UINT16_MAX);
}

void guard_setup(const setup_t *from, control_t *out) {
    const float *t = from->parameter;
    const double nominal = 1000 * (double)from->volts;
    out->supply_least_mV = (int32_t)(nominal * (double)t[PARAMETER_guard_supply_low]);
    out->supply_most_mV = (int32_t)(nominal * (double)t[PARAMETER_guard_supply_high]);
    out->segment = t[PARAMETER_guard_direction] != 0 ? ticks_of(from, LOOK_S) : 0;
    (void)real_from_model(out->segment > 0 ? 1.0 / out->segment : 0, PART, &out->per_segment);
    out->damp = ticks_of(from, DAMP_S);
    out->setpoint = (uint32_t)t[PARAMETER_guard_setpoint];
    out->unread = (uint16_t)t[PARAMETER_guard_encoder_ticks];
    out->late = (uint16_t)t[PARAMETER_guard_overruns];
    out->brakes = t[PARAMETER_brakes] != 0;
    out->damping = 1;
    double tool = (double)t[PARAMETER_tool_speed] * (double)t[PARAMETER_guard_speed];
    effort_setup(from, out);
    sensors_setup(from, out);
    for (uint32_t i = 0; i < from->n; i++) {
        out->damping &= from->joint[i].motor;
        tool += joint_setup(from, i, &out->joint[i]);
    }
    out->tool_fast = setup_bound(tool, TOOL_SPEED);
}

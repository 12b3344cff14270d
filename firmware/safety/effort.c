/*
 * Effort guard: a joint that stays at a limit, and a loop that is unstable.
 *
 * Limits. A joint collects half ticks: two for each tick at a limit of torque or voltage, and it
 * loses one in every other tick. So a blocked joint trips after guard_limit_s, and so does, later,
 * a joint that is at a limit for more than a third of the time, in whatever order the ticks come.
 * Below that share the loop has the larger part of the time to correct what it lost.
 *
 * Reversals. A position loop of f Hz needs two reversals of its torque in a period, so at most 2 f
 * per second; the loops of the robot files and torque_hz have 5 Hz. A reversal counts if the torque
 * was beyond half of its limit in one direction and then in the other. One is forgotten every
 * 1 / guard_reversals seconds. When nine are left, they are no longer the ringing after an impact: the
 * loop is unstable. An unstable loop also gets to its limits. If a joint trips there and its
 * torque was strong in both directions meanwhile, the loop is unstable and the joint is not
 * blocked.
 */
#include "firmware/safety/effort.h"

#include <math.h>
#include <string.h>

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/guard.h"

enum { FILL = 2, LEAK = 1 }; /* half ticks */
enum { REVERSALS_MOST = 8, REVERSALS_AT_LIMIT = 2 };

static const finding_t nothing = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};

/* Reports the voltage that joint i needs and the available voltage: the motor's own limit, or the
 * measured supply if that is less. Duty cycle and supply are fractions of the nominal supply; both
 * are doubled until fixed point can represent the reciprocal of the duty cycle. */
static finding_t short_of_voltage(const control_t *c, const loop_t *s, int32_t supply_mV,
                                  uint32_t i) {
    const drive *d = &c->arm->joint[i].drive;
    uint32_t beyond;
    const wider asked =
        wide_add(gain_wide(d->volt_tau, s->tau[i]), gain_wide(d->volt_qd, s->qd_hat[i]));
    finding_t out = {APP_FAULT_VOLTAGE, i, wide_fit(asked, &beyond), d->volt_max};
    real part = gain_mul(c->joint[i].duty, real_size(s->volt[i]));
    real supply = gain_count(c->supply_per_mV, supply_mV);
    if (supply_mV <= 0 || part <= supply)
        return out;
    for (; part < real_half(real_known(1)); part = real_twice(part))
        supply = real_twice(supply);
    out.limit = real_mul(real_size(s->volt[i]), real_mul(supply, real_recip(part)));
    return out;
}

static finding_t unstable(const effort_t *e, uint32_t i) {
    return (finding_t){APP_FAULT_UNSTABLE, i, (real)(int32_t)e->reversals[i],
                       (real)(int32_t)REVERSALS_MOST};
}

/* Says why joint i was at a limit for too long. */
static finding_t too_long(const control_t *c, const effort_t *e, const loop_t *s, int32_t supply_mV,
                          uint32_t i) {
    if (e->reversals[i] >= REVERSALS_AT_LIMIT)
        return unstable(e, i);
    if (s->clipped >> i & 1)
        return (finding_t){APP_FAULT_TORQUE, i, s->tau[i], c->joint[i].tau_max};
    return short_of_voltage(c, s, supply_mV, i);
}

/* Finds a joint that was at a limit for too long. */
static finding_t at_limits(const control_t *c, effort_t *e, const loop_t *s, int32_t supply_mV) {
    finding_t out = nothing;
    e->limited += s->limited != 0;
    e->strained = 0;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const uint16_t before = e->at_limit[i];
        if (!(s->limited >> i & 1))
            e->at_limit[i] = (uint16_t)(before - (before >= LEAK ? LEAK : 0));
        else if (before <= c->limit_half_ticks)
            e->at_limit[i] = (uint16_t)(before + FILL);
        if (e->at_limit[i] > c->limit_half_ticks)
            out = too_long(c, e, s, supply_mV, i);
        e->strained |= e->at_limit[i] != 0;
    }
    return out;
}

/* Takes one from each count of reversals, except of a joint that is being judged at its limit. */
static void leak(const control_t *c, effort_t *e) {
    e->since_leak = 0;
    for (uint32_t i = 0; i < c->arm->n; i++)
        e->reversals[i] = (uint8_t)(e->reversals[i] - (e->reversals[i] > 0 && e->at_limit[i] == 0));
}

/* Counts the reversals; returns a joint that has too many, or APP_NO_JOINT. */
INLINE uint32_t reversing(const control_t *c, effort_t *e, const loop_t *s) {
    uint32_t out = APP_NO_JOINT;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const real tau = s->tau[i];
        if (real_size(tau) <= real_half(c->joint[i].tau_max) ||
            (e->pushes >> i & 1) == (uint32_t)(tau > 0))
            continue;
        e->pushes ^= 1u << i;
        if (++e->reversals[i] > REVERSALS_MOST)
            out = i;
    }
    return out;
}

finding_t effort_guard(const control_t *c, effort_t *e, const loop_t *s, int32_t supply_mV) {
    const uint32_t shakes = reversing(c, e, s);
    finding_t out = nothing;
    if (++e->since_leak >= c->leak_ticks)
        leak(c, e);
    if (s->limited != 0 || e->strained)
        out = at_limits(c, e, s, supply_mV);
    if (shakes != APP_NO_JOINT)
        out = unstable(e, shakes);
    return out;
}

void effort_start(effort_t *e) {
    memset(e->at_limit, 0, sizeof e->at_limit);
    memset(e->reversals, 0, sizeof e->reversals);
    e->strained = 0;
}

void effort_setup(const setup_t *from, control_t *out) {
    const float *t = from->parameter;
    const double rate = (double)t[PARAMETER_rate_hz];
    const double half_ticks = ceil(FILL * (double)t[PARAMETER_guard_limit_s] * rate);
    out->limit_half_ticks = (uint16_t)fmin(half_ticks, UINT16_MAX - FILL);
    out->leak_ticks = (uint16_t)ceil(rate / (double)t[PARAMETER_guard_reversals]);
}

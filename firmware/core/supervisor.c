/*
 * The supervisor: what cannot go on, and how the arm is brought to rest then. Guards compare in
 * every tick what came in and what the control step has made of it, before anything is put out;
 * what they need was prepared outside the tick (firmware/core/setup.c).
 *
 * Direction. Of a joint whose motor or encoder is the wrong way round the feedback makes worse what
 * it works against. Looks at a joint are 6 ms apart. A look is wrong where the feedback has grown
 * and yet the joint moves and gained speed against it, both by itself and against the reference,
 * and is well off the reference's speed; and where the model agrees: the torque that the motion
 * since the last look takes, by inverse dynamics with everything that the other joints do to this
 * one. Of a joint that turns the right way that is the commanded torque, by f where the arm is f
 * times as heavy as its model, whatever drives it and whatever the controller knows; of one the
 * wrong way round it has the other sign, or is small where the motor's own damping, reversed, holds
 * the joint. So a quarter of the commanded torque acquits it: links without rotors throw each other
 * about, and a controller without a model lets the arm sink, and neither is a fault. An encoder the
 * wrong way round on a joint that carries weight looks like a heavier arm until the feedback is 0.6
 * of the weight. Torques no larger than what counts of the encoder make of the acceleration, or
 * than what friction may be other than the model's, say nothing. Three more wrong looks than right
 * ones are a fault, 18 to 24 ms after the speed is off where no noise spoils a look; an impact
 * changes the speed once.
 *
 * A stop is chosen from model and pose: the loop may hold the arm where gravity takes no more than
 * a part of the torque limits, lower it where it takes no more than all of them; else shorted
 * windings damp it, where every joint has a motor, or it is released. A fault that spoils encoder
 * or numbers allows no stop that needs them.
 */
#include "firmware/core/image.h"

#include DYN_REAL_H

#include "firmware/core/instance.h"
#include "firmware/core/number.h"

#include <string.h>

typedef CORE_T(control) control_t;
typedef CORE_T(control_joint) control_joint_t;
typedef CORE_T(guard) guard_t;
typedef CORE_T(finding) finding_t;
typedef CORE_T(loop) loop_t;
typedef CORE_T(motion) motion_state_t;
typedef CORE_T(scratch) scratch_t;

enum { LOOKS = 3, COUNT_MOST = UINT16_MAX };

static const finding_t nothing = {APP_FAULT_NONE, APP_NO_JOINT, 0, 0};

/* Whole numbers travel as they are. */
INLINE finding_t found(uint32_t fault, uint32_t at, int32_t value, int32_t limit) {
    return (finding_t){fault, at, (real)value, (real)limit};
}

INLINE uint32_t first_of(uint32_t bits) {
    return bits == 0 ? APP_NO_JOINT : (uint32_t)__builtin_ctz(bits);
}

INLINE uint16_t counted(bool happened, uint16_t before) {
    return happened ? (uint16_t)(before + (before < COUNT_MOST)) : 0;
}

finding_t CORE(guard_inputs)(const control_t *c, guard_t *g, const app_inputs_t *in) {
    const uint32_t all = c->arm->n >= 32 ? UINT32_MAX : (1u << c->arm->n) - 1;
    const uint32_t missing = ~in->counts_valid & all, spoilt = in->parity & missing;
    g->late = counted(in->overrun, g->late);
    g->unread = counted(missing != 0, g->unread);
    if (in->broken)
        return found(APP_FAULT_BREAK, APP_NO_JOINT, 1, 0);
    if (g->unread > c->unread)
        return found(spoilt ? APP_FAULT_PARITY : APP_FAULT_ENCODER,
                     first_of(spoilt ? spoilt : missing), g->unread, c->unread);
    if (in->supply_mV > 0 && in->supply_mV < c->supply_least_mV)
        return found(APP_FAULT_SUPPLY_LOW, APP_NO_JOINT, in->supply_mV, c->supply_least_mV);
    if (in->supply_mV > c->supply_most_mV)
        return found(APP_FAULT_SUPPLY_HIGH, APP_NO_JOINT, in->supply_mV, c->supply_most_mV);
    if (g->late > c->late)
        return found(APP_FAULT_OVERRUN, APP_NO_JOINT, g->late, c->late);
    return nothing;
}

/* Differences of differences stay numbers of the format. */
INLINE real sixteenth(real a) {
    return real_half(real_half(real_half(real_half(a))));
}

INLINE bool opposite(real a, real b) {
    return (a > 0 && b < 0) || (a < 0 && b > 0);
}

/* Positions as the kernels take them, in k->q, where fixed point was proved. */
static void place(const control_t *c, scratch_t *k, const real at[]) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const DYN_T(sure) *sure = &c->arm->joint[i].sure;
        const real q = gain_turn(c->joint[i].angle, at[i]);
        const bool slides = c->arm->joint[i].prismatic;
        k->q[i] = slides && q < sure->low ? sure->low : slides && q > sure->high ? sure->high : q;
    }
}

/* One look at a joint; true where it saw the wrong direction. */
INLINE bool look(const control_joint_t *j, guard_t *g, const loop_t *s, uint32_t i) {
    const real qd = sixteenth(s->qd_hat[i]), off = real_sub(qd, sixteenth(s->qd_ref[i]));
    const real model = sixteenth(s->tau_model[i]), push = real_sub(sixteenth(s->tau[i]), model);
    const real gained = g->look[i].gained, gained_off = real_sub(off, g->look[i].off);
    const bool grown =
        !opposite(push, g->look[i].push) && real_size(push) > real_size(g->look[i].push);
    g->look[i].off = off;
    g->look[i].push = push;
    return grown && opposite(off, push) && real_size(off) > j->wrong &&
           opposite(gained_off, push) && opposite(qd, push) &&
           real_size(qd) > real_half(j->wrong) && opposite(gained, push) &&
           real_size(s->tau[i]) > j->firm;
}

/* Acceleration from what was gained, in k->qdd; never beyond what fixed point
 * was proved for. */
INLINE void observe(const control_t *c, scratch_t *k, const guard_t *g) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const real rate = real_mul(c->per_look, gain_mul(c->joint[i].qdd_qd, g->look[i].gained));
        const real part = real_clamp(rate, sixteenth(c->arm->joint[i].sure.qdd));
        k->qdd[i] = real_twice(real_twice(real_twice(real_twice(part))));
    }
}

/* The torque that this motion takes, in k->tau. */
static void needed(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s) {
    observe(c, k, g);
    place(c, k, s->q_hat);
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->M[i] = real_clamp(s->qd_hat[i], c->arm->joint[i].sure.qd);
    DYN(fast_inverse)(c->arm, &k->fast, k->q, k->M, k->qdd, k->tau);
    DYN(rotor_inverse)(c->arm, k->qdd, k->tau);
    DYN(friction)(c->arm, k->M, k->tau);
}

INLINE bool explained(real takes, real commanded) {
    return !opposite(takes, commanded) &&
           real_size(takes) >= real_half(real_half(real_size(commanded)));
}

/* Speeds gained since the last looks, of all joints at once. */
INLINE void note_speeds(const control_t *c, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const real qd = sixteenth(s->qd_hat[i]);
        g->look[i].gained = real_sub(qd, g->look[i].qd);
        g->look[i].qd = qd;
    }
}

/* Half of the joints in one tick and half in the next, so that no tick is much longer than others.
 */
static finding_t guard_directions(const control_t *c, scratch_t *k, guard_t *g, const loop_t *s) {
    const uint32_t n = c->arm->n, half = (n + 1) / 2;
    finding_t out = nothing;
    uint32_t suspects = 0;
    g->phase = (uint16_t)(g->phase + 1u < c->segment ? g->phase + 1u : 0);
    if (c->segment == 0 || g->phase > 1)
        return out;
    if (g->phase == 0)
        note_speeds(c, g, s);
    const uint32_t first = g->phase == 0 ? 0 : half,
                   end = first < half && c->segment > 1 ? half : n;
    for (uint32_t i = first; i < end; i++)
        suspects |= (uint32_t)(look(&c->joint[i], g, s, i)) << i;
    if (suspects != 0)
        needed(c, k, g, s);
    for (uint32_t i = first; i < end; i++) {
        const bool wrong = (suspects >> i & 1) && !explained(k->tau[i], s->tau[i]);
        g->wrong[i] = (uint8_t)(wrong ? g->wrong[i] + 1 : g->wrong[i] - (g->wrong[i] > 0));
        if (g->wrong[i] >= LOOKS) {
            g->wrong[i] = 0;
            out = (finding_t){APP_FAULT_DIRECTION, i, s->qd_hat[i], s->qd_ref[i]};
        }
    }
    return out;
}

/* Of a joint; NaN is the only number that differs from itself. */
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

static finding_t guard_efforts(const control_t *c, guard_t *g, const loop_t *s) {
    finding_t out = nothing;
    if (s->limited == 0) {
        memset(g->at_limit, 0, sizeof g->at_limit);
        return out;
    }
    g->limited++;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const bool torque = s->clipped >> i & 1, other = (s->clipped ^ g->clipped) >> i & 1;
        g->at_limit[i] = counted(s->limited >> i & 1, other ? 0 : g->at_limit[i]);
        if (g->at_limit[i] > c->patience)
            out = torque ? (finding_t){APP_FAULT_TORQUE, i, s->tau[i], c->joint[i].tau_max}
                         : (finding_t){APP_FAULT_VOLTAGE, i, s->volt[i], s->volt[i]};
    }
    g->clipped = s->clipped;
    return out;
}

finding_t CORE(guard_loop)(const control_t *c, scratch_t *k, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const finding_t here = guard_joint(&c->joint[i], g, s, i);
        if (here.fault != APP_FAULT_NONE)
            return here;
    }
    const finding_t direction = guard_directions(c, k, g, s);
    const finding_t effort = guard_efforts(c, g, s);
    return direction.fault != APP_FAULT_NONE ? direction : effort;
}

void CORE(guard_start)(const control_t *c, guard_t *g, const loop_t *s) {
    *g = (guard_t){.limited = g->limited, .late = g->late, .unread = g->unread};
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        g->outside |= (uint32_t)(j->bounded && (s->q[i] > j->upper || s->q[i] < j->lower)) << i;
    }
}

/* -------------------------------------------------------------------------------------- stops */

/* Into k->tau. */
static void gravity(const control_t *c, scratch_t *k, const real at[]) {
    place(c, k, at);
    DYN(fast_gravity)(c->arm, &k->fast, k->q, k->tau);
}

uint32_t CORE(stop_weak)(const control_t *c, scratch_t *k, const real q[], real part) {
    gravity(c, k, q);
    for (uint32_t i = 0; i < c->arm->n; i++)
        if (real_size(k->tau[i]) > real_mul(part, c->joint[i].tau_max))
            return i;
    return APP_NO_JOINT;
}

uint32_t CORE(stop_choose)(const control_t *c, scratch_t *k, const loop_t *s, uint32_t best) {
    uint32_t stop = best;
    if (stop <= APP_STOP_LOWER && c->feedback == FEEDBACK_OFF)
        stop = APP_STOP_DAMP;
    if (stop == APP_STOP_HOLD && CORE(stop_weak)(c, k, s->q_hat, c->hold) != APP_NO_JOINT)
        stop = APP_STOP_LOWER;
    if (stop == APP_STOP_LOWER && CORE(stop_weak)(c, k, s->q_hat, real_known(1)) != APP_NO_JOINT)
        stop = APP_STOP_DAMP;
    if (stop == APP_STOP_DAMP && !c->damping)
        stop = APP_STOP_RELEASE;
    return stop;
}

/* Small torques are left alone: near its balance a joint would go to and fro. All of it in every
 * tick: the background may be filling the same memory with a motion that it will not start. */
void CORE(stop_lower)(const control_t *c, scratch_t *k, const loop_t *s, motion_state_t *m) {
    m->kind = MOTION_JOG;
    m->count = 0;
    m->last = UINT32_MAX;
    gravity(c, k, s->q_hat);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        const real small = sixteenth(sixteenth(j->tau_max));
        m->as.jog.target[i] = k->tau[i] > small             ? real_neg(j->sink)
                              : real_neg(k->tau[i]) > small ? j->sink
                                                            : real_known(0);
    }
}

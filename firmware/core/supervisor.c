/*
 * The supervisor: what cannot go on, and how the arm is brought to rest then. Guards compare in
 * every tick what came in and what the control step has made of it, before anything is put out;
 * what they need was prepared outside the tick (firmware/core/setup.c).
 *
 * Direction. Of a joint whose motor or encoder is the wrong way round the feedback makes worse what
 * it works against. Looks at a joint are 6 ms apart. A look is suspicious where the feedback has
 * grown, or cannot, and yet the joint moves and gained speed against it, both by itself and against
 * the reference, and is well off the reference's speed. Then the model is asked: the torque that
 * the motion since the last look takes, by inverse dynamics with everything that the other joints
 * do to this one. Of a joint that turns the right way that is the commanded torque, by f where the
 * arm is f times as heavy as its model, whatever drives it and whatever the controller knows. Less
 * than a quarter of the command, or the other sign, is wrong: links without rotors throw each other
 * about, and a controller without a model lets the arm sink, and neither goes that far. Torques no
 * larger than what counts of the encoder make of the acceleration, or than what friction may be
 * other than the model's, say nothing.
 *
 * That alone is late where a joint carries weight. With weight G and feedback F the command is
 * G + F; with a mirrored encoder the motion seems to take G - F, a quarter of it not before F is
 * 0.6 G. So what the model leaves unexplained counts too: no f from 1 / 1.6 to 1.6 does, which is
 * from F = 3/13 G on, and a load that changes torques by more is one that the user knows of. Two
 * things are compared with the arm as it should be: a motor at the opposite voltage, and a joint
 * that turns the other way than its encoder, whose back-EMF was compensated the wrong way. Let D be
 * how far apart two predictions are and e the error of the model and what it was given. The look is
 * wrong where the defect leaves at most half of what the right arm does: a right joint is then
 * accused where e reaches 2/3 D only, and a wrong one is found while e is below 1/3 D. It takes a
 * motor: the inertia of its rotor, which no mistake about masses changes, keeps D larger than what
 * the other links do to the joint. Where links throw each other about as they like, e is as large.
 *
 * The mirrored joint needs inverse dynamics of its own, and gets it in the next tick, so that no
 * tick has more than one beside the controller's. Three more wrong looks than right
 * ones are a fault, 18 to 25 ms after the speed is off where no noise spoils a look; an impact
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
/* Ticks from the look at one half of the joints to that at the other: what the first leaves in
 * doubt has the tick between them. */
enum { HALVES_APART = 2 };
/* The kernels are called from few and small frames: these, which call nothing, have their own. */
#define LEAF static __attribute__((noinline))
enum { SEEN_RIGHT, SEEN_WRONG, SEEN_DOUBTFUL };

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
    g->supply_mV = in->supply_mV;
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

/* A position as the kernels take it, where fixed point was proved. */
INLINE real placed(const control_t *c, uint32_t i, real at) {
    const DYN_T(sure) *sure = &c->arm->joint[i].sure;
    const real q = gain_turn(c->joint[i].angle, at);
    const bool slides = c->arm->joint[i].prismatic;
    return slides && q < sure->low ? sure->low : slides && q > sure->high ? sure->high : q;
}

/* Feedback, 16ths: what PD adds to the model. Computed torque has it inside the model, as an
 * acceleration, whose sign and growth are the same. */
INLINE real feedback(const control_t *c, const loop_t *s, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    if (c->feedback != FEEDBACK_COMPUTED_TORQUE)
        return real_sub(sixteenth(s->tau[i]), sixteenth(s->tau_model[i]));
    uint32_t beyond;
    return sixteenth(wide_fit(wide_add(gain_wide(j->kp, wide_sub(s->q_ref[i], s->q_hat[i])),
                                       gain_wide(j->kd, wide_sub(s->qd_ref[i], s->qd_hat[i]))),
                              &beyond));
}

/* One look at a joint; true where it is suspicious. */
INLINE bool look(const control_t *c, guard_t *g, const loop_t *s, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    const real qd = sixteenth(s->qd_hat[i]), off = real_sub(qd, sixteenth(s->qd_ref[i]));
    const real push = feedback(c, s, i), before = g->look[i].push;
    const real gained = g->look[i].gained, gained_off = real_sub(off, g->look[i].off);
    const bool most = s->clipped >> i & 1;
    g->look[i].off = off;
    g->look[i].push = push;
    return opposite(off, push) && real_size(off) > j->wrong && opposite(gained_off, push) &&
           opposite(qd, push) && real_size(qd) > real_half(j->wrong) && opposite(gained, push) &&
           !opposite(push, before) && (most || real_size(push) > real_size(before));
}

/* Positions, speeds, in k->M, and accelerations since the last look, with joint `mirrored` moving
 * the other way; never beyond what fixed point was proved for. */
LEAF void motion_since(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                       uint32_t mirrored) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const DYN_T(sure) *sure = &c->arm->joint[i].sure;
        const real rate = real_mul(c->per_look, gain_mul(c->joint[i].qdd_qd, g->look[i].gained));
        const real part = real_clamp(rate, sixteenth(sure->qdd));
        k->q[i] = placed(c, i, s->q_hat[i]);
        k->M[i] = real_clamp(s->qd_hat[i], sure->qd);
        k->qdd[i] = real_twice(real_twice(real_twice(real_twice(part))));
    }
    if (mirrored != APP_NO_JOINT) {
        k->M[mirrored] = real_neg(k->M[mirrored]);
        k->qdd[mirrored] = real_neg(k->qdd[mirrored]);
    }
}

/* The torque that this motion takes, in k->tau. */
static void needed(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                   uint32_t mirrored) {
    motion_since(c, k, g, s, mirrored);
    DYN(fast_inverse)(c->arm, &k->fast, k->q, k->M, k->qdd, k->tau);
    DYN(rotor_inverse)(c->arm, k->qdd, k->tau);
    DYN(friction)(c->arm, k->M, k->tau);
}

/* Half of what two torques differ by: always a number of the format. */
INLINE real half_apart(real a, real b) {
    return real_size(real_sub(real_half(a), real_half(b)));
}

/* What the motor gives where the joint turns the other way than its encoder says; that at the
 * opposite voltage is the opposite. dyn/drive.c (12). */
INLINE real given_mirrored(const control_t *c, const loop_t *s, uint32_t i) {
    const drive *d = &c->arm->joint[i].drive;
    uint32_t beyond;
    return wide_fit(
        wide_add(gain_wide(d->tau_volt, s->volt[i]), gain_wide(d->tau_qd, real_neg(s->qd_hat[i]))),
        &beyond);
}

/* Less than a quarter of the command, or the other way. */
INLINE bool denied(const control_joint_t *j, real takes, real commanded) {
    return real_size(commanded) > j->firm &&
           (opposite(takes, commanded) ||
            real_size(takes) < real_half(real_half(real_size(commanded))));
}

/* All but noise and friction; or at most 3/8 of the larger one is missing, so that one is no more
 * than 1.6 times the other. */
INLINE bool explained(const control_joint_t *j, real takes, real commanded) {
    const real a = real_size(takes), b = real_size(commanded),
               missing = half_apart(commanded, takes);
    const real eighth = real_half(real_half(real_half(a > b ? a : b)));
    return missing <= real_half(j->firm) || missing <= real_add(eighth, real_half(eighth));
}

/* The motor gets less than was asked for: its own limit, or the measured supply. */
INLINE bool at_voltage(const control_t *c, const guard_t *g, const loop_t *s, uint32_t i) {
    const real asked = real_size(s->volt[i]);
    return asked >= c->arm->joint[i].drive.volt_max ||
           (g->supply_mV > 0 &&
            gain_mul(c->joint[i].duty, asked) > gain_count(c->supply_per_mV, g->supply_mV));
}

/* A suspicious joint, after needed(). Without the voltage that it needs nobody knows what its motor
 * gave. */
INLINE uint32_t seen_as(const control_t *c, const scratch_t *k, const guard_t *g, const loop_t *s,
                        uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    const real takes = k->tau[i], commanded = s->tau[i];
    if (denied(j, takes, commanded))
        return SEEN_WRONG;
    if (!j->motor || explained(j, takes, commanded) || at_voltage(c, g, s, i))
        return SEEN_RIGHT;
    const real apart = half_apart(real_neg(given_mirrored(c, s, i)), takes);
    return apart <= real_half(half_apart(commanded, takes)) ? SEEN_WRONG : SEEN_DOUBTFUL;
}

/* A look counts; true where it was one too many. */
INLINE bool count_look(guard_t *g, uint32_t i, bool wrong) {
    g->wrong[i] = (uint8_t)(wrong ? g->wrong[i] + 1 : g->wrong[i] - (g->wrong[i] > 0));
    if (g->wrong[i] < LOOKS)
        return false;
    g->wrong[i] = 0;
    return true;
}

/* Speeds gained since the last looks, of all joints at once. */
INLINE void note_speeds(const control_t *c, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const real qd = sixteenth(s->qd_hat[i]);
        g->look[i].gained = real_sub(qd, g->look[i].qd);
        g->look[i].qd = qd;
    }
}

/* Half of the joints in one tick and half in another, so that no tick is much longer than others;
 * all at once where a period of looks has too few of them. */
typedef struct {
    uint32_t first, end;
} range_t;

INLINE range_t looked_at(const control_t *c, const guard_t *g) {
    const uint32_t n = c->arm->n, half = c->segment > HALVES_APART ? (n + 1) / 2 : n;
    return g->phase == 0              ? (range_t){0, half}
           : g->phase == HALVES_APART ? (range_t){half, n}
                                      : (range_t){n, n};
}

/* Bit i: joint i is suspicious. */
LEAF uint32_t looks(const control_t *c, guard_t *g, const loop_t *s, range_t at) {
    uint32_t suspects = 0;
    for (uint32_t i = at.first; i < at.end; i++)
        suspects |= (uint32_t)(look(c, g, s, i)) << i;
    return suspects;
}

/* What the looks have seen, after needed(): the joint that turns the wrong way. One doubt is
 * followed; of more than one not that of the last time, and the others count neither way. */
LEAF uint32_t conclude(const control_t *c, const scratch_t *k, guard_t *g, const loop_t *s,
                       range_t at, uint32_t suspects) {
    uint32_t wrong = APP_NO_JOINT, doubted = APP_NO_JOINT;
    for (uint32_t i = at.first; i < at.end; i++) {
        const uint32_t as = suspects >> i & 1 ? seen_as(c, k, g, s, i) : SEEN_RIGHT;
        if (as == SEEN_DOUBTFUL)
            doubted = doubted == APP_NO_JOINT || doubted == g->doubted ? i : doubted;
        else if (count_look(g, i, as == SEEN_WRONG))
            wrong = i;
    }
    if (doubted != APP_NO_JOINT) {
        g->doubted = (uint8_t)doubted;
        g->missing = half_apart(s->tau[doubted], k->tau[doubted]);
    }
    return wrong;
}

/* The same of a doubt, a tick after its look: a mirrored encoder explains it, or nothing does. */
LEAF uint32_t follow(const control_t *c, const scratch_t *k, guard_t *g, const loop_t *s) {
    const uint32_t i = g->doubted;
    const real apart = half_apart(given_mirrored(c, s, i), k->tau[i]), most = real_half(g->missing);
    g->missing = real_known(0);
    return count_look(g, i, apart <= most) ? i : APP_NO_JOINT;
}

/* The joint that turns the wrong way. Where looks come in every tick a doubt stands in for one. */
static uint32_t guard_directions(const control_t *c, scratch_t *k, guard_t *g, const loop_t *s) {
    const bool doubt = g->missing != 0;
    if (c->segment == 0)
        return APP_NO_JOINT;
    g->phase = (uint16_t)(g->phase + 1u < c->segment ? g->phase + 1u : 0);
    if (g->phase == 0)
        note_speeds(c, g, s);
    const range_t at = looked_at(c, g);
    if (at.first >= at.end && !doubt)
        return APP_NO_JOINT;
    const uint32_t suspects = looks(c, g, s, at);
    if (doubt || suspects != 0)
        needed(c, k, g, s, doubt ? g->doubted : APP_NO_JOINT);
    return doubt ? follow(c, k, g, s) : conclude(c, k, g, s, at, suspects);
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

static finding_t guard_joints(const control_t *c, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const finding_t here = guard_joint(&c->joint[i], g, s, i);
        if (here.fault != APP_FAULT_NONE)
            return here;
    }
    return nothing;
}

/* The voltage that joint i asks for, and what there is: the measured supply where that is less than
 * the motor's own limit. Duty cycle and supply are parts of the nominal one; both are scaled until
 * fixed point has the reciprocal. */
LEAF finding_t short_of_voltage(const control_t *c, const guard_t *g, const loop_t *s, uint32_t i) {
    const drive *d = &c->arm->joint[i].drive;
    uint32_t beyond;
    const wider asked =
        wide_add(gain_wide(d->volt_tau, s->tau[i]), gain_wide(d->volt_qd, s->qd_hat[i]));
    finding_t out = {APP_FAULT_VOLTAGE, i, wide_fit(asked, &beyond), d->volt_max};
    real part = gain_mul(c->joint[i].duty, real_size(s->volt[i]));
    real supply = gain_count(c->supply_per_mV, g->supply_mV);
    if (g->supply_mV <= 0 || part <= supply)
        return out;
    for (; part < real_half(real_known(1)); part = real_twice(part))
        supply = real_twice(supply);
    out.limit = real_mul(real_size(s->volt[i]), real_mul(supply, real_recip(part)));
    return out;
}

static finding_t guard_efforts(const control_t *c, guard_t *g, const loop_t *s) {
    finding_t out = nothing;
    if (s->limited == 0) {
        if (g->strained)
            memset(g->at_limit, 0, sizeof g->at_limit);
        g->strained = 0;
        return out;
    }
    g->strained = 1;
    g->limited++;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const bool torque = s->clipped >> i & 1, other = (s->clipped ^ g->clipped) >> i & 1;
        g->at_limit[i] = counted(s->limited >> i & 1, other ? 0 : g->at_limit[i]);
        if (g->at_limit[i] > c->patience)
            out = torque ? (finding_t){APP_FAULT_TORQUE, i, s->tau[i], c->joint[i].tau_max}
                         : short_of_voltage(c, g, s, i);
    }
    g->clipped = s->clipped;
    return out;
}

finding_t CORE(guard_loop)(const control_t *c, scratch_t *k, guard_t *g, const loop_t *s) {
    finding_t out = guard_joints(c, g, s);
    if (out.fault != APP_FAULT_NONE)
        return out;
    const uint32_t wrong = guard_directions(c, k, g, s);
    out = guard_efforts(c, g, s);
    if (wrong != APP_NO_JOINT)
        out = (finding_t){APP_FAULT_DIRECTION, wrong, s->qd_hat[wrong], s->qd_ref[wrong]};
    return out;
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
    for (uint32_t i = 0; i < c->arm->n; i++)
        k->q[i] = placed(c, i, at[i]);
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

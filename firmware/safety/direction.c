/*
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
 */
#include "firmware/safety/guard.h"

#include "firmware/params/parameters.h"
#include "firmware/safety/within.h"

enum { LOOKS = 3 };
/* Ticks from the look at one half of the joints to that at the other: what the first leaves in
 * doubt has the tick between them. */
enum { HALVES_APART = 2 };
/* The kernels are called from few and small frames: these, which call nothing, have their own. */
#define LEAF static __attribute__((noinline))
enum { JUDGED_RIGHT, JUDGED_WRONG, SEEN_DOUBTFUL };

INLINE bool opposite(real a, real b) {
    return (a > 0 && b < 0) || (a < 0 && b > 0);
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
INLINE bool suspect(const control_t *c, guard_t *g, const loop_t *s, uint32_t i) {
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

/* Positions, speeds, in k->qd, and accelerations since the last look, with joint `mirrored` moving
 * the other way; never beyond what fixed point was proved for. */
LEAF void motion_since(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                       uint32_t mirrored) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const DYN_T(proved) *proved = &c->arm->joint[i].proved;
        const real rate = real_mul(c->per_look, gain_mul(c->joint[i].qdd_qd, g->look[i].gained));
        const real part = real_clamp(rate, sixteenth(proved->qdd));
        k->q[i] = placed(c, i, s->q_hat[i]);
        k->qd[i] = real_clamp(s->qd_hat[i], proved->qd);
        k->qdd[i] = real_twice(real_twice(real_twice(real_twice(part))));
    }
    if (mirrored != APP_NO_JOINT) {
        k->qd[mirrored] = real_neg(k->qd[mirrored]);
        k->qdd[mirrored] = real_neg(k->qdd[mirrored]);
    }
}

/* The torque that this motion takes, in k->tau. */
static void needed(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                   uint32_t mirrored) {
    motion_since(c, k, g, s, mirrored);
    DYN(fast_inverse)(c->arm, &k->fast, k->q, k->qd, k->qdd, k->tau);
    DYN(rotor_inverse)(c->arm, k->qdd, k->tau);
    DYN(friction)(c->arm, k->qd, k->tau);
}

/* Half of what two torques differ by: always a number of the format. */
INLINE real half_apart(real a, real b) {
    return real_size(real_sub(real_half(a), real_half(b)));
}

/* What the motor gives where the joint turns the other way than its encoder says; that at the
 * opposite voltage is the opposite. dyn/kernel/drive.c (12). */
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
INLINE uint32_t judge(const control_t *c, const scratch_t *k, const guard_t *g, const loop_t *s,
                      uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    const real takes = k->tau[i], commanded = s->tau[i];
    if (denied(j, takes, commanded))
        return JUDGED_WRONG;
    if (!j->motor || explained(j, takes, commanded) || at_voltage(c, g, s, i))
        return JUDGED_RIGHT;
    const real apart = half_apart(real_neg(given_mirrored(c, s, i)), takes);
    return apart <= real_half(half_apart(commanded, takes)) ? JUDGED_WRONG : SEEN_DOUBTFUL;
}

/* A look counts; true where it was one too many. */
INLINE bool count_wrong(guard_t *g, uint32_t i, bool wrong) {
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

INLINE range_t joints_due(const control_t *c, const guard_t *g) {
    const uint32_t n = c->arm->n, half = c->segment > HALVES_APART ? (n + 1) / 2 : n;
    return g->phase == 0              ? (range_t){0, half}
           : g->phase == HALVES_APART ? (range_t){half, n}
                                      : (range_t){n, n};
}

/* Bit i: joint i is suspicious. */
LEAF uint32_t suspects_of(const control_t *c, guard_t *g, const loop_t *s, range_t at) {
    uint32_t suspects = 0;
    for (uint32_t i = at.first; i < at.end; i++)
        suspects |= (uint32_t)(suspect(c, g, s, i)) << i;
    return suspects;
}

/* What the looks have seen, after needed(): the joint that turns the wrong way. One doubt is
 * followed; of more than one not that of the last time, and the others count neither way. */
LEAF uint32_t conclude(const control_t *c, const scratch_t *k, guard_t *g, const loop_t *s,
                       range_t at, uint32_t suspects) {
    uint32_t wrong = APP_NO_JOINT, doubted = APP_NO_JOINT;
    for (uint32_t i = at.first; i < at.end; i++) {
        const uint32_t as = suspects >> i & 1 ? judge(c, k, g, s, i) : JUDGED_RIGHT;
        if (as == SEEN_DOUBTFUL)
            doubted = doubted == APP_NO_JOINT || doubted == g->doubted ? i : doubted;
        else if (count_wrong(g, i, as == JUDGED_WRONG))
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
    return count_wrong(g, i, apart <= most) ? i : APP_NO_JOINT;
}

/* The joint that turns the wrong way. Where looks come in every tick a doubt stands in for one. */
uint32_t direction_guard(const control_t *c, scratch_t *k, guard_t *g, const loop_t *s) {
    const bool doubt = g->missing != 0;
    if (c->segment == 0)
        return APP_NO_JOINT;
    g->phase = (uint16_t)(g->phase + 1u < c->segment ? g->phase + 1u : 0);
    if (g->phase == 0)
        note_speeds(c, g, s);
    const range_t at = joints_due(c, g);
    if (at.first >= at.end && !doubt)
        return APP_NO_JOINT;
    const uint32_t suspects = suspects_of(c, g, s, at);
    if (doubt || suspects != 0)
        needed(c, k, g, s, doubt ? g->doubted : APP_NO_JOINT);
    return doubt ? follow(c, k, g, s) : conclude(c, k, g, s, at, suspects);
}

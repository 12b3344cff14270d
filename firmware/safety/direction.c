/*
 * Direction guard. If the motor or the encoder of a joint is reversed, the feedback increases the
 * error that it should reduce. Each joint is checked every 6 ms. A check is suspicious if all of
 * this holds: the feedback has grown or is at its limit; the joint moves against the feedback; it
 * has gained speed against it, both absolutely and relative to the reference; and its speed differs
 * clearly from the reference. Then inverse dynamics gives the torque that the motion since the last
 * check takes, including the effects of the other joints. If the joint is correct, this is the
 * commanded torque, divided by f if the arm is f times as heavy as its model, however much of the
 * model the controller uses. The check is wrong if the torque is less than a quarter of the command
 * or has the opposite sign. Light links that accelerate each other, or an arm that sinks because
 * its controller uses no model, do not go that far. No conclusion is drawn from a command below a
 * threshold: the torque that one encoder count of motion seems to take, plus the possible error of
 * the friction model.
 *
 * That test alone is late if a joint carries weight. With weight G and feedback F the command is
 * G + F; with a mirrored encoder the motion seems to take G - F, which falls below a quarter of the
 * command only when F reaches 0.6 G. So a torque is examined further if no f between 0.625 and 1.6
 * explains it, which is so from F = 3/13 G on. The user knows of a load that changes the torques by
 * more. Two defects are compared with the correct joint: a motor at the opposite voltage, and a
 * joint that turns opposite to its encoder, so that its back-EMF was compensated with the wrong
 * sign. Let D be the distance between the torques that the defect and the correct joint predict,
 * and e the error of the model and its inputs. The check is wrong if the torque is at most half as
 * far from the prediction of the defect as from that of the correct joint. So a correct joint is
 * accused only if e reaches 2/3 D, and a wrong one is found while e is below 1/3 D. This needs a
 * motor: the inertia of its rotor, which no error of the masses changes, keeps D larger than the
 * effect of the other links on the joint. Without rotors e can be as large as D.
 *
 * The comparison with a mirrored encoder needs an inverse dynamics of its own. It runs in the next
 * tick, so that no tick has more than one beside the controller's. The fault is raised when a joint
 * has three more wrong checks than right ones, 18 to 25 ms after its speed begins to deviate if
 * noise spoils no check. An impact does not raise it, because it changes the speed only once.
 */
#include "firmware/safety/guard.h"

#include "firmware/params/parameters.h"
#include "firmware/safety/within.h"

enum { LOOKS = 3 };
/* Ticks between the checks of the two halves of the joints. The tick between them is free for the
 * joint in doubt. */
enum { HALVES_APART = 2 };
/* Not inlined: these functions call nothing, and their frames must not be on the stack when the
 * kernels run. */
#define LEAF static __attribute__((noinline))
enum { JUDGED_RIGHT, JUDGED_WRONG, JUDGED_DOUBTFUL };

INLINE bool opposite(real a, real b) {
    return (a > 0 && b < 0) || (a < 0 && b > 0);
}

/* Checks a joint once; returns true if the check is suspicious. */
INLINE bool suspect(const control_t *c, guard_t *g, const loop_t *s, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    const real qd = sixteenth(s->qd_hat[i]), off = real_sub(qd, sixteenth(s->qd_ref[i]));
    const real push = feedback(c, s, i), before = g->step[i].push;
    const real gained = g->step[i].gained, gained_off = real_sub(off, g->step[i].off);
    const bool most = s->clipped >> i & 1;
    g->step[i].off = off;
    g->step[i].push = push;
    return opposite(off, push) && real_size(off) > j->wrong && opposite(gained_off, push) &&
           opposite(qd, push) && real_size(qd) > real_half(j->wrong) && opposite(gained, push) &&
           !opposite(push, before) && (most || real_size(push) > real_size(before));
}

/* Writes the present positions and speeds and the mean accelerations since the last check to k->q,
 * k->qd and k->qdd, with joint `mirrored` moving in the opposite direction. Clamps them to the
 * limits for which fixed point was proved. */
LEAF void motion_since(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                       uint32_t mirrored) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const DYN_T(proved) *proved = &c->arm->joint[i].proved;
        const real rate = real_mul(c->per_segment, gain_mul(c->joint[i].qdd_qd, g->step[i].gained));
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

/* Writes the torque that this motion takes to k->tau. */
static void needed(const control_t *c, scratch_t *k, const guard_t *g, const loop_t *s,
                   uint32_t mirrored) {
    motion_since(c, k, g, s, mirrored);
    DYN(fast_inverse)(c->arm, &k->fast, k->q, k->qd, k->qdd, k->tau);
    DYN(rotor_inverse)(c->arm, k->qdd, k->tau);
    DYN(friction)(c->arm, k->qd, k->tau);
}

/* Returns half of the distance between two torques; the whole distance could overflow. */
INLINE real half_apart(real a, real b) {
    return real_size(real_sub(real_half(a), real_half(b)));
}

/* Returns the torque of the motor if the joint turns opposite to its encoder. At the opposite
 * voltage the motor gives the negative of this torque. See (12) in dyn/kernel/drive.c. */
INLINE real given_mirrored(const control_t *c, const loop_t *s, uint32_t i) {
    const drive *d = &c->arm->joint[i].drive;
    uint32_t beyond;
    return wide_fit(
        wide_add(gain_wide(d->tau_volt, s->volt[i]), gain_wide(d->tau_qd, real_neg(s->qd_hat[i]))),
        &beyond);
}

/* Returns whether the motion takes less than a quarter of the commanded torque or a torque of the
 * opposite sign. Returns false if the command is too small for a conclusion. */
INLINE bool denied(const control_joint_t *j, real takes, real commanded) {
    return real_size(commanded) > j->firm &&
           (opposite(takes, commanded) ||
            real_size(takes) < real_half(real_half(real_size(commanded))));
}

/* Returns whether the difference of the torques is no more than noise and friction, or no more than
 * 3/8 of the larger torque; then one is at most 1.6 times the other. */
INLINE bool explained(const control_joint_t *j, real takes, real commanded) {
    const real a = real_size(takes), b = real_size(commanded),
               missing = half_apart(commanded, takes);
    const real eighth = real_half(real_half(real_half(a > b ? a : b)));
    return missing <= real_half(j->firm) || missing <= real_add(eighth, real_half(eighth));
}

/* Returns whether the motor may get less voltage than commanded, because of its own limit or the
 * measured supply. */
INLINE bool at_voltage(const control_t *c, const guard_t *g, const loop_t *s, uint32_t i) {
    const real asked = real_size(s->volt[i]);
    return asked >= c->arm->joint[i].drive.volt_max ||
           (g->supply_mV > 0 &&
            gain_mul(c->joint[i].duty, asked) > gain_count(c->supply_per_mV, g->supply_mV));
}

/* Judges a suspicious joint, after needed(). At a voltage limit the torque of the motor is unknown;
 * then only denied() can find the joint wrong. */
INLINE uint32_t judge(const control_t *c, const scratch_t *k, const guard_t *g, const loop_t *s,
                      uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    const real takes = k->tau[i], commanded = s->tau[i];
    if (denied(j, takes, commanded))
        return JUDGED_WRONG;
    if (!j->motor || explained(j, takes, commanded) || at_voltage(c, g, s, i))
        return JUDGED_RIGHT;
    const real apart = half_apart(real_neg(given_mirrored(c, s, i)), takes);
    return apart <= real_half(half_apart(commanded, takes)) ? JUDGED_WRONG : JUDGED_DOUBTFUL;
}

/* Counts a check of joint i; returns true if the limit is reached. */
INLINE bool count_wrong(guard_t *g, uint32_t i, bool wrong) {
    g->wrong[i] = (uint8_t)(wrong ? g->wrong[i] + 1 : g->wrong[i] - (g->wrong[i] > 0));
    if (g->wrong[i] < LOOKS)
        return false;
    g->wrong[i] = 0;
    return true;
}

/* Stores the speeds gained since the last checks, of all joints at once. */
INLINE void note_speeds(const control_t *c, guard_t *g, const loop_t *s) {
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const real qd = sixteenth(s->qd_hat[i]);
        g->step[i].gained = real_sub(qd, g->step[i].qd);
        g->step[i].qd = qd;
    }
}

/* The joints to check in a tick. Half of the joints are checked in one tick and half in another, so
 * that no tick is much longer than others; all are checked at once if the period of the checks has
 * too few ticks. */
typedef struct {
    uint32_t first, end;
} range_t;

INLINE range_t joints_due(const control_t *c, const guard_t *g) {
    const uint32_t n = c->arm->n, half = c->segment > HALVES_APART ? (n + 1) / 2 : n;
    return g->phase == 0              ? (range_t){0, half}
           : g->phase == HALVES_APART ? (range_t){half, n}
                                      : (range_t){n, n};
}

/* Returns a mask: bit i is set if joint i is suspicious. */
LEAF uint32_t suspects_of(const control_t *c, guard_t *g, const loop_t *s, range_t at) {
    uint32_t suspects = 0;
    for (uint32_t i = at.first; i < at.end; i++)
        suspects |= (uint32_t)(suspect(c, g, s, i)) << i;
    return suspects;
}

/* Concludes from the checks, after needed(); returns the joint that turns the wrong way, or
 * APP_NO_JOINT. One joint in doubt is followed up: if several are in doubt, another one than the
 * last time. The others in doubt count neither as right nor as wrong. */
LEAF uint32_t conclude(const control_t *c, const scratch_t *k, guard_t *g, const loop_t *s,
                       range_t at, uint32_t suspects) {
    uint32_t wrong = APP_NO_JOINT, doubted = APP_NO_JOINT;
    for (uint32_t i = at.first; i < at.end; i++) {
        const uint32_t as = suspects >> i & 1 ? judge(c, k, g, s, i) : JUDGED_RIGHT;
        if (as == JUDGED_DOUBTFUL)
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

/* Follows up a doubt one tick later, after needed() with the mirrored joint: decides whether a
 * mirrored encoder explains the motion. */
LEAF uint32_t follow(const control_t *c, const scratch_t *k, guard_t *g, const loop_t *s) {
    const uint32_t i = g->doubted;
    const real apart = half_apart(given_mirrored(c, s, i), k->tau[i]), most = real_half(g->missing);
    g->missing = real_known(0);
    return count_wrong(g, i, apart <= most) ? i : APP_NO_JOINT;
}

/* Returns the joint that turns the wrong way, or APP_NO_JOINT. If checks are due in every tick,
 * following up a doubt replaces one check. */
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

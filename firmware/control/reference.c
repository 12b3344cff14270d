/*
 * Computes the references: the positions, speeds and accelerations that the arm should have in the
 * middle of this tick, and the positions and speeds at its beginning. firmware/app/request.c
 * prepares the constants of a motion before the motion starts.
 *
 * Point to point: all joints follow q0 + d s(u), where d is the displacement of a joint (`way`) and
 * u is the fraction of the duration that has passed.
 *    quintic    s = 10 u^3 - 15 u^4 + 6 u^5
 *    cycloid    s = u - sin(2 pi u) / (2 pi), paper 002
 *    trapezoid  the speed rises during the first `ramp` (a fraction of the duration), then is
 *               constant, and falls during the last `ramp`
 *
 * Control points: the joints follow a uniform cubic B-spline. Its acceleration is continuous, its
 * position stays between the points, and differences of the points bound its speed and
 * acceleration.
 *
 * Jog: each joint changes its speed to the target speed as fast as its limits allow, but no joint
 * gets faster while another one gets slower: between two jogs the tool is not faster than in the
 * faster one of them. Braking is a jog to speed zero.
 */
#include "firmware/control/reference.h"

#include "firmware/control/number.h"

typedef struct {
    real s, sd, sdd; /* s and its first and second derivative with respect to u */
} course;

/* Every intermediate result is below 8, where the q31 format ends. */
INLINE course quintic(real u) {
    const real u2 = real_mul(u, u), u3 = real_mul(u2, u);
    const real curve = real_mul(u, real_sub(real_known(1), u));
    const real slope = real_sub(real_known(1), real_twice(u));
    const real u4 = real_twice(real_twice(u));
    real g =
        real_add(real_sub(real_known(5), real_mul(real_known(7), u)), real_mul(real_known(6), u2));
    g = real_sub(real_sub(g, u4), u4); /* 5 - 15 u + 6 u^2 */
    course c;
    c.s = real_add(real_mul(real_known(5), u3), real_mul(g, u3));
    /* 30 u^2 (1 - u)^2 and 60 u (1 - u) (1 - 2u) */
    c.sd = real_mul(real_known(6), real_mul(real_known(5), real_mul(curve, curve)));
    c.sdd = real_mul(real_known(6), real_twice(real_mul(real_known(5), real_mul(curve, slope))));
    return c;
}

INLINE course cycloid(real u, const motion_state_t *m) {
    real cosine, sine;
    real_sincos(part_turn(u), real_known(0), &cosine, &sine);
    course c;
    c.s = real_sub(u, real_mul(m->shape[0], turn_real(sine)));
    c.sd = real_sub(real_known(1), turn_real(cosine));
    c.sdd = real_mul(m->shape[1], turn_real(sine));
    return c;
}

INLINE course trapezoid(real u, const motion_state_t *m) {
    const real ramp = m->shape[0], slope = m->shape[1], bend = m->shape[2];
    const real rest = real_sub(real_known(1), u);
    const real near = u < rest ? u : rest; /* fraction of the duration to the nearer end */
    course c = {real_known(0), slope, real_known(0)};
    if (near < ramp) {
        c.sd = real_mul(bend, near);
        c.s = real_mul(c.sd, real_half(near));
        c.sdd = u < rest ? bend : real_neg(bend);
    } else {
        c.s = real_mul(slope, real_sub(near, real_half(ramp)));
    }
    if (!(u < rest))
        c.s = real_sub(real_known(1), c.s);
    return c;
}

INLINE void rest_at(loop_t *s, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        s->qd_mid[i] = real_known(0);
        s->qdd_ref[i] = real_known(0);
    }
}

INLINE void profile_step(motion_state_t *m, loop_t *s, uint32_t n) {
    m->count += m->count == 0 ? 1 : 2;
    if (m->count >= m->last) {
        for (uint32_t i = 0; i < n; i++)
            s->q_mid[i] = real_add(m->as.profile.start[i], m->as.profile.way[i]);
        rest_at(s, n);
        m->kind = MOTION_HOLD;
        return;
    }
    const real u = gain_count(m->part, m->count);
    const course c = m->kind == MOTION_QUINTIC   ? quintic(u)
                     : m->kind == MOTION_CYCLOID ? cycloid(u, m)
                                                 : trapezoid(u, m);
    for (uint32_t i = 0; i < n; i++) {
        s->q_mid[i] = real_add(m->as.profile.start[i], real_mul(m->as.profile.way[i], c.s));
        s->qd_mid[i] = real_mul(m->as.profile.rate[i], c.sd);
        s->qdd_ref[i] = real_mul(m->as.profile.turn[i], c.sdd);
    }
}

/* Weights of the first, third and fourth point, each taken as a difference from the second point.
 * The differences are small, so they keep their digits. */
typedef struct {
    real q[3], qd[3], qdd[3]; /* qd in units of 1 / 2h, qdd in units of 1 / h^2 */
} weights;

INLINE weights spline(real u, real sixth) {
    const real rest = real_sub(real_known(1), u), u2 = real_mul(u, u), r2 = real_mul(rest, rest);
    const real u3 = real_mul(u2, u), one = real_known(1);
    weights w;
    w.q[0] = real_mul(sixth, real_mul(r2, rest));
    /* (1 + 3u + 3u^2 - 3u^3) / 6 */
    w.q[1] = real_mul(sixth, real_add(one, real_mul(real_known(3), real_sub(real_add(u, u2), u3))));
    w.q[2] = real_mul(sixth, u3);
    w.qd[0] = real_neg(r2);
    w.qd[1] = real_add(real_add(one, real_twice(u)), real_mul(real_known(-3), u2));
    w.qd[2] = u2;
    w.qdd[0] = rest;
    w.qdd[1] = real_sub(one, real_mul(real_known(3), u));
    w.qdd[2] = u;
    return w;
}

INLINE real weigh(const real w[3], const real d[3]) {
    return acc_round(acc_mac(acc_mac(acc_mul(w[0], d[0]), w[1], d[1]), w[2], d[2]));
}

INLINE void spline_at(motion_state_t *m, loop_t *s, uint32_t n) {
    const weights w = spline(gain_count(m->part, m->count), m->shape[0]);
    const uint32_t at = m->as.points.tail;
#define POINT(k) m->as.points.point[(at + (k)) % APP_POINTS][i]
    for (uint32_t i = 0; i < n; i++) {
        const real middle = POINT(1);
        const real d[3] = {real_sub(POINT(0), middle), real_sub(POINT(2), middle),
                           real_sub(POINT(3), middle)};
        s->q_mid[i] = real_add(middle, weigh(w.q, d));
        s->qd_mid[i] = gain_mul(m->as.points.rate[i], weigh(w.qd, d));
        s->qdd_ref[i] = gain_mul(m->as.points.turn[i], weigh(w.qdd, d));
    }
#undef POINT
}

/* Returns the change of a joint's speed in this tick. The joint brakes if it would otherwise pass its
 * position limit. One that turns round stops first: then it waits for no other joint, and the
 * difference of the speeds fits. */
INLINE real jog_change(const control_joint_t *j, const loop_t *s, uint32_t i, real target) {
    const real before = s->qd_mid[i];
    if (j->bounded && !(s->unhomed >> i & 1)) {
        const real glide =
            real_mul(gain_mul(j->brake_q, before), gain_mul(j->brake_part, real_size(before)));
        /* Adds the distance of two ticks, because braking begins only after this check. */
        const real soon = real_twice(real_twice(gain_mul(j->half.q_qd, before)));
        const wider end = wide_add((wider)s->q_mid[i], real_add(glide, soon));
        if ((target > 0 && end > j->upper) || (target < 0 && end < j->lower))
            target = real_known(0);
    }
    if ((before > 0 && target < 0) || (before < 0 && target > 0))
        target = real_known(0);
    return real_clamp(real_sub(target, before), j->qd_change);
}

/* Changes the speed of each joint towards its target. If no joint got slower in the tick before, none
 * is faster than its target, and any may get faster. */
INLINE void jog_step(const control_t *c, motion_state_t *m, loop_t *s) {
    bool moves = false, slows = false;
    uint32_t beyond;
    if (m->kind == MOTION_JOG && ++m->count > m->last)
        reference_brake(m);
    const bool brakes = m->kind == MOTION_BRAKE;
    for (uint32_t i = 0; i < c->arm->n; i++) {
        const control_joint_t *j = &c->joint[i];
        const real before = s->qd_mid[i];
        const real asked = brakes ? real_known(0) : m->as.jog.target[i];
        real change = jog_change(j, s, i, asked);
        const bool slower = before > 0 ? change < 0 : before < 0 && change > 0;
        if (m->slows && !slower)
            change = real_known(0);
        slows = slows || slower;
        s->qd_mid[i] = real_add(before, change);
        const wider step = gain_wide(j->half.q_qd, wide_add((wider)before, s->qd_mid[i]));
        s->q_mid[i] = wide_fit(wide_add((wider)s->q_mid[i], step), &beyond);
        s->qdd_ref[i] = gain_mul(j->qdd_qd, change);
        moves = moves || s->qd_mid[i] != 0 || asked != 0;
    }
    m->slows = slows;
    if (!moves)
        m->kind = MOTION_HOLD;
}

/* A segment of the spline needs four points. */
enum { SPLINE_POINTS = 4 };

INLINE bool spline_waits(const motion_state_t *m) {
    return m->count == 0 && !m->as.points.ended &&
           m->as.points.head - m->as.points.tail < APP_POINTS / 2;
}

/* Ends the motion at rest in its last point. The buffer contains that point three times, so that
 * the curve comes to rest there. */
INLINE void spline_end(motion_state_t *m, loop_t *s, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        s->q_mid[i] = m->as.points.point[(m->as.points.head - 1) % APP_POINTS][i];
    rest_at(s, n);
    m->kind = MOTION_HOLD;
}

INLINE void spline_step(const control_t *c, motion_state_t *m, loop_t *s) {
    const uint32_t n = c->arm->n;
    if (spline_waits(m)) {
        rest_at(s, n);
        return;
    }
    m->count += m->count == 0 ? 1 : 2;
    if (m->count > m->last) {
        m->count -= m->last;
        m->as.points.tail++;
    }
    if (m->as.points.head - m->as.points.tail >= SPLINE_POINTS) {
        spline_at(m, s, n);
    } else if (m->as.points.ended) {
        spline_end(m, s, n);
    } else {
        m->underruns++;
        m->starved = m->last / 2;
        reference_brake(m);
        jog_step(c, m, s);
    }
}

void reference_brake(motion_state_t *m) {
    m->kind = MOTION_BRAKE;
}

void reference_rest(const control_t *c, loop_t *s) {
    rest_at(s, c->arm->n);
    for (uint32_t i = 0; i < c->arm->n; i++) {
        s->q_mid[i] = s->q[i];
        s->q_ref[i] = s->q[i];
        s->qd_ref[i] = real_known(0);
    }
}

void reference_step(const control_t *c, motion_state_t *m, loop_t *s) {
    const uint32_t n = c->arm->n, kind = m->kind;
    if (kind == MOTION_HOLD)
        rest_at(s, n);
    else if (kind == MOTION_POINTS)
        spline_step(c, m, s);
    else if (kind == MOTION_JOG || kind == MOTION_HOME || kind == MOTION_BRAKE)
        jog_step(c, m, s);
    else
        profile_step(m, s, n);
    for (uint32_t i = 0; i < n; i++) {
        const step_t *h = &c->joint[i].half;
        const real back =
            real_sub(gain_mul(h->q_qd, s->qd_mid[i]), gain_mul(h->q_qdd, s->qdd_ref[i]));
        s->q_ref[i] = real_sub(s->q_mid[i], back);
        s->qd_ref[i] = real_sub(s->qd_mid[i], gain_mul(h->qd_qdd, s->qdd_ref[i]));
    }
}

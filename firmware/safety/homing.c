/*
 * Homing finds the position of a joint whose encoder counts from the position at power-up. One
 * joint at a time looks for its mechanical stop or its switch, while the loop holds the others. The
 * caller chooses the order of the joints.
 *
 *     seek    moves towards the stop or switch until it is reached
 *     back    moves away until a switch is open again, and a little farther
 *     touch   moves towards it at a quarter of the speed; on contact the position is known
 *     away    moves away until the joint is within its limits
 *
 * A stop is reached when the joint pushes with the largest allowed torque and does not move. That
 * torque is added to the torque of the model, so that gravity and friction do not reduce the push.
 * If the pose of the arm is not known yet, the model is wrong by the torque of gravity at most, and
 * so is the push. Position limits are not checked until the position is known.
 */
#include "firmware/safety/homing.h"

#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

/* Begins a phase after the first one, from rest at the present position. */
static void go(motion_state_t *m, loop_t *s, uint32_t phase) {
    const uint32_t i = m->as.home.joint;
    const real speed = m->as.home.speed;
    m->as.home.phase = phase;
    m->as.home.stalled = m->as.home.gone = 0;
    m->count = 0;
    s->q_mid[i] = s->q_hat[i];
    s->qd_mid[i] = real_known(0);
    m->as.home.target[i] = phase == HOMING_TOUCH ? real_half(real_half(speed)) : real_neg(speed);
}

/* Returns whether the joint pushes and does not move. */
INLINE bool stands(motion_state_t *m, const loop_t *s) {
    const uint32_t i = m->as.home.joint;
    const bool still = real_size(s->qd_hat[i]) < real_half(real_size(m->as.home.target[i]));
    m->as.home.stalled = (s->pressing >> i & 1) && still ? m->as.home.stalled + 1 : 0;
    return m->as.home.stalled >= m->as.home.still;
}

/* Returns whether the switch is closed, debounced, and notes where the joint was when its reading
 * last changed. So the time of the debouncing costs travel, but no accuracy. */
static bool closed_surely(motion_state_t *m, const loop_t *s, uint32_t switches) {
    const uint32_t i = m->as.home.joint;
    const uint8_t raw = switches >> i & 1;
    if (raw != m->as.home.raw) {
        m->as.home.raw = raw;
        m->as.home.same = 0;
        m->as.home.edge = s->q[i];
    }
    m->as.home.same = (uint16_t)(m->as.home.same + (m->as.home.same < m->as.home.sure));
    if (m->as.home.same == m->as.home.sure)
        m->as.home.closed = raw;
    return m->as.home.closed;
}

/* Corrects the measured position by its error at `here`, together with all values derived from
 * it. */
static void learn(motion_state_t *m, loop_t *s, real here) {
    const uint32_t i = m->as.home.joint;
    const real wrong = real_sub(m->as.home.position, here);
    s->zero[i] = real_add(s->zero[i], wrong);
    s->q[i] = real_add(s->q[i], wrong);
    s->q_hat[i] = real_add(s->q_hat[i], wrong);
}

INLINE bool within(const control_t *c, const loop_t *s, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    return !j->bounded || (s->q_mid[i] > j->lower && s->q_mid[i] < j->upper);
}

finding_t homing_step(const control_t *c, motion_state_t *m, loop_t *s, uint32_t switches) {
    const uint32_t i = m->as.home.joint, phase = m->as.home.phase;
    const bool towards = phase == HOMING_SEEK || phase == HOMING_TOUCH;
    const bool stop = towards && stands(m, s), by_switch = m->as.home.kind == HOME_SWITCH;
    const bool closed = by_switch && closed_surely(m, s, switches);
    const bool there = by_switch ? closed : stop;
    m->count++;
    if ((phase != HOMING_DONE && m->count > m->last) || (stop && !there)) {
        m->kind = MOTION_HOLD;
        return (finding_t){APP_FAULT_HOMING, i, real_sub(s->q[i], m->as.home.from),
                           m->as.home.position};
    }
    if (phase == HOMING_SEEK && there) {
        go(m, s, HOMING_BACK);
    } else if (phase == HOMING_BACK) {
        m->as.home.gone = closed ? 0 : m->as.home.gone + 1;
        if (m->as.home.gone > m->as.home.away)
            go(m, s, HOMING_TOUCH);
    } else if (phase == HOMING_TOUCH && there) {
        learn(m, s, by_switch ? m->as.home.edge : s->q[i]);
        go(m, s, HOMING_AWAY);
    } else if (phase == HOMING_AWAY && m->count > m->as.home.away && within(c, s, i)) {
        m->as.home.phase = HOMING_DONE; /* brakes and stays at rest */
        s->unhomed &= ~(1u << i);
        m->as.home.target[i] = real_known(0);
    }
    return (finding_t){APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
}

void homing_limit(const control_t *c, const motion_state_t *m, loop_t *s) {
    const uint32_t i = m->as.home.joint;
    uint32_t pressed = 0, beyond = 0;
    const real push = wide_clamp(wide_sub(s->tau[i], s->tau_model[i]), m->as.home.torque, &pressed);
    s->tau[i] = wide_clamp(wide_add(push, s->tau_model[i]), c->joint[i].tau_max, &beyond);
    s->pressing = (pressed | beyond) << i;
    s->clipped &= ~(1u << i);
    s->limited &= ~(1u << i);
}

/*
 * Homing: an encoder that counts from where it was switched on learns where that was. One joint at
 * a time looks for its mechanical stop or its switch, while the loop holds the others; which joint
 * comes when is the business of who asks.
 *
 *     seek    towards it, until it is there
 *     back    away from it, until it is gone, and a little farther
 *     touch   towards it at a quarter of the speed: where it is there, the position is known
 *     away    away from it, until the joint is within its limits
 *
 * A stop is there where the joint presses with all that it may and does not move. What it may press
 * with is counted from the model's torque, so that gravity and friction are not taken from it; the
 * model of an arm that does not know its pose is wrong by gravity at most, and so is the pressure.
 * Limits of the position are not looked at until the position is known.
 */
#include "firmware/core/image.h"

#include DYN_REAL_H

#include "firmware/core/instance.h"
#include "firmware/core/number.h"

#include <math.h>

typedef CORE_T(app) app_self;
typedef CORE_T(control) control_t;
typedef CORE_T(finding) finding_t;
typedef CORE_T(loop) loop_t;
typedef CORE_T(motion) motion_state_t;

#define STILL_S  0.05f /* without motion: a stop */
#define AWAY_S   0.3f
#define RANGE    25.0f /* rad or m: of a joint without limits; as in firmware/core/setup.c */
#define FARTHEST 1.25f /* of the range between the limits; then there is nothing to be found */
#define SPARE_S  2.0f

enum { SEEK, BACK, TOUCH, AWAY, DONE };

/* From rest, where the joint is. */
static void go(motion_state_t *m, loop_t *s, uint32_t phase) {
    const uint32_t i = m->as.home.joint;
    const real speed = m->as.home.speed;
    m->as.home.phase = phase;
    m->as.home.stalled = m->as.home.gone = 0;
    m->count = 0;
    s->q_mid[i] = s->q_hat[i];
    s->qd_mid[i] = real_known(0);
    m->as.home.target[i] = phase == SEEK    ? speed
                           : phase == TOUCH ? real_half(real_half(speed))
                           : phase == DONE  ? real_known(0)
                                            : real_neg(speed);
}

/* It presses and does not move. */
INLINE bool stands(motion_state_t *m, const loop_t *s) {
    const uint32_t i = m->as.home.joint;
    const bool still = real_size(s->qd_hat[i]) < real_half(real_size(m->as.home.target[i]));
    m->as.home.stalled = (s->pressing >> i & 1) && still ? m->as.home.stalled + 1 : 0;
    return m->as.home.stalled >= m->as.home.still;
}

/* The reading changes by what it was wrong, and with it everything that was made of it. */
static void learn(motion_state_t *m, loop_t *s) {
    const uint32_t i = m->as.home.joint;
    const real wrong = real_sub(m->as.home.position, s->q[i]);
    s->zero[i] = real_add(s->zero[i], wrong);
    s->q[i] = real_add(s->q[i], wrong);
    s->q_hat[i] = real_add(s->q_hat[i], wrong);
}

INLINE bool within(const control_t *c, const loop_t *s, uint32_t i) {
    const CORE_T(control_joint) *j = &c->joint[i];
    return !j->bounded || (s->q_mid[i] > j->lower && s->q_mid[i] < j->upper);
}

finding_t CORE(homing_step)(const control_t *c, motion_state_t *m, loop_t *s, uint32_t switches) {
    const uint32_t i = m->as.home.joint, phase = m->as.home.phase;
    const bool towards = phase == SEEK || phase == TOUCH;
    const bool stop = towards && stands(m, s), by_switch = m->as.home.kind == HOME_SWITCH;
    const bool closed = by_switch && (switches >> i & 1);
    const bool there = by_switch ? closed : stop;
    m->count++;
    if ((phase != DONE && m->count > m->last) || (stop && !there)) {
        m->kind = MOTION_HOLD;
        return (finding_t){APP_FAULT_HOMING, i, real_sub(s->q[i], m->as.home.from),
                           m->as.home.position};
    }
    if (phase == SEEK && there) {
        go(m, s, BACK);
    } else if (phase == BACK) {
        m->as.home.gone = closed ? 0 : m->as.home.gone + 1;
        if (m->as.home.gone > m->as.home.away)
            go(m, s, TOUCH);
    } else if (phase == TOUCH && there) {
        learn(m, s);
        go(m, s, AWAY);
    } else if (phase == AWAY && m->count > m->as.home.away && within(c, s, i)) {
        m->as.home.phase = DONE; /* brakes, and ends at rest */
        s->unhomed &= ~(1u << i);
        m->as.home.target[i] = real_known(0);
    }
    return (finding_t){APP_FAULT_NONE, APP_NO_JOINT, 0, 0};
}

void CORE(homing_limit)(const control_t *c, const motion_state_t *m, loop_t *s) {
    const uint32_t i = m->as.home.joint;
    uint32_t pressed = 0, beyond = 0;
    const real push = wide_clamp(wide_sub(s->tau[i], s->tau_model[i]), m->as.home.torque, &pressed);
    s->tau[i] = wide_clamp(wide_add(push, s->tau_model[i]), c->joint[i].tau_max, &beyond);
    s->pressing = (pressed | beyond) << i;
    s->clipped &= ~(1u << i);
    s->limited &= ~(1u << i);
}

uint32_t CORE(homing_switches)(const motion_state_t *m, const CORE_T(plant) * p) {
    if (m->kind != MOTION_HOME || m->as.home.kind != HOME_SWITCH)
        return 0;
    const uint32_t i = m->as.home.joint;
    const bool closed =
        m->as.home.speed > 0 ? p->q[i] >= m->as.home.position : p->q[i] <= m->as.home.position;
    return (uint32_t)closed << i;
}

/* Farther than this nothing is to be found, in ticks at the speed of looking. */
static float ticks_most(const app_self *app, uint32_t i, float speed) {
    const CORE_T(settings) *s = &app->joint[i];
    const float range = s->bounded ? s->position[1] - s->position[0] : RANGE;
    return (range * FARTHEST / speed + SPARE_S) * app->tunable[TUNABLE_rate_hz];
}

static int prepare(app_self *app, uint32_t i) {
    const CORE_T(settings) *s = &app->joint[i];
    motion_state_t *m = &app->motion;
    const float *t = app->tunable, side = s->home < 0 ? -1.0f : 1.0f, rate = t[TUNABLE_rate_hz];
    const float speed = s->velocity * t[TUNABLE_home_speed] * t[TUNABLE_limits_part];
    const float press = s->torque * t[TUNABLE_home_torque] * t[TUNABLE_limits_part];
    const double v = (double)(side * speed);
    app->where = i;
    m->as.home.kind = (uint32_t)fabsf(s->home);
    if (m->as.home.kind == HOME_ABSOLUTE || (m->as.home.kind == HOME_STOP && !(press > 0)) ||
        (m->as.home.kind == HOME_SWITCH && t[TUNABLE_plant] == 0 && !(app_switches() >> i & 1)))
        return APP_E_SEEK;
    for (uint32_t k = 0; k < app->n; k++)
        m->as.home.target[k] = real_known(0);
    m->as.home.torque = app->control[app->now].joint[i].tau_max;
    bool fits =
        real_from_model(v, CORE(app_exponent)(app, QUANTITY_VELOCITY, i), &m->as.home.speed);
    if (press > 0)
        fits = real_from_model((double)press, CORE(app_exponent)(app, QUANTITY_TORQUE, i),
                               &m->as.home.torque) &&
               fits;
    fits = CORE(setup_position)(app, i, s->home_position, &m->as.home.position) && fits;
    m->as.home.joint = i;
    m->as.home.phase = SEEK;
    m->as.home.target[i] = m->as.home.speed;
    m->as.home.from = app->loop.q[i];
    m->as.home.stalled = m->as.home.gone = 0;
    m->as.home.still = (uint32_t)ceilf(STILL_S * rate);
    m->as.home.away = (uint32_t)ceilf(AWAY_S * rate);
    m->count = 0;
    m->last = (uint32_t)ticks_most(app, i, speed);
    return fits ? APP_OK : APP_E_UNITS;
}

int CORE(homing_start)(app_self *app, const motion_t *in) {
    uint32_t at = APP_NO_JOINT;
    for (uint32_t i = 0; i < app->n; i++) {
        if (!(in->value[i] == 0) && at != APP_NO_JOINT)
            return APP_E_NUMBER; /* one at a time */
        at = in->value[i] == 0 ? at : i;
    }
    return at == APP_NO_JOINT ? APP_E_NUMBER : prepare(app, at);
}

/* Checks motions against the limits of the robot, in float, and makes the constants of
 * firmware/control/reference.c. Runs in the background and takes longer than a tick. The tick reads
 * none of these constants before `kind` is written, and `kind` is written only if the tick has not
 * latched a fault meanwhile. */
#include "firmware/app/fit.h"
#include "firmware/app/setup.h"

#include "firmware/app/handover.h"
#include "firmware/control/number.h"
#include "firmware/safety/stop.h"

#include <math.h>

/* Allowed rounding error of computed floats: relative; for positions absolute, rad or m. */
#define ROUNDING 1e-5f
/* Largest distance of the first point from the arm's position, rad or m; allows for encoder counts
 * and some sag. */
#define START_NEAR 0.01f
/* Rounding error of second differences of floats, for positions of some radians. */
#define POINT_STEP 2e-6f
/* Longest motion, s, for a 32-bit counter of half ticks (31 bits in q31). */
#define LONGEST_S 50000.0f
/* Bounds and step of the ramp of a trapezoid, as fractions of its duration. With a ramp below
 * RAMP_LEAST the acceleration overflows q31. */
#define RAMP_LEAST 0.16f
#define RAMP_MOST  0.5f
#define RAMP_STEP  0.02f

static int refuse(app_t *app, uint32_t at, int error) {
    app->where = at;
    return error;
}

/* Largest s' and s'' of a profile s(u) of firmware/control/reference.c. Only the trapezoid has a
 * ramp. */
typedef struct {
    float speed, bend;
} peaks_t;

static peaks_t peaks(uint32_t kind, float ramp) {
    if (kind == MOTION_QUINTIC)
        return (peaks_t){1.875f, 5.7735027f}; /* 15/8 and 10/sqrt(3) */
    if (kind == MOTION_CYCLOID)
        return (peaks_t){2, (float)TURN};
    return (peaks_t){1 / (1 - ramp), 1 / (ramp * (1 - ramp))};
}

/* Returns the velocity limit, scaled by limits_scale for commissioning. */
static float fastest(const app_t *app, uint32_t i) {
    return app->joint[i].velocity * app->parameter[PARAMETER_limits_scale];
}

/* Returns the shortest duration in which joint i stays within its limits; `way` is its
 * displacement. */
static float shortest(const app_t *app, uint32_t i, float way, peaks_t p) {
    const settings_t *s = &app->joint[i];
    const float size = fabsf(way);
    return fmaxf(size * p.speed / fastest(app, i), sqrtf(size * p.bend / s->acceleration));
}

static float shortest_of_all(const app_t *app, const float way[], peaks_t p) {
    float longest = 0;
    for (uint32_t i = 0; i < app->n; i++)
        longest = fmaxf(longest, shortest(app, i, way[i], p));
    return longest;
}

/* Returns the ramp with which the motion takes the least time. */
static float best_ramp(const app_t *app, const float way[]) {
    float best = RAMP_MOST;
    for (float ramp = RAMP_MOST; ramp >= RAMP_LEAST; ramp -= RAMP_STEP)
        if (shortest_of_all(app, way, peaks(MOTION_TRAPEZOID, ramp)) <
            shortest_of_all(app, way, peaks(MOTION_TRAPEZOID, best)))
            best = ramp;
    return best;
}

static bool within(const settings_t *s, float q) {
    return !s->bounded || (q >= s->position[0] - ROUNDING && q <= s->position[1] + ROUNDING);
}

static int check_profile(app_t *app, const float way[], float duration, peaks_t p) {
    for (uint32_t i = 0; i < app->n; i++) {
        const settings_t *s = &app->joint[i];
        const float size = fabsf(way[i]) * (1 - ROUNDING);
        if (size * p.speed > fastest(app, i) * duration)
            return refuse(app, i, APP_E_VELOCITY);
        if (size * p.bend > s->acceleration * duration * duration)
            return refuse(app, i, APP_E_ACCELERATION);
    }
    return APP_OK;
}

/* Converts an SI value to a number of the loop. */
static bool to_unit(const app_t *app, uint32_t quantity, uint32_t i, float value, real *out) {
    return real_from_model((double)value, app_exponent(app, quantity, i), out);
}

static int fill_profile(app_t *app, const motion_t *in, const float start[], const float way[],
                        float duration, float ramp) {
    motion_state_t *m = &app->motion;
    bool fits = true;
    m->count = 0;
    m->last = 2 * (uint32_t)ceilf(duration * app->parameter[PARAMETER_rate_hz] * (1 - ROUNDING));
    if (m->last == 0)
        return refuse(app, UINT32_MAX, APP_E_TIME);
    const float time = (float)m->last / (2 * app->parameter[PARAMETER_rate_hz]);
    fits = gain_from_model(1.0 / m->last, -(int)DYN_Q31_BITS, &m->part) && fits;
    const double shape[2][3] = {
        {1 / TURN, TURN, 0},
        {(double)ramp, 1 / (1 - (double)ramp), 1 / ((1 - (double)ramp) * (double)ramp)}};
    for (int k = 0; k < 3; k++)
        (void)real_from_model(shape[in->kind == MOTION_TRAPEZOID][k], 0, &m->shape[k]);
    for (uint32_t i = 0; i < app->n; i++) {
        fits = setup_position(app, i, start[i], &m->as.profile.start[i]) && fits;
        fits = setup_position(app, i, way[i], &m->as.profile.way[i]) && fits;
        fits = to_unit(app, QUANTITY_VELOCITY, i, way[i] / time, &m->as.profile.rate[i]) && fits;
        fits = to_unit(app, QUANTITY_ACCELERATION, i, way[i] / (time * time),
                       &m->as.profile.turn[i]) &&
               fits;
    }
    return fits ? APP_OK : refuse(app, UINT32_MAX, APP_E_UNITS);
}

static int start_profile(app_t *app, const motion_t *in, const float start[]) {
    float way[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < app->n; i++) {
        if (!isfinite(in->value[i]))
            return refuse(app, i, APP_E_NUMBER);
        if (!within(&app->joint[i], in->value[i]))
            return refuse(app, i, APP_E_POSITION);
        way[i] = in->value[i] - start[i];
    }
    const float ramp = in->kind == MOTION_TRAPEZOID ? best_ramp(app, way) : 0;
    const peaks_t p = peaks(in->kind, ramp);
    const float duration = in->duration_s > 0 ? in->duration_s : shortest_of_all(app, way, p);
    if (!(duration <= LONGEST_S))
        return refuse(app, UINT32_MAX, APP_E_TIME);
    const int status = check_profile(app, way, duration, p);
    return status != APP_OK ? status : fill_profile(app, in, start, way, duration, ramp);
}

static int start_points(app_t *app, const motion_t *in) {
    motion_state_t *m = &app->motion;
    const float rate = app->parameter[PARAMETER_rate_hz];
    if (!(in->duration_s * rate >= 1 && in->duration_s <= LONGEST_S))
        return refuse(app, UINT32_MAX, APP_E_TIME);
    m->last = 2 * (uint32_t)(in->duration_s * rate + 0.5f);
    const double h = (double)m->last / (2 * (double)rate);
    bool fits = gain_from_model(1.0 / m->last, -(int)DYN_Q31_BITS, &m->part);
    (void)real_from_model(1.0 / 6, 0, &m->shape[0]);
    m->count = 0;
    m->as.points.head = m->as.points.tail = 0;
    m->as.points.ended = 0;
    app->point_tick = app->ticks; /* the time-out for the first point starts now */
    for (uint32_t i = 0; i < app->n; i++) {
        const int p = app->joint[i].unit;
        const int v = app_exponent(app, QUANTITY_VELOCITY, i);
        const int a = app_exponent(app, QUANTITY_ACCELERATION, i);
        fits = gain_from_model(1 / (2 * h), v - p, &m->as.points.rate[i]) && fits;
        fits = gain_from_model(1 / (h * h), a - p, &m->as.points.turn[i]) && fits;
    }
    return fits ? APP_OK : refuse(app, UINT32_MAX, APP_E_UNITS);
}

static int start_jog(app_t *app, const motion_t *in) {
    motion_state_t *m = &app->motion;
    const float timeout =
        app->parameter[PARAMETER_jog_timeout_s] * app->parameter[PARAMETER_rate_hz];
    for (uint32_t i = 0; i < app->n; i++) {
        if (!isfinite(in->value[i]))
            return refuse(app, i, APP_E_NUMBER);
        if (fabsf(in->value[i]) * (1 - ROUNDING) > fastest(app, i))
            return refuse(app, i, APP_E_VELOCITY);
    }
    const setup_t from = setup_from(app);
    float tool = 0;
    for (uint32_t i = 0; i < app->n; i++)
        tool += fabsf(in->value[i]) * setup_reach(&from, i);
    if (tool * (1 - ROUNDING) > app->parameter[PARAMETER_tool_speed])
        return refuse(app, UINT32_MAX, APP_E_TOOL_SPEED);
    real_t target[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < app->n; i++)
        (void)to_unit(app, QUANTITY_VELOCITY, i, in->value[i], &target[i]);
    /* A tick of the jog before does not see some targets of this one. */
    const uint32_t lock = app_clock_lock();
    for (uint32_t i = 0; i < app->n; i++)
        m->as.jog.target[i] = target[i];
    m->count = 0;
    m->last = (uint32_t)timeout;
    m->slows = true;
    app_clock_unlock(lock);
    return APP_OK;
}

/* Called before the loop is closed: checks that every motor can hold its joint against gravity. */
static int check_hold(app_t *app) {
    const uint32_t weak = control_weak(app, control_next(app));
    return weak == APP_NO_JOINT ? APP_OK : refuse(app, weak, APP_E_WEAK);
}

/* Returns whether the tick has read the position of the arm. Hardware is read only after a tick has
 * selected it, so the second tick after a change is the first with a valid reading. */
static bool sensed(const app_t *app) {
    const uint32_t all = joints_mask(app->n);
    return app->parameter[PARAMETER_arm] == ARM_SIMULATED ||
           (app->ticks - app->switched > 1 && (app->seen & all) == all);
}

/* Returns whether robot and hardware fit. A person may switch the feedback off on purpose, to look
 * at the outputs alone. */
static __attribute__((noinline)) bool fits(const app_t *app) {
    fit_t fit;
    if (app->parameter[PARAMETER_arm] == ARM_SIMULATED)
        return true;
    fit_check(app, true, &fit);
    return (fit.bits & ~(1u << FIT_FEEDBACK)) == 0;
}

/* Returns the state from which a motion may begin: APP_STATE_IDLE with the outputs off,
 * APP_STATE_DAMPING if it holds an arm that is damped, APP_STATE_RUNNING in a loop that is closed or that the next tick closes, APP_STATES if no motion
 * may begin. Reads the requests before the state, because the tick that takes up a request changes
 * the state. A pending request to switch off is dropped if the outputs are already off. */
static uint32_t begins(app_t *app, uint32_t wanted) {
    const bool closing = app->closing, stopping = app->stopping;
    const uint32_t state = app->safety.state, kind = app->motion.kind;
    const bool jogs = (kind == MOTION_JOG || kind == MOTION_BRAKE) && wanted == MOTION_JOG;
    if (state == APP_STATE_IDLE && !closing) {
        if (!sensed(app))
            return APP_STATES;
        app->leaving = 0;
        app->motion.kind = MOTION_HOLD; /* discards a motion that waits for points */
        return state;
    }
    if (state == APP_STATE_DAMPING && !closing)
        return wanted == MOTION_HOLD && !app->leaving && sensed(app) ? state : APP_STATES;
    const bool closed = closing || state == APP_STATE_RUNNING;
    const bool goes_on = closed && (kind == MOTION_HOLD || jogs) && !stopping && !app->leaving;
    return goes_on ? APP_STATE_RUNNING : APP_STATES;
}

/* Starts the motion, unless the tick has latched a fault meanwhile and may be braking, or the lease
 * of the client has lapsed. */
static int begin(app_t *app, uint32_t kind, uint32_t begun, bool led) {
    const uint32_t lock = app_clock_lock();
    const uint32_t state = app->safety.state;
    const bool open = state == APP_STATE_IDLE || state == APP_STATE_DAMPING;
    const bool same = app->closing ? open : state == begun;
    const bool lost = led && !lease_held(&app->lease);
    if (same && !lost) {
        if (kind == MOTION_HOME)
            app->loop.unhomed |= 1u << app->motion.as.home.joint;
        if (!lease_held(&app->lease))
            app->lease.token = 0; /* nobody leads this motion, so that no lapse ends it */
        app->motion.kind = kind;
        /* A streamed motion that begins with the outputs off closes the loop later, when its first
         * points have arrived. */
        if (open && kind != MOTION_POINTS)
            app->closing = 1;
    }
    app_clock_unlock(lock);
    return lost ? APP_E_LEASE : same ? APP_OK : APP_E_STATE;
}

int app_motion_start(app_t *app, const motion_t *in) {
    float start[DYN_MAX_JOINTS];
    const bool led = lease_held(&app->lease);
    app->where = UINT32_MAX;
    if (in->kind >= MOTIONS)
        return APP_E_KIND;
    const bool open = app->safety.state == APP_STATE_IDLE || app->safety.state == APP_STATE_DAMPING;
    if (open && !fits(app))
        return APP_E_FIT;
    const uint32_t state = begins(app, in->kind);
    if (state == APP_STATES)
        return open && !sensed(app) ? APP_E_UNREAD : APP_E_STATE;
    if (!(in->duration_s >= 0))
        return APP_E_NUMBER;
    if (app->loop.unhomed != 0 && in->kind != MOTION_HOLD && in->kind != MOTION_HOME)
        return refuse(app, (uint32_t)__builtin_ctz(app->loop.unhomed), APP_E_HOME);
    /* Gravity torques are known only if the position is known. */
    if (state != APP_STATE_RUNNING && app->loop.unhomed == 0 && check_hold(app) != APP_OK)
        return APP_E_WEAK;
    for (uint32_t i = 0; i < app->n; i++)
        start[i] = setup_position_si(
            app, i, app->safety.state == APP_STATE_IDLE ? app->loop.q[i] : app->loop.q_mid[i]);
    const int status = in->kind == MOTION_HOLD     ? APP_OK
                       : in->kind == MOTION_POINTS ? start_points(app, in)
                       : in->kind == MOTION_JOG    ? start_jog(app, in)
                       : in->kind == MOTION_HOME   ? homing_start(app, in)
                                                   : start_profile(app, in, start);
    return status == APP_OK ? begin(app, in->kind, state, led) : status;
}

/* ------------------------------------------------------------------------------- control points */

/* Two places are reserved for repeating the last point. */
uint32_t app_point_credits(const app_t *app) {
    const motion_state_t *m = &app->motion;
    if (m->kind != MOTION_POINTS || m->as.points.ended)
        return 0;
    const uint32_t used = m->as.points.head - m->as.points.tail + (m->as.points.head == 0 ? 2 : 0);
    return used + 2 < APP_POINTS ? APP_POINTS - 2 - used : 0;
}

static float point_at(const app_t *app, uint32_t at, uint32_t i) {
    return setup_position_si(app, i, app->motion.as.points.point[at % APP_POINTS][i]);
}

/* Checks the point that follows point number `at` - 1 against the limits. The curve stays between
 * its points. Its speed is at most the largest difference of successive points divided by the time
 * between them; its acceleration is at most the largest second difference divided by the square of
 * that time. */
static int check_point(app_t *app, uint32_t at, const float q[]) {
    const motion_state_t *m = &app->motion;
    const float h = (float)m->last / (2 * app->parameter[PARAMETER_rate_hz]);
    for (uint32_t i = 0; i < app->n; i++) {
        const settings_t *s = &app->joint[i];
        if (!isfinite(q[i]))
            return refuse(app, i, APP_E_NUMBER);
        if (!within(s, q[i]))
            return refuse(app, i, APP_E_POSITION);
        if (at == 0) {
            const float here = setup_position_si(
                app, i, app->safety.state == APP_STATE_IDLE ? app->loop.q[i] : app->loop.q_mid[i]);
            if (!(fabsf(q[i] - here) <= START_NEAR))
                return refuse(app, i, APP_E_START);
            continue;
        }
        const float one = point_at(app, at - 1, i), two = point_at(app, at - 2, i);
        if (fabsf(q[i] - one) * (1 - ROUNDING) > fastest(app, i) * h + POINT_STEP)
            return refuse(app, i, APP_E_VELOCITY);
        if (fabsf(q[i] - 2 * one + two) > s->acceleration * h * h * (1 + ROUNDING) + POINT_STEP)
            return refuse(app, i, APP_E_ACCELERATION);
    }
    return APP_OK;
}

/* Writes points from number `at` on, which the tick reads only when `head` counts them. Returns the
 * number of the next one. */
static uint32_t put_point(app_t *app, uint32_t at, const float q[], uint32_t times) {
    for (; times > 0; times--, at++)
        for (uint32_t i = 0; i < app->n; i++)
            (void)setup_position(app, i, q[i], &app->motion.as.points.point[at % APP_POINTS][i]);
    return at;
}

/* Lets the tick read the points before number `at`, which are written by now. */
static void publish_points(app_t *app, uint32_t at) {
    atomic_signal_fence(memory_order_seq_cst);
    app->motion.as.points.head = at;
}

/* Closes the loop when half of the buffer is filled, to absorb the jitter of the line, or when the
 * last point has come. Interrupts are locked, because a tick may take up a stop that was requested
 * before these points. */
static int close_when_filled(app_t *app) {
    const motion_state_t *m = &app->motion;
    const bool filled =
        m->as.points.ended || m->as.points.head - m->as.points.tail >= APP_POINTS / 2;
    if (app->safety.state != APP_STATE_IDLE || !filled)
        return APP_OK;
    if (!fits(app)) { /* a parameter has changed since the motion was accepted */
        app->motion.kind = MOTION_HOLD;
        return APP_E_FIT;
    }
    const uint32_t lock = app_clock_lock();
    if (m->kind == MOTION_POINTS && app->safety.state == APP_STATE_IDLE)
        app->closing = 1;
    app_clock_unlock(lock);
    return APP_OK;
}

int app_points_push(app_t *app, const float q[], uint32_t points) {
    const motion_state_t *m = &app->motion;
    app->where = UINT32_MAX;
    if (m->kind != MOTION_POINTS || m->as.points.ended)
        return APP_E_STATE;
    if (points > app_point_credits(app))
        return APP_E_ROOM;
    uint32_t at = m->as.points.head;
    for (; points > 0; points--, q += app->n) {
        const int status = check_point(app, at, q);
        if (status != APP_OK)
            return status;
        at = put_point(app, at, q, at == 0 ? 3 : 1);
    }
    publish_points(app, at);
    app->point_tick = app->ticks;
    return close_when_filled(app);
}

int app_points_end(app_t *app) {
    motion_state_t *m = &app->motion;
    float last[DYN_MAX_JOINTS];
    const uint32_t head = m->as.points.head;
    app->where = UINT32_MAX;
    if (m->kind != MOTION_POINTS || m->as.points.ended)
        return APP_E_STATE;
    if (head == 0)
        return APP_E_START;
    for (uint32_t i = 0; i < app->n; i++)
        last[i] = point_at(app, head - 1, i);
    /* the last step may be too large for a stop at its end */
    const int status = check_point(app, head, last);
    if (status != APP_OK)
        return status;
    publish_points(app, put_point(app, head, last, 2));
    m->as.points.ended = 1;
    return close_when_filled(app);
}

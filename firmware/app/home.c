/* Prepares homing, the motion of firmware/safety/homing.c, in the background. */
#include "firmware/app/setup.h"

#include <math.h>

#include "firmware/safety/homing.h"
#include "firmware/control/number.h"

#define STILL_S 0.05f /* s; a joint that presses without moving for this time is at its stop */
#define AWAY_S  0.3f
/* A switch has changed when it reads the same for this time, and at least twice: contacts bounce
 * for less than 5 ms, and noise of motors is shorter. */
#define DEBOUNCE_S 0.005f
/* The search ends after this multiple of the range between the limits: there is nothing to find
 * beyond it. */
#define FARTHEST 1.25f
#define SPARE_S  2.0f

/* Returns the time limit of a phase at this speed, in ticks. */
static float ticks_most(const app_t *app, uint32_t i, float speed) {
    const settings_t *s = &app->joint[i];
    const float range = s->bounded ? s->position[1] - s->position[0] : (float)FREE_RANGE;
    return (range * FARTHEST / speed + SPARE_S) * app->parameter[PARAMETER_rate_hz];
}

static int prepare(app_t *app, uint32_t i) {
    const settings_t *s = &app->joint[i];
    motion_state_t *m = &app->motion;
    const float *t = app->parameter, side = s->home < 0 ? -1.0f : 1.0f, rate = t[PARAMETER_rate_hz];
    const float speed = s->velocity * t[PARAMETER_home_speed] * t[PARAMETER_limits_scale];
    const float press = s->torque * t[PARAMETER_home_torque] * t[PARAMETER_limits_scale];
    const double v = (double)(side * speed);
    hardware_t hardware;
    app_hardware(&hardware);
    app->where = i;
    m->as.home.kind = (uint32_t)fabsf(s->home);
    if (m->as.home.kind == HOME_ABSOLUTE || (m->as.home.kind == HOME_STOP && !(press > 0)) ||
        (m->as.home.kind == HOME_SWITCH && t[PARAMETER_arm] != ARM_SIMULATED &&
         !(hardware.switches >> i & 1)))
        return APP_E_SEEK;
    for (uint32_t k = 0; k < app->n; k++)
        m->as.home.target[k] = real_known(0);
    m->as.home.torque = app->control[app->now].joint[i].tau_max;
    bool fits = real_from_model(v, app_exponent(app, QUANTITY_VELOCITY, i), &m->as.home.speed);
    if (press > 0)
        fits = real_from_model((double)press, app_exponent(app, QUANTITY_TORQUE, i),
                               &m->as.home.torque) &&
               fits;
    fits = setup_position(app, i, s->home_position, &m->as.home.position) && fits;
    m->as.home.joint = i;
    m->as.home.phase = HOMING_SEEK;
    m->as.home.target[i] = m->as.home.speed;
    m->as.home.from = app->loop.q[i];
    m->as.home.stalled = m->as.home.gone = 0;
    m->as.home.still = (uint32_t)ceilf(STILL_S * rate);
    m->as.home.away = (uint32_t)ceilf(AWAY_S * rate);
    m->as.home.sure = (uint16_t)fmaxf(2, ceilf(DEBOUNCE_S * rate));
    m->as.home.same = 0;
    m->as.home.raw = m->as.home.closed = 0;
    m->count = 0;
    m->last = (uint32_t)ticks_most(app, i, speed);
    return fits ? APP_OK : APP_E_UNITS;
}

int homing_start(app_t *app, const motion_t *in) {
    uint32_t at = APP_NO_JOINT;
    for (uint32_t i = 0; i < app->n; i++) {
        if (!(in->value[i] == 0) && at != APP_NO_JOINT)
            return APP_E_NUMBER; /* only one joint at a time */
        at = in->value[i] == 0 ? at : i;
    }
    return at == APP_NO_JOINT ? APP_E_NUMBER : prepare(app, at);
}

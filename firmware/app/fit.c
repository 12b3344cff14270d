/* Implements firmware/app/fit.h. */
#include "firmware/app/fit.h"

#include <math.h>

#include "firmware/control/number.h"

/* An arm may stand a little beyond a limit when it is switched on; its turn must be known there,
 * too. So the limits may use this part of a turn. */
#define TURN_PART 0.98

bool fit_turns(const app_t *app, const hardware_t *h, uint32_t i) {
    const settings_t *s = &app->joint[i];
    const double range = (double)s->position[1] - (double)s->position[0];
    return !(h->absolute >> i & 1) || !s->bounded ||
           range > TURN_PART * fabs(setup_count(s)) * (double)s->counts;
}

int32_t fit_wrap(const app_t *app, const hardware_t *h, uint32_t i) {
    const bool counted = h->encoders & ~h->absolute & 1u << i;
    return (int32_t)(counted ? (float)h->counts[i] : app->joint[i].counts);
}

double fit_blind(const app_t *app, const hardware_t *h, uint32_t i) {
    enum { FALL = 4 };
    const settings_t *s = &app->joint[i];
    const double rate = (double)app->parameter[PARAMETER_rate_hz];
    const double counts = FALL * (double)s->velocity / (fabs(setup_count(s)) * rate);
    return fit_wrap(app, h, i) / (2 * counts);
}

static void joint_fits(fit_t *out, uint32_t part, uint32_t i, bool fits) {
    out->joints[part] |= (uint32_t)!fits << i;
    out->bits |= (uint32_t)!fits << part;
}

static void arm_fits(fit_t *out, uint32_t part, bool fits) {
    out->bits |= (uint32_t)!fits << part;
}

void fit_check(const app_t *app, bool now, fit_t *out) {
    const float *t = app->parameter;
    hardware_t h;
    app_hardware(&h);
    *out = (fit_t){0};
    if (h.flags & HARDWARE_UNKNOWN)
        return;
    for (uint32_t i = 0; i < app->n; i++) {
        const settings_t *s = &app->joint[i];
        const bool encoder = h.encoders >> i & 1;
        joint_fits(out, FIT_MOTOR, i, h.motors >> i & 1);
        joint_fits(out, FIT_ENCODER, i, encoder);
        joint_fits(out, FIT_COUNTS, i,
                   !encoder || !(h.absolute >> i & 1) || s->counts == (float)h.counts[i]);
        joint_fits(out, FIT_TURNS, i, !encoder || s->home != 0 || !fit_turns(app, &h, i));
        joint_fits(out, FIT_GAINS, i,
                   t[PARAMETER_feedback] != FEEDBACK_PD || (s->kp > 0 && s->kd > 0));
        joint_fits(out, FIT_VELOCITY, i, s->paced);
        joint_fits(out, FIT_TORQUE, i, s->torque > 0);
        joint_fits(out, FIT_SPEED, i,
                   !encoder || !fit_turns(app, &h, i) || fit_blind(app, &h, i) >= 1);
        joint_fits(out, FIT_SWITCH, i, fabsf(s->home) != HOME_SWITCH || (h.switches >> i & 1));
    }
    arm_fits(out, FIT_FEEDBACK, t[PARAMETER_feedback] != FEEDBACK_OFF);
    arm_fits(out, FIT_BRAKES, t[PARAMETER_brakes] >= 0);
    arm_fits(out, FIT_BRAKE_OUTPUT, t[PARAMETER_brakes] <= 0 || (h.flags & HARDWARE_BRAKE));
    arm_fits(out, FIT_ESTOP_INPUT, h.flags & HARDWARE_ESTOP);
    arm_fits(out, FIT_WATCHDOG, h.flags & HARDWARE_WATCHDOG);
    arm_fits(out, FIT_CLOCK, h.flags & HARDWARE_CLOCK);
    if (now && (h.flags & HARDWARE_ESTOP)) {
        arm_fits(out, FIT_ESTOP_OPEN, !(h.active & CAUSE_ESTOP));
        arm_fits(out, FIT_ESTOP_UNSEEN, h.flags & HARDWARE_ESTOP_SEEN);
    }
}

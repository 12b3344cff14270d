/* Parameters of a running board: reads, checks and changes them, and undoes a change that cannot
 * work. */
#include "firmware/app/arm.h"
#include "firmware/app/fit.h"
#include "firmware/app/handover.h"
#include "firmware/app/setup.h"
#include "firmware/control/number.h"

static bool names_joint(const app_t *app, uint32_t parameter, uint32_t at) {
    return parameter < PARAMETERS && at < (parameter_table[parameter].per_joint ? app->n : 1);
}

/* Forgets where the joint is: it must be homed again, unless `home` is 0 (absolute encoder). The
 * unit of its position may change, so the stored positions of the simulated arm are converted. */
static void change_home(app_t *app, uint32_t at) {
    settings_t *s = &app->joint[at];
    const float q = setup_position_si(app, at, app->sim_arm.q[at]);
    const float zero = setup_position_si(app, at, app->sim_arm.zero[at]);
    s->unit = setup_unit(s);
    (void)setup_position(app, at, q, &app->sim_arm.q[at]);
    (void)setup_position(app, at, zero, &app->sim_arm.zero[at]);
    app->loop.zero[at] = real_known(0);
    app->loop.unhomed = (app->loop.unhomed & ~(1u << at)) | (uint32_t)(s->home != 0) << at;
}

/* Switches to the other arm (simulated or real). Encoder turns are counted anew. */
static void change_arm(app_t *app) {
    if (app->control[app->now].simulated == (app->parameter[PARAMETER_arm] == ARM_SIMULATED))
        return;
    for (uint32_t i = 0; i < app->n; i++)
        change_home(app, i);
    control_forget_readings(app);
}

float *setup_place(app_t *app, uint32_t parameter, uint32_t at) {
    settings_t *s = &app->joint[at];
    switch (parameter) {
    case PARAMETER_kp:
        return &s->kp;
    case PARAMETER_kd:
        return &s->kd;
    case PARAMETER_encoder_offset:
        return &s->offset;
    case PARAMETER_encoder_sign:
        return &s->sign;
    case PARAMETER_encoder_ratio:
        return &s->ratio;
    case PARAMETER_position_lower:
        return &s->position[0];
    case PARAMETER_position_upper:
        return &s->position[1];
    case PARAMETER_home:
        return &s->home;
    case PARAMETER_home_position:
        return &s->home_position;
    default:
        return &app->parameter[parameter];
    }
}

int app_get(const app_t *app, uint32_t parameter, uint32_t at, float *value) {
    if (!names_joint(app, parameter, at))
        return APP_E_PARAMETER;
    *value = *setup_place((app_t *)(uintptr_t)app, parameter, at);
    return APP_OK;
}

static int resettle(app_t *app) {
    /* A motion that waits for points was prepared with the old constants. */
    app->motion.kind = MOTION_HOLD;
    return control_settle_all(app);
}

static int change_errors(app_t *app) {
    const setup_t from = setup_from(app);
    sim_arm_setup_errors(&from, &app->sim_arm);
    app->sim_arm.singular = 0;
    return APP_OK;
}

/* Puts a new parameter value into effect. For a parameter that may change only while the outputs
 * are off, the caller has detached the tick. `hold`: an arm that is held gets no payload that the
 * motors cannot hold. */
static int apply(app_t *app, uint32_t parameter, uint32_t at, bool hold) {
    if (!app->loaded)
        return APP_OK;
    switch (parameter) {
    case PARAMETER_payload_mass:
    case PARAMETER_payload_x:
    case PARAMETER_payload_y:
    case PARAMETER_payload_z:
        return arm_change_payload(app, hold);
    case PARAMETER_sim_mass:
    case PARAMETER_sim_friction:
    case PARAMETER_sim_noise:
#ifdef FIRMWARE_LAB
    case PARAMETER_sim_defect:
    case PARAMETER_sim_defect_joint:
#endif
    case PARAMETER_sim_shift:
        return change_errors(app);
    case PARAMETER_position_lower:
    case PARAMETER_position_upper:
        for (uint32_t i = 0; i < app->n; i++)
            app->joint[i].bounded = app->joint[i].position[1] > app->joint[i].position[0];
        return resettle(app);
    case PARAMETER_home:
    case PARAMETER_home_position:
    case PARAMETER_encoder_sign: /* what homing has found was in another scale */
    case PARAMETER_encoder_ratio:
        change_home(app, at);
        return resettle(app);
    case PARAMETER_rate_hz:
    case PARAMETER_limits_scale: /* points that wait were checked with the old limits */
    case PARAMETER_encoder_offset:
        return resettle(app);
    case PARAMETER_arm:
        change_arm(app);
        return resettle(app);
    default:
        return control_change(app, false);
    }
}

/* The real arm can be chosen only if the hardware fits the robot. When a stored choice is restored,
 * before the first tick, what a person must do is not asked for yet: it is before each motion. */
static __attribute__((noinline)) bool may_choose(const app_t *app) {
    fit_t fit;
    fit_check(app, app->ticks != 0, &fit);
    return fit.bits == 0;
}

bool app_weaker(uint32_t parameter, float value, float than) {
    const int weaker = parameter_table[parameter].weaker;
    if (parameter == PARAMETER_guard_setpoint && (value == 0 || than == 0))
        return value == 0 && than != 0; /* 0 switches this guard off */
    return weaker > 0 ? value > than : weaker < 0 && value < than;
}

void setup_notice(app_t *app) {
    uint32_t notice = app->notice & NOTICE_LOAD;
    notice |= app->overrides.count > 0 ? NOTICE_OVERRIDDEN : 0;
    for (uint32_t i = 0; i < PARAMETERS_ONE; i++)
        if (app_weaker(i, app->parameter[i], parameter_table[i].fallback))
            notice |= NOTICE_WEAKER;
    app->notice = notice;
}

/* Returns whether the PD feedback of joint i holds the arm. It must be stiffer than gravity, whose
 * torque changes by at most the torque limit per rad if the motor can hold the arm in every pose.
 * Without feedforward it also gives the whole torque before its error reaches guard_tracking. */
static bool firm(const app_t *app, uint32_t i, float kp) {
    const float *t = app->parameter, torque = app->joint[i].torque;
    return kp > 0 && kp >= torque &&
           (t[PARAMETER_feedforward] != FEEDFORWARD_OFF ||
            kp * t[PARAMETER_guard_tracking] >= torque);
}

/* The same for the whole arm with another kind of feedback, which must also be damped. */
static bool feedback_firm(const app_t *app, float feedback) {
    bool all = feedback != FEEDBACK_OFF;
    for (uint32_t i = 0; i < app->n && feedback == FEEDBACK_PD; i++)
        all = all && firm(app, i, app->joint[i].kp) && app->joint[i].kd > 0;
    return all && (feedback == FEEDBACK_PD || app->parameter[PARAMETER_torque_hz] >=
                                                  parameter_table[PARAMETER_torque_hz].fallback);
}

/* Returns whether the change takes so much torque from an arm which the loop holds that it may
 * fall. */
static bool lets_go(const app_t *app, uint32_t parameter, uint32_t at, float value, float now) {
    const float feedback = app->parameter[PARAMETER_feedback];
    switch (parameter) {
    case PARAMETER_kp:
        return feedback == FEEDBACK_PD && value < now && !firm(app, at, value);
    case PARAMETER_kd:
        return feedback == FEEDBACK_PD && value == 0 && now != 0;
    case PARAMETER_torque_hz:
        return feedback == FEEDBACK_COMPUTED_TORQUE && value < now &&
               value < parameter_table[parameter].fallback;
    case PARAMETER_feedback:
        return value != now && now != FEEDBACK_OFF && !feedback_firm(app, value);
    default:
        return parameter == PARAMETER_feedforward && value < now;
    }
}

/* Returns whether the change takes a guard or torque from an arm while the outputs are on. */
static bool loosens(app_t *app, uint32_t parameter, uint32_t at, float value) {
    const float now = *setup_place(app, parameter, at);
    /* with one control set the constants of a closed loop do not change at all */
    const bool driven = APP_CONTROLS > 1 && (app->closing || supervisor_drives(&app->safety));
    return app_weaker(parameter, value, now) || (driven && lets_go(app, parameter, at, value, now));
}

/* Puts the value into effect, or the one before back. */
static int put(app_t *app, uint32_t parameter, uint32_t at, float value) {
    float *place_of = setup_place(app, parameter, at);
    const float before = *place_of;
    *place_of = value;
    if (parameter_table[parameter].idle_only)
        tick_detach(app); /* detached until the change is in effect or undone */
    const int status = apply(app, parameter, at, true);
    if (status != APP_OK) { /* the changes that were accepted before go into effect all the same */
        *place_of = before;
        (void)apply(app, parameter, at, false);
    }
    setup_cap_lease(app);
    tick_attach(app);
    setup_notice(app);
    return status;
}

int setup_restore(app_t *app, uint32_t parameter, uint32_t at, float value) {
    const bool waits = parameter_table[parameter].idle_only || loosens(app, parameter, at, value);
    return waits && !app_rests(app) ? APP_E_STATE : put(app, parameter, at, value);
}

/* Returns whether gains and rate fit each other if the parameter gets this value; else app->where is
 * a joint whose gains are too large. */
static bool gains_fit(app_t *app, uint32_t parameter, uint32_t at, float value) {
    const bool rate = parameter == PARAMETER_rate_hz;
    const float rate_hz = rate ? value : app->parameter[PARAMETER_rate_hz];
    if (!rate && parameter != PARAMETER_kp && parameter != PARAMETER_kd)
        return true;
    for (uint32_t i = rate ? 0 : at; i < (rate ? app->n : at + 1); i++) {
        settings_t s = app->joint[i];
        s.kp = parameter == PARAMETER_kp ? value : s.kp;
        s.kd = parameter == PARAMETER_kd ? value : s.kd;
        app->where = i;
        if (!setup_gains_work(&s, setup_gains_most(app, i, rate_hz)))
            return false;
    }
    app->where = at;
    return true;
}

/* Returns whether the joint has its two position limits in order with this value, too. */
static bool limits_remain(const app_t *app, uint32_t parameter, uint32_t at, float value) {
    const float *limit = app->joint[at].position;
    return parameter == PARAMETER_position_lower   ? span_ordered(value, limit[1])
           : parameter == PARAMETER_position_upper ? span_ordered(limit[0], value)
                                                   : true;
}

int setup_change(app_t *app, uint32_t parameter, uint32_t at, float value) {
    app->where = at;
    if (!names_joint(app, parameter, at))
        return APP_E_PARAMETER;
    const parameter_info_t *info = &parameter_table[parameter];
    if (!span_contains(parameter_span(parameter), value) ||
        !limits_remain(app, parameter, at, value))
        return APP_E_RANGE;
    if (app->loaded && !gains_fit(app, parameter, at, value))
        return APP_E_GAIN;
    /* A real arm that is held must not get brakes, which the next stop would rely on. */
    const bool brakes =
        parameter == PARAMETER_brakes && app->parameter[PARAMETER_arm] != ARM_SIMULATED;
    const bool rests = app_rests(app);
    if ((info->idle_only || brakes) && !rests)
        return APP_E_STATE;
    if (!rests && loosens(app, parameter, at, value))
        return APP_E_LOOSE;
    if (parameter == PARAMETER_arm && value == ARM_REAL && !(app->loaded && may_choose(app))) {
        app->where = UINT32_MAX;
        return app->loaded ? APP_E_FIT : APP_E_STATE;
    }
    /* A command takes lease and overrides for the arm that it finds. */
    if (parameter == PARAMETER_arm && value != app->parameter[parameter] &&
        (app->overrides.count > 0 || lease_held(&app->lease))) {
        app->where = UINT32_MAX;
        return app->overrides.count > 0 ? APP_E_OVERRIDE : APP_E_LEASE;
    }
    return put(app, parameter, at, value);
}

int app_set(app_t *app, uint32_t parameter, uint32_t at, float value) {
    app->where = at;
    return setup_overridden(app, parameter, at) ? APP_E_OVERRIDE
                                                : setup_change(app, parameter, at, value);
}

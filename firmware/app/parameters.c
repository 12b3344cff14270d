/* Parameters of a running board: read, checked, changed, and undone where they cannot work. */
#include <math.h>

#include "firmware/app/arm.h"
#include "firmware/app/handover.h"
#include "firmware/app/setup.h"
#include "firmware/control/number.h"

static bool names_joint(const app_t *app, uint32_t tunable, uint32_t at) {
    return tunable < TUNABLES && at < (tunable_table[tunable].per_joint ? app->n : 1);
}

/* How a joint finds its position has changed: it does not know it any more, or knows it by itself.
 * Its unit may be another one, and what is kept in it. */
static void change_home(app_t *app, uint32_t at) {
    settings_t *s = &app->joint[at];
    const float q = setup_position_si(app, at, app->plant.q[at]);
    const float zero = setup_position_si(app, at, app->plant.zero[at]);
    s->unit = setup_unit(s);
    (void)setup_position(app, at, q, &app->plant.q[at]);
    (void)setup_position(app, at, zero, &app->plant.zero[at]);
    app->loop.zero[at] = real_known(0);
    app->loop.unhomed = (app->loop.unhomed & ~(1u << at)) | (uint32_t)(s->home != 0) << at;
}

/* What is controlled now is another arm: its turns are counted from where it is. */
static void change_plant(app_t *app) {
    if (app->control[app->now].simulated == (app->tunable[TUNABLE_plant] != 0))
        return;
    for (uint32_t i = 0; i < app->n; i++) {
        app->loop.counts[i] = 0;
        change_home(app, i);
    }
    control_forget_readings(app);
}

static float *tunable_place(app_t *app, uint32_t tunable, uint32_t at) {
    settings_t *s = &app->joint[at];
    switch (tunable) {
    case TUNABLE_kp:
        return &s->kp;
    case TUNABLE_kd:
        return &s->kd;
    case TUNABLE_encoder_offset:
        return &s->offset;
    case TUNABLE_encoder_sign:
        return &s->sign;
    case TUNABLE_encoder_ratio:
        return &s->ratio;
    case TUNABLE_position_lower:
        return &s->position[0];
    case TUNABLE_position_upper:
        return &s->position[1];
    case TUNABLE_home:
        return &s->home;
    case TUNABLE_home_position:
        return &s->home_position;
    default:
        return &app->tunable[tunable];
    }
}

int app_get(const app_t *app, uint32_t tunable, uint32_t at, float *value) {
    if (!names_joint(app, tunable, at))
        return APP_E_TUNABLE;
    *value = *tunable_place((app_t *)(uintptr_t)app, tunable, at);
    return APP_OK;
}

static int resettle(app_t *app) {
    app->motion.kind = MOTION_HOLD; /* one that waits for its points was made for what was before */
    return control_settle_all(app);
}

static int change_errors(app_t *app) {
    const setup_t from = setup_from(app);
    plant_setup_errors(&from, &app->plant);
    return APP_OK;
}

/* Makes a new value of a tunable work; of one that is for rest only with the tick away. */
static int apply(app_t *app, uint32_t tunable, uint32_t at) {
    if (!app->loaded)
        return APP_OK;
    switch (tunable) {
    case TUNABLE_payload_mass:
    case TUNABLE_payload_x:
    case TUNABLE_payload_y:
    case TUNABLE_payload_z:
        return arm_change_payload(app);
    case TUNABLE_plant_mass:
    case TUNABLE_plant_friction:
    case TUNABLE_plant_noise:
#ifdef FIRMWARE_LAB
    case TUNABLE_plant_defect:
    case TUNABLE_plant_defect_joint:
#endif
    case TUNABLE_plant_shift:
        return change_errors(app);
    case TUNABLE_position_lower:
    case TUNABLE_position_upper:
        for (uint32_t i = 0; i < app->n; i++)
            app->joint[i].bounded = app->joint[i].position[1] > app->joint[i].position[0];
        return resettle(app);
    case TUNABLE_home:
    case TUNABLE_home_position:
        change_home(app, at);
        return resettle(app);
    case TUNABLE_encoder_offset:
    case TUNABLE_encoder_sign:
    case TUNABLE_encoder_ratio:
    case TUNABLE_rate_hz:
        return resettle(app);
    case TUNABLE_plant:
        change_plant(app);
        return resettle(app);
    default:
        return control_change(app);
    }
}

int app_set(app_t *app, uint32_t tunable, uint32_t at, float value) {
    app->where = at;
    if (!names_joint(app, tunable, at))
        return APP_E_TUNABLE;
    const tunable_info_t *info = &tunable_table[tunable];
    if (!(value >= info->least && value <= info->most) ||
        (info->whole && value != (float)(int32_t)value) ||
        (tunable == TUNABLE_encoder_sign && fabsf(value) != 1))
        return APP_E_RANGE;
    if (info->idle_only && !app_rests(app))
        return APP_E_STATE;
    float *place_of = tunable_place(app, tunable, at);
    const float before = *place_of;
    *place_of = value;
    if (info->idle_only)
        tick_away(app); /* until what was refused is undone */
    const int status = apply(app, tunable, at);
    if (status != APP_OK) {
        *place_of = before;
        (void)apply(app, tunable, at);
    }
    tick_back(app);
    return status;
}

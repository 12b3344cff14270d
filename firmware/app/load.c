/* Loads an arm in the background: makes the constants of the tick from the bytes of a robot
 * image. */
#include <math.h>
#include <string.h>

#include "firmware/app/arm.h"
#include "firmware/app/handover.h"
#include "firmware/app/setup.h"
#include "firmware/control/generated.h"
#include "firmware/control/number.h"

void app_init(app_t *app) {
    memset(app, 0, sizeof *app);
    app->where = UINT32_MAX;
    app->safety.fault_joint = APP_NO_JOINT;
    app->safety.stop = APP_STOP_RELEASE;
    for (uint32_t i = 0; i < PARAMETERS_ONE; i++)
        app->parameter[i] = parameter_table[i].fallback;
    app_stages_clear(app);
}

static void place_home(app_t *app) {
    float q[DYN_MAX_JOINTS];
    app->loop.unhomed = 0;
    for (uint32_t i = 0; i < app->n; i++) {
        app->loop.zero[i] = real_known(0);
        app->loop.unhomed |= (uint32_t)(app->joint[i].home != 0) << i;
        (void)setup_position(app, i, app->joint[i].offset, &app->sim_arm.zero[i]);
        const float *limit = app->joint[i].position;
        q[i] = app->joint[i].bounded ? fminf(fmaxf(0, limit[0]), limit[1]) : 0;
    }
    (void)control_place(app, q);
    app->sim_arm.random = 1;
    app->sim_arm.singular = 0;
}

/* Reads the image and takes over its settings. */
static int read_image(app_t *app, const uint8_t *bytes, size_t size) {
    image_where_t where;
    const int status = image_read(bytes, size, &app->memory.image, &where);
    if (status != IMAGE_OK) {
        app->where = where.joint;
        return APP_E_IMAGE + status;
    }
#ifdef GENERATED_H
    if (!GENERATED_FITS(&app->memory.image))
        return APP_E_GENERATED;
#endif
    app->units = (dyn_units_t){0};
    if (!image_units(&app->memory.image, &app->units) && !CONTROL_FLOATS)
        return APP_E_UNPROVED;
    return setup_settings(app);
}

/* Loads the arm; the tick must be detached. `ready` is an arm that is already prepared, or NULL. */
static int load(app_t *app, const uint8_t *bytes, size_t size, const arm_t *ready) {
    int status = read_image(app, bytes, size);
    if (status == APP_OK)
        status = ready ? arm_take(app, ready) : arm_make(app);
    if (status == APP_OK)
        status = arm_make_flex(app);
    if (status != APP_OK)
        return status;
    place_home(app);
    control_forget_readings(app);
    app->safety.thermal.started = false; /* nobody knows how hot its motors are */
    return control_settle_all(app);
}

int app_load_arm(app_t *app, const uint8_t *bytes, size_t size, const arm_t *ready) {
    app->where = UINT32_MAX;
    if (!app_rests(app))
        return APP_E_STATE;
    tick_detach(app);
    setup_forget_overrides(app);
    const int status = load(app, bytes, size, ready);
    app->head = app->tail = 0; /* the image used the memory of the samples */
    app->since_sample = 0;
    app->motion.kind = MOTION_HOLD;
    setup_notice(app);
    setup_cap_lease(app);
    app->loads += status == APP_OK;
    app->loaded = status == APP_OK;
    app->n = status == APP_OK ? app->n : 0;
    app->safety.state =
        app_state_next(app->safety.state, status == APP_OK ? APP_EVENT_LOADED : APP_EVENT_REFUSED);
    tick_attach(app);
    return status;
}

float *app_lend(app_t *app) {
    const bool free = app_rests(app);
    if (free)
        app->motion.kind = MOTION_HOLD;
    return free ? app->motion.as.lent : NULL;
}

int app_load(app_t *app, const uint8_t *bytes, size_t size) {
    return app_load_arm(app, bytes, size, NULL);
}

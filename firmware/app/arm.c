/* firmware/app/arm.h: prepares the controller's arm and the simulated one. A new payload is
 * prepared in a spare arm while the tick uses the other. */
#include "firmware/app/arm.h"

#include <string.h>

#include "firmware/app/handover.h"
#include "firmware/control/generated.h"
#include "firmware/control/number.h"
#include "firmware/params/image_flex.h"

int arm_take(app_t *app, const arm_t *ready) {
    if (DYN(ready)(ready, DYN_NEEDS_fast | DYN_NEEDS_DRIVES) != DYN_OK)
        return APP_E_UNITS;
    app->arm = ready;
    app->sim_arm.arm = ready;
    return APP_OK;
}

/* In fixed point the image contains the prepared constants. */
static int arm_in_image(const image_t *image, const arm_t **out) {
#ifdef CONTROL_Q31
    return image_arm_q31(image, out);
#else
    (void)image, (void)out;
    return IMAGE_E_CODE;
#endif
}

#if APP_ARMS > 0 && APP_FLEX
/* Floats only: in fixed point no limits are proved for the deflections. */
int arm_make_flex(app_t *app) {
    const image_t *image = &app->memory.image;
    app->flex = NULL;
    if (!image_elastic(image))
        return APP_OK;
    if (!CONTROL_FLOATS)
        return APP_E_FLEX;
    const int status = image_get_flex(image, NULL, &app->flex_model);
    if (status != IMAGE_OK)
        return APP_E_IMAGE + status;
    if (DYN(prepare_flex)(&app->model, &app->flex_model, &app->units, &app->beams[0]) != DYN_OK)
        return APP_E_ARM;
    app->flex = &app->beams[0];
    for (uint32_t k = 0; k < DYN_FLEX_MAX; k++)
        app->loop.theta[k] = real_known(0);
    return APP_OK;
}

/* Prepares the elastic links for the new payload in the spare set. */
static inline bool change_flex(app_t *app, uint32_t spare) {
    if (!app->flex)
        return true;
    app->flex = &app->beams[spare];
    return DYN(prepare_flex)(&app->model, &app->flex_model, &app->units, &app->beams[spare]) ==
           DYN_OK;
}
#else
int arm_make_flex(app_t *app) {
    app->flex = NULL;
    return app->memory.image.section[IMAGE_SECTION_FLEX].bytes ? APP_E_FLEX : APP_OK;
}

static inline bool change_flex(app_t *app, uint32_t spare) {
    (void)app, (void)spare;
    return true;
}
#endif

#if APP_ARMS > 0
/* Makes the arm from the model, or copies the constants in the image. The simulated arm is a
 * copy. */
int arm_make(app_t *app) {
    const arm_t *travelled;
    if (image_model(&app->memory.image, &app->model) != DYN_OK)
        return APP_E_ARM;
    const int found = arm_in_image(&app->memory.image, &travelled);
    if (found == IMAGE_OK)
        memcpy(&app->arms[0], travelled, offsetof(arm_t, joint[app->n]));
    else if (!CONTROL_FLOATS) /* constants made here would have unproved limits */
        return APP_E_IMAGE + found;
    else if (DYN(prepare)(&app->model, &app->units, &app->arms[0]) != DYN_OK)
        return APP_E_UNITS;
    app->arms[APP_ARMS - 1] = app->arms[0];
    const int status = arm_take(app, &app->arms[0]);
    app->sim_arm.arm = &app->arms[APP_ARMS - 1];
    return status;
}
#else
int arm_make(app_t *app) {
    const arm_t *travelled;
    const int found = arm_in_image(&app->memory.image, &travelled);
    return found == IMAGE_OK ? arm_take(app, travelled) : APP_E_IMAGE + found;
}
#endif

#ifdef GENERATED_H
/* The payload cannot change here: generated code contains it as constants. */
int arm_change_payload(app_t *app, bool hold) {
    (void)app;
    (void)hold;
    return APP_E_GENERATED;
}
#elif APP_ARMS > 0
/* Compares only the values that parameters set: mass and centre of mass. */
static bool same_payload(const dyn_body_t *a, const dyn_body_t *b) {
    return a->mass == b->mass && a->com[0] == b->com[0] && a->com[1] == b->com[1] &&
           a->com[2] == b->com[2];
}

/* Prepares the arm with the new payload in the spare arm. */
int arm_change_payload(app_t *app, bool hold) {
    dyn_model_t *model = &app->model;
    const dyn_body_t before = model->payload;
    const float *t = app->parameter;
    model->payload.mass = (double)t[PARAMETER_payload_mass];
    model->payload.com[0] = (double)t[PARAMETER_payload_x];
    model->payload.com[1] = (double)t[PARAMETER_payload_y];
    model->payload.com[2] = (double)t[PARAMETER_payload_z];
    app->pending = 0;
    arm_t *spare = app->control[app->now].arm == &app->arms[0] ? &app->arms[1] : &app->arms[0];
    if (spare != app->arm)
        *spare = *app->arm;
    /* Fixed point is proved only for the payload of the image. */
    const bool proved = CONTROL_FLOATS || same_payload(&model->payload, &before);
    if (!proved || DYN(prepare_payload)(model, &app->units, spare) != DYN_OK ||
        DYN(ready)(spare, DYN_NEEDS_fast) != DYN_OK || !change_flex(app, spare == &app->arms[1])) {
        model->payload = before;
        return APP_E_UNITS;
    }
    app->arm = spare;
    return control_change(app, hold);
}
#else
int arm_change_payload(app_t *app, bool hold) {
    (void)app;
    (void)hold;
    return APP_E_MEMORY;
}
#endif

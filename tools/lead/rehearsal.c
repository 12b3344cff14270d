/* Implements tools/lead/rehearsal.h. */
#include "tools/lead/rehearsal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/app/app.h"
#include "firmware/app/setup.h"

struct rehearsal {
    app_t app, fresh; /* fresh: app before any motion; every try begins with it */
    dyn_model_t model;
};

/* Parameters of the board that decide about motions beside the robot. */
static const char *const one[] = {"limits_scale", "tool_speed", "payload_mass", "payload_x",
                                  "payload_y",    "payload_z",  "hold_fraction"};
static const uint32_t one_number[] = {
    PARAMETER_limits_scale, PARAMETER_tool_speed, PARAMETER_payload_mass,  PARAMETER_payload_x,
    PARAMETER_payload_y,    PARAMETER_payload_z,  PARAMETER_hold_fraction,
};

static int get(client_t *client, const char *name, uint32_t joint, float *value) {
    uint32_t parameter;
    int all;
    bool saved;
    return client_parameter(client, name, &parameter, &all) != 0
               ? -1
               : client_get(client, parameter, joint, value, &saved);
}

/* Copies the position limits of a joint. The lower one is set twice, because it must never be above
 * the upper one. */
static int copy_limits(client_t *client, rehearsal_t *r, uint32_t i, int *refused) {
    float lower, upper;
    if (get(client, "position_lower", i, &lower) != 0 ||
        get(client, "position_upper", i, &upper) != 0)
        return -1;
    (void)app_set(&r->app, PARAMETER_position_lower, i, lower);
    *refused = app_set(&r->app, PARAMETER_position_upper, i, upper);
    if (*refused == APP_OK)
        *refused = app_set(&r->app, PARAMETER_position_lower, i, lower);
    /* the board knows itself whether the joint is homed */
    if (*refused == APP_OK)
        *refused = app_set(&r->app, PARAMETER_home, i, HOME_ABSOLUTE);
    r->model.joint[i].drive.limits.position[0] = (double)lower;
    r->model.joint[i].drive.limits.position[1] = (double)upper;
    return 0;
}

static int copy_parameters(client_t *client, rehearsal_t *r, int *refused) {
    for (size_t k = 0; k < sizeof one / sizeof one[0] && *refused == APP_OK; k++) {
        float value;
        if (get(client, one[k], 0, &value) != 0)
            return -1;
        *refused = app_set(&r->app, one_number[k], 0, value);
    }
    for (uint32_t i = 0; i < r->app.n && *refused == APP_OK; i++)
        if (copy_limits(client, r, i, refused) != 0)
            return -1;
    return 0;
}

static int load(client_t *client, rehearsal_t *r, const uint8_t *image, uint32_t length) {
    static image_t parts;
    static const app_inputs_t in;
    app_outputs_t out;
    app_init(&r->app);
    int refused = app_load(&r->app, image, length);
    if (refused == APP_OK && (image_read(image, length, &parts, NULL) != IMAGE_OK ||
                              image_model(&parts, &r->model) != DYN_OK))
        refused = APP_E_ARM;
    if (refused == APP_OK && copy_parameters(client, r, &refused) != 0)
        return -1;
    if (refused != APP_OK) {
        port_fail(&client->error, app_cure(refused),
                  "this machine cannot check motions of the robot on the board: %s",
                  app_cause(refused));
        client->status = LINK_APP;
        return -1;
    }
    app_tick(&r->app, &in, &out); /* the constants become valid in the first tick */
    r->fresh = r->app;
    return 0;
}

rehearsal_t *rehearsal_open(client_t *client) {
    uint32_t length;
    uint8_t *image = client_read_image(client, 0, &length);
    rehearsal_t *r = image ? calloc(1, sizeof *r) : NULL;
    if (image && !r)
        port_fail(&client->error, "close some programs", "there is not enough memory");
    if (r && load(client, r, image, length) != 0) {
        free(r);
        r = NULL;
    }
    free(image);
    return r;
}

void rehearsal_close(rehearsal_t *r) {
    free(r);
}

const dyn_model_t *rehearsal_model(const rehearsal_t *r) {
    return &r->model;
}

/* Begins a try. The arm stands at the limit if its encoder reads a little beyond. */
static int begin(rehearsal_t *r, const double start[], const motion_t *motion) {
    float q[DYN_MAX_JOINTS];
    r->app = r->fresh;
    for (uint32_t i = 0; i < r->app.n; i++) {
        const settings_t *s = &r->app.joint[i];
        q[i] = (float)start[i];
        if (s->bounded)
            q[i] = fminf(fmaxf(q[i], s->position[0]), s->position[1]);
    }
    const int status = app_place(&r->app, q);
    return status != APP_OK ? status : app_motion_start(&r->app, motion);
}

static int where(const rehearsal_t *r) {
    const uint32_t at = app_where(&r->app);
    return at < r->app.n ? (int)at : -1;
}

int rehearsal_profile(rehearsal_t *r, const double start[], const motion_t *motion, double *seconds,
                      int *joint) {
    const int status = begin(r, start, motion);
    *joint = where(r);
    *seconds = r->app.motion.last / (2 * (double)r->app.parameter[PARAMETER_rate_hz]);
    return status;
}

int rehearsal_points(rehearsal_t *r, const plan_t *plan, int *joint, uint32_t *point) {
    double start[DYN_MAX_JOINTS] = {0};
    for (uint32_t i = 0; i < r->app.n; i++)
        start[i] = (double)plan->start[i];
    int status = begin(r, start, &plan->motion);
    for (*point = 0; status == APP_OK && *point < plan->points; *point += status == APP_OK) {
        status = app_point_push(&r->app, plan->point + (size_t)*point * r->app.n);
        /* no tick uses the points up: only their checks are wanted */
        r->app.motion.as.points.tail = r->app.motion.as.points.head;
    }
    if (status == APP_OK)
        status = app_points_end(&r->app);
    *joint = where(r);
    return status;
}

double rehearsal_jog_speed(const rehearsal_t *r, uint32_t joint) {
    const setup_t from = setup_from(&r->app);
    const double reach = (double)setup_reach(&from, joint);
    const double limit =
        (double)(r->app.joint[joint].velocity * r->app.parameter[PARAMETER_limits_scale]);
    const double tool = (double)r->app.parameter[PARAMETER_tool_speed];
    return reach * limit > tool ? tool / reach : limit;
}

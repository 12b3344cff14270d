/* tools/motion/faults_twin.h */
#include "tools/motion/faults_twin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/app/app.h"
#include "tools/cli/messages.h"
#include "tools/cli/progress.h"
#include "tools/image/robot_image.h"

enum { TOKEN = 1, NOTICES = 17, LEASED = 1 << 19 /* bits of a sample's state */ };
#define SETTLE_S  0.2 /* s for which the loop holds the arm before anything else happens */
#define TIMEOUT_S 5.0 /* s in which a defect is found, or counts as not found */

typedef struct {
    app_t app;
    const faults_row_t *row;
    const bounds_t *bounds;
    faults_watch_t watch;
    bool alone;              /* the host is lost: the lease is not renewed */
    bool free;               /* the outputs are off */
    uint32_t known, noticed; /* notices before the defect; tick of the first new one, or 0 */
    uint32_t stop, worst;    /* the stop of the fault, and the worst one so far */
} twin_t;

static bool wrong_payload(const faults_row_t *row) {
    return row->arm_kg != row->model_kg;
}

/* Whether the defect is there from the start. A payload of an arm at rest is wrong as soon as the
 * loop is closed; in motion the model loses what the arm carries. */
static bool from_start(const faults_row_t *row) {
    return wrong_payload(row) && row->situation == FAULTS_REST;
}

static uint32_t parameter_of(const char *name) {
    uint32_t k = 0;
    while (k < PARAMETERS && strcmp(parameter_table[k].name, name) != 0)
        k++;
    return k;
}

static double value_of(const sample_t *sample, uint32_t field, uint32_t joint) {
    const uint32_t word = app_sample_word(sample, field, joint);
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* One tick of the board and one turn of its background. */
static void advance(twin_t *t) {
    static const app_inputs_t in = {
        .counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    const uint32_t n = t->bounds->robot->n;
    app_outputs_t out;
    const sample_t *sample;
    if (!t->alone)
        (void)app_lease(&t->app, TOKEN, LEASE_MS);
    app_tick(&t->app, &in, &out);
    app_poll(&t->app);
    while ((sample = app_sample_peek(&t->app)) != NULL) {
        sample_in_t seen = {.tick = sample->tick, .values = 1 + 2 * n};
        seen.word[0] = app_sample_word(sample, SAMPLE_state, 0);
        for (uint32_t i = 0; i < n; i++) {
            seen.value[1 + i] = value_of(sample, SAMPLE_q_arm, i);
            seen.value[1 + n + i] = value_of(sample, SAMPLE_q_ref, i);
        }
        app_sample_release(&t->app);
        faults_see(&t->watch, &seen);
        if (t->noticed == 0 && (seen.word[0] & ~t->known & ~(uint32_t)LEASED) >> NOTICES != 0)
            t->noticed = seen.tick;
    }
    t->free = !out.enable;
    if (!t->watch.failed)
        return;
    /* Guards that were overridden return a tick after the fault. With brakes a stop may end as soon
     * as it has begun. */
    const uint32_t since = t->watch.last_tick - t->watch.first_tick, stop = t->app.safety.stop;
    if (since == 0 || (since <= 2 && !t->app.parameter[PARAMETER_brakes]))
        t->stop = t->worst = stop;
    t->worst = stop > t->worst ? stop : t->worst;
}

/* Loads the robot, places the arm, closes the loop and takes the brakes off if there are none. */
static int set_up(twin_t *t, const uint8_t *image, size_t size, bool brakes) {
    const motion_t hold = {.kind = MOTION_HOLD};
    const faults_row_t *row = t->row;
    const bounds_t *w = t->bounds;
    faults_setting_t set[FAULTS_SETTINGS];
    float pose[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < w->robot->n; i++)
        pose[i] = (float)w->pose[i];
    app_init(&t->app);
    int status = app_load(&t->app, image, size);
    if (status == APP_OK)
        status = app_lease(&t->app, TOKEN, LEASE_MS);
    const uint32_t count = faults_settings(row, w, set);
    for (uint32_t k = 0; k < count && status == APP_OK; k++)
        status = app_override(&t->app, TOKEN, parameter_of(set[k].name),
                              set[k].joint ? w->joint : 0, set[k].value);
    if (status == APP_OK && from_start(row))
        status = app_set(&t->app, PARAMETER_payload_mass, 0, row->model_kg);
    if (status == APP_OK)
        status = app_set(&t->app, PARAMETER_sample_every, 0, 1);
    if (status == APP_OK) /* the loop must hold the arm before it has no brakes, or it would fall */
        status = app_set(&t->app, PARAMETER_brakes, 0, 1);
    advance(t); /* the new constants become valid */
    if (status == APP_OK)
        status = app_place(&t->app, pose);
    if (status == APP_OK)
        status = app_motion_start(&t->app, &hold);
    advance(t);
    return status == APP_OK && !brakes ? app_set(&t->app, PARAMETER_brakes, 0, 0) : status;
}

static int start(twin_t *t) {
    const motion_t motion = faults_motion(t->row, t->bounds);
    float point[DYN_MAX_JOINTS];
    if (t->row->situation == FAULTS_REST)
        return APP_OK;
    int status = app_motion_start(&t->app, &motion);
    for (uint32_t k = 0; motion.kind == MOTION_POINTS && k < FAULTS_POINTS_SENT && status == APP_OK;
         k++) {
        faults_point(t->row, t->bounds, k, point);
        status = app_point_push(&t->app, point);
    }
    return status;
}

/* Whether the reference is half way. */
static bool half_way(const twin_t *t, const motion_t *motion) {
    app_status_t status;
    app_status(&t->app, &status);
    const uint32_t at = t->bounds->joint;
    const double middle = ((double)motion->value[at] + t->bounds->pose[at]) / 2;
    return (t->bounds->pose[at] - middle) * ((double)status.q_ref[at] - middle) <= 0;
}

/* Waits for the moment of the defect: a motion has half of its way behind it; a host that leads
 * otherwise has done so for a while. */
static void wait(twin_t *t) {
    const motion_t motion = faults_motion(t->row, t->bounds);
    const uint32_t most = (uint32_t)(TIMEOUT_S * t->watch.rate_hz);
    if (motion.kind == MOTION_QUINTIC)
        for (uint32_t k = 0; k < most && !t->watch.failed && !half_way(t, &motion); k++)
            advance(t);
    else if (t->row->lost)
        for (uint32_t k = 0; k < (uint32_t)(SETTLE_S * t->watch.rate_hz); k++)
            advance(t);
}

static int multiply(twin_t *t, uint32_t parameter, float factor) {
    float now = 0;
    if (factor == 0)
        return APP_OK;
    const int status = app_get(&t->app, parameter, t->bounds->joint, &now);
    return status == APP_OK ? app_set(&t->app, parameter, t->bounds->joint, factor * now) : status;
}

/* Brings the defect. Returns what the board answers. */
static int inject(twin_t *t) {
    const faults_row_t *row = t->row;
    int status = APP_OK;
    if (row->defect != DEFECT_NONE)
        status = app_override(&t->app, TOKEN, PARAMETER_sim_defect, 0, (float)row->defect);
    if (status == APP_OK)
        status = multiply(t, PARAMETER_kp, row->kp);
    if (status == APP_OK)
        status = multiply(t, PARAMETER_kd, row->kd);
    if (status == APP_OK && wrong_payload(row) && !from_start(row))
        status = app_set(&t->app, PARAMETER_payload_mass, 0, row->model_kg);
    if (row->latch != APP_FAULT_NONE)
        app_fault(&t->app, row->latch);
    t->alone = row->lost;
    return status == APP_OK && row->released ? app_off(&t->app) : status;
}

/* Runs the row with or without brakes. Returns APP_OK, or why the board refused to begin. */
static int run(twin_t *t, const uint8_t *image, size_t size, bool brakes, faults_result_t *out) {
    t->alone = t->free = false;
    t->known = UINT32_MAX; /* nothing is new before the defect */
    t->noticed = 0;
    t->watch = (faults_watch_t){.worst = t->bounds,
                                .rate_hz = t->bounds->robot->rate_hz,
                                .marks = APP_STATE_FAULT,
                                .seconds = t->row->falls ? FAULTS_RELEASE_S : 1};
    int status = set_up(t, image, size, brakes);
    uint32_t injected = t->app.ticks;
    faults_forget(&t->watch);
    if (from_start(t->row))
        t->known = t->app.notice << NOTICES;
    for (uint32_t k = 0; k < (uint32_t)(SETTLE_S * t->watch.rate_hz) && status == APP_OK; k++)
        advance(t);
    if (status == APP_OK && !t->watch.failed)
        status = start(t);
    if (status != APP_OK)
        return status;
    wait(t);
    if (!from_start(t->row)) {
        t->known = t->app.notice << NOTICES;
        injected = t->app.ticks;
        faults_forget(&t->watch);
    }
    t->watch.marks = t->row->released ? APP_STATE_IDLE : APP_STATE_FAULT;
    out->answer = inject(t);
    const uint32_t most = injected + (uint32_t)(TIMEOUT_S * t->watch.rate_hz);
    while (t->app.ticks < most && !t->watch.done)
        advance(t);
    const uint32_t fault = t->watch.failed ? t->app.safety.fault : APP_FAULT_NONE;
    /* With brakes every stop ends with the outputs off; the bound is that of the way there. */
    const uint32_t stop = brakes ? out->worst : t->worst;
    faults_motion_t moved =
        t->watch.failed ? faults_after(&t->watch, t->row, stop, brakes) : faults_without(&t->watch);
    if (t->row->lies && t->stop <= APP_STOP_LOWER)
        moved.bounded = false; /* for a time the loop drove the arm without knowing where it is */
    if (brakes) {
        out->with = moved;
        out->good = out->good && fault == out->fault && moved.within >= moved.bounded;
        return APP_OK;
    }
    out->fault = fault;
    out->stop = t->stop;
    out->worst = t->worst;
    out->free = t->free;
    out->noticed = !t->watch.failed && t->noticed > 0;
    out->found_s =
        ((out->noticed ? t->noticed : t->watch.first_tick) - injected) / t->watch.rate_hz;
    out->off = 0;
    for (uint32_t i = 0; i < t->bounds->robot->n; i++)
        out->off = fmax(out->off, t->watch.off[i]);
    out->without = moved;
    out->good = out->answer == t->row->answer && fault == t->row->fault &&
                out->noticed == t->row->noticed &&
                (fault == APP_FAULT_NONE || faults_stops(t->row, t->worst)) &&
                moved.within >= moved.bounded && out->free == t->row->falls;
    return APP_OK;
}

/* An arm, as the twin has it and as the bounds are for it. */
typedef struct {
    robot_t robot;
    bounds_t bounds;
    uint8_t *image;
    size_t size;
} subject_t;

static void subject_free(subject_t *subject) {
    if (subject)
        free(subject->image);
    free(subject);
}

/* Makes the robot with a payload on its last link, in the given pose, or, without one, in the pose
 * that gravity loads most. Returns NULL if that cannot be computed. */
static subject_t *subject_make(const robot_t *robot, double mass_kg, const subject_t *like) {
    subject_t *made = calloc(1, sizeof *made);
    messages_t messages = MESSAGES_INIT;
    if (!made)
        return NULL;
    made->robot = *robot;
    made->robot.payload.mass += mass_kg;
    made->robot.has |= mass_kg > 0 ? IMAGE_HAS_PAYLOAD : 0u;
    if ((mass_kg == 0 || robot_settle(&made->robot, 0, &messages) == 0) &&
        bounds_find(&made->bounds, &made->robot, like ? like->bounds.pose : NULL) == DYN_OK)
        made->image = robot_image_make(&made->robot, &made->size, &messages);
    if (like)
        made->bounds.joint = like->bounds.joint;
    messages_free(&messages);
    if (made->image)
        return made;
    subject_free(made);
    return NULL;
}

/* Runs a row without and with brakes. */
static faults_result_t run_row(twin_t *t, const subject_t *subject) {
    faults_result_t out = {.row = t->row};
    t->bounds = &subject->bounds;
    int status = run(t, subject->image, subject->size, false, &out);
    if (status == APP_OK)
        status = run(t, subject->image, subject->size, true, &out);
    if (status != APP_OK)
        out = (faults_result_t){.row = t->row, .answer = status, .good = status == t->row->answer};
    return out;
}

int faults_twin(const robot_t *robot, faults_result_print_t print) {
    subject_t *plain = subject_make(robot, 0, NULL);
    twin_t *t = calloc(1, sizeof *t);
    int failed = plain && t ? 0 : -1;
    for (uint32_t k = 0; k < faults_rows && failed >= 0; k++) {
        const double *limit = robot->model.joint[plain->bounds.joint].drive.limits.position;
        t->row = &faults_row[k];
        progress_show("defects", k, faults_rows);
        if (t->row->situation == FAULTS_HOME && !(limit[1] > limit[0]))
            continue; /* without position limits the joint would find the switch */
        const double carried = (double)t->row->arm_kg;
        subject_t *loaded = carried > 0 ? subject_make(robot, carried, plain) : NULL;
        if (carried > 0 && !loaded) {
            failed = -1;
            break;
        }
        const faults_result_t result = run_row(t, loaded ? loaded : plain);
        print(robot, &result);
        failed += !result.good;
        subject_free(loaded);
    }
    free(t);
    subject_free(plain);
    return failed;
}

/* Runs a trial on the board's twin, which is the same application in this process, in f32. */
#include "tools/motion/trial.h"

#include <stdlib.h>
#include <string.h>

#include "firmware/app/app.h"

/* No motion of a trial takes so many ticks. The run ends after this number. */
enum { TICKS_MOST = 10000000 };

static const uint8_t field_of[] = {
#define X(name, per_joint) SAMPLE_##name,
    RECORD_FIELDS(X)
#undef X
};

static double number(const app_t *app, uint32_t field, uint32_t joint, uint32_t word) {
    float single;
    memcpy(&single, &word, sizeof single);
    (void)app, (void)joint;
    return sample_table[field].quantity == QUANTITY_NONE ? (double)word : (double)single;
}

/* Keeps only the samples that were taken during the motion, as trial_board.c does. */
static int take_samples(app_t *app, record_t *record, bool *ended, bool *begun) {
    const sample_t *sample;
    while ((sample = app_sample_peek(app)) != NULL) {
        uint32_t word[CLIENT_VALUES_MAX] = {0}, at = 0;
        double value[CLIENT_VALUES_MAX];
        for (uint32_t f = 0; f < RECORD_FIELD_COUNT; f++) {
            const uint32_t count = sample_table[field_of[f]].per_joint ? record->joints : 1;
            for (uint32_t i = 0; i < count; i++, at++) {
                word[at] = app_sample_word(sample, field_of[f], i);
                value[at] = number(app, field_of[f], i, word[at]);
            }
        }
        const bool moving = word[0] >> 16 & 1, running = (word[0] & 0xff) == APP_STATE_RUNNING;
        const uint32_t tick = sample->tick;
        app_sample_release(app);
        if (running && moving) {
            *begun = true;
            if (record_add(record, tick, word, value) != 0)
                return -1;
        } else if (*begun || (word[0] & 0xff) == APP_STATE_FAULT) {
            *ended = true;
            record->fault = word[0] >> 8 & 0xff;
        }
    }
    return 0;
}

static int set_up(app_t *app, uint32_t every, const trial_t *trial) {
    int status = app_set(app, PARAMETER_sample_every, 0, (float)every);
    for (uint32_t i = 0; i < app->n && status == APP_OK && trial->set; i++) {
        status = app_set(app, PARAMETER_kp, i, trial->kp[i]);
        if (status == APP_OK)
            status = app_set(app, PARAMETER_kd, i, trial->kd[i]);
    }
#define X(name, value)                                                                             \
    if (status == APP_OK && trial->set)                                                            \
        status = app_set(app, PARAMETER_##name, 0, value);
    TRIAL_GUARDS(X)
#undef X
    if (status == APP_OK && trial->set)
        status = app_set(app, PARAMETER_feedback, 0, (float)trial->feedback);
    if (status == APP_OK && trial->set)
        status = app_set(app, PARAMETER_feedforward, 0, (float)trial->feedforward);
    if (status == APP_OK && trial->set)
        status = app_set(app, PARAMETER_sim_mass, 0, trial->sim_mass);
    if (status == APP_OK && trial->set)
        status = app_place(app, trial->start);
    return status;
}

static int run(app_t *app, const trial_t *trial, record_t *record) {
    app_inputs_t in = {0};
    app_outputs_t out;
    uint32_t sent = 0, finished = 0;
    bool begun = false, ended = false;
    app_tick(app, &in, &out); /* the new constants become valid in the first tick */
    app->tail = app->head;
    int status = app_motion_start(app, &trial->motion);
    for (uint32_t tick = 0; status == APP_OK && !ended && tick < TICKS_MOST; tick++) {
        while (trial->motion.kind == MOTION_POINTS && status == APP_OK && sent < trial->points &&
               app_point_credits(app) > 0)
            status = app_point_push(app, trial->point + (size_t)sent++ * app->n);
        if (trial->motion.kind == MOTION_POINTS && sent == trial->points && !finished++)
            status = app_points_end(app);
        app_tick(app, &in, &out);
        if (take_samples(app, record, &ended, &begun) != 0)
            return APP_E_MEMORY;
    }
    return status;
}

int trial_on_host(const uint8_t *image, size_t size, uint32_t every, const trial_t *trial,
                  record_t *record) {
    app_t *app = malloc(sizeof *app);
    if (!app)
        return APP_E_MEMORY;
    app_init(app);
    int status = app_load(app, image, size);
    if (status == APP_OK) {
        *record =
            (record_t){.joints = app->n, .rate_hz = (uint32_t)app->parameter[PARAMETER_rate_hz]};
        status = set_up(app, every, trial);
    }
    if (status == APP_OK)
        status = run(app, trial, record);
    if (status == APP_OK)
        record_finish(record);
    free(app);
    return status;
}

/* Runs a trial on the board, over the link. */
#include "tools/motion/trial.h"

#include <string.h>
#include <time.h>

#include "firmware/link/frame.h"
#include "firmware/link/telemetry.h"

static const char *const fields[] = {
#define X(name, per_joint) #name,
    RECORD_FIELDS(X)
#undef X
};

/* WINDOW is the number of samples that may be in transit. It is large, because every credit for
 * more samples costs bytes, which the emulator receives slowly. */
enum { WINDOW = 4000, POLL_MS = 50 };
/* Seconds without a sample after which the board counts as dead. This is wall-clock time, because
 * the board's time is known only from its samples. */
enum { TIMEOUT_S = 60 };

typedef struct {
    record_t *record;
    bool begun, ended, full;
    uint32_t fault;
    time_t heard;
} watch_t;

static void take(void *user, const sample_in_t *sample) {
    watch_t *watch = user;
    const uint32_t state = sample->word[RECORD_state] & 0xff;
    const bool moving = sample->word[RECORD_state] >> 16 & 1;
    watch->heard = time(NULL);
    if (!watch->record)
        return;
    if (state == APP_STATE_RUNNING && moving) {
        watch->begun = true;
        watch->full |= record_add(watch->record, sample->tick, sample->word, sample->value) != 0;
    } else if (watch->begun || state == APP_STATE_FAULT) {
        watch->ended = true;
        watch->fault = sample->word[RECORD_state] >> 8 & 0xff;
    }
}

/* Receives and ignores the samples between the trials. */
static watch_t nobody;

/* Chooses the smallest sample period, at least `least` ticks, that the link can carry. */
int trial_stream(client_t *client, uint32_t least, uint32_t *every) {
    static const uint32_t choice[] = {1, 2, 4, 5, 8, 10, 20, 50, 100};
    const record_t shape = {.joints = client->device.joints};
    device_status_t status;
    if (client_status(client, &status) != 0)
        return -1;
    for (size_t i = 0; i < sizeof choice / sizeof choice[0]; i++) {
        *every = choice[i];
        const telemetry_budget_t budget =
            telemetry_budget(record_at(&shape, RECORD_FIELD_COUNT), client->device.payload,
                             status.rate_hz, *every, client->device.baud);
        if (*every >= least && budget.needed <= budget.available)
            break;
    }
    return client_stream(client, fields, RECORD_FIELD_COUNT, *every, WINDOW, take, &nobody);
}

static int set_all(client_t *client, const char *name, uint32_t count, const float *value) {
    uint32_t parameter;
    int joint;
    float now;
    if (client_parameter(client, name, &parameter, &joint) != 0)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (client_override(client, parameter, i, value[i], &now) != 0)
            return -1;
    return 0;
}

/* Tests whether NAME=VALUE,... contains this name. */
static bool asked(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == '=' || at[length] == '['))
            return true;
    return false;
}

static int set_up(client_t *client, const trial_t *trial) {
    const uint32_t n = client->device.joints;
    const float feedback = (float)trial->feedback, feedforward = (float)trial->feedforward;
    const float one = 1;
    /* a board with little RAM accepts parameters only while its outputs are off */
    if (client_off(client) != 0)
        return -1;
#define X(name, value)                                                                             \
    if (!asked(trial->asked, #name) && set_all(client, #name, 1, &(const float){value}) != 0)      \
        return -1;
    TRIAL_GUARDS(X)
#undef X
    if (set_all(client, "feedback", 1, &feedback) != 0 ||
        set_all(client, "feedforward", 1, &feedforward) != 0 ||
        set_all(client, "sim_mass", 1, &trial->sim_mass) != 0 ||
        set_all(client, "stages", 1, &one) != 0 ||
        (!asked(trial->asked, "kp") && set_all(client, "kp", n, trial->kp) != 0) ||
        (!asked(trial->asked, "kd") && set_all(client, "kd", n, trial->kd) != 0))
        return -1;
    return client_place(client, trial->start);
}

int trial_in_fault(client_t *client) {
    device_status_t status;
    const port_error_t error = client->error;
    if (client->status >= 0 && client_status(client, &status) == 0 &&
        status.state == APP_STATE_FAULT)
        return 0;
    client->error = error;
    return -1;
}

volatile sig_atomic_t trial_signal;

/* Stops the arm if a signal has ended the trial, and says what the board does then. Without this
 * stop the board would end the motion with a fault a second after the host has gone. */
static bool stopped(client_t *client) {
    enum { POLLS = 20000 };
    device_status_t status = {.state = APP_STATE_STOPPING};
    if (trial_signal == 0)
        return false;
    if (client_stop(client, false) != 0)
        return true;
    for (int i = 0; i < POLLS; i++)
        if (client_status(client, &status) != 0 ||
            (status.state != APP_STATE_STOPPING && !(status.flags & STATUS_MOVING)))
            break;
    port_fail(&client->error, "give the command again to start anew", "interrupted: %s",
              status.state == APP_STATE_IDLE      ? "the arm rests, and the outputs are off"
              : status.state == APP_STATE_RUNNING ? "the arm has stopped, and the loop holds it"
                                                  : "the board was told to stop the arm");
    return true;
}

static int send_points(client_t *client, const trial_t *trial, watch_t *watch) {
    const uint32_t n = client->device.joints;
    uint32_t sent = 0, credits = 1;
    while (sent < trial->points && !watch->ended) {
        const uint32_t left = trial->points - sent, room = (client->device.payload - 4u) / (4 * n);
        uint32_t now = left < credits ? left : credits;
        now = now < room ? now : room > 0 ? room : 1;
        device_status_t status;
        if (stopped(client))
            return -1;
        if (credits == 0) {
            if (client_poll(client, POLL_MS) < 0 || client_status(client, &status) != 0)
                return -1;
            credits = status.point_credits;
            continue;
        }
        if (client_points(client, trial->point + (size_t)sent * n, now, &credits) != 0)
            return trial_in_fault(client);
        sent += now;
    }
    return watch->ended || client_points(client, NULL, 0, &credits) == 0 ? 0
                                                                         : trial_in_fault(client);
}

static int watch_to_the_end(client_t *client, watch_t *watch) {
    while (!watch->ended && !watch->full) {
        if (stopped(client) || client_poll(client, POLL_MS) < 0)
            return -1;
        if (time(NULL) - watch->heard > TIMEOUT_S) {
            port_fail(&client->error, "look at the board's console",
                      "the board sent no sample for %d s", TIMEOUT_S);
            return -1;
        }
    }
    if (watch->full)
        port_fail(&client->error, "record a shorter motion", "there is not enough memory");
    return watch->full ? -1 : 0;
}

int trial_on_board(client_t *client, const trial_t *trial, record_t *record) {
    watch_t watch = {.heard = time(NULL), .record = record};
    device_status_t status;
    *record = (record_t){.joints = client->device.joints};
    if (stopped(client))
        return -1;
    if (trial->set && set_up(client, trial) != 0)
        return -1;
    client->user = &watch;
    int failed = client_motion(client, &trial->motion);
    if (failed == 0 && trial->motion.kind == MOTION_POINTS)
        failed = send_points(client, trial, &watch);
    if (failed == 0)
        failed = watch_to_the_end(client, &watch);
    client->user = &nobody;
    if (failed != 0 || client_status(client, &status) != 0)
        return -1;
    record->fault = watch.fault;
    record->rate_hz = status.rate_hz;
    record_finish(record);
    return 0;
}

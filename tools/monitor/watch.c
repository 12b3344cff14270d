/* Implements tools/monitor/watch.h. */
#include "tools/monitor/watch.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "firmware/params/image.h"
#include "firmware/safety/faults.h"
#include "tools/cli/messages.h"

/* WINDOW: samples in transit. TRIES and TRY_MS: a board that is silent must not hold up the screen
 * for long. SILENT_MS: from here on the board is asked why no samples come. */
enum { WINDOW = 2000, TRIES = 3, TRY_MS = 1000, SILENT_MS = 1000, AGAIN_MS = 500 };

int64_t watch_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void watch_report(watch_t *watch, const char *format, ...) {
    char text[WATCH_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    watch->reported = watch->reported && !strcmp(text, watch->event);
    snprintf(watch->event, sizeof watch->event, "%s", text);
}

/* -------------------------------------------------------------------------------------- limits */

static const struct {
    const char *field;
    limit_kind_t kind;
} limit_table[] = {
    {"q", LIMIT_POSITION},  {"q_ref", LIMIT_POSITION},   {"q_arm", LIMIT_POSITION},
    {"qd", LIMIT_VELOCITY}, {"qd_ref", LIMIT_VELOCITY},  {"qdd_ref", LIMIT_ACCELERATION},
    {"tau", LIMIT_TORQUE},  {"tau_model", LIMIT_TORQUE}, {"volt", LIMIT_VOLTAGE}};

limit_kind_t watch_limit_of(const char *field) {
    for (size_t i = 0; i < sizeof limit_table / sizeof limit_table[0]; i++)
        if (!strcmp(limit_table[i].field, field))
            return limit_table[i].kind;
    return LIMITS;
}

static double parameter(client_t *client, const char *name, uint32_t joint, double otherwise) {
    uint32_t number;
    int any;
    float value;
    bool saved;
    return client_parameter(client, name, &number, &any) == 0 &&
                   client_get(client, number, joint, &value, &saved) == 0
               ? (double)value
               : otherwise;
}

void watch_limits(watch_t *watch) {
    static image_t image;
    uint32_t length = 0;
    memset(watch->limit, 0, sizeof watch->limit);
    uint8_t *bytes = client_read_image(watch->client, 0, &length);
    if (bytes && image_read(bytes, length, &image, NULL) == IMAGE_OK) {
        const double scale = parameter(watch->client, "limits_scale", 0, 1);
        for (uint32_t k = 0; k < image.n; k++) {
            const image_joint_t *j = &image.joint[k];
            const double most[LIMITS] = {[LIMIT_VELOCITY] = (double)j->velocity[0] * scale,
                                         [LIMIT_ACCELERATION] = (double)j->acceleration[0],
                                         [LIMIT_TORQUE] = (double)j->torque[0] * scale,
                                         [LIMIT_VOLTAGE] = (double)j->voltage[0]};
            for (int i = LIMIT_VELOCITY; i < LIMITS; i++) {
                watch->limit[i][k][0] = -most[i];
                watch->limit[i][k][1] = most[i];
            }
            watch->limit[LIMIT_POSITION][k][0] =
                parameter(watch->client, "position_lower", k, (double)j->position[0]);
            watch->limit[LIMIT_POSITION][k][1] =
                parameter(watch->client, "position_upper", k, (double)j->position[1]);
        }
    }
    free(bytes);
}

/* ------------------------------------------------------------------------------------ the start */

/* Adds the nearest name to the error about a field that the board does not have. */
static void suggest_field(watch_t *watch) {
    client_t *client = watch->client;
    const char *known[257] = {0};
    for (uint32_t i = 0; i < client->device.fields && i < 256; i++)
        known[i] = client->device.field[i].name;
    for (uint32_t i = 0; i < watch->names; i++) {
        uint32_t k = 0;
        while (known[k] && strcmp(known[k], watch->name[i]) != 0)
            k++;
        const char *near = known[k] ? NULL : messages_nearest(watch->name[i], known);
        if (near) {
            const port_error_t error = client->error;
            snprintf(client->error.cure, sizeof client->error.cure, "did you mean '%.40s'? %.300s",
                     near, error.cure);
            return;
        }
    }
}

bool watch_look(watch_t *watch) {
    if (!watch->client || client_status(watch->client, &watch->status) != 0 ||
        client_fault(watch->client, &watch->fault) != 0)
        return false;
    return true;
}

int watch_start(watch_t *watch) {
    static const char *const usual[] = {"q", "tau"};
    client_t *client = watch->client;
    if (client_discover_some(client, DISCOVER_FIELDS | DISCOVER_PARAMETERS) != 0 ||
        !watch_look(watch))
        return -1;
    if (client->device.joints == 0) {
        port_fail(&client->error, "load one: `appell flash ROBOT`",
                  "the board has no robot, so it sends no samples");
        return -1;
    }
    watch_limits(watch);
    int started =
        client_stream(client, watch->name, watch->names, watch->every, WINDOW, NULL, NULL);
    if (started != 0 && watch->names == 0)
        started = client_stream(client, usual, 2, watch->every, WINDOW, NULL, NULL);
    if (started != 0) {
        suggest_field(watch);
        return -1;
    }
    /* An emulator that only this command uses is as slow as its host and cannot be lost. */
    if (!port_firmware(client->port)) {
        client->tries = TRIES;
        client->timeout_ms = TRY_MS;
    }
    watch->phase = WATCH_ON;
    watch->samples = client->samples;
    watch->heard_ms = watch_now_ms();
    return 0;
}

/* ----------------------------------------------------------------------------------- after a gap */

/* The lease is gone, and with it what still moved. */
static void drop_lease(watch_t *watch) {
    watch->motion_lost |= watch->client->token != 0;
    watch->client->token = 0;
}

static void lose(watch_t *watch, watch_phase_t phase) {
    if (watch->phase == WATCH_ON) {
        const time_t at = time(NULL) - (time_t)((watch_now_ms() - watch->heard_ms) / 1000);
        struct tm local;
        watch->gaps++;
        strftime(watch->lost_at, sizeof watch->lost_at, "%H:%M:%S", localtime_r(&at, &local));
    }
    watch->phase = phase;
    watch->tried_ms = INT64_MIN / 2;
    if (phase != WATCH_CLOSED)
        return;
    watch->dead = port_firmware(watch->client->port);
    if (watch->dead)
        return;
    drop_lease(watch);
    client_close(watch->client);
    watch->client = NULL;
    watch_report(
        watch, "the line was closed at %s; waiting for it%s", watch->lost_at,
        watch->motion_lost
            ? "; a motion that is under way stops with the fault `host`, because its lease "
              "lapses"
            : "");
}

/* Chooses the fields again. Returns true if samples can be expected. */
static bool resume(watch_t *watch) {
    client_t *client = watch->client;
    char build[sizeof client->device.build];
    if ((int32_t)(watch->status.tick - watch->tick) < 0) {
        drop_lease(watch);
        watch->was_reset = true;
        watch->tick = watch->status.tick;
    }
    memcpy(build, client->device.build, sizeof build);
    const bool on = client_greet(client, false) == 0 &&
                    (!strcmp(build, client->device.build) || client_discover(client) == 0) &&
                    watch_start(watch) == 0;
    const char *reset = watch->was_reset ? "the board was reset" : "the samples stopped";
    if (on)
        watch_report(watch, "%s at %s; samples come again%s", reset, watch->lost_at,
                     watch->motion_lost ? "; the motion of this command has ended" : "");
    else if (!client->closed)
        watch_report(watch, "%s at %s: %.300s; %.300s; waiting", reset, watch->lost_at,
                     client->error.what, client->error.cure);
    watch->motion_lost &= !on;
    return on;
}

/* Asks a silent board, or opens a closed line. */
static bool try_again(watch_t *watch) {
    port_error_t error;
    watch->tried_ms = watch_now_ms();
    if (watch->phase == WATCH_CLOSED) {
        watch->client = client_reopen(watch->port, &error);
        if (!watch->client)
            return false;
        watch->phase = WATCH_SILENT;
    }
    const bool answers = client_status(watch->client, &watch->status) == 0;
    const bool on = answers && resume(watch);
    watch->tried_ms = watch_now_ms();
    if (!on && watch->client->closed)
        lose(watch, WATCH_CLOSED);
    else if (!answers)
        watch_report(watch, "the board is silent; waiting for it");
    return on;
}

bool watch_turn(watch_t *watch, int timeout_ms) {
    if (watch->phase != WATCH_ON && watch_now_ms() - watch->tried_ms >= AGAIN_MS)
        return try_again(watch);
    if (!watch->client) {
        (void)poll(NULL, 0, timeout_ms);
        return false;
    }
    const int n = client_poll(watch->client, timeout_ms);
    if (watch->client->samples != watch->samples) {
        watch->samples = watch->client->samples;
        watch->heard_ms = watch_now_ms();
        watch->tick = watch->client->sample.tick;
    }
    const double period_ms = 1000.0 * watch->client->every / fmax(watch->status.rate_hz, 1);
    const bool late = watch_now_ms() - watch->heard_ms > SILENT_MS + 5 * (int64_t)period_ms;
    if (n < 0 && watch->client->closed)
        lose(watch, WATCH_CLOSED);
    else if (watch->phase == WATCH_ON && late)
        lose(watch, WATCH_SILENT);
    if (n < 0 && watch->client && watch->client->status >= 0)
        drop_lease(watch); /* the board refuses to renew it */
    return false;
}

void watch_end(watch_t *watch) {
    if (watch->client)
        client_close(watch->client);
    watch->client = NULL;
}

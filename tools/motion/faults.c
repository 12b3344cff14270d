/* Provokes faults on a board with a simulated arm, as its user would see them, and compares the
 * motion of the arm after the fault with the bounds of faults_bounds.h. */
#include "tools/motion/faults.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/control/sample.h"
#include "firmware/lab/defects.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"
#include "tools/cli/plot.h"
#include "tools/cli/progress.h"
#include "tools/motion/faults_watch.h"
#include "tools/motion/trial.h"

/*
 * WINDOW is the number of samples that may be in transit. Even half of it is more than a socket
 * buffers (208 KB at some 70 bytes per sample). So a slow host stops the emulator and loses no
 * sample.
 */
enum { WINDOW = 8000, POLL_MS = 50, SILENT_POLLS = 600 };
#define TIMEOUT_S 10.0 /* seconds of the board's time in which the fault must occur */

/* A watch, and where its samples are written. */
typedef struct {
    faults_watch_t watch;
    FILE *csv;
    plot_t *plot;
} motion_record_t;

static void see(void *user, const sample_in_t *sample) {
    motion_record_t *m = user;
    faults_watch_t *w = &m->watch;
    const uint32_t n = w->worst->robot->n;
    const double *q = sample->value + 1;
    const double h = (sample->tick - w->last_tick) / w->rate_hz;
    const bool failed = w->failed;
    double drawn[2 * DYN_MAX_JOINTS + 1] = {0};
    if (w->done)
        return;
    for (uint32_t i = 0; i < n && w->samples > 0 && h > 0; i++)
        drawn[1 + n + i] = (q[i] - w->q[i]) / h;
    faults_see(w, sample);
    drawn[0] = w->now_height;
    memcpy(drawn + 1, q, n * sizeof *q);
    if (m->plot && w->failed && !failed)
        plot_mark(m->plot, sample->tick / w->rate_hz, "s since the fault");
    if (m->plot)
        plot_add(m->plot, sample->tick / w->rate_hz, drawn);
    if (m->csv) {
        fprintf(m->csv, "%u,%u,%.9g", (unsigned)sample->tick, (unsigned)(sample->word[0] & 0xff),
                w->now_height);
        for (uint32_t i = 0; i < n; i++)
            fprintf(m->csv, ",%.9g", q[i]);
        fputc('\n', m->csv);
    }
}

static int set_one(client_t *client, const char *name, float value) {
    uint32_t parameter;
    int joint;
    float now;
    if (client_parameter(client, name, &parameter, &joint) != 0)
        return -1;
    return client_override(client, parameter, 0, value, &now);
}

/* Overrides the parameters of the row. */
static int set_all(client_t *client, const bounds_t *w, const faults_row_t *s) {
    faults_setting_t set[FAULTS_SETTINGS];
    const uint32_t count = faults_settings(s, w, set);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t parameter;
        int joint;
        float now;
        if (client_parameter(client, set[k].name, &parameter, &joint) != 0 ||
            client_override(client, parameter, set[k].joint ? w->joint : 0, set[k].value, &now) !=
                0)
            return -1;
    }
    return 0;
}

/* Starts what the fault interrupts; otherwise the loop holds the arm. */
static int start(client_t *client, const bounds_t *w, const faults_row_t *s) {
    const motion_t motion = faults_motion(s, w);
    float point[DYN_MAX_JOINTS];
    if (s->situation == FAULTS_REST)
        return 0;
    if (client_motion(client, &motion) != 0)
        return -1;
    /* The board starts the streamed motion when half of its buffer is full. */
    for (uint32_t k = 0, credits = 1;
         motion.kind == MOTION_POINTS && k < FAULTS_POINTS_SENT && credits > 0; k++) {
        faults_point(s, w, k, point);
        if (client_points(client, point, 1, &credits) != 0)
            /* the points came too late, which causes the same fault */
            return trial_in_fault(client);
    }
    return 0;
}

/* Waits until the samples show a fault and reads it at once, because a second fault during the stop
 * can replace the stop by a harder one. Then watches the arm for seen->seconds. */
static int watch(client_t *client, const faults_watch_t *seen, device_fault_t *fault) {
    uint32_t start = 0;
    int silent = 0; /* number of successive polls without data; the emulator may be slow */
    bool known = false;
    while (silent < SILENT_POLLS &&
           (start == 0 || seen->failed || (seen->last_tick - start) / seen->rate_hz < TIMEOUT_S)) {
        const int bytes = client_poll(client, POLL_MS);
        if (bytes < 0 || (seen->failed && !known && client_fault(client, fault) != 0))
            return -1;
        known = seen->failed;
        silent = bytes > 0 ? 0 : silent + 1;
        start = start == 0 ? seen->last_tick : start;
        if (known && seen->done)
            return 0;
    }
    device_status_t status;
    if (client_status(client, &status) == 0)
        port_fail(&client->error, "watch the board with `appell monitor`",
                  "%s: at tick %u the board is in state %s with fault %s; the last sample is of "
                  "tick %u",
                  seen->failed ? "the samples ended before the stop" : "no fault occurred",
                  (unsigned)status.tick, app_state_name(status.state), app_fault_name(status.fault),
                  (unsigned)seen->last_tick);
    return -1;
}

/* Prepares the arm, provokes the fault and watches the arm. */
static int run(client_t *client, const bounds_t *w, const faults_row_t *s, motion_record_t *seen,
               device_fault_t *fault) {
    static const char *const fields[] = {"state", "q_arm", "q_ref"};
    float pose[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < w->robot->n; i++)
        pose[i] = (float)w->pose[i];
    /* The loop must hold the arm before the brakes are released, or the arm would fall. */
    const motion_t hold = {.kind = MOTION_HOLD};
    if (set_all(client, w, s) != 0 || set_one(client, "brakes", 1) != 0 ||
        client_place(client, pose) != 0 ||
        client_stream(client, fields, 3, 5, WINDOW, see, seen) != 0 ||
        client_motion(client, &hold) != 0 || set_one(client, "brakes", 0) != 0)
        return -1;
    if ((s->defect != DEFECT_NONE && set_one(client, "sim_defect", (float)s->defect) != 0) ||
        start(client, w, s) != 0)
        return -1;
    return watch(client, &seen->watch, fault);
}

static int report(const client_t *client, const faults_row_t *s, const faults_watch_t *seen,
                  const device_fault_t *f, faults_print_t print) {
    char line[512];
    const robot_t *robot = seen->worst->robot;
    const faults_motion_t moved = faults_after(seen, s, f->stop, false);
    const uint32_t fastest = moved.speed.joint;
    const bool prismatic = f->joint < robot->n && client->device.prismatic[f->joint];
    const bool good = f->fault == s->fault && faults_stops(s, f->stop) && moved.within &&
                      (f->stop != APP_STOP_RELEASE || s->falls);
    snprintf(line, sizeof line, "%s: fault %u, %s%s%s: %.4g %s (limit %.4g). %s", s->how, f->fault,
             app_fault_name(f->fault), f->joint < robot->n ? ", joint " : "",
             f->joint < robot->n ? client->device.joint[f->joint] : "", (double)f->value,
             quantity_unit(app_fault_quantity(f->fault), prismatic), (double)f->limit,
             app_fault_cause(f->fault));
    print(line);
    snprintf(
        line, sizeof line,
        "    stop: %s; fastest joint %s, %.3f %s (bound %.3f); the end effector fell %.4f m in "
        "%.2f s (bound %.3f m)%s",
        app_stop_name(f->stop), robot->joint[fastest].name, moved.speed.value,
        client->device.prismatic[fastest] ? "m/s" : "rad/s", moved.speed.bound, moved.fall,
        (seen->last_tick - seen->first_tick) / seen->rate_hz, moved.fall_bound,
        good ? "" : "   NOT AS EXPECTED");
    print(line);
    return good ? 0 : 1;
}

static plot_t *open_plot(const bounds_t *w, const char *path, const faults_row_t *s) {
    static const char *const effector[] = {"end effector"};
    const char *name[DYN_MAX_JOINTS];
    plot_t *plot = plot_open(path, s->how);
    for (uint32_t i = 0; i < w->robot->n; i++)
        name[i] = w->robot->joint[i].name;
    if (plot) {
        plot_panel(plot, "height", "m", effector, 1);
        plot_panel(plot, "joints", "rad", name, w->robot->n);
        plot_panel(plot, "speeds", "rad/s", name, w->robot->n);
    }
    return plot;
}

static int one(client_t *client, const bounds_t *w, const faults_row_t *s, const char *folder,
               faults_print_t print) {
    device_status_t status;
    device_fault_t fault;
    char path[512];
    if (client_status(client, &status) != 0)
        return -1;
    motion_record_t seen = {
        .watch = {.worst = w,
                  .rate_hz = status.rate_hz,
                  .marks = APP_STATE_FAULT,
                  .seconds = s->stop == APP_STOP_RELEASE ? FAULTS_RELEASE_S : 1}};
    snprintf(path, sizeof path, "%s/fault-%s.csv", folder, app_fault_name(s->fault));
    for (char *c = path; *c; c++)
        *c = *c == ' ' ? '-' : *c;
    seen.csv = fopen(path, "w");
    if (seen.csv)
        fprintf(seen.csv, "tick,state,height_m,q of each joint\n");
    memcpy(strrchr(path, '.'), ".png", 5);
    seen.plot = open_plot(w, path, s);
    const int status_run = run(client, w, s, &seen, &fault);
    if (seen.csv)
        fclose(seen.csv);
    if (seen.plot && plot_close(seen.plot, status_run == 0) != 0)
        return -1;
    if (status_run != 0 || client_stream_end(client) != 0 || client_off(client) != 0 ||
        client_follow(client) != 0)
        return -1;
    return report(client, s, &seen.watch, &fault, print);
}

int faults_provoke(client_t *client, const robot_t *robot, const char *folder, faults_print_t print,
                   uint32_t *done) {
    bounds_t *w = calloc(1, sizeof *w);
    char line[512];
    int failed = 0;
    *done = 0;
    if (!w || bounds_find(w, robot, NULL) != DYN_OK) {
        free(w);
        port_fail(&client->error, "check the robot with `appell check`",
                  "the dynamics of the robot cannot be computed");
        return -1;
    }
    int at = snprintf(line, sizeof line,
                      "pose with the largest load (joint %s):", robot->joint[w->joint].name);
    for (uint32_t i = 0; i < robot->n && at < 400; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %.3f", w->pose[i]);
    print(line);
    for (uint32_t k = 0; k < faults_rows && failed >= 0; k++) {
        const double *limit = robot->model.joint[w->joint].drive.limits.position;
        const faults_row_t *row = &faults_row[k];
        if (!row->board || (row->floats && !strcmp(client->device.real, "q31")) ||
            /* without position limits the joint would find the switch */
            (row->situation == FAULTS_HOME && !(limit[1] > limit[0])))
            continue;
        progress_show("defects", k, faults_rows);
        const int status = one(client, w, row, folder, print);
        failed = status < 0 ? -1 : failed + status;
        *done += status == 0;
    }
    free(w);
    return failed;
}

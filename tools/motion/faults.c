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
#include "tools/motion/faults_bounds.h"
#include "tools/motion/trial.h"

#define RELEASE_S 0.25 /* seconds for which a released arm without brakes is watched falling */
/*
 * WINDOW is the number of samples that may be in transit. Even half of it is more than a socket
 * buffers (208 KB at some 70 bytes per sample). So a slow host stops the emulator and loses no
 * sample.
 */
enum { WINDOW = 8000, POLL_MS = 50, SILENT_POLLS = 600, DRY_POINTS = 20 };
/* rad or m; distance from the pose to the position limits that the arm falls through */
#define NEAR      0.05
#define TIMEOUT_S 10.0 /* seconds of the board's time in which the fault must occur */

/* A parameter that is overridden before the loop closes. */
typedef struct {
    const char *name;
    float value;
} setting_t;

typedef struct {
    const char *how;
    uint32_t fault, defect, stop;
    bool moves;  /* the fault occurs during a motion */
    bool dry;    /* the fault occurs because a streamed motion lacks its last points */
    bool tight;  /* the position limits are close to the pose */
    bool homes;  /* the joint seeks a switch that it does not find */
    bool floats; /* only on boards that compute in floating point */
    setting_t set[4];
} scenario_t;

static const scenario_t scenario[] = {
    {.fault = APP_FAULT_OVERRUN,
     .how = "ticks come late",
     .defect = DEFECT_LATE,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_ENCODER,
     .how = "an encoder is lost",
     .defect = DEFECT_LOST,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_PARITY,
     .how = "an encoder has wrong parity",
     .defect = DEFECT_PARITY,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_ESTOP,
     .how = "emergency stop",
     .defect = DEFECT_ESTOP,
     .stop = APP_STOP_RELEASE},
    {.fault = APP_FAULT_NUMBER,
     .how = "a torque is NaN",
     .defect = DEFECT_NUMBER,
     .floats = true,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_SUPPLY_LOW,
     .how = "the supply voltage drops",
     .defect = DEFECT_LOW,
     .stop = APP_STOP_RELEASE},
    {.fault = APP_FAULT_SUPPLY_HIGH,
     .how = "the supply voltage rises",
     .defect = DEFECT_HIGH,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_DIRECTION,
     .how = "motor wires swapped",
     .defect = DEFECT_MOTOR,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_TRACKING,
     .how = "a joint jams in motion",
     .defect = DEFECT_JAMMED,
     .moves = true,
     .stop = APP_STOP_HOLD,
     .set = {{"guard_tracking", 0.02f}}},
    {.fault = APP_FAULT_TORQUE,
     .how = "a joint jams; loose tracking guard",
     .defect = DEFECT_JAMMED,
     .moves = true,
     .stop = APP_STOP_LOWER,
     .set = {{"guard_tracking", 10}}},
    {.fault = APP_FAULT_VELOCITY,
     .how = "the arm falls without torque",
     .defect = DEFECT_LIMP,
     .stop = APP_STOP_DAMP,
     .set = {{"guard_tracking", 10},
             {"guard_speed", 1},
             {"guard_direction", 0},
             {"guard_limit_s", 10}}},
    {.fault = APP_FAULT_MODEL,
     .how = "the inertia matrix is singular",
     .defect = DEFECT_INERTIA,
     .stop = APP_STOP_DAMP},
    {.fault = APP_FAULT_POSITION,
     .how = "the arm falls past a limit",
     .defect = DEFECT_LIMP,
     .tight = true,
     .stop = APP_STOP_HOLD,
     .set = {{"guard_tracking", 10},
             {"guard_speed", 10},
             {"guard_direction", 0},
             {"guard_limit_s", 10}}},
    {.fault = APP_FAULT_VOLTAGE,
     .how = "the supply is too weak",
     .defect = DEFECT_WEAK,
     .stop = APP_STOP_RELEASE, /* at the fault the overridden guard returns: the supply is low */
     .set = {{"guard_tracking", 10}, {"guard_supply_low", 0.01f}}},
    {.fault = APP_FAULT_SETPOINT, .how = "points stop coming", .dry = true, .stop = APP_STOP_HOLD},
    {.fault = APP_FAULT_HOMING,
     .how = "a switch is not found",
     .homes = true,
     .stop = APP_STOP_HOLD,
     .set = {{"home_speed", 0.5f}}},
};
enum { SCENARIOS = sizeof scenario / sizeof scenario[0] };

typedef struct {
    const bounds_t *worst;
    /* seconds: board's time for which the arm is watched after the fault */
    double rate_hz, seconds;
    uint32_t first_tick, last_tick, rows;
    bool failed, done;
    double q[DYN_MAX_JOINTS], height, fall;
    /* largest speeds after and before the fault */
    double speed[DYN_MAX_JOINTS], before[DYN_MAX_JOINTS];
    double off[DYN_MAX_JOINTS]; /* largest |q_ref - q_arm| before the fault */
    FILE *csv;
    plot_t *plot;
} motion_record_t;

static void see(void *user, const sample_in_t *sample) {
    motion_record_t *m = user;
    const uint32_t n = m->worst->robot->n;
    const double *q = sample->value + 1;
    const double h = (sample->tick - m->last_tick) / m->rate_hz;
    const bool fault = (sample->word[0] & 0xff) == APP_STATE_FAULT;
    if (m->done) /* later faults do not count: a joint that stays jammed causes a second one */
        return;
    const double height = bounds_height(m->worst, q);
    double drawn[2 * DYN_MAX_JOINTS + 1] = {height};
    memcpy(drawn + 1, q, n * sizeof *q);
    for (uint32_t i = 0; i < n && m->rows > 0 && h > 0; i++) {
        drawn[1 + n + i] = (q[i] - m->q[i]) / h;
        double *most = m->failed ? &m->speed[i] : &m->before[i];
        *most = fmax(*most, fabs(q[i] - m->q[i]) / h);
        if (!m->failed && !fault)
            m->off[i] = fmax(m->off[i], fabs(sample->value[1 + n + i] - q[i]));
    }
    if (fault && !m->failed) { /* the fault occurred between the last two samples */
        m->failed = true;
        m->first_tick = sample->tick;
        if (m->plot)
            plot_mark(m->plot, sample->tick / m->rate_hz, "s since the fault");
        m->height = height;
    }
    if (fault)
        m->fall = fmax(m->fall, m->height - height);
    memcpy(m->q, q, n * sizeof *q);
    m->last_tick = sample->tick;
    m->done = m->failed && (m->last_tick - m->first_tick) / m->rate_hz >= m->seconds;
    m->rows++;
    if (m->plot)
        plot_add(m->plot, sample->tick / m->rate_hz, drawn);
    if (m->csv) {
        fprintf(m->csv, "%u,%u,%.9g", (unsigned)sample->tick, (unsigned)(sample->word[0] & 0xff),
                height);
        for (uint32_t i = 0; i < n; i++)
            fprintf(m->csv, ",%.9g", q[i]);
        fputc('\n', m->csv);
    }
}

/* Sets the position limits of the loaded joint close to the pose, on both sides. */
static int set_limits(client_t *client, const bounds_t *w) {
    static const char *const name[] = {"position_lower", "position_upper"};
    for (int k = 0; k < 2; k++) {
        uint32_t parameter;
        int joint;
        float now;
        const double limit = w->pose[w->joint] + (k ? NEAR : -NEAR);
        if (client_parameter(client, name[k], &parameter, &joint) != 0 ||
            client_override(client, parameter, w->joint, (float)limit, &now) != 0)
            return -1;
    }
    return 0;
}

/* Places the home switch of the loaded joint beyond its nearer stop, where it is never found. */
static int set_home(client_t *client, const bounds_t *w) {
    static const char *const name[] = {"home", "home_position"};
    const double *limit = w->robot->model.joint[w->joint].drive.limits.position;
    const double at = w->pose[w->joint];
    const bool lower = at - limit[0] < limit[1] - at;
    const double value[] = {lower ? -HOME_SWITCH : HOME_SWITCH,
                            lower ? limit[0] - 1 : limit[1] + 1};
    for (int k = 0; k < 2; k++) {
        uint32_t parameter;
        int joint;
        float now;
        if (client_parameter(client, name[k], &parameter, &joint) != 0 ||
            client_override(client, parameter, w->joint, (float)value[k], &now) != 0)
            return -1;
    }
    return 0;
}

static int set_one(client_t *client, const char *name, float value) {
    uint32_t parameter;
    int joint;
    float now;
    if (client_parameter(client, name, &parameter, &joint) != 0)
        return -1;
    return client_override(client, parameter, 0, value, &now);
}

/* Starts what the fault interrupts: a motion, a streamed motion that ends too early, or homing.
 * Otherwise the loop holds the arm. */
static int start(client_t *client, const bounds_t *w, const scenario_t *s, const float *pose) {
    motion_t motion = {.kind = s->dry ? MOTION_POINTS : MOTION_QUINTIC};
    const dyn_limits_t *limits = &w->robot->model.joint[w->joint].drive.limits;
    const double middle = (limits->position[0] + limits->position[1]) / 2;
    memcpy(motion.value, pose, w->robot->n * sizeof *pose);
    motion.value[w->joint] += pose[w->joint] < (float)middle ? 0.5f : -0.5f;
    motion.duration_s = s->dry ? 0.02f : 0;
    if (s->homes) {
        motion = (motion_t){.kind = MOTION_HOME};
        motion.value[w->joint] = 1;
    }
    if (!s->dry && !s->moves && !s->homes)
        return 0;
    if (client_motion(client, &motion) != 0)
        return -1;
    /* The board starts the streamed motion when half of its buffer is full. */
    for (uint32_t k = 0, credits = 1; s->dry && k < DRY_POINTS && credits > 0; k++)
        if (client_points(client, pose, 1, &credits) != 0)
            /* the points came too late, which causes the same fault */
            return trial_in_fault(client);
    return 0;
}

/* Waits until the samples show a fault and reads it at once, because a second fault during the stop
 * can replace the stop by a harder one. Then watches the arm for seen->seconds. */
static int watch(client_t *client, motion_record_t *seen, device_fault_t *fault) {
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
static int run(client_t *client, const bounds_t *w, const scenario_t *s, motion_record_t *seen,
               device_fault_t *fault) {
    static const char *const fields[] = {"state", "q_arm", "q_ref"};
    float pose[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < w->robot->n; i++)
        pose[i] = (float)w->pose[i];
    /* The loop must hold the arm before the brakes are released, or the arm would fall. */
    const motion_t hold = {.kind = MOTION_HOLD};
    for (int k = 0; k < 4 && s->set[k].name; k++)
        if (set_one(client, s->set[k].name, s->set[k].value) != 0)
            return -1;
    if (set_one(client, "sim_defect_joint", (float)w->joint) != 0 ||
        set_one(client, "brakes", 1) != 0 || (s->tight && set_limits(client, w) != 0) ||
        (s->homes && set_home(client, w) != 0) || client_place(client, pose) != 0 ||
        client_stream(client, fields, 3, 5, WINDOW, see, seen) != 0 ||
        client_motion(client, &hold) != 0 || set_one(client, "brakes", 0) != 0)
        return -1;
    if ((s->defect != DEFECT_NONE && set_one(client, "sim_defect", (float)s->defect) != 0) ||
        start(client, w, s, pose) != 0)
        return -1;
    return watch(client, seen, fault);
}

static int report(const client_t *client, const bounds_t *w, const scenario_t *s,
                  const motion_record_t *seen, const device_fault_t *f, faults_print_t print) {
    char line[512];
    double bound[DYN_MAX_JOINTS] = {0};
    uint32_t fastest = 0;
    bool good = f->fault == s->fault && f->stop == s->stop;
    const double seconds = (seen->last_tick - seen->first_tick) / seen->rate_hz;
    const bool prismatic = f->joint < w->robot->n && client->device.prismatic[f->joint];
    for (uint32_t i = 0; i < w->robot->n; i++) {
        bound[i] = bounds_speed(w, f->stop, i, seen->before, seen->off[i], seconds);
        good = good && seen->speed[i] <= bound[i];
        fastest = seen->speed[i] > seen->speed[fastest] ? i : fastest;
    }
    const double fall = bounds_fall(w, f->stop, bound, seen->before, seen->off, seconds);
    good = good && seen->fall <= fall;
    snprintf(line, sizeof line, "%s: fault %u, %s%s%s: %.4g %s (limit %.4g). %s", s->how, f->fault,
             app_fault_name(f->fault), f->joint < w->robot->n ? ", joint " : "",
             f->joint < w->robot->n ? client->device.joint[f->joint] : "", (double)f->value,
             quantity_unit(app_fault_quantity(f->fault), prismatic), (double)f->limit,
             app_fault_cause(f->fault));
    print(line);
    snprintf(
        line, sizeof line,
        "    stop: %s; fastest joint %s, %.3f %s (bound %.3f); the end effector fell %.4f m in "
        "%.2f s (bound %.3f m)%s",
        app_stop_name(f->stop), w->robot->joint[fastest].name, seen->speed[fastest],
        client->device.prismatic[fastest] ? "m/s" : "rad/s", bound[fastest], seen->fall, seconds,
        fall, good ? "" : "   NOT AS EXPECTED");
    print(line);
    return good ? 0 : 1;
}

static plot_t *open_plot(const bounds_t *w, const char *path, const scenario_t *s) {
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

static int one(client_t *client, const bounds_t *w, const scenario_t *s, const char *folder,
               faults_print_t print) {
    device_status_t status;
    device_fault_t fault;
    char path[512];
    if (client_status(client, &status) != 0)
        return -1;
    motion_record_t seen = {.worst = w,
                            .rate_hz = status.rate_hz,
                            .seconds = s->stop == APP_STOP_RELEASE ? RELEASE_S : 1};
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
    return report(client, w, s, &seen, &fault, print);
}

int faults_provoke(client_t *client, const robot_t *robot, const char *folder, faults_print_t print,
                   uint32_t *done) {
    bounds_t *w = calloc(1, sizeof *w);
    char line[512];
    int failed = 0;
    *done = 0;
    if (!w || bounds_find(w, robot) != DYN_OK) {
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
    for (int k = 0; k < SCENARIOS && failed >= 0; k++) {
        const double *limit = robot->model.joint[w->joint].drive.limits.position;
        if ((scenario[k].floats && !strcmp(client->device.real, "q31")) ||
            /* without position limits the joint would find the switch */
            (scenario[k].homes && !(limit[1] > limit[0])))
            continue;
        const int status = one(client, w, &scenario[k], folder, print);
        failed = status < 0 ? -1 : failed + status;
        *done += status == 0;
    }
    free(w);
    return failed;
}

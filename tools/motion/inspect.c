/*
 * Identifies friction and payload of an arm from slow motions. At constant speed the torque that a
 * controller commands is the torque that the arm needs, whatever model the controller uses:
 * gravity, a little Coriolis, friction. So, at every sample and joint,
 *
 *     commanded - model without friction = coulomb(sign of the speed) + viscous speed + m p(q)
 *
 * where p(q) are the gravity torques of one kilogram at the payload's centre. This is linear in the
 * unknowns and is solved by least squares for all joints at once. Two speeds separate viscous from
 * Coulomb friction; moving forth and back separates friction from gravity; moving all joints at
 * once separates a payload from an offset.
 *
 * The same equations are also solved with p(q) as the gravity torques of the arm itself; then 1 + m
 * is the factor of all masses. The better explanation is the one with the smaller residual.
 */
#include "tools/motion/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "firmware/safety/faults.h"
#include "tools/motion/plan.h"
#include "tools/motion/trial.h"

#define WAY 0.6 /* largest travel of a joint, rad or m */
/* Speeds relative to the velocity limits; slow enough that friction exceeds inertial torques. */
static const double part[] = {0.1, 0.3};
enum { SPEEDS = 2, PER_JOINT = 3, UNKNOWNS = PER_JOINT * DYN_MAX_JOINTS + 1 };
/* Rows with at least this fraction of the largest speed belong to the plateau of a trapezoid. */
#define STEADY 0.999
enum { EVERY_LEAST = 20 }; /* least ticks between samples; more rows would only load the link */

typedef struct {
    const robot_t *robot;
    dyn_model_t model;
    dyn_arm_f64_t arm, loaded; /* loaded: the arm with one kilogram more */
    dyn_fast_scratch_f64_t scratch;
    double scale[DYN_MAX_JOINTS]; /* torque limits; the equations are divided by them */
    record_t record[2 * SPEEDS];
    double fastest[2 * SPEEDS][DYN_MAX_JOINTS];
    uint32_t records;
    /* normal equations of both explanations: payload, factor */
    double A[2][UNKNOWNS][UNKNOWNS + 1];
} inspection_t;

static int get(client_t *client, const char *name, double *value) {
    uint32_t parameter;
    int joint;
    bool saved;
    float now;
    if (client_parameter(client, name, &parameter, &joint) != 0 ||
        client_get(client, parameter, 0, &now, &saved) != 0)
        return -1;
    *value = (double)now;
    return 0;
}

/* Takes the model that the board uses: the robot with the payload that is set on the board. */
static int take_model(client_t *client, inspection_t *s) {
    dyn_body_t *load = &s->model.payload;
    s->model = s->robot->model;
    if (get(client, "payload_mass", &load->mass) != 0 ||
        get(client, "payload_x", &load->com[0]) != 0 ||
        get(client, "payload_y", &load->com[1]) != 0 ||
        get(client, "payload_z", &load->com[2]) != 0)
        return -1;
    int status = dyn_prepare_f64(&s->model, NULL, &s->arm);
    load->mass += 1;
    if (status == DYN_OK)
        status = dyn_prepare_f64(&s->model, NULL, &s->loaded);
    load->mass -= 1;
    if (status == DYN_OK)
        return 0;
    port_fail(&client->error, "check the robot with `appell check`",
              "the dynamics of the robot cannot be computed");
    return -1;
}

/* Plans a motion from the present position towards the farther limit of each joint. */
static void plan(const inspection_t *s, const double *from, double speed, trial_t *trial) {
    double duration = 0;
    *trial = (trial_t){.title = "slowly"};
    trial->motion.kind = MOTION_TRAPEZOID;
    for (uint32_t i = 0; i < s->robot->n; i++) {
        const dyn_limits_t *limit = &s->model.joint[i].drive.limits;
        const bool bounded = limit->position[1] > limit->position[0];
        const double up = bounded ? limit->position[1] - from[i] : WAY;
        const double down = bounded ? from[i] - limit->position[0] : WAY;
        const double way = fmin(WAY, 0.9 * fmax(up, down));
        const double fastest = limit->velocity > 0 ? limit->velocity : 1;
        trial->motion.value[i] = (float)(from[i] + (up >= down ? way : -way));
        duration = fmax(duration, 1.2 * way / (speed * fastest));
    }
    trial->motion.duration_s = (float)duration;
}

typedef struct {
    uint32_t n, seen;
    double *q;
} here_t;

static void take_sample(void *user, const sample_in_t *sample) {
    here_t *here = user;
    memcpy(here->q, sample->value, here->n * sizeof *here->q);
    here->seen++;
}

static int where_is(client_t *client, double *q) {
    static const char *const field[] = {"q"};
    enum { EVERY = 20, WINDOW = 10, POLLS = 600, POLL_MS = 50 };
    here_t here = {.n = client->device.joints, .q = q};
    if (client_stream(client, field, 1, EVERY, WINDOW, take_sample, &here) != 0)
        return -1;
    for (int k = 0; k < POLLS && here.seen == 0; k++)
        if (client_poll(client, POLL_MS) < 0)
            return -1;
    if (client_stream_end(client) != 0)
        return -1;
    if (here.seen > 0)
        return 0;
    port_fail(&client->error, "look at the board's console", "the board sent no sample");
    return -1;
}

static int run_one(client_t *client, inspection_t *s, const trial_t *trial) {
    record_t *record = &s->record[s->records];
    if (trial_on_board(client, trial, record) != 0)
        return -1;
    s->records++;
    if (record->fault == 0)
        return 0;
    port_fail(&client->error, app_fault_cure(record->fault),
              "the motion ended with the fault %s: %s", app_fault_name(record->fault),
              app_fault_cause(record->fault));
    return -1;
}

static int run_all(client_t *client, inspection_t *s) {
    double from[DYN_MAX_JOINTS];
    uint32_t every;
    if (where_is(client, from) != 0 || trial_stream(client, EVERY_LEAST, &every) != 0)
        return -1;
    for (int k = 0; k < SPEEDS; k++) {
        trial_t trial;
        plan(s, from, part[k], &trial);
        if (run_one(client, s, &trial) != 0)
            return -1;
        for (uint32_t i = 0; i < s->robot->n; i++)
            trial.motion.value[i] = (float)from[i];
        if (run_one(client, s, &trial) != 0)
            return -1;
    }
    return client_stop(client, false) != 0 ? -1 : client_stream_end(client);
}

/* -------------------------------------------------------------------------------- least squares */

/* A row at which all joints move at constant speed. */
typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    double model[DYN_MAX_JOINTS], kilogram[DYN_MAX_JOINTS], gravity[DYN_MAX_JOINTS];
} row_t;

static bool take_row(inspection_t *s, uint32_t k, uint32_t at, row_t *row) {
    const record_t *r = &s->record[k];
    *row = (row_t){0};
    static const double rest[DYN_MAX_JOINTS];
    const uint32_t n = s->robot->n;
    for (uint32_t i = 0; i < n; i++) {
        row->q[i] = record_value(r, at, RECORD_q_arm, i);
        row->qd[i] = record_value(r, at, RECORD_qd_ref, i);
        row->tau[i] = record_value(r, at, RECORD_tau, i);
        if (fabs(row->qd[i]) < STEADY * s->fastest[k][i])
            return false;
    }
    dyn_fast_inverse_f64(&s->arm, &s->scratch, row->q, row->qd, rest, row->model);
    dyn_fast_gravity_f64(&s->arm, &s->scratch, row->q, row->gravity);
    dyn_fast_gravity_f64(&s->loaded, &s->scratch, row->q, row->kilogram);
    for (uint32_t i = 0; i < n; i++)
        row->kilogram[i] -= row->gravity[i];
    return true;
}

/* Returns the fraction of the Coulomb friction that acts at a speed: that of dyn/kernel/drive.c if
 * the friction is equal in both directions. */
static double grip(const inspection_t *s, uint32_t i, double qd) {
    const double given = s->model.joint[i].drive.friction.width;
    const double x = fmin(1, fabs(qd) / (given > 0 ? given : DYN_FRICTION_WIDTH));
    return x * (3 - x * x) / 2;
}

static double friction_at(const inspection_t *s, uint32_t i, const inspect_friction_t *f,
                          double qd) {
    return grip(s, i, qd) * f->coulomb[qd > 0] + f->viscous * qd;
}

/* Adds the equation of one joint at one sample to the normal equations of both explanations. */
static void add_equation(inspection_t *s, const row_t *row, uint32_t i) {
    const uint32_t n = s->robot->n, common = PER_JOINT * n;
    for (int e = 0; e < 2; e++) {
        const uint32_t column[] = {PER_JOINT * i + (row->qd[i] > 0), PER_JOINT * i + 2, common};
        const double value[] = {grip(s, i, row->qd[i]), row->qd[i],
                                e == 0 ? row->kilogram[i] : row->gravity[i]};
        const double weight = 1 / (s->scale[i] * s->scale[i]);
        for (int a = 0; a < 3; a++) {
            for (int b = 0; b < 3; b++)
                s->A[e][column[a]][column[b]] += weight * value[a] * value[b];
            s->A[e][column[a]][common + 1] += weight * value[a] * (row->tau[i] - row->model[i]);
        }
    }
}

/* Solves by Gaussian elimination with the largest pivot. Unknowns that no equation contains become
 * zero. */
static void solve(double A[UNKNOWNS][UNKNOWNS + 1], uint32_t m, double *x) {
    double largest = 0;
    bool used[UNKNOWNS] = {false};
    uint32_t pivot_row[UNKNOWNS];
    for (uint32_t k = 0; k < m; k++)
        largest = fmax(largest, fabs(A[k][k]));
    for (uint32_t c = 0; c < m; c++) {
        uint32_t best = m;
        for (uint32_t r = 0; r < m; r++)
            if (!used[r] && (best == m || fabs(A[r][c]) > fabs(A[best][c])))
                best = r;
        pivot_row[c] = best;
        if (best == m || fabs(A[best][c]) < 1e-12 * largest) {
            pivot_row[c] = m;
            continue;
        }
        used[best] = true;
        for (uint32_t r = 0; r < m; r++) {
            const double factor = r == best ? 0 : A[r][c] / A[best][c];
            for (uint32_t k = 0; factor != 0 && k <= m; k++)
                A[r][k] -= factor * A[best][k];
        }
    }
    for (uint32_t c = 0; c < m; c++)
        x[c] = pivot_row[c] < m ? A[pivot_row[c]][m] / A[pivot_row[c]][c] : 0;
}

/* -------------------------------------------------------------------------------------- results */

/* Number of rows over which differences are averaged, because commanded torques contain encoder
 * noise. */
enum { MEAN = 8 };

/* Compares commanded with modelled torques over one motion, before and after the fit. */
static void compare(inspection_t *s, uint32_t k, const double *x, int explanation, inspect_t *out,
                    double *sum, uint32_t *rows) {
    const uint32_t n = s->robot->n;
    double off[DYN_MAX_JOINTS] = {0}, after[DYN_MAX_JOINTS] = {0};
    uint32_t in_mean = 0;
    row_t row;
    for (uint32_t at = 0; at < s->record[k].rows; at++) {
        if (!take_row(s, k, at, &row))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            const inspect_friction_t found = {{x[PER_JOINT * i], x[PER_JOINT * i + 1]},
                                              x[PER_JOINT * i + 2]};
            const double more =
                x[PER_JOINT * n] * (explanation == 0 ? row.kilogram[i] : row.gravity[i]);
            const double left = row.tau[i] - row.model[i];
            off[i] += left - friction_at(s, i, &out->joint[i].model, row.qd[i]);
            after[i] += left - friction_at(s, i, &found, row.qd[i]) - more;
        }
        if (++in_mean < MEAN)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            inspect_joint_t *j = &out->joint[i];
            j->off = fmax(j->off, fabs(off[i] / MEAN));
            j->off_after = fmax(j->off_after, fabs(after[i] / MEAN));
            *sum += pow(after[i] / MEAN / s->scale[i], 2);
            off[i] = after[i] = 0;
        }
        in_mean = 0;
        ++*rows;
    }
}

static double explain(inspection_t *s, int explanation, const double *x, inspect_t *out,
                      uint32_t *differences) {
    double sum = 0;
    uint32_t means = 0;
    for (uint32_t i = 0; i < out->n; i++)
        out->joint[i].off = out->joint[i].off_after = 0;
    for (uint32_t k = 0; k < s->records; k++)
        compare(s, k, x, explanation, out, &sum, &means);
    *differences = means * out->n;
    return means > 0 ? sqrt(sum / *differences) : 0;
}

/*
 * True if the two explanations differ by more than chance. Both have the same number of unknowns.
 * If the sums of their squared residuals differ by more than 9 variances (3 standard deviations),
 * the better one is better by chance with a probability below 0.3 %. A short motion through few
 * poses cannot separate a payload from heavier links.
 */
static bool distinct(double one, double other, uint32_t differences) {
    const double least = fmin(one, other);
    return fabs(one * one - other * other) * differences > 9 * least * least;
}

static void start_report(inspection_t *s, inspect_t *out) {
    *out = (inspect_t){.n = s->robot->n, .payload = s->model.payload.mass};
    for (uint32_t i = 0; i < out->n; i++) {
        const dyn_drive_t *d = &s->model.joint[i].drive;
        inspect_joint_t *j = &out->joint[i];
        j->model = (inspect_friction_t){{d->friction.coulomb[0], d->friction.coulomb[1]},
                                        d->friction.viscous};
        j->limit = d->limits.torque;
        for (uint32_t k = 0; k < s->records; k++)
            for (uint32_t row = 0; row < s->record[k].rows; row++) {
                const double qd = fabs(record_value(&s->record[k], row, RECORD_qd_ref, i));
                s->fastest[k][i] = fmax(s->fastest[k][i], qd);
                if (!(d->limits.torque > 0))
                    j->limit =
                        fmax(j->limit, fabs(record_value(&s->record[k], row, RECORD_tau, i)));
            }
        s->scale[i] = j->limit > 0 ? j->limit : 1;
    }
}

static void conclude(inspection_t *s, inspect_t *out) {
    const uint32_t n = s->robot->n, m = PER_JOINT * n + 1;
    double x[2][UNKNOWNS] = {{0}};
    row_t row;
    start_report(s, out);
    for (uint32_t k = 0; k < s->records; k++)
        for (uint32_t at = 0; at < s->record[k].rows; at++)
            if (take_row(s, k, at, &row)) {
                out->rows++;
                for (uint32_t i = 0; i < n; i++)
                    add_equation(s, &row, i);
            }
    for (int e = 0; e < 2; e++)
        solve(s->A[e], m, x[e]);
    uint32_t differences;
    out->rms_factor = explain(s, 1, x[1], out, &differences);
    out->rms_payload = explain(s, 0, x[0], out, &differences);
    out->distinct = distinct(out->rms_factor, out->rms_payload, differences);
    const int best = out->rms_factor < out->rms_payload;
    if (best == 1)
        (void)explain(s, 1, x[1], out, &differences);
    out->payload_found = out->payload + x[0][m - 1];
    out->factor = 1 + x[1][m - 1];
    for (uint32_t i = 0; i < n; i++)
        out->joint[i].found = (inspect_friction_t){
            {x[best][PER_JOINT * i], x[best][PER_JOINT * i + 1]}, x[best][PER_JOINT * i + 2]};
}

int inspect(client_t *client, const robot_t *robot, inspect_t *out) {
    inspection_t *s = calloc(1, sizeof *s);
    if (!s) {
        port_fail(&client->error, "close some programs", "there is not enough memory");
        return -1;
    }
    s->robot = robot;
    const int status = take_model(client, s) != 0 || run_all(client, s) != 0 ? -1 : 0;
    if (status == 0)
        conclude(s, out);
    for (uint32_t k = 0; k < s->records; k++)
        record_free(&s->record[k]);
    free(s);
    return status;
}

/* The checks of tools/robot/doctor.h that compute with an arm: whether its drives hold it against
 * gravity, and whether each joint moves an inertia of its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "tools/robot/doctor.h"

/* Random number generator (xorshift64*), so that every machine takes the same poses. */
static double uniform(uint64_t *state) {
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (double)((x * 0x2545F4914F6CDD1Du) >> 11) / 9007199254740992.0;
}

/* Returns the largest torque or force of the drive at rest, or 0 if it is unknown. */
static double strength(const robot_joint_t *j, const char **what) {
    const dyn_motor_t *m = &j->source.drive.motor;
    const uint32_t motor =
        IMAGE_JOINT_HAS_RESISTANCE | IMAGE_JOINT_HAS_TORQUE_CONSTANT | IMAGE_JOINT_HAS_VOLTAGE;
    double out = 0;
    if (j->has & IMAGE_JOINT_HAS_TORQUE) {
        out = j->source.drive.limits.torque;
        *what = "its torque limit";
    }
    if ((j->has & motor) == motor && m->resistance > 0 && m->voltage > 0) {
        const double stall = fabs(m->gear * m->torque_constant) * m->voltage / m->resistance;
        if (out == 0 || stall < out) {
            out = stall;
            *what = "the motor at its supply voltage";
        }
    }
    return out;
}

typedef struct {
    dyn_arm_f64_t arm;
    dyn_ne_scratch_f64_t scratch;
    double q[DYN_MAX_JOINTS], rest[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    double worst[DYN_MAX_JOINTS], worst_q[DYN_MAX_JOINTS][DYN_MAX_JOINTS];
    unsigned over[DYN_MAX_JOINTS];
    double low[DYN_MAX_JOINTS], high[DYN_MAX_JOINTS];
} poses_t;

static void try_pose(poses_t *p, uint32_t n, const double *strong) {
    dyn_ne_inverse_f64(&p->arm, &p->scratch, p->q, p->rest, p->rest, p->tau);
    for (uint32_t i = 0; i < n; i++) {
        if (strong[i] > 0 && fabs(p->tau[i]) > strong[i])
            p->over[i]++;
        if (fabs(p->tau[i]) > p->worst[i]) {
            p->worst[i] = fabs(p->tau[i]);
            memcpy(p->worst_q[i], p->q, n * sizeof *p->q);
        }
    }
}

static void name_pose(const double *q, uint32_t n, char *out, size_t size) {
    out[0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(out);
        snprintf(out + used, size - used, "%s%.4g", i ? ", " : "", q[i]);
    }
}

/*
 * Looks for the largest gravity torque at the corners of the ranges (all corners for up to 10
 * joints, random corners for more) and at random poses inside. The gravity torque of a revolute
 * joint is a sinusoid of each angle, so its extreme need not be at a corner.
 */
static void check_hold(doctor_t *d, poses_t *p) {
    enum { CORNERS = 1024, INSIDE = 4096 };
    const robot_t *robot = d->robot;
    const uint32_t n = robot->n;
    double strong[DYN_MAX_JOINTS];
    const char *what[DYN_MAX_JOINTS];
    bool any = false;
    uint64_t state = 20260101;
    for (uint32_t i = 0; i < n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        const double *range = j->source.drive.limits.position;
        const double turn = j->source.type == DYN_REVOLUTE ? 3.14159265358979 : 0.5;
        const bool known = j->has & IMAGE_JOINT_HAS_POSITION && range[0] <= range[1];
        p->low[i] = known ? range[0] : -turn;
        p->high[i] = known ? range[1] : turn;
        what[i] = "";
        strong[i] = strength(j, &what[i]);
        any = any || strong[i] > 0;
    }
    if (!any || doctor_length(robot->gravity) == 0)
        return;
    const unsigned corners = n <= 10 ? 1u << n : CORNERS;
    for (unsigned k = 0; k < corners; k++) {
        for (uint32_t i = 0; i < n; i++) {
            const bool high = n <= 10 ? k >> i & 1u : uniform(&state) < 0.5;
            p->q[i] = high ? p->high[i] : p->low[i];
        }
        try_pose(p, n, strong);
    }
    for (unsigned k = 0; k < INSIDE; k++) {
        for (uint32_t i = 0; i < n; i++)
            p->q[i] = p->low[i] + (p->high[i] - p->low[i]) * uniform(&state);
        try_pose(p, n, strong);
    }
    for (uint32_t i = 0; i < n; i++) {
        const robot_joint_t *j = &robot->joint[i];
        const char *unit = j->source.type == DYN_REVOLUTE ? "N m" : "N";
        if (p->over[i] == 0)
            continue;
        char pose[300];
        name_pose(p->worst_q[i], n, pose, sizeof pose);
        doctor_add(d, MESSAGE_WARNING, MESSAGE_WEAK,
                   j->line.torque ? j->line.torque
                                  : (j->line.motor ? j->line.motor : j->line.joint),
                   j->name, "use a stronger drive or a smaller range, or check masses and units",
                   "the drive is too weak to hold the arm against gravity in %u of %u poses: up to "
                   "%.4g %s are needed, but %s gives %.4g %s; worst at q = (%s)",
                   p->over[i], corners + INSIDE, p->worst[i], unit, what[i], strong[i], unit, pose);
    }
}

/*
 * Computes the inertia matrix column by column from unit accelerations, adds the rotors, and
 * factors it by Cholesky. A pivot that is almost zero relative to its diagonal element belongs to a
 * joint that moves no inertia of its own.
 */
static void check_singular(doctor_t *d, poses_t *p) {
    const uint32_t n = d->robot->n;
    double(*m)[DYN_MAX_JOINTS] = calloc(DYN_MAX_JOINTS, sizeof *m);
    dyn_model_t *floating = malloc(sizeof *floating);
    if (!m || !floating) {
        free(m);
        free(floating);
        return;
    }
    *floating = d->robot->model;
    memset(floating->gravity, 0, sizeof floating->gravity);
    (void)dyn_prepare_f64(floating, NULL, &p->arm);
    free(floating);
    /* An arbitrary pose without symmetry, so that the arm is hardly ever in a singular pose by
     * chance. */
    for (uint32_t i = 0; i < n; i++)
        p->q[i] = 0.3 + 0.7 * (double)i;
    for (uint32_t k = 0; k < n; k++) {
        double unit[DYN_MAX_JOINTS] = {0};
        unit[k] = 1;
        dyn_ne_inverse_f64(&p->arm, &p->scratch, p->q, p->rest, unit, p->tau);
        for (uint32_t i = 0; i < n; i++)
            m[i][k] = p->tau[i];
        m[k][k] += dyn_model_rotor(&d->robot->model.joint[k]);
    }
    for (uint32_t k = 0; k < n; k++) {
        double pivot = m[k][k];
        for (uint32_t i = 0; i < k; i++)
            pivot -= m[k][i] * m[k][i];
        const robot_joint_t *j = &d->robot->joint[k];
        if (!(pivot > 1e-13 * fabs(m[k][k]))) {
            doctor_add(d, MESSAGE_WARNING, MESSAGE_SINGULAR, j->line.link, j->name,
                       "add mass and inertia to the links beyond this joint, or a rotor inertia to "
                       "its motor",
                       "the joint moves no inertia, so forward dynamics cannot be computed");
            pivot = INFINITY; /* removes the joint, as if it could not move */
        }
        m[k][k] = sqrt(pivot);
        for (uint32_t i = k + 1; i < n; i++) {
            double sum = m[i][k];
            for (uint32_t c = 0; c < k; c++)
                sum -= m[i][c] * m[k][c];
            m[i][k] = sum / m[k][k];
        }
    }
    free(m);
}

void doctor_check_motion(doctor_t *d) {
    poses_t *p = calloc(1, sizeof *p);
    if (!p) {
        doctor_add(d, MESSAGE_ERROR, MESSAGE_MEMORY, 0, NULL, NULL, "there is not enough memory");
    } else if (dyn_prepare_f64(&d->robot->model, NULL, &p->arm) != DYN_OK) {
        doctor_add(d, MESSAGE_ERROR, MESSAGE_NUMBER, 0, NULL, "use SI units",
                   "the dynamics cannot be computed with the numbers of this arm");
    } else {
        check_hold(d, p);
        check_singular(d, p);
    }
    free(p);
}

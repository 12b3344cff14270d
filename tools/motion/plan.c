/* Plans motions and gains for a robot from its limits and its dynamics. */
#include "tools/motion/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/f64.h"
#include "firmware/params/image.h"

#define TURN 6.28318530717958647692

#define NEAR_LIMIT 0.95
#define RANGE_PART 0.8
#define FREE_RANGE TURN
#define FAST_S     1.5
/* Fraction of the torque limit that feedforward may use; the rest is for feedback. */
#define TORQUE_PART 0.85

static double velocity_of(const dyn_limits_t *l) {
    return l->velocity > 0 ? l->velocity : (double)IMAGE_VELOCITY_DEFAULT;
}

static double acceleration_of(const dyn_limits_t *l) {
    return l->acceleration > 0 ? l->acceleration : velocity_of(l) / (double)IMAGE_RISE_DEFAULT_S;
}

/* Computes the reference of the cycloid at the fraction u of its duration. */
static void cycloid(const plan_t *plan, uint32_t n, double u, double *q, double *qd, double *qdd) {
    const double T = (double)plan->motion.duration_s;
    for (uint32_t i = 0; i < n; i++) {
        const double way = (double)plan->motion.value[i] - (double)plan->start[i];
        q[i] = (double)plan->start[i] + way * (u - sin(TURN * u) / TURN);
        qd[i] = way / T * (1 - cos(TURN * u));
        qdd[i] = way / (T * T) * TURN * sin(TURN * u);
    }
}

typedef struct {
    dyn_arm_f64_t arm;
    dyn_fast_scratch_f64_t scratch;
    double M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
} dynamics_t;

static dynamics_t *dynamics_make(const robot_t *robot) {
    dynamics_t *d = malloc(sizeof *d);
    if (d && dyn_prepare_f64(&robot->model, NULL, &d->arm) != DYN_OK) {
        free(d);
        return NULL;
    }
    return d;
}

enum { MOMENTS = 50 };

/* Returns the largest ratio of torque to torque limit during the motion. */
static double torque_part(const robot_t *robot, dynamics_t *d, const plan_t *plan) {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    double most = 0;
    for (int k = 0; k <= MOMENTS; k++) {
        cycloid(plan, robot->n, (double)k / MOMENTS, q, qd, qdd);
        dyn_fast_inverse_f64(&d->arm, &d->scratch, q, qd, qdd, tau);
        dyn_rotor_inverse_f64(&d->arm, qdd, tau);
        dyn_friction_f64(&d->arm, qd, tau);
        for (uint32_t i = 0; i < robot->n; i++) {
            const double limit = robot->model.joint[i].drive.limits.torque;
            if (limit > 0)
                most = fmax(most, fabs(tau[i]) / limit);
        }
    }
    return most;
}

static void choose_way(const dyn_limits_t *l, double T, float *start, float *target) {
    const bool bounded = l->position[1] > l->position[0];
    const double range = bounded ? l->position[1] - l->position[0] : FREE_RANGE;
    const double middle = bounded ? (l->position[0] + l->position[1]) / 2 : 0;
    double way = NEAR_LIMIT * velocity_of(l) * T / 2;
    way = fmin(way, NEAR_LIMIT * acceleration_of(l) * T * T / TURN);
    way = fmin(way, RANGE_PART * range);
    *start = (float)(middle - way / 2);
    *target = (float)(middle + way / 2);
}

void plan_fast(const robot_t *robot, plan_t *plan) {
    dynamics_t *d = dynamics_make(robot);
    double T = FAST_S;
    *plan = (plan_t){.name = "cycloid", .motion = {.kind = MOTION_CYCLOID}};
    for (uint32_t i = 0; i < robot->n; i++)
        choose_way(&robot->model.joint[i].drive.limits, T, &plan->start[i], &plan->motion.value[i]);
    plan->motion.duration_s = (float)T;
    /* If the torque limits are too small for this motion, it takes longer. */
    for (int k = 0; d && k < 8 && torque_part(robot, d, plan) > TORQUE_PART; k++)
        plan->motion.duration_s = (float)(T *= 1.25);
    snprintf(plan->title, sizeof plan->title, "cycloid of all joints%s, %.3g s",
             T > FAST_S ? " within the torque limits" : " near their velocity limits", T);
    free(d);
}

/* -------------------------------------------------------------------------------- straight line */

/*
 * Seconds between control points. The time is as long as the path allows, because a board with 8 KB
 * of RAM buffers only 16 points and a busy host sends the next ones late. In a motion of 1 rad in 5
 * s the spline is 1e-6 rad off the line.
 */
#define POINT_S      0.1
#define POINTS_LEAST 25

/*
 * Computes the control points c of a cubic B-spline that rests at both ends and goes through p at
 * all nodes except those next to the ends: solves (c_j-1 + 4 c_j + c_j+1) / 6 = p_j by elimination.
 */
static void spline_points(const double *p, uint32_t nodes, uint32_t n, float *point) {
    const uint32_t first = 2, last = nodes - 3; /* first and last unknown control point */
    double *c = malloc(nodes * sizeof *c), *f = malloc(nodes * sizeof *f);
    for (uint32_t i = 0; c && f && i < n; i++) {
        double before = p[i], factor = 0;
        for (uint32_t j = first; j <= last; j++) {
            const double right = j == last ? p[(size_t)(nodes - 1) * n + i] : 0;
            const double pivot = 4 - factor;
            c[j] = (6 * p[(size_t)j * n + i] - before - right) / pivot;
            f[j] = factor = 1 / pivot;
            before = c[j];
        }
        for (uint32_t j = last; j-- > first;)
            c[j] -= f[j] * c[j + 1];
        point[i] = (float)p[i];
        for (uint32_t j = first; j <= last; j++)
            point[(size_t)(j - first + 1) * n + i] = (float)c[j];
        point[(size_t)(last - first + 2) * n + i] = (float)p[(size_t)(nodes - 1) * n + i];
    }
    free(c);
    free(f);
}

/* Writes the rotation by this rotation vector (Rodrigues). */
static void rotate(const double vector[3], double r[3][3]) {
    const double angle =
        sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    const double k[3] = {angle > 0 ? vector[0] / angle : 0, angle > 0 ? vector[1] / angle : 0,
                         angle > 0 ? vector[2] / angle : 0};
    const double s = sin(angle), c = cos(angle);
    const double cross[3][3] = {{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[i][j] = (i == j ? c : 0) + s * cross[i][j] + (1 - c) * k[i] * k[j];
}

/* Writes the pose at the fraction s of the way: straight, and turned about one axis. */
static void pose_between(const dyn_pose_t *from, const dyn_pose_t *to, double s, dyn_pose_t *out) {
    const dyn_pose_t back = dyn_pose_inverse(from), turn = dyn_pose_compose(&back, to);
    dyn_pose_t part = {.p = {0, 0, 0}};
    double vector[3];
    ik_rotation_vector(turn.r, vector);
    for (int k = 0; k < 3; k++)
        vector[k] *= s;
    rotate(vector, part.r);
    *out = dyn_pose_compose(from, &part);
    for (int k = 0; k < 3; k++)
        out->p[k] = from->p[k] + s * (to->p[k] - from->p[k]);
}

static double line_part(double u) {
    return u * u * u * (10 - 15 * u + 6 * u * u);
}

static int line_positions(ik_t *ik, const dyn_pose_t *from, const dyn_pose_t *to, uint32_t nodes,
                          double *p, plan_gap_t *gap) {
    for (uint32_t j = 0; j < nodes; j++) {
        dyn_pose_t effector;
        gap->part = line_part((double)j / (nodes - 1));
        pose_between(from, to, gap->part, &effector);
        memcpy(gap->at, effector.p, sizeof gap->at);
        if (!ik_solve(ik, &effector, &gap->nearest))
            return -1;
        memcpy(p + (size_t)j * ik->model->n, gap->nearest.q, ik->model->n * sizeof *p);
        memcpy(ik->start, gap->nearest.q, ik->model->n * sizeof *p);
        ik->restarts = 0; /* no restarts: each further solution is close to the one before */
    }
    return 0;
}

static int plan_poses(ik_t *ik, const dyn_pose_t *from, const dyn_pose_t *to, double seconds,
                      plan_t *plan, plan_gap_t *gap) {
    const uint32_t pieces = (uint32_t)fmax(POINTS_LEAST, rint(seconds / POINT_S)),
                   nodes = pieces + 1, n = ik->model->n;
    int prepared, status = -1;
    ik->evaluator = eval_f64.make(ik->model, NULL, NULL, &prepared);
    double *p = calloc((size_t)nodes * n, sizeof *p);
    *plan = (plan_t){.name = "line",
                     .motion = {.kind = MOTION_POINTS, .duration_s = (float)(seconds / pieces)},
                     .points = nodes - 2};
    memcpy(plan->from, from->p, sizeof plan->from);
    memcpy(plan->to, to->p, sizeof plan->to);
    plan->point = calloc((size_t)plan->points * n, sizeof *plan->point);
    *gap = (plan_gap_t){.part = 0};
    if (ik->evaluator && p && plan->point)
        status = line_positions(ik, from, to, nodes, p, gap);
    if (status == 0) {
        spline_points(p, nodes, n, plan->point);
        for (uint32_t i = 0; i < n; i++) {
            plan->start[i] = plan->point[i];
            plan->motion.value[i] = (float)p[(size_t)(nodes - 1) * n + i];
        }
        snprintf(
            plan->title, sizeof plan->title,
            "straight line of the end effector, [%.2f %.2f %.2f] to [%.2f %.2f %.2f] m, %.3g s",
            from->p[0], from->p[1], from->p[2], to->p[0], to->p[1], to->p[2], seconds);
    }
    if (ik->evaluator)
        eval_f64.drop(ik->evaluator);
    free(p);
    return status;
}

int plan_line(const robot_t *robot, const double from[3], const double to[3],
              const double attitude[3][3], double seconds, plan_t *plan) {
    ik_t ik = {.model = &robot->model, .restarts = 100, .seed = 1};
    dyn_pose_t first, last;
    plan_gap_t gap;
    memcpy(first.r, attitude, sizeof first.r);
    memcpy(last.r, attitude, sizeof last.r);
    memcpy(first.p, from, sizeof first.p);
    memcpy(last.p, to, sizeof last.p);
    ik_middle(ik.model, ik.start);
    return plan_poses(&ik, &first, &last, seconds, plan, &gap);
}

int plan_from(const dyn_model_t *model, const double start[], const dyn_pose_t *to, double seconds,
              plan_t *plan, plan_gap_t *gap) {
    ik_t ik = {.model = model, .seed = 1};
    dyn_pose_t from;
    memcpy(ik.start, start, model->n * sizeof *start);
    plan_effector(model, start, &from);
    return plan_poses(&ik, &from, to, seconds, plan, gap);
}

double plan_point_part(const plan_t *plan, uint32_t point) {
    return line_part((point + 1.0) / (plan->points + 1.0));
}

void plan_effector(const dyn_model_t *model, const double q[], dyn_pose_t *out) {
    *out = model->base;
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_pose_t joint = dyn_pose_joint(&model->joint[i], q[i]);
        *out = dyn_pose_compose(out, &joint);
    }
    *out = dyn_pose_compose(out, &model->tool);
}

/* ---------------------------------------------------------------------------------------- gains */

/* Updates least[] with 1 / (M^-1)_ii, the inertia of a joint while the others are free. Includes
 * rotors. */
static void free_inertia(dynamics_t *d, const double *q, double *least) {
    const uint32_t n = d->arm.n;
    dyn_fast_mass_f64(&d->arm, &d->scratch, q, d->M);
    dyn_rotor_mass_f64(&d->arm, d->M);
    if (dyn_cholesky_factor_f64(n, d->M) != DYN_OK)
        return;
    for (uint32_t i = 0; i < n; i++) {
        double x[DYN_MAX_JOINTS] = {0};
        x[i] = 1;
        dyn_cholesky_solve_f64(n, d->M, x);
        least[i] = fmin(least[i], 1 / x[i]);
    }
}

void plan_gains(const robot_t *robot, double hz, plan_t *plan) {
    dynamics_t *d = dynamics_make(robot);
    double least[DYN_MAX_JOINTS] = {0}, q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    const double w = TURN * hz;
    for (uint32_t i = 0; i < robot->n; i++)
        least[i] = INFINITY;
    for (int k = 0; d && plan->points == 0 && k <= MOMENTS; k++) {
        cycloid(plan, robot->n, (double)k / MOMENTS, q, qd, qdd);
        free_inertia(d, q, least);
    }
    for (uint32_t k = 0; d && k < plan->points; k++) {
        for (uint32_t i = 0; i < robot->n; i++)
            q[i] = (double)plan->point[(size_t)k * robot->n + i];
        free_inertia(d, q, least);
    }
    for (uint32_t i = 0; i < robot->n; i++) {
        const double inertia = isfinite(least[i]) ? least[i] : 0;
        plan->kp[i] = (float)(inertia * w * w);
        plan->kd[i] = (float)(2 * inertia * w);
    }
    free(d);
}

/* Bounds how an arm can move after a fault (tools/motion/faults_bounds.h): samples quantities of
 * its model over many poses and computes the bounds from them. */
#include "tools/motion/faults_bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/safety/faults.h"

enum { POSES = 5000 };
/* lowering speed relative to the velocity limit, as in firmware/safety/guard.c */
#define SINK_PART 0.1
/* s to reach the velocity limit if there is no acceleration limit: IMAGE_RISE_DEFAULT_S */
#define RISE_S 0.5

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Updates the largest values with those of one pose. */
static void include_pose(bounds_t *w, const double *q, const double *gravity) {
    const uint32_t n = w->robot->n;
    double M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2], x[DYN_MAX_JOINTS], pull = 0;
    double jacobian[6 * DYN_MAX_JOINTS];
    dyn_fast_mass_f64(&w->arm, &w->scratch, q, M);
    dyn_rotor_mass_f64(&w->arm, M);
    if (dyn_cholesky_factor_f64(n, M) != DYN_OK)
        return;
    memcpy(x, gravity, n * sizeof *x);
    dyn_cholesky_solve_f64(n, M, x);
    for (uint32_t i = 0; i < n; i++)
        pull += gravity[i] * x[i];
    w->pull = fmax(w->pull, sqrt(pull));
    dyn_jacobian_f64(&w->arm, q, jacobian);
    memcpy(x, jacobian + 2 * n, n * sizeof *x);
    dyn_cholesky_solve_f64(n, M, x);
    double effector = 0;
    for (uint32_t i = 0; i < n; i++)
        effector += jacobian[2 * n + i] * x[i];
    w->effector = fmax(w->effector, sqrt(effector));
    for (uint32_t i = 0; i < n; i++) {
        double distance = 0;
        for (uint32_t k = 0; k < n; k++)
            x[k] = k == i;
        dyn_cholesky_solve_f64(n, M, x);
        w->mobility[i] = fmax(w->mobility[i], x[i]);
        for (uint32_t k = 0; k < 3; k++)
            distance += jacobian[k * n + i] * jacobian[k * n + i];
        w->reach[i] = fmax(w->reach[i], sqrt(distance));
    }
}

static void include_inertia(bounds_t *w) {
    double M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    dyn_fast_mass_f64(&w->arm, &w->scratch, w->pose, M);
    dyn_rotor_mass_f64(&w->arm, M);
    for (uint32_t i = 0; i < w->robot->n; i++)
        w->inertia[i] = M[i * (i + 1) / 2 + i];
}

/* Finds the pose and the joint for which the gravity torque is the largest fraction of the torque
 * limit. */
static void find_worst(bounds_t *w) {
    const dyn_model_t *m = &w->robot->model;
    double most = -1;
    uint64_t state = 1;
    for (int k = 0; k < POSES; k++) {
        double q[DYN_MAX_JOINTS], g[DYN_MAX_JOINTS];
        for (uint32_t i = 0; i < m->n; i++) {
            const double *limit = m->joint[i].drive.limits.position;
            const bool bounded = limit[1] > limit[0];
            q[i] = bounded ? limit[0] + (limit[1] - limit[0]) * (0.05 + 0.9 * uniform(&state))
                           : 6.28 * (uniform(&state) - 0.5);
        }
        dyn_fast_gravity_f64(&w->arm, &w->scratch, q, g);
        include_pose(w, q, g);
        for (uint32_t i = 0; i < m->n; i++) {
            const double limit = m->joint[i].drive.limits.torque;
            const double part = limit > 0 ? fabs(g[i]) / limit : 0;
            w->gravity_most[i] = fmax(w->gravity_most[i], fabs(g[i]));
            if (part > most) {
                most = part;
                w->joint = i;
                memcpy(w->pose, q, sizeof q);
            }
        }
    }
}

static double velocity_limit(const bounds_t *w, uint32_t i) {
    const double v = w->robot->model.joint[i].drive.limits.velocity;
    return v > 0 ? v : 1;
}

/* Returns an upper bound of sqrt(2 T), where T is the kinetic energy at these speeds in the pose
 * that gravity loads most (Cauchy-Schwarz inequality). */
static double vigour(const bounds_t *w, const double *moved) {
    double sum = 0;
    for (uint32_t i = 0; i < w->robot->n; i++)
        sum += sqrt(w->inertia[i]) * moved[i];
    return sum;
}

/*
 * Bounds the step of the torque when the reference jumps to the position of the joint. The jump
 * removes the feedback torque, which is kp times the distance `off`, at most the torque limit.
 * Coulomb friction is fed forward for the speed of the reference and not of the joint, so it may be
 * missing too.
 */
static double torque_step(const bounds_t *w, uint32_t i, double off) {
    const dyn_drive_t *d = &w->robot->model.joint[i].drive;
    const double kp = w->robot->joint[i].kp, limit = d->limits.torque;
    const double coulomb = fmax(-d->friction.coulomb[0], d->friction.coulomb[1]);
    return (limit > 0 ? fmin(kp * off, limit) : kp * off) + coulomb;
}

/*
 * Bounds the speed of joint i after the fault, for each way of stopping. moved: speeds of the
 * joints before the fault. off: distance of the joint from its reference.
 *   hold     The reference starts with the position and speed of the joint and brakes. An undamped
 *            mass M on a spring kp moves at most step / sqrt(kp M) fast after a step of torque.
 *   lower    As hold, plus the speed of lowering: a tenth of the velocity limit (guard.c).
 *   damp     Shorted motors only take energy away, but the energy at the fault may go into any
 *            joint: |qd_i| <= sqrt((M^-1)_ii) sqrt(2 T). Added to this is the speed at which
 *            gravity and the shorted motor balance: largest gravity torque / ((k G)^2 / R +
 *            viscous friction).
 *   release  In free fall the kinetic energy T grows by -qd' g <= sqrt(2 T) sqrt(g' M^-1 g), so
 *            sqrt(2 T) grows per second by at most the largest sqrt(g' M^-1 g). Friction only
 *            reduces this.
 */
double bounds_speed(const bounds_t *w, uint32_t stop, uint32_t i, const double *moved, double off,
                    double seconds) {
    const dyn_drive_t *d = &w->robot->model.joint[i].drive;
    const double kg = d->motor.torque_constant * d->motor.gear;
    const double damping = kg * kg / d->motor.resistance + d->friction.viscous;
    const double kp = w->robot->joint[i].kp;
    const double spread = sqrt(w->mobility[i]) * vigour(w, moved);
    if (stop == APP_STOP_DAMP)
        return spread + w->gravity_most[i] / damping;
    if (stop == APP_STOP_RELEASE)
        return spread + seconds * w->pull * sqrt(w->mobility[i]);
    const double spring = kp > 0 ? torque_step(w, i, off) / sqrt(kp * w->inertia[i]) : 0;
    return moved[i] + spring + (stop == APP_STOP_LOWER ? SINK_PART * velocity_limit(w, i) : 0);
}

/*
 * Bounds how far joint i can move, for each way of stopping. speed is bounds_speed of the joint.
 *   hold     The braking distance moved^2 / 2a, and 2 step / kp, the travel of an undamped mass on a
 *            spring after a step of torque. A joint without kp moves with `speed` all the time.
 *   lower    As hold, plus the travel of lowering.
 *   damp     The joint moves with `speed` all the time.
 *   release  The speed grows as in bounds_speed; the bound is its integral over the time.
 */
double bounds_travel(const bounds_t *w, uint32_t stop, uint32_t i, double speed,
                     const double *moved, double off, double seconds) {
    const double kp = w->robot->joint[i].kp, v = velocity_limit(w, i);
    const double given = w->robot->model.joint[i].drive.limits.acceleration;
    const double brakes = given > 0 ? given : v / RISE_S;
    if (stop == APP_STOP_RELEASE)
        return sqrt(w->mobility[i]) * seconds * (vigour(w, moved) + w->pull * seconds / 2);
    if (stop <= APP_STOP_LOWER && kp > 0)
        return moved[i] * moved[i] / (2 * brakes) + 2 * torque_step(w, i, off) / kp +
               (stop == APP_STOP_LOWER ? SINK_PART * v * seconds : 0);
    return speed * seconds;
}

/*
 * Bounds how far the end effector can fall, for each way of stopping. bound[] is bounds_speed of
 * every joint. For release the end effector moves at most sqrt(J M^-1 J') sqrt(2 T) fast; sqrt(2 T)
 * starts with its value at the fault and grows as in bounds_speed. Otherwise the end effector falls
 * at most by the travel of every joint times its distance from the axis.
 */
double bounds_fall(const bounds_t *w, uint32_t stop, const double *bound, const double *moved,
                   const double *off, double seconds) {
    double sum = 0;
    if (stop == APP_STOP_RELEASE)
        return w->effector * seconds * (vigour(w, moved) + w->pull * seconds / 2);
    for (uint32_t i = 0; i < w->robot->n; i++)
        sum += w->reach[i] * bounds_travel(w, stop, i, bound[i], moved, off[i], seconds);
    return sum;
}

double bounds_height(const bounds_t *w, const double *q) {
    double pose[12];
    dyn_pose_f64(&w->arm, q, pose);
    return pose[11];
}

int bounds_find(bounds_t *bounds, const robot_t *robot, const double *pose) {
    bounds->robot = robot;
    const int status = dyn_prepare_f64(&robot->model, NULL, &bounds->arm);
    if (status != DYN_OK)
        return status;
    find_worst(bounds);
    if (pose)
        memcpy(bounds->pose, pose, robot->n * sizeof *pose);
    include_inertia(bounds);
    return DYN_OK;
}

/* Computes the right-hand side of the simulation, for tools/sim/sim_inside.h: forces,
 * accelerations, and the power of each work. */
#include <math.h>
#include <string.h>

#include "tools/sim/sim_inside.h"

void sim_joints(const sim_t *sim, const double *y, sim_forces_t *f) {
    for (uint32_t i = 0; i < sim->arm.joints; i++) {
        f->position[i] = y[sim->arm.coordinate[i]];
        f->speed[i] = y[sim->arm.n + sim->arm.coordinate[i]];
    }
}

static int drive(sim_t *sim, double t, sim_forces_t *f) {
    const sim_system_t *arm = &sim->arm;
    double own[DYN_MAX_JOINTS];
    const double *value = sim->held;
    if (!(sim->options.period_s > 0) && !sim->input.next) {
        const int status = sim->input.value(sim->input.self, t, f->position, f->speed, own);
        if (status != SIM_OK)
            return status;
        value = own;
    }
    if (sim->input.quantity == SIM_VOLTAGE) {
        memcpy(f->volt, value, arm->joints * sizeof *value);
        sim->limited |= arm->torque(arm->self, f->speed, f->volt, f->torque);
    } else {
        memcpy(f->torque, value, arm->joints * sizeof *value);
        (void)arm->voltage(arm->self, f->speed, f->torque, f->volt);
    }
    return SIM_OK;
}

int sim_forces(sim_t *sim, double t, const double *y, sim_forces_t *f) {
    const sim_system_t *arm = &sim->arm;
    sim_joints(sim, y, f);
    const int status = drive(sim, t, f);
    arm->friction(arm->self, f->speed, f->friction);
    memset(f->effector, 0, arm->n * sizeof *f->effector);
    if (sim->wrench.value) {
        double wrench[6];
        sim->wrench.value(sim->wrench.self, t, wrench);
        arm->effector(arm->self, y, wrench, f->effector);
    }
    memcpy(f->force, f->effector, arm->n * sizeof *f->force);
    for (uint32_t i = 0; i < arm->joints; i++)
        f->force[arm->coordinate[i]] += f->torque[i] - f->friction[i];
    return status;
}

int sim_inverse(const sim_system_t *arm, const double *q, const double *qd, const double *qdd,
                const double *wrench, double *torque) {
    const int status = arm->inverse(arm->self, q, qd, qdd, torque);
    if (wrench) {
        double force[SIM_COORDINATES_MAX], all[SIM_COORDINATES_MAX] = {0};
        for (uint32_t i = 0; i < arm->joints; i++)
            all[arm->coordinate[i]] = q[i];
        arm->effector(arm->self, all, wrench, force);
        for (uint32_t i = 0; i < arm->joints; i++)
            torque[i] -= force[arm->coordinate[i]];
    }
    return status;
}

/* From 2^52 on, neighbouring doubles are at least 1 rad apart, so the sine of such a position is
 * meaningless. */
static bool have_sines(const sim_t *sim, const double *q) {
    for (uint32_t i = 0; i < sim->arm.n; i++)
        if (!(fabs(q[i]) < 0x1p52))
            return false;
    return true;
}

int sim_accelerations(sim_t *sim, const double *y, const sim_forces_t *f, double *qdd) {
    const double *qd = y + sim->arm.n;
    const int status = sim->arm.acceleration(sim->arm.self, y, qd, f->force, qdd);
    if (status == DYN_E_PIVOT && !have_sines(sim, y))
        return SIM_E_NUMBER; /* the elimination failed because the motion diverged */
    if (status != SIM_OK || !sim->stops.held)
        return status;
    return stops_react(&sim->stops, y, qd, qdd);
}

int sim_rate(void *context, double t, const double *y, double *dy) {
    sim_t *sim = context;
    const uint32_t n = sim->arm.n;
    sim_forces_t f;
    int status = sim_forces(sim, t, y, &f);
    if (status == SIM_OK)
        status = sim_accelerations(sim, y, &f, dy + n);
    memcpy(dy, y + n, n * sizeof *dy);
    double *work = dy + 2 * (size_t)n;
    work[WORK_MOTOR] = work[WORK_FRICTION] = work[WORK_EFFECTOR] = 0;
    for (uint32_t i = 0; i < sim->arm.joints; i++) {
        work[WORK_MOTOR] += f.torque[i] * f.speed[i];
        work[WORK_FRICTION] += f.friction[i] * f.speed[i];
    }
    if (sim->arm.damping)
        work[WORK_FRICTION] += sim->arm.damping(sim->arm.self, y + n);
    if (sim->wrench.value)
        for (uint32_t i = 0; i < n; i++)
            work[WORK_EFFECTOR] += f.effector[i] * y[n + i];
    return status;
}

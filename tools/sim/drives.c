/* Computes gravity, stops, friction and motors of an arm in the simulation (tools/sim/drives.h). */
#include "tools/sim/drives.h"

#include <string.h>

static void friction(void *self, const double *speed, double *torque) {
    const driven_t *d = self;
    memset(torque, 0, d->model.n * sizeof *torque);
    dyn_friction_f64(&d->prepared, speed, torque);
}

static uint32_t voltage(void *self, const double *speed, const double *torque, double *volt) {
    const driven_t *d = self;
    return dyn_voltage_f64(&d->prepared, speed, torque, volt);
}

static uint32_t motor_torque(void *self, const double *speed, const double *volt, double *torque) {
    const driven_t *d = self;
    return dyn_motor_torque_f64(&d->prepared, speed, volt, torque);
}

void drives_describe(driven_t *driven) {
    sim_system_t *arm = &driven->arm;
    const dyn_model_t *model = &driven->model;
    arm->self = driven;
    arm->joints = model->n;
    arm->friction = friction;
    arm->voltage = voltage;
    arm->torque = motor_torque;
    for (int k = 0; k < 3; k++) {
        arm->gravity[k] = 0;
        for (int c = 0; c < 3; c++)
            arm->gravity[k] += model->base.r[k][c] * model->gravity[c];
    }
    for (uint32_t i = 0; i < model->n; i++)
        memcpy(arm->limit[i], model->joint[i].drive.limits.position, sizeof arm->limit[i]);
}

/* Implements test/support/hal/rig.h. */
#include "test/support/hal/rig.h"

#include <math.h>

#include "hal/stm32/board.h"

#define TURN 6.283185307179586
/* Stops beyond the position limits, rad or m. */
#define STOPS 0.1
/* A closed brake holds this many times the torque limit of its joint. */
#define BRAKE 5.0

rig_t rig;
static double open_part; /* 1: the brake is open, 0: closed */
static double friction[DYN_MAX_JOINTS];

double rig_position(unsigned joint) {
    return rig.arm.data->qpos[joint];
}

double rig_speed(unsigned joint) {
    return rig.arm.data->qvel[joint];
}

/* A DC motor without inductance: the torque follows the voltage and the speed. */
static double motor_torque(unsigned i) {
    const dyn_motor_t *m = &rig.robot->model.joint[i].drive.motor;
    const chip_motor_t stage = chip_motor(i);
    const double k = m->torque_constant * m->gear;
    if (stage.coasts || m->resistance == 0)
        return 0;
    return k * (stage.level * rig.supply - k * rig.arm.data->qvel[i]) / m->resistance;
}

static void sense(unsigned i) {
    const robot_encoder_t *e = &rig.robot->joint[i].encoder;
    const double unit = rig.robot->model.joint[i].type == DYN_PRISMATIC ? 1 : TURN;
    const double q = rig.arm.data->qpos[i];
    const double turns = e->sign * e->ratio * (q - e->offset) / unit;
    chip_world.encoder[i].turns = turns;
    if (rig.quadrature[i] != 0)
        chip_quadrature(rig.quadrature[i], (int32_t)lround(turns * e->counts));
    if (rig.switches >> i & 1) {
        const bool closed =
            (rig.switch_side[i] * (q - rig.switch_at[i]) >= 0) != (rig.glitches >> i & 1);
        chip_world.switches = (chip_world.switches & ~(1u << i)) | (uint32_t)closed << i;
    }
    rig.fastest = fmax(rig.fastest, fabs(rig.arm.data->qvel[i]) /
                                        rig.robot->model.joint[i].drive.limits.velocity);
}

/* Springs close the brakes; they hold when the time after the pin's edge has passed. */
static void brake(double step) {
    const board_stage_t *stage = &board.motor.stage;
    const double ms = chip_brake_open() ? stage->brake_open_ms : -(double)stage->brake_close_ms;
    open_part = fmin(fmax(open_part + 1000 * step / ms, 0), 1);
    for (uint32_t i = 0; i < rig.arm.n; i++) {
        const double most = BRAKE * rig.robot->model.joint[i].drive.limits.torque;
        const bool holds = rig.braked && (open_part == 0 || (chip_brake_open() && open_part < 1));
        rig.arm.model->dof_frictionloss[i] = friction[i] + (holds ? most : 0);
    }
}

static void step(void *argument) {
    mjData *data = rig.arm.data;
    if (!rig.frozen) {
        brake(rig.arm.model->opt.timestep);
        double constant[DYN_MAX_JOINTS] = {0};
        for (uint32_t i = 0; i < rig.arm.n; i++) {
            constant[i] = data->qfrc_applied[i];
            data->qfrc_applied[i] += motor_torque(i);
        }
        mj_step(rig.arm.model, data);
        for (uint32_t i = 0; i < rig.arm.n; i++)
            data->qfrc_applied[i] = constant[i];
    }
    for (uint32_t i = 0; i < rig.arm.n; i++)
        sense(i);
    chip_at(chip_now() + (rig.frozen ? CHIP_MS(10) : CHIP_US(RIG_STEP_US)), step, argument);
}

void rig_start(const robot_t *robot, const double *q) {
    rig = (rig_t){.robot = robot, .supply = (double)chip_world.supply_mV / 1000};
    mujoco_arm_make(&rig.arm, &robot->model, RIG_STEP_US * 1e-6, STOPS);
    open_part = 0;
    for (uint32_t i = 0; i < rig.arm.n; i++) {
        rig.arm.data->qpos[i] = q[i];
        friction[i] = rig.arm.model->dof_frictionloss[i];
        sense(i);
    }
    chip_at(chip_now(), step, NULL);
}

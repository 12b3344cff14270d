/*
 * Reads all reference values of ../shared/golden (or $GOLDEN): torques, inertia matrix, bias,
 * forward dynamics, pose of the end effector, Jacobian, wrench. Host only.
 */
#ifndef TEST_SUPPORT_DYN_REFERENCE_H
#define TEST_SUPPORT_DYN_REFERENCE_H

#include "dyn/model/convert.h"

#include <stdbool.h>

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    double tau[DYN_MAX_JOINTS]; /* rotors included */
    double bias[DYN_MAX_JOINTS], gravity[DYN_MAX_JOINTS];
    double M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2]; /* packed, rotors included */
    double fd_tau[DYN_MAX_JOINTS], fd_qdd[DYN_MAX_JOINTS];
    bool has_tau, has_bias, has_M, has_tool;
    /* Valid only if has_tool is set. */
    double wrench[6], wrench_base[6], tau_wrench[DYN_MAX_JOINTS], fd_qdd_wrench[DYN_MAX_JOINTS];
    double pose[12], J[6 * DYN_MAX_JOINTS];
} reference_state_t;

typedef struct {
    char name[40];
    dyn_source_t source;
    dyn_model_t model; /* converted from the file's convention */
    uint32_t states;
    reference_state_t *state;
} reference_arm_t;

typedef struct {
    double resistance, torque_constant, gear, rotor_inertia, tau, qd, qdd, volt, volt_rotor;
    double volt_in, tau_from_volt_in;
} reference_motor_t;

/* Reads PUMA 560 with and without rotors, Stanford arm (variant A), planar arm (set A), two-body
 * arms and random chains. The memory stays until the program ends. Returns their number, 0 without
 * reference values. */
uint32_t reference_read(const reference_arm_t **arms);
uint32_t reference_motors(const reference_motor_t **motors);

#endif

/* The torques of test/dyn/example.c in fixed point, for a core without an FPU. */
#include <stdio.h>

#include "dyn/model/convert.h"
#include "dyn/number/q31.h"

static dyn_source_t source;
static dyn_model_t model;
static dyn_arm_q31_t arm;
static dyn_fast_scratch_q31_t scratch;

/* From `appell scale planar3r`: no sum overflows within the limits of that robot file. */
static const dyn_units_t units = {.length = -2, .time = -2, .mass = {1, -1, -2}};

static int set_up(void) {
    static const double length[] = {0.3, 0.25, 0.22}, mass[] = {0.5, 0.4, 0.3};
    source.convention = DYN_CONVENTION_DH;
    source.n = 3;
    source.gravity[1] = -9.81;
    for (int i = 0; i < 3; i++) {
        dyn_source_joint_t *joint = &source.joint[i];
        joint->type = DYN_REVOLUTE;
        joint->a = length[i];
        joint->link.mass = mass[i];
        joint->link.com[0] = -length[i] / 2;
        joint->link.inertia[1] = joint->link.inertia[2] = mass[i] * length[i] * length[i] / 12;
    }
    int status = dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL);
    if (status == DYN_OK)
        status = dyn_prepare_q31(&model, &units, &arm);
    return status == DYN_OK ? dyn_ready_q31(&arm, DYN_NEEDS_fast) : status;
}

int main(void) {
    const double q[] = {0.1, 0.2, 0.3}, qd[] = {1, 1, 1}, qdd[] = {2, 2, 2};
    int32_t q31[3], qd31[3], qdd31[3], tau31[3];
    const int status = set_up();
    if (status != DYN_OK) {
        printf("%s: %s\n", dyn_status_name(status), dyn_status_cause(status));
        return 1;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
        q31[i] = dyn_q31_angle(q[i]); /* a prismatic joint: dyn_q31_from(q[i], e.position) */
        qd31[i] = dyn_q31_from(qd[i], e.velocity);
        qdd31[i] = dyn_q31_from(qdd[i], e.acceleration);
    }
    dyn_fast_inverse_q31(&arm, &scratch, q31, qd31, qdd31, tau31);
    for (uint32_t i = 0; i < 3; i++)
        printf("%.4f ", dyn_q31_to(tau31[i], dyn_q31_exponents(&model, &units, i).torque));
    printf("N m\n");
    return 0;
}

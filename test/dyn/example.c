/* Torques and accelerations of an arm, with nothing but the kernels. Valid as C and as C++. */
#include <stdio.h>

#include "dyn/model/convert.h"
#include "dyn/number/f32.h"

static dyn_source_t source; /* the arm as you write it down: double, SI units */
static dyn_model_t model;   /* the arm in the frames of the kernels */
static dyn_arm_f32_t arm;   /* the constants of the kernels; the other two are free from then on */
static dyn_fast_scratch_f32_t scratch;
static dyn_fast_forward_scratch_f32_t forward_scratch;

/* Three rods in the vertical x-y plane: tools/robots/planar3r.yaml. */
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
        status = dyn_prepare_f32(&model, NULL, &arm);
    return status == DYN_OK ? dyn_ready_f32(&arm, DYN_NEEDS_fast) : status;
}

int main(void) {
    const float q[] = {0.1f, 0.2f, 0.3f}, qd[] = {1, 1, 1}, qdd[] = {2, 2, 2};
    float tau[3], back[3];
    int status = set_up();
    if (status == DYN_OK) {
        dyn_fast_inverse_f32(&arm, &scratch, q, qd, qdd, tau);
        status = dyn_fast_forward_f32(&arm, &forward_scratch, q, qd, tau, back);
    }
    if (status != DYN_OK) {
        printf("%s: %s\n", dyn_status_name(status), dyn_status_cause(status));
        return 1;
    }
    printf("torques        %.4f %.4f %.4f N m\n", (double)tau[0], (double)tau[1], (double)tau[2]);
    printf("accelerations  %.4f %.4f %.4f rad/s^2\n", (double)back[0], (double)back[1],
           (double)back[2]);
    return 0;
}

/* Counts the operations of the kernels of elastic links. */
#include "tools/eval/ops_elastic.h"

static struct {
    dyn_model_t model;
    dyn_arm_count_t arm;
    dyn_flex_count_t flex;
    dyn_flex_forward_scratch_count_t forward;
    dyn_flex_static_scratch_count_t still;
    dyn_real_count_t in[3][DYN_FLEX_MAX], out[DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2];
} c;

static void bias(void) {
    dyn_flex_bias_count(&c.arm, &c.flex, &c.forward.link, c.in[0], c.in[1], c.out);
    dyn_flex_strain_count(&c.flex, c.in[0], c.in[1], c.out);
}

static void call(ops_elastic_t what) {
    switch (what) {
    case OPS_ELASTIC_BIAS:
        bias();
        break;
    case OPS_ELASTIC_MASS:
        dyn_flex_mass_count(&c.arm, &c.flex, &c.forward.link, c.in[0], c.out);
        break;
    case OPS_ELASTIC_EQUATIONS:
        bias();
        dyn_flex_mass_placed_count(&c.arm, &c.flex, &c.forward.link, c.out);
        break;
    case OPS_ELASTIC_FD:
        (void)dyn_flex_forward_count(&c.arm, &c.flex, &c.forward, c.in[0], c.in[1], c.in[2], c.out);
        break;
    case OPS_ELASTIC_ID:
        (void)dyn_flex_torque_count(&c.arm, &c.flex, &c.forward, c.in[0], c.in[1], c.in[2], NULL,
                                    c.out);
        break;
    default:
        dyn_flex_static_count(&c.arm, &c.flex, &c.still, c.in[1], c.in[2], NULL, 1, c.in[0], c.out);
    }
}

count_ops_t ops_elastic(const dyn_model_t *model, const dyn_flex_model_t *flex,
                        ops_elastic_t what) {
    c.model = *model;
    for (uint32_t i = 0; i < model->n; i++)
        c.model.joint[i].drive.motor.rotor_inertia = 0;
    if (dyn_prepare_count(&c.model, NULL, &c.arm) != DYN_OK ||
        dyn_prepare_flex_count(&c.model, flex, NULL, &c.flex) != DYN_OK)
        return (count_ops_t){0};
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < c.flex.size; k++)
            c.in[i][k] = count_input(0.1);
    count_begin();
    call(what);
    return count_all();
}

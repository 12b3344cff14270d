/*
 * Prints the operation counts of the kernels as lines `robot problem method mul add div sqrt
 * sincos`. Runs the kernels of the bench with the backend `count` (tools/proof/count.h).
 */
#include "test/bench/bench.h"
#include "test/support/dyn/flex_arms.h"
#include "tools/proof/count.h"

#include <stdio.h>

#define DYN_REAL count
#include "test/support/dyn/dyn_methods.inc"

static dyn_arm_count_t arm;
static dyn_methods_scratch_count_t scratch;
static dyn_real_count_t in[4][DYN_MAX_JOINTS], out[DYN_MAX_JOINTS * DYN_MAX_JOINTS];

static void print_row(const char *robot, const char *problem, const char *method) {
    const count_ops_t ops = count_all();
    printf("%s %s %s %ld %ld %ld %ld %ld\n", robot, problem, method, ops.mul, ops.add, ops.div,
           ops.sqrt, ops.sincos);
}

static void count_robot(const char *robot) {
    for (uint32_t i = 0; dyn_inverses_count[i].name; i++) {
        count_begin();
        dyn_inverses_count[i].run(&arm, &scratch, in[0], in[1], in[2], out);
        print_row(robot, "id", dyn_inverses_count[i].name);
    }
    for (uint32_t i = 0; dyn_masses_count[i].name; i++) {
        count_begin();
        dyn_masses_count[i].run(&arm, &scratch, in[0], out);
        print_row(robot, "mass", dyn_masses_count[i].name);
    }
    for (uint32_t i = 0; dyn_forwards_count[i].name; i++) {
        count_begin();
        (void)dyn_forwards_count[i].run(&arm, &scratch, in[0], in[1], in[3], out);
        print_row(robot, "fd", dyn_forwards_count[i].name);
    }
    for (uint32_t i = 0; dyn_biases_count[i].name; i++) {
        count_begin();
        dyn_biases_count[i].run(&arm, &scratch, in[0], in[1], out);
        print_row(robot, "bias", dyn_biases_count[i].name);
    }
    for (uint32_t i = 0; dyn_gravities_count[i].name; i++) {
        count_begin();
        dyn_gravities_count[i].run(&arm, &scratch, in[0], out);
        print_row(robot, "gravity", dyn_gravities_count[i].name);
    }
    for (uint32_t i = 0; dyn_corioles_count[i].name; i++) {
        count_begin();
        dyn_corioles_count[i].run(&arm, &scratch, in[0], in[1], out);
        print_row(robot, "coriolis", dyn_corioles_count[i].name);
    }
    count_begin();
    dyn_pose_count(&arm, in[0], out);
    print_row(robot, "fk", "-");
    count_begin();
    dyn_jacobian_count(&arm, in[0], out);
    print_row(robot, "jacobian", "-");
    count_begin();
    (void)dyn_voltage_count(&arm, in[1], in[3], out);
    print_row(robot, "volt", "-");
}

/* Counts the rows of test/bench/bench_flex.c (elastic links). */
static void count_flex(const char *robot, flex_arm_name_t name) {
    static flex_arm_t made;
    static dyn_flex_count_t flex;
    static dyn_flex_forward_scratch_count_t forward;
    static dyn_flex_static_scratch_count_t still;
    static dyn_real_count_t x[3][DYN_FLEX_MAX], result[DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2];
    flex_arm(name, &made);
    (void)dyn_prepare_count(&made.model, NULL, &arm);
    (void)dyn_prepare_flex_count(&made.model, &made.flex, NULL, &flex);
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < flex.size; k++)
            x[i][k] = count_input(0.1 * (double)(i + 1));
    count_begin();
    dyn_flex_bias_count(&arm, &flex, &forward.link, x[0], x[1], result);
    print_row(robot, "flex", "bias");
    count_begin();
    dyn_flex_mass_count(&arm, &flex, &forward.link, x[0], result);
    print_row(robot, "flex", "mass");
    count_begin();
    (void)dyn_flex_forward_count(&arm, &flex, &forward, x[0], x[1], x[2], result);
    print_row(robot, "flex", "forward");
    count_begin();
    (void)dyn_flex_torque_count(&arm, &flex, &forward, x[0], x[1], x[2], NULL, result);
    print_row(robot, "flex", "torque");
    count_begin();
    dyn_flex_static_count(&arm, &flex, &still, x[1], x[2], NULL, 1, x[0], result);
    print_row(robot, "flex", "static");
}

int main(void) {
    static dyn_model_t model;
    for (uint32_t k = 0; k < bench_robot_count(); k++) {
        bench_robot_model(k, &model);
        if (dyn_prepare_count(&model, NULL, &arm) != DYN_OK) {
            fprintf(stderr, "bench: %s cannot be prepared\n", bench_robot_name(k));
            return 1;
        }
        for (int i = 0; i < 4; i++)
            for (uint32_t j = 0; j < model.n; j++)
                in[i][j] = count_input(0.1 * (double)(i + 1));
        count_robot(bench_robot_name(k));
    }
    count_flex("flex2", FLEX_ARM_PLANAR);
    count_flex("flexspace", FLEX_ARM_SPACE);
    return 0;
}

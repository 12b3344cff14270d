/*
 * Writes test/support/dyn/golden_data.inc from the reference values, so that target tests have them
 * compiled in; test_dyn_golden compares the two on the host.
 *
 *     gcc -I. test/support/dyn/golden_carry.c test/support/dyn/golden.c -lcjson -o build/carry
 *     build/carry > test/support/dyn/golden_data.inc
 */
#include "test/support/dyn/golden.h"

#include <stdio.h>
#include <stdlib.h>

static void list(const double *x, uint32_t n) {
    printf("{");
    for (uint32_t i = 0; i < n; i++)
        printf("%s%.17g", i ? ", " : "", x[i]);
    printf("}");
}

static void joint(const dyn_source_joint_t *j) {
    const double frame[4] = {j->theta, j->d, j->a, j->alpha};
    printf("    {%d, ", j->type == DYN_PRISMATIC);
    list(frame, 4);
    printf(", ");
    list(j->xyz, 3);
    printf(", ");
    list(j->rpy, 3);
    printf(", ");
    list(j->axis, 3);
    printf(",\n     %.17g, ", j->link.mass);
    list(j->link.com, 3);
    printf(", ");
    list(j->link.inertia, 6);
    printf(", ");
    list(j->inertia_rpy, 3);
    printf(", %.17g, %.17g},\n", j->drive.motor.rotor_inertia, j->drive.motor.gear);
}

int main(void) {
    golden_arm_t *arms;
    uint32_t count = golden_read(&arms), joints = 0, states = 0;
    if (count == 0) {
        fprintf(stderr, "golden_carry: no reference values in ../shared/golden; set GOLDEN\n");
        return 1;
    }
    printf("/* Written by test/support/dyn/golden_carry.c from the reference values; not to be "
           "edited. */\n"
           "// clang-format off\n\n"
           "static const data_joint_t data_joints[] = {\n");
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t i = 0; i < arms[k].source.n; i++)
            joint(&arms[k].source.joint[i]);
    printf("};\n\n/* q, qd, qdd, tau without rotors: n numbers each, state by state. */\n"
           "static const double data_states[] = {\n");
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const double *row[4] = {arms[k].state[s].q, arms[k].state[s].qd, arms[k].state[s].qdd,
                                    arms[k].state[s].tau};
            for (int r = 0; r < 4; r++)
                for (uint32_t i = 0; i < arms[k].source.n; i++)
                    printf("%.17g,%s", row[r][i], i + 1 == arms[k].source.n ? "\n" : " ");
        }
    printf("};\n\n/* name, convention, n, gravity, first joint, number of states, first number of "
           "them */\n"
           "static const data_arm_t data_arms[] = {\n");
    for (uint32_t k = 0; k < count; k++) {
        printf("    {\"%s\", %d, %u, ", arms[k].name, (int)arms[k].source.convention,
               arms[k].source.n);
        list(arms[k].source.gravity, 3);
        printf(", %u, %u, %u},\n", joints, arms[k].states, states);
        joints += arms[k].source.n;
        states += arms[k].states * arms[k].source.n * 4;
    }
    printf("};\n");
    free(arms);
    return 0;
}

/*
 * The yardstick: dynamics in plain float as a textbook prints them, with 3x3 matrices, sinf and
 * cosf. For revolute joints only.
 */
#ifndef TEST_BENCH_BENCH_TEXTBOOK_H
#define TEST_BENCH_BENCH_TEXTBOOK_H

#include "dyn/number/f32.h"

typedef struct {
    float v[3];
} textbook_v3_t;
typedef struct {
    float m[3][3];
} textbook_m3_t;

typedef struct {
    textbook_m3_t R[DYN_MAX_JOINTS];
    textbook_v3_t P[DYN_MAX_JOINTS], F[DYN_MAX_JOINTS], N[DYN_MAX_JOINTS];
    float M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    float zero[DYN_MAX_JOINTS], bias[DYN_MAX_JOINTS];
} textbook_scratch_t;

void textbook_inverse(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                      const float qd[], const float qdd[], float tau[]);
/* M is the packed lower triangle, without rotors. */
void textbook_mass(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                   float M[]);
/* Forward dynamics includes rotors. */
int textbook_forward(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                     const float qd[], const float tau[], float qdd[]);

#endif

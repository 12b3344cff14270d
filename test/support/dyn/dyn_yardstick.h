/* The recursion of dyn/paper/ne.c written directly in float, to measure what the vector operations
 * of the kernels cost. */
#ifndef TEST_SUPPORT_DYN_DYN_YARDSTICK_H
#define TEST_SUPPORT_DYN_DYN_YARDSTICK_H

#include "dyn/number/f32.h"

void dyn_yardstick_inverse(const dyn_arm_f32_t *arm, dyn_ne_scratch_f32_t *scratch, const float q[],
                           const float qd[], const float qdd[], float tau[]);

#endif

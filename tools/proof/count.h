/*
 * Backend `count`: a number is a double that counts its operations. Running a kernel counts the
 * multiplications and additions that its compiled form executes and also gives the right torques.
 *
 * Not counted: operations with a zero or one that is known when the kernel is compiled (of the
 * resting base, of (a, 0, d), of the free end), changes of sign, comparisons, the sum of an angle
 * and its offset, and the addition of a rotor. Constants of the robot count even if they happen to
 * be zero: this is the count for any robot.
 */
#ifndef TOOLS_PROOF_COUNT_H
#define TOOLS_PROOF_COUNT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double v;
    bool known; /* known when the kernel is compiled; a known 0 or 1 costs no operation */
} dyn_real_count_t;

#define DYN_REAL count
#include "dyn/number/arm.inc"
#undef DYN_REAL

typedef struct {
    long mul, add, div, sqrt, sincos;
} count_ops_t;

/* Resets the counts. */
void count_begin(void);
/* All operations since count_begin. Unused results count too, because a loop computes them like the
 * rest; kernels therefore compute no more than they need. */
count_ops_t count_all(void);

dyn_real_count_t count_input(double value);

/* Used only by real_count.h. */
typedef enum { COUNT_ADD, COUNT_MUL, COUNT_DIV, COUNT_SQRT, COUNT_SINCOS } count_op_t;
dyn_real_count_t count_op(count_op_t op, double value);

#endif

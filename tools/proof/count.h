/*
 * Backend `count`: a number is a double that counts its operations. Running a kernel gives the
 * multiplications and additions that its compiled form executes, beside the right torques.
 *
 * Not counted: what has a factor or summand that is known when the kernel is compiled (zeros and
 * ones of the resting base, of (a, 0, d), of the free end), changes of sign, and sine and cosine
 * with the offset of their angle. Constants of the robot count, also where they happen to be zero:
 * that is the count for any robot.
 */
#ifndef TOOLS_PROOF_COUNT_H
#define TOOLS_PROOF_COUNT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double v;
    bool known; /* when the kernel is compiled: costs nothing */
} dyn_real_count_t;

#define DYN_REAL count
#include "dyn/number/arm.inc"
#undef DYN_REAL

typedef struct {
    long mul, add, div, sqrt, sincos;
} count_ops_t;

/* Forgets all operations. */
void count_begin(void);
/* Every operation since then. The one way of counting: what nobody uses counts too, because in a
 * loop it is computed like the rest; kernels therefore ask for no more than they need. */
count_ops_t count_all(void);

dyn_real_count_t count_input(double value);

/* For the vocabulary. */
typedef enum { COUNT_ADD, COUNT_MUL, COUNT_DIV, COUNT_SQRT, COUNT_SINCOS } count_op_t;
dyn_real_count_t count_op(count_op_t op, double value);

#endif

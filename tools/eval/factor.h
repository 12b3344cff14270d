/*
 * The factors U and D of the inertia matrix, M = U D U^T, and the articulated inertias from which
 * they come: S. K. Saha (1999), section 5.2 and appendix B. They are intermediate results of the
 * kernel dyn/paper/denoc_forward.c, in double precision.
 */
#ifndef TOOLS_EVAL_FACTOR_H
#define TOOLS_EVAL_FACTOR_H

#include "dyn/number/f64.h"

typedef struct {
    uint32_t n;
    double U[DYN_MAX_JOINTS][DYN_MAX_JOINTS]; /* upper triangular, with a diagonal of ones */
    double D[DYN_MAX_JOINTS];                 /* m^_i, with the inertia of the rotor */
    /*
     * M^_i, the inertia of link i and all that follows if the joints after it are free. It maps the
     * acceleration (wd, a) of the origin of link frame i to the moment about it and the force, all
     * on the axes of that frame.
     */
    double articulated[DYN_MAX_JOINTS][6][6];
} factor_t;

/* Computes the factors at q. Returns DYN_OK or DYN_E_PIVOT. */
int factor_compute(const dyn_arm_f64_t *arm, const double *q, factor_t *out);

#endif

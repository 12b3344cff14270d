/* Motions of all coordinates over time, with their first and second derivatives. */
#ifndef TOOLS_SIM_MOTION_H
#define TOOLS_SIM_MOTION_H

#include "tools/sim/sim.h"

typedef struct {
    uint32_t n;
    size_t points;
    double *point; /* t, q, qd, qdd of each */
    bool cycloid;  /* of two points, which are its ends */
} sim_motion_t;

/*
 * Rows `t q1 .. qn` (a natural cubic spline), or `t q qd qdd` (fifth-degree pieces that meet all of
 * them), times increasing. EXIT_YES, or EXIT_BAD after saying what is wrong.
 */
int motion_read(sim_motion_t *motion, const char *path, uint32_t n);
/* The cycloid of Saha (1999), eq 39 as corrected: from rest to rest. EXIT_YES or EXIT_BAD. */
int motion_cycloid(sim_motion_t *motion, uint32_t n, const double *from, const double *to,
                   double duration_s);
void motion_free(sim_motion_t *motion);

/* Before its first and after its last time a motion rests at its ends. */
void motion_at(const sim_motion_t *motion, double t, double *q, double *qd, double *qdd);
double motion_end(const sim_motion_t *motion);

#endif

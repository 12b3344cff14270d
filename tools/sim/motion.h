/* Motions of all coordinates over time, with their first and second derivatives. */
#ifndef TOOLS_SIM_MOTION_H
#define TOOLS_SIM_MOTION_H

#include "tools/sim/sim.h"

typedef struct {
    uint32_t n;
    size_t points;
    double *point; /* t, q, qd and qdd of each point, one row per point */
    bool cycloid;  /* the motion is a cycloid between two points */
} sim_motion_t;

/*
 * Reads a motion from a file. Its rows are `t q1 .. qn` (joined by a natural cubic spline) or `t q
 * qd qdd` (joined by fifth-degree polynomials that meet all values). Times must increase. Returns
 * EXIT_YES, or EXIT_BAD after printing what is wrong.
 */
int motion_read(sim_motion_t *motion, const char *path, uint32_t n);
/* Makes the cycloid of Saha (1999), eq 39 as corrected, which starts and ends at rest. Returns
 * EXIT_YES or EXIT_BAD. */
int motion_cycloid(sim_motion_t *motion, uint32_t n, const double *from, const double *to,
                   double duration_s);
void motion_free(sim_motion_t *motion);

/* Outside its time range a motion rests at its first or last position. */
void motion_at(const sim_motion_t *motion, double t, double *q, double *qd, double *qdd);
double motion_end(const sim_motion_t *motion);

#endif

/*
 * Joint stops. A joint that reaches its limit loses its speed there by an impulse that acts on the
 * whole arm. While something presses the joint against the stop, it stands still, held by a
 * reaction that does no work. It leaves the stop when the reaction would have to pull.
 */
#ifndef TOOLS_SIM_STOPS_H
#define TOOLS_SIM_STOPS_H

#include "tools/sim/sim.h"

typedef struct {
    const sim_system_t *arm;
    uint32_t held;                   /* bit i: joint i stands at a stop */
    int8_t side[DYN_MAX_JOINTS];     /* -1: at the lower limit, 1: at the upper */
    double reaction[DYN_MAX_JOINTS]; /* reactions found by the last stops_react */
    unsigned long impacts;
} stops_t;

/* Returns the bits of the free joints that are beyond a limit. */
uint32_t stops_beyond(const stops_t *stops, const double *q);

/* Adds the reactions of the stops to qdd: on entry qdd has the accelerations without reactions, on
 * return those with the held joints at rest. */
int stops_react(stops_t *stops, const double *q, const double *qd, double *qdd);
/* Returns the bits of the held joints whose stop had to pull in the last stops_react. */
uint32_t stops_pulled(const stops_t *stops);

/* Lets the joints in `hit` run into their stops: sets their q to the limits, changes qd of the
 * whole arm, and adds the lost kinetic energy to *lost. */
int stops_impact(stops_t *stops, uint32_t hit, double *q, double *qd, double *lost);

#endif

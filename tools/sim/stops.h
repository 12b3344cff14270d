/*
 * Joint stops. A joint that reaches its limit loses its speed there by an impulse that the whole
 * arm feels. While something presses it against the stop it stands, held by a reaction that does no
 * work. It leaves the stop when the reaction would have to pull.
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

/* Free joints that are beyond a limit. */
uint32_t stops_beyond(const stops_t *stops, const double *q);

/* Changes qdd from the accelerations of the forces alone to those with the held joints at rest. */
int stops_react(stops_t *stops, const double *q, const double *qd, double *qdd);
/* Held joints on which the last stops_react had to pull. */
uint32_t stops_pulled(const stops_t *stops);

/* The joints in `hit` run into their stops: sets their q to the limits, changes qd, and adds the
 * lost kinetic energy to *lost. */
int stops_impact(stops_t *stops, uint32_t hit, double *q, double *qd, double *lost);

#endif

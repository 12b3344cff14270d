/* What the files of the simulation share: its state, and who computes what of it. Functions return
 * SIM_OK or another status of tools/sim/sim.h. */
#ifndef TOOLS_SIM_SIM_INSIDE_H
#define TOOLS_SIM_SIM_INSIDE_H

#include "tools/sim/sim.h"
#include "tools/sim/stops.h"

/* What stands in the integrator's state behind q and qd. */
enum { WORK_MOTOR, WORK_FRICTION, WORK_EFFECTOR, WORKS };

struct sim {
    sim_system_t arm;
    sim_input_t input;
    sim_wrench_t wrench;
    sim_options_t options;
    rk_t *rk;
    size_t size; /* of the state: q, qd, works */
    double *y, *next;
    double t, begin;             /* begin: of the grid of samples and holds */
    double h;                    /* proposed by the error control */
    double held[DYN_MAX_JOINTS]; /* the input where it is constant between two times */
    double jump;                 /* when the source changes next */
    unsigned long ticks, samples;
    stops_t stops;
    double lost;   /* in the stops, J */
    double energy; /* at the start, J */
    uint32_t limited;
    unsigned long steps, rejected;
    unsigned long changes; /* of the stops */
};

typedef struct {
    double position[DYN_MAX_JOINTS], speed[DYN_MAX_JOINTS]; /* of the joints */
    double torque[DYN_MAX_JOINTS], volt[DYN_MAX_JOINTS], friction[DYN_MAX_JOINTS];
    double effector[SIM_COORDINATES_MAX];
    double force[SIM_COORDINATES_MAX];
} sim_forces_t;

/* Positions and speeds of the joints in a state. */
void sim_joints(const sim_t *sim, const double *y, sim_forces_t *f);
int sim_forces(sim_t *sim, double t, const double *y, sim_forces_t *f);
int sim_accelerations(sim_t *sim, const double *y, const sim_forces_t *f, double *qdd);
/* An rk_rate_t of the sim_t. */
int sim_rate(void *context, double t, const double *y, double *dy);

/* What two times differ by at least that are not the same. */
double sim_resolution(double t);
/* Lets go of joints that nothing presses against their stops. */
int sim_settle(sim_t *sim);
/* Up to `edge`, before which nothing jumps. */
int sim_integrate(sim_t *sim, double edge);

#endif

/* State and functions shared by the files of the simulation. Functions of type int return SIM_OK or
 * another status of tools/sim/sim.h. */
#ifndef TOOLS_SIM_SIM_INSIDE_H
#define TOOLS_SIM_SIM_INSIDE_H

#include "tools/sim/sim.h"
#include "tools/sim/stops.h"

/* Works of the motors, friction and wrench; the integrator's state has them after q and qd. */
enum { WORK_MOTOR, WORK_FRICTION, WORK_EFFECTOR, WORKS };

struct sim {
    sim_system_t arm;
    sim_input_t input;
    sim_wrench_t wrench;
    sim_options_t options;
    rk_t *rk;
    size_t size; /* number of values in the state: q, qd, works */
    double *y, *next;
    double t, begin;             /* begin: time at which sample periods and rows start */
    double h;                    /* step proposed by the error control */
    double held[DYN_MAX_JOINTS]; /* input that is constant between two events */
    double jump;                 /* time of the next jump of the source */
    unsigned long ticks, samples;
    stops_t stops;
    double lost;   /* energy lost in the stops, J */
    double energy; /* energy at the start, J */
    uint32_t limited;
    unsigned long steps, rejected;
    unsigned long changes; /* how often the set of joints at stops changed */
};

typedef struct {
    double position[DYN_MAX_JOINTS], speed[DYN_MAX_JOINTS]; /* positions and speeds of the joints */
    double torque[DYN_MAX_JOINTS], volt[DYN_MAX_JOINTS], friction[DYN_MAX_JOINTS];
    double effector[SIM_COORDINATES_MAX];
    double force[SIM_COORDINATES_MAX];
} sim_forces_t;

/* Copies the joints' positions and speeds from a state. */
void sim_joints(const sim_t *sim, const double *y, sim_forces_t *f);
int sim_forces(sim_t *sim, double t, const double *y, sim_forces_t *f);
int sim_accelerations(sim_t *sim, const double *y, const sim_forces_t *f, double *qdd);
/* The right-hand side for tools/sim/rk.h; context is a sim_t. */
int sim_rate(void *context, double t, const double *y, double *dy);

/* Returns the smallest difference at which two times near t count as different. */
double sim_resolution(double t);
/* Releases joints that nothing presses against their stops any more. */
int sim_settle(sim_t *sim);
/* Integrates up to the time `edge`; nothing may jump before it. */
int sim_integrate(sim_t *sim, double edge);

#endif

/*
 * The Forward Arm of Swartz (1982): an arm, what drives it and what pulls at its end effector,
 * integrated over time by any method of tools/sim/rk.h, with joint stops, a zero-order hold of the
 * inputs and the energy balance. Three interfaces of functions meet here:
 *
 *     sim_system_t  the dynamics: tools/sim/rigid.c has rigid links; an arm with elastic links has
 *                   more coordinates than joints and is another set of the same functions
 *     sim_input_t   torques or voltages: tools/sim/source.c has constants, schedules and motions; a
 *                   controller in the loop is one more (see below)
 *     sim_wrench_t  the wrench on the end effector
 *
 * Numbers are SI, a prismatic joint has m for rad and N for N m. Nothing here prints.
 */
#ifndef TOOLS_SIM_SIM_H
#define TOOLS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"
#include "tools/sim/rk.h"

enum { SIM_COORDINATES_MAX = 256, SIM_POINTS_MAX = 1024 };

/* Beside dyn_status_t, what a simulation may end with. */
enum {
    SIM_OK = 0,
    SIM_E_NUMBER = -201, /* the state is not finite any more */
    SIM_E_STEP = -202,   /* the tolerance asks for steps below the resolution of the time */
    SIM_E_STOPS = -203,  /* the stops of several joints cannot be reconciled */
    SIM_E_MEMORY = -204,
    SIM_STOPPED = 1 /* options.stop asked for it; what was computed is recorded */
};
/* Why, for one of these or a dyn_status_t. */
const char *sim_status_text(int status);

typedef struct sim_arm {
    void *self;
    uint32_t n;                          /* coordinates */
    uint32_t joints;                     /* those of them that a motor moves */
    uint32_t coordinate[DYN_MAX_JOINTS]; /* of each joint among the coordinates */
    double limit[DYN_MAX_JOINTS][2];     /* where the stops are; both zero: none */
    /* Accelerations under generalised forces on all coordinates (n), friction taken away already;
     * gravity is the arm's own affair. 0 or a negative status. */
    int (*acceleration)(void *self, const double *q, const double *qd, const double *force,
                        double *qdd);
    /* Kinetic energy, rotors included, and potential energy, elastic energy included. */
    void (*energy)(void *self, const double *q, const double *qd, double *kinetic,
                   double *potential);
    /* What friction takes at these speeds of the joints. */
    void (*friction)(void *self, const double *speed, double *torque);
    /* Power in W that damping within the links takes at these speeds of the coordinates, counted as
     * friction; its force is in `acceleration` already. NULL: none. */
    double (*damping)(void *self, const double *qd);
    /* Swartz (11) and (12); bit i of the answer: the supply limits joint i. */
    uint32_t (*voltage)(void *self, const double *speed, const double *torque, double *volt);
    uint32_t (*torque)(void *self, const double *speed, const double *volt, double *torque);
    /* Torques of the joints for a motion, friction and rotors included; NULL: cannot. */
    int (*inverse)(void *self, const double *q, const double *qd, const double *qdd,
                   double *torque);
    /* Generalised forces (n) of a wrench on the end effector, as of `appell id --wrench`; NULL:
     * cannot. */
    void (*effector)(void *self, const double *q, const double *wrench, double *force);
    /* For pictures: the arm as a line of points in the world, and the pose of the end effector.
     * The piece from point i to i + 1 is of link owner[i]; 0 is the base. */
    double gravity[3]; /* m/s^2 in the world */
    uint32_t points;
    uint8_t owner[SIM_POINTS_MAX];
    void (*shape)(void *self, const double *q, double (*point)[3], dyn_pose_t *effector);
} sim_system_t;

typedef enum { SIM_TORQUE, SIM_VOLTAGE } sim_quantity_t;

/*
 * What drives the joints. Without a hold, `value` is asked at every stage of the integrator and
 * must be a function of its arguments alone; a source with `next` is constant between its jumps.
 * With a hold it is asked once at the start of each period, in order, and its answer stays until
 * the next: a controller with a state of its own (the firmware's control step, with encoder counts
 * made of `position`) is connected as such a source.
 */
typedef struct {
    sim_quantity_t quantity;
    void *self;
    int (*value)(void *self, double t, const double *position, const double *speed, double *value);
    double (*next)(void *self, double t); /* next jump after t; NULL: none, and smooth */
} sim_input_t;

typedef struct {
    void *self; /* value NULL: no wrench */
    void (*value)(void *self, double t, double wrench[6]);
    double (*next)(void *self, double t); /* next kink after t; NULL: there are none */
} sim_wrench_t;

typedef struct {
    const rk_method_t *integrator;
    double step_s;    /* fixed steps, at most this long; or */
    double tolerance; /* where not zero: steps chosen for this error, relative and absolute */
    double period_s;  /* DACTimePeriod; zero: inputs are continuous */
    double sample_s;  /* between two rows of the record */
    bool stops;       /* joints end at their limits and lose their speed there */
    /* Asked after every step; true ends the run. May be NULL. */
    bool (*stop)(void *self, double t);
    void *stop_self;
} sim_options_t;

/* Rows of the run. Energies in J. */
typedef struct {
    uint32_t n, joints;
    size_t rows, room, width;
    double *number;
} sim_record_t;

/* One row of a record: pointers into it. */
typedef struct {
    double t;
    const double *q, *qd, *qdd;  /* n */
    const double *torque, *volt; /* joints */
    double kinetic, potential;
    double motor, friction, effector; /* work of the motors, lost to friction, of the wrench */
    double stops;                     /* lost in the stops */
    double balance;                   /* energy now - at the start - what the works explain */
} sim_row_t;

sim_row_t sim_record_row(const sim_record_t *record, size_t index);
void sim_record_free(sim_record_t *record);

typedef struct sim sim_t;

/* Everything is copied but what it points to. NULL: no memory. */
sim_t *sim_make(const sim_system_t *arm, const sim_input_t *input, const sim_wrench_t *wrench,
                const sim_options_t *options);
void sim_free(sim_t *sim);
/* The state at time zero. */
void sim_set(sim_t *sim, const double *q, const double *qd);
/* Another source from now on. */
void sim_drive(sim_t *sim, const sim_input_t *input);
/* Goes on for this long. The record gets the first state when it is empty. */
int sim_run(sim_t *sim, double duration_s, sim_record_t *record);

double sim_time(const sim_t *sim);
void sim_state(const sim_t *sim, double *q, double *qd);
unsigned long sim_steps(const sim_t *sim);
unsigned long sim_rejected(const sim_t *sim);
unsigned long sim_evaluations(const sim_t *sim);
/* Bit i: joint i stands at its stop. */
uint32_t sim_at_stops(const sim_t *sim);
unsigned long sim_impacts(const sim_t *sim);
/* Bit i: the supply has limited the voltage of joint i. */
uint32_t sim_limited(const sim_t *sim);

#endif

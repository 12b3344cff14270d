/*
 * The Forward Arm of Swartz (1982): integrates an arm, its drives and the wrench on its end
 * effector over time by any method of tools/sim/rk.h, with joint stops, sampled inputs and an
 * energy balance. It connects three interfaces:
 *
 *     sim_system_t  the dynamics: tools/sim/rigid.c has rigid links; tools/sim/elastic.c has
 *                   elastic ones and more coordinates than joints
 *     sim_input_t   torques or voltages: tools/sim/source.c has constants, schedules and motions;
 *                   tools/sim/firmware.c is a controller in the loop (see below)
 *     sim_wrench_t  the wrench on the end effector
 *
 * Numbers are SI; a prismatic joint has m for rad and N for N m. Nothing here prints.
 */
#ifndef TOOLS_SIM_SIM_H
#define TOOLS_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"
#include "tools/sim/rk.h"

enum { SIM_COORDINATES_MAX = 256, SIM_POINTS_MAX = 1024 };

/* A simulation ends with one of these or with a dyn_status_t. */
enum {
    SIM_OK = 0,
    SIM_E_NUMBER = -201, /* the state is no longer finite */
    SIM_E_STEP = -202,   /* the tolerance would need a step below the resolution of the time */
    SIM_E_STOPS = -203,  /* joints reach and leave their stops without end at one time */
    SIM_E_MEMORY = -204,
    SIM_STOPPED = 1 /* options.stop ended the run; the record has the rows so far */
};
/* Returns the text of a status of either kind. */
const char *sim_status_text(int status);

typedef struct sim_arm {
    void *self;
    uint32_t n;                          /* coordinates */
    uint32_t joints;                     /* number of joints; torques and voltages are per joint */
    uint32_t coordinate[DYN_MAX_JOINTS]; /* index of each joint's coordinate */
    double limit[DYN_MAX_JOINTS][2];     /* positions of the stops; both zero: no stops */
    /*
     * Computes the accelerations that generalised forces on all n coordinates cause. The caller has
     * subtracted friction from the forces; the function adds gravity itself. Returns 0 or a
     * negative status.
     */
    int (*acceleration)(void *self, const double *q, const double *qd, const double *force,
                        double *qdd);
    /* Computes the kinetic energy, including rotors, and the potential energy, including elastic
     * energy. */
    void (*energy)(void *self, const double *q, const double *qd, double *kinetic,
                   double *potential);
    /* Computes the friction torques at these joint speeds. */
    void (*friction)(void *self, const double *speed, double *torque);
    /*
     * Returns the power in W that is lost to damping within the links at these speeds of the
     * coordinates. The power counts as friction; `acceleration` already includes the damping force.
     * NULL: no damping.
     */
    double (*damping)(void *self, const double *qd);
    /* Compute the motor voltages for torques, and the torques for voltages: Swartz (11) and (12).
     * Bit i of the result is set if the supply limits joint i. */
    uint32_t (*voltage)(void *self, const double *speed, const double *torque, double *volt);
    uint32_t (*torque)(void *self, const double *speed, const double *volt, double *torque);
    /*
     * Computes the joint torques for a motion, including friction and rotors. NULL: not available.
     */
    int (*inverse)(void *self, const double *q, const double *qd, const double *qdd,
                   double *torque);
    /* Computes the n generalised forces of a wrench on the end effector, defined as in `appell id
     * --wrench`. NULL: not available. */
    void (*effector)(void *self, const double *q, const double *wrench, double *force);
    /* For pictures: the arm as a line of points in the world, and the pose of the end effector. The
     * piece from point i to i + 1 belongs to link owner[i]; 0 is the base. */
    double gravity[3]; /* m/s^2 in the world */
    uint32_t points;
    uint8_t owner[SIM_POINTS_MAX];
    void (*shape)(void *self, const double *q, double (*point)[3], dyn_pose_t *effector);
} sim_system_t;

/*
 * Computes the joint torques for a motion of the joints, of which `inverse` must be available, while
 * a wrench acts on the end effector; NULL: none. Returns 0 or a negative status.
 */
int sim_inverse(const sim_system_t *arm, const double *q, const double *qd, const double *qdd,
                const double *wrench, double *torque);

typedef enum { SIM_TORQUE, SIM_VOLTAGE } sim_quantity_t;

/*
 * A source of torques or voltages for the joints. Without a sample period the integrator calls
 * `value` at every stage, so the result must depend on the arguments alone; a source with `next` is
 * constant between its jumps. With a sample period `value` is called once at the start of each
 * period, in order, and its result is used until the next call. So a controller with a state of its
 * own can be a source, such as the firmware's control step, whose encoder counts are made from
 * `position`.
 */
typedef struct {
    sim_quantity_t quantity;
    void *self;
    int (*value)(void *self, double t, const double *position, const double *speed, double *value);
    /* time of the next jump after t; NULL: the source never jumps */
    double (*next)(void *self, double t);
} sim_input_t;

typedef struct {
    void *self; /* if value is NULL, there is no wrench */
    void (*value)(void *self, double t, double wrench[6]);
    double (*next)(void *self, double t); /* time of the next kink after t; NULL: no kinks */
} sim_wrench_t;

typedef struct {
    const rk_method_t *integrator;
    double step_s;    /* longest fixed step, used if tolerance is zero */
    double tolerance; /* if not zero: steps keep the relative and absolute error below this */
    double period_s;  /* sample period (DACTimePeriod of Swartz); zero: inputs are continuous */
    double sample_s;  /* time between two rows of the record */
    bool stops;       /* joints stop at their limits and lose their speed there */
    /* Called after every step; true ends the run. May be NULL. */
    bool (*stop)(void *self, double t);
    void *stop_self;
} sim_options_t;

/* The recorded rows of a run. Energies are in J. */
typedef struct {
    uint32_t n, joints;
    size_t rows, room, width;
    double *number;
} sim_record_t;

/* One row of a record; its pointers point into the record. */
typedef struct {
    double t;
    const double *q, *qd, *qdd;  /* n values each */
    const double *torque, *volt; /* one value per joint */
    double kinetic, potential;
    /* work of the motors, loss to friction, work of the wrench, in J */
    double motor, friction, effector;
    double stops; /* energy lost in the stops, in J */
    /* energy now - energy at the start - (motor - friction + effector - stops), in J */
    double balance;
} sim_row_t;

sim_row_t sim_record_row(const sim_record_t *record, size_t index);
void sim_record_free(sim_record_t *record);

typedef struct sim sim_t;

/* Copies the four structures, but not the objects to which their members point. Returns NULL if
 * there is no memory. */
sim_t *sim_make(const sim_system_t *arm, const sim_input_t *input, const sim_wrench_t *wrench,
                const sim_options_t *options);
void sim_free(sim_t *sim);
/* Sets the state at time zero. */
void sim_set(sim_t *sim, const double *q, const double *qd);
/* Replaces the source of torques or voltages from now on. */
void sim_drive(sim_t *sim, const sim_input_t *input);
/* Continues the run for this duration. The first run after sim_set also records the initial
 * state. */
int sim_run(sim_t *sim, double duration_s, sim_record_t *record);

double sim_time(const sim_t *sim);
void sim_state(const sim_t *sim, double *q, double *qd);
unsigned long sim_steps(const sim_t *sim);
unsigned long sim_rejected(const sim_t *sim);
unsigned long sim_evaluations(const sim_t *sim);
/* Bit i is set if joint i is held at its stop. */
uint32_t sim_at_stops(const sim_t *sim);
unsigned long sim_impacts(const sim_t *sim);
/* Bit i is set if the supply has limited the voltage of joint i during the run. */
uint32_t sim_limited(const sim_t *sim);

#endif

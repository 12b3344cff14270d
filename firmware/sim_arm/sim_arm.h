/* The arm that is not there: what it is made of, and one tick of it. */
#ifndef FIRMWARE_SIM_ARM_SIM_ARM_H
#define FIRMWARE_SIM_ARM_SIM_ARM_H

#include <stdbool.h>

#include "firmware/control/io.h"
#include "firmware/control/reference.h"
#include "firmware/control/setup.h"
#include "firmware/lab/defects.h"

typedef struct {
    step_t half;      /* of a step of the integration */
    gain_t per_q;     /* half counts of a position */
    gain_t volt;      /* volts, or torque, of a duty cycle of 1 in Q15 */
    real_t low, high; /* where the joint stops are */
    real_t qd_max;    /* beyond it the number format ends */
} sim_arm_joint_t;

/* The arm that is not there, firmware/sim_arm/sim_arm.c. */
typedef struct {
    const arm_t *arm;
    uint32_t steps;    /* of the integration in a tick */
    real_t mass_part;  /* 1 / 2 by the mass factor */
    real_t friction;   /* factor */
    uint32_t noise;    /* counts */
    uint32_t random;   /* state of the generator */
    uint32_t singular; /* its inertia matrix was */
    uint32_t open;     /* the outputs are off: no current flows */
    defect_t defect;
    int32_t shift;               /* counts that the encoders are off by */
    real_t supply;               /* by the nominal one */
    int32_t supply_mV;           /* as it is measured; 0: it is not */
    real_t zero[DYN_MAX_JOINTS]; /* position where the counter reads zero, in truth */
    real_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS]; /* position and speed, the truth */
    real_t input[DYN_MAX_JOINTS];                 /* volts at the motor; else torque */
    sim_arm_joint_t joint[DYN_MAX_JOINTS];
} sim_arm_t;

/* Its constants, in the background; false: one does not fit the units. */
bool sim_arm_setup(const setup_t *from, sim_arm_t *arm);
/* Of them, those of what is wrong with it. */
void sim_arm_setup_errors(const setup_t *from, sim_arm_t *arm);

/* One tick of the arm under the duty cycles; braked: the brakes hold it where it is. */
void sim_arm_step(const control_t *control, sim_arm_t *arm, scratch_t *scratch, bool braked);
/* What it gets until the next tick: volts of the duty cycles, or the torque itself. */
void sim_arm_drive(const control_t *control, sim_arm_t *arm, const int32_t duty_q15[],
                   const real_t tau[]);
/* What its encoders read. */
void sim_arm_counts(sim_arm_t *arm, int32_t counts[]);
/* What the inputs of its hardware read; of the real ones it has the lateness and the e-stop. */
app_inputs_t sim_arm_inputs(const sim_arm_t *arm, const motion_state_t *motion,
                            const app_inputs_t *in);

#endif

/* The simulated arm: its constants and state, and one tick of it. */
#ifndef FIRMWARE_SIM_ARM_SIM_ARM_H
#define FIRMWARE_SIM_ARM_SIM_ARM_H

#include <stdbool.h>

#include "firmware/control/io.h"
#include "firmware/control/reference.h"
#include "firmware/control/setup.h"
#include "firmware/lab/defects.h"

typedef struct {
    step_t half;      /* factors of half an integration step */
    gain_t per_q;     /* from position to half encoder counts */
    gain_t volt;      /* volts of one step of the Q15 duty cycle */
    real_t low, high; /* positions of the joint stops */
    real_t qd_max;    /* largest speed that the number format holds */
} sim_arm_joint_t;

/* Constants and state of the simulated arm. */
typedef struct {
    const arm_t *arm;
    uint32_t steps;       /* integration steps in a tick */
    real_t half_per_mass; /* 1 / (2 mass factor) */
    real_t friction;      /* friction divided by the friction of the model */
    uint32_t noise;       /* encoder noise, in counts */
    uint32_t random;      /* state of the random generator */
    uint32_t singular;    /* the inertia matrix was singular in some step */
    uint32_t open;        /* the outputs are off: no current flows */
    defect_t defect;
    int32_t shift;                                /* error of the encoders, in counts */
    real_t supply;                                /* fraction of the nominal supply */
    int32_t supply_mV;                            /* measured supply, or SUPPLY_UNMEASURED */
    real_t zero[DYN_MAX_JOINTS];                  /* true position where the counter reads zero */
    real_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS]; /* true position and speed */
    real_t input[DYN_MAX_JOINTS];                 /* volts at the motor; torque mode: torque */
    sim_arm_joint_t joint[DYN_MAX_JOINTS];
} sim_arm_t;

/* Makes the constants of the arm, in the background. Returns false if a constant does not fit the
 * units. */
bool sim_arm_setup(const setup_t *from, sim_arm_t *arm);
/* Sets only the constants of model errors and injected defects. */
void sim_arm_setup_errors(const setup_t *from, sim_arm_t *arm);

/* Advances the arm by one tick. `braked` means that the brakes hold the arm where it is. */
void sim_arm_step(const control_t *control, sim_arm_t *arm, scratch_t *scratch, bool braked);
/* Sets the inputs of the arm until the next tick: volts from the duty cycles, or the torque
 * itself. */
void sim_arm_drive(const control_t *control, sim_arm_t *arm, const int32_t duty_q15[],
                   const real_t tau[]);
/* Reads the encoders of the arm. */
void sim_arm_counts(sim_arm_t *arm, int32_t counts[]);
/* Returns the inputs that the hardware of the simulated arm gives. Overrun and e-stop are also set
 * if the real inputs `in` have them. */
app_inputs_t sim_arm_inputs(const sim_arm_t *arm, const motion_state_t *motion,
                            const app_inputs_t *in);

#endif

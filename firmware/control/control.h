/* The control step, stage by stage: constants that are prepared outside the tick, what passes from
 * stage to stage and from tick to tick, and the stages themselves. */
#ifndef FIRMWARE_CONTROL_CONTROL_H
#define FIRMWARE_CONTROL_CONTROL_H

#include "firmware/control/type.h"

/* Time steps as factors: velocity to position over half a step, and so on. */
typedef struct {
    gain_t q_qd;   /* h / 2 */
    gain_t qd_qdd; /* h / 2 */
    gain_t q_qdd;  /* h^2 / 8 */
} step_t;

typedef struct {
    step_t half;                /* of a tick */
    gain_t angle;               /* position to the kernels' */
    gain_t per_count;           /* position of an encoder count */
    real_t offset;              /* position where the counter reads zero */
    gain_t observe;             /* position error to a change of speed */
    gain_t kp, kd;              /* to torque; computed torque: to acceleration */
    real_t tau_max;             /* torque limit */
    gain_t duty;                /* volts, or torque in torque mode, to Q15 at nominal supply */
    real_t qd_max;              /* q31: where the number format ends */
    gain_t qdd_qd;              /* a change of speed in a tick to acceleration */
    real_t qd_change;           /* largest change of the reference speed in a tick */
    gain_t brake_q, brake_part; /* qd^2 / 2a as (qd v / 2a) (qd / v) */
    real_t lower, upper;        /* position limits */
    real_t track, beyond, fast; /* faults: error, way beyond a limit, speed */
    real_t wrong;               /* speed off the reference that tells a direction; 16ths */
    real_t firm;                /* torque that tells a direction */
    real_t sink;                /* speed of lowering */
    int32_t wrap;               /* counts of a turn of the encoder */
    uint8_t motor;              /* there is one; else torque mode */
    uint8_t bounded;            /* lower and upper are limits */
    int8_t position;            /* q31: exponent of the unit of position */
} control_joint_t;

/* Constants of the control step, prepared outside the tick. */
typedef struct {
    const arm_t *arm;
    const flex_t *flex; /* its elastic links; NULL: it has none */
    uint32_t feedback, feedforward;
    uint32_t simulated;    /* the simulated arm and not the hardware is controlled */
    uint32_t sample_every; /* ticks; 0: never */
    uint32_t watch;        /* what the stages cost is measured */
    real_t observe;        /* part of a position error that the estimate takes over */
    gain_t supply_per_mV;  /* measured supply by the nominal one */
    real_t per_look;       /* 1 / segment */
    real_t lasting;        /* part of the torque limits that a motor may give for long */
    int32_t supply_least_mV, supply_most_mV;
    uint16_t limit_ticks;    /* ticks at a limit of torque or voltage */
    uint16_t segment;        /* ticks between two looks at the directions; 0: none */
    uint16_t damp;           /* ticks of damping before brakes close */
    uint32_t setpoint;       /* ticks without a point of a streamed motion; 0: any */
    uint16_t unread, late;   /* ticks in a row: without an encoder, that overran */
    uint8_t brakes, damping; /* there are brakes; every joint has a motor that can damp */
    control_joint_t joint[DYN_MAX_JOINTS];
} control_t;

/* What passes from stage to stage and from tick to tick. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* of the encoders, turns included */
    uint32_t limited;               /* bit i: joint i at a limit of torque or voltage */
    uint32_t unproved;              /* bit i: the model was asked beyond its proof at joint i */
    uint32_t clipped;               /* of torque alone */
    uint32_t unhomed;               /* bit i: the position of joint i is not known */
    uint32_t pressing;              /* bit i: it is looked for */
    real_t q[DYN_MAX_JOINTS];       /* measured */
    real_t q_hat[DYN_MAX_JOINTS], qd_hat[DYN_MAX_JOINTS]; /* estimated, at this tick */
    real_t q_mid[DYN_MAX_JOINTS], qd_mid[DYN_MAX_JOINTS]; /* reference in its middle */
    real_t qdd_ref[DYN_MAX_JOINTS];
    real_t q_ref[DYN_MAX_JOINTS], qd_ref[DYN_MAX_JOINTS];  /* reference at this tick */
    real_t tau_model[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS]; /* model, command */
    real_t volt[DYN_MAX_JOINTS];
    real_t zero[DYN_MAX_JOINTS]; /* what homing has found, beside the offsets */
#if APP_FLEX
    real_t theta[DYN_FLEX_MAX]; /* the deflection that the motion holds, where the model is */
#endif
} loop_t;

/* Kernel memory; nothing in it lives longer than a stage. */
typedef struct {
    fast_scratch_t fast;
    real_t M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    real_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
#if APP_FLEX
    flex_static_scratch_t flex;
#endif
} scratch_t;

/* Of the host tool (CONTROL_TWIN): code for one arm instead of the kernels, where the twin of a
 * board has generated code; NULL: none. */
typedef struct {
    void (*inverse)(const real_t q[], const real_t qd[], const real_t qdd[], real_t tau[]);
    void (*gravity)(const real_t q[], real_t tau[]);
} control_twin_t;
extern const control_twin_t *control_twin;

/* The stages; each reads and writes the loop. */
void control_sense(const control_t *control, loop_t *loop);
void control_settle(const control_t *control, loop_t *loop);
void control_estimate(const control_t *control, loop_t *loop);
void control_dynamics(const control_t *control, scratch_t *scratch, loop_t *loop);
void control_feedback(const control_t *control, loop_t *loop);
void control_drive(const control_t *control, int32_t supply_mV, loop_t *loop, int32_t duty_q15[]);

#endif

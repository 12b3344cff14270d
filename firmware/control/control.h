/* The control step: its constants, which are prepared outside the tick, the data that pass from
 * stage to stage and from tick to tick, and the stages themselves. */
#ifndef FIRMWARE_CONTROL_CONTROL_H
#define FIRMWARE_CONTROL_CONTROL_H

#include <stdbool.h>

#include "firmware/control/type.h"

/* Factors over half of a time step h: from velocity to position, from acceleration to velocity,
 * from acceleration to position. */
typedef struct {
    gain_t q_qd;   /* h / 2 */
    gain_t qd_qdd; /* h / 2 */
    gain_t q_qdd;  /* h^2 / 8 */
} step_t;

typedef struct {
    step_t half;      /* factors of half a tick */
    gain_t angle;     /* from a position of the loop to one of the kernels */
    gain_t per_count; /* position per encoder count */
    real_t offset;    /* position where the counter reads zero */
    gain_t observe;   /* observer: from position error to change of speed */
    gain_t kp, kd;    /* PD: gains to torque; computed torque: to acceleration */
    real_t tau_max;   /* torque limit */
    real_t lasting;   /* torque that the motor can give for ever */
    gain_t warm;      /* thermal guard: from a sum of squares of torque to heat */
    int32_t cool;     /* thermal guard: part by which heat follows in a window; 0: no guard */
    /* from volts (torque mode: torque) to duty cycle at the nominal supply */
    gain_t duty;
    real_t qd_max;              /* q31: largest speed that the number format holds */
    gain_t qdd_qd;              /* from change of speed in a tick to acceleration */
    real_t qd_change;           /* largest change of the reference speed in a tick */
    gain_t brake_q, brake_part; /* braking distance qd^2 / 2a as (qd v / 2a) (qd / v) */
    real_t lower, upper;        /* position limits */
    /* limits of the guards: tracking error, distance beyond a position limit, speed */
    real_t track, beyond, fast;
    real_t wrong;  /* direction guard: smallest suspicious speed error, divided by 16 */
    real_t firm;   /* direction guard: smallest torque for a conclusion */
    real_t sink;   /* speed of lowering */
    gain_t reach;  /* from speed to the largest speed of the tool that it gives */
    uint16_t jump; /* sensor guard: largest speed gained in a tick, counts */
#if APP_SENSORS
    uint16_t noise; /* sensor guard: 16 times the largest mean change of the steps, counts */
    real_t stuck;   /* sensor guard: change of the feedback that must move the joint, over 16 */
#endif
    int32_t wrap;     /* encoder counts per turn */
    uint8_t motor;    /* the joint has a motor model; otherwise torque mode */
    uint8_t bounded;  /* lower and upper are valid limits */
    int8_t position;  /* q31: exponent of the unit of position */
    uint8_t low_bits; /* sensor guard: of these bits of the steps some must be set at times */
} control_joint_t;

/* Constants of the control step, prepared outside the tick. */
typedef struct {
    const arm_t *arm;
    const flex_t *flex; /* elastic links of the arm, or NULL */
    uint32_t feedback, feedforward;
    uint32_t simulated;    /* the simulated arm is controlled, not the hardware */
    uint32_t sample_every; /* ticks between two samples; 0: no samples */
    uint32_t watch;        /* the costs of the stages are measured */
    real_t observe;        /* observer: fraction of a position error that is corrected in a tick */
    gain_t supply_per_mV;  /* from supply in mV to a fraction of the nominal supply */
    real_t per_segment;    /* 1 / segment */
    real_t scale;          /* limits_scale */
    int32_t supply_least_mV, supply_most_mV;
    uint16_t limit_half_ticks; /* allowed time at a limit of torque or voltage, in half ticks */
    uint16_t leak_ticks;       /* ticks after which a reversal of torque is forgotten */
    uint16_t segment;          /* ticks between two checks of the directions; 0: no checks */
    uint16_t damp;         /* ticks of damping until closed brakes hold; ticks in which the outputs
                              * must come on */
    uint32_t setpoint;     /* ticks that a streamed motion may wait for its next point; 0: no
                              * limit */
    uint16_t unread, late; /* allowed consecutive ticks: with an encoder unread; with an
                              * overrun */
    uint16_t blind;        /* ticks without a reading after which the turns of the joints in
                              * `turning` are not known any more */
    uint16_t brake_torque; /* ticks of torque before the brakes open; the next two: ticks that */
    uint16_t brake_open, brake_close; /* the brakes take */
    real_t tool_fast;                 /* limit of the guard: speed of the tool */
#if APP_CONTROLS > 1
    real_t fade; /* fraction of the difference to the old torque that is left after a tick */
    uint32_t fade_ticks;
#endif
    uint32_t turning;        /* bit i: the encoder of joint i makes several turns */
    uint8_t brakes, damping; /* the arm has brakes; every joint has a motor that can damp */
    uint8_t stuck_turns;     /* sensor guard: turns in a row that find a joint stuck */
    control_joint_t joint[DYN_MAX_JOINTS];
} control_t;

/* Returns a mask with a bit for each of n joints. */
static inline uint32_t joints_mask(uint32_t n) {
    return n >= 32 ? UINT32_MAX : (1u << n) - 1;
}

/* Data that pass from stage to stage and from tick to tick. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* encoder counts, turns included */
    uint32_t limited;               /* bit i: joint i is at a limit of torque or voltage */
    uint32_t unproved;              /* bit i: an input of joint i was clamped to its proved range */
    uint32_t clipped;               /* bit i: joint i is at its torque limit */
    uint32_t unhomed;               /* bit i: joint i is not homed */
    uint32_t pressing;              /* bit i: homing pushes joint i with the largest torque that is
                                     * allowed */
    real_t q[DYN_MAX_JOINTS];       /* measured position */
    real_t q_hat[DYN_MAX_JOINTS], qd_hat[DYN_MAX_JOINTS]; /* estimated position and speed at this
                                                           * tick */
    real_t q_mid[DYN_MAX_JOINTS], qd_mid[DYN_MAX_JOINTS]; /* reference in the middle of this tick */
    real_t qdd_ref[DYN_MAX_JOINTS];
    real_t q_ref[DYN_MAX_JOINTS], qd_ref[DYN_MAX_JOINTS];  /* reference at this tick */
    real_t tau_model[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS]; /* torque of the model; commanded
                                                            * torque */
    real_t volt[DYN_MAX_JOINTS];
    real_t zero[DYN_MAX_JOINTS]; /* correction found by homing, added to the offset */
#if APP_CONTROLS > 1
    /* After a change of the constants: the difference to the old torque, and the ticks in which it
     * still fades. */
    real_t bump[DYN_MAX_JOINTS];
    uint32_t fading;
#endif
#if APP_FLEX
    real_t theta[DYN_FLEX_MAX]; /* coordinates of the elastic links: joints and static deflection */
#endif
} loop_t;

/* Returns whether the torque still fades from that of the old constants. */
static inline bool loop_fades(const loop_t *loop) {
#if APP_CONTROLS > 1
    return loop->fading > 0;
#else
    (void)loop;
    return false;
#endif
}

/* Scratch memory of the kernels; its content is valid only within a stage. */
typedef struct {
    fast_scratch_t fast;
    real_t M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    real_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
#if APP_FLEX
    flex_static_scratch_t flex;
#endif
} scratch_t;

/* Only on the host (CONTROL_TWIN): generated code that replaces the kernels when the tool simulates
 * a board with generated code. NULL: the kernels run. */
typedef struct {
    void (*inverse)(const real_t q[], const real_t qd[], const real_t qdd[], real_t tau[]);
    void (*gravity)(const real_t q[], real_t tau[]);
} control_twin_t;
extern const control_twin_t *control_twin;

/* The stages; each reads and writes the loop. While the loop is open, control_settle is called
 * instead of control_estimate: it sets the estimate to the measured position, at rest. */
void control_sense(const control_t *control, loop_t *loop);
void control_settle(const control_t *control, loop_t *loop);
void control_estimate(const control_t *control, loop_t *loop);
void control_dynamics(const control_t *control, scratch_t *scratch, loop_t *loop);
void control_feedback(const control_t *control, loop_t *loop);
void control_drive(const control_t *control, int32_t supply_mV, loop_t *loop, int32_t duty_q15[]);

#endif

/*
 * Types and prototypes of control step, references, simulated arm and application for one number
 * type. A template without an include guard: firmware/core/f32.h and its kin include it with
 * DYN_REAL defined, and so do the sources after DYN_REAL_H. firmware/core/image.h must come before.
 *
 * Positions are radians or metres with a sign and do not wrap: in q31 with 28 fractional bits of a
 * unit 2^position that holds the limits of the joint; `angle` turns them into what the kernels
 * take. Speeds, accelerations, torques and volts are in the units of the kernels
 * (dyn_q31_exponents).
 */
#include <stdatomic.h>

#include "firmware/core/app_types.h"
#include "firmware/core/name.h"

/* ------------------------------------------------------------------------------- control step */

/* Time steps as factors: velocity to position over half a step, and so on. */
typedef struct {
    DYN_T(gain) q_qd;   /* h / 2 */
    DYN_T(gain) qd_qdd; /* h / 2 */
    DYN_T(gain) q_qdd;  /* h^2 / 8 */
} CORE_T(step);

typedef struct {
    CORE_T(step) half;               /* of a tick */
    DYN_T(gain) angle;               /* position to the kernels' */
    DYN_T(gain) per_count;           /* position of an encoder count */
    DYN_T(real) offset;              /* position where the counter reads zero */
    DYN_T(gain) observe;             /* position error to a change of speed */
    DYN_T(gain) kp, kd;              /* to torque; computed torque: to acceleration */
    DYN_T(real) tau_max;             /* torque limit */
    DYN_T(gain) duty;                /* volts, or torque in torque mode, to Q15 at nominal supply */
    DYN_T(real) qd_max;              /* q31: where the number format ends */
    DYN_T(gain) qdd_qd;              /* a change of speed in a tick to acceleration */
    DYN_T(real) qd_change;           /* largest change of the reference speed in a tick */
    DYN_T(gain) brake_q, brake_part; /* qd^2 / 2a as (qd v / 2a) (qd / v) */
    DYN_T(real) lower, upper;        /* position limits */
    DYN_T(real) track, beyond, fast; /* faults: error, way beyond a limit, speed */
    DYN_T(real) wrong;               /* speed off the reference that tells a direction; 16ths */
    DYN_T(real) firm;                /* torque that tells a direction */
    DYN_T(real) sink;                /* speed of lowering */
    int32_t wrap;                    /* counts of a turn of the encoder */
    uint8_t motor;                   /* there is one; else torque mode */
    uint8_t bounded;                 /* lower and upper are limits */
    int8_t position;                 /* q31: exponent of the unit of position */
} CORE_T(control_joint);

/* Constants of the control step, prepared outside the tick. */
typedef struct {
    const DYN_T(arm) *arm;
    const DYN_T(flex) *flex; /* its elastic links; NULL: it has none */
    uint32_t feedback, feedforward;
    uint32_t simulated;        /* the plant and not the hardware is controlled */
    uint32_t sample_every;     /* ticks; 0: never */
    uint32_t watch;            /* what the stages cost is measured */
    DYN_T(real) observe;       /* part of a position error that the estimate takes over */
    DYN_T(gain) supply_per_mV; /* measured supply by the nominal one */
    DYN_T(real) per_look;      /* 1 / segment */
    DYN_T(real) hold;          /* part of the torque limits that a motor may give for long */
    int32_t supply_least_mV, supply_most_mV;
    uint16_t patience;       /* ticks at a limit of torque or voltage */
    uint16_t segment;        /* ticks between two looks at the directions; 0: none */
    uint16_t damp;           /* ticks of damping before brakes close */
    uint32_t setpoint;       /* ticks without a point of a streamed motion; 0: any */
    uint16_t unread, late;   /* ticks in a row: without an encoder, that overran */
    uint8_t brakes, damping; /* there are brakes; every joint has a motor that can damp */
    CORE_T(control_joint) joint[DYN_MAX_JOINTS];
} CORE_T(control);

/* What passes from stage to stage and from tick to tick. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* of the encoders, turns included */
    uint32_t limited;               /* bit i: joint i at a limit of torque or voltage */
    uint32_t unproved;              /* bit i: the model was asked beyond its proof at joint i */
    uint32_t clipped;               /* of torque alone */
    uint32_t unhomed;               /* bit i: the position of joint i is not known */
    uint32_t pressing;              /* bit i: it is looked for */
    DYN_T(real) q[DYN_MAX_JOINTS];  /* measured */
    DYN_T(real) q_hat[DYN_MAX_JOINTS], qd_hat[DYN_MAX_JOINTS]; /* estimated, at this tick */
    DYN_T(real) q_mid[DYN_MAX_JOINTS], qd_mid[DYN_MAX_JOINTS]; /* reference in its middle */
    DYN_T(real) qdd_ref[DYN_MAX_JOINTS];
    DYN_T(real) q_ref[DYN_MAX_JOINTS], qd_ref[DYN_MAX_JOINTS];  /* reference at this tick */
    DYN_T(real) tau_model[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS]; /* model, command */
    DYN_T(real) volt[DYN_MAX_JOINTS];
    DYN_T(real) zero[DYN_MAX_JOINTS]; /* what homing has found, beside the offsets */
#if APP_FLEX
    DYN_T(real) theta[DYN_FLEX_MAX]; /* the deflection that the motion holds, where the model is */
#endif
} CORE_T(loop);

/* Kernel memory; nothing in it lives longer than a stage. */
typedef struct {
    DYN_T(fast_scratch) fast;
    DYN_T(real) M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2];
    DYN_T(real) q[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
#if APP_FLEX
    DYN_T(flex_static_scratch) flex;
#endif
} CORE_T(scratch);

/* The stages, firmware/core/control.c; each reads and writes the loop. */
/*
 * In the host tool (CONTROL_TWIN): code for one arm instead of the kernels, where the twin of a
 * board has generated code; NULL: none.
 */
typedef struct {
    void (*inverse)(const DYN_T(real) q[], const DYN_T(real) qd[], const DYN_T(real) qdd[],
                    DYN_T(real) tau[]);
    void (*gravity)(const DYN_T(real) q[], DYN_T(real) tau[]);
} CORE_T(twin);
extern const CORE_T(twin) * CORE(control_twin);

void CORE(control_sense)(const CORE_T(control) * control, CORE_T(loop) * loop);
void CORE(control_settle)(const CORE_T(control) * control, CORE_T(loop) * loop);
void CORE(control_estimate)(const CORE_T(control) * control, CORE_T(loop) * loop);
void CORE(control_dynamics)(const CORE_T(control) * control, CORE_T(scratch) * scratch,
                            CORE_T(loop) * loop);
void CORE(control_feedback)(const CORE_T(control) * control, CORE_T(loop) * loop);
void CORE(control_drive)(const CORE_T(control) * control, int32_t supply_mV, CORE_T(loop) * loop,
                         int32_t duty_q15[]);

/* ------------------------------------------------------------------------------------- guards */

/* What the guards remember from tick to tick, firmware/core/supervisor.c. */
typedef struct {
    uint32_t outside;  /* bit i: joint i was beyond its limit when the loop was closed */
    uint32_t limited;  /* ticks with a joint at a limit */
    uint32_t clipped;  /* bit i: the limit that joint i was at in the last tick was of torque */
    int32_t supply_mV; /* as it was measured; 0: it is not */
    uint16_t late, unread, phase, stopped; /* ticks */
    uint16_t at_limit[DYN_MAX_JOINTS];     /* ticks in a row at that limit */
    struct {                               /* at the last look; 16ths */
        DYN_T(real) qd, off, push, gained;
    } look[DYN_MAX_JOINTS];
    DYN_T(real) missing;           /* half of the torque that a look left in doubt; 0: no doubt */
    uint8_t wrong[DYN_MAX_JOINTS]; /* looks that saw the wrong direction, more than did not */
    uint8_t doubted;               /* the joint that was last in doubt */
    uint8_t strained;              /* a joint was at a limit in the last tick */
} CORE_T(guard);

/* What a guard has found. */
typedef struct {
    uint32_t fault, joint; /* APP_FAULT_NONE: all is well */
    DYN_T(real) value, limit;
} CORE_T(finding);

/* --------------------------------------------------------------------------------- references */

/* A motion that is going on, firmware/core/reference.c. Half ticks, so that the middle of a tick is
 * one. */
typedef struct {
    volatile uint32_t kind; /* motion_kind_t; written last by who starts a motion */
    uint32_t count;         /* half ticks since its start, or since the last point; JOG: ticks */
    uint32_t last;          /* how many there are */
    uint32_t underruns;     /* streamed motions that ran out of points */
    uint32_t starved;       /* one did in this tick: ticks between its points */
    DYN_T(gain) part;       /* 1 / last */
    /* CYCLOID: 1 / 2 pi, 2 pi; TRAPEZOID: ramp, 1 / (1 - ramp), that by the ramp; KNOTS: 1 / 6 */
    DYN_T(real) shape[3];
    union {
        struct {
            DYN_T(real) start[DYN_MAX_JOINTS], way[DYN_MAX_JOINTS];
            DYN_T(real) rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* way / T, way / T^2 */
        } profile;
        struct {
            DYN_T(real) point[APP_KNOTS][DYN_MAX_JOINTS];
            DYN_T(gain) rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* 1 / 2h, 1 / h^2 */
            volatile uint32_t head;  /* points ever pushed, written by the background */
            volatile uint32_t tail;  /* the first of the four points in use, by the tick */
            volatile uint32_t ended; /* no more will come */
        } knots;
        struct {
            DYN_T(real) target[DYN_MAX_JOINTS]; /* velocity */
        } jog;
        float lent[APP_KNOTS * DYN_MAX_JOINTS]; /* app_lend */
        struct {
            DYN_T(real) target[DYN_MAX_JOINTS]; /* as of a jog */
            DYN_T(real) speed, torque;          /* of looking; to press with */
            DYN_T(real) position, from;         /* where it is; where looking began */
            uint32_t joint, kind;               /* HOME_... */
            uint32_t phase, still, stalled;     /* ticks at rest that are a stop; so far */
            uint32_t away, gone;                /* ticks of going away from it; so far */
        } home;
    } as;
} CORE_T(motion);

/* One tick further: q_mid, qd_mid, qdd_ref and, half a tick before, q_ref, qd_ref. */
void CORE(reference_step)(const CORE_T(control) * control, CORE_T(motion) * motion,
                          CORE_T(loop) * loop);
/* From here on the reference brakes within the acceleration limits. */
void CORE(reference_brake)(CORE_T(motion) * motion);
/* Rests where the loop says that the arm is. */
void CORE(reference_rest)(const CORE_T(control) * control, CORE_T(loop) * loop);

/* ------------------------------------------------------------------------------ simulated arm */

typedef struct {
    CORE_T(step) half;     /* of a step of the integration */
    DYN_T(gain) per_q;     /* half counts of a position */
    DYN_T(gain) volt;      /* volts, or torque, of a duty cycle of 1 in Q15 */
    DYN_T(real) low, high; /* where the joint stops are */
    DYN_T(real) qd_max;    /* beyond it the number format ends */
} CORE_T(plant_joint);

/* The arm that is not there, firmware/core/plant.c. */
typedef struct {
    const DYN_T(arm) *arm;
    uint32_t steps;                   /* of the integration in a tick */
    DYN_T(real) mass_part;            /* 1 / 2 by the mass factor */
    DYN_T(real) friction;             /* factor */
    uint32_t noise;                   /* counts */
    uint32_t random;                  /* state of the generator */
    uint32_t broken;                  /* the inertia matrix was singular */
    uint32_t open;                    /* the outputs are off: no current flows */
    uint32_t defect, defect_joint;    /* DEFECT_... */
    int32_t shift;                    /* counts that the encoders are off by */
    DYN_T(real) supply;               /* by the nominal one */
    int32_t supply_mV;                /* as it is measured; 0: it is not */
    DYN_T(real) zero[DYN_MAX_JOINTS]; /* position where the counter reads zero, in truth */
    DYN_T(real) q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS]; /* position and speed, the truth */
    DYN_T(real) input[DYN_MAX_JOINTS];                 /* volts at the motor; else torque */
    CORE_T(plant_joint) joint[DYN_MAX_JOINTS];
} CORE_T(plant);

/* One tick of the arm under the duty cycles; braked: the brakes hold it where it is. */
void CORE(plant_step)(const CORE_T(control) * control, CORE_T(plant) * plant,
                      CORE_T(scratch) * scratch, bool braked);
/* What it gets until the next tick: volts of the duty cycles, or the torque itself. */
void CORE(plant_drive)(const CORE_T(control) * control, CORE_T(plant) * plant,
                       const int32_t duty_q15[], const DYN_T(real) tau[]);
/* What its encoders read. */
void CORE(plant_counts)(CORE_T(plant) * plant, int32_t counts[]);

/* ------------------------------------------------------------------------------------- sample */

#define SAMPLE_MEMBER_ONE(name, type)   type name;
#define SAMPLE_MEMBER_JOINT(name, type) type name[DYN_MAX_JOINTS];
#define SAMPLE_TYPE_NONE                uint32_t
#define SAMPLE_TYPE_POSITION            DYN_T(real)
#define SAMPLE_TYPE_VELOCITY            DYN_T(real)
#define SAMPLE_TYPE_ACCELERATION        DYN_T(real)
#define SAMPLE_TYPE_TORQUE              DYN_T(real)
#define SAMPLE_TYPE_VOLTAGE             DYN_T(real)
typedef struct {
#define X(name, shape, quantity, help) SAMPLE_MEMBER_##shape(name, SAMPLE_TYPE_##quantity)
    SAMPLE_TABLE(X)
#undef X
} CORE_T(sample);
#undef SAMPLE_MEMBER_ONE
#undef SAMPLE_MEMBER_JOINT
#undef SAMPLE_TYPE_NONE
#undef SAMPLE_TYPE_POSITION
#undef SAMPLE_TYPE_VELOCITY
#undef SAMPLE_TYPE_ACCELERATION
#undef SAMPLE_TYPE_TORQUE
#undef SAMPLE_TYPE_VOLTAGE

/* -------------------------------------------------------------------------------- application */

/* What the image says about a joint beside the dynamics, SI; what it does not say is filled in. */
typedef struct {
    uint8_t prismatic;
    uint8_t motor;     /* there is one; else torque mode */
    uint8_t bounded;   /* there are position limits */
    int8_t unit;       /* q31: exponent of the unit of position */
    float position[2]; /* limits */
    float velocity, acceleration;
    float torque; /* limit; 0: none */
    float volt;   /* limit of the motor as the image has it; 0: none */
    float counts, sign, offset, ratio;
    float kp, kd;
    float home, home_position;
} CORE_T(settings);

typedef struct {
    /* Of the tick. */
    volatile uint32_t state, fault;
    volatile uint32_t ticks, overruns;
    volatile uint32_t unproved;   /* ticks in which the model got a limit for what was asked */
    volatile uint32_t closing;    /* the background asks for a closed loop, */
    volatile uint32_t stopping;   /* for a stop, */
    volatile uint32_t leaving;    /* for the outputs to be off; */
    volatile uint32_t pending;    /* the other control is the one to use from the next tick on; */
    volatile uint32_t away;       /* or it works on what is the tick's (tick_away): only count */
    volatile uint32_t now;        /* control[now] is used */
    volatile uint32_t head, tail; /* samples ever made and taken */
    volatile uint32_t dropped;    /* samples lost because the background was late */
    /* The first fault: its joint, what was seen and what is allowed; and the stop that goes on. */
    volatile uint32_t fault_joint, stop;
    volatile uint32_t loaded;     /* there is an arm */
    volatile uint32_t enabled;    /* the outputs are on */
    volatile uint32_t point_tick; /* when the last point of a streamed motion came */
    DYN_T(real) fault_value, fault_limit;
    CORE_T(guard) guard;
    uint32_t since_sample;
    uint32_t cost; /* of the tick before */
    uint32_t stamp[STAGES + 1];
    app_stages_t stages;
    CORE_T(control) control[APP_CONTROLS];
    CORE_T(loop) loop;
    CORE_T(motion) motion;
    CORE_T(plant) plant;
    CORE_T(scratch) scratch;
    /* Of the background. */
    uint32_t n, loads, tick_steps;
    /* Tick of the change from the simulated arm to the hardware, or back, or to another arm; later
     * by every tick that was away since, which reads nothing. */
    volatile uint32_t switched;
    uint32_t where; /* joint of the last refusal */
    float volts;    /* nominal supply */
    dyn_units_t units;
    CORE_T(settings) joint[DYN_MAX_JOINTS];
    float tunable[TUNABLES_ONE];
    union {
        CORE_T(sample) ring[APP_SAMPLES];
        image_t image; /* while one is loaded */
    } memory;
    const DYN_T(arm) *arm;   /* the newest; of the plant too, where there is only one */
    const DYN_T(flex) *flex; /* its elastic links, or NULL; the simulated arm is always stiff */
#if APP_ARMS > 0
    DYN_T(arm) arms[APP_ARMS]; /* the last is the simulated one */
    dyn_model_t model;
#if APP_FLEX
    DYN_T(flex) beams[2]; /* beside the first two arms */
    dyn_flex_model_t flex_model;
#endif
#endif
} CORE_T(app);

/*
 * The background takes what is the tick's, and gives it back; in between the tick only counts.
 * Nothing that stands between the two may be moved out by the compiler.
 */
static inline void CORE(tick_away)(CORE_T(app) * app) {
    app->away = 1;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void CORE(tick_back)(CORE_T(app) * app) {
    atomic_signal_fence(memory_order_seq_cst);
    app->away = 0;
}

/*
 * Constants from settings and tunables, firmware/core/setup.c; in double, never in the tick. False:
 * one does not fit the units.
 */
bool CORE(setup_control)(const CORE_T(app) * app, CORE_T(control) * control);
bool CORE(setup_plant)(const CORE_T(app) * app, CORE_T(plant) * plant);
void CORE(setup_errors)(const CORE_T(app) * app, CORE_T(plant) * plant);
/* Settings and tunables from app->memory.image. APP_OK or a negative app_error_t. */
int CORE(setup_settings)(CORE_T(app) * app);
/* Exponent of the unit of position for a joint with these limits. */
int8_t CORE(setup_unit)(const CORE_T(settings) * settings);
/* A position as the loop has it, and back. */
bool CORE(setup_position)(const CORE_T(app) * app, uint32_t joint, float q, DYN_T(real) *out);
float CORE(setup_position_si)(const CORE_T(app) * app, uint32_t joint, DYN_T(real) q);

/*
 * Guards and stops, firmware/core/supervisor.c. Of the inputs, and of all that the control step has
 * made of them, before anything is put out; the first finding counts.
 */
CORE_T(finding)
CORE(guard_inputs)(const CORE_T(control) * control, CORE_T(guard) * guard, const app_inputs_t *in);
CORE_T(finding)
CORE(guard_loop)
(const CORE_T(control) * control, CORE_T(scratch) * scratch, CORE_T(guard) * guard,
 const CORE_T(loop) * loop);
/* The loop is about to be closed where the arm is. */
void CORE(guard_start)(const CORE_T(control) * control, CORE_T(guard) * guard,
                       const CORE_T(loop) * loop);
/* The joint whose motor cannot give this part of its torque limit's worth of gravity; UINT32_MAX:
 * all can. Uses the scratch. */
uint32_t CORE(stop_weak)(const CORE_T(control) * control, CORE_T(scratch) * scratch,
                         const DYN_T(real) q[], DYN_T(real) part);
/* The best stop from `best` on that arm and pose allow. */
uint32_t CORE(stop_choose)(const CORE_T(control) * control, CORE_T(scratch) * scratch,
                           const CORE_T(loop) * loop, uint32_t best);
/* Lowering: which way gravity pulls. */
void CORE(stop_lower)(const CORE_T(control) * control, CORE_T(scratch) * scratch,
                      const CORE_T(loop) * loop, CORE_T(motion) * motion);

/*
 * Homing, firmware/core/homing.c. A motion that looks for the position of one joint: where it is
 * now in its course; what it may press with, after the feedback.
 */
CORE_T(finding)
CORE(homing_step)
(const CORE_T(control) * control, CORE_T(motion) * motion, CORE_T(loop) * loop, uint32_t switches);
void CORE(homing_limit)(const CORE_T(control) * control, const CORE_T(motion) * motion,
                        CORE_T(loop) * loop);
/* Bit i: the switch of joint i of a simulated arm is closed. */
uint32_t CORE(homing_switches)(const CORE_T(motion) * motion, const CORE_T(plant) * plant);
/* Prepares one, in the background. APP_OK or a negative app_error_t. */
int CORE(homing_start)(CORE_T(app) * app, const motion_t *motion);

/* One pass through all stages, firmware/core/app.c. */
void CORE(app_stages_run)(CORE_T(app) * app, const CORE_T(control) * control,
                          const app_inputs_t *in, app_outputs_t *out);

/* Before everything else. */
void CORE(app_init)(CORE_T(app) * app);

/*
 * Takes over the robot of a parameter image; not while a motion is on. The bytes need not stay,
 * except with APP_ARMS 0, where the constants in the image are used in place. APP_OK or a negative
 * app_error_t; below -100 minus 100 it is an image_status_t.
 */
int CORE(app_load)(CORE_T(app) * app, const uint8_t *bytes, size_t size);
/* The memory of motions, motion.as.lent, until the next one is asked for: app_load leaves it alone.
 * False where the outputs are on, or will be with the next tick. A motion that waits for its points
 * is forgotten. */
bool CORE(app_lend)(CORE_T(app) * app);
/* The same with an arm that is prepared already and stays where it is, in flash. */
int CORE(app_load_arm)(CORE_T(app) * app, const uint8_t *bytes, size_t size, const DYN_T(arm) *arm);

/* One tick: the interrupt calls it, nobody else. */
void CORE(app_tick)(CORE_T(app) * app, const app_inputs_t *in, app_outputs_t *out);

/* The outputs are off, and no tick switches them on unless it is asked to. */
bool CORE(app_rests)(const CORE_T(app) * app);
void CORE(app_status)(const CORE_T(app) * app, app_status_t *status);
/* The joint that the last refusal was about; UINT32_MAX: none. */
uint32_t CORE(app_where)(const CORE_T(app) * app);

/*
 * Motions begin idle, or where one has ended; a JOG also replaces a JOG. From idle the loop is
 * closed at the measured position. KNOTS starts when half of the buffer is full or the last point
 * has come; the first point, which must be where the arm is, and the last are repeated here, so
 * that the curve begins and ends in them, at rest. Out of points it brakes and counts an underrun.
 */
int CORE(app_motion_start)(CORE_T(app) * app, const motion_t *motion);
int CORE(app_knot_push)(CORE_T(app) * app, const float q[]);
int CORE(app_knots_end)(CORE_T(app) * app);
uint32_t CORE(app_knot_credits)(const CORE_T(app) * app); /* points that can be pushed now */
/* Brakes, then switches the outputs off. */
int CORE(app_stop)(CORE_T(app) * app);
/* Switches the outputs off at once. */
int CORE(app_off)(CORE_T(app) * app);
/* After a fault: idle again. */
int CORE(app_clear)(CORE_T(app) * app);
/* Latches a fault, from the tick's priority or above. */
void CORE(app_fault)(CORE_T(app) * app, uint32_t fault);
/* Puts the simulated arm somewhere, at rest. Idle only. */
int CORE(app_place)(CORE_T(app) * app, const float q[]);

/* Tunables by their number in tunable_table; joint is 0 for those that are not per joint. */
int CORE(app_set)(CORE_T(app) * app, uint32_t tunable, uint32_t joint, float value);
int CORE(app_get)(const CORE_T(app) * app, uint32_t tunable, uint32_t joint, float *value);

/* The oldest sample, or NULL; it stays until it is released. */
const CORE_T(sample) * CORE(app_sample_peek)(const CORE_T(app) * app);
void CORE(app_sample_release)(CORE_T(app) * app);
/* A field of a sample as the 32 bits that travel. */
uint32_t CORE(app_sample_word)(const CORE_T(sample) * sample, uint32_t field, uint32_t joint);
/* q31: the exponent of a quantity at a joint; floats: 28, so that raw 2^(exponent - 28) is right.
 */
int CORE(app_exponent)(const CORE_T(app) * app, uint32_t quantity, uint32_t joint);
const char *CORE(app_real_name)(void);

/* What the stages cost; in steps of app_clock. */
void CORE(app_stages)(const CORE_T(app) * app, app_stages_t *out);
void CORE(app_stages_clear)(CORE_T(app) * app);

/*
 * A model of the supervisor, written from its specification and not from its code: which requests
 * are accepted, which state, stop and outputs follow, what a parameter is, who holds the lease. It
 * shares no code with firmware/safety and firmware/app; only the tables of parameters and motions
 * and the layout of an image are the same.
 *
 * It is a judge, not a second controller: the tester tells it each request with its result, and for
 * each tick the inputs and what telemetry then showed. Positions, speeds and torques are facts of
 * the physics. Everything else is predicted; where the specification leaves a choice, or a number is
 * within the band of rounding around a limit, each answer that it allows is right, and the model goes
 * on with the one that was given.
 *
 * Every function that judges returns false if the application is wrong; `complaint` says how.
 */
#ifndef TEST_SUPPORT_SUPERVISOR_MODEL_H
#define TEST_SUPPORT_SUPERVISOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/app/errors.h"
#include "firmware/control/io.h"
#include "firmware/control/motion.h"
#include "firmware/params/image.h"
#include "firmware/params/parameters.h"

enum { MODEL_JOINTS = 6 };

/* Numbers of firmware/FAULTS.md, and of the states and stops in firmware/link/PROTOCOL.md. */
enum { UNCONFIGURED, IDLE, HOMING, RUNNING, STOPPING, FAULTED, DAMPING, MODEL_STATES };
enum { STOP_HOLD, STOP_LOWER, STOP_DAMP, STOP_RELEASE };
enum {
    F_OVERRUN = 1,
    F_ENCODER,
    F_ESTOP,
    F_NUMBER,
    F_MODEL,
    F_PARITY,
    F_TRACKING,
    F_POSITION,
    F_VELOCITY,
    F_TORQUE,
    F_VOLTAGE,
    F_SETPOINT,
    F_SUPPLY_LOW,
    F_SUPPLY_HIGH,
    F_GENERATED,
    F_WATCHDOG,
    F_CRASH,
    F_DIRECTION,
    F_IMAGE,
    F_HOMING,
    F_DRIVER,
    F_LOST_TICKS,
    F_TICK_STOPPED,
    F_CLOCK,
    F_BOARD_SUPPLY,
    F_SUPPLY_SENSOR,
    F_MAGNET,
    F_BACKGROUND,
    F_REVERSALS,
    F_HOST,
    F_TOOL_SPEED,
    F_THERMAL,
    F_STUCK,
    F_NOISE,
    MODEL_FAULTS
};

/* Events that change the state, for the count of what a test has reached. */
enum {
    EVENT_LOADED,
    EVENT_REFUSED,
    EVENT_CLOSED,
    EVENT_HOME,
    EVENT_STOP,
    EVENT_RESTED, /* with brakes */
    EVENT_RELEASE,
    EVENT_FINDING,
    EVENT_RESUMED, /* the arm rests without brakes */
    EVENT_CLEAR_RELEASED,
    EVENT_CLEAR_DAMPED,
    EVENT_CLEAR_HELD,
    EVENT_CLEAR_EMPTY, /* no robot is loaded */
    MODEL_EVENTS
};
extern const char *const model_state_name[MODEL_STATES];
extern const char *const model_event_name[MODEL_EVENTS];
bool model_changes(uint32_t state, uint32_t event); /* the table of states has this transition */

/* What is seen after a tick: outputs, status and the sample of this tick. */
typedef struct {
    uint32_t state, fault, stop;
    uint32_t enable, brake_open, hardware;
    uint32_t moving; /* the reference moves (telemetry) */
    uint32_t busy;   /* a motion runs or waits (status) */
    uint32_t unhomed, limited;
    uint32_t weaker, overridden, leased; /* bits of telemetry */
    double duty[MODEL_JOINTS];           /* -1 to 1 */
    double q_ref[MODEL_JOINTS], qd_ref[MODEL_JOINTS], q[MODEL_JOINTS], qd[MODEL_JOINTS],
        tau[MODEL_JOINTS];
} model_seen_t;

/* Quantities with a limit; MOST_BEYOND in rad or m beyond the position limit. */
enum { MOST_TORQUE, MOST_OUTPUT, MOST_SPEED, MOST_BEYOND, MOST_TOOL, MODEL_QUANTITIES };

/* A value of a parameter: what works now, and what is saved. */
enum { FREE, OVERRIDDEN, ENDING };
typedef struct {
    float now, lasting;
    uint8_t override; /* ENDING: the background has not brought the lasting value back yet */
} model_value_t;

typedef struct {
    char complaint[240];
    const char *complaint_kind; /* the same pointer for the same kind of complaint */

    image_t image; /* the robot that is loaded */
    bool loaded;
    const hardware_t *board;
    const uint8_t *stays; /* causes of the latch that are active now */

    uint32_t state, fault, stop;
    model_seen_t seen; /* of the last tick */

    /* Requests that the next tick takes up. */
    bool closing, stopping, leaving;
    bool homing; /* the motion that waits is of the kind home */
    uint32_t kind;
    bool kind_waits;    /* a motion was accepted in a closed loop and has not begun */
    bool stream;        /* points may be pushed */
    bool stream_waits;  /* and they will close the loop */
    bool stream_unsure; /* a refused motion may have ended it */
    bool dropped;       /* since the last tick a stop has discarded it, or a motion that waited */
    bool ended;         /* no point follows */
    uint32_t seek;      /* joints that are homed */
    uint32_t pushed;
    double point_s;
    double jog_s;       /* time-out of the jog, as it was when it was requested */
    uint32_t disturbed; /* ticks until the arm is calm again */

    /* Times, in ticks. */
    uint32_t rate; /* of the tick that is judged */
    uint32_t at_state, at_stop, at_rest, at_request, at_loop, at_free, quiet;
    uint32_t brakes_open, brakes_shut; /* since the output changed */
    uint32_t unread_any;               /* ticks without all positions */
    uint32_t unready, unread_for[MODEL_JOINTS], late, limit_for[MODEL_JOINTS],
        limit_run[MODEL_JOINTS];
    uint32_t brakes_changed; /* since the parameter changed */
    uint32_t at_change;      /* since any parameter changed */
    uint32_t since_switch;   /* ticks since another arm came under control */
    uint32_t read;           /* encoders that gave a position since then */
    bool opened;             /* the brakes have opened since the loop closed */
    bool cleared;            /* a fault was cleared since the last tick */
    bool left;               /* a stop or release came with it */
    bool again;              /* the reference begins again where the arm is */
    bool was_calm;           /* the fault came to a sound arm at rest */
    bool outside[MODEL_JOINTS];

    /* Heat of the motors, in squares of their torque limits (firmware/safety/EFFORT.md). */
    struct {
        double heat, peak; /* peak: of the squares of the last ticks */
        uint32_t hot_for;  /* ticks above what trips */
    } motor[MODEL_JOINTS];
    bool warmed; /* the loop has closed since the robot was loaded */

    uint32_t token, lease; /* ticks that are left; 0: nobody holds it */
    uint32_t lease_ms;     /* what was asked for */
    bool polled;           /* the background had its turn since the last request */

    model_value_t value[PARAMETERS][MODEL_JOINTS];

    uint32_t robot; /* a number for each robot of the tester */
    bool sent;      /* it came over the link since it was saved */
    bool
        unrestored; /* a stored value was refused at the start, and nobody has said that he knows */
    struct {
        uint32_t sequence, robot; /* sequence 0: nothing is stored */
        image_t image;
        float value[PARAMETERS][MODEL_JOINTS];
    } stored;
    uint32_t unrestored_starts;
    double noise;                  /* largest sim_noise since the start */
    double tool_most;              /* of the jog that runs, m/s */
    double most[MODEL_QUANTITIES]; /* largest value that was seen, relative to its limit */

    uint32_t reached[MODEL_STATES][MODEL_EVENTS];
    uint32_t faults[MODEL_FAULTS];
} supervisor_model_t;

void model_reset(supervisor_model_t *m, const hardware_t *board, const uint8_t *stays);

/* What the board has after its start: each value, then whether status tells of refused ones. */
void model_started(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float value);
bool model_told_start(supervisor_model_t *m, bool unrestored);
void model_start_fault(supervisor_model_t *m, uint32_t fault);

/* Requests and their results. */
bool model_load(supervisor_model_t *m, const image_t *image, uint32_t robot, bool good, int result);
bool model_motion(supervisor_model_t *m, uint32_t token, const motion_t *motion, int result);
bool model_push(supervisor_model_t *m, uint32_t token, const float q[], int result);
bool model_end(supervisor_model_t *m, uint32_t token, int result);
bool model_stop(supervisor_model_t *m, int result);
bool model_off(supervisor_model_t *m, uint32_t token, int result);
bool model_clear(supervisor_model_t *m, int result);
bool model_place(supervisor_model_t *m, uint32_t token, const float q[], int result);
bool model_save(supervisor_model_t *m, uint32_t sequence, int result);
bool model_may_reset(supervisor_model_t *m, int result);
bool model_set(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float value, int result);
bool model_override(supervisor_model_t *m, uint32_t token, uint32_t parameter, uint32_t joint,
                    float value, int result);
bool model_lease(supervisor_model_t *m, uint32_t token, uint32_t ms, int result);
void model_poll(supervisor_model_t *m);
/* What the application answers for a parameter. */
bool model_value(supervisor_model_t *m, uint32_t parameter, uint32_t joint, float now,
                 float lasting);
/* What status tells after a request: state, fault, stop, busy, unhomed and positions. */
bool model_told(supervisor_model_t *m, const model_seen_t *told);

/* Somebody pushes the arm. */
void model_disturb(supervisor_model_t *m);
bool model_tick(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen);

/* What the parts of the model share. */
#define REASON(error) (1u << -(error))
/* Reasons against a request. One that is hard: it must be refused, with one of all the reasons. Only
 * soft ones: it may be accepted, too. */
typedef struct {
    uint32_t hard, soft;
} reasons_t;
#define COMPLAIN(m, ...)                                                                           \
    (snprintf((m)->complaint, sizeof(m)->complaint, __VA_ARGS__),                                  \
     (m)->complaint_kind = "" FIRST_ARGUMENT(__VA_ARGS__, 0), false)
#define FIRST_ARGUMENT(first, ...) first
/* What the guards find in a tick: must be found; may be found. A bit for each fault. */
#define BIT(fault) ((uint64_t)1 << (fault))
typedef struct {
    uint64_t must, may;
} found_t;
/* Faults whose algorithm the specification leaves open: facts of the physics. */
#define MODEL_PHYSICS (BIT(F_DIRECTION) | BIT(F_REVERSALS) | BIT(F_STUCK) | BIT(F_NOISE))
void model_find(found_t *found, uint64_t faults, bool must, bool may);
void model_find_all(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen,
                    found_t *found);
bool model_limits(supervisor_model_t *m, const app_inputs_t *in, const model_seen_t *seen);
double model_ticks(const supervisor_model_t *m, double seconds);
bool model_loops(const supervisor_model_t *m); /* the outputs have the torques of the loop */
/* Torque flows and the arm is free, so that reference and arm are compared. */
bool model_free(const supervisor_model_t *m, const app_inputs_t *in);
bool model_defect(const supervisor_model_t *m); /* the simulated arm has one */
/* Gains, model and inputs are such that a resting arm gives no reason for a fault. */
bool model_sound(const supervisor_model_t *m, const app_inputs_t *in);

bool model_judge(supervisor_model_t *m, const char *request, reasons_t against, int result);
float model_now(const supervisor_model_t *m, uint32_t parameter, uint32_t joint);
bool model_real(const supervisor_model_t *m);
bool model_brakes(const supervisor_model_t *m);
bool model_outputs_on(const supervisor_model_t *m);
void model_reach(supervisor_model_t *m, uint32_t event, uint32_t state);
void model_discard(supervisor_model_t *m);
uint32_t model_fit(const supervisor_model_t *m, bool choosing, bool *unsure);
/* How many times its torque limit gravity needs at the joint that needs most, in the pose q with this
 * payload, at the present limits_scale. */
double model_load_share(const supervisor_model_t *m, const double q[], const double payload[4]);
void model_payload(const supervisor_model_t *m, double payload[4]);
bool model_at_rest(const supervisor_model_t *m, const model_seen_t *seen);
void model_cap_lease(supervisor_model_t *m);
void model_renew(supervisor_model_t *m);
reasons_t model_may(supervisor_model_t *m, uint32_t token, bool moves);
void model_take_image(supervisor_model_t *m, const image_t *image);
bool model_notices(supervisor_model_t *m, const model_seen_t *seen);
void model_overrides_end(supervisor_model_t *m, bool guards_only);
void model_close_heat(supervisor_model_t *m); /* the loop closes */
double model_tool_speed(const supervisor_model_t *m, const double qd[]);

#endif

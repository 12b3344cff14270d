/* What the application has in common for every number type: inputs, outputs, answers, stages. */
#ifndef FIRMWARE_CORE_APP_TYPES_H
#define FIRMWARE_CORE_APP_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "dyn/model.h"
#include "firmware/core/faults.h"
#include "firmware/core/motion.h"
#include "firmware/core/sample.h"
#include "firmware/core/tunables.h"

/* Sizes that a small board may cut down. */
#ifndef APP_SAMPLES
#define APP_SAMPLES 16 /* ring of samples between interrupt and background; a power of two */
#endif
#ifndef APP_KNOTS
#define APP_KNOTS 32 /* points of a streamed motion that the board can hold; a power of two */
#endif
#ifndef APP_CONTROLS
#define APP_CONTROLS 2 /* sets of constants; 1: tunables change only while the outputs are off */
#endif
#ifndef APP_ARMS
#define APP_ARMS 3 /* prepared arms in RAM; 0: the arm is used where it lies, in flash */
#endif

#ifndef APP_FLEX
#define APP_FLEX 1 /* 0: no elastic links, and no memory for them */
#endif

/* X(number, NAME, "cause", "cure"): what a request is refused for. Image errors follow below -100.
 */
#define APP_ERROR_TABLE(X)                                                                         \
    X(-1, STATE, "not in this state", "stop the motion, clear the fault or load an arm first")     \
    X(-2, KIND, "there is no such motion", "ask for one of the motions that the board lists")      \
    X(-3, NUMBER, "a number that is not finite or not possible", "send another")                   \
    X(-4, POSITION, "the motion leaves the position limits", "choose a target within them")        \
    X(-5, VELOCITY, "the motion is faster than the velocity limit", "give it more time")           \
    X(-6, ACCELERATION, "the motion is above the acceleration limit", "give it more time")         \
    X(-7, TIME, "the motion takes too long or no time at all", "choose another duration")          \
    X(-8, ROOM, "the buffer of points is full", "wait for credits")                                \
    X(-9, START, "the points do not begin where the arm is", "begin at its position")              \
    X(-10, TUNABLE, "there is no such tunable or joint", "ask the board for its list")             \
    X(-11, RANGE, "the value is outside its range, or between whole numbers",                      \
      "choose one within it, without a fraction where it counts or chooses")                       \
    X(-12, RATE, "a tick takes longer than this rate allows", "choose a lower rate")               \
    X(-13, UNITS, "the fixed-point units of this image cannot hold a constant of the loop",        \
      "make the image again with this tool")                                                       \
    X(-14, UNPROVED, "the image has no units for fixed point",                                     \
      "give every joint limits of velocity and acceleration, then make the image again")           \
    X(-15, ARM, "the arm in the image contradicts itself", "check the robot with `appell check`")  \
    X(-16, MEMORY, "this board keeps its arm in flash and cannot change it",                       \
      "write the image into flash")                                                                \
    X(-17, PLANT, "no arm is simulated", "set plant to 1")                                         \
    X(-18, FLEX, "the arm has elastic links, which this build does not compute",                   \
      "use a board with an FPU, or make the image with --rigid")                                   \
    X(-19, GENERATED, "model and generated code disagree",                                         \
      "build the firmware with GEN=1 ROBOT=... for this arm, or without GEN")                      \
    X(-20, HOLD, "the motor of a joint cannot hold the arm in this pose",                          \
      "move the arm into another pose, take load off, or correct the torque limit")                \
    X(-21, HOME, "the joint does not know its position yet",                                       \
      "look for it first: `appell home --port ...`")                                               \
    X(-22, SEEK,                                                                                   \
      "the joint has nothing to look for: home is 0, it is a stop and there is no torque limit "   \
      "to press with, or a switch and this board has no input for it",                             \
      "set home and home_position; for an absolute encoder say where the arm is: `appell home "    \
      "--at ...`")

typedef enum {
    APP_OK = 0,
#define X(number, name, cause, cure) APP_E_##name = number,
    APP_ERROR_TABLE(X)
#undef X
        APP_E_IMAGE = -100 /* -100 + image_status_t */
} app_error_t;

const char *app_cause(int error);
const char *app_cure(int error);

/* What the interrupt has read. */
typedef struct {
    int32_t counts[DYN_MAX_JOINTS]; /* of the encoders, within one turn */
    uint32_t counts_valid;          /* bit i: counts[i] is of this tick */
    int32_t supply_mV;              /* motor supply; not positive: not measured */
    uint32_t parity;                /* bit i: it is not, because its parity was wrong */
    uint32_t switches;              /* bit i: the home switch of joint i is closed */
    uint8_t overrun;                /* the tick before was not finished in time */
    uint8_t broken;                 /* the break input has switched the motors off */
} app_inputs_t;

/* What it writes. */
typedef struct {
    int32_t duty_q15[DYN_MAX_JOINTS]; /* of the supply; torque mode: of the torque limit */
    uint8_t enable;                   /* the motors are on */
    uint8_t hardware;                 /* an arm is attached; else it is simulated */
} app_outputs_t;

/* Stages of a tick, in their order. X(NAME, "name", "what is in it") */
#define STAGE_TABLE(X)                                                                             \
    X(SENSE, "sense", "changes taken over, counts to positions")                                   \
    X(ESTIMATE, "estimate", "observer: speeds")                                                    \
    X(REFERENCE, "reference", "where the motion is")                                               \
    X(DYNAMICS, "dynamics", "inverse dynamics, rotors, friction")                                  \
    X(FEEDBACK, "feedback", "feedback and torque limits")                                          \
    X(DRIVE, "drive", "voltages and duty cycles")                                                  \
    X(GUARD, "guard", "limits that end in a fault")                                                \
    X(SAMPLE, "sample", "the record for telemetry")                                                \
    X(PLANT, "plant", "the simulated arm")

typedef enum {
#define X(name, text, help) STAGE_##name,
    STAGE_TABLE(X)
#undef X
        STAGES
} stage_t;

const char *stage_name(unsigned stage);

/* What the stages cost since the last clearing, of ticks with the loop closed. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], most[STAGES + 1]; /* the last: the whole tick */
    uint64_t sum[STAGES + 1];
} app_stages_t;

typedef struct {
    uint32_t state, fault;          /* app_state_id_t, app_fault_t */
    uint32_t fault_joint;           /* APP_NO_JOINT: of the whole arm */
    float fault_value, fault_limit; /* SI, of app_fault_quantity */
    uint32_t stop;                  /* app_stop_t: what goes on after the fault */
    uint32_t enabled;               /* the outputs are on */
    uint32_t limited;               /* ticks with a joint at a limit of torque or voltage */
    uint32_t unhomed;               /* bit i: joint i does not know its position */
    uint32_t joints;
    uint32_t moving; /* a motion is on; else the arm holds its position */
    uint32_t ticks, overruns;
    uint32_t unproved;           /* ticks in which fixed point was asked beyond its proof */
    uint32_t underruns;          /* streamed motions that ran out of points and were stopped */
    uint32_t samples, dropped;   /* handed over; lost because the background was late */
    uint32_t rate_hz;            /* the tick must be called at */
    uint32_t loads;              /* arms loaded since the start */
    uint32_t tick_steps;         /* counter steps of a tick, measured when the arm was loaded */
    float q[DYN_MAX_JOINTS];     /* measured position */
    float q_ref[DYN_MAX_JOINTS]; /* reference position */
} app_status_t;

/* Bit i: the board has an input for the home switch of joint i. The program provides it; where it
 * does not, there is none. */
uint32_t app_switches(void);

/*
 * The counter behind the costs of the stages. The program provides it; where it does not, costs are
 * zero and every rate is allowed.
 */
uint32_t app_clock(void);
uint32_t app_clock_steps(uint32_t start, uint32_t end); /* between two readings */
uint32_t app_clock_hz(void);
uint32_t app_clock_cost(uint32_t steps); /* cycles, or instructions under the emulator */
/* Between them no interrupt comes: none takes time of what is timed, and no tick gets between the
 * few words that are looked at and changed together. */
uint32_t app_clock_lock(void);
void app_clock_unlock(uint32_t state);

#endif

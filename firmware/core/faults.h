/*
 * States and faults of the application, each in one table that firmware, tool and documentation
 * share. The first fault latches and stays until it is cleared; limits are reported in the sample
 * and never latch.
 */
#ifndef FIRMWARE_CORE_FAULTS_H
#define FIRMWARE_CORE_FAULTS_H

/* X(number, NAME, "name", "what the board does in it") */
#define APP_STATE_TABLE(X)                                                                         \
    X(0, UNCONFIGURED, "unconfigured", "no arm is loaded; the outputs are off")                    \
    X(1, IDLE, "idle", "an arm is loaded; the outputs are off and the brakes hold it")             \
    X(2, HOMING, "homing", "the arm looks for its zero positions")                                 \
    X(3, RUNNING, "running", "the control loop is closed: the arm moves or holds its position")    \
    X(4, STOPPING, "stopping", "the arm is brought to rest, then it is idle")                      \
    X(5, FAULT, "fault", "the outputs are off until the fault is cleared")

/* X(number, NAME, "name", "cause", "cure"). Numbers are never used again. */
#define APP_FAULT_TABLE(X)                                                                         \
    X(0, NONE, "none", "nothing is wrong", "")                                                     \
    X(1, OVERRUN, "overrun", "the control step was not finished when the next tick was due",       \
      "lower rate_hz, or switch off the simulated arm")                                            \
    X(2, ENCODER, "encoder", "an encoder gave no valid position for several ticks",                \
      "check its wiring and supply")                                                               \
    X(3, BREAK, "break", "the break input switched the motors off",                                \
      "release the emergency stop, then clear the fault")                                          \
    X(4, NUMBER, "number", "the control step computed something that is no number",                \
      "check the parameters of the robot; report it if they are right")                            \
    X(5, MODEL, "model", "the simulated arm has no acceleration: its inertia matrix is singular",  \
      "check masses and inertias with `appell check`")

typedef enum {
#define X(number, name, text, does) APP_STATE_##name = number,
    APP_STATE_TABLE(X)
#undef X
        APP_STATES
} app_state_id_t;

typedef enum {
#define X(number, name, text, cause, cure) APP_FAULT_##name = number,
    APP_FAULT_TABLE(X)
#undef X
        APP_FAULTS
} app_fault_t;

const char *app_state_name(unsigned state);
const char *app_fault_name(unsigned fault);
const char *app_fault_cause(unsigned fault);
const char *app_fault_cure(unsigned fault);

#endif

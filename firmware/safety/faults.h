/* States, stops and faults of the application, each in one table that firmware, tool and
 * documentation share. The first fault latches and stays until it is cleared; limits that only clip
 * are counted and told in the sample, and never latch. */
#ifndef FIRMWARE_SAFETY_FAULTS_H
#define FIRMWARE_SAFETY_FAULTS_H

#include <stdint.h>

/* X(number, NAME, "name", "what the board does in it") */
#define APP_STATE_TABLE(X)                                                                         \
    X(0, UNCONFIGURED, "unconfigured", "no arm is loaded; the outputs are off")                    \
    X(1, IDLE, "idle", "an arm is loaded; the outputs are off, and brakes hold it if it has any")  \
    X(2, HOMING, "homing", "the arm looks for its zero positions")                                 \
    X(3, RUNNING, "running", "the control loop is closed: the arm moves or holds its position")    \
    X(4, STOPPING, "stopping", "the arm is brought to rest, then it is idle")                      \
    X(5, FAULT, "fault", "the stop that the fault allows goes on until the fault is cleared")

/* X(NAME, "what has happened") */
#define APP_EVENT_TABLE(X)                                                                         \
    X(LOADED, "an arm was loaded")                                                                 \
    X(REFUSED, "an image was refused")                                                             \
    X(CLOSE, "the loop is to be closed")                                                           \
    X(HOME, "the arm is to look for its zero positions")                                           \
    X(STOP, "the arm is to brake")                                                                 \
    X(RESTED, "it has come to rest")                                                               \
    X(OFF, "the outputs are to be off")                                                            \
    X(FAULT, "something cannot go on")                                                             \
    X(CLEAR, "the fault was cleared and the outputs are off")                                      \
    X(RESUME, "the loop goes on holding an arm without brakes")                                    \
    X(FORGET, "the fault was cleared before an arm was loaded")

/* X(from, event, to): all transitions that there are; every other event changes nothing. */
#define APP_TRANSITION_TABLE(X)                                                                    \
    X(UNCONFIGURED, LOADED, IDLE)                                                                  \
    X(UNCONFIGURED, FAULT, FAULT)                                                                  \
    X(IDLE, LOADED, IDLE)                                                                          \
    X(IDLE, REFUSED, UNCONFIGURED)                                                                 \
    X(IDLE, CLOSE, RUNNING)                                                                        \
    X(IDLE, HOME, HOMING)                                                                          \
    X(IDLE, OFF, IDLE)                                                                             \
    X(IDLE, FAULT, FAULT)                                                                          \
    X(HOMING, RESTED, IDLE)                                                                        \
    X(HOMING, RESUME, RUNNING)                                                                     \
    X(HOMING, STOP, STOPPING)                                                                      \
    X(HOMING, OFF, IDLE)                                                                           \
    X(HOMING, FAULT, FAULT)                                                                        \
    X(RUNNING, HOME, HOMING)                                                                       \
    X(RUNNING, STOP, STOPPING)                                                                     \
    X(RUNNING, OFF, IDLE)                                                                          \
    X(RUNNING, FAULT, FAULT)                                                                       \
    X(STOPPING, RESTED, IDLE)                                                                      \
    X(STOPPING, RESUME, RUNNING)                                                                   \
    X(STOPPING, OFF, IDLE)                                                                         \
    X(STOPPING, FAULT, FAULT)                                                                      \
    X(FAULT, CLEAR, IDLE)                                                                          \
    X(FAULT, RESUME, RUNNING)                                                                      \
    X(FAULT, FORGET, UNCONFIGURED)

/* Stops, the best first. A fault says which is the best that it allows; the model of the arm and
 * its pose, which of those from there on is possible (firmware/safety/stop.c).
 * X(number, NAME, "name", "what happens") */
#define APP_STOP_TABLE(X)                                                                          \
    X(0, HOLD, "hold",                                                                             \
      "the reference brakes within the acceleration limits, then the loop holds the arm; an arm "  \
      "with brakes is given to them")                                                              \
    X(1, LOWER, "lower",                                                                           \
      "likewise, then every joint that gravity pulls goes its way at a tenth of its speed limit")  \
    X(2, DAMP, "damp",                                                                             \
      "the windings are shorted: the motors brake by themselves, without encoder or model; after " \
      "half a second an arm with brakes is given to them")                                         \
    X(3, RELEASE, "release", "the outputs are off; brakes hold the arm if it has any")

/* X(number, NAME, "name", quantity of value and limit, best stop, "cause", "cure"). Numbers are
 * never used again. */
#define APP_FAULT_TABLE(X)                                                                         \
    X(0, NONE, "none", NONE, HOLD, "nothing is wrong", "")                                         \
    X(1, OVERRUN, "overrun", NONE, DAMP,                                                           \
      "the control step was not finished when the next tick was due, too often in a row",          \
      "lower rate_hz, or switch off the simulated arm; `appell certify` tells the rates that fit") \
    X(2, ENCODER, "encoder", NONE, DAMP, "an encoder gave no position for several ticks",          \
      "check its wiring and supply; guard_encoder_ticks says how many are allowed")                \
    X(3, ESTOP, "e-stop", NONE, RELEASE, "the emergency stop switched the motors off",             \
      "release the emergency stop, then clear the fault")                                          \
    X(4, NUMBER, "number", NONE, DAMP, "the control step computed a value that is not a number",   \
      "check the parameters of the robot; report it if they are right")                            \
    X(5, MODEL, "model", NONE, DAMP,                                                               \
      "the simulated arm has no acceleration: its inertia matrix is singular",                     \
      "check masses and inertias with `appell check`")                                             \
    X(6, PARITY, "parity", NONE, DAMP, "an encoder's positions had a wrong parity",                \
      "keep the encoder's wires away from those of the motors, shield them, slow its clock")       \
    X(7, TRACKING, "tracking", POSITION, HOLD,                                                     \
      "the arm is too far from where it should be: it hit something, its load is not the "         \
      "model's, or the gains are too low",                                                         \
      "look what it hit; check payload and gains; guard_tracking is the limit")                    \
    X(8, POSITION, "position", POSITION, HOLD, "a joint is beyond its position limit",             \
      "clear the fault and jog it back; guard_position is what is allowed beyond the limit")       \
    X(9, VELOCITY, "velocity", VELOCITY, DAMP, "a joint is faster than it may be",                 \
      "check gains, encoder counts and ratio; guard_speed times the velocity limit is allowed")    \
    X(10, TORQUE, "torque", TORQUE, LOWER,                                                         \
      "the wanted torque was above its limit for too long: the arm hangs, or the load is too "     \
      "heavy",                                                                                     \
      "take away the obstacle or the load, or move more slowly; guard_limit_s is the time")        \
    X(11, VOLTAGE, "voltage", VOLTAGE, LOWER,                                                      \
      "the wanted voltage was above the supply for too long",                                      \
      "move more slowly, check supply and motor constants; guard_limit_s is the time")             \
    X(12, SETPOINT, "setpoint", NONE, HOLD,                                                        \
      "a streamed motion ran out of points, or none came for as many ticks as guard_setpoint",     \
      "send points earlier, or farther apart in time; clear the fault and start again")            \
    X(13, SUPPLY_LOW, "supply low", SUPPLY, RELEASE, "the motor supply is too low",                \
      "check supply, fuse and wiring; guard_supply_low times the nominal voltage is needed")       \
    X(14, SUPPLY_HIGH, "supply high", SUPPLY, DAMP,                                                \
      "the motor supply is too high: the arm feeds its braking back",                              \
      "brake more slowly or add a braking resistor; guard_supply_high is the limit")               \
    X(15, GENERATED, "generated", NONE, RELEASE, "model and generated code disagree",              \
      "generate the code for this robot again, or load the robot that it was made for")            \
    X(16, WATCHDOG, "watchdog", NONE, RELEASE, "the watchdog has reset the board",                 \
      "look for what kept the tick from running; report it if it comes again")                     \
    X(17, CRASH, "crash", NONE, RELEASE, "the firmware crashed before this start",                 \
      "fetch the record with `appell dump` and report it, then clear the fault")                   \
    X(18, DIRECTION, "direction", VELOCITY, DAMP,                                                  \
      "a joint accelerates against its torque: motor phases or encoder are the wrong way round, "  \
      "or the end effector carries a load that the model does not know",                           \
      "change the sign of the encoder, or swap two wires of the motor; payload_mass is the "       \
      "load; guard_direction 0 switches this check off")                                           \
    X(19, IMAGE, "robot image", NONE, RELEASE, "the stored robot image does not fit this board",   \
      "write a robot into the board: `appell flash`")                                              \
    X(20, HOMING, "homing", POSITION, HOLD,                                                        \
      "homing went as far as the joint can and met neither its stop nor its switch, or the "       \
      "switch does not open",                                                                      \
      "look at the switch and its wire, at home and home_position; home_torque must overcome "     \
      "friction")

typedef enum {
#define X(number, name, text, does) APP_STATE_##name = number,
    APP_STATE_TABLE(X)
#undef X
        APP_STATES
} app_state_id_t;

typedef enum {
#define X(name, what) APP_EVENT_##name,
    APP_EVENT_TABLE(X)
#undef X
        APP_EVENTS
} app_event_t;

typedef enum {
#define X(number, name, text, does) APP_STOP_##name = number,
    APP_STOP_TABLE(X)
#undef X
        APP_STOPS
} app_stop_t;

typedef enum {
#define X(number, name, text, quantity, stop, cause, cure) APP_FAULT_##name = number,
    APP_FAULT_TABLE(X)
#undef X
        APP_FAULTS
} app_fault_t;

/* No joint: the fault is of the whole arm. */
#define APP_NO_JOINT UINT32_MAX

const char *app_state_name(unsigned state);
/* The state after an event; the same where the event changes nothing. */
unsigned app_state_next(unsigned state, unsigned event);
const char *app_stop_name(unsigned stop);
const char *app_stop_does(unsigned stop);
const char *app_fault_name(unsigned fault);
const char *app_fault_cause(unsigned fault);
const char *app_fault_cure(unsigned fault);
unsigned app_fault_quantity(unsigned fault); /* quantity_t of its value and limit */
unsigned app_fault_stop(unsigned fault);     /* the best stop that it allows */

#endif

/* States, stops and faults of the application, each in one table that firmware, tool and
 * documentation share. The first fault latches until it is cleared. Limits that only clip a value
 * are counted and reported in the sample, and never latch. */
#ifndef FIRMWARE_SAFETY_FAULTS_H
#define FIRMWARE_SAFETY_FAULTS_H

#include <stdint.h>

/* X(number, NAME, "name", "what the board does in this state") */
#define APP_STATE_TABLE(X)                                                                         \
    X(0, UNCONFIGURED, "unconfigured", "no robot is loaded; the outputs are off")                  \
    X(1, IDLE, "idle", "a robot is loaded; the outputs are off")                                   \
    X(2, HOMING, "homing", "a joint moves to its stop or switch, and the loop holds the others")   \
    X(3, RUNNING, "running", "the control loop is closed: the arm moves or holds its position")    \
    X(4, STOPPING, "stopping",                                                                     \
      "the arm brakes; when it rests, the state becomes idle if `brakes` is 1, else running")      \
    X(5, FAULT, "fault",                                                                           \
      "the board carries out the best stop that the fault allows, until the fault is cleared")     \
    X(6, DAMPING, "damping",                                                                       \
      "the fault is cleared, and the arm is still damped: nothing holds it, until a motion of "    \
      "kind hold does, or it is released")

/* X(NAME, "what has happened") */
#define APP_EVENT_TABLE(X)                                                                         \
    X(LOADED, "a robot was loaded")                                                                \
    X(REFUSED, "a robot image was refused; if there was a previous one, it is loaded again")       \
    X(CLOSE, "a motion starts")                                                                    \
    X(HOME, "homing starts")                                                                       \
    X(STOP, "a stop is requested")                                                                 \
    X(RESTED, "the arm has come to rest and `brakes` is 1")                                        \
    X(OFF, "a request switches the outputs off")                                                   \
    X(FAULT, "a guard finds a fault")                                                              \
    X(RESUME, "the arm has come to rest and `brakes` is 0")                                        \
    X(CLEAR, "the fault is cleared while the outputs are off")                                     \
    X(DAMPED, "the fault is cleared while the arm is damped")                                      \
    X(HELD, "the fault is cleared while the loop holds or lowers the arm")                         \
    X(FORGET, "the fault is cleared while no robot is loaded")

/* X(from, event, to): all transitions; every other event changes nothing. */
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
    X(FAULT, DAMPED, DAMPING)                                                                      \
    X(FAULT, HELD, RUNNING)                                                                        \
    X(FAULT, FORGET, UNCONFIGURED)                                                                 \
    X(DAMPING, CLOSE, RUNNING)                                                                     \
    X(DAMPING, RESTED, IDLE)                                                                       \
    X(DAMPING, OFF, IDLE)                                                                          \
    X(DAMPING, FAULT, FAULT)

/* Stops, the best first (IEC 61800-5-2: hold is SOS, lower resembles SS1, damp is dynamic braking,
 * release is STO). Each fault states the best stop that it allows. Model and pose of the arm decide
 * whether that stop or a worse one is possible (firmware/safety/stop.c).
 * X(number, NAME, "name", "what happens") */
#define APP_STOP_TABLE(X)                                                                          \
    X(0, HOLD, "hold",                                                                             \
      "the loop brakes the arm within the acceleration limits, then holds it; with `brakes` 1 "    \
      "the brakes close when the arm is at rest, and the outputs go off when they hold")           \
    X(1, LOWER, "lower",                                                                           \
      "the loop brakes the arm, then lowers every joint under gravity load at a tenth of its "     \
      "velocity limit; with `brakes` 1 the brakes close when the arm is at rest, and the "         \
      "outputs go off when they hold")                                                             \
    X(2, DAMP, "damp",                                                                             \
      "the outputs stay on with duty cycles of zero, which brakes the arm if the motor drivers "   \
      "then short their motors; this needs no encoder, but the robot file must give every joint "  \
      "a motor; with `brakes` 1 the brakes close at once, and the outputs go off after half a "    \
      "second")                                                                                    \
    X(3, RELEASE, "release",                                                                       \
      "the outputs go off and the brakes close, both at once; an arm without brakes falls")

/* X(number, NAME, "name", quantity of value and limit, best stop, "cause", "cure"). A number is
 * never reused. Cause and cure are sentences without capital and full stop. */
#define APP_FAULT_TABLE(X)                                                                         \
    X(0, NONE, "none", NONE, HOLD, "nothing is wrong", "")                                         \
    X(1, OVERRUN, "overrun", NONE, DAMP,                                                           \
      "the control step was not finished when the next tick was due, more than guard_overruns "    \
      "times in a row",                                                                            \
      "lower rate_hz, or use the real arm instead of the simulated one; `appell certify` prints "  \
      "the rates that fit")                                                                        \
    X(2, ENCODER, "encoder", NONE, DAMP,                                                           \
      "an encoder gave no position for more than guard_encoder_ticks ticks in a row",              \
      "check wiring and supply of the encoder of this joint")                                      \
    X(3, ESTOP, "e-stop", NONE, RELEASE, "the emergency stop has switched the motors off",         \
      "release the emergency stop, then clear the fault with `appell clear`")                      \
    X(4, NUMBER, "number", NONE, DAMP, "the control step computed a value that is not a number",   \
      "check the robot file with `appell check`; report the fault if the file is right")           \
    X(5, MODEL, "model", NONE, DAMP,                                                               \
      "the inertia matrix of the simulated arm is singular, so no acceleration can be computed",   \
      "check masses and inertias with `appell check`")                                             \
    X(6, PARITY, "parity", NONE, DAMP,                                                             \
      "the readings of an encoder had a wrong parity for more than guard_encoder_ticks ticks in "  \
      "a row",                                                                                     \
      "keep encoder wires short and away from motor wires, and shield them")                       \
    X(7, TRACKING, "tracking", POSITION, HOLD,                                                     \
      "a joint is farther than guard_tracking from its reference; it hit something, it carries a " \
      "load that is not in the model, or the gains are too low; or the arm was moved by more "     \
      "than an eighth of that before the outputs came on",                                         \
      "remove the obstacle; check payload_mass, kp and kd; raise guard_tracking last")             \
    X(8, POSITION, "position", POSITION, HOLD,                                                     \
      "a joint is farther than guard_position beyond its position limit",                          \
      "clear the fault and move the joint to a target inside its limits; check position_lower, "   \
      "position_upper and encoder_offset")                                                         \
    X(9, VELOCITY, "velocity", VELOCITY, DAMP,                                                     \
      "a joint is faster than guard_speed times its velocity limit",                               \
      "check kp, kd, encoder counts and encoder_ratio; move more slowly")                          \
    X(10, TORQUE, "torque", TORQUE, LOWER,                                                         \
      "a joint needed more torque than its limit for longer than guard_limit_s; it is blocked, "   \
      "or the load is too heavy",                                                                  \
      "remove the obstacle or the load, or move more slowly; raise guard_limit_s last")            \
    X(11, VOLTAGE, "voltage", VOLTAGE, LOWER,                                                      \
      "for longer than guard_limit_s a motor needed more voltage than the supply has",             \
      "move more slowly; check the supply and the motor constants in the robot file")              \
    X(12, SETPOINT, "setpoint", NONE, HOLD,                                                        \
      "a streamed motion ran out of control points, or none came for guard_setpoint ticks",        \
      "send points earlier, or plan more time between them; then clear the fault and start again") \
    X(13, SUPPLY_LOW, "supply low", SUPPLY, RELEASE,                                               \
      "the motor supply is below guard_supply_low times the nominal voltage, or the wire to its "  \
      "divider is broken",                                                                         \
      "check supply, fuse and wiring")                                                             \
    X(14, SUPPLY_HIGH, "supply high", SUPPLY, DAMP,                                                \
      "the motor supply is above guard_supply_high times the nominal voltage, or at the end of "   \
      "its sensor's range; braking may feed energy back into it",                                  \
      "brake more slowly, or add a braking resistor; where the range is too small, change the "    \
      "divider")                                                                                   \
    X(15, GENERATED, "generated", NONE, RELEASE,                                                   \
      "the robot image and the generated code in this firmware are for different robots",          \
      "build the firmware with GEN=1 ROBOT=... for this robot, or load the robot that the code "   \
      "was generated for")                                                                         \
    X(16, WATCHDOG, "watchdog", NONE, RELEASE,                                                     \
      "the watchdog has reset the board because the tick or the background loop did not run: for " \
      "50 ms with the outputs on, for several seconds with the outputs off",                       \
      "find out what kept the firmware from running; report the fault if it comes again")          \
    X(17, CRASH, "crash", NONE, RELEASE, "the firmware crashed, and the board has started again",  \
      "fetch the record with `appell crash` and report it, then clear the fault")                  \
    X(18, DIRECTION, "direction", VELOCITY, DAMP,                                                  \
      "a joint accelerates against its torque; its motor or encoder is reversed, or the end "      \
      "effector carries a load that is not in the model",                                          \
      "change encoder_sign of the joint, or swap two wires of its motor; set payload_mass; "       \
      "guard_direction 0 switches this check off")                                                 \
    X(19, IMAGE, "robot image", NONE, RELEASE,                                                     \
      "the board has refused the robot image that is stored in it",                                \
      "write a robot into the board with `appell flash`")                                          \
    X(20, HOMING, "homing", POSITION, HOLD,                                                        \
      "homing moved the joint through its whole range and met neither its stop nor its switch, "   \
      "or the switch does not open",                                                               \
      "check the switch and its wire, and the parameters home and home_position; home_torque "     \
      "must overcome friction")                                                                    \
    X(21, DRIVER, "driver", NONE, RELEASE,                                                         \
      "the motor drivers report a fault (overcurrent, heat, low supply), or the outputs did not "  \
      "come on",                                                                                   \
      "find the cause at the motor drivers, then clear the fault")                                 \
    X(22, LOST, "lost ticks", NONE, HOLD,                                                          \
      "ticks of the control loop did not happen, because something kept interrupts off",           \
      "report the fault")                                                                          \
    X(23, TICK_STOPPED, "tick stopped", NONE, RELEASE,                                             \
      "no tick came for 40 ms, so that a timer has switched the motors off", "report the fault")   \
    X(24, CLOCK, "clock", NONE, RELEASE,                                                           \
      "the external oscillator has failed, so that the ticks have a wrong length",                 \
      "check crystal or clock wire (on a Nucleo: the ST-LINK), then reset the board; until then "  \
      "the link may not work")                                                                     \
    X(25, POWER, "board supply", NONE, RELEASE, "the supply of the chip fell below 2.9 V",         \
      "give the board a supply of its own that does not dip, then clear the fault")                \
    X(26, SUPPLY_SENSOR, "supply sensor", NONE, HOLD,                                              \
      "the motor supply cannot be measured: the converter of the chip is silent",                  \
      "reset the board; if that does not help, the chip is defective")                             \
    X(27, MAGNET, "magnet", NONE, DAMP,                                                            \
      "the encoder reports that its magnet is missing, too near or too far, or that it has no "    \
      "angle, for more than guard_encoder_ticks ticks in a row",                                   \
      "check place and distance of the magnet of this joint, and the wires of its encoder")        \
    X(28, BACKGROUND, "background", NONE, HOLD,                                                    \
      "the background of the firmware has not run for a second, so that nobody can ask it to "     \
      "stop",                                                                                      \
      "report the fault; the e-stop works all the same")                                           \
    X(29, UNSTABLE, "unstable", NONE, DAMP,                                                        \
      "the torque of a joint swings between both directions, beyond half of its limit; the loop "  \
      "is unstable",                                                                               \
      "lower kp and kd of the joint before you move it again; see "                                \
      "firmware/symptoms/arm-oscillates.md")                                                       \
    X(30, HOST, "host", NONE, HOLD,                                                                \
      "the command that moved the arm has not been heard for a second of the board's time",        \
      "check the cable, then clear the fault and give the command again")                          \
    X(31, TOOL_SPEED, "tool speed", TOOL_SPEED, HOLD,                                              \
      "the tool was faster than guard_speed times tool_speed while a person led the arm",          \
      "jog more slowly; raise tool_speed last")                                                    \
    X(32, THERMAL, "thermal", TORQUE, HOLD,                                                        \
      "the torque of a joint was above what its motor can give for ever, for so long that the "    \
      "motor is too hot",                                                                          \
      "let the motor cool, where gravity takes less torque (`appell status` shows the heat); "     \
      "move more slowly; if the motor can give more, say so under `thermal:` in the robot file")   \
    X(33, STUCK, "stuck", NONE, DAMP,                                                              \
      "a joint did not move by a single count although its torque must have moved it, or the low " \
      "bits of its encoder did not: the joint is blocked, or its encoder does not see it",         \
      "check that the brake opens and that nothing blocks the joint; check the encoder, its "      \
      "wires and its coupling to the shaft")                                                       \
    X(34, ENCODER_NOISE, "encoder noise", NONE, DAMP,                                              \
      "the reading of an encoder jumped farther than the joint can move in a tick, or its noise "  \
      "became torque",                                                                             \
      "check wires, shield and supply of the encoder; check encoder counts, encoder_ratio and "    \
      "the "                                                                                       \
      "velocity limit; lower kd or observer_hz")

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

/* The joint of a fault that concerns the whole arm. */
#define APP_NO_JOINT UINT32_MAX

const char *app_state_name(unsigned state);
/* Returns the state after an event; the state is unchanged if the event has no transition. */
unsigned app_state_next(unsigned state, unsigned event);
const char *app_stop_name(unsigned stop);
const char *app_stop_does(unsigned stop);
const char *app_fault_name(unsigned fault);
const char *app_fault_cause(unsigned fault);
const char *app_fault_cure(unsigned fault);
unsigned app_fault_quantity(unsigned fault); /* quantity_t of the fault's value and limit */
unsigned app_fault_stop(unsigned fault);     /* the best stop that the fault allows */

#endif

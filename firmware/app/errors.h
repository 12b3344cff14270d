/*
 * The reasons why a request is refused: number, cause and cure in one table that firmware, tool and
 * pages share.
 */
#ifndef FIRMWARE_APP_ERRORS_H
#define FIRMWARE_APP_ERRORS_H

#include <stdint.h>

/* X(number, NAME, "cause", "cure"); errors of the robot image have numbers below -100. */
#define APP_ERROR_TABLE(X)                                                                         \
    X(-1, STATE, "the present state of the board does not allow this",                             \
      "stop the motion, clear the fault or load a robot first")                                    \
    X(-2, KIND, "there is no motion of this kind",                                                 \
      "choose a kind from the table of motions in firmware/link/PROTOCOL.md")                      \
    X(-3, NUMBER, "a number in the request is not finite or not possible", "correct the number")   \
    X(-4, POSITION, "the motion leaves the position limits", "choose a target within the limits")  \
    X(-5, VELOCITY, "the motion is faster than the velocity limit", "give the motion more time")   \
    X(-6, ACCELERATION, "the motion exceeds the acceleration limit", "give the motion more time")  \
    X(-7, TIME, "the duration of the motion is too short or too long", "choose another duration")  \
    X(-8, ROOM, "the buffer for control points is full",                                           \
      "send more points when the board grants credits for them")                                   \
    X(-9, START, "the first control point is not at the position of the arm",                      \
      "begin at the position of the arm")                                                          \
    X(-10, PARAMETER, "there is no parameter or joint of this number",                             \
      "`appell get --port P` lists the parameters")                                                \
    X(-11, RANGE,                                                                                  \
      "the value is outside the range of the parameter, or is a fraction where a whole number is " \
      "needed, or the lower position limit would not be below the upper one",                      \
      "choose a value within the range that `appell get` shows; counts and choices are whole "     \
      "numbers; to shift both position limits, move the one ahead first")                          \
    X(-12, RATE, "a tick takes longer than this rate allows", "choose a lower rate")               \
    X(-13, UNITS,                                                                                  \
      "a constant of the control loop does not fit the fixed-point units of this image",           \
      "make a new image with this `appell`")                                                       \
    X(-14, UNPROVED, "the image has no fixed-point units, which this board needs",                 \
      "give every joint velocity and acceleration limits, then make the image again")              \
    X(-15, ARM, "the data of the arm in the image contradict each other",                          \
      "check the robot with `appell check`")                                                       \
    X(-16, MEMORY, "this board keeps its arm in flash and cannot change it",                       \
      "change the robot file and write it with `appell flash`")                                    \
    X(-17, SIMULATED, "the board does not simulate an arm at present",                             \
      "set the parameter `arm` to 0")                                                              \
    X(-18, FLEX, "the arm has elastic links, which this build does not compute",                   \
      "use a board with an FPU, or make the image with --rigid")                                   \
    X(-19, GENERATED, "the generated code in this firmware is for another robot",                  \
      "build the firmware with GEN=1 ROBOT=... for this arm, or without GEN")                      \
    X(-20, WEAK, "the motor of a joint cannot hold the arm in this pose",                          \
      "move the arm into another pose, remove load, raise limits_scale, or correct the torque "    \
      "limit")                                                                                     \
    X(-21, HOME, "the position of the joint is not known yet",                                     \
      "home the joint first: `appell home --port ...`")                                            \
    X(-22, SEEK,                                                                                   \
      "the joint cannot be homed: `home` is 0; or it selects a stop, but the joint has no torque " \
      "limit; or it selects a switch, but this board has no input for it",                         \
      "set `home` and `home_position`; for an absolute encoder give the position of the arm: "     \
      "`appell home --at ...`")                                                                    \
    X(-23, FIT, "robot and hardware do not fit, so the real arm must not move",                    \
      "`appell status --port P` lists everything that does not fit, each with its cure")           \
    X(-24, LATCHED,                                                                                \
      "the hardware still keeps the outputs off: the emergency stop is pressed or not wired, the " \
      "motor drivers report a fault, or the clock or the supply of the chip has failed",           \
      "release the emergency stop, then clear the fault; `appell status --port P` shows what is "  \
      "active")                                                                                    \
    X(-25, UNREAD, "not all encoders have given a position yet",                                   \
      "check wiring and supply of the encoders; `appell status --port P` shows what the board "    \
      "has")                                                                                       \
    X(-26, LEASE, "this needs the lease of the arm, or that nobody has it",                        \
      "end the command that has it (`appell status --port P` names it); set `arm` before a "       \
      "command begins; STOP works all the same")                                                   \
    X(-27, LOOSE,                                                                                  \
      "this would weaken a guard, the feedback or the feedforward while the outputs are on",       \
      "stop the arm first; an arm without brakes must be released, so support it")                 \
    X(-28, OVERRIDE, "a running command overrides this parameter, or it cannot be overridden",     \
      "end that command first; guards of the real arm cannot be overridden")                       \
    X(-29, TOOL_SPEED, "the tool could become faster than tool_speed",                             \
      "jog more slowly, or raise tool_speed while the outputs are off")                            \
    X(-30, GAIN,                                                                                   \
      "kp or kd is so large that no loop at this rate could be stable, in whatever pose",          \
      "lower it, or raise rate_hz; `appell check ROBOT` tells the largest gains")

typedef enum {
    APP_OK = 0,
#define X(number, name, cause, cure) APP_E_##name = number,
    APP_ERROR_TABLE(X)
#undef X
        APP_E_IMAGE = -100 /* -100 + image_status_t */
} app_error_t;

const char *app_cause(int error);
const char *app_cure(int error);

#endif

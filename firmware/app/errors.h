/*
 * The reasons why a request is refused: number, cause and cure in one table that firmware, tool and
 * pages share.
 */
#ifndef FIRMWARE_APP_ERRORS_H
#define FIRMWARE_APP_ERRORS_H

#include <stdint.h>

/* X(number, NAME, "cause", "cure"); errors of the robot image have numbers below -100. */
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
    X(-10, PARAMETER, "there is no such parameter or joint", "ask the board for its list")         \
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
    X(-17, SIMULATED, "no arm is simulated", "set the parameter arm to 0")                         \
    X(-18, FLEX, "the arm has elastic links, which this build does not compute",                   \
      "use a board with an FPU, or make the image with --rigid")                                   \
    X(-19, GENERATED, "model and generated code disagree",                                         \
      "build the firmware with GEN=1 ROBOT=... for this arm, or without GEN")                      \
    X(-20, WEAK, "the motor of a joint cannot hold the arm in this pose",                          \
      "move the arm into another pose, take load off, raise limits_scale, or correct the torque "  \
      "limit")                                                                                     \
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

#endif

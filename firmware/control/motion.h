/* A motion as plain data in SI floats. The background checks it against the limits of the robot and
 * prepares its constants before it starts. */
#ifndef FIRMWARE_CONTROL_MOTION_H
#define FIRMWARE_CONTROL_MOTION_H

#include <stdint.h>

#include "dyn/model/model.h"

/* X(number, NAME, "name", "help") */
#define MOTION_TABLE(X)                                                                            \
    X(0, HOLD, "hold", "closes the loop and holds the arm where it is")                            \
    X(1, QUINTIC, "quintic",                                                                       \
      "moves to the target from rest to rest, with a polynomial of fifth degree")                  \
    X(2, CYCLOID, "cycloid",                                                                       \
      "moves by d to the target in the time T: q = q0 + d (t/T - sin(2 pi t/T) / (2 pi))")         \
    X(3, TRAPEZOID, "trapezoid", "moves to the target with a trapezoidal velocity profile")        \
    X(4, POINTS, "points", "follows a uniform cubic B-spline whose control points are streamed")   \
    X(5, JOG, "jog", "moves with the given velocity for as long as the request is repeated")       \
    X(6, HOME, "home", "homes the one joint whose value in the request is not zero")

typedef enum {
#define X(number, name, text, help) MOTION_##name = number,
    MOTION_TABLE(X)
#undef X
        MOTIONS
} motion_kind_t;

typedef struct {
    uint32_t kind; /* motion_kind_t */
    /* QUINTIC, CYCLOID, TRAPEZOID: all joints arrive after this time; 0 means as fast as the limits
     * allow. POINTS: time between two points. */
    float duration_s;
    /* Target position, rad or m. JOG: velocity, rad/s or m/s. HOME: not 0 for the joint to be
     * homed. */
    float value[DYN_MAX_JOINTS];
} motion_t;

/* Every joint brakes. Only the tick starts this motion. It needs no prepared data, because the
 * background may be overwriting the data of a motion when braking begins. */
enum { MOTION_BRAKE = MOTIONS };

const char *motion_name(unsigned kind);

#endif

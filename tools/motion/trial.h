/* One motion, tried on a board or on the board's twin in this process. */
#ifndef TOOLS_MOTION_TRIAL_H
#define TOOLS_MOTION_TRIAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/control/motion.h"
#include "tools/link/client.h"
#include "tools/motion/record.h"

/* What the board shall do. */
typedef struct {
    char name[48];        /* name of its files */
    const char *title;    /* name of the controller */
    bool set;             /* first set the parameters below and place the arm */
    uint32_t feedback;    /* FEEDBACK_... */
    uint32_t feedforward; /* FEEDFORWARD_... */
    float sim_mass;       /* masses of the simulated arm relative to those of the model */
    const char *asked;    /* NAME=VALUE,... or NULL: these guards stay as they are */
    const float *kp, *kd; /* one value for each joint */
    const float *start;   /* where to place the arm */
    motion_t motion;
    const float *point; /* POINTS: control points of all joints */
    uint32_t points;
} trial_t;

/* Starts the samples. *every: ticks between samples, at least `least`. Returns 0, or -1 with
 * client->error. */
int trial_stream(client_t *client, uint32_t least, uint32_t *every);
/* After a refusal of points: returns 0 if a fault has stopped the motion, because then the samples
 * show it; else -1. */
int trial_in_fault(client_t *client);
int trial_on_board(client_t *client, const trial_t *trial, record_t *record);
/* The signal that ended a trial, set by its handler. The trial then stops the arm. */
extern volatile sig_atomic_t trial_signal;
/* Runs the trial on the host in f32, with the same application and image. Returns 0 or an
 * app_error_t. */
int trial_on_host(const uint8_t *image, size_t size, uint32_t every, const trial_t *trial,
                  record_t *record);

/* Guards that a comparison opens. It runs controllers without a model on purpose. They lag far
 * behind, swing fast, are moved against their torques by the other joints, stay long at the limits
 * of their motors, and leave the range of a joint that starts near its end. */
#define TRIAL_GUARDS(X)                                                                            \
    X(guard_tracking, 10)                                                                          \
    X(guard_speed, 10)                                                                             \
    X(guard_direction, 0)                                                                          \
    X(guard_limit_s, 10)                                                                           \
    X(guard_position, 1)

#endif

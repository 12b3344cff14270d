/* Runs one motion on a board, or on the board's twin in this process. */
#ifndef TOOLS_MOTION_TRIAL_H
#define TOOLS_MOTION_TRIAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/control/motion.h"
#include "tools/link/client.h"
#include "tools/motion/record.h"

/* The motion that the board should make, and the controller for it. */
typedef struct {
    char name[48];        /* name of the trial's files */
    const char *title;    /* name of the controller */
    bool set;             /* set the parameters below and place the arm first */
    uint32_t feedback;    /* FEEDBACK_... */
    uint32_t feedforward; /* FEEDFORWARD_... */
    float sim_mass;       /* masses of the simulated arm relative to those of the model */
    /* NAME=VALUE,... or NULL: guards and gains that the user has set and the trial keeps */
    const char *asked;
    const float *kp, *kd; /* one value for each joint */
    const float *start;   /* position where the arm is placed */
    motion_t motion;
    const float *point; /* control points of all joints, for a motion by control points */
    uint32_t points;
} trial_t;

/* Starts the samples. Chooses *every, the number of ticks between samples, at least `least`.
 * Returns 0, or -1 with client->error. */
int trial_stream(client_t *client, uint32_t least, uint32_t *every);
/* Call it if the board refuses points. Returns 0 if a fault has stopped the motion, because then
 * the samples show the fault; else -1. */
int trial_in_fault(client_t *client);
int trial_on_board(client_t *client, const trial_t *trial, record_t *record);
/* The signal that ended a trial, set by the signal handler. The trial then stops the arm. */
extern volatile sig_atomic_t trial_signal;
/* Runs the trial on the host in f32, with the same application and robot image. Returns 0 or an
 * app_error_t. */
int trial_on_host(const uint8_t *image, size_t size, uint32_t every, const trial_t *trial,
                  record_t *record);

/*
 * Guards that a comparison loosens, and their values. The comparison runs controllers without a
 * model on purpose. Such a controller lags far behind and swings fast, its joints are moved against
 * their torques by the other joints, stay long at the limits of their motors, and leave their range
 * if they start near its end.
 */
#define TRIAL_GUARDS(X)                                                                            \
    X(guard_tracking, 10)                                                                          \
    X(guard_speed, 10)                                                                             \
    X(guard_direction, 0)                                                                          \
    X(guard_limit_s, 10)                                                                           \
    X(guard_position, 1)

#endif

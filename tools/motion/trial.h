/* A motion that is tried on a board, or on its twin in this process. */
#ifndef TOOLS_MOTION_TRIAL_H
#define TOOLS_MOTION_TRIAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/control/motion.h"
#include "tools/link/client.h"
#include "tools/motion/record.h"

/* What is asked of the board. */
typedef struct {
    char name[48];        /* of its files */
    const char *title;    /* the controller */
    bool set;             /* the parameters below are set, and the arm is placed, first */
    uint32_t feedback;    /* FEEDBACK_... */
    uint32_t feedforward; /* FEEDFORWARD_... */
    float sim_mass;       /* masses of the simulated arm by those of the model */
    const char *asked;    /* NAME=VALUE,...: guards in it stay as they are, or NULL */
    const float *kp, *kd; /* one for each joint */
    const float *start;   /* where the arm is placed */
    motion_t motion;
    const float *point; /* POINTS: points of all joints */
    uint32_t points;
} trial_t;

/* On the board. Every: ticks from sample to sample, at least so many. 0 or -1 with client->error.
 */
int trial_stream(client_t *client, uint32_t least, uint32_t *every);
/* A motion that a fault has stopped takes no more points, and the samples tell it: 0 where that is
 * why the board has just refused them. */
int trial_in_fault(client_t *client);
int trial_on_board(client_t *client, const trial_t *trial, record_t *record);
/* The signal that has ended a trial, to be set by its handler: the board was told to stop. */
extern volatile sig_atomic_t trial_signal;
/* On the host, in f32: the same application, the same image. 0 or an app_error_t. */
int trial_on_host(const uint8_t *image, size_t size, uint32_t every, const trial_t *trial,
                  record_t *record);

/* Guards that a comparison opens: controllers that know nothing of the arm are run on purpose, and
 * are far behind, fast where they swing, moved against their torques by the other joints, for long
 * at the limits of their motors, and beyond the range of a joint that starts near its end. */
#define TRIAL_GUARDS(X)                                                                            \
    X(guard_tracking, 10)                                                                          \
    X(guard_speed, 10)                                                                             \
    X(guard_direction, 0)                                                                          \
    X(guard_limit_s, 10)                                                                           \
    X(guard_position, 1)

#endif

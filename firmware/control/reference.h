/* The motion that is going on, and where its reference is in this tick. */
#ifndef FIRMWARE_CONTROL_REFERENCE_H
#define FIRMWARE_CONTROL_REFERENCE_H

#include "firmware/control/control.h"
#include "firmware/control/motion.h"

/* A motion that is going on, firmware/control/reference.c. Half ticks, so that the middle of a tick
 * is one. */
typedef struct {
    volatile uint32_t kind; /* motion_kind_t; written last by who starts a motion */
    uint32_t count;         /* half ticks since its start, or since the last point; JOG: ticks */
    uint32_t last;          /* how many there are */
    uint32_t underruns;     /* streamed motions that ran out of points */
    uint32_t starved;       /* one did in this tick: ticks between its points */
    gain_t part;            /* 1 / last */
    /* CYCLOID: 1 / 2 pi, 2 pi; TRAPEZOID: ramp, 1 / (1 - ramp), that by the ramp; POINTS: 1 / 6 */
    real_t shape[3];
    union {
        struct {
            real_t start[DYN_MAX_JOINTS], way[DYN_MAX_JOINTS];
            real_t rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* way / T, way / T^2 */
        } profile;
        struct {
            real_t point[APP_POINTS][DYN_MAX_JOINTS];
            gain_t rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* 1 / 2h, 1 / h^2 */
            volatile uint32_t head;  /* points ever pushed, written by the background */
            volatile uint32_t tail;  /* the first of the four points in use, by the tick */
            volatile uint32_t ended; /* no more will come */
        } points;
        struct {
            real_t target[DYN_MAX_JOINTS]; /* velocity */
        } jog;
        float lent[APP_POINTS * DYN_MAX_JOINTS]; /* app_lend */
        struct {
            real_t target[DYN_MAX_JOINTS];  /* as of a jog */
            real_t speed, torque;           /* of looking; to press with */
            real_t position, from;          /* where it is; where looking began */
            uint32_t joint, kind;           /* HOME_... */
            uint32_t phase, still, stalled; /* ticks at rest that are a stop; so far */
            uint32_t away, gone;            /* ticks of going away from it; so far */
        } home;
    } as;
} motion_state_t;

/* One tick further: q_mid, qd_mid, qdd_ref and, half a tick before, q_ref, qd_ref. */
void reference_step(const control_t *control, motion_state_t *motion, loop_t *loop);
/* From here on the reference brakes within the acceleration limits. */
void reference_brake(motion_state_t *motion);
/* Rests where the loop says that the arm is. */
void reference_rest(const control_t *control, loop_t *loop);

#endif

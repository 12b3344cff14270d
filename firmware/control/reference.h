/* The running motion and the reference that it gives in each tick. */
#ifndef FIRMWARE_CONTROL_REFERENCE_H
#define FIRMWARE_CONTROL_REFERENCE_H

#include <stdbool.h>

#include "firmware/control/control.h"
#include "firmware/control/motion.h"

/* The running motion. Time is counted in half ticks, so that the middle of a tick has a number. */
typedef struct {
    volatile uint32_t kind; /* motion_kind_t; written last when a motion starts */
    uint32_t count;         /* half ticks since the start of the motion or since the last point; JOG
                             * and HOME: ticks */
    uint32_t last;          /* duration of the motion, time between points, or time-out (JOG, HOME),
                             * in the unit of `count` */
    bool slows;             /* JOG: a joint got slower in the tick before; true at the start */
    uint32_t underruns;     /* streamed motions that ran out of points */
    uint32_t starved;       /* ticks between two points if the points ran out in this tick;
                             * otherwise 0 */
    gain_t part;            /* 1 / last */
    /* POINTS: 1 / 6. CYCLOID: 1 / (2 pi) and 2 pi. TRAPEZOID: ramp, 1 / (1 - ramp) and
     * 1 / (ramp (1 - ramp)). */
    real_t shape[3];
    union {
        struct {
            real_t start[DYN_MAX_JOINTS], way[DYN_MAX_JOINTS];
            real_t rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* displacement divided by T and by
                                                                * T^2 */
        } profile;
        struct {
            real_t point[APP_POINTS][DYN_MAX_JOINTS];
            gain_t rate[DYN_MAX_JOINTS], turn[DYN_MAX_JOINTS]; /* 1 / 2h and 1 / h^2, with h the
                                                                * time between points */
            volatile uint32_t head; /* points pushed so far, written by the background */
            /* index of the first of the four points in use, written by the tick */
            volatile uint32_t tail;
            volatile uint32_t ended; /* no more points will come */
        } points;
        struct {
            real_t target[DYN_MAX_JOINTS]; /* velocity */
        } jog;
        float lent[APP_POINTS * DYN_MAX_JOINTS]; /* memory that app_lend lends */
        struct {
            real_t target[DYN_MAX_JOINTS]; /* velocity, as in a jog */
            real_t speed, torque;          /* seek speed; largest torque for pushing */
            /* position of the stop or switch; position where the search began */
            real_t position, from;
            uint32_t joint, kind;           /* HOME_... */
            uint32_t phase, still, stalled; /* phase; ticks at rest that mean a stop; ticks at rest
                                             * so far */
            uint32_t away, gone;            /* ticks to move away from the stop or switch; ticks so
                                             * far */
            real_t edge;         /* position at which the reading of the switch last changed */
            uint16_t sure, same; /* ticks with the same reading that count; ticks so far */
            uint8_t raw, closed; /* reading of the switch; the same, debounced */
        } home;
    } as;
} motion_state_t;

/* Advances the reference by one tick: q_mid, qd_mid and qdd_ref in the middle of the tick, q_ref
 * and qd_ref at its beginning. */
void reference_step(const control_t *control, motion_state_t *motion, loop_t *loop);
/* Makes the reference brake from now on, within the acceleration limits. */
void reference_brake(motion_state_t *motion);
/* Puts the reference at rest at the measured position. */
void reference_rest(const control_t *control, loop_t *loop);

#endif

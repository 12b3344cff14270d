/* Watches an arm during a defect, sample by sample, and compares its motion with the bounds of
 * faults_bounds.h. */
#ifndef TOOLS_MOTION_FAULTS_WATCH_H
#define TOOLS_MOTION_FAULTS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/link/client.h"
#include "tools/motion/faults_bounds.h"
#include "tools/motion/faults_rows.h"

#define FAULTS_RELEASE_S 0.25 /* s for which a released arm without brakes is watched falling */

/* What the samples have shown so far. The fields of a sample are state, q_arm and q_ref. */
typedef struct {
    const bounds_t *worst;
    double rate_hz, seconds; /* seconds: board's time of the watch after the fault */
    uint32_t marks;          /* state that ends the motion: APP_STATE_FAULT, or IDLE at a release */
    uint32_t first_tick, last_tick, samples;
    bool failed, done;
    double q[DYN_MAX_JOINTS], at[DYN_MAX_JOINTS]; /* positions now and at the fault */
    double height, now_height, fall, sag;         /* sag: fall below the reference, before it */
    /* largest speeds after and before the fault */
    double speed[DYN_MAX_JOINTS], before[DYN_MAX_JOINTS];
    double travel[DYN_MAX_JOINTS]; /* from the position at the fault */
    double off[DYN_MAX_JOINTS];    /* largest |q_ref - q_arm| before the fault */
} faults_watch_t;

void faults_see(faults_watch_t *watch, const sample_in_t *sample);
/* Forgets what happened before the defect. */
void faults_forget(faults_watch_t *watch);

/* A measured value and its bound, at the joint where the value is largest. */
typedef struct {
    double value, bound;
    uint32_t joint;
} faults_most_t;

typedef struct {
    bool bounded;                /* the bounds below are valid */
    bool within;                 /* and they were kept */
    faults_most_t speed, travel; /* rad/s or m/s, rad or m */
    double fall, fall_bound;     /* m */
} faults_motion_t;

/* Compares the motion after the fault with the bounds of this stop. */
faults_motion_t faults_after(const faults_watch_t *watch, const faults_row_t *row, uint32_t stop,
                             bool brakes);
/* The motion since the defect of a row without a fault: the travel is the distance from the
 * reference. */
faults_motion_t faults_without(const faults_watch_t *watch);

#endif

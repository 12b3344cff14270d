/* Injects every defect of faults_rows.h into the board's twin: the same application and simulated
 * arm, in this process, in f32. Ticks and numbers are the same in every run. */
#ifndef TOOLS_MOTION_FAULTS_TWIN_H
#define TOOLS_MOTION_FAULTS_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/motion/faults_watch.h"

typedef struct {
    const faults_row_t *row;
    int answer;     /* APP_OK, or why the board refused the request that brings the defect */
    uint32_t fault; /* APP_FAULT_NONE: not found */
    uint32_t stop;  /* without brakes */
    uint32_t worst; /* the worst stop of the watch, without brakes: a second fault may come */
    bool noticed;   /* no fault, but a notice */
    double found_s; /* from the defect to the fault or the notice */
    double off;     /* rad or m, farthest from the reference until then */
    faults_motion_t without, with; /* without brakes, with brakes */
    bool free;                     /* without brakes the arm was left without any torque */
    bool good; /* as expected, within the bounds, and free only if the row may fall */
} faults_result_t;

typedef void (*faults_result_print_t)(const robot_t *robot, const faults_result_t *result);

/* Runs every row. Returns how many were not as expected, or -1 if there is no image or no dynamics
 * of the robot. */
int faults_twin(const robot_t *robot, faults_result_print_t print);

#endif

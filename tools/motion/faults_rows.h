/* The defects that `appell faults provoke` injects, and what is expected of each. The rows of the emulated
 * boards and of the board's twin in this process are the same table. */
#ifndef TOOLS_MOTION_FAULTS_ROWS_H
#define TOOLS_MOTION_FAULTS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/control/motion.h"
#include "tools/motion/faults_bounds.h"

/* A parameter that is overridden before the loop closes. */
typedef struct {
    const char *name;
    float value;
    bool joint; /* of the joint that gravity loads most */
} faults_setting_t;

/* What the arm does when the defect comes. */
typedef enum {
    FAULTS_REST,    /* the loop holds it */
    FAULTS_QUINTIC, /* it moves */
    FAULTS_POINTS,  /* it moves along streamed points, of which it has enough for two seconds */
    FAULTS_DRY,     /* the same, but the last points are missing */
    FAULTS_JOG,
    FAULTS_HOME /* a joint seeks a switch that it does not find */
} faults_situation_t;

typedef struct {
    const char *how;
    /* What is expected: a fault and the worst stop after it, without brakes; or no fault, and the reason. */
    uint32_t fault, stop;
    const char *why;
    bool varies; /* this stop, or the better one before it: a second finding comes in time or not */
    bool noticed; /* there is no fault, but the status and the samples give a new notice */
    int answer;   /* the board refuses the request that would bring the defect: an app_error_t */
    bool board;   /* also provoked over the link, on a board */
    bool floats;  /* only on boards that compute in floating point */
    /* Nothing is left to brake with, or the release was asked for: the only rows in which an arm
     * without brakes may fall freely. */
    bool falls;
    bool lies; /* the loop does not know where the arm is: while it drives there is no bound */
    faults_situation_t situation;
    bool tight; /* the position limits are close to the pose */
    faults_setting_t set[4];
    /* The defect is one of these. */
    uint32_t defect;        /* DEFECT_..., of the joint that gravity loads most */
    float kp, kd;           /* the gains of that joint are multiplied by these; 0: unchanged */
    float arm_kg, model_kg; /* payload of the simulated arm and of the model, on the last link */
    bool lost;              /* the host is not heard any more */
    bool released;          /* a request switches the outputs off */
    uint32_t latch;         /* the hardware has switched the outputs off with this fault ... */
    const char *when;       /* ... so long after the defect, which the twin does not show */
} faults_row_t;

extern const faults_row_t faults_row[];
extern const uint32_t faults_rows;

/* Returns whether the stop is the expected one. */
static inline bool faults_stops(const faults_row_t *row, uint32_t stop) {
    return stop == row->stop || (row->varies && stop + 1 == row->stop);
}

/* Lists the parameters of a row, and returns their number. */
enum { FAULTS_SETTINGS = 10, FAULTS_POINTS_SENT = 20 };
uint32_t faults_settings(const faults_row_t *row, const bounds_t *bounds,
                         faults_setting_t out[FAULTS_SETTINGS]);
/* Returns the motion that the defect interrupts. */
motion_t faults_motion(const faults_row_t *row, const bounds_t *bounds);
/* Writes the k-th of FAULTS_POINTS_SENT control points. */
void faults_point(const faults_row_t *row, const bounds_t *bounds, uint32_t k, float *point);

#endif

/*
 * Motions on a board, or on its twin in this process, and what became of them: samples, tracking
 * errors, costs. `appell run` compares controllers with it.
 */
#ifndef TOOLS_MOTION_RUN_H
#define TOOLS_MOTION_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dyn/model/model.h"
#include "firmware/app/app.h"
#include "tools/link/client.h"
#include "tools/robot/robot.h"

/* Fields of a sample that are fetched, in this order. X(name, per joint) */
#define RUN_FIELDS(X)                                                                              \
    X(state, 0)                                                                                    \
    X(limited, 0)                                                                                  \
    X(q_ref, 1)                                                                                    \
    X(qd_ref, 1)                                                                                   \
    X(q_arm, 1)                                                                                    \
    X(qd, 1)                                                                                       \
    X(tau_model, 1)                                                                                \
    X(tau, 1)                                                                                      \
    X(volt, 1)

enum {
#define X(name, per_joint) RUN_##name,
    RUN_FIELDS(X)
#undef X
        RUN_FIELD_COUNT
};

/* What is asked of the board. */
typedef struct {
    char name[48];        /* of its files */
    const char *title;    /* the controller */
    bool set;             /* the tunables below are set, and the arm is placed, first */
    uint32_t feedback;    /* FEEDBACK_... */
    uint32_t feedforward; /* FEEDFORWARD_... */
    float plant_mass;     /* masses of the simulated arm by those of the model */
    const char *asked;    /* NAME=VALUE,...: guards in it stay as they are, or NULL */
    const float *kp, *kd; /* one for each joint */
    const float *start;   /* where the arm is placed */
    motion_t motion;
    const float *point; /* KNOTS: points of all joints */
    uint32_t points;
} trial_t;

/* What came of it: rows of values while the motion was on. */
typedef struct {
    uint32_t joints, width, rows, room;
    uint32_t *tick, *word; /* word: the 32 bits of each value as the board has it */
    double *value;
    uint32_t rate_hz;
    double rms[DYN_MAX_JOINTS], peak[DYN_MAX_JOINTS]; /* of reference minus arm */
    double rms_all;                                   /* over all joints */
    uint32_t limited;                                 /* rows with a joint at a limit */
    uint32_t missing;                                 /* rows that were lost between others */
    uint32_t fault;
} record_t;

/* Place of a field in a row. */
uint32_t record_at(const record_t *record, uint32_t field);
double record_value(const record_t *record, uint32_t row, uint32_t field, uint32_t joint);
int record_add(record_t *record, uint32_t tick, const uint32_t *word, const double *value);
void record_finish(record_t *record);
void record_free(record_t *record);

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
/* Values that differ in any bit from those of the twin at the same tick since the start, and 1 for
 * another fault. A row that the twin lacks is all different; one that the record lacks was lost on
 * the way and is only counted. */
uint64_t record_differences(const record_t *record, const record_t *twin, uint64_t *compared,
                            uint32_t *missing);

/* A motion to be tried, with what belongs to it. */
typedef struct {
    char name[24];
    char title[120];
    float start[DYN_MAX_JOINTS], kp[DYN_MAX_JOINTS], kd[DYN_MAX_JOINTS];
    motion_t motion;
    float *point; /* to be freed */
    uint32_t points;
    double from[3], to[3]; /* KNOTS: ends of the hand's line */
} plan_t;

/* All joints at once, near their velocity limits and within all others. */
void plan_fast(const robot_t *robot, plan_t *plan);
/* The hand along a straight line at constant attitude. -1: it cannot be reached. */
int plan_line(const robot_t *robot, const double from[3], const double to[3],
              const double attitude[3][3], double seconds, plan_t *plan);
/* Gains of a critically damped PD of this bandwidth: with the inertia that each joint has while the
 * others are free, the least of the motion. */
void plan_gains(const robot_t *robot, double hz, plan_t *plan);

/* What the tick costs on the board. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], mean[STAGES + 1], most[STAGES + 1]; /* the last: the whole tick */
} costs_t;
int costs_fetch(client_t *client, costs_t *costs);

/* The comparison: [mass][controller]. */
enum { RUN_MASSES = 2, RUN_CONTROLLERS = 3 };
extern const char *const run_controller[RUN_CONTROLLERS];
typedef struct {
    const plan_t *plan;
    record_t record[RUN_MASSES][RUN_CONTROLLERS];
} result_t;

/* Guards that a comparison opens: controllers that know nothing of the arm are run on purpose, and
 * are far behind, fast where they swing, moved against their torques by the other joints, for long
 * at the limits of their motors, and beyond the range of a joint that starts near its end. */
#define RUN_GUARDS(X)                                                                              \
    X(guard_tracking, 10)                                                                          \
    X(guard_speed, 10)                                                                             \
    X(guard_direction, 0)                                                                          \
    X(guard_patience_s, 10)                                                                        \
    X(guard_position, 1)

/* Of the column with the names of the joints. */
int report_width(const robot_t *robot);
void report_errors(const robot_t *robot, const result_t *result);
void report_costs(const costs_t *costs, bool instructions, double cycles_per_instruction);
int report_csv(const client_t *client, const char *path, const record_t *record);
/* 0, or EXIT_BAD after saying what is wrong. */
int report_plot(const robot_t *robot, const result_t *result, size_t results, const char *path);

#endif

/* Samples of a motion: rows of values, the tracking errors in them, and their differences from the
 * twin's samples. */
#ifndef TOOLS_MOTION_RECORD_H
#define TOOLS_MOTION_RECORD_H

#include <stdint.h>

#include "dyn/model/model.h"

/* Fields of a sample that the board sends, in this order. X(name, 1 if one value per joint) */
#define RECORD_FIELDS(X)                                                                           \
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
#define X(name, per_joint) RECORD_##name,
    RECORD_FIELDS(X)
#undef X
        RECORD_FIELD_COUNT
};

/* The result of a trial: the rows sampled during the motion. */
typedef struct {
    uint32_t joints, width, rows, room;
    uint32_t *tick, *word; /* word: the 32 bits of each value as on the board */
    double *value;
    uint32_t rate_hz;
    /* tracking error: reference minus arm position */
    double rms[DYN_MAX_JOINTS], peak[DYN_MAX_JOINTS];
    double rms_all;   /* tracking error over all joints */
    uint32_t limited; /* number of rows with a joint at a limit */
    /* number of samples that were lost between recorded rows */
    uint32_t missing;
    uint32_t fault;
} record_t;

/* Returns the index of a field's first value in a row. */
uint32_t record_at(const record_t *record, uint32_t field);
double record_value(const record_t *record, uint32_t row, uint32_t field, uint32_t joint);
int record_add(record_t *record, uint32_t tick, const uint32_t *word, const double *value);
void record_finish(record_t *record);
void record_free(record_t *record);

/*
 * Counts the values that differ in any bit from those of the twin at the same tick since the start;
 * different faults count as one more. If the twin lacks a row, all values of the row count. If the
 * record lacks a row, the row was lost on the link and only adds to *missing.
 */
uint64_t record_differences(const record_t *record, const record_t *twin, uint64_t *compared,
                            uint32_t *missing);

#endif

/* Samples of a motion: rows of values, the tracking errors in them, and how they differ from those
 * of the twin. */
#ifndef TOOLS_MOTION_RECORD_H
#define TOOLS_MOTION_RECORD_H

#include <stdint.h>

#include "dyn/model/model.h"

/* Fields of a sample that the board sends, in this order. X(name, per joint) */
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
    uint32_t *tick, *word; /* word: each value in the 32 bits of the board */
    double *value;
    uint32_t rate_hz;
    double rms[DYN_MAX_JOINTS], peak[DYN_MAX_JOINTS]; /* of reference minus arm position */
    double rms_all;                                   /* over all joints */
    uint32_t limited;                                 /* rows with a joint at a limit */
    uint32_t missing;                                 /* rows lost between others */
    uint32_t fault;
} record_t;

/* Index of a field in a row. */
uint32_t record_at(const record_t *record, uint32_t field);
double record_value(const record_t *record, uint32_t row, uint32_t field, uint32_t joint);
int record_add(record_t *record, uint32_t tick, const uint32_t *word, const double *value);
void record_finish(record_t *record);
void record_free(record_t *record);

/* Counts the values that differ in any bit from those of the twin at the same tick since the start,
 * and 1 if the faults differ. If the twin lacks a row, all its values count. If the record lacks a
 * row, it was lost on the link and only adds to *missing. */
uint64_t record_differences(const record_t *record, const record_t *twin, uint64_t *compared,
                            uint32_t *missing);

#endif

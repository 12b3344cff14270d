/* The stages of a tick and their costs. */
#ifndef FIRMWARE_APP_STAGES_H
#define FIRMWARE_APP_STAGES_H

#include <stdint.h>

/* The stages in the order in which they run. X(NAME, "name", "what it does") */
#define STAGE_TABLE(X)                                                                             \
    X(SENSE, "sense", "changes taken over, counts to positions")                                   \
    X(ESTIMATE, "estimate", "observer: speeds")                                                    \
    X(REFERENCE, "reference", "where the motion is")                                               \
    X(DYNAMICS, "dynamics", "inverse dynamics, rotors, friction")                                  \
    X(FEEDBACK, "feedback", "feedback and torque limits")                                          \
    X(DRIVE, "drive", "voltages and duty cycles")                                                  \
    X(GUARD, "guard", "limits that end in a fault")                                                \
    X(SAMPLE, "sample", "the record for telemetry")                                                \
    X(SIM_ARM, "sim_arm", "the simulated arm")

typedef enum {
#define X(name, text, help) STAGE_##name,
    STAGE_TABLE(X)
#undef X
        STAGES
} stage_t;

const char *stage_name(unsigned stage);

/* Costs of the stages since app_stages_clear; only ticks with a closed loop count. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], most[STAGES + 1]; /* the last element is the whole tick */
    uint64_t sum[STAGES + 1];
} app_stages_t;

#endif

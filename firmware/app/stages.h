/*
 * Stages of a tick and what they cost.
 */
#ifndef FIRMWARE_APP_STAGES_H
#define FIRMWARE_APP_STAGES_H

#include <stdint.h>

/* Stages of a tick, in their order. X(NAME, "name", "what is in it") */
#define STAGE_TABLE(X)                                                                             \
    X(SENSE, "sense", "changes taken over, counts to positions")                                   \
    X(ESTIMATE, "estimate", "observer: speeds")                                                    \
    X(REFERENCE, "reference", "where the motion is")                                               \
    X(DYNAMICS, "dynamics", "inverse dynamics, rotors, friction")                                  \
    X(FEEDBACK, "feedback", "feedback and torque limits")                                          \
    X(DRIVE, "drive", "voltages and duty cycles")                                                  \
    X(GUARD, "guard", "limits that end in a fault")                                                \
    X(SAMPLE, "sample", "the record for telemetry")                                                \
    X(PLANT, "plant", "the simulated arm")

typedef enum {
#define X(name, text, help) STAGE_##name,
    STAGE_TABLE(X)
#undef X
        STAGES
} stage_t;

const char *stage_name(unsigned stage);

/* What the stages cost since the last clearing, of ticks with the loop closed. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], most[STAGES + 1]; /* the last: the whole tick */
    uint64_t sum[STAGES + 1];
} app_stages_t;

/*
 * The counter behind the costs of the stages. The program provides it; where it does not, costs are
 * zero and every rate is allowed.
 */
uint32_t app_clock(void);
uint32_t app_clock_steps(uint32_t start, uint32_t end); /* between two readings */
uint32_t app_clock_hz(void);
uint32_t app_clock_cost(uint32_t steps); /* cycles, or instructions under the emulator */
/* Between them no interrupt comes: none takes time of what is timed, and no tick gets between the
 * few words that are looked at and changed together. */
uint32_t app_clock_lock(void);
void app_clock_unlock(uint32_t state);

#endif

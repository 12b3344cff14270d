/* The stages of a tick and their costs. */
#ifndef FIRMWARE_APP_STAGES_H
#define FIRMWARE_APP_STAGES_H

#include <stdint.h>

/* The stages in the order in which they run. X(NAME, "name", "what it does") */
#define STAGE_TABLE(X)                                                                             \
    X(SENSE, "sense", "applies changed parameters; converts encoder counts to positions")          \
    X(ESTIMATE, "estimate", "estimates the speeds with the observer")                              \
    X(REFERENCE, "reference", "computes the reference of the motion")                              \
    X(DYNAMICS, "dynamics", "computes torques: inverse dynamics, rotors, friction")                \
    X(FEEDBACK, "feedback", "adds the feedback and applies the torque limits")                     \
    X(DRIVE, "drive", "computes voltages and duty cycles")                                         \
    X(GUARD, "guard", "checks the limits that raise a fault")                                      \
    X(SAMPLE, "sample", "writes the sample for telemetry")                                         \
    X(SIM_ARM, "sim_arm", "moves the simulated arm")

typedef enum {
#define X(name, text, help) STAGE_##name,
    STAGE_TABLE(X)
#undef X
        STAGES
} stage_t;

const char *stage_name(unsigned stage);

/* Costs of the stages since app_stages_clear. Only ticks with a closed loop count, and only while
 * the parameter `stages` is not 0. */
typedef struct {
    uint32_t ticks;
    uint32_t least[STAGES + 1], most[STAGES + 1]; /* the last element is the whole tick */
    uint64_t sum[STAGES + 1];
} app_stages_t;

#endif

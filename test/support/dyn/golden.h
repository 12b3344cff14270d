/* Reads the arms and states of ../shared/golden (or $GOLDEN) on the host, with cJSON. */
#ifndef TEST_SUPPORT_DYN_GOLDEN_H
#define TEST_SUPPORT_DYN_GOLDEN_H

#include "dyn/model/convert.h"

#define GOLDEN_STATES 80

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
} golden_state_t;

typedef struct {
    char name[32];
    dyn_source_t source;
    double
        rotor[DYN_MAX_JOINTS]; /* reflected inertia of the rotors; the torques do not include it */
    uint32_t states;
    golden_state_t state[GOLDEN_STATES];
} golden_arm_t;

/* Returns the number of arms, or 0 if the folder does not exist. The caller frees *arms. */
uint32_t golden_read(golden_arm_t **arms);

#endif

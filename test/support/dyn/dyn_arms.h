/* The arms of the reference values as compiled-in data, for tests on host and target. */
#ifndef TEST_SUPPORT_DYN_DYN_ARMS_H
#define TEST_SUPPORT_DYN_DYN_ARMS_H

#include "dyn/model/convert.h"

#define DYN_ARMS_PUMA 0u

typedef struct {
    const double *q, *qd, *qdd, *tau;
} dyn_arms_state_t;

uint32_t dyn_arms_count(void);
const char *dyn_arms_name(uint32_t arm);
uint32_t dyn_arms_joints(uint32_t arm);
void dyn_arms_source(uint32_t arm, dyn_source_t *source);
uint32_t dyn_arms_states(uint32_t arm);
dyn_arms_state_t dyn_arms_state(uint32_t arm, uint32_t state);

/* The model of an arm, with limits of +-pi rad or +-0.5 m, 3 rad/s (m/s) and 10 rad/s^2 (m/s^2). */
void dyn_arms_model(uint32_t arm, dyn_model_t *model);

/* Seeded random numbers, integers and doubles in -1 .. 1, that are the same on every machine. */
typedef struct {
    uint64_t state;
} dyn_arms_random_t;
int32_t dyn_arms_random(dyn_arms_random_t *random);
double dyn_arms_uniform(dyn_arms_random_t *random);

#endif

/* The parts that rigid and elastic arms of the simulation have in common: gravity, joint stops, and
 * drives with friction and motors. An arm is a struct whose first member is a driven_t. */
#ifndef TOOLS_SIM_DRIVES_H
#define TOOLS_SIM_DRIVES_H

#include "dyn/number/f64.h"
#include "tools/sim/sim.h"

typedef struct {
    sim_system_t arm;
    dyn_model_t model;
    dyn_arm_f64_t prepared;
} driven_t;

/* Fills in the members of `arm` that follow from model and prepared, and sets self to `driven`. */
void drives_describe(driven_t *driven);

#endif

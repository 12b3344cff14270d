/* An arm of rigid links for the simulation: the double kernels with rotors, friction and motors. */
#ifndef TOOLS_SIM_RIGID_H
#define TOOLS_SIM_RIGID_H

#include "firmware/lab/methods.h"
#include "tools/sim/sim.h"

/* Makes an arm. `method` is a method of forward dynamics. Returns NULL unless *status is DYN_OK;
 * other values are a dyn_status_t or SIM_E_MEMORY. */
sim_system_t *rigid_make(const dyn_model_t *model, method_id_t method, int *status);
void rigid_free(sim_system_t *arm);

#endif

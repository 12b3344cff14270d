/* An arm of rigid links for the simulation: the double kernels with rotors, friction and motors. */
#ifndef TOOLS_SIM_RIGID_H
#define TOOLS_SIM_RIGID_H

#include "firmware/lab/methods.h"
#include "tools/sim/sim.h"

/* Makes an arm. `method` is a method of forward dynamics. Returns NULL if *status, a dyn_status_t,
 * is not DYN_OK or if there is no memory. */
sim_system_t *rigid_make(const dyn_model_t *model, method_id_t method, int *status);
void rigid_free(sim_system_t *arm);

#endif

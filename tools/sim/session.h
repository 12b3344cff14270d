/* Runs a simulation for the command line and for the interactive program. Long runs show a progress
 * bar. Control-C ends a run and keeps the rows recorded so far. */
#ifndef TOOLS_SIM_SESSION_H
#define TOOLS_SIM_SESSION_H

#include "tools/sim/sim.h"

/* Shows a progress bar on a terminal; returns SIM_STOPPED after control-C. */
int session_run(sim_t *sim, double duration_s, sim_record_t *record);
/* For sim_options_t.stop: draws the bar, and returns true after control-C, which ends the run. */
bool session_stop(void *self, double t);

/* Largest kinetic energy of a record, and largest absolute energy balance, in J. */
double session_kinetic(const sim_record_t *record);
double session_balance(const sim_record_t *record);

#endif

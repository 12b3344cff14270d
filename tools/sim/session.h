/*
 * A simulation as the command line and the interactive program both run it: the arm, its sources,
 * the record, a progress bar on long runs, and control-C that ends a run and keeps what is there.
 */
#ifndef TOOLS_SIM_SESSION_H
#define TOOLS_SIM_SESSION_H

#include "tools/sim/sim.h"

/* Runs with a progress bar on a terminal; SIM_STOPPED after control-C. */
int session_run(sim_t *sim, double duration_s, sim_record_t *record);
/* To be passed on in sim_options_t, so that session_run can stop the run. */
bool session_stop(void *self, double t);

/* Largest kinetic energy and largest |balance| of a record, J. */
double session_kinetic(const sim_record_t *record);
double session_balance(const sim_record_t *record);

#endif

/* Chooses the units with which q31 is proved not to overflow for an arm. */
#ifndef TOOLS_PROOF_UNITS_H
#define TOOLS_PROOF_UNITS_H

#include "firmware/lab/methods.h"
#include "tools/proof/range.h"

/*
 * Chooses the units of the robot image: those with the smallest guaranteed error among all with
 * which inverse dynamics, bias, gravity and inertia matrix by the default methods, including rotors
 * and friction, cannot overflow within the limits of the arm. Same as range_choose_units with
 * range_all.
 */
int units_prove(const dyn_model_t *model, dyn_units_t *units, range_report_t *report);

/*
 * Chooses the units for one method. For a default method these are the units of units_prove if they
 * exist, so that the host computes the same bits as a board. Otherwise they are units with which
 * inverse dynamics cannot overflow: by this method, or by the nearest one if this method solves
 * another problem. For mass and fd the inertia matrix fits too, if such units are found.
 */
int units_choose(const dyn_model_t *model, method_id_t method, dyn_units_t *units,
                 range_report_t *report);

/* Returns the acceleration limit, or, if there is none, the acceleration with which a board plans
 * its motions. */
double units_acceleration(const dyn_limits_t *limits);

/* Lists the limits that the proof needs and the joint lacks: "velocity, acceleration"; empty if
 * none is missing. */
void units_missing(const dyn_model_t *model, uint32_t joint, char *out, size_t size);

#endif

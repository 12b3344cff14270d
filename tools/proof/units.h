/* Chooses the units in which fixed point is proved for an arm. */
#ifndef TOOLS_PROOF_UNITS_H
#define TOOLS_PROOF_UNITS_H

#include "firmware/lab/methods.h"
#include "tools/proof/range.h"

/*
 * The units of the robot image. They have the smallest guaranteed error among those with which
 * inverse dynamics, bias, gravity and inertia matrix by the default methods, including rotors and
 * friction, cannot overflow within the limits of the arm. Same as range_choose_units with
 * range_all.
 */
int units_prove(const dyn_model_t *model, dyn_units_t *units, range_report_t *report);

/*
 * The units for one method. For a default method these are the units of units_prove if they exist,
 * so that a row is computed as on a board. Otherwise they are units with which inverse dynamics by
 * this method (or the nearest one if the method solves another problem) cannot overflow; for mass
 * and fd the inertia matrix fits too.
 */
int units_choose(const dyn_model_t *model, method_id_t method, dyn_units_t *units,
                 range_report_t *report);

/* The acceleration limit; without one, the acceleration with which a board plans its motions. */
double units_acceleration(const dyn_limits_t *limits);

/* Names the limits that the proof lacks: "waist: velocity, acceleration"; empty if it has all. */
void units_missing(const dyn_model_t *model, uint32_t joint, char *out, size_t size);

#endif

/* Units in which fixed point is proved for an arm. */
#ifndef TOOLS_PROOF_UNITS_H
#define TOOLS_PROOF_UNITS_H

#include "firmware/lab/methods.h"
#include "tools/proof/range.h"

/*
 * The units of the robot image: those with the smallest guaranteed error with which inverse
 * dynamics, bias, gravity and inertia matrix by the default methods, rotors and friction included,
 * cannot overflow within the limits of the arm. As range_choose_units with range_all.
 */
int units_prove(const dyn_model_t *model, dyn_units_t *units, range_report_t *report);

/*
 * The units for one method: those of units_prove where it is a default method and they exist, so
 * that a row is computed as a board computes it. Else those with which inverse dynamics by this
 * method (by the nearest one where the method solves another problem) cannot overflow; for mass and
 * fd the inertia matrix fits too.
 */
int units_choose(const dyn_model_t *model, method_id_t method, dyn_units_t *units,
                 range_report_t *report);

/* The limit of acceleration; where there is none, that by which a board plans its motions. */
double units_acceleration(const dyn_limits_t *limits);

/* Which limits the proof misses: "waist: velocity, acceleration"; empty where it has all. */
void units_missing(const dyn_model_t *model, uint32_t joint, char *out, size_t size);

#endif

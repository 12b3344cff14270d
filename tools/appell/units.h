/* Units in which fixed point is proved for an arm. */
#ifndef TOOLS_APPELL_UNITS_H
#define TOOLS_APPELL_UNITS_H

#include "firmware/core/methods.h"
#include "tools/backend/range.h"

/*
 * The units with the smallest guaranteed error with which inverse dynamics by this method (by the
 * nearest one where the method solves another problem), rotors and friction included, cannot
 * overflow within the limits of the arm; for mass and fd the inertia matrix fits too. As
 * range_choose_units.
 */
int units_choose(const dyn_model_t *model, method_id_t method, dyn_units_t *units,
                 range_report_t *report);

/* Which limits the proof misses: "waist: velocity, acceleration"; empty where it has all. */
void units_missing(const dyn_model_t *model, uint32_t joint, char *out, size_t size);

#endif

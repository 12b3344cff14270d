/*
 * An arm with elastic links for the simulation: wraps the double kernels in the interface of
 * tools/sim/sim.h. The coordinates are Theta (dyn/model/flex_model.h). A motion prescribes the
 * joints only; its torques are those of the quasi-static deflection, as in the firmware's
 * feedforward.
 */
#ifndef TOOLS_SIM_ELASTIC_H
#define TOOLS_SIM_ELASTIC_H

#include "dyn/model/flex_model.h"
#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

/* Returns NULL unless *status is DYN_OK; other values are a dyn_status_t or SIM_E_MEMORY. `robot`
 * must live longer than the arm. */
sim_system_t *elastic_make(const robot_t *robot, const dyn_flex_model_t *flex, int *status);
void elastic_free(sim_system_t *arm);

/* Fills in the mode amplitudes of the arm at rest under gravity, for the joint positions in q. */
void elastic_settle(sim_system_t *arm, double *q);

/*
 * The columns that describe how the arm is bent, as in Figs 4 to 15 of paper 004: the position of
 * the end effector; then, for each link, deflection and slope in each plane in which it bends, and
 * its torsion, each in the middle of the link and at its end.
 */
enum { ELASTIC_COLUMNS_MAX = 3 + 10 * DYN_FLEX_MAX_JOINTS };
typedef enum {
    ELASTIC_EFFECTOR,
    ELASTIC_DEFLECTION,
    ELASTIC_SLOPE,
    ELASTIC_TORSION
} elastic_what_t;
/* The names of the kinds of modes: "xy", "xz", "torsion". */
extern const char *const elastic_kind_name[DYN_FLEX_KINDS];
uint32_t elastic_columns(const sim_system_t *arm);
elastic_what_t elastic_column_what(const sim_system_t *arm, uint32_t column);
/* Writes the name of a column, for example "effector_x", "elbow_xy_deflection_mid" (both in m),
 * "elbow_xy_slope_end" or "elbow_torsion_mid" (both in rad). elastic_column_what tells the unit. */
void elastic_column_name(const sim_system_t *arm, uint32_t column, char *out, size_t size);
void elastic_column_values(const sim_system_t *arm, const double *q, double *out);

#endif

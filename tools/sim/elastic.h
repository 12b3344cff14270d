/*
 * An arm with elastic links for the simulation: wraps the double kernels in the interface of
 * tools/sim/sim.h. The coordinates are Theta (dyn/model/flex_model.h). A motion prescribes the
 * joints only; its torques are those of the quasi-static deflection, which the firmware feeds
 * forward too.
 */
#ifndef TOOLS_SIM_ELASTIC_H
#define TOOLS_SIM_ELASTIC_H

#include "dyn/model/flex_model.h"
#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

/* *status is a dyn_status_t or SIM_E_MEMORY; returns NULL unless it is DYN_OK. `robot` must outlive
 * the arm. */
sim_system_t *elastic_make(const robot_t *robot, const dyn_flex_model_t *flex, int *status);
void elastic_free(sim_system_t *arm);

/* Reads the joint positions in q and fills in the mode amplitudes of the arm at rest under
 * gravity. */
void elastic_settle(sim_system_t *arm, double *q);

/*
 * The columns that describe how the arm is bent, as in Figs 4 to 15 of paper 004: the position of
 * the end effector; then, for each plane in which a link bends, deflection and slope in its middle
 * and at its end; and the torsion of the link at both places.
 */
enum { ELASTIC_COLUMNS_MAX = 3 + 10 * DYN_FLEX_MAX_JOINTS };
typedef enum {
    ELASTIC_EFFECTOR,
    ELASTIC_DEFLECTION,
    ELASTIC_SLOPE,
    ELASTIC_TORSION
} elastic_what_t;
/* "xy", "xz", "torsion". */
extern const char *const elastic_kind_name[DYN_FLEX_KINDS];
uint32_t elastic_columns(const sim_system_t *arm);
elastic_what_t elastic_column_what(const sim_system_t *arm, uint32_t column);
/* "effector_x" in m, "elbow_xy_deflection_mid" in m, "elbow_xy_slope_end" and
 * "elbow_torsion_mid" in rad. */
void elastic_column_name(const sim_system_t *arm, uint32_t column, char *out, size_t size);
void elastic_column_values(const sim_system_t *arm, const double *q, double *out);

#endif

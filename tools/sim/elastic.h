/*
 * An arm with elastic links for the simulation: the kernels in double behind the interface of
 * tools/sim/sim.h. Its coordinates are Theta (dyn/model/flex_model.h). A motion is one of the
 * joints: its torques are those of the quasi-static deflection, as the firmware feeds them forward.
 */
#ifndef TOOLS_SIM_ELASTIC_H
#define TOOLS_SIM_ELASTIC_H

#include "dyn/model/flex_model.h"
#include "tools/robot/robot.h"
#include "tools/sim/sim.h"

/* *status is a dyn_status_t or SIM_E_MEMORY; NULL where that is not DYN_OK. `robot` must stay. */
sim_system_t *elastic_make(const robot_t *robot, const dyn_flex_model_t *flex, int *status);
void elastic_free(sim_system_t *arm);

/* Where the arm hangs without motion: fills in the amplitudes of the modes beside the joints. */
void elastic_settle(sim_system_t *arm, double *q);

/*
 * How the arm is bent, as Figs 4 to 15 of paper 004 show it: the end effector's place, then for
 * each plane in which a link bends deflection and slope in its middle and at its end, and its
 * torsion there.
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

/* What is left of the simulation of an arm with elastic links, beside tools/sim/output/output.h. */
#ifndef TOOLS_SIM_OUTPUT_OUTPUT_BENT_H
#define TOOLS_SIM_OUTPUT_OUTPUT_BENT_H

#include "dyn/model/flex_model.h"
#include "tools/sim/output/output.h"

/* The coordinates by name: "elbow", "elbow.xy1". */
void output_elastic_names(output_names_t *names, const robot_t *robot,
                          const dyn_flex_model_t *flex);

/* The columns of a run (tools/sim/elastic.h) as CSV, and as a plot: joint angles, end effector,
 * deflections, slopes, torsion. EXIT_YES, or EXIT_BAD after saying why not. */
int output_bent_csv(const sim_system_t *arm, const sim_record_t *record, const char *path);
int output_bent_plot(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path);

#endif

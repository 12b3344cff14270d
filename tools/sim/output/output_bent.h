/* Output for arms with elastic links, in addition to tools/sim/output/output.h. */
#ifndef TOOLS_SIM_OUTPUT_OUTPUT_BENT_H
#define TOOLS_SIM_OUTPUT_OUTPUT_BENT_H

#include "dyn/model/flex_model.h"
#include "tools/sim/output/output.h"

/* Names the coordinates: "elbow" for a joint, "elbow.xy1" for a mode. */
void output_elastic_names(output_names_t *names, const robot_t *robot,
                          const dyn_flex_model_t *flex);

/*
 * These write the columns of tools/sim/elastic.h for a run as CSV, or plot joint angles, end
 * effector, deflections, slopes and torsion. They return EXIT_YES, or EXIT_BAD after printing the
 * reason.
 */
int output_bent_csv(const sim_system_t *arm, const sim_record_t *record, const char *path);
int output_bent_plot(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path);

#endif

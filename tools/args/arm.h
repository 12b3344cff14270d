/* The arm that a command line names, with the options that change it. */
#ifndef TOOLS_ARGS_ARM_H
#define TOOLS_ARGS_ARM_H

#include "dyn/model/flex_model.h"
#include "tools/cli/command.h"
#include "tools/robot/robot.h"

/* Every command takes these. */
#define ARM_OPTIONS                                                                                \
    OPTION_TIP, OPTION_FREEZE, OPTION_PARALLEL, OPTION_LIMITS, OPTION_QUIET, OPTION_HELP

/*
 * Loads request->argument[0]. NULL after saying what is wrong; with `messages` not NULL everything
 * that the readers had to say is left there instead. To be freed by arm_free.
 */
robot_t *arm_load(const request_t *request, messages_t *messages);
void arm_free(robot_t *robot);

/* The same for commands that compute: --payload, --no-rotor, --no-friction. */
robot_t *arm_load_compute(const request_t *request);
/* Its links shall be elastic: they are, and --rigid is not given. */
bool arm_elastic(const request_t *request, const robot_t *robot);
/* The elastic side of it. EXIT_YES, or EXIT_BAD after saying what is wrong. */
int arm_flex(const request_t *request, const robot_t *robot, dyn_flex_model_t *flex);
/* Its beams are stiff from now on, in images too. */
void arm_stiffen(robot_t *robot);
/* For commands that know rigid links alone: elastic ones only if --rigid. */
robot_t *arm_load_rigid(const request_t *request);

/* Another gravity, in the base frame of the file. EXIT_YES, or EXIT_BAD after saying why not. */
int arm_set_gravity(const request_t *request, robot_t *robot, const double gravity[3]);

/* Every joint has a motor whose voltage can be computed: EXIT_YES, or EXIT_BAD after naming what is
 * missing. */
int arm_need_motors(const robot_t *robot);

#endif

/* Loads the arm that a command line names and applies the options that change it. */
#ifndef TOOLS_ARGS_ARM_H
#define TOOLS_ARGS_ARM_H

#include "dyn/model/flex_model.h"
#include "tools/cli/command.h"
#include "tools/robot/robot.h"

/* Options of every command that loads an arm. */
#define ARM_OPTIONS                                                                                \
    OPTION_TIP, OPTION_FREEZE, OPTION_PARALLEL, OPTION_LIMITS, OPTION_QUIET, OPTION_HELP

/*
 * Loads request->argument[0]. Returns NULL after printing what is wrong. With `messages` not NULL,
 * all messages of the readers go there instead. Free with arm_free.
 */
robot_t *arm_load(const request_t *request, messages_t *messages);
void arm_free(robot_t *robot);

/* The same for commands that compute; also applies --payload, --no-rotor and --no-friction. */
robot_t *arm_load_compute(const request_t *request);
/* True if the robot has elastic links and --rigid is not given. */
bool arm_elastic(const request_t *request, const robot_t *robot);
/* Makes the elastic part of the model. Returns EXIT_YES, or EXIT_BAD after printing what is
 * wrong. */
int arm_flex(const request_t *request, const robot_t *robot, dyn_flex_model_t *flex);
/* Makes the beams stiff from now on, in images too. */
void arm_stiffen(robot_t *robot);
/* For commands that support rigid links only: refuses elastic links unless --rigid is given. */
robot_t *arm_load_rigid(const request_t *request);

/* Changes gravity, given in the base frame of the file. Returns EXIT_YES, or EXIT_BAD after
 * printing the reason. */
int arm_set_gravity(const request_t *request, robot_t *robot, const double gravity[3]);

/* Checks that every joint has a motor whose voltage can be computed. Returns EXIT_YES, or EXIT_BAD
 * after printing what is missing. */
int arm_need_motors(const robot_t *robot);

#endif

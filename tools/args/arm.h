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
 * Loads the arm that request->argument[0] names. Returns NULL after printing what is wrong. If
 * `messages` is not NULL, the messages of the readers go there and are not printed. Free the arm
 * with arm_free.
 */
robot_t *arm_load(const request_t *request, messages_t *messages);
void arm_free(robot_t *robot);

/* Like arm_load, for commands that compute: also applies --payload, --no-rotor and --no-friction,
 * and refuses an arm that cannot exist. */
robot_t *arm_load_compute(const request_t *request);
/* True if the robot has elastic links and --rigid is not given. */
bool arm_elastic(const request_t *request, const robot_t *robot);
/* Makes the elastic part of the model. Returns EXIT_YES, or EXIT_BAD after printing what is
 * wrong. */
int arm_flex(const request_t *request, const robot_t *robot, dyn_flex_model_t *flex);
/* Makes the elastic beams rigid from now on, in robot images too. */
void arm_stiffen(robot_t *robot);
/* Like arm_load_compute, but refuses elastic links unless --rigid is given. */
robot_t *arm_load_rigid(const request_t *request);
/* The same; names may stand in place of numbers (robot_symbols_t), if symbols is not NULL. */
robot_t *arm_load_symbols(const request_t *request, robot_symbols_t *symbols);

/* Changes the gravity, which is given in the base frame of the file. Returns EXIT_YES, or EXIT_BAD
 * after printing the reason. */
int arm_set_gravity(const request_t *request, robot_t *robot, const double gravity[3]);

/* Checks that every joint has a motor whose voltage can be computed. Returns EXIT_YES, or EXIT_BAD
 * after printing what is missing. */
int arm_need_motors(const robot_t *robot);

#endif

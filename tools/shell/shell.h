/*
 * The interactive program `sim` of N. M. Swartz, "Arm Dynamics Simulation" (1982), with its
 * variables and commands. On a terminal it prompts, edits lines and continues after an error. From
 * a script or a pipe it reads the same lines, including the answers to its questions, and ends at
 * the first error.
 */
#ifndef TOOLS_SHELL_SHELL_H
#define TOOLS_SHELL_SHELL_H

#include "tools/cli/command.h"
#include "firmware/lab/methods.h"
#include "tools/robot/robot.h"

/* Runs the program and takes ownership of the robot. Returns an exit code. */
int shell_run(const request_t *request, robot_t *robot, method_id_t method);

#endif

/* Provokes faults on a board with a simulated arm, for `appell faults provoke`. */
#ifndef TOOLS_MOTION_FAULTS_H
#define TOOLS_MOTION_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/link/client.h"
#include "tools/robot/robot.h"

typedef void (*faults_print_t)(const char *line);

/*
 * Provokes one fault after the other, with the arm in the pose that gravity loads most and without
 * brakes, and writes the samples of each into the folder. Returns how many faults did not go as
 * expected, or -1 with client->error. *done counts those that went as expected.
 */
int faults_provoke(client_t *client, const robot_t *robot, const char *folder, faults_print_t print,
                   uint32_t *done);

#endif

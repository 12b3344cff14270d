/* Faults on purpose on a board with a simulated arm; `appell faults` uses it. */
#ifndef TOOLS_MOTION_FAULTS_H
#define TOOLS_MOTION_FAULTS_H

#include <stddef.h>
#include <stdint.h>

#include "tools/link/client.h"
#include "tools/robot/robot.h"

typedef void (*faults_say_t)(const char *line);

/* Provokes what can be provoked, one after the other, with the arm in the pose that gravity loads
 * most and without brakes; rows of each go to the folder. How many were not as expected, -1 with
 * client->error; *done: how many were. */
int faults_provoke(client_t *client, const robot_t *robot, const uint8_t *image, size_t size,
                   const char *folder, faults_say_t say, uint32_t *done);

#endif

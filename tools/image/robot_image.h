/* Converts robots to robot images (firmware/params/image.h) and back. */
#ifndef TOOLS_IMAGE_ROBOT_IMAGE_H
#define TOOLS_IMAGE_ROBOT_IMAGE_H

#include "firmware/params/image.h"
#include "tools/robot/robot.h"

/* Makes the bytes of the robot image; the caller frees them. Returns NULL with errors among the
 * messages. If q31 cannot be proved, a note says why. */
uint8_t *robot_image_make(const robot_t *robot, size_t *size, messages_t *messages);

/* Adds a note if the robot does not say what heat its motors stand, and an error for each gain that
 * is too large at the rate of the robot. Returns whether there is none. */
bool robot_image_drives(const robot_t *robot, messages_t *messages);

/* Reads a robot image; for robot_options_t.image_reader. */
int robot_image_read(const char *file, const uint8_t *bytes, size_t size,
                     const robot_options_t *options, robot_t *out, messages_t *messages);

#endif

/* Robots as robot images (firmware/params/image.h) and back. */
#ifndef TOOLS_IMAGE_ROBOT_IMAGE_H
#define TOOLS_IMAGE_ROBOT_IMAGE_H

#include "firmware/params/image.h"
#include "tools/robot/robot.h"

/*
 * The bytes of the robot's image, to be freed; NULL with errors among the messages. What keeps q31
 * from being proved is left there as a note.
 */
uint8_t *robot_image_make(const robot_t *robot, size_t *size, messages_t *messages);

/* A robot_reader_t. */
int robot_image_read(const char *file, const uint8_t *bytes, size_t size,
                     const robot_options_t *options, robot_t *out, messages_t *messages);

#endif

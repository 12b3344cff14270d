/* Functions of the writer that the reader of images uses to check that a robot gives the same
 * image. */
#ifndef TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H
#define TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H

#include "tools/image/robot_image.h"

/* Fills in everything except the sections. */
void robot_to_image(const robot_t *robot, image_t *image);
/* Makes the section FLEX; NULL with an error, or if the arm has none. It must live as long as the
 * image. */
uint8_t *robot_image_flex(const robot_t *robot, image_t *image, messages_t *messages);

#endif

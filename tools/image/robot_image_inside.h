/* What the reader of images needs of the writer, to find out whether a robot says the same. */
#ifndef TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H
#define TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H

#include "tools/image/robot_image.h"

/* All but the sections. */
void robot_to_image(const robot_t *robot, image_t *image);
/* The section FLEX; NULL with an error, and where the arm has none. Lives as the image does. */
uint8_t *robot_image_flex(const robot_t *robot, image_t *image, messages_t *messages);

#endif

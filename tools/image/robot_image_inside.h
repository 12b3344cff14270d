/* Functions of the writer of robot images. The reader uses them to check that a robot gives the
 * same image again. */
#ifndef TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H
#define TOOLS_IMAGE_ROBOT_IMAGE_INSIDE_H

#include "tools/image/robot_image.h"

/* Makes the section FLEX. Returns NULL with an error, or without one if the arm is rigid. The bytes
 * must live as long as the image. */
uint8_t *robot_image_flex(const robot_t *robot, image_t *image, messages_t *messages);
/* Makes the section THRM, if a joint says something about heat. Returns bytes that the caller frees
 * when the image is written. */
uint8_t *robot_image_thermal(const robot_t *robot, image_t *image);

#endif

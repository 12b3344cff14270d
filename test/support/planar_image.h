/* The robot image of a small arm: two links of 1 kg and 0.5 m that move in a plane. */
#ifndef TEST_SUPPORT_PLANAR_IMAGE_H
#define TEST_SUPPORT_PLANAR_IMAGE_H

#include "firmware/params/image.h"

/* Fills in everything but gravity and motors. The caller changes what it tests. */
void planar_image(image_t *image);
/* The same in a vertical plane, with geared motors and encoders at them. */
void planar_image_motors(image_t *image);

#endif

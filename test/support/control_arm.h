/* A PUMA 560 with motors as a robot image, for tests of the application on host and target. */
#ifndef TEST_SUPPORT_CONTROL_ARM_H
#define TEST_SUPPORT_CONTROL_ARM_H

#include <stddef.h>
#include <stdint.h>

enum { CONTROL_ARM_JOINTS = 6, CONTROL_ARM_ROOM = 6144 };

/* Returns the bytes of the image, valid until the next call. Without motors the arm is in torque
 * mode. */
const uint8_t *control_arm_image(size_t *size, int motors);

/* Gains of a critically damped PD of 5 Hz. */
extern const float control_arm_kp[CONTROL_ARM_JOINTS], control_arm_kd[CONTROL_ARM_JOINTS];

#endif

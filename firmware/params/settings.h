/* What the robot image says about a joint beside the dynamics. */
#ifndef FIRMWARE_PARAMS_SETTINGS_H
#define FIRMWARE_PARAMS_SETTINGS_H

#include <stdint.h>

/* What the image says about a joint beside the dynamics, SI; what it does not say is filled in. */
typedef struct {
    uint8_t prismatic;
    uint8_t motor;     /* there is one; else torque mode */
    uint8_t bounded;   /* there are position limits */
    int8_t unit;       /* q31: exponent of the unit of position */
    float position[2]; /* limits */
    float velocity, acceleration;
    float torque; /* limit; 0: none */
    float volt;   /* limit of the motor as the image has it; 0: none */
    float counts, sign, offset, ratio;
    float kp, kd;
    float home, home_position;
} settings_t;

#endif

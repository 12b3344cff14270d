/* Settings of a joint: all that the robot image says about it, apart from the dynamics. */
#ifndef FIRMWARE_PARAMS_SETTINGS_H
#define FIRMWARE_PARAMS_SETTINGS_H

#include <stdint.h>

enum { LASTING_ALL = UINT16_MAX, HEATING_PER_S = 64 };

/* Settings of a joint in SI units; defaults replace values that the image does not give. */
typedef struct {
    uint8_t prismatic : 1;
    uint8_t motor : 1;   /* the joint has a motor model; otherwise torque mode */
    uint8_t bounded : 1; /* the joint has position limits */
    uint8_t paced : 1;   /* the image gives a velocity limit; otherwise it is a default */
    int8_t unit;         /* q31: exponent of the unit of position */
    /* torque that the motor can give for ever, divided by the torque limit, in parts of
     * LASTING_ALL; 0: the image does not say it */
    uint16_t lasting;
    /* time for which the motor can give its torque limit, in 1 / HEATING_PER_S s; 0: the image does
     * not say it */
    uint16_t heating;
    uint16_t inertia;  /* the upper half of a float, rounded up: see firmware/params/gains.h */
    float position[2]; /* lower and upper limit */
    float velocity, acceleration;
    float torque; /* torque limit; 0: none */
    float volt;   /* voltage limit of the motor from the image; 0: none */
    float counts, sign, offset, ratio;
    float kp, kd;
    float home, home_position;
} settings_t;

#endif

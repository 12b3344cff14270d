/* The largest feedback gains with which a sampled loop can be stable. */
#ifndef FIRMWARE_PARAMS_GAINS_H
#define FIRMWARE_PARAMS_GAINS_H

#include "firmware/params/image.h"

typedef struct {
    float kp, kd;
} gains_t;

/* Returns a bound of the inertia (kg m^2 or kg) that a joint can have in any pose: the stretched
 * arm, with payload and rotor, and what viscous friction adds. */
float gains_inertia(const image_t *image, uint32_t joint);
/* Returns the gains that no loop at this rate can have with this inertia: larger ones are refused. */
gains_t gains_most(float inertia, float rate_hz);

#endif

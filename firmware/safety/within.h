/* Helpers of guards and stops, in the number type of the build. */
#ifndef FIRMWARE_SAFETY_WITHIN_H
#define FIRMWARE_SAFETY_WITHIN_H

#include "firmware/control/control.h"
#include "firmware/control/number.h"

/* Divides by 16, so that differences of differences do not overflow. */
INLINE real sixteenth(real a) {
    return real_half(real_half(real_half(real_half(a))));
}

/* Converts a position to that of the kernels, clamped to the proved range of a prismatic joint. */
INLINE real placed(const control_t *c, uint32_t i, real at) {
    const DYN_T(proved) *proved = &c->arm->joint[i].proved;
    const real q = gain_turn(c->joint[i].angle, at);
    const bool prismatic = c->arm->joint[i].prismatic;
    return prismatic && q < proved->low    ? proved->low
           : prismatic && q > proved->high ? proved->high
                                           : q;
}

#endif

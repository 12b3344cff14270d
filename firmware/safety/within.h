/* Helpers of guards and stops, in the number type of the build. */
#ifndef FIRMWARE_SAFETY_WITHIN_H
#define FIRMWARE_SAFETY_WITHIN_H

#include "firmware/control/control.h"
#include "firmware/control/number.h"
#include "firmware/params/parameters.h"

/* Divides by 16, so that differences of differences do not overflow. */
INLINE real sixteenth(real a) {
    return real_half(real_half(real_half(real_half(a))));
}

/* Returns the feedback divided by 16: the torque that PD adds to the model. With computed torque
 * the model contains the feedback, so this is the acceleration that the feedback commands; it has
 * the same sign and grows alike. */
INLINE real feedback(const control_t *c, const loop_t *s, uint32_t i) {
    const control_joint_t *j = &c->joint[i];
    if (c->feedback != FEEDBACK_COMPUTED_TORQUE)
        return real_sub(sixteenth(s->tau[i]), sixteenth(s->tau_model[i]));
    uint32_t beyond;
    return sixteenth(wide_fit(wide_add(gain_wide(j->kp, wide_sub(s->q_ref[i], s->q_hat[i])),
                                       gain_wide(j->kd, wide_sub(s->qd_ref[i], s->qd_hat[i]))),
                              &beyond));
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

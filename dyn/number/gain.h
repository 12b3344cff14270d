/* Operations of dyn/kernel/drive.c for constants that carry their own exponent. A factor that
 * converts between unlike quantities (volts from torque, speed relative to the friction width) is
 * large for one joint and small for the next. In q31 such a factor is a 31-bit mantissa and a
 * shift, and the product is kept in 64 bits until it has been clamped. In floats it is a plain
 * factor. */
#ifndef DYN_NUMBER_GAIN_H
#define DYN_NUMBER_GAIN_H

#include "dyn/number/real.h"

typedef DYN_T(gain) gain;
typedef DYN_T(drive) drive;

#ifndef wider
typedef real wider; /* a product that may be beyond the number format */
#endif

#ifndef gain_wide
INLINE wider gain_wide(gain g, real a) {
    return real_mul(g.k, a);
}
#endif

#ifndef wide_add
INLINE wider wide_add(wider a, wider b) {
    return real_add(a, b);
}
#endif

/* Clamps a to -limit .. limit. Sets *beyond to 1 if that changed the number, otherwise to 0. */
#ifndef wide_clamp
INLINE real wide_clamp(wider a, real limit, uint32_t *beyond) {
    *beyond = real_beyond(a, limit);
    return real_clamp(a, limit);
}
#endif

/* Clamps a to the number format. Sets *beyond to 1 if that changed the number, otherwise to 0. */
#ifndef wide_fit
INLINE real wide_fit(wider a, uint32_t *beyond) {
    *beyond = 0;
    return a;
}
#endif

/* Returns g a; the caller knows that the product fits the format. */
#ifndef gain_mul
INLINE real gain_mul(gain g, real a) {
    return real_mul(g.k, a);
}
#endif

/* Converts a constant of the model, for prepare.c. Returns false if the value does not fit. */
#ifndef gain_from_model
INLINE bool gain_from_model(double value, int exponent, gain *g) {
    g->cut = 0;
    return real_from_model(value, exponent, &g->k);
}
#endif

#endif

/* Operations of the control step on a number type, in addition to the vocabulary of the kernels:
 * integers, and angles that do not wrap. These are the defaults for floats; fixed point defines its
 * own. */
#ifndef FIRMWARE_CONTROL_NUMBER_H
#define FIRMWARE_CONTROL_NUMBER_H

#include "firmware/control/type.h"
#ifdef CONTROL_Q31
#include "dyn/number/real_q31.h"
#else
#include "dyn/number/real_f32.h"
#endif

#include "dyn/number/gain.h"

/* Converts a position that counts turns to the position that the kernels take. */
#ifndef gain_turn
#define gain_turn(g, a) ((void)(g), (a))
#endif

/* Returns g n for an integer n. */
#ifndef gain_count
#define gain_count(g, n) real_mul((g).k, (real)(n))
#endif

/* The same if the result may exceed the number format. */
#ifndef gain_count_wide
#define gain_count_wide(g, n) gain_count(g, n)
#endif

/* Returns a b, which may exceed the number format. */
#ifndef wide_mul
#define wide_mul(a, b) real_mul(a, b)
#endif

/* Returns a - b, which may exceed the number format. */
#ifndef wide_sub
#define wide_sub(a, b) real_sub(a, b)
#endif

/* Returns whether a - b > by, for by >= 0; a - b may exceed the number format. */
#ifndef real_exceeds
#define real_exceeds(a, b, by) ((a) - (b) > (by))
#endif

/* The distance by which rounding may carry a reference beyond a limit that it was planned to
 * reach. */
#ifndef real_slack
#define real_slack(limit) ((void)(limit), real_known(0))
#endif

/* Returns g a, rounded down to an integer. */
#ifndef gain_whole
INLINE int32_t gain_whole(gain g, real a) {
    const real x = real_mul(g.k, a);
    const int32_t whole = (int32_t)x;
    return whole - (x < (real)whole);
}
#endif

/* Converts a number in -1 .. 1 to Q15. */
#ifndef real_q15
#define real_q15(a) ((int32_t)((a) * (real)32767))
#endif

/* Returns the angle of the fraction u of a turn. */
#ifndef part_turn
#define part_turn(u) ((u) * (real)6.28318530717958647692)
#endif

/* Returns the SI value of a number in units of 2^exponent. */
#ifndef real_to_model
#define real_to_model(a, exponent) ((void)(exponent), (double)(a))
#endif

/* Returns a^2, in fixed point divided by 2^8, so that 32 squares of torques can be added; and the
 * root of the mean of 32 such squares from their sum. */
#ifndef real_square
#define REAL_SQUARE_EXPONENT 0
#define real_square(a)       real_mul(a, a)
#define real_root_mean(sum)  real_sqrt((sum) / 32)
#endif

#ifndef real_half
#define real_half(a) ((a) * (real)0.5)
#endif

INLINE real real_twice(real a) {
    return real_add(a, a);
}

INLINE real real_size(real a) {
    return a < 0 ? real_neg(a) : a;
}

#endif

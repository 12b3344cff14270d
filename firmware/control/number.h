/* What the control step needs of a number type beside the vocabulary of the kernels: whole numbers,
 * and angles that do not wrap. The defaults are for floats; a fixed-point type owns them. */
#ifndef FIRMWARE_CONTROL_NUMBER_H
#define FIRMWARE_CONTROL_NUMBER_H

#include "firmware/control/type.h"
#ifdef CONTROL_Q31
#include "dyn/number/real_q31.h"
#else
#include "dyn/number/real_f32.h"
#endif

#include "dyn/number/gain.h"

/* A position, which counts turns, as the kernels take it. */
#ifndef gain_turn
#define gain_turn(g, a) ((void)(g), (a))
#endif

/* g n of a whole number n. */
#ifndef gain_count
#define gain_count(g, n) real_mul((g).k, (real)(n))
#endif

/* The same where it may be beyond the number format. */
#ifndef gain_count_wide
#define gain_count_wide(g, n) gain_count(g, n)
#endif

/* a b, likewise. */
#ifndef wide_mul
#define wide_mul(a, b) real_mul(a, b)
#endif

/* a - b, likewise. */
#ifndef wide_sub
#define wide_sub(a, b) real_sub(a, b)
#endif

/* a - b > by, which is not negative, likewise. */
#ifndef real_exceeds
#define real_exceeds(a, b, by) ((a) - (b) > (by))
#endif

/* By how much rounding may take a reference beyond a limit that it was planned to reach. */
#ifndef real_slack
#define real_slack(limit) ((void)(limit), real_known(0))
#endif

/* g a rounded down to a whole number. */
#ifndef gain_whole
INLINE int32_t gain_whole(gain g, real a) {
    const real x = real_mul(g.k, a);
    const int32_t whole = (int32_t)x;
    return whole - (x < (real)whole);
}
#endif

/* A number of -1 .. 1 as Q15. */
#ifndef real_q15
#define real_q15(a) ((int32_t)((a) * (real)32767))
#endif

/* The angle that is this part of a turn. */
#ifndef part_turn
#define part_turn(u) ((u) * (real)6.28318530717958647692)
#endif

/* The SI value of a number in units of 2^exponent. */
#ifndef real_to_model
#define real_to_model(a, exponent) ((void)(exponent), (double)(a))
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

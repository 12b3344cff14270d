/* Vocabulary of the solvers: scaling by powers of two for a number format without an exponent. A
 * float carries its own exponent, and scaling changes no bit of its Cholesky or UDU^T
 * factorisation, so the default is to do nothing. A backend that needs scaling defines the
 * operations. */
#ifndef DYN_NUMBER_SCALE_H
#define DYN_NUMBER_SCALE_H

#include "dyn/number/real.h"

/* Returns the number of bits by which a positive number must be shifted left to be in [2, 4);
 * negative if it must be shifted right. */
#ifndef real_headroom
INLINE int real_headroom(real a) {
    (void)a;
    return 0;
}
#endif

/* Returns a 2^left; the caller knows that the result fits the format. */
#ifndef real_scale
INLINE real real_scale(real a, int left) {
    (void)left;
    return a;
}
#endif

/* The same, clamped to the format. */
#ifndef real_scale_clamped
INLINE real real_scale_clamped(real a, int left) {
    (void)left;
    return a;
}
#endif

/* 1 / sqrt(a) */
#ifndef real_recip_sqrt
INLINE real real_recip_sqrt(real a) {
    return real_recip(real_sqrt(a));
}
#endif

/* real_least computes the threshold that a pivot must exceed to be more than rounding error, from
 * the original diagonal element. pivot_see_above records a pivot as bad if it does not exceed the
 * threshold, in fixed point if it is 2^-bits or less. */
#ifndef real_least
INLINE real real_least(real diagonal) {
    (void)diagonal;
    return real_known(0);
}
#endif

#ifndef pivot_see_above
INLINE pivot pivot_see_above(pivot p, real d, real least, int bits) {
    (void)least;
    (void)bits;
    return pivot_see(p, d);
}
#endif

#endif

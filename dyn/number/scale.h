/* Vocabulary of the solvers: scaling by powers of two for a number format without an exponent. A
 * float carries its exponent itself and neither Cholesky's nor the UDU^T factorisation is changed
 * by it in a single bit, so that the default is to do nothing; a backend that needs it owns the
 * operations. */
#ifndef DYN_NUMBER_SCALE_H
#define DYN_NUMBER_SCALE_H

#include "dyn/number/real.h"

/* By how many bits a positive number may grow to be in [2, 4). Less than zero where it must shrink.
 */
#ifndef real_headroom
INLINE int real_headroom(real a) {
    (void)a;
    return 0;
}
#endif

/* a 2^left, where that is known to be a number of the format. */
#ifndef real_scale
INLINE real real_scale(real a, int left) {
    (void)left;
    return a;
}
#endif

/* The same, at the largest or smallest number where it is not. */
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

/* What a pivot must exceed to be more than rounding, from the diagonal element as it came, and the
 * status that looks at it. In a format that ends, a pivot below 2^-bits is none either. */
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

/* The number operations of f64, for kernels. */
#ifndef DYN_NUMBER_REAL_F64_H
#define DYN_NUMBER_REAL_F64_H

#include "dyn/number/f64.h"
#include "dyn/number/trig.h"

#define DYN_REAL      f64
#define REAL_ROUNDING 0x1p-53
#include "dyn/number/real_float.inc"

#define real_sincos(q, offset, cosine, sine) dyn_sincos_f64((q) + (offset), cosine, sine)

INLINE real real_recip(real a) {
    return 1.0 / a;
}

INLINE real real_sqrt(real a) {
    return sqrt(a);
}

#include "dyn/number/vec.inc"

#endif

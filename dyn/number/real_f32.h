/* The number operations of f32, for kernels. */
#ifndef DYN_NUMBER_REAL_F32_H
#define DYN_NUMBER_REAL_F32_H

#include "dyn/number/f32.h"
#include "dyn/number/trig.h"

/* real_clamp compares the bits of the magnitude, because a comparison of floats makes branches on a
 * Cortex-M4. It clamps NaN too. */
typedef union {
    float f;
    uint32_t u;
} f32_bits;

static inline __attribute__((always_inline, unused)) float f32_clamp(float a, float limit) {
    const f32_bits x = {.f = a}, l = {.f = limit};
    const uint32_t size = x.u & 0x7FFFFFFFu;
    return (f32_bits){.u = (size < l.u ? size : l.u) | (x.u & 0x80000000u)}.f;
}

static inline __attribute__((always_inline, unused)) uint32_t f32_beyond(float a, float limit) {
    const f32_bits x = {.f = a}, l = {.f = limit};
    return (x.u & 0x7FFFFFFFu) > l.u;
}
#define real_clamp  f32_clamp
#define real_beyond f32_beyond

#define DYN_REAL      f32
#define REAL_ROUNDING 0x1p-24f
#include "dyn/number/real_float.inc"

#define real_sincos(q, offset, cosine, sine) dyn_sincos_f32((q) + (offset), cosine, sine)

INLINE real real_recip(real a) {
    return 1.0f / a;
}

INLINE real real_sqrt(real a) {
    return sqrtf(a);
}

#include "dyn/number/vec.inc"

#endif

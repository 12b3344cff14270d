/* The interface of the f32 backend for callers: numbers are float, SI units, angles in radians. */
#ifndef DYN_NUMBER_F32_H
#define DYN_NUMBER_F32_H

typedef float dyn_real_f32_t;

#define DYN_REAL f32
#include "dyn/number/arm.inc"
#undef DYN_REAL

#endif

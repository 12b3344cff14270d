/* The interface of the f64 backend for callers: numbers are double, SI units, angles in radians. */
#ifndef DYN_NUMBER_F64_H
#define DYN_NUMBER_F64_H

typedef double dyn_real_f64_t;

#define DYN_REAL f64
#include "dyn/number/arm.inc"
#undef DYN_REAL

#endif

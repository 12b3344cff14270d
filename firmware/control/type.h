/*
 * The number type of this build of the core, and the sizes that a small board may reduce. One
 * program has one type: f32, or q31 if the build defines CONTROL_Q31.
 *
 * Positions are radians or metres with a sign and do not wrap. In q31 they have 28 fractional bits
 * of a unit 2^position that covers the limits of the joint. Speeds, accelerations, torques and
 * volts are in the units of the kernels (dyn_q31_exponents).
 */
#ifndef FIRMWARE_CONTROL_TYPE_H
#define FIRMWARE_CONTROL_TYPE_H

#include "dyn/number/f32.h"
#include "dyn/number/q31.h"

#ifdef CONTROL_Q31
#define CONTROL_FLOATS     false
#define CONTROL_REAL_NAME  "q31"
#define CONTROL_TYPE(name) dyn_##name##_q31_t
#else
#define CONTROL_FLOATS     true /* floats represent any value; fixed point only the proved range */
#define CONTROL_REAL_NAME  "f32"
#define CONTROL_TYPE(name) dyn_##name##_f32_t
#endif

typedef CONTROL_TYPE(real) real_t;
typedef CONTROL_TYPE(gain) gain_t; /* a factor with its own exponent */
typedef CONTROL_TYPE(arm) arm_t;   /* an arm prepared for the kernels */
typedef CONTROL_TYPE(drive) drive_t;
typedef CONTROL_TYPE(flex) flex_t; /* elastic links of an arm */
typedef CONTROL_TYPE(fast_scratch) fast_scratch_t;
typedef CONTROL_TYPE(flex_static_scratch) flex_static_scratch_t;

/* Sizes that a small board may reduce. */
#ifndef APP_SAMPLES
#define APP_SAMPLES 16 /* ring of samples between interrupt and background */
#endif
#ifndef APP_POINTS
#define APP_POINTS 32 /* points of a streamed motion that the board can hold; a power of two */
#endif
#ifndef APP_CONTROLS
#define APP_CONTROLS 2 /* sets of constants; 1: parameters change only while the outputs are off */
#endif
#ifndef APP_ARMS
#define APP_ARMS 3 /* prepared arms in RAM; 0: the arm is used in place, in flash */
#endif

#ifndef APP_SENSORS
#define APP_SENSORS 1 /* 0: the sensor guard finds only encoders that jump */
#endif

#ifndef APP_FLEX
#define APP_FLEX 1 /* 0: no elastic links and no memory for them */
#endif

#endif

/* Evaluates rows in fixed point with the kernels of the board. */
#include "firmware/lab/batch.h"

#include "dyn/number/real_q31.h"

#define REAL_IN(value, exponent)  dyn_q31_from(value, exponent)
#define REAL_OUT(value, exponent) dyn_q31_to(value, exponent)
#define ANGLE_IN(rad)             dyn_q31_angle(rad)
#ifdef BATCH_HAS_Q31
#define BATCH_HAS
#endif
#define BATCH_TYPE batch_q31
#include "firmware/lab/batch_type.inc"

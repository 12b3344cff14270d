/* Evaluates rows in single precision with the kernels of the board. */
#include "firmware/lab/batch.h"

#include "dyn/number/real_f32.h"

#define REAL_IN(value, exponent)  ((void)(exponent), (float)(value))
#define REAL_OUT(value, exponent) ((void)(exponent), (double)(value))
#define ANGLE_IN(rad)             ((float)(rad))
#ifdef BATCH_HAS_F32
#define BATCH_HAS
#endif
#define BATCH_TYPE batch_f32
#include "firmware/lab/batch_type.inc"

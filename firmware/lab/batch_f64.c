/* Evaluates rows in double precision with the kernels of the board. */
#include "firmware/lab/batch.h"

#include "dyn/number/real_f64.h"

#define REAL_IN(value, exponent)  ((void)(exponent), (value))
#define REAL_OUT(value, exponent) ((void)(exponent), (value))
#define ANGLE_IN(rad)             (rad)
#ifdef BATCH_HAS_F64
#define BATCH_HAS
#endif
#define BATCH_TYPE batch_f64
#include "firmware/lab/batch_type.inc"

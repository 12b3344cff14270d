/* Rows in double precision, by the kernels of the board. */
#include "firmware/lab/batch.h"

#include "dyn/number/real_f64.h"

#define REAL_IN(value, exponent)  ((void)(exponent), (value))
#define REAL_OUT(value, exponent) ((void)(exponent), (value))
#define ANGLE_IN(rad)             (rad)
#ifdef ROWS_HAS_F64
#define ROWS_HAS
#endif
#define ROWS_TYPE rows_f64
#include "firmware/lab/batch_type.inc"

/* Evaluates rows in double precision. */
#include "tools/eval/eval.h"

#include "dyn/number/real_f64.h"

#define REAL_IN(value, exponent)     ((void)(exponent), (value))
#define REAL_OUT(value, exponent)    ((void)(exponent), (value))
#define ANGLE_IN(rad)                (rad)
#define BATCH_BEGIN()                ((void)0)
#define BATCH_OVERFLOWS()            0
#define EVAL_FIXED                   false
#define EVAL_GEN_REAL                GEN_F64
#define EVAL_GENERATED(gen, in, out) eval_gen_f64(gen, in, out)
#define EVAL_TYPE                    eval_f64
#define EVAL_TYPE_NAME               "f64"
#define EVAL_DIGITS                  17

#include "tools/eval/eval_body.inc"

/* Evaluates rows in single precision, as a board with an FPU computes them. */
#include "tools/eval/eval.h"

#include "dyn/number/real_f32.h"

#define REAL_IN(value, exponent)     ((void)(exponent), (float)(value))
#define REAL_OUT(value, exponent)    ((void)(exponent), (double)(value))
#define ANGLE_IN(rad)                ((float)(rad))
#define BATCH_BEGIN()                ((void)0)
#define BATCH_OVERFLOWS()            0
#define EVAL_FIXED                   false
#define EVAL_GEN_REAL                GEN_F32
#define EVAL_GENERATED(gen, in, out) eval_gen_f32(gen, in, out)
#define EVAL_TYPE                    eval_f32
#define EVAL_TYPE_NAME               "f32"
#define EVAL_DIGITS                  9

#include "tools/eval/eval_body.inc"

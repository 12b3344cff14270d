/*
 * Evaluates rows in fixed point. The checked variant of q31 computes them bit for bit like q31.
 * Inverse dynamics is proved not to overflow within the limits; forward dynamics and the torques of
 * a wrench are not.
 */
#include "tools/eval/eval.h"

#include "tools/proof/real_check.h"

#define REAL_IN(value, exponent)     dyn_q31_from(value, exponent)
#define REAL_OUT(value, exponent)    dyn_q31_to(value, exponent)
#define ANGLE_IN(rad)                dyn_q31_angle(rad)
#define BATCH_BEGIN()                check_begin(false)
#define BATCH_OVERFLOWS()            check_overflows()
#define EVAL_FIXED                   true
#define EVAL_GEN_REAL                GEN_Q31
#define EVAL_GENERATED(gen, in, out) eval_gen_q31(gen, in, out)
#define EVAL_TYPE                    eval_q31
#define EVAL_TYPE_NAME               "q31"
#define EVAL_DIGITS                  9

#include "tools/eval/eval_body.inc"

/* Evaluates rows of elastic arms in single precision. */
#include "tools/eval/eval_elastic.h"

#include "dyn/number/real_f32.h"

#define ELASTIC_TYPE   eval_elastic_f32
#define ELASTIC_NAME   "f32"
#define ELASTIC_DIGITS 9

#include "tools/eval/eval_elastic_body.inc"

/* Evaluates rows of elastic arms in double precision. */
#include "tools/eval/eval_elastic.h"

#include "dyn/number/real_f64.h"

#define ELASTIC_TYPE   eval_elastic_f64
#define ELASTIC_NAME   "f64"
#define ELASTIC_DIGITS 17

#include "tools/eval/eval_elastic_body.inc"

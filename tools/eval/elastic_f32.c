/* Rows of elastic arms in single precision. */
#include "tools/eval/elastic.h"

#include "dyn/number/real_f32.h"

#define ELASTIC_TYPE   elastic_f32
#define ELASTIC_NAME   "f32"
#define ELASTIC_DIGITS 9

#include "tools/eval/elastic_body.inc"

/* Rows of elastic arms in single precision. */
#include "tools/appell/elastic.h"

#include "dyn/real_f32.h"

#define ELASTIC_TYPE   elastic_f32
#define ELASTIC_NAME   "f32"
#define ELASTIC_DIGITS 9

#include "tools/appell/elastic_body.h"

/* Rows of elastic arms in double precision. */
#include "tools/appell/elastic.h"

#include "dyn/real_f64.h"

#define ELASTIC_TYPE   elastic_f64
#define ELASTIC_NAME   "f64"
#define ELASTIC_DIGITS 17

#include "tools/appell/elastic_body.h"

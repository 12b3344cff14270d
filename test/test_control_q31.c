/* The application in fixed point, on the host under the sanitizers: the cases of test_control.c. */
#define CONTROL_REAL q31
#define CONTROL_H    "firmware/core/q31.h"
#include "test/test_control.c"

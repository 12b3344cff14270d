/* The tick in the middle of everything in fixed point: the cases of test_preempt.c. */
#define CONTROL_REAL q31
#define CONTROL_H    "firmware/core/q31.h"
#include "test/test_preempt.c"

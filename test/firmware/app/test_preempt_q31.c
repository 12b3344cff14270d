/* The cases of test_preempt.c in fixed point. */
#include "test/firmware/app/test_preempt.c"

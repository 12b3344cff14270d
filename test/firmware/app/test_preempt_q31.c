/* The tick in the middle of everything in fixed point: the cases of test_preempt.c. */
#include "test/firmware/app/test_preempt.c"

/* The cases of test_thermal.c in fixed point. */
#include "test/firmware/safety/test_thermal.c"

/* The cases of test_effort.c in fixed point. */
#include "test/firmware/safety/test_effort.c"

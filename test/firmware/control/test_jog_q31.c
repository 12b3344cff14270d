/* The cases of test_jog.c in fixed point, under the sanitizers. */
#include "test/firmware/control/test_jog.c"

/* The cases of test_control.c in fixed point, on the host under the sanitizers. */
#include "test/firmware/control/test_control.c"

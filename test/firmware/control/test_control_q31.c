/* The application in fixed point, on the host under the sanitizers: the cases of test_control.c. */
#include "test/firmware/control/test_control.c"

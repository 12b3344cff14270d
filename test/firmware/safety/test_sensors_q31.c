/* The cases of test_sensors.c in fixed point. */
#include "test/firmware/safety/test_sensors.c"

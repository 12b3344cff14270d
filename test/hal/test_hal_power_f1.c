/* The tests of the supply monitor with the registers of the F100. */
#include "test/hal/test_hal_power.c"

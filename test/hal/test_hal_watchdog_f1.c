/* The tests of the watchdog with the registers and the oscillator of the F100. */
#include "test/hal/test_hal_watchdog.c"

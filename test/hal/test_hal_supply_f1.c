/* The supply test, compiled for the F1 (test/hal_tests.mk). */
#include "test/hal/test_hal_supply.c"

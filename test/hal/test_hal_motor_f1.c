/* The motor test, compiled for the F1 (test/list.mk). */
#include "test/hal/test_hal_motor.c"

/* The encoder test, compiled for the F1 with one chip on the bus (test/list.mk). */
#include "test/hal/test_hal_encoder.c"

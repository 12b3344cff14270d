# Tests of the denoc kernels.
TEST_SRC_dyn_denoc  := test/dyn_arms.c test/dyn_forward.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_LIBS_dyn_denoc := -lcjson

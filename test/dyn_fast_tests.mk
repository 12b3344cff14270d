# Tests of the methods `ga` and `fast`.
TEST_SRC_dyn_ga    := test/dyn_arms.c test/dyn_forward.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_LIBS_dyn_ga   := -lcjson
TEST_SRC_dyn_fast  := test/dyn_arms.c test/dyn_forward.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_LIBS_dyn_fast := -lcjson

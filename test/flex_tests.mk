# Tests of elastic links. Those on the host share the readers' archive (test/robot_tests.mk).
TESTS_HOST += flex flex_motion flex_backends robot_modes
TEST_SRC_flex_backends := test/flex_arms.c test/dyn_arms.c
# Elastic links are for control loops in floats.
TESTS_HOST += $(if $(filter q31,$(CONTROL_REAL)),flex_control)
TEST_SRC_flex_control := test/flex_arms.c
FLEX_TEST_LIBS = $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS) -lcjson
TEST_SRC_robot_modes  := test/flex_arms.c
TEST_LIBS_robot_modes  = $(FLEX_TEST_LIBS)
TEST_SRC_flex         := test/flex_arms.c test/flex_reference.c test/dyn_arms.c
TEST_LIBS_flex         = $(FLEX_TEST_LIBS)
TEST_SRC_flex_motion  := test/flex_arms.c test/flex_reference.c test/dyn_arms.c
TEST_LIBS_flex_motion  = $(FLEX_TEST_LIBS)
ifeq ($(BOARD),host)
$(addprefix $(OUT)/test/test_,flex flex_motion robot_modes): $(OUT)/test/librobot.a
endif

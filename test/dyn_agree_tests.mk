# What the tests of drives, kinematics, wrench and of all methods together link.
TESTS_HOST   += dyn_agree
TESTS_TARGET += dyn_constant
DYN_REFERENCE := test/dyn_arms.c $(if $(filter host,$(BOARD)),test/reference.c)
TEST_SRC_dyn_drive       := $(DYN_REFERENCE)
TEST_SRC_dyn_kinematics  := $(DYN_REFERENCE)
TEST_SRC_dyn_wrench      := $(DYN_REFERENCE)
TEST_SRC_dyn_agree       := $(DYN_REFERENCE) test/dyn_forward.c
TEST_SRC_dyn_constant    := test/dyn_arms.c
TEST_LIBS_dyn_drive      := -lcjson
TEST_LIBS_dyn_kinematics := -lcjson
TEST_LIBS_dyn_wrench     := -lcjson
TEST_LIBS_dyn_agree      := -lcjson

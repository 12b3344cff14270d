# Host tests of the readers of robot descriptions (tools/robot). They share one sanitized archive: ten
# tests with twelve sources each would be compiled ten times.
include tools/robot/robot.mk

ROBOT_TESTS    := golden urdf parts bad save check load fuzz_yaml fuzz_urdf fuzz_parts
ROBOT_TEST_LIB := $(OUT)/test/librobot.a

$(foreach t,yaml urdf parts,$(eval TEST_SRC_robot_fuzz_$t := test/fuzz_robot_$t.c test/fuzz_driver.c))
# In this order: the readers need the dynamics.
$(foreach t,$(ROBOT_TESTS),$(eval TEST_LIBS_robot_$t := $(ROBOT_TEST_LIB) $(OUT)/libdyn.a $(ROBOT_LIBS)))
TEST_LIBS_robot_golden += -lcjson
TESTS_HOST += $(addprefix robot_,$(ROBOT_TESTS))

ifeq ($(BOARD),host)
ROBOT_TEST_OBJ := $(patsubst %.c,$(OUT)/test/robot/%.o,$(ROBOT_SRC) test/robot_help.c)

$(ROBOT_TESTS:%=$(OUT)/test/test_robot_%): $(ROBOT_TEST_LIB)

$(ROBOT_TEST_LIB): $(ROBOT_TEST_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(ROBOT_TEST_OBJ): $(OUT)/test/robot/%.o: %.c tools/robot/robot.mk build/deps/paths.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $(UNITY_FLAGS) -c $< -o $@
endif

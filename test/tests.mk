# How tests are built and listed for tools/dev/runtests.py; the list itself is test/list.mk. A test is
# test/**/test_<name>.c, in the folder of what it tests; by default it runs on the host and on every emulated board.
#   TESTS_HOST, TESTS_TARGET   tests that run only on the host, and only on boards
#   TEST_SRC_<name>            further sources of a test
#   TEST_DEFS_<name>           its defines
#   TEST_WITH_<name>           another test with defines, whose objects it shares (host)
#   TEST_LIBS_<name>           its libraries (host)
#   TEST_REAL_<name>           q31: the core in that number type (host)
#   BOARD_TESTS                (board.mk) the only tests that a board runs, for one that is small; - for none
# A script test/**/test_<name>.py or .sh runs on the host, with programs that may be for boards:
#   SCRIPT_BOARDS_<name>       the machines whose programs it runs; default: the boards that the script names
#   SCRIPT_BIN_<name>          the programs that it runs; default: the firmware
#   SCRIPT_PARTS_<name>        number of parallel jobs for its tests (test/support/script_frame.py)

include tools/robot/robot.mk
include tools/sim/sim.mk
ROBOT_TEST_LIB := $(OUT)/test/librobot.a
include test/list.mk

TEST_FILES   := $(wildcard test/*/test_*.c test/*/*/test_*.c)
TESTS_ALL    := $(patsubst test_%.c,%,$(notdir $(TEST_FILES)))
TEST_SCRIPTS := $(wildcard test/*/test_*.sh test/*/test_*.py test/*/*/test_*.py)
test_file     = $(filter %/test_$1.c,$(TEST_FILES))

# `make test` alone runs everything. TEST= selects tests; BOARD= on the command line selects machines.
TEST_BOARDS := $(if $(filter command line,$(origin BOARD)),$(BOARD),host $(QEMU_BOARDS))

ifeq ($(BOARD),host)
TESTS := $(filter-out $(TESTS_TARGET),$(TESTS_ALL))
else
TESTS := $(filter-out -,$(or $(BOARD_TESTS),$(filter-out $(TESTS_HOST),$(TESTS_ALL))))
endif
TESTS := $(if $(TEST),$(filter $(TEST),$(TESTS)),$(TESTS))
SCRIPTS := $(if $(TEST),$(foreach t,$(TEST),$(filter %/test_$(t).sh %/test_$(t).py,$(TEST_SCRIPTS))),$(TEST_SCRIPTS))
SCRIPTS := $(filter-out $(if $(MEASURE),%/test_pages.py),$(SCRIPTS))
SCRIPT_NAMES := $(patsubst test_%,%,$(basename $(notdir $(SCRIPTS))))
TEST_SPACE   := $(subst ,, )
script_boards = $(if $(filter undefined,$(origin SCRIPT_BOARDS_$1)),$(sort $(shell grep -ohE \
    '$(subst $(TEST_SPACE),|,$(QEMU_BOARDS))' $(filter %/test_$1.py %/test_$1.sh,$(TEST_SCRIPTS)))),$(SCRIPT_BOARDS_$1))
# The other machines whose programs the chosen scripts run; a separate make builds each.
SCRIPT_BOARDS = $(if $(filter host,$(TEST_BOARDS)),$(filter-out host,$(sort $(foreach s,$(SCRIPT_NAMES),$(call script_boards,$s)))))
# The programs of this machine that the chosen scripts run. Both variables are expanded late, because the bench defines its
# programs after this file.
SCRIPT_BIN = $(sort $(filter-out $(NO_LAB),$(foreach s,$(SCRIPT_NAMES),$(if $(filter $(BOARD),$(call script_boards,$s)),$(or $(SCRIPT_BIN_$s),$(FIRMWARE))))))
# Scripts run only the product of a board without tests; its laboratory would cost a minute.
NO_LAB = $(if $(and $(LAB),$(filter -,$(BOARD_TESTS))),$(FIRMWARE))

FRAME_SRC := test/support/harness.c $(UNITY_SRC)/unity.c
TEST_OUT  := $(OUT)/test

ifeq ($(BOARD),host)
TEST_BIN := $(TESTS:%=$(TEST_OUT)/test_%)
job = host|test_$1|$(TEST_OUT)/test_$1

# A test with defines has separate objects, because the drivers are compiled differently for it; all other tests
# of one number type share theirs, and the harness.
HOST_OBJ = $(patsubst %.c,$(TEST_OUT)/$(or $(TEST_WITH_$1),$(if $(TEST_DEFS_$1),$1,$(or $(TEST_REAL_$1),common)))/%.o,$(call test_file,$1) $(TEST_SRC_$1)) \
           $(patsubst %.c,$(TEST_OUT)/common/%.o,$(FRAME_SRC))
# This file changes when the long tests are switched on or off; every test depends on it.
$(TEST_OUT)/long: always
	@mkdir -p $(@D)
	@echo '$(LONG)' | cmp -s - $@ || echo '$(LONG)' > $@
define host_objects
$(TEST_OUT)/$1/%.o: %.c $(COMPILED) $(TEST_OUT)/long
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(HOSTCC) $$(HOST_CFLAGS) $(UNITY_FLAGS) $2 $(if $(LONG),-DTEST_LONG) -c $$< -o $$@
endef
define host_test
$(TEST_OUT)/test_$1: $(call HOST_OBJ,$1) $(if $(TEST_REAL_$1),$(CORE_LIB_$(TEST_REAL_$1)),$(CORE_LIB)) $(DYN_HOST_LIB)
	$$(call say,LINK,$$@)
	$$(Q)$(HOSTCC) $(HOST_CFLAGS) $$^ $(TEST_LIBS_$1) -lm -o $$@
endef
$(eval $(call host_objects,common,))
$(eval $(call host_objects,q31,$(CORE_DEFS_q31)))
$(foreach t,$(TESTS_ALL),$(eval $(call host_test,$t))$(if $(TEST_DEFS_$t),$(eval $(call host_objects,$t,$(TEST_DEFS_$t)))))
# The two oracles that use the Orocos KDL (Debian: liborocos-kdl-dev) are the only C++. They are not sanitized: with the
# sanitizer Eigen would allocate differently than in the library, which is not sanitized.
HOSTCXX ?= g++
KDL_CXX  = $(HOSTCXX) -std=c++14 -O1 -g -I. -MMD -MP -Wall -Wextra -isystem /usr/include/eigen3
$(TEST_OUT)/test_dyn_kdl: $(TEST_OUT)/dyn_kdl/oracle.o
$(TEST_OUT)/dyn_kdl/oracle.o: test/support/dyn/dyn_kdl.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(KDL_CXX) -c $< -o $@
# The oracle of test_urdf_kdl.py.
URDF_KDL := $(TEST_OUT)/urdf_kdl
$(URDF_KDL): test/support/urdf_kdl.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$@)
	$(Q)$(KDL_CXX) $< -lorocos-kdl -ltinyxml2 -o $@
test-build: $(if $(filter urdf_kdl,$(or $(TEST),urdf_kdl)),$(URDF_KDL))

# The readers of the sanitized tool (tools/tools.mk) in one archive, for the tests that link all of them.
ROBOT_TEST_OBJ := $(ROBOT_SRC:%.c=$(TOOL_OUT)-san/%.o) $(TEST_OUT)/common/test/support/robot_help.o
$(addprefix $(TEST_OUT)/test_,$(ROBOT_TESTS:%=robot_%) flex flex_motion robot_modes dyn_mujoco seam $(SEAM_TESTS)): $(ROBOT_TEST_LIB)
$(ROBOT_TEST_LIB): $(ROBOT_TEST_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^
else
TEST_BIN := $(TESTS:%=$(TEST_OUT)/test_%.elf)
job = $(BOARD)|test_$1|$(QEMU_COUNT) -serial null -semihosting-config enable=on,target=native -kernel $(TEST_OUT)/test_$1.elf

FRAME_OBJ := $(patsubst %.c,$(TEST_OUT)/%.o,$(FRAME_SRC) test/support/semihost.c)
define target_test
$(TEST_OUT)/test_$1.elf: $(patsubst %.c,$(TEST_OUT)/%.o,$(call test_file,$1) $(TEST_SRC_$1)) $(FRAME_OBJ) $(HAL_OBJ) $(CORE_LIB) $(DYN_LIB)
	$$(call say,LINK,$$@)
	$$(Q)$(CROSS)gcc $(LDFLAGS) $$^ $(LDLIBS) -o $$@
endef
$(foreach t,$(TESTS_ALL),$(eval $(call target_test,$t)))

$(TEST_OUT)/uart_echo.elf: $(TEST_OUT)/test/support/uart_echo.o $(OUT)/firmware/print.o $(HAL_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) $^ $(LDLIBS) -o $@
$(TEST_OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CROSS)gcc $(CFLAGS) -Wno-stack-usage $(UNITY_FLAGS) -c $< -o $@
endif

# The parts of a script: 1/3 2/3 3/3 for three parts.
parts_of     = $(or $(SCRIPT_PARTS_$(patsubst test_%,%,$(basename $(notdir $1)))),1)
script_parts = $(shell seq -f %g/$(call parts_of,$1) $(call parts_of,$1))
script_job   = script|$(basename $(notdir $1))$(if $(filter-out 1/1,$2),$(TEST_SPACE)$2)|SCRIPT_PART=$2 $1

.PHONY: test-build
test-build: $(TEST_BIN)
	@$(foreach t,$(TESTS),echo '$(call job,$t)' >> $(BUILD)/test-jobs;) \
	 $(foreach s,$(if $(filter host,$(BOARD)),$(SCRIPTS)),$(foreach p,$(call script_parts,$s),echo '$(call script_job,$s,$p)' >> $(BUILD)/test-jobs;)) :

# The fuzz targets of test/fuzz with clang's coverage-guided fuzzer; FUZZ_TIME in seconds.
FUZZ_TIME ?= 600
FUZZ_OUT  := $(BUILD)/fuzz
fuzz_seeds_yaml  := $(filter-out %/cmu-dd.yaml,$(wildcard tools/robots/*.yaml)) $(filter-out %/parts.yaml,$(wildcard test/support/robot_data/*.yaml))
fuzz_seeds_urdf  := $(wildcard test/support/robot_data/*.urdf ../shared/robots/*.urdf)
fuzz_seeds_parts := tools/robots/cmu-dd.yaml test/support/robot_data/parts.yaml
.PHONY: $(FUZZ_TARGETS:%=fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%: $(FUZZ_OUT)/%
	@mkdir -p $(FUZZ_OUT)/corpus-$*
	$(if $(fuzz_seeds_$*),@cp $(fuzz_seeds_$*) $(FUZZ_OUT)/corpus-$*/,@for r in puma560 stanford planar3r; do \
	    $(APPELL) image -q $$r -o $(FUZZ_OUT)/corpus-$*/$$r.img || exit 1; done)
	@$< -max_len=20000 -timeout=20 -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(FUZZ_OUT)/found-$*- $(FUZZ_OUT)/corpus-$*
fuzz-image: $(APPELL)
$(FUZZ_TARGETS:%=$(FUZZ_OUT)/%): $(FUZZ_OUT)/%: test/fuzz/fuzz_robot_%.c test/fuzz/fuzz_driver.c $(ROBOT_SRC) $(FUZZ_ROBOT_SRC) $(FUZZ_IMAGE_SRC) $(DYN_TOOL_LIB)
	@mkdir -p $(@D)
	$(call say,FUZZ,$@)
	$(Q)clang $(filter-out -MMD -MP,$(COMMON)) -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	    $(filter-out $(if $(filter image,$*),,$(FUZZ_IMAGE_SRC)),$^) $(ROBOT_LIBS) -lm -o $@

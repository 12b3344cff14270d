# Which tests there are, what each links and where it runs. A test is test/test_<name>.c; by default it
# runs on the host and on every emulated board.
#   TESTS_HOST, TESTS_TARGET   tests that run only there
#   TEST_SRC_<name>            further sources of a test
#   TEST_DEFS_<name>           its defines
#   TEST_LIBS_<name>           its libraries (host)
#   BOARD_TESTS                (board.mk) the named subset of a small board
# A script test/test_<name>.py or .sh runs on the host, with programs that may be for boards:
#   SCRIPT_BOARDS_<name>       the machines whose programs it runs; unless it is said, the boards that it names
#   SCRIPT_BIN_<name>          which of a machine; unless it is said, the firmware

TESTS_TARGET := fault tick cycles
TESTS_HOST   :=
include $(wildcard test/*_tests.mk)

TESTS_ALL    := $(patsubst test/test_%.c,%,$(wildcard test/test_*.c))
TEST_SCRIPTS := $(wildcard test/test_*.sh test/test_*.py)

# `make test` alone: everything. TEST= narrows the tests, BOARD= on the command line the machines.
TEST_BOARDS := $(if $(filter command line,$(origin BOARD)),$(BOARD),host $(QEMU_BOARDS))

ifeq ($(BOARD),host)
TESTS := $(filter-out $(TESTS_TARGET),$(TESTS_ALL))
else
TESTS := $(or $(BOARD_TESTS),$(filter-out $(TESTS_HOST),$(TESTS_ALL)))
endif
TESTS := $(if $(TEST),$(filter $(TEST),$(TESTS)),$(TESTS))
SCRIPTS := $(if $(TEST),$(filter $(TEST:%=test/test_%.sh) $(TEST:%=test/test_%.py),$(TEST_SCRIPTS)),$(TEST_SCRIPTS))
SCRIPT_NAMES := $(patsubst test_%,%,$(basename $(notdir $(SCRIPTS))))
TEST_SPACE   := $(subst ,, )
script_boards = $(if $(filter undefined,$(origin SCRIPT_BOARDS_$1)),$(sort $(shell grep -ohE \
    '$(subst $(TEST_SPACE),|,$(QEMU_BOARDS))' $(wildcard test/test_$1.py test/test_$1.sh))),$(SCRIPT_BOARDS_$1))
# The other machines whose programs the chosen scripts run; each is built by a make of its own.
SCRIPT_BOARDS = $(if $(filter host,$(TEST_BOARDS)),$(filter-out host,$(sort $(foreach s,$(SCRIPT_NAMES),$(call script_boards,$s)))))
# What they run of this machine. Both are expanded late: the bench names its own after this file.
SCRIPT_BIN = $(sort $(foreach s,$(SCRIPT_NAMES),$(if $(filter $(BOARD),$(call script_boards,$s)),$(or $(SCRIPT_BIN_$s),$(FIRMWARE)))))

SCRIPT_BOARDS_boot   := $(QEMU_BOARDS)
SCRIPT_BIN_boot       = $(FIRMWARE) $(TEST_OUT)/uart_echo.elf
# It names boards for reports that it makes up.
SCRIPT_BOARDS_guards :=

FRAME_SRC := test/harness.c $(UNITY_SRC)/unity.c
TEST_OUT  := $(OUT)/test

ifeq ($(BOARD),host)
TEST_BIN := $(TESTS:%=$(TEST_OUT)/test_%)
job = host|test_$1|$(TEST_OUT)/test_$1

# A test with defines has objects of its own, because the drivers are compiled differently for it; all others
# and the frame share theirs.
HOST_OBJ = $(patsubst %.c,$(TEST_OUT)/$(if $(TEST_DEFS_$1),$1,common)/%.o,test/test_$1.c $(TEST_SRC_$1)) \
           $(patsubst %.c,$(TEST_OUT)/common/%.o,$(FRAME_SRC))
# Changes when the long tests are switched on or off, which every test may look at.
$(TEST_OUT)/long: always
	@mkdir -p $(@D)
	@echo '$(LONG)' | cmp -s - $@ || echo '$(LONG)' > $@
define host_objects
$(TEST_OUT)/$1/%.o: %.c $(COMPILED) $(TEST_OUT)/long
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(HOSTCC) $(HOST_CFLAGS) $(UNITY_FLAGS) $2 $(if $(LONG),-DTEST_LONG) -c $$< -o $$@
endef
define host_test
$(TEST_OUT)/test_$1: $(call HOST_OBJ,$1) $(CORE_LIB) $(DYN_HOST_LIB)
	$$(call say,LINK,$$@)
	$$(Q)$(HOSTCC) $(HOST_CFLAGS) $$^ $(TEST_LIBS_$1) -lm -o $$@
endef
$(eval $(call host_objects,common,))
$(foreach t,$(TESTS_ALL),$(eval $(call host_test,$t))$(if $(TEST_DEFS_$t),$(eval $(call host_objects,$t,$(TEST_DEFS_$t)))))
else
TEST_BIN := $(TESTS:%=$(TEST_OUT)/test_%.elf)
job = $(BOARD)|test_$1|$(QEMU_COUNT) -serial null -semihosting-config enable=on,target=native -kernel $(TEST_OUT)/test_$1.elf

FRAME_OBJ := $(patsubst %.c,$(TEST_OUT)/%.o,$(FRAME_SRC) test/semihost.c)
define target_test
$(TEST_OUT)/test_$1.elf: $(patsubst %.c,$(TEST_OUT)/%.o,test/test_$1.c $(TEST_SRC_$1)) $(FRAME_OBJ) $(HAL_OBJ) $(CORE_LIB) $(DYN_LIB)
	$$(call say,LINK,$$@)
	$$(Q)$(CROSS)gcc $(LDFLAGS) $$^ $(LDLIBS) -o $$@
endef
$(foreach t,$(TESTS_ALL),$(eval $(call target_test,$t)))

$(TEST_OUT)/uart_echo.elf: $(TEST_OUT)/test/uart_echo.o $(OUT)/firmware/print.o $(HAL_OBJ)
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) $^ $(LDLIBS) -o $@
$(TEST_OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CROSS)gcc $(CFLAGS) -Wno-stack-usage $(UNITY_FLAGS) -c $< -o $@
endif

.PHONY: test-build
test-build: $(TEST_BIN)
	@$(foreach t,$(TESTS),echo '$(call job,$t)' >> $(BUILD)/test-jobs;) \
	 $(foreach s,$(if $(filter host,$(BOARD)),$(SCRIPTS)),echo 'script|$(basename $(notdir $s))|$s' >> $(BUILD)/test-jobs;) :

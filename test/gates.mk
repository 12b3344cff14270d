# A gate for the code whose mistakes move an arm or lose its data: the tests must reach every line of it (make coverage, part of
# make test).
#   GATE_SRC     the files behind the gate; headers of firmware/safety count, too
#   GATE_TESTS   the tests that reach them: those of firmware/safety, and few others, because they run again
# Only the core in f32 is measured.
# make mutate asks the same tests which mistakes in firmware/safety they find; it takes long and is no part of make test.

GATE_SRC   := $(wildcard firmware/safety/*.c) firmware/params/store.c firmware/link/frame.c
GATE_TESTS := $(foreach t,$(patsubst test_%.c,%,$(notdir $(wildcard test/firmware/safety/test_*.c))) fit store frame,$(if $(TEST_DEFS_$t)$(TEST_REAL_$t),,$t))

.PHONY: coverage coverage-build
coverage: ## fails unless the tests reach all lines and 95 % of the branches of firmware/safety, the store and the frame; shows what they miss
	@$(MAKE) -j$(JOBS) --no-print-directory BOARD=host coverage-build
	@tools/dev/coverage.py @$(COVERAGE_ARGS)

COVERAGE_OUT  := $(BUILD)/coverage
COVERAGE_ARGS := $(COVERAGE_OUT)/arguments
SCRIPT_BOARDS_coverage := host
SCRIPT_BIN_coverage    := $(COVERAGE_ARGS)

ifeq ($(BOARD),host)
# These objects stand before the archive that has the same ones: nothing else is compiled again. They are neither optimised nor
# sanitized, because both change the branches.
COVERAGE_OBJ := $(GATE_SRC:%.c=$(COVERAGE_OUT)/%.o)
$(COVERAGE_OBJ): $(COVERAGE_OUT)/%.o: %.c $(COMPILED) test/gates.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(HOSTCC) $(COMMON) -DFIRMWARE_LAB -DCONTROL_TWIN -O0 --coverage -c $< -o $@
define coverage_test
$(COVERAGE_OUT)/test_$1: $(call HOST_OBJ,$1) $(COVERAGE_OBJ) $(CORE_LIB) $(DYN_HOST_LIB)
	$$(call say,LINK,$$@)
	$$(Q)$(HOSTCC) $(HOST_CFLAGS) --coverage $$^ $(TEST_LIBS_$1) -lm -o $$@
endef
$(foreach t,$(GATE_TESTS),$(eval $(call coverage_test,$t)))
$(COVERAGE_ARGS): $(GATE_TESTS:%=$(COVERAGE_OUT)/test_%) always
	@printf '%s\n' --gcov $(subst gcc,gcov,$(HOSTCC)) --objects $(COVERAGE_OUT) --source $(GATE_SRC) --program $(filter-out always,$^) > $@
coverage-build: $(COVERAGE_ARGS)
-include $(COVERAGE_OBJ:.o=.d)
endif

.PHONY: mutate mutate-build
mutate: ## makes mistakes in firmware/safety, one at a time, and tells which of them no test finds: FILES="guard.c lease.h" SAMPLE=50 SEED=2 QUICK=4 AGAIN=1
	@$(MAKE) -j$(JOBS) --no-print-directory BOARD=host mutate-build
	@tools/dev/mutate.py @$(MUTATE_ARGS) --jobs $(JOBS) --files '$(FILES)' --sample $(or $(SAMPLE),0) --seed $(or $(SEED),1) $(if $(AGAIN),--again) $(if $(QUICK),--quick $(QUICK))

MUTATE_OUT  := $(BUILD)/mutate
MUTATE_ARGS := $(MUTATE_OUT)/arguments
ifeq ($(BOARD),host)
MUTATE_TESTS := $(filter-out store frame,$(GATE_TESTS))
# The mutants are compiled without sanitizers, because most of the time goes into compiling; the rest of a program has them.
$(MUTATE_ARGS): $(foreach t,$(MUTATE_TESTS),$(call HOST_OBJ,$t)) $(CORE_OBJ) $(DYN_HOST_LIB) always
	@mkdir -p $(@D)
	@printf '%s\n' --work '$(MUTATE_OUT)' --compile '$(HOSTCC) $(filter-out -MMD -MP,$(COMMON)) $(UNITY_FLAGS) -DFIRMWARE_LAB -DCONTROL_TWIN' \
	    --link '$(HOSTCC) -fsanitize=address,undefined' --core '$(CORE_OBJ)' \
	    $(foreach t,$(MUTATE_TESTS),--test '$(call HOST_OBJ,$t) CORE $(DYN_HOST_LIB) $(TEST_LIBS_$t) -lm') \
	    --source $(filter firmware/safety/%,$(GATE_SRC)) > $@
mutate-build: $(MUTATE_ARGS)
endif

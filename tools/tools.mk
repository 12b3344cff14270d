# The host tool: $(APPELL), optimised, and $(APPELL_SAN), the same sources under the sanitizers for the tests.
# The kernels come from dyn/dyn.mk.

APPELL     := $(BUILD)/host/appell
APPELL_SAN := $(BUILD)/host/appell-san

GEN_SRC      := $(filter-out $(DYN_BACKENDS:%=%.c),$(wildcard tools/gen/*.c))
APPELL_SRC   := $(foreach f,args cli cmd config emulate eval image lead link monitor motion proof symbolic,$(wildcard tools/$(f)/*.c)) $(GEN_SRC) $(SIM_SRC) $(ROBOT_SRC)
APPELL_SRC   := $(sort $(filter-out $(DYN_BACKENDS:%=%.c),$(APPELL_SRC)) $(VERSION_SRC))
TOOL_OBJ     := $(APPELL_SRC:%.c=$(TOOL_OUT)/%.o)

$(APPELL): $(TOOL_OBJ) $(CORE_TOOL_LIB) $(DYN_TOOL_LIB)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) $^ $(ROBOT_LIBS) $(SIM_LIBS) -lm -o $@

$(TOOL_OUT)/$(VERSION_SRC:.c=.o) $(TOOL_OUT)-san/$(VERSION_SRC:.c=.o): $(VERSION_MADE)

# budget.c includes the rows of the bench, so its object depends on them.
$(TOOL_OUT)/tools/args/budget.o $(TOOL_OUT)-san/tools/args/budget.o: tools/bench/baseline.csv

ifeq ($(BOARD),host)
TOOL_SAN_OBJ := $(APPELL_SRC:%.c=$(TOOL_OUT)-san/%.o)
$(TOOL_OUT)-san/%.o: %.c tools/tools.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) -c $< -o $@

$(APPELL_SAN): $(TOOL_SAN_OBJ) $(CORE_LIB) $(DYN_HOST_LIB)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) $(HOST_CFLAGS) $^ $(ROBOT_LIBS) $(SIM_LIBS) -lm -o $@

# These test scripts run the tool, built with sanitizers.
APPELL_TESTS := emulate first_hour config monitor move appell completion urdf_kdl link link_wrong sim elastic demo fixed_board faults commission soak skips skips_latch direction product dyn_page \
    symptoms cable image_page softfloat silicon words
test-build: $(if $(filter $(APPELL_TESTS),$(or $(TEST),$(APPELL_TESTS))),$(APPELL_SAN) $(if $(LONG),$(APPELL)))
# These scripts compute millions of states or anneal, so they use the optimised tool.
test-build: $(if $(filter scale gen gen_q31 symbolic sim,$(or $(TEST),scale)),$(APPELL))
endif

-include $(shell find $(TOOL_OUT) $(TOOL_OUT)-san -name '*.d' 2>/dev/null)

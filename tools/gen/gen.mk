# Generated kernels; include this after tools/tools.mk and firmware/firmware.mk.
# The host tool makes FOLDER/gen_REAL.c and .h with the functions gen_REAL_id and so on.
#   GEN_EFFORT      effort of the annealer for these kernels
#   APPELL_CACHE    folder where the annealer keeps its results: tools/gen/anneal_cache.c
#   GEN_FRAME_MAX   largest stack frame of a function in bytes; it is large, because straight-line code spills registers.
#                   tools/dev/stack.py still checks the sum along the calls.

GEN_EFFORT    ?= 10
GEN_FRAME_MAX := 1024

# Rule that generates the code of a robot in one number type: $(call gen_rule,folder,robot,real)
define gen_rule
$1/gen_$3.c: $(APPELL) $$(wildcard $2 tools/robots/$2.yaml)
	@mkdir -p $$(@D)
	$$(call say,GEN,$$@)
	$$(Q)APPELL_CACHE=$(abspath $(BUILD)/anneal) $(APPELL) gen $2 --real $3 --prefix gen_$3 --effort $(GEN_EFFORT) --quiet -o $$(@D)
endef

# make GEN=1 ROBOT=NAME builds the generated code into the firmware. Objects built for another robot, or for none, are rebuilt.
ifneq ($(BOARD),host)
GEN_STAMP := $(OUT)/generated-for
GEN_USERS := $(patsubst %.c,$(OUT)/%.o,$(shell grep -l GENERATED firmware/*/*.c)) $(OUT)/firmware/lab/batch_$(CONTROL_REAL).o
$(GEN_USERS): $(GEN_STAMP)
$(GEN_USERS): CFLAGS += $(GEN_DEFS)
ifneq ($(shell cat $(GEN_STAMP) 2>/dev/null),$(or $(GEN_ROBOT),none))
.PHONY: $(GEN_STAMP)
endif
$(GEN_STAMP):
	@mkdir -p $(@D)
	@echo '$(or $(GEN_ROBOT),none)' > $@

ifneq ($(GEN),)
$(GEN_USERS): $(GEN_DIR)/$(GEN_NAME).c
$(eval $(call gen_rule,$(GEN_DIR),$(GEN_ROBOT),$(CONTROL_REAL)))
$(OUT)/firmware/$(GEN_NAME).o: $(GEN_DIR)/$(GEN_NAME).c $(GEN_STAMP)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CROSS)gcc $(CFLAGS) -Wstack-usage=$(GEN_FRAME_MAX) $(DYN_FLAGS_$(CONTROL_REAL)) -c $< -o $@
endif
endif

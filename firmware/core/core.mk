# The core of the firmware: control step, references, simulated arm and application once per number type,
# like the kernels of dyn/; the rest of firmware/core once.
#   $(CORE_LIB)      target, or host tests under the sanitizers: f32, f64 and q31
#   $(CORE_TOOL_LIB) the host tool: f32 and f64

CORE_KERNELS := control reference plant setup request supervisor homing app
CORE_PLAIN   := $(filter-out $(CORE_KERNELS),$(patsubst firmware/core/%.c,%,$(wildcard firmware/core/*.c)))

CORE_OUT   := $(OUT)/firmware/core
CORE_LIB   := $(OUT)/libcore.a
CORE_REALS := $(if $(filter host,$(BOARD)),f32 f64 q31,$(CONTROL_REAL))
CORE_OBJ   := $(CORE_PLAIN:%=$(CORE_OUT)/%.o) $(foreach r,$(CORE_REALS),$(CORE_KERNELS:%=$(CORE_OUT)/%_$(r).o))

$(CORE_LIB): $(CORE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(DYN_AR) rcs $@ $^

define core_backend
$(CORE_KERNELS:%=$(CORE_OUT)/%_$1.o): $(CORE_OUT)/%_$1.o: firmware/core/%.c $(COMPILED)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(DYN_BUILD) $(if $(filter host,$(BOARD)),-DCONTROL_TWIN,$(DYN_FLAGS_$1) $(GEN_DEFS_$1)) $(call DYN_REAL_H,$1) -c $$< -o $$@
endef
$(foreach r,$(CORE_REALS),$(eval $(call core_backend,$r)))

ifeq ($(BOARD),host)
$(CORE_PLAIN:%=$(CORE_OUT)/%.o): $(CORE_OUT)/%.o: firmware/core/%.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(DYN_BUILD) -c $< -o $@
endif

CORE_TOOL_LIB   := $(TOOL_OUT)/libcore.a
CORE_TOOL_REALS := f32 f64
define core_tool_backend
$(CORE_KERNELS:%=$(TOOL_OUT)/firmware/core/%_$1.o): $(TOOL_OUT)/firmware/core/%_$1.o: firmware/core/%.c firmware/core/core.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(HOSTCC) $(TOOL_CFLAGS) -DCONTROL_TWIN $(call DYN_REAL_H,$1) -c $$< -o $$@
endef
$(foreach r,$(CORE_TOOL_REALS),$(eval $(call core_tool_backend,$r)))
$(CORE_TOOL_LIB): $(CORE_PLAIN:%=$(TOOL_OUT)/firmware/core/%.o) \
                  $(foreach r,$(CORE_TOOL_REALS),$(CORE_KERNELS:%=$(TOOL_OUT)/firmware/core/%_$(r).o))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

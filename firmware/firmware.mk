# The core of the firmware: the folders without hardware access. Board and host compile the same sources, each archive in
# one number type.
#   $(CORE_LIB)      target, in the number type of the board; host tests under the sanitizers, in f32
#   $(CORE_LIB_q31)  host tests of the core in q31
#   $(CORE_TOOL_LIB) the host tool, in f32

CORE_FOLDERS := app control safety params link sim_arm
CORE_SRC     := $(filter-out $(VERSION_SRC),$(foreach f,$(CORE_FOLDERS) lab,$(wildcard firmware/$(f)/*.c)))
CORE_LIB     := $(OUT)/libcore.a
CORE_OBJ     := $(CORE_SRC:%.c=$(OUT)/%.o)

$(CORE_LIB): $(CORE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(DYN_AR) rcs $@ $^

ifeq ($(BOARD),host)
CORE_LIB_q31 := $(OUT)/q31/libcore.a
$(CORE_OBJ): $(OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(DYN_BUILD) -DCONTROL_TWIN -c $< -o $@
$(CORE_SRC:%.c=$(OUT)/q31/%.o): $(OUT)/q31/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(DYN_BUILD) -DCONTROL_TWIN $(CORE_DEFS_q31) -c $< -o $@
$(CORE_LIB_q31): $(CORE_SRC:%.c=$(OUT)/q31/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(DYN_AR) rcs $@ $^
else
# In fixed point, code that runs in the tick is compiled with the flags of the kernels.
CORE_TICK := app/% control/% safety/% sim_arm/%
$(CORE_OBJ): $(OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CROSS)gcc $(CFLAGS) $(if $(filter $(CORE_TICK:%=firmware/%),$<),$(DYN_FLAGS_$(CONTROL_REAL))) -c $< -o $@
endif

CORE_TOOL_LIB := $(TOOL_OUT)/libcore.a
CORE_TOOL_OBJ := $(CORE_SRC:%.c=$(TOOL_OUT)/%.o)
$(CORE_TOOL_OBJ): TOOL_CFLAGS += -DCONTROL_TWIN
$(CORE_TOOL_OBJ): firmware/firmware.mk
$(CORE_TOOL_LIB): $(CORE_TOOL_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

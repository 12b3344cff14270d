# The dynamics as archives: every kernel once per number backend, the rest once.
#   $(DYN_LIB)        target: the number types of the board (REALS below)
#   $(DYN_HOST_LIB)   host tests: f32, f64 and q31 sanitized; the backends of tools/ as the tool has them
#   $(DYN_TOOL_LIB)   the host tool: optimised, not sanitized
#   DYN_KERNELS   sources that are compiled through each backend
#   DYN_PLAIN     sources without a number backend
#   DYN_BACKENDS  sources of the backends in tools/

DYN_KERNELS    := $(addprefix kernel/,prepare prepare_drive prepare_regroup fast fast_mass fast_forward solve drive kinematics wrench) \
                  $(addprefix paper/,ne wo1 crba crba_forward aba ga ga_mass ga_forward denoc denoc_mass denoc_coriolis denoc_forward)
# Elastic links; each source is a separate object, so that an arm without them links none.
DYN_KERNELS    += $(addprefix flex/,prepare_flex flex flex_load flex_mass flex_forward flex_pose)
DYN_PLAIN      := $(addprefix model/,status flex_model model convert pseudo_inertia) number/q31 number/trig
DYN_REALS      := f32 f64 q31
DYN_TOOL_REALS := count range trace check
DYN_BACKENDS   := $(addprefix tools/proof/,count range check range_tensor range_units) tools/gen/trace
# A product has no methods of the papers and one number type; some boards choose those of the laboratory in board.mk.
LAB_KERNEL_REALS ?= $(DYN_REALS)
REALS            := $(if $(LAB),$(LAB_KERNEL_REALS),$(CONTROL_REAL))
DYN_BOARD_KERNELS := $(if $(LAB),$(DYN_KERNELS),$(filter-out paper/%,$(DYN_KERNELS)))

DYN_REAL_H = -DDYN_REAL_H='"$(if $(filter $1,$(DYN_REALS)),dyn/number,tools/$(if $(filter trace,$1),gen,proof))/real_$1.h"'
# A model is set up once, in double and with large stack frames; the frame limit of the tick does not apply there.
DYN_SETUP_FLAGS := $(if $(filter host,$(BOARD)),,-Wstack-usage=2048)
# q31 has only 13 registers for its 64-bit sums, and these compiler passes only lengthen live ranges: the kernel `ne` for
# the PUMA 560 on the Cortex-M3 takes 3,875 instructions with plain -O2 and 2,414 with the passes off (gcc 12.2). Kernels,
# which have long loops, gain from switching off one more pass: the inertia matrix by `fast` takes 1,811 instead of 1,878.
DYN_FLAGS_q31 := -fno-tree-pre -fno-schedule-insns -fno-gcse -fno-tree-ter
DYN_KERNEL_FLAGS_q31 := -fno-ivopts

# Double in software serves only for comparisons, and its code must fit into the flash beside the rest. So it has no
# special instance for arms with only revolute joints (dyn/kernel/fast.h).
DYN_FLAGS_f64 := $(if $(filter m7,$(CPU)),,-DDYN_FAST_SMALL) -Wstack-usage=1024
# Debug information has line numbers for backtraces, but no variables: in a kernel variables are inlined and moved, and
# tracking them takes half of the compile time. DYN_DEBUG=-g includes them.
DYN_DEBUG ?= -g1

DYN_OUT  := $(OUT)/dyn
TOOL_OUT := $(BUILD)/host/tool
DYN_TOOL_LIB := $(TOOL_OUT)/libdyn.a

ifeq ($(BOARD),host)
DYN_HOST_LIB := $(OUT)/libdyn.a
DYN_BUILD = $(HOSTCC) $(HOST_CFLAGS)
DYN_GRAPH := $(addprefix $(OUT)/tools/gen/,graph.o graph_read.o graph_rewrite.o)
DYN_OBJ := $(DYN_PLAIN:%=$(DYN_OUT)/%.o) $(DYN_BACKENDS:%=$(OUT)/%.o) $(DYN_GRAPH) \
           $(foreach r,$(DYN_REALS),$(DYN_KERNELS:%=$(DYN_OUT)/%_$(r).o)) \
           $(foreach r,$(DYN_TOOL_REALS),$(DYN_KERNELS:%=$(TOOL_OUT)/dyn/%_$(r).o))
DYN_AR  := ar
$(DYN_BACKENDS:%=$(OUT)/%.o) $(DYN_GRAPH): $(OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(DYN_BUILD) -c $< -o $@
else
DYN_LIB   := $(OUT)/libdyn.a
DYN_BUILD  = $(CROSS)gcc $(CFLAGS)
DYN_OBJ   := $(DYN_PLAIN:%=$(DYN_OUT)/%.o) $(foreach r,$(REALS),$(DYN_BOARD_KERNELS:%=$(DYN_OUT)/%_$(r).o))
DYN_AR    := $(CROSS)ar
endif

$(OUT)/libdyn.a: $(DYN_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(DYN_AR) rcs $@ $^

$(DYN_PLAIN:%=$(DYN_OUT)/%.o): $(DYN_OUT)/%.o: dyn/%.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(DYN_BUILD) $(DYN_SETUP_FLAGS) -c $< -o $@

# One rule per backend: $(OUT)/dyn/paper/ne_f32.o from dyn/paper/ne.c.
define dyn_backend
$(DYN_KERNELS:%=$(DYN_OUT)/%_$1.o): $(DYN_OUT)/%_$1.o: dyn/%.c $(COMPILED)
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(DYN_BUILD) $(DYN_DEBUG) $(if $(filter host,$(BOARD)),,$(DYN_FLAGS_$1) $(DYN_KERNEL_FLAGS_$1)) $$(if $$(filter kernel/prepare% flex/prepare%,$$*),$(DYN_SETUP_FLAGS)) $(call DYN_REAL_H,$1) -c $$< -o $$@
endef
$(foreach r,$(DYN_REALS),$(eval $(call dyn_backend,$r)))

# The same rules for the tool, which do not depend on BOARD. The backends for counting, tracing and proving may run slowly but must
# compile fast: `count` takes 1.6 s per kernel with -O1 and 0.1 s without.
TOOL_CFLAGS := $(COMMON) -DFIRMWARE_LAB -O2
TOOL_FAST_f64   := -O3
TOOL_FAST_count := -O0
TOOL_FAST_trace := -O0
TOOL_FAST_range := -O1
TOOL_FAST_check := -O1
TOOL_REALS  := $(DYN_REALS) $(DYN_TOOL_REALS)
define tool_backend
$(DYN_KERNELS:%=$(TOOL_OUT)/dyn/%_$1.o): $(TOOL_OUT)/dyn/%_$1.o: dyn/%.c dyn/dyn.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$(HOSTCC) $(TOOL_CFLAGS) $(TOOL_FAST_$1) $(DYN_DEBUG) $(call DYN_REAL_H,$1) -c $$< -o $$@
endef
$(foreach r,$(TOOL_REALS),$(eval $(call tool_backend,$r)))
$(TOOL_OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(HOSTCC) $(TOOL_CFLAGS) -c $< -o $@
$(DYN_TOOL_LIB): $(DYN_PLAIN:%=$(TOOL_OUT)/dyn/%.o) $(DYN_BACKENDS:%=$(TOOL_OUT)/%.o) \
                 $(foreach r,$(TOOL_REALS),$(DYN_KERNELS:%=$(TOOL_OUT)/dyn/%_$(r).o))
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

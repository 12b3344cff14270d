# `make bench`: the bench programs of the boards, the counting plugin and the table. Include it after
# test/tests.mk, whose rule for objects it uses.
#   make bench                              measures all rows, writes build/bench.csv, prints changes since the baseline
#   make bench ROBOT=puma560 PROBLEM=id     measures only these rows (also METHOD=, REAL=, BENCH_BOARD=); writes no file; STATES=10000: states of a row
#   make bench EXPLAIN=puma560,id,fast,f32  prints which functions execute the instructions of one row; a fifth word is the board
#   make bench CI=1                         exit code 1 if a row of the baseline became slower by more than 2 %
#   make bench-host                         counts the kernels' instructions on this machine in f64 with callgrind
#   make bench-accept                       makes build/bench.csv the baseline; make pages then writes its tables into the pages

BENCH_COMMA  := ,
BENCH_BOARDS := netduinoplus2 netduino2 mps2-an500
BENCH_OUT    := $(BUILD)/host/bench
BENCH_PLUGIN := $(BENCH_OUT)/count.so
BENCH_FLOPS  := $(BENCH_OUT)/flops
BENCH_ELF    := $(OUT)/bench.elf
BENCH_TICK_ELF := $(OUT)/bench_tick.elf
BENCH_PY     := tools/bench/bench.py --build $(BUILD) --cross $(CROSS)

ifeq ($(BOARD),host)
BENCH_BIN := $(BENCH_PLUGIN) $(BENCH_FLOPS)
BENCH_CFLAGS := $(COMMON) -O2

$(BENCH_PLUGIN): tools/bench/plugin.c tools/bench/thumb.c tools/bench/cores.c tools/bench/thumb.h tools/bench/cores.h
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) $(filter-out -MMD -MP,$(BENCH_CFLAGS)) -fPIC -shared -fvisibility=hidden $(filter %.c,$^) -o $@

BENCH_FLOPS_OBJ := $(addprefix $(BENCH_OUT)/,test/bench/bench_flops.o test/bench/bench_robots.o \
                   test/support/dyn/flex_arms.o test/support/dyn/dyn_arms.o test/support/dyn/dyn_forward.o \
                   tools/proof/count.o $(DYN_PLAIN:%=dyn/%.o)) $(DYN_KERNELS:%=$(TOOL_OUT)/dyn/%_count.o)
$(BENCH_FLOPS): $(BENCH_FLOPS_OBJ)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) $^ -lm -o $@
$(BENCH_OUT)/%.o: %.c tools/bench/bench.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(HOSTCC) $(BENCH_CFLAGS) -c $< -o $@
else ifneq ($(filter $(BOARD),$(BENCH_BOARDS)),)
BENCH_BIN := $(BENCH_ELF) $(BENCH_TICK_ELF)
BENCH_SRC := $(addprefix test/bench/bench_,main.c frame.c robots.c textbook.c f32.c f64.c q31.c gen.c $(if $(filter m3,$(CPU)),,flex.c)) \
             $(addprefix test/support/,semihost.c $(addprefix dyn/,dyn_arms.c dyn_forward.c dyn_yardstick.c \
             $(if $(filter m3,$(CPU)),,flex_arms.c)))
BENCH_OBJ := $(BENCH_SRC:%.c=$(TEST_OUT)/%.o)
$(TEST_OUT)/test/bench/bench_textbook.o: CFLAGS += -O3
# Only boards with an FPU have elastic links.
$(TEST_OUT)/test/bench/bench_kernels.o: CFLAGS += -DBENCH_FLEX=$(if $(filter m3,$(CPU)),0,1)

BENCH_TICK_OBJ := $(addprefix $(TEST_OUT)/test/,bench/bench_main.o bench/bench_frame.o bench/bench_tick.o support/control_arm.o support/dyn/dyn_arms.o \
                  support/semihost.o)

# The generated kernels of the PUMA 560, compiled as in the firmware.
# f32 is generated only if the board has an FPU.
BENCH_GEN_REALS := $(if $(filter m3,$(CPU)),,f32) q31
$(foreach r,$(BENCH_GEN_REALS),$(eval $(call gen_rule,$(GEN_OUT)/bench/puma560,puma560,$r)))
BENCH_GEN := $(BENCH_GEN_REALS:%=$(GEN_OUT)/bench/puma560/gen_%.c)
BENCH_OBJ += $(BENCH_GEN:$(GEN_OUT)/%.c=$(TEST_OUT)/gen/%.o)
$(TEST_OUT)/test/bench/bench_gen.o: CFLAGS += -I$(GEN_OUT)/bench/puma560 $(foreach r,$(BENCH_GEN_REALS),-DBENCH_GEN_$r='"gen_$r.h"')
$(TEST_OUT)/test/bench/bench_gen.o: $(BENCH_GEN)
$(TEST_OUT)/gen/%.o: CFLAGS += -Wstack-usage=$(GEN_FRAME_MAX)
$(TEST_OUT)/gen/%.o: $(GEN_OUT)/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CROSS)gcc $(CFLAGS) $(DYN_FLAGS_$(lastword $(subst _, ,$(basename $(notdir $<))))) -c $< -o $@

$(BENCH_ELF): $(BENCH_OBJ) $(TEST_OUT)/test/bench/bench_kernels.o $(HAL_OBJ) $(DYN_LIB)
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) -Wl,--defsym=__no_slots=1 $^ $(LDLIBS) -o $@
$(BENCH_TICK_ELF): $(BENCH_TICK_OBJ) $(HAL_OBJ) $(CORE_LIB) $(DYN_LIB)
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) $^ $(LDLIBS) -o $@
endif

# The program of `make bench-host`: the kernels, compiled as for the host tool.
BENCH_HOST := $(BENCH_OUT)/host
$(BENCH_HOST): $(addprefix $(BENCH_OUT)/,test/bench/bench_host.o test/support/dyn/dyn_arms.o) $(DYN_TOOL_LIB)
	$(call say,LINK,$@)
	$(Q)$(HOSTCC) $^ -lm -o $@
.PHONY: bench-host
bench-host: ## executed instructions of the kernels on this machine, in double
	@$(MAKE) -j$(JOBS) --no-print-directory BOARD=host $(BENCH_HOST)
	@tools/bench/host.py $(BENCH_HOST) $(if $(CI),--ci) --measured $(BUILD)/measured

.PHONY: bench bench-build bench-accept
bench-build: $(BENCH_BIN)
bench: ## executed instructions and estimated cycles of every kernel: build/bench.csv
	@for b in host $(or $(subst $(BENCH_COMMA), ,$(BENCH_BOARD)),$(BENCH_BOARDS)); do \
	    lab=1; [ $$b = host ] && lab=; \
	    $(MAKE) -j$(JOBS) --no-print-directory BOARD=$$b LAB=$$lab bench-build || exit 1; done
	@$(BENCH_PY) run --jobs $(JOBS) $(if $(CI),--ci) $(if $(EXPLAIN),--explain $(EXPLAIN)) \
	    $(if $(ROBOT),--robot $(ROBOT)) $(if $(PROBLEM),--problem $(PROBLEM)) $(if $(METHOD),--method $(METHOD)) \
	    $(if $(REAL),--real $(REAL)) $(if $(BENCH_BOARD),--board $(BENCH_BOARD)) $(if $(STATES),--states $(STATES))

bench-accept: ## what build/bench.csv holds becomes the baseline of the regression guard, and make pages writes its tables
	@$(BENCH_PY) accept
	@tools/bench/table.py $(BUILD)/bench.csv --measured $(BUILD)/measured
	@tools/dev/pages.py accept $(BUILD)/measured/bench.json

# The system test of the bench runs a few rows on these boards.
SCRIPT_BOARDS_bench := host $(BENCH_BOARDS)
SCRIPT_BIN_bench     = $(if $(or $(LAB),$(filter host,$(BOARD))),$(BENCH_BIN))

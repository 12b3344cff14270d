# `make silicon`: the self-test image (README.md here) and the command that runs it. Include it after tools/bench/bench.mk.
#   make silicon BOARD=x                       in the emulator, if the board has one
#   make silicon BOARD=x PORT=/dev/ttyACM0     flashes the board and tests it

SILICON_ELF  := $(OUT)/silicon.elf
SILICON_OUT  := $(BUILD)/silicon
SILICON_PORT := $(or $(PORT),$(if $(QEMU_MACHINE),,/dev/ttyACM0))

ifneq ($(filter stm32%,$(FAMILY)),)
# The bench needs more memory than the 8 KB of the F100.
SILICON_BENCH := $(if $(filter stm32f100,$(CHIP)),,$(addprefix test/,bench/bench_frame.c bench/bench_robots.c bench/bench_tick.c support/control_arm.c \
                 support/dyn/dyn_arms.c support/dyn/dyn_forward.c))
SILICON_SRC   := $(wildcard test/silicon/*.c) $(SILICON_BENCH)
SILICON_OBJ   := $(SILICON_SRC:%.c=$(TEST_OUT)/%.o) $(OUT)/firmware/print.o
# The arm of the tick's bench carries its constants in q31 too.
SILICON_OBJ   += $(if $(SILICON_BENCH),$(filter-out $(DYN_OBJ),$(addprefix $(DYN_OUT)/kernel/,prepare_q31.o prepare_drive_q31.o prepare_regroup_q31.o)))
$(TEST_OUT)/test/silicon/%.o: private CFLAGS += -DSILICON_CHIP='"$(CHIP)"' $(if $(SILICON_BENCH),-DSILICON_BENCH) $(DYN_FLAGS_$(CONTROL_REAL))

$(SILICON_ELF): $(SILICON_OBJ) $(HAL_OBJ) $(CORE_LIB) $(DYN_LIB)
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) $^ $(LDLIBS) -o $@
	$(Q)$(if $(QEMU_MACHINE),echo '$(QEMU_RUN)' > $(@:.elf=.qemu))

.PHONY: silicon
silicon: $(SILICON_ELF) $(APPELL) ## test the chip of a bare BOARD at PORT, or the emulated one: build/silicon/BOARD.json
	$(if $(SILICON_PORT),@CROSS=$(CROSS) tools/dev/flash.sh $(BOARD) $(FLASHER) $< $(OPENOCD_CFG))
	@$(APPELL) silicon -o $(SILICON_OUT)/$(BOARD).json $(if $(SILICON_PORT),--port $(SILICON_PORT),--port qemu:$< --yes)
else
silicon:
	@echo "silicon: $(BOARD) is no chip that can be tested"; exit 1
endif

# The system test runs the product's image in the emulator.
SCRIPT_BOARDS_silicon := netduinoplus2 stm32vldiscovery
SCRIPT_BIN_silicon = $(if $(LAB),,$(SILICON_ELF))

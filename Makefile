# Appell: the dynamics of a robot arm inside a microcontroller. `make help` lists the targets.
# All output goes into build/; tools/dev/setup.sh first installs what the goals need.

.DEFAULT_GOAL := firmware
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/sh

BOARD ?= netduinoplus2
TEST ?=
BUILD ?= build
WERROR ?= 0
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

BOARDS := $(sort $(notdir $(patsubst %/,%,$(wildcard boards/*/))))
# Boards with a machine in the emulator; the target tests run on them.
QEMU_BOARDS := $(foreach b,$(BOARDS),$(if $(shell sed -n 's/^QEMU_MACHINE *:= *//p' boards/$(b)/board.mk),$(b)))

ifeq ($(filter host $(BOARDS),$(BOARD)),)
$(error there is no board "$(BOARD)": choose one of $(BOARDS), or add the folder boards/$(BOARD))
endif

# ------------------------------------------------------------------------------------------- set-up
# Groups of tools/dev/setup.sh that each goal needs; a goal that is not named here needs "build host".
setup_none  := help clean
setup_run   := build host emu plot
setup_faults := build host emu plot
setup_test  := build host emu test
setup_lint  := build host emu test lint
setup_coverage := build host test
setup_mutate := build host test
setup_flash := build host flash
setup_silicon := build host emu $(if $(PORT),flash)
setup_bench := build host emu
setup_measure := build host emu test callgrind
setup_papers := build host plot
setup_bench-host := build host callgrind
setup_debug := build host emu debug flash
setup_groups = $(if $(filter $(setup_none),$1),,$(or $(setup_$(patsubst lint-%,lint,$(patsubst test-%,test,$1))),build host))

SETUP_GROUPS := $(sort $(foreach goal,$(or $(MAKECMDGOALS),$(.DEFAULT_GOAL)),$(call setup_groups,$(goal))))
# The variables are passed explicitly, because make exports no variables to $(shell).
ifeq ($(APPELL_SETUP),)
ifneq ($(SETUP_GROUPS),)
ifeq ($(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS)))),)
ifneq ($(shell CMSIS='$(CMSIS)' UNITY='$(UNITY)' UNITY_SHA256='$(UNITY_SHA256)' tools/dev/setup.sh $(SETUP_GROUPS) >&2 && echo ready),ready)
$(error the set-up did not finish, see above)
endif
export APPELL_SETUP := done
endif
endif
endif

-include build/deps/paths.mk
ifneq ($(BOARD),host)
include boards/$(BOARD)/board.mk
endif
include hal/hal.mk
# Number type of the core (board.mk, firmware/control/type.h).
CONTROL_REAL ?= f32
CORE_DEFS_q31 := -DCONTROL_Q31
CONTROL_DEFS  := $(CORE_DEFS_$(CONTROL_REAL))

# V=1 shows the commands.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' $1 $2)

# ---------------------------------------------------------------------------------------- compilers
CROSS  ?= arm-none-eabi-
HOSTCC ?= gcc

WARN := -Wall -Wextra -Wconversion -Wdouble-promotion -Wundef -Wshadow -Wmissing-prototypes -Wvla
ifneq ($(WERROR),0)
WARN += -Werror
endif
# Without contraction of floating-point operations host and target agree bit for bit.
COMMON := -std=gnu11 -g -I. -ffp-contract=off -MMD -MP $(WARN)

# LAB=1 builds the laboratory instead of the product (firmware/params/variant.h), in its own folder. The host build is always the laboratory.
LAB ?=
OUT := $(BUILD)/$(BOARD)$(if $(LAB),/lab)
# Largest number of joints. board.mk states the product's limit and its reason; the laboratory has 32 unless the board
# lacks the memory.
JOINTS ?= 32
VARIANT_DEFS := $(if $(LAB),-DFIRMWARE_LAB $(LAB_DEFS),-DDYN_MAX_JOINTS=$(JOINTS) $(PRODUCT_DEFS))
# With GEN=1 ROBOT=y the control loop uses kernels generated for this robot instead of the general ones.
GEN_ROBOT := $(if $(GEN),$(or $(ROBOT),$(error GEN=1 needs ROBOT=, the robot to generate code for)))
GEN_OUT   := $(BUILD)/gen
GEN_DIR   := $(GEN_OUT)/$(notdir $(basename $(GEN_ROBOT)))
GEN_NAME  := gen_$(CONTROL_REAL)
GEN_DEFS  := $(if $(GEN),-I$(GEN_DIR) -DGENERATED_H='"$(GEN_NAME).h"' \
    -DGENERATED_HASH=$(if $(filter q31,$(CONTROL_REAL)),GEN_Q31,GEN_F32)_MODEL_HASH -DGENERATED_FIXED=$(if $(filter q31,$(CONTROL_REAL)),true,false))
# Number types of batch evaluation in the laboratory (board.mk; "-" means none). The product uses the type of its control loop.
LAB_REALS  ?= f32 q31
BATCH_REALS := $(if $(filter -,$(LAB_REALS)),-,$(if $(LAB),$(LAB_REALS),$(CONTROL_REAL)))
BATCH_DEFS  := $(patsubst %,-DBATCH_HAS_%,$(shell echo $(filter-out -,$(BATCH_REALS)) | tr a-z A-Z))
# Largest stack frame of one function, in bytes; tools/dev/stack.py checks the sum along the calls.
FRAME_MAX := 512
CFLAGS := $(COMMON) -O2 $(CPU_FLAGS_$(CPU)) -ffunction-sections -fdata-sections -fno-common \
          -fstack-usage -Wstack-usage=$(FRAME_MAX) -isystem $(CMSIS_INC) $(HAL_DEFS) $(BOARD_DEFS) $(VARIANT_DEFS) $(CONTROL_DEFS) $(BATCH_DEFS) -DBOARD_NAME='"$(BOARD)"'
# Newer linkers warn about .ramfunc, which is writable and executable on purpose.
RWX := $(shell $(CROSS)ld --help 2>/dev/null | grep -q no-warn-rwx-segments && echo -Wl,--no-warn-rwx-segments)
LDFLAGS := $(CPU_FLAGS_$(CPU)) -nostartfiles --specs=nano.specs -L linker -T $(CHIP).ld \
           -Wl,--gc-sections -Wl,--build-id=sha1 -Wl,--fatal-warnings $(RWX)
LDLIBS := -lm -lc -lgcc
HOST_CFLAGS := $(COMMON) -DFIRMWARE_LAB -O1 -fno-omit-frame-pointer -fsanitize=address,undefined \
               -fno-sanitize-recover=all
UNITY_FLAGS := -isystem $(UNITY_SRC) -DUNITY_INCLUDE_CONFIG_H -Itest/support

FIRMWARE := $(OUT)/firmware.elf
HAL_OBJ := $(HAL_SRC:%.c=$(OUT)/%.o)

# The flags that everything for a board is compiled with. If they change, by a board.mk or on the command line, all
# objects are rebuilt: objects that disagree about the size of a struct would still link.
COMPILED := $(OUT)/compiled-with
compiled_with = $(subst ',,$(filter-out -Werror,$(DYN_BUILD)) $(foreach r,$(DYN_REALS),$(DYN_FLAGS_$r) $(DYN_KERNEL_FLAGS_$r)))
.PHONY: always
$(COMPILED): always
	@mkdir -p $(@D)
	@echo '$(compiled_with)' | cmp -s - $@ || echo '$(compiled_with)' > $@

# A release changes this version and CHANGELOG.md. The commit is that of this tree, not of a repository around it. One small
# object (firmware/app/version.c) contains both and is in no archive: after a new commit only this object is compiled, and only
# tool and firmware are linked again.
VERSION := 0.2.0
COMMIT  := $(or $(shell git --git-dir=.git --work-tree=. describe --always --abbrev=10 --dirty --exclude='*' 2>/dev/null),unknown)
VERSION_SRC  := firmware/app/version.c
VERSION_DEFS := -DVERSION_NUMBER='"$(VERSION)"' -DVERSION_COMMIT='"$(COMMIT)"'
VERSION_MADE := $(BUILD)/version
$(VERSION_MADE): always
	@mkdir -p $(@D)
	@echo '$(VERSION) $(COMMIT)' | cmp -s - $@ || echo '$(VERSION) $(COMMIT)' > $@
# `private`: prerequisites of this object are compiled without these flags.
%/firmware/app/version.o: private CFLAGS += $(VERSION_DEFS)
%/firmware/app/version.o: private HOST_CFLAGS += $(VERSION_DEFS)
%/firmware/app/version.o: private TOOL_CFLAGS += $(VERSION_DEFS)

include dyn/dyn.mk
include firmware/firmware.mk
include firmware/stack.mk
include test/tests.mk
include test/gates.mk
include tools/tools.mk
include tools/gen/gen.mk
include tools/bench/bench.mk
include test/silicon/silicon.mk
include tools/papers/papers.mk

# ----------------------------------------------------------------------------------------- firmware
FIRMWARE_SRC := $(wildcard firmware/*.c) $(VERSION_SRC)
FIRMWARE_OBJ := $(FIRMWARE_SRC:%.c=$(OUT)/%.o) $(HAL_OBJ) $(if $(GEN),$(OUT)/firmware/$(GEN_NAME).o)

.PHONY: firmware all
firmware: $(FIRMWARE) ## build the firmware of BOARD (default); LAB=1: its laboratory
all: ## build the firmware of every board, product and laboratory
	@for b in $(BOARDS); do for lab in '' 1; do \
	    $(MAKE) -j$(JOBS) --no-print-directory BOARD=$$b LAB=$$lab firmware || exit 1; done; done

$(OUT)/$(VERSION_SRC:.c=.o): $(VERSION_MADE)
$(OUT)/%.o: %.c $(COMPILED)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CROSS)gcc $(CFLAGS) -c $< -o $@

$(FIRMWARE): $(FIRMWARE_OBJ) $(CORE_LIB) $(DYN_LIB) linker/$(CHIP).ld linker/sections.ld tools/dev/stack.py
	$(call say,LINK,$@)
	$(Q)$(CROSS)gcc $(LDFLAGS) -Wl,-Map=$(@:.elf=.map) $(FIRMWARE_OBJ) $(CORE_LIB) $(DYN_LIB) $(LDLIBS) -o $@
	$(Q)$(if $(QEMU_MACHINE),echo '$(QEMU_RUN)' > $(@:.elf=.qemu))
	$(Q)$(if $(QEMU_SLOTS),$(CROSS)nm $@ | sed -n 's/ . $(QEMU_SLOTS)$$//p' > $(@:.elf=.slot))
	$(Q)$(call STACK_CHECK,$@) > $(@:.elf=.stack) || { cat $(@:.elf=.stack); rm -f $@; exit 1; }

STACK_CHECK = tools/dev/stack.py $1 --su $$(ls -d $(OUT)/firmware $(OUT)/hal $(OUT)/boards $(OUT)/dyn 2>/dev/null) --objdump $(CROSS)objdump \
              --irq-frame $(if $(filter m3,$(CPU)),32,104) --own-stack fault_entry=__fault_stack_size \
              $(IRQ_LEVELS_$(FAMILY):%=--group %) $(STACK_INDIRECT:%=--indirect %)

# ---------------------------------------------------------------------------------------- emulator
# With QEMU_COUNT each instruction moves the counter by at least one step, so that counts are exact. With QEMU_RUN the speed is near
# that of the chip.
# Who starts the emulator adds one -serial, the console. It is serial port QEMU_SERIAL of the machine (1 unless board.mk says
# otherwise); the ports before it go nowhere.
QEMU = qemu-system-arm -M $(QEMU_MACHINE) -display none -monitor none $(patsubst %,-serial null,$(wordlist 2,$(or $(QEMU_SERIAL),1),1 2 3 4))
QEMU_COUNT = $(QEMU) -icount shift=$(ICOUNT_COUNT),sleep=off
QEMU_RUN   = $(QEMU) -icount shift=$(ICOUNT_RUN),sleep=$(or $(ICOUNT_SLEEP),off)

.PHONY: run
run: $(FIRMWARE) $(APPELL) ## the firmware in the emulator moves ROBOT (puma560): tables, build/run/run.png
	@$(if $(QEMU_MACHINE),$(APPELL) demo $(or $(ROBOT),puma560) -q --port qemu:$(BOARD) -o $(BUILD)/run,\
	  echo "$(BOARD) is hardware only: make flash BOARD=$(BOARD)"; exit 1)

.PHONY: faults
faults: $(APPELL) ## every defect of the simulated arm of ROBOT (puma560), and how it moves after it; then faults on the emulated board: build/faults
	@$(if $(QEMU_MACHINE),$(APPELL) faults provoke $(or $(ROBOT),puma560) -q && $(MAKE) -j$(JOBS) --no-print-directory BOARD=$(BOARD) LAB=1 firmware && \
	  $(APPELL) faults provoke $(or $(ROBOT),puma560) -q --port qemu:$(BOARD) -o $(BUILD)/faults,\
	  echo "$(BOARD) is hardware only"; exit 1)

# ------------------------------------------------------------------------------------------ hardware
.PHONY: flash debug
flash: $(FIRMWARE) ## write the firmware into a real BOARD through its debug probe
	@CROSS=$(CROSS) tools/dev/flash.sh $(BOARD) $(FLASHER) $(FIRMWARE) $(OPENOCD_CFG)

debug: $(FIRMWARE) ## gdb on the emulated BOARD, or on the real one with PROBE=1
	@$(if $(and $(QEMU_MACHINE),$(if $(PROBE),,emulator)),\
	  tools/dev/debug.sh $(FIRMWARE) emulator $(QEMU_RUN) -S -gdb tcp:localhost:3333 -serial stdio,\
	  tools/dev/debug.sh $(FIRMWARE) probe openocd $(OPENOCD_CFG))

# -------------------------------------------------------------------------------------------- tests
.PHONY: test test-long script-build
script-build: $(SCRIPT_BIN) ; @:
ifeq ($(BOARD),host)
test-build: script-build
endif
test: ## run every test on the host and on every emulated board; TEST=name BOARD=x for one, with what it measured
	@mkdir -p $(BUILD)
	@: > $(BUILD)/test-jobs
	@date +%s > $(BUILD)/test-began
	@for b in $(TEST_BOARDS); do lab=1; [ $$b = host ] && lab=; \
	    $(MAKE) -j$(JOBS) --no-print-directory BOARD=$$b LAB=$$lab test-build || exit 1; done
	@for b in $(SCRIPT_BOARDS); do for lab in 1 ''; do \
	    $(MAKE) -j$(JOBS) --no-print-directory BOARD=$$b LAB=$$lab script-build || exit 1; done; done
	@tools/dev/runtests.py $(BUILD)/test-jobs --jobs $(JOBS) --timeout $(if $(LONG),5400,1200) $(if $(TEST),--notes) $(if $(LONG),--long) \
	    --measured $(BUILD)/measured --times $(BUILD)/test-times --began $$(cat $(BUILD)/test-began)

test-long: ## what takes longer than five minutes: soaks, fuzzing, millions of states
	@$(MAKE) --no-print-directory test LONG=1

# -------------------------------------------------------------------------------------------- pages
# Tests measure the numbers that the pages show, and tools/dev/pages.py writes them into the pages. MEASURE=1 leaves out the test
# of the pages, because they may still show the previous numbers.
.PHONY: pages measure
pages: ## write all that is generated into the pages: accepted numbers, tables of the bench, parameters, faults, protocol, pins and drawings of the boards
	@tools/dev/protocol_doc.py
	@tools/dev/firmware_pages.py
	@HOSTCC=$(HOSTCC) tools/dev/board_pages.py
	@tools/dev/pages.py write

# The tests of make test-long that measure numbers for the pages.
LONG_TESTS = $(sort $(shell sed -n 's/.*make test-long TEST=\([a-z0-9_]*\) .*/\1/p' test/measured.csv))
measure: ## make test and make bench, then accept the numbers for the pages and write them; TEST=name for one test (LONG=1: as in test-long)
	@rm -rf $(BUILD)/measured
	@$(MAKE) --no-print-directory test MEASURE=1
	@$(if $(TEST),,$(if $(LONG_TESTS),$(MAKE) --no-print-directory test MEASURE=1 LONG=1 BOARD=host TEST="$(LONG_TESTS)"))
	@$(if $(TEST),,$(MAKE) --no-print-directory bench && $(MAKE) --no-print-directory bench-accept bench-host)
	@tools/dev/pages.py accept $(BUILD)/measured
	@$(MAKE) --no-print-directory pages

# --------------------------------------------------------------------------------- size, lint, help
.PHONY: size lint format help clean
size: all ## code and RAM of every board, product and laboratory
	@tools/dev/size.py $(foreach b,$(BOARDS),$(b):$(BUILD)/$(b)/firmware.elf $(b)/lab:$(BUILD)/$(b)/lab/firmware.elf) --csv $(BUILD)/size.csv

# lint checks layers, links of the pages, words of the glossary, pins and drawings of the boards against their tables, headers that
# compile alone, formatting, compiler warnings (with -Werror in a separate build folder, so that no object built without -Werror hides
# a warning), and runs static analysis.
LINT_SRC := $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.inc' 2>/dev/null)
.PHONY: lint-static
lint: lint-static ## layers, links of the pages, words, headers, formatting, -Werror, cppcheck, clang-tidy
	@for b in host $(BOARDS); do for lab in '' 1; do echo "lint: gcc -Werror, $$b$${lab:+/lab}"; \
	    $(MAKE) -s -j$(JOBS) --no-print-directory BUILD=build/lint WERROR=1 BOARD=$$b LAB=$$lab lint-build > build/lint.log 2>&1 \
	    || { cat build/lint.log; exit 1; }; done; done

lint-static: ## the same without compiling
	@echo "lint: layers";      tools/dev/lint_includes.py
	@echo "lint: pages";       tools/dev/lint_pages.py
	@echo "lint: words";       tools/dev/lint_words.py
	@echo "lint: boards";      HOSTCC=$(HOSTCC) tools/dev/board_pages.py --check
	@echo "lint: headers";     tools/dev/lint_headers.sh $(LINT_SRC)
	@echo "lint: formatting";  tools/dev/lint_format.sh $(LINT_SRC)
	@echo "lint: cppcheck";    tools/dev/lint_static.sh cppcheck $(LINT_SRC)
	@echo "lint: clang-tidy";  tools/dev/lint_static.sh clang-tidy $(LINT_SRC)

.PHONY: lint-build
lint-build: $(if $(filter host,$(BOARD)),,$(FIRMWARE)) $(if $(or $(and $(LAB),$(QEMU_MACHINE)),$(filter host,$(BOARD))),$(TEST_BIN) $(SCRIPT_BIN))

format: ## let clang-format rewrite the sources
	@clang-format -i $(LINT_SRC)

# A file gets the flags of the tool if the tool has it, otherwise those of the host tests, otherwise those of the board.
compile_commands.json: always ## for editors: how each file of the tool, of the host tests and of BOARD is compiled
	@{ $(MAKE) -nB V=1 BOARD=host $(APPELL) && $(MAKE) -nB V=1 BOARD=host test-build \
	    $(if $(filter host,$(BOARD)),,&& $(MAKE) -nB V=1 BOARD=$(BOARD) firmware); } | tools/dev/compile_commands.py > $@

help: ## this list
	@sed -n 's/^\([a-z_.-]*\):.*## /\1\t/p' Makefile test/gates.mk tools/bench/bench.mk test/silicon/silicon.mk tools/papers/papers.mk | expand -t 14

clean: ## remove what was built, keep what was downloaded
	@find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} + 2>/dev/null || true

# make print-X prints the variable X.
print-%: ; @echo '$($*)'

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)

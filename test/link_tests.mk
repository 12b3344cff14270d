# What the tests of the link and of the parameter store link beside the core of the firmware. Frames run on
# the target, too; the rest is for the host.
TESTS_HOST     += store link
TEST_SRC_store := tools/link/cut.c
TEST_SRC_link  := tools/link/cut.c tools/link/client.c tools/link/stream.c tools/link/port.c test/link_board.c
TESTS_HOST     += supervisor

# The server as the 8 KB board builds it, over the flash driver of its chip and a model of the controller.
TESTS_HOST        += link_f1
F1_BOARD_DEFS     := $(filter -DAPP_% -DSERVER_%,$(shell sed -n 's/^BOARD_DEFS *:=//p' boards/stm32vldiscovery/board.mk))
TEST_DEFS_link_f1  = $(HAL_DEFS_F1) $(F1_BOARD_DEFS) $(call DYN_REAL_H,q31) -DCONTROL_REAL=q31 -DCONTROL_H='"firmware/core/q31.h"'
TEST_SRC_link_f1   = $(TEST_SRC_link) $(TEST_SRC_hal_flash_f1) $(TEST_SRC_control) \
                     $(CORE_KERNELS:%=firmware/core/%.c) $(wildcard firmware/core/server*.c) $(addprefix firmware/core/,set.c telemetry.c)

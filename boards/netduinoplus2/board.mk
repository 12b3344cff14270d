# Netduino Plus 2: STM32F405RG, Cortex-M4F at 168 MHz. The emulator has a machine of the same name.
CHIP   := stm32f405
FAMILY := stm32f4
CPU    := m4f

QEMU_MACHINE := netduinoplus2
ICOUNT_COUNT := 0# -icount shift for counting instructions
ICOUNT_RUN   := 3# -icount shift near the chip's speed: 125 million instructions a second

# Elastic links for arms of up to six joints with four modes per link take 9 KB of RAM.
FLEX_DEFS   := -DDYN_FLEX_MAX_JOINTS=6 -DDYN_FLEX_LINK_MODES=4 -DDYN_FLEX_MAX=24
BOARD_DEFS  := $(FLEX_DEFS) -DAPP_SAMPLES=8 -DLINK_IMAGE_ROOM=8192# bytes of an image: 16 joints, or 32 without fixed point
LAB_DEFS    := -UAPP_SAMPLES -DAPP_SAMPLES=4# 32 joints and all methods fill the RAM

JOINTS := 12# in the product: an arm and a gripper, or two arms of six; each joint takes about 3 KB of the 128 KB

FLASHER     := openocd
OPENOCD_CFG := -f interface/stlink.cfg -f target/stm32f4x.cfg

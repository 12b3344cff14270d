# ST Nucleo-F446RE: STM32F446RE, Cortex-M4F at 168 MHz. The emulator has no Nucleo, but its Netduino Plus 2 runs the image: same core, and what
# the firmware uses of the chip is at the same addresses.
CHIP   := stm32f446
FAMILY := stm32f4
CPU    := m4f

QEMU_MACHINE := netduinoplus2
QEMU_SERIAL  := 2# the console is USART2, the second serial port of the machine
ICOUNT_COUNT := 0
ICOUNT_RUN   := 3
BOARD_TESTS  := -# core and drivers are those of the netduinoplus2: only scripts run this image

LAB_KERNEL_REALS := f32# number types of the laboratory's kernels

# Elastic links for arms of up to six joints with four modes per link take 9 KB of RAM.
FLEX_DEFS   := -DDYN_FLEX_MAX_JOINTS=6 -DDYN_FLEX_LINK_MODES=4 -DDYN_FLEX_MAX=24
BOARD_DEFS  := $(FLEX_DEFS) -DAPP_SAMPLES=8 -DLINK_IMAGE_ROOM=8192# bytes of an image: 16 joints, or 32 without fixed point
LAB_DEFS    := -UAPP_SAMPLES -DAPP_SAMPLES=4# 32 joints and all methods fill the RAM
LAB_REALS   := f32# number types of batches computed for the tool

JOINTS := 12# in the product: an arm and a gripper, or two arms of six; each joint takes about 3 KB of the 128 KB

FLASHER     := openocd
OPENOCD_CFG := -f board/st_nucleo_f4.cfg

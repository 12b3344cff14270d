# Netduino 2: STM32F205RF, Cortex-M3 at 120 MHz, no FPU. The emulator has a machine of the same name.
CHIP   := stm32f205
FAMILY := stm32f4# the F2 has the F4's peripherals
CPU    := m3

CONTROL_REAL := q31# number type of the control loop

QEMU_MACHINE := netduino2
ICOUNT_COUNT := 0
ICOUNT_RUN   := 3

BOARD_DEFS  := -DAPP_FLEX=0 -DAPP_SAMPLES=8 -DLINK_IMAGE_ROOM=8192# bytes of an image: 16 joints, or 32 without fixed point

JOINTS := 12# in the product: an arm and a gripper, or two arms of six; each joint takes about 3 KB of the 128 KB

FLASHER     := openocd
OPENOCD_CFG := -f interface/stlink.cfg -f target/stm32f2x.cfg

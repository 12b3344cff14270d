# Arm MPS2 with the AN500 image: Cortex-M7 with double-precision FPU at 25 MHz. It serves as the emulator's M7.
CHIP   := mps2
FAMILY := mps2
CPU    := m7

QEMU_MACHINE := mps2-an500
ICOUNT_COUNT := 10
ICOUNT_RUN   := 3

# 4 MB of RAM: room for long images, batches in double precision, and 32 joints in the product too.
BOARD_DEFS  := -DLINK_IMAGE_ROOM=65536 -DBATCH_EVALUATOR_ROOM=49152
LAB_REALS   := f32 f64 q31# number types of batches computed for the tool

FLASHER := none

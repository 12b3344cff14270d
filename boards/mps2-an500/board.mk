# Arm MPS2 with the AN500 image: Cortex-M7 with double-precision FPU at 25 MHz. The emulator's M7.
CHIP   := mps2
FAMILY := mps2
CPU    := m7

QEMU_MACHINE := mps2-an500
ICOUNT_COUNT := 10
ICOUNT_RUN   := 3

FLASHER := none

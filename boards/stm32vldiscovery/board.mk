# STM32 value line Discovery: STM32F100RB, Cortex-M3 at 24 MHz, 8 KB of RAM, neither FPU nor MPU.
CHIP   := stm32f100
FAMILY := stm32f1
CPU    := m3

CONTROL_REAL := q31# number type of the control loop

QEMU_MACHINE := stm32vldiscovery
QEMU_SLOTS   := __slots# symbol of the slots; the emulator loads a robot there, because the chip has no RAM for an image and the emulated flash cannot be written
ICOUNT_COUNT := 10
ICOUNT_RUN   := 5
ICOUNT_SLEEP := on# not faster than real time; otherwise a busy host would send the points of a stream too late for a buffer of 16

# Sizes of rings and buffers that leave room for a six-joint arm in 8 KB of RAM.
BOARD_DEFS  := -DAPP_FLEX=0 -DAPP_HELP=0 -DUART_TX_RING=256 -DUART_RX_RING=128 -DLINK_IMAGE_ROOM=0 -DSERVER_PAYLOAD=64 -DAPP_ARMS=0 -DAPP_CONTROLS=1 -DAPP_SENSORS=0 -DAPP_SAMPLES=3 -DAPP_POINTS=16
JOINTS      := 6# as many as fit into 8 KB
LAB_DEFS    := -DDYN_MAX_JOINTS=6
BOARD_TESTS := harness fault tick cycles hal_emulated

LAB_KERNEL_REALS := q31# number types of the laboratory's kernels
LAB_REALS   := -# batches for the tool need more memory

FLASHER     := st-flash

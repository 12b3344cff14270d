# ST Nucleo-F446RE: STM32F446RE, Cortex-M4F at 168 MHz. Hardware only: the emulator has no such machine.
CHIP   := stm32f446
FAMILY := stm32f4
CPU    := m4f

REALS       := f32# number types of its kernels

FLASHER     := openocd
OPENOCD_CFG := -f board/st_nucleo_f4.cfg

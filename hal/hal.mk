# The sources of the HAL of each chip family, and the compiler flags of each core. A board.mk names its
# FAMILY and CPU; nothing else here is per board.

CPU_FLAGS_m3  := -mcpu=cortex-m3 -mthumb -mfloat-abi=soft
CPU_FLAGS_m4f := -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard
CPU_FLAGS_m7  := -mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard
CORE_H_m3     := core_cm3.h
CORE_H_m4f    := core_cm4.h
CORE_H_m7     := core_cm7.h

HAL_SRC_cortexm := $(addprefix hal/cortexm/,start.c guard.c fault.c irq.c cycles.c reset.c)
HAL_SRC_systick := $(addprefix hal/cortexm/,tick_systick.c reset_request.c)

HAL_SRC_stm32 := $(addprefix hal/stm32/,uart.c motor.c latch.c encoder.c switches.c supply.c watchdog.c power.c clock_failure.c reset.c flash.c)
HAL_SRC_stm32f4 := $(HAL_SRC_stm32) $(wildcard hal/stm32/f4/*.c) hal/stm32/tick_tim2.c hal/cortexm/idle_wfi.c hal/cortexm/reset_restart.c
HAL_SRC_stm32f1 := $(HAL_SRC_stm32) $(wildcard hal/stm32/f1/*.c) $(HAL_SRC_systick) hal/cortexm/counter_systick.c
HAL_SRC_mps2    := $(wildcard hal/mps2/*.c) $(HAL_SRC_systick)

HAL_DEFS_stm32f4 := -DHAL_STM32F4 -DHAL_VECTORS_H='"hal/stm32/vectors.h"'
HAL_DEFS_stm32f1 := -DHAL_STM32F1 -DHAL_VECTORS_H='"hal/stm32/vectors.h"'
HAL_DEFS_mps2    := -DHAL_VECTORS_H='"hal/mps2/vectors.h"'

HAL_SRC  := $(HAL_SRC_cortexm) $(HAL_SRC_$(FAMILY)) $(wildcard boards/$(BOARD)/*.c)
HAL_DEFS := $(HAL_DEFS_$(FAMILY)) -DHAL_CORE_H='<$(CORE_H_$(CPU))>' -DHAL_CHIP_$(shell echo $(CHIP) | tr a-z A-Z)

# Interrupt handlers by preemption level (hal/irq.h). The stack is deepest when one interrupt of each level is active.
IRQ_LEVELS_stm32f4 := nmi=clock_failure_irq break=motor_break_irq,watchdog_irq,power_irq tick=tick_irq,encoder_irq uart=uart_irq
IRQ_LEVELS_stm32f1 := nmi=clock_failure_irq break=motor_break_irq,watchdog_irq,power_irq tick=systick_irq,encoder_irq uart=uart_irq
IRQ_LEVELS_mps2    := tick=systick_irq uart=uart_rx_irq,uart_tx_irq

/* The handler of each interrupt line, per chip. The numbers are those of the reference manuals'
 * vector tables; test/hal/test_hal_boards.c compares them with the board files. */
#ifndef HAL_STM32_VECTORS_H
#define HAL_STM32_VECTORS_H

#include "hal/stm32/handlers.h"

/* Lines of all chips: 1 PVD, 54 TIM6. The NMI comes from the clock security system. */
#define VECTORS_ALL(V) V(1, power_irq) V(54, watchdog_irq)
#define CHIP_NMI       clock_failure_irq
/*
 * Lines: 16 DMA1 stream 5, 24 TIM1 break, 28 TIM2, 36 SPI2, 37 USART1, 38 USART2, 43 TIM8 break, 58
 * DMA2 stream 2
 */
#define VECTORS_STM32F405(V)                                                                       \
    VECTORS_ALL(V)                                                                                 \
    V(24, motor_break_irq)                                                                         \
    V(28, tick_irq) V(36, encoder_irq) V(37, uart_irq) V(43, motor_break_irq) V(58, uart_irq)
#define VECTORS_STM32F205(V) VECTORS_STM32F405(V)
#define VECTORS_STM32F446(V)                                                                       \
    VECTORS_ALL(V)                                                                                 \
    V(16, uart_irq)                                                                                \
    V(24, motor_break_irq) V(28, tick_irq) V(36, encoder_irq) V(38, uart_irq) V(43, motor_break_irq)
/* Lines: 15 DMA1 channel 5, 24 TIM1 break and all of TIM15, 35 SPI1, 37 USART1 */
#define VECTORS_STM32F100(V)                                                                       \
    VECTORS_ALL(V)                                                                                 \
    V(15, uart_irq) V(24, motor_break_irq) V(35, encoder_irq) V(37, uart_irq)

#if defined(HAL_CHIP_STM32F405)
#define CHIP_IRQ_COUNT  82
#define CHIP_VECTORS(V) VECTORS_STM32F405(V)
#elif defined(HAL_CHIP_STM32F205)
#define CHIP_IRQ_COUNT  81
#define CHIP_VECTORS(V) VECTORS_STM32F205(V)
#elif defined(HAL_CHIP_STM32F446)
#define CHIP_IRQ_COUNT  97
#define CHIP_VECTORS(V) VECTORS_STM32F446(V)
#elif defined(HAL_CHIP_STM32F100)
#include "hal/cortexm/systick.h"
#define CHIP_IRQ_COUNT  56
#define CHIP_VECTORS(V) VECTORS_STM32F100(V)
#define CHIP_SYSTICK    systick_irq
#endif

#endif

/* Interrupt handlers of the STM32 drivers, for the vector table. */
#ifndef HAL_STM32_HANDLERS_H
#define HAL_STM32_HANDLERS_H

void tick_irq(void);
void uart_irq(void);
void encoder_irq(void);
void motor_break_irq(void);
void watchdog_irq(void);
void power_irq(void);
void clock_failure_irq(void); /* NMI */

#endif

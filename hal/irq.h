/* Interrupts: critical sections, and enabling a line of the interrupt controller. */
#ifndef HAL_IRQ_H
#define HAL_IRQ_H

#include <stdint.h>

/* Priorities; 0 is the most urgent. They are written into the upper four priority bits, which
 * every chip here implements (the emulator implements all eight). Only the e-stop can interrupt
 * the tick. */
enum { IRQ_PRIORITY_BREAK = 0, IRQ_PRIORITY_TICK = 2, IRQ_PRIORITY_UART = 8 };

/* Masks all interrupts and returns the state for irq_unlock; calls may nest. */
uint32_t irq_lock(void);
void irq_unlock(uint32_t state);

void irq_enable(int irq, unsigned priority);
void irq_disable(int irq);
void irq_pend(int irq); /* runs the handler as if the hardware had requested the interrupt */

#endif

/* Interrupts: critical sections, and enabling a line of the interrupt controller. */
#ifndef HAL_IRQ_H
#define HAL_IRQ_H

#include <stdint.h>

/* Priorities; 0 is the most urgent. They are written into the upper four priority bits, which
 * every chip here implements (the emulator implements all eight). Only what switches the outputs
 * off can interrupt the tick: the e-stop, the watchdog's timer, the supply monitor, and the NMI of a
 * failed oscillator. The encoders have the tick's priority: they are read between two ticks, so
 * that they need no stack of their own and share data with the tick without a lock. */
enum {
    IRQ_PRIORITY_BREAK = 0,
    IRQ_PRIORITY_TICK = 2,
    IRQ_PRIORITY_SENSE = IRQ_PRIORITY_TICK,
    IRQ_PRIORITY_UART = 8,
};

/* Masks all interrupts and returns the state for irq_unlock; calls may nest. */
uint32_t irq_lock(void);
void irq_unlock(uint32_t state);

void irq_enable(int irq, unsigned priority);
void irq_disable(int irq);
void irq_pend(int irq); /* runs the handler as if the hardware had requested the interrupt */

#endif

/* Interrupt lines of the MPS2 images that this firmware uses. */
#ifndef HAL_MPS2_VECTORS_H
#define HAL_MPS2_VECTORS_H

#include "hal/cortexm/systick.h"

void uart_rx_irq(void);
void uart_tx_irq(void);

#define CHIP_IRQ_COUNT  32
#define CHIP_VECTORS(V) V(0, uart_rx_irq) V(1, uart_tx_irq)
#define CHIP_SYSTICK    systick_irq

#endif

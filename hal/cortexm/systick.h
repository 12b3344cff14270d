/* The handler of tick_systick.c, for the vector table. */
#ifndef HAL_CORTEXM_SYSTICK_H
#define HAL_CORTEXM_SYSTICK_H

void systick_irq(void);

#endif

/* The core itself: what runs before main, waiting for interrupts, the guard under the stack. */
#ifndef HAL_CPU_H
#define HAL_CPU_H

/* Waits for the next interrupt where that is faithful, returns at once where it is not
 * (SysTick under the emulator with icount fires at twice its period across WFI). */
void cpu_idle(void);

#endif

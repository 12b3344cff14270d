/* Waiting for interrupts. */
#ifndef HAL_CPU_H
#define HAL_CPU_H

/* Waits for the next interrupt. Returns at once where the emulator would distort time: with icount,
 * SysTick fires at twice its period across WFI. */
void cpu_idle(void);

#endif

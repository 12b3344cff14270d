/* The counter of hal/cycles.h, one per chip family. */
#ifndef HAL_CORTEXM_COUNTER_H
#define HAL_CORTEXM_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the counter. True: it counts the emulator's time, which advances by a fixed step per
 * instruction. False: it counts core cycles. */
bool counter_start(void);
uint32_t counter_now(void);
uint32_t counter_elapsed(uint32_t start, uint32_t end); /* handles the wrap of the counter */
uint32_t counter_hz(void);

#endif

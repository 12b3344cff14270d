/* The counter that hal/cycles.h uses; each chip family has its own. */
#ifndef HAL_CORTEXM_COUNTER_H
#define HAL_CORTEXM_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the counter. Returns true if it counts the emulator's time, which advances by a fixed step
 * per instruction; false if it counts core cycles. */
bool counter_start(void);
uint32_t counter_now(void);
uint32_t counter_elapsed(uint32_t start, uint32_t end); /* handles the wrap of the counter */
uint32_t counter_hz(void);

#endif

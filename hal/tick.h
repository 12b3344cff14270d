/* The tick: a periodic interrupt from a hardware timer. */
#ifndef HAL_TICK_H
#define HAL_TICK_H

#include <stdbool.h>
#include <stdint.h>

enum { TICK_OK = 0, TICK_ERR_RATE = -1 };

/* Starts calling tick_interrupt rate_hz times a second. TICK_ERR_RATE: the timer cannot reach that
 * rate. */
int tick_start(uint32_t rate_hz);
void tick_stop(void);

/* True inside tick_interrupt if the next tick is due already: this one overran its period. */
bool tick_overrun(void);

/* Provided by the firmware, called from the timer's interrupt. The linker connects it, not a
 * function pointer. */
void tick_interrupt(void);

#endif

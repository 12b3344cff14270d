/* The tick: a periodic interrupt from a hardware timer. */
#ifndef HAL_TICK_H
#define HAL_TICK_H

#include <stdbool.h>
#include <stdint.h>

enum { TICK_OK = 0, TICK_ERR_RATE = -1 };

/* Starts calling tick_interrupt rate_hz times a second. Returns TICK_ERR_RATE if the timer cannot
 * reach that rate. */
int tick_start(uint32_t rate_hz);
void tick_stop(void);

/* Inside tick_interrupt: returns true if the next tick is already due, because this one took longer
 * than its period. */
bool tick_overrun(void);

/* Called once inside each tick_interrupt: returns how many ticks were lost since the last one (since
 * tick_start for the first): whole periods that passed without a tick. */
uint32_t tick_lost(void);

/* Provided by the firmware and called from the timer's interrupt. It is connected by the linker,
 * without a function pointer. */
void tick_interrupt(void);

#endif

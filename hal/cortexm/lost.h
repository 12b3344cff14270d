/* tick_lost of hal/tick.h for the tick drivers, by the counter of hal/cycles.h. Only a tick driver
 * includes this file.
 *
 * The counter wraps after 25 s at 168 MHz (179 s on the F1, 4.3 s in the emulator); a gap of whole
 * wraps is not seen. On silicon the watchdog has reset the chip long before, 13.8 s after the last
 * tick at the latest. The counter of the emulated F1 is the tick's own SysTick, which sees no gap
 * at all: it reports 0. While a debugger halts the core, the counter stands still.
 *
 * A virtual board (flash_kept) runs in real time: when its host is late, the emulator's clock jumps
 * while the core sleeps. The ticks in between did not happen for the simulated arm either, so they
 * are not lost. */
#ifndef HAL_CORTEXM_LOST_H
#define HAL_CORTEXM_LOST_H

#include "hal/cortexm/counter.h"
#include "hal/flash.h"

static uint32_t last_tick; /* reading of the counter */

/* Returns round(elapsed / period) - 1; divides only if a tick was lost. What a debugger has written
 * into flash_kept must not be folded. */
static uint32_t lost_periods(uint32_t period) {
    uint32_t now = counter_now();
    uint32_t elapsed = counter_elapsed(last_tick, now), limit = period + period / 2;
    last_tick = now;
    if (elapsed < limit || *(const volatile uint32_t *)&flash_kept != 0)
        return 0;
    return (elapsed - limit) / period + 1;
}

#endif

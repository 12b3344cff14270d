/* The counter for a chip whose other counters the emulator does not model: SysTick (24 bits,
 * counting down) in the emulator, the DWT cycle counter of the Cortex-M3 on silicon. */
#include "hal/clock.h"
#include "hal/cortexm/core.h"
#include "hal/cortexm/counter.h"

static bool emulated;

bool counter_start(void) {
    emulated = clock_info()->emulated;
    if (!emulated) {
        CoreDebug->DEMCR |= CoreDebug_DEMCR_TRCENA_Msk;
        DWT->CYCCNT = 0;
        DWT->CTRL |= DWT_CTRL_CYCCNTENA_Msk;
    } else if ((SysTick->CTRL & SysTick_CTRL_ENABLE_Msk) == 0) {
        SysTick->LOAD = SysTick_LOAD_RELOAD_Msk;
        SysTick->VAL = 0;
        SysTick->CTRL = SysTick_CTRL_CLKSOURCE_Msk | SysTick_CTRL_ENABLE_Msk;
    }
    return emulated;
}

uint32_t counter_now(void) {
    return emulated ? SysTick->VAL : DWT->CYCCNT;
}

uint32_t counter_elapsed(uint32_t start, uint32_t end) {
    if (!emulated)
        return end - start;
    return start >= end ? start - end : start + SysTick->LOAD + 1 - end;
}

uint32_t counter_hz(void) {
    return clock_info()->core_hz;
}

/* The counter that hal/cycles.h uses on the F2 and F4: the core's cycle counter on silicon. In the
 * emulator that counter reads 0, but TIM5 counts virtual nanoseconds without being started. */
#include "hal/cortexm/counter.h"
#include "hal/stm32/chip.h"

#define DWT_CTRL   REG_BLOCK(reg_t, 0xE0001000)
#define DWT_CYCCNT REG_BLOCK(reg_t, 0xE0001004)
#define CORE_DEMCR REG_BLOCK(reg_t, 0xE000EDFC)

enum { DWT_CTRL_CYCCNTENA = 1 << 0, CORE_DEMCR_TRCENA = 1 << 24 };

static volatile uint32_t *counter = DWT_CYCCNT;

bool counter_start(void) {
    bool emulated = clock_info()->emulated;
    if (emulated) {
        counter = &TIM5->CNT;
    } else {
        counter = DWT_CYCCNT;
        reg_set(CORE_DEMCR, CORE_DEMCR_TRCENA); /* without it the DWT has no clock */
        reg_set(&DBGMCU->CR, DBGMCU_SLEEP);     /* the core keeps its clock while it sleeps */
        reg_write(DWT_CYCCNT, 0);
        reg_set(DWT_CTRL, DWT_CTRL_CYCCNTENA);
    }
    return emulated;
}

uint32_t counter_now(void) {
    return reg_read(counter);
}

uint32_t counter_elapsed(uint32_t start, uint32_t end) {
    return end - start;
}

uint32_t counter_hz(void) {
    return clock_info()->emulated ? 1000000000 : clock_info()->core_hz;
}

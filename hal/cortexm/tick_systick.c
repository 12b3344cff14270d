/* hal/tick.h on SysTick, for chips whose timers the emulator does not model. */
#include "hal/tick.h"
#include "hal/clock.h"
#include "hal/cpu.h"
#include "hal/irq.h"
#include "hal/cortexm/core.h"
#include "hal/cortexm/lost.h"
#include "hal/cortexm/systick.h"

int tick_start(uint32_t rate_hz) {
    uint32_t reload = rate_hz == 0 ? 0 : clock_info()->tick_timer_hz / rate_hz;
    if (reload < 2 || reload - 1 > SysTick_LOAD_RELOAD_Msk)
        return TICK_ERR_RATE;
    SysTick->CTRL = 0; /* the emulator uses a new period only after the timer was switched off and
                        * on */
    SysTick->LOAD = reload - 1;
    SysTick->VAL = 0;
    NVIC_SetPriority(SysTick_IRQn, IRQ_PRIORITY_TICK);
    SysTick->CTRL = SysTick_CTRL_CLKSOURCE_Msk | SysTick_CTRL_TICKINT_Msk | SysTick_CTRL_ENABLE_Msk;
    last_tick = counter_now();
    return TICK_OK;
}

void tick_stop(void) {
    SysTick->CTRL &= ~SysTick_CTRL_TICKINT_Msk; /* the counter continues to run, because
                                                 * hal/cycles.h may use it */
    SCB->ICSR = SCB_ICSR_PENDSTCLR_Msk;
}

bool tick_overrun(void) {
    return (SCB->ICSR & SCB_ICSR_PENDSTSET_Msk) != 0;
}

/* SysTick and the counter run at the core clock. */
uint32_t tick_lost(void) {
    return lost_periods(SysTick->LOAD + 1);
}

void systick_irq(void) {
    tick_interrupt();
}

/* Does not sleep under the emulator: across WFI it fires SysTick at twice its period (icount with
 * sleep=off). */
void cpu_idle(void) {
    if (!clock_info()->emulated)
        __WFI();
}

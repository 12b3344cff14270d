/*
 * hal/tick.h on TIM2 of the F2 and F4, a 32-bit timer.
 *
 * One image serves silicon and emulator. The emulator's timer keeps the correct period only with
 * PSC = 0 and if EGR and CNT are never written. Its period is ARR ticks; on silicon it is ARR + 1
 * ticks. Without ARPE a new ARR takes effect at once. On silicon the counter is restarted at zero:
 * if it were beyond a shorter period, it would run to the end of its 32 bits, 51 s at 84 MHz
 * without a tick.
 *
 * TIM2 continues to run while a debugger halts the core, unlike the motor timers. If the halt comes
 * inside tick_interrupt, tick_overrun returns true afterwards. The time of a halt is no lost tick,
 * because the core's cycle counter halts too.
 */
#include "hal/tick.h"
#include "hal/cortexm/lost.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/handlers.h"

enum { RATE_MIN_HZ = 100, RATE_MAX_HZ = 20000 };

static uint32_t period_steps; /* of the counter */

int tick_start(uint32_t rate_hz) {
    if (rate_hz < RATE_MIN_HZ || rate_hz > RATE_MAX_HZ)
        return TICK_ERR_RATE;
    const clock_info_t *clock = clock_info();
    tim_t *tim = board.tick.regs;
    uint32_t period = clock->tick_timer_hz / rate_hz;
    rcc_enable(board.tick.clock);
    reg_write(&tim->CR1, 0);
    reg_write(&tim->ARR, clock->emulated ? period : period - 1);
    if (!clock->emulated)
        reg_write(&tim->CNT, 0);
    reg_write(&tim->SR, 0);
    reg_write(&tim->DIER, TIM_DIER_UIE);
    period_steps = counter_hz() / rate_hz;
    last_tick = counter_now();
    irq_enable(board.tick.irq, IRQ_PRIORITY_TICK);
    reg_write(&tim->CR1, TIM_CR1_CEN);
    return TICK_OK;
}

void tick_stop(void) {
    tim_t *tim = board.tick.regs;
    reg_write(&tim->DIER, 0);
    reg_write(&tim->CR1, 0);
    reg_write(&tim->SR, 0);
    irq_disable(board.tick.irq);
}

bool tick_overrun(void) {
    return (reg_read(&board.tick.regs->SR) & TIM_SR_UIF) != 0;
}

uint32_t tick_lost(void) {
    return lost_periods(period_steps);
}

/* The flag is cleared first: if it is set again during tick_interrupt, the next tick is due. */
void tick_irq(void) {
    reg_write(&board.tick.regs->SR, ~(uint32_t)TIM_SR_UIF);
    tick_interrupt();
}

/*
 * hal/watchdog.h on the independent watchdog (RM0090 and RM0041, "Independent watchdog") and TIM6.
 *
 * The watchdog's oscillator is inaccurate: 17 to 47 kHz on the F2 and F4, 30 to 60 kHz on the F1.
 * The prescaler stays the same, the reload value changes with the outputs. A reload of n bites
 * after n to n + 2 steps of the prescaler, because the prescaler runs on when the counter is fed.
 *   Outputs off: n steps of the fastest oscillator last WATCHDOG_OFF_MS; 13.8 s at 17 kHz.
 *   Outputs on: n + 2 steps of the slowest oscillator last at most WATCHDOG_ON_MS. n steps of the
 *     fastest one must last 2.5 periods of TIM6, which feeds: 15 ms at 47 kHz, 19 ms on the F1.
 *
 * The timer's interrupt changes the reload value and waits for nothing. A change takes up to one
 * period until the interrupt writes RLR, 6 steps of the prescaler until the oscillator's side has
 * it (RVU; 23 ms at 17 kHz, 26 ms on the F1 at 30 kHz), and up to one period until the next feed,
 * with which it takes effect: 36 ms at most.
 *
 * A tick that stops is noticed by the eighth interrupt in a row without a tick before it, 40 to 45
 * ms after the last tick; 49 ms if TIM6 runs from an internal oscillator that is 8 % slow.
 */
#include "hal/watchdog.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/handlers.h"

enum {
    PRESCALER_MAX = 6, /* divides by 4 << 6 = 256 */
    RELOAD_MAX = 4095,
    UPDATE_MS = 100, /* 6 cycles of the oscillator divided by 256: 90 ms at 17 kHz */
    TIMER_IRQ = 54,  /* TIM6, on all chips */
    TIMER_HZ = 10000,
    PERIOD_MS = 5,
    SILENT_MAX = WATCHDOG_TICK_MS / PERIOD_MS,
    OFF = 1,
    ON = 2,
    SETTLED = 4, /* the reload value of this mode is in effect */
};

static volatile uint8_t beat; /* OFF or ON from the tick; the timer takes it and writes 0 */
/* Written by the timer alone. */
static volatile uint8_t mode;   /* OFF or ON, and SETTLED */
static volatile uint8_t silent; /* periods without a beat; SILENT_MAX: dead until the reset */

static uint32_t off_steps(uint32_t prescaler) {
    uint32_t cycles = WATCHDOG_OFF_MS * (board.lsi_max_hz / 1000);
    return (cycles + (4u << prescaler) - 1) / (4u << prescaler);
}

static uint32_t prescaler_field(void) {
    uint32_t prescaler = 0;
    while (prescaler < PRESCALER_MAX && off_steps(prescaler) > RELOAD_MAX)
        prescaler++;
    return prescaler;
}

/* Returns the reload value; 0 if the board's oscillator does not allow one. */
static uint32_t reload_for(bool on) {
    uint32_t prescaler = prescaler_field(), steps = off_steps(prescaler);
    if (!on)
        return steps <= RELOAD_MAX ? steps : 0;
    steps = WATCHDOG_ON_MS * (board.lsi_min_hz / 1000) / (4u << prescaler);
    return steps > 2 &&
                   (steps - 2) * (4u << prescaler) * 2 >= 5 * PERIOD_MS * (board.lsi_max_hz / 1000)
               ? steps - 2
               : 0;
}

static bool start_independent(uint32_t reload) {
    uint32_t polls = wait_polls(clock_info()->core_hz, UPDATE_MS);
    /* Starting the watchdog also starts its oscillator, without which the updates would never
     * end. */
    reg_write(&IWDG->KR, IWDG_KEY_START);
    if (!reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls))
        return false;
    reg_write(&IWDG->KR, IWDG_KEY_ACCESS);
    reg_write(&IWDG->PR, prescaler_field());
    reg_write(&IWDG->RLR, reload);
    if (!reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls))
        return false;
    reg_write(&IWDG->KR, IWDG_KEY_FEED);
    /* An emulator without a watchdog keeps nothing. */
    return reg_read(&IWDG->RLR) == reload && reg_read(&IWDG->PR) == prescaler_field();
}

/* Returns false if there is no timer, as in the emulator. */
static bool start_timer(void) {
    rcc_enable(RCC_TIM6);
    reg_write(&TIM6->CR1, TIM_CR1_URS); /* UG loads PSC and requests no interrupt */
    reg_write(&TIM6->PSC, clock_timer_hz(RCC_TIM6) / TIMER_HZ - 1);
    reg_write(&TIM6->ARR, TIMER_HZ / 1000 * PERIOD_MS - 1);
    reg_write(&TIM6->EGR, TIM_EGR_UG);
    reg_write(&TIM6->SR, 0);
    reg_write(&TIM6->DIER, TIM_DIER_UIE);
    irq_enable(TIMER_IRQ, IRQ_PRIORITY_BREAK);
    reg_write(&TIM6->CR1, TIM_CR1_URS | TIM_CR1_CEN);
    return watchdog_running();
}

int watchdog_start(void) {
    uint32_t reload = reload_for(false);
    if (reload == 0 || reload_for(true) == 0)
        return WATCHDOG_ERR_RANGE;
    beat = silent = 0;
    mode = OFF | SETTLED;
    /* Freezes both while a debugger halts the core, because the core can neither feed nor tick
     * then; the motor outputs are off during a halt (motor.c). */
    reg_set(DBGMCU_FREEZE_WATCHDOG, DBGMCU_FREEZE_IWDG | DBGMCU_FREEZE_TIM6);
    return start_independent(reload) && start_timer() ? WATCHDOG_OK : WATCHDOG_ERR_TIMEOUT;
}

/* The timer is started last and never stopped. */
bool watchdog_running(void) {
    return (reg_read(&TIM6->CR1) & TIM_CR1_CEN) != 0;
}

void watchdog_feed(void) {
    if (silent < SILENT_MAX)
        reg_write(&IWDG->KR, IWDG_KEY_FEED);
}

bool watchdog_tick(bool outputs_on) {
    beat = outputs_on ? ON : OFF;
    return mode == (ON | SETTLED);
}

/* Nothing of lower priority writes KR between the two accesses that change RLR, because this
 * interrupt is more urgent than tick and background. */
void watchdog_irq(void) {
    reg_write(&TIM6->SR, 0);
    if (silent == SILENT_MAX)
        return; /* not fed any more: the chip resets */
    uint8_t last = beat;
    beat = 0;
    if (last != 0) {
        silent = 0;
        if (last != (mode & (OFF | ON)))
            mode = last;
    }
    if (mode == (OFF | SETTLED))
        return; /* the background feeds */
    if (last == 0 && ++silent == SILENT_MAX) {
        latch_set(LATCH_TICK);
        return;
    }
    if ((mode & SETTLED) == 0 && (reg_read(&IWDG->SR) & IWDG_SR_RVU) == 0) {
        uint32_t reload = reload_for(mode == ON);
        if (reg_read(&IWDG->RLR) == reload) {
            mode |= SETTLED;
        } else {
            reg_write(&IWDG->KR, IWDG_KEY_ACCESS);
            reg_write(&IWDG->RLR, reload);
        }
    }
    reg_write(&IWDG->KR, IWDG_KEY_FEED);
}

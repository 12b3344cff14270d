/* Oscillators and the watchdog. The F2 and F4 can lead the LSI and the divided HSE to a timer
 * (RM0090, TIM5_OR and TIM11_OR); on the F100 the bite of the watchdog measures the LSI. */
#include "test/silicon/silicon.h"

#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/irq.h"
#include "hal/reset.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"

void step_clock(void) {
    if (unseen_in_emulator("core_clock", "RCC"))
        return;
    const board_clock_t *c = &board.clock;
    const uint32_t planned = c->hse_hz / c->pll.m * c->pll.n / c->pll.p;
    result("core_clock", 0, clock_info()->core_hz, "Hz", planned, planned);
}

#ifdef HAL_STM32F4
#define TIM11      REG_BLOCK(tim_t, 0x40014800)
#define RCC_TIM5   RCC_BIT(RCC_BUS_APB1, 3)
#define RCC_TIM11  RCC_BIT(RCC_BUS_APB2, 18)
#define TIM_OR(t)  (&(t)->BDTR + 3) /* offset 0x50 */
#define EVERY      8u               /* periods of the clock between two captures */
#define HSE_DIVIDE 31u

enum {
    TIM5_OR_LSI = 1 << 6,
    TIM11_OR_HSE_RTC = 2 << 0,
    CCMR_INPUT_EVERY_8 = 1 << 0 | 3 << 2,
    RCC_CSR_LSION = 1 << 0,
    RCC_CSR_LSIRDY = 1 << 1,
    RCC_CFGR_RTCPRE = 31 << 16,
};

/* Returns the counts of the timer over this many captures of a channel; 0 if one did not come or
 * was missed. */
static uint32_t capture(tim_t *tim, unsigned channel, uint32_t option, uint32_t top,
                        uint32_t captures) {
    const unsigned c = channel - 1;
    reg_write(&tim->CR1, 0);
    reg_write(TIM_OR(tim), option);
    reg_write(&tim->PSC, 0);
    reg_write(&tim->ARR, top);
    reg_write(&tim->CCMR[c / 2], (uint32_t)CCMR_INPUT_EVERY_8 << 8 * (c % 2));
    reg_write(&tim->CCER, (uint32_t)TIM_CCER_CCE << 4 * c);
    reg_write(&tim->EGR, TIM_EGR_UG);
    reg_write(&tim->SR, 0);
    reg_write(&tim->CR1, TIM_CR1_CEN);
    const uint32_t flag = 2u << c, missed = 0x200u << c;
    const uint32_t polls = wait_polls(clock_info()->core_hz, 2); /* 8 periods of 17 kHz: 0.5 ms */
    uint32_t sum = 0, last = 0;
    for (uint32_t i = 0; i <= captures; i++) {
        if (!reg_wait(&tim->SR, flag, flag, polls) || (reg_read(&tim->SR) & missed))
            return 0;
        const uint32_t now = reg_read(&tim->CCR[c]); /* clears the flag */
        sum += i > 0 ? (now - last) & top : 0;
        last = now;
    }
    reg_write(&tim->CR1, 0);
    return sum;
}

void step_lsi(void) {
    enum { CAPTURES = 200 };
    if (unseen_in_emulator("lsi", "the LSI"))
        return;
    reg_set(&RCC->CSR, RCC_CSR_LSION);
    (void)reg_wait(&RCC->CSR, RCC_CSR_LSIRDY, RCC_CSR_LSIRDY, wait_polls(clock_info()->core_hz, 1));
    rcc_enable(RCC_TIM5);
    const uint32_t sum = capture(TIM5, 4, TIM5_OR_LSI, UINT32_MAX, CAPTURES);
    const uint64_t counts = (uint64_t)CAPTURES * EVERY * clock_timer_hz(RCC_TIM5);
    kept.lsi_hz = sum > 0 ? (uint32_t)(counts / sum) : 0;
    result("lsi", 0, kept.lsi_hz, "Hz", board.lsi_min_hz, board.lsi_max_hz);
}

static bool switch_to(uint32_t source) {
    reg_modify(&RCC->CFGR, RCC_CFGR_SW, source);
    return reg_wait(&RCC->CFGR, RCC_CFGR_SWS, source << 2, wait_polls(clock_info()->core_hz, 1));
}

/* Meanwhile the core and the timers run from the HSI: otherwise the HSE would be measured with
 * itself. The HSI is 1 % accurate at 25 degrees and 8 % over the whole temperature range. */
void step_hse(void) {
    enum { CAPTURES = 1000 };
    if (unseen_in_emulator("hse", "the HSE"))
        return;
    uint32_t sum = 0;
    rcc_enable(RCC_TIM11);
    reg_set(&RCC->CFGR, RCC_CFGR_RTCPRE);
    if (clock_info()->source == CLOCK_CRYSTAL_PLL && switch_to(RCC_CFGR_SW_HSI)) {
        sum = capture(TIM11, 1, TIM11_OR_HSE_RTC, UINT16_MAX, CAPTURES);
        (void)switch_to(RCC_CFGR_SW_PLL);
    }
    const uint64_t timer_hz =
        (uint64_t)clock_timer_hz(RCC_TIM11) * RCC_HSI_HZ / clock_info()->core_hz;
    const uint64_t counts = CAPTURES * EVERY * HSE_DIVIDE * timer_hz;
    result("hse", 0, sum > 0 ? (uint32_t)(counts / sum) : 0, "Hz", board.clock.hse_hz / 100 * 92,
           board.clock.hse_hz / 100 * 108);
}
#else
void step_lsi(void) {} /* step_watchdog_after */

void step_hse(void) {
    unseen("hse", "this chip cannot lead the HSE to a timer");
}
#endif

/* The time-out is 16 * 1024 periods of the LSI: 0.5 s at 32 kHz. */
enum { PRESCALE_16 = 2, RELOAD = 1023, LSI_PERIODS = 16 * (RELOAD + 1), BITE_MAX_US = 3000000 };

void step_watchdog(void) {
    if (unseen_in_emulator("watchdog", "IWDG"))
        return;
    const uint32_t polls = wait_polls(clock_info()->core_hz, 100);
    reg_set(DBGMCU_FREEZE_WATCHDOG, DBGMCU_FREEZE_IWDG);
    reg_write(&IWDG->KR, IWDG_KEY_START);
    (void)reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls);
    reg_write(&IWDG->KR, IWDG_KEY_ACCESS);
    reg_write(&IWDG->PR, PRESCALE_16);
    reg_write(&IWDG->RLR, RELOAD);
    (void)reg_wait(&IWDG->SR, IWDG_SR_PVU | IWDG_SR_RVU, 0, polls);
    (void)irq_lock();
    reg_write(&IWDG->KR, IWDG_KEY_FEED);
    const uint32_t start = cycles_now();
    do
        kept.watchdog_steps = cycles_steps(start, cycles_now());
    while (steps_us(kept.watchdog_steps) < BITE_MAX_US);
    irq_unlock(0);
    result("watchdog", 0, BITE_MAX_US, "us", 1, BITE_MAX_US - 1);
}

void step_watchdog_after(void) {
    const uint64_t periods_us = LSI_PERIODS * 1000000ull;
    const uint32_t us = steps_us(kept.watchdog_steps);
    uint32_t slow = board.lsi_min_hz, fast = board.lsi_max_hz;
    if (kept.lsi_hz >= 1000) { /* the LSI moves with temperature and supply */
        slow = kept.lsi_hz / 100 * 97;
        fast = kept.lsi_hz / 100 * 103;
    } else {
        result("lsi", 0, us > 0 ? (uint32_t)(periods_us / us) : 0, "Hz", slow, fast);
    }
    result("watchdog", 0, us, "us", (uint32_t)(periods_us / fast), (uint32_t)(periods_us / slow));
    result("watchdog_flag", 0, reset_reason() == RESET_WATCHDOG, "flag", 1, 1);
}

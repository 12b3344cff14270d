/* The clock tree of the F100 (RM0041 "Reset and clock control"): 24 MHz, no flash wait states. The
 * internal oscillator stays on, because the flash controller needs it to program and erase. If
 * RCC_CR reads 0, this is the emulator; on silicon it is never 0. The external oscillator cannot be
 * measured here: no timer of the F100 has it as an input. A wrong crystal shows as a wrong baud
 * rate. */
#include "hal/clock.h"
#include "hal/stm32/clock_start.h"

enum {
    PLL_LOCK_MS = 10, /* data sheet: 0.2 ms */
};

static clock_info_t info;

static uint32_t pll_hz(uint32_t source_hz, const board_pll_t *pll) {
    return source_hz / pll->m * pll->n;
}

/* The buses and SysTick, which is the tick, run at the core clock. */
static void set_info(clock_source_t source, uint32_t core_hz) {
    info.source = source;
    info.core_hz = info.uart_hz = info.tick_timer_hz = core_hz;
}

/* Returns NULL, or the step that failed; then the core runs on the internal oscillator. */
static const char *run_from_pll(const board_pll_t *pll, bool external) {
    uint32_t config = (uint32_t)(pll->n - 2) << RCC_CFGR_PLLMUL_SHIFT | RCC_CFGR_ADCPRE_2 |
                      (external ? RCC_CFGR_PLLSRC_PREDIV1 : 0);
    if (external)
        reg_write(&RCC->CFGR2, (uint32_t)(pll->m - 1));
    reg_write(&RCC->CFGR, config | RCC_CFGR_SW_HSI);
    reg_set(&RCC->CR, RCC_CR_PLLON);
    if (!wait(&RCC->CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY, PLL_LOCK_MS)) {
        reg_clear(&RCC->CR, RCC_CR_PLLON);
        return "the PLL did not lock: running from the internal oscillator";
    }
    reg_write(&RCC->CFGR, config | RCC_CFGR_SW_PLL);
    if (!wait(&RCC->CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL, SWITCH_MS)) {
        reg_write(&RCC->CFGR, config | RCC_CFGR_SW_HSI);
        reg_clear(&RCC->CR, RCC_CR_PLLON);
        return "the core did not switch to the PLL: running from the internal oscillator";
    }
    if (external)
        reg_set(&RCC->CR, RCC_CR_CSSON); /* clock_failure.c */
    return NULL;
}

const clock_info_t *clock_init(void) {
    const board_clock_t *c = &board.clock;
    info = (clock_info_t){0};
    if (reg_read(&RCC->CR) == 0) {
        set_info(CLOCK_CRYSTAL_PLL, pll_hz(c->hse_hz, &c->pll));
        info.emulated = true;
        info.note = "no oscillator answers: running under the emulator";
        return &info;
    }
    const char *failed = "the internal oscillator did not take over: the clock is unchanged";
    bool external = false;
    if (start_from_internal()) {
        external = start_external();
        failed = run_from_pll(external ? &c->pll : &c->pll_internal, external);
    }
    if (failed != NULL) {
        set_info(CLOCK_INTERNAL, RCC_HSI_HZ);
    } else if (external) {
        set_info(CLOCK_CRYSTAL_PLL, pll_hz(c->hse_hz, &c->pll));
    } else {
        set_info(CLOCK_INTERNAL_PLL, pll_hz(RCC_HSI_HZ, &c->pll_internal));
        failed = "the external oscillator did not start: the internal one feeds the PLL";
    }
    info.note = failed;
    return &info;
}

const clock_info_t *clock_info(void) {
    return &info;
}

uint32_t clock_bus_hz(rcc_bit_t clock) {
    (void)clock;
    return info.core_hz;
}

uint32_t clock_timer_hz(rcc_bit_t clock) {
    (void)clock;
    return info.core_hz;
}

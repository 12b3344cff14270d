/* The clock tree of the F2 and F4 (RM0090 "Reset and clock control" and "Relation between CPU clock
 * frequency and Flash memory read time"). One image serves silicon and emulator. The emulator
 * models no oscillator: RCC_CR reads 0 there. On silicon RCC_CR is never 0, because it contains the
 * flags of the internal oscillator that runs this code. */
#include "hal/clock.h"
#include "hal/stm32/clock_start.h"

enum {
    PLL_LOCK_MS = 10,               /* data sheet: 0.3 ms */
    CAPTURE_MS = 1,                 /* 248 cycles of an oscillator of 1 MHz or more: 0.25 ms */
    EMULATED_TIMER_HZ = 1000000000, /* the emulator's timers count its virtual nanoseconds */
};

static clock_info_t info;
static uint32_t apb1_hz, apb2_hz;
static bool apb1_divided, apb2_divided;

/* Returns the field of RCC_CFGR for a divider of 1, 2, 4, 8 or 16. */
static uint32_t apb_field(uint32_t divider) {
    uint32_t field = 0;
    for (uint32_t d = 2; d <= divider; d *= 2)
        field = field == 0 ? 4 : field + 1;
    return field;
}

static uint32_t pll_hz(uint32_t source_hz, const board_pll_t *pll) {
    return source_hz / pll->m * pll->n / pll->p;
}

static void set_info(clock_source_t source, uint32_t core_hz, uint32_t div1, uint32_t div2) {
    info.source = source;
    info.core_hz = core_hz;
    apb1_hz = core_hz / div1;
    apb2_hz = core_hz / div2;
    apb1_divided = div1 > 1;
    apb2_divided = div2 > 1;
    info.uart_hz = clock_bus_hz(board.uart.clock);
    info.tick_timer_hz = clock_timer_hz(board.tick.clock);
}

/* Returns NULL, or the step that failed; then the core runs on the internal oscillator,
 * undivided. */
static const char *run_from_pll(const board_pll_t *pll, bool external) {
    /* The wait states must be set before the core becomes fast. */
    uint32_t wait_states = board.clock.wait_states;
    reg_write(&FLASH->ACR, wait_states | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN);
    if (!wait(&FLASH->ACR, FLASH_ACR_LATENCY, wait_states, SWITCH_MS))
        return "the flash did not accept its wait states: running from the internal oscillator";
    if (board.clock.pwr_vos != 0) {
        rcc_enable(RCC_PWR);
        reg_set(&PWR->CR, board.clock.pwr_vos);
    }
    reg_write(&RCC->PLLCFGR, (uint32_t)pll->m | (uint32_t)pll->n << 6 |
                                 (uint32_t)(pll->p / 2 - 1) << 16 | (uint32_t)pll->q << 24 |
                                 (external ? RCC_PLLCFGR_SRC_HSE : 0));
    reg_set(&RCC->CR, RCC_CR_PLLON);
    if (!wait(&RCC->CR, RCC_CR_PLLRDY, RCC_CR_PLLRDY, PLL_LOCK_MS)) {
        reg_clear(&RCC->CR, RCC_CR_PLLON);
        return "the PLL did not lock: running from the internal oscillator";
    }
    uint32_t dividers = apb_field(board.clock.apb1_div) << RCC_CFGR_PPRE1_SHIFT |
                        apb_field(board.clock.apb2_div) << RCC_CFGR_PPRE2_SHIFT;
    reg_write(&RCC->CFGR, dividers | RCC_CFGR_SW_HSI);
    reg_write(&RCC->CFGR, dividers | RCC_CFGR_SW_PLL);
    if (!wait(&RCC->CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_PLL, SWITCH_MS)) {
        reg_write(&RCC->CFGR, RCC_CFGR_SW_HSI);
        reg_clear(&RCC->CR, RCC_CR_PLLON);
        return "the core did not switch to the PLL: running from the internal oscillator";
    }
    if (external)
        reg_set(&RCC->CR, RCC_CR_CSSON); /* clock_failure.c */
    return NULL;
}

/* Waits for a capture of TIM11 and returns it. */
static uint32_t capture(void) {
    (void)wait(&TIM11->SR, TIM_SR_CC1IF, TIM_SR_CC1IF, CAPTURE_MS);
    return reg_read(&TIM11->CCR[0]); /* clears the flag */
}

/* Returns the frequency of the external oscillator in Hz, measured by the internal one, which runs
 * the core and the timer. TIM11 captures at each eighth edge of HSE / 31 (RM0090, RM0390, RM0033:
 * "Internal/external clock measurement using TIM5/TIM11"). Returns 0 if there are no captures. */
static uint32_t measure_external(void) {
    enum { CYCLES = 31 * 8 };
    reg_set(&RCC->CFGR, RCC_CFGR_RTCPRE_31);
    rcc_enable(RCC_TIM11);
    reg_write(&TIM11->OR, TIM11_OR_TI1_HSE);
    reg_write(&TIM11->ARR, 0xFFFF);
    reg_write(&TIM11->CCMR[0], TIM_CCMR_INPUT_PRESCALE_8);
    reg_write(&TIM11->CCER, TIM_CCER_CCE);
    reg_write(&TIM11->CR1, TIM_CR1_CEN);
    uint32_t first = capture();
    uint32_t counts = (capture() - first) & 0xFFFF;
    reg_write(&TIM11->CR1, 0);
    reg_clear(&RCC->CFGR, RCC_CFGR_RTCPRE_31);
    return counts == 0 ? 0 : (uint32_t)RCC_HSI_HZ * CYCLES / counts;
}

/* Returns NULL if the external oscillator runs at the frequency of the board's table, within 10 %:
 * the internal one may be 8 % slow, and a capture is exact to 1 of 150 counts. */
static const char *start_planned_external(void) {
    static char wrong[] =
        "the external oscillator runs at 00 MHz, not as planned: the internal one feeds the PLL";
    enum { DIGITS = sizeof "the external oscillator runs at " - 1 };
    if (!start_external())
        return "the external oscillator did not start: the internal one feeds the PLL";
    uint32_t planned = board.clock.hse_hz, hz = measure_external(), mhz = (hz + 500000) / 1000000;
    if (hz >= planned - planned / 10 && hz <= planned + planned / 10)
        return NULL;
    reg_clear(&RCC->CR, RCC_CR_HSEON);
    wrong[DIGITS] = (char)('0' + mhz / 10 % 10);
    wrong[DIGITS + 1] = (char)('0' + mhz % 10);
    return wrong;
}

const clock_info_t *clock_init(void) {
    const board_clock_t *c = &board.clock;
    info = (clock_info_t){0};
    if (reg_read(&RCC->CR) == 0) {
        set_info(CLOCK_CRYSTAL_PLL, pll_hz(c->hse_hz, &c->pll), c->apb1_div, c->apb2_div);
        info.emulated = true;
        info.tick_timer_hz = EMULATED_TIMER_HZ;
        info.note = "no oscillator answers: running under the emulator";
        return &info;
    }
    const char *failed = "the internal oscillator did not take over: the clock is unchanged";
    const char *no_external = NULL;
    if (start_from_internal()) {
        no_external = start_planned_external();
        bool external = no_external == NULL;
        failed = run_from_pll(external ? &c->pll : &c->pll_internal, external);
    }
    if (failed != NULL) {
        set_info(CLOCK_INTERNAL, RCC_HSI_HZ, 1, 1);
    } else if (no_external == NULL) {
        set_info(CLOCK_CRYSTAL_PLL, pll_hz(c->hse_hz, &c->pll), c->apb1_div, c->apb2_div);
    } else {
        set_info(CLOCK_INTERNAL_PLL, pll_hz(RCC_HSI_HZ, &c->pll_internal), c->apb1_div,
                 c->apb2_div);
        failed = no_external;
    }
    info.note = failed;
    return &info;
}

const clock_info_t *clock_info(void) {
    return &info;
}

uint32_t clock_bus_hz(rcc_bit_t clock) {
    return clock >> 8 == RCC_BUS_APB1   ? apb1_hz
           : clock >> 8 == RCC_BUS_APB2 ? apb2_hz
                                        : info.core_hz;
}

uint32_t clock_timer_hz(rcc_bit_t clock) {
    bool divided = clock >> 8 == RCC_BUS_APB1 ? apb1_divided : apb2_divided;
    return clock_bus_hz(clock) * (divided ? 2 : 1);
}

/* Starts the oscillators in the same way on every family. Only the clock.c of a family includes
 * this file; it uses that family's registers. */
#ifndef HAL_STM32_CLOCK_START_H
#define HAL_STM32_CLOCK_START_H

#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"

enum {
    HSE_START_MS = 100, /* crystals need 2 ms; the manufacturer's bound is 100 ms */
    SWITCH_MS = 1,      /* switching takes a few cycles of either clock */
};

/* Waits for the flags for at most ms milliseconds; the core runs from the internal oscillator. */
static bool wait(volatile uint32_t *reg, uint32_t mask, uint32_t value, uint32_t ms) {
    return reg_wait(reg, mask, value, wait_polls(RCC_HSI_HZ, ms));
}

/* Switches to the internal oscillator. A boot loader may have left the PLL running, which can only
 * be configured while it is off. */
static bool start_from_internal(void) {
    reg_set(&RCC->CR, RCC_CR_HSION);
    bool ok = wait(&RCC->CR, RCC_CR_HSIRDY, RCC_CR_HSIRDY, SWITCH_MS);
    reg_modify(&RCC->CFGR, RCC_CFGR_SW, RCC_CFGR_SW_HSI);
    ok = wait(&RCC->CFGR, RCC_CFGR_SWS, RCC_CFGR_SWS_HSI, SWITCH_MS) && ok;
    reg_clear(&RCC->CR, RCC_CR_PLLON);
    return wait(&RCC->CR, RCC_CR_PLLRDY, 0, SWITCH_MS) && ok;
}

static bool start_external(void) {
    reg_clear(&RCC->CR, RCC_CR_HSEON); /* the bypass bit can only be written while the oscillator is
                                        * off */
    reg_modify(&RCC->CR, RCC_CR_HSEBYP, board.clock.hse_bypass ? RCC_CR_HSEBYP : 0);
    reg_set(&RCC->CR, RCC_CR_HSEON);
    if (wait(&RCC->CR, RCC_CR_HSERDY, RCC_CR_HSERDY, HSE_START_MS))
        return true;
    reg_clear(&RCC->CR, RCC_CR_HSEON);
    return false;
}

#endif

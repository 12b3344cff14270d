/* What every STM32 driver needs besides its own registers: clock gates, bus clocks, bounds for
 * waits. */
#ifndef HAL_STM32_CHIP_H
#define HAL_STM32_CHIP_H

#include "hal/clock.h"
#include "hal/reg.h"
#include "hal/stm32/regs.h"

/* Opens the clock gate of a peripheral. Reading the register back gives the bus the two cycles that
 * the peripheral needs before its first access. */
static inline void rcc_enable(rcc_bit_t clock) {
    volatile uint32_t *reg = &RCC->APB2ENR;
    if (clock >> 8 == RCC_BUS_APB1) {
        reg = &RCC->APB1ENR;
    } else if (clock >> 8 == RCC_BUS_AHB) {
#ifdef HAL_STM32F4
        reg = &RCC->AHB1ENR;
#else
        reg = &RCC->AHBENR;
#endif
    }
    reg_set(reg, 1u << (clock & 31));
    (void)reg_read(reg);
}

/* Clock of the bus behind a clock gate, and of the timers on it (twice the bus where the bus is
 * divided). */
uint32_t clock_bus_hz(rcc_bit_t clock);
uint32_t clock_timer_hz(rcc_bit_t clock);

/*
 * Polls of reg_wait that last at least ms at this core clock: a load, a test, a counter and a taken
 * branch are four cycles when nothing stalls, so a wait may last longer than said, never shorter.
 */
static inline uint32_t wait_polls(uint32_t core_hz, uint32_t ms) {
    return (core_hz / 4000 + 1) * ms;
}

#endif

/* Shared by all STM32 drivers, in addition to the registers: clock gates, bus clocks, bounds for
 * waits. */
#ifndef HAL_STM32_CHIP_H
#define HAL_STM32_CHIP_H

#include "hal/clock.h"
#include "hal/reg.h"
#include "hal/stm32/regs.h"

/* Opens the clock gate of a peripheral. Reading the register back waits for the two bus cycles that
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

/* Return the clock of the bus that a clock gate belongs to, and the clock of the timers on that bus
 * (twice the bus clock if the bus is divided). */
uint32_t clock_bus_hz(rcc_bit_t clock);
uint32_t clock_timer_hz(rcc_bit_t clock);

/*
 * Returns a number of reg_wait polls that last at least ms milliseconds at this core clock. A load,
 * a test, a counter and a taken branch are four cycles when nothing stalls, so a wait is never
 * shorter than ms but may be longer.
 */
static inline uint32_t wait_polls(uint32_t core_hz, uint32_t ms) {
    return (core_hz / 4000 + 1) * ms;
}

#endif

/*
 * hal/supply.h on ADC1: single conversions of one channel, started by software; nothing waits for
 * them.
 */
#include "hal/supply.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"

enum {
    FULL_COUNTS = 4095,
    SAMPLE_TIME = 7,  /* the longest sample time, because the divider's source resistance is high */
    FILTER_SHIFT = 3, /* each conversion has a weight of 1/8 */
    /* Fraction bits of the filter. It rests less than 2^FILTER_SHIFT of its steps below a constant
     * input, which is less than half a count: rounded, it is exact. */
    FRACTION = FILTER_SHIFT + 1,
};

/* Calls since the last result. From DEAD on there is no voltage, and the ADC is switched off, on
 * and started by one call each, because it needs 3 us between. */
enum { DEAD = 20, OFF = DEAD, ON, START, AGAIN = START + DEAD };

#ifdef HAL_STM32F1
enum { READY = ADC_CR2_ADON | ADC_CR2_EXTSEL_SWSTART | ADC_CR2_EXTTRIG };
#else
enum { READY = ADC_CR2_ADON };
#endif

static uint16_t filtered; /* counts, with FRACTION bits */
static uint8_t missed = DEAD;

int32_t supply_full_mV(void) {
    const board_supply_t *s = &board.supply;
    if (s->bottom_ohm == 0)
        return 0;
    return (int32_t)(s->reference_mV * (s->top_ohm + s->bottom_ohm) / s->bottom_ohm);
}

static void start(void) {
    reg_write(&ADC1->CR2, READY | ADC_CR2_SWSTART);
}

/*
 * Waits at least 10 us by reading a register of the ADC, which needs 1 to 3 us to start.
 */
static void settle(void) {
    enum { SETTLE_SHARE = 100 }; /* a hundredth of a millisecond */
    for (uint32_t i = wait_polls(clock_info()->core_hz, 1) / SETTLE_SHARE; i > 0; i--)
        (void)reg_read(&ADC1->CR2);
}

#ifdef HAL_STM32F1
/* The F1's converter is calibrated once after it is switched on (RM0041 "Calibration"). */
static void power_up(void) {
    enum { CALIBRATION_MS = 1 }; /* the calibration takes 83 cycles of 12 MHz */
    uint32_t polls = wait_polls(clock_info()->core_hz, CALIBRATION_MS);
    reg_write(&ADC1->CR2, ADC_CR2_ADON);
    settle();
    reg_write(&ADC1->CR2, ADC_CR2_ADON | ADC_CR2_RSTCAL);
    (void)reg_wait(&ADC1->CR2, ADC_CR2_RSTCAL, 0, polls);
    reg_write(&ADC1->CR2, ADC_CR2_ADON | ADC_CR2_CAL);
    (void)reg_wait(&ADC1->CR2, ADC_CR2_CAL, 0, polls);
    reg_write(&ADC1->CR2, READY);
}
#else
static void power_up(void) {
    reg_write(ADC_CCR, ADC_CCR_ADCPRE_4);
    reg_write(&ADC1->CR2, READY);
    settle();
}
#endif

void supply_init(void) {
    const board_supply_t *s = &board.supply;
    if (supply_full_mV() == 0)
        return;
    missed = START + 1;
    gpio_analog(s->pin);
    rcc_enable(RCC_ADC1);
    reg_write(&ADC1->CR2, 0);
    reg_write(&ADC1->CR1, 0);
    reg_write(&ADC1->SMPR1, s->channel >= 10 ? (uint32_t)SAMPLE_TIME << 3 * (s->channel - 10) : 0);
    reg_write(&ADC1->SMPR2, s->channel < 10 ? (uint32_t)SAMPLE_TIME << 3 * s->channel : 0);
    reg_write(&ADC1->SQR1, 0); /* one conversion in the sequence */
    reg_write(&ADC1->SQR3, s->channel);
    power_up();
    start();
}

/* The first result after none is taken as it is. */
static void filter(uint32_t counts) {
    int32_t input = (int32_t)(counts << FRACTION), old = missed < DEAD ? filtered : input;
    filtered = (uint16_t)(old + ((input - old) >> FILTER_SHIFT));
}

supply_status_t supply_read(int32_t *mV) {
    if (supply_full_mV() == 0)
        return SUPPLY_ERR_ABSENT;
    if (reg_read(&ADC1->SR) & ADC_SR_EOC) {
        filter(reg_read(&ADC1->DR) & FULL_COUNTS); /* reading clears EOC */
        missed = 0;
        start();
    } else {
        if (missed == OFF)
            reg_write(&ADC1->CR2, 0);
        else if (missed == ON)
            reg_write(&ADC1->CR2, READY);
        else if (missed == START)
            start();
        missed = missed < AGAIN ? missed + 1 : OFF;
    }
    if (missed >= DEAD)
        return SUPPLY_ERR_TIMEOUT;
    uint32_t counts = (filtered + (1u << FRACTION >> 1)) >> FRACTION;
    *mV = (int32_t)((counts * (uint32_t)supply_full_mV() + FULL_COUNTS / 2) / FULL_COUNTS);
    return SUPPLY_OK;
}

/*
 * Tests the supply voltage with a model of ADC1: the driver starts single conversions and never
 * waits for them; on the F1 it calibrates before the first. Compiled for both families.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/stm32/board.h"
#include "hal/supply.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
enum { CHANNEL = 1, READY = 1 << 0 | 7 << 17 | 1 << 20, GO = 1 << 22, SMPR1 = 0, SMPR2 = 7 << 3 };
#define SUPPLY_PIN PIN(A, 1)
#else
enum { CHANNEL = 10, READY = 1 << 0, GO = 1 << 30, SMPR1 = 7 << 0, SMPR2 = 0 };
#define SUPPLY_PIN PIN(C, 0)
#endif

const board_t board = {
    .supply = {.pin = SUPPLY_PIN,
               .channel = CHANNEL,
               .reference_mV = 3300,
               .top_ohm = 47000,
               .bottom_ohm = 3300},
};

static struct {
    uint32_t counts; /* voltage at the pin, counts */
    bool dead;       /* never ends a conversion */
    bool busy, done;
    unsigned conversions, early; /* early: conversions that started before the ADC was ready */
    uint32_t control;
} adc;

static uint32_t adc_read(uint32_t address, uint32_t stored) {
    if (address == REGMODEL_ADDRESS(&ADC1->SR)) {
        return adc.done ? ADC_SR_EOC : 0;
    }
    if (address == REGMODEL_ADDRESS(&ADC1->DR)) {
        adc.done = false;
        return adc.counts;
    }
    return address == REGMODEL_ADDRESS(&ADC1->CR2) ? adc.control : stored;
}

static uint32_t adc_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    if (address == REGMODEL_ADDRESS(&ADC1->CR2)) {
        if (value & GO) {
            adc.early += (adc.control & READY) != READY;
            adc.busy = true;
            adc.conversions++;
        }
        adc.control = value & (READY | 1); /* calibration and start bits clear themselves */
    }
    (void)stored;
    return value;
}

static void convert(void) {
    if (adc.busy && !adc.dead) {
        adc.busy = false;
        adc.done = true;
    }
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    memset(&adc, 0, sizeof adc);
    fake_clock = (clock_info_t){.core_hz = 24000000};
    regmodel_device(REGMODEL_ADDRESS(ADC1), REGMODEL_ADDRESS(&ADC1->DR), adc_read, adc_write);
    regmodel_log(REGMODEL_ADDRESS(&ADC1->CR2), REGMODEL_ADDRESS(&ADC1->CR2));
}

static void test_init_is_the_manuals_sequence(void) {
    supply_init();
#ifdef HAL_STM32F1
    EXPECT_WRITES({&ADC1->CR2, 0}, {&ADC1->CR2, 1}, /* on */
                  {&ADC1->CR2, 1 | 1 << 3},         /* RSTCAL, then waits */
                  {&ADC1->CR2, 1 | 1 << 2},         /* CAL, then waits */
                  {&ADC1->CR2, READY}, {&ADC1->CR2, READY | GO});
#else
    EXPECT_WRITES({&ADC1->CR2, 0}, {&ADC1->CR2, READY}, {&ADC1->CR2, READY | GO});
    TEST_ASSERT_EQUAL_HEX32(1 << 16, regmodel_get(ADC_CCR)); /* APB2 / 4 */
#endif
    TEST_ASSERT_EQUAL_UINT32(CHANNEL, regmodel_get(&ADC1->SQR3));
    TEST_ASSERT_EQUAL_UINT32(0, regmodel_get(&ADC1->SQR1));
    TEST_ASSERT_EQUAL_HEX32(SMPR1, regmodel_get(&ADC1->SMPR1));
    TEST_ASSERT_EQUAL_HEX32(SMPR2, regmodel_get(&ADC1->SMPR2));
    TEST_ASSERT_EQUAL_UINT(0, adc.early);
    /* The driver waits 10 us between switching the ADC on and using it, at 24 MHz and four cycles
     * per read. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(60, regmodel_read_count(&ADC1->CR2));
}

static void test_millivolts(void) {
    /* 3,300 mV * (47,000 + 3,300) / 3,300 = 50,300 mV at 4,095 counts. */
    static const struct {
        uint32_t counts;
        int32_t mV;
    } cases[] = {{0, 0}, {4095, 50300}, {1954, 24002}, {1, 12}};
    supply_init();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        adc.counts = cases[i].counts;
        convert();
        TEST_ASSERT_EQUAL_INT32(cases[i].mV, supply_read_mV());
    }
    TEST_ASSERT_EQUAL_UINT(5, adc.conversions); /* the first one, and one more with each result */
}

static void test_a_late_conversion_gives_the_last_value(void) {
    supply_init();
    adc.counts = 4095;
    convert();
    TEST_ASSERT_EQUAL_INT32(50300, supply_read_mV());
    adc.dead = true;
    for (unsigned i = 1; i < 1000; i++) {
        TEST_ASSERT_EQUAL_INT32(50300, supply_read_mV());
    }
    TEST_ASSERT_EQUAL_UINT(2, adc.conversions); /* a running conversion is not started again */
    TEST_ASSERT_EQUAL_INT32(SUPPLY_ERR_TIMEOUT, supply_read_mV());
    TEST_ASSERT_EQUAL_INT32(SUPPLY_ERR_TIMEOUT, supply_read_mV());
    adc.dead = false;
    convert();
    TEST_ASSERT_EQUAL_INT32(50300, supply_read_mV());
}

static void test_no_result_yet_is_no_voltage(void) {
    supply_init();
    TEST_ASSERT_EQUAL_INT32(SUPPLY_ERR_TIMEOUT, supply_read_mV());
}

static void test_the_emulators_converter_never_ends(void) {
    regmodel_absent(REGMODEL_ADDRESS(ADC1), REGMODEL_ADDRESS(&ADC1->DR));
    supply_init();
    for (unsigned i = 0; i < 3000; i++) {
        TEST_ASSERT_EQUAL_INT32(SUPPLY_ERR_TIMEOUT, supply_read_mV());
    }
}

TEST_LIST_BEGIN
TEST(test_init_is_the_manuals_sequence)
TEST(test_millivolts)
TEST(test_a_late_conversion_gives_the_last_value)
TEST(test_no_result_yet_is_no_voltage)
TEST(test_the_emulators_converter_never_ends)
TEST_LIST_END

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

static int32_t mV;

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
    mV = -42;
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

static void read_ok(int32_t expected) {
    convert();
    TEST_ASSERT_EQUAL_INT(SUPPLY_OK, supply_read(&mV));
    TEST_ASSERT_EQUAL_INT32(expected, mV);
}

static void read_nothing(void) {
    int32_t before = mV;
    TEST_ASSERT_EQUAL_INT(SUPPLY_ERR_TIMEOUT, supply_read(&mV));
    TEST_ASSERT_EQUAL_INT32(before, mV);
}

/* 3,300 mV * (47,000 + 3,300) / 3,300 = 50,300 mV at 4,095 counts. The first result is whole. */
static void test_millivolts(void) {
    static const struct {
        uint32_t counts;
        int32_t mV;
    } cases[] = {{0, 0}, {4095, 50300}, {1954, 24002}, {1, 12}};
    TEST_ASSERT_EQUAL_INT32(50300, supply_full_mV());
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        supply_init();
        adc.counts = cases[i].counts;
        read_ok(cases[i].mV);
        TEST_ASSERT_EQUAL_UINT(2 * (i + 1), adc.conversions); /* one more with each result */
    }
}

/* From any value to any other: monotonic, and exact at the end. */
static void test_the_filter_settles_exactly(void) {
    static const uint32_t levels[] = {0, 4095, 1, 4094, 2000, 2001, 2000, 7, 8, 0};
    supply_init();
    adc.counts = 2048;
    read_ok(25156);
    for (unsigned i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        int32_t end = (int32_t)((levels[i] * 50300 + 2047) / 4095), start = mV;
        adc.counts = levels[i];
        for (unsigned k = 0; k < 100; k++) {
            int32_t before = mV;
            convert();
            TEST_ASSERT_EQUAL_INT(SUPPLY_OK, supply_read(&mV));
            TEST_ASSERT_TRUE(start < end ? mV >= before && mV <= end : mV <= before && mV >= end);
        }
        TEST_ASSERT_EQUAL_INT32(end, mV);
    }
}

/* One wrong sample of the full scale moves the voltage by an eighth of it, rounded to counts. */
static void test_one_wrong_sample_counts_an_eighth(void) {
    supply_init();
    adc.counts = 800;
    read_ok(9827);
    adc.counts = 800 + 1600;
    read_ok(12283); /* 1,000 counts */
    adc.counts = 800;
    read_ok(11976); /* 975 counts */
}

static void test_a_dead_converter_is_a_timeout_until_it_answers(void) {
    supply_init();
    adc.counts = 4095;
    read_ok(50300);
    adc.dead = true;
    for (unsigned i = 1; i < 20; i++) {
        mV = -42;
        read_ok(50300); /* late is not dead */
    }
    TEST_ASSERT_EQUAL_UINT(2, adc.conversions); /* a running conversion is not started again */
    regmodel_log_clear();
    for (unsigned i = 0; i < 1 + 3 + 20 + 1; i++) {
        convert();
        read_nothing();
    }
    /* After the first timeout it is switched off, on and started, one call each, and has 20 calls
     * to answer before that is repeated. */
    EXPECT_WRITES({&ADC1->CR2, 0}, {&ADC1->CR2, READY}, {&ADC1->CR2, READY | GO}, {&ADC1->CR2, 0});
    for (unsigned i = 0; i < 100; i++)
        read_nothing();
    adc.dead = false;
    adc.counts = 100;
    for (unsigned i = 0; i < 25 && !adc.done; i++) {
        read_nothing();
        convert();
    }
    read_ok(1228); /* whole: the voltage before is old */
    TEST_ASSERT_EQUAL_UINT(0, adc.early);
}

static void test_no_result_yet_is_no_voltage(void) {
    supply_init();
    read_nothing();
    adc.counts = 0;
    read_ok(0); /* no volt is a voltage */
}

static void test_the_emulators_converter_never_ends(void) {
    regmodel_absent(REGMODEL_ADDRESS(ADC1), REGMODEL_ADDRESS(&ADC1->DR));
    supply_init();
    for (unsigned i = 0; i < 3000; i++)
        read_nothing();
}

TEST_LIST_BEGIN
TEST(test_init_is_the_manuals_sequence)
TEST(test_millivolts)
TEST(test_the_filter_settles_exactly)
TEST(test_one_wrong_sample_counts_an_eighth)
TEST(test_a_dead_converter_is_a_timeout_until_it_answers)
TEST(test_no_result_yet_is_no_voltage)
TEST(test_the_emulators_converter_never_ends)
TEST_LIST_END

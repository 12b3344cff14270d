/*
 * Tests the independent watchdog with a model of its registers: PR and RLR can be written only
 * after 0x5555, change only while the oscillator runs, and show PVU and RVU until the new values
 * have taken effect.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/stm32/board.h"
#include "hal/watchdog.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

const board_t board = {.lsi_max_hz = 47000};

static struct {
    bool started, open;
    unsigned update_polls, left;
    uint32_t prescaler, reload, status;
    unsigned fed;
} dog;

static uint32_t dog_read(uint32_t address, uint32_t stored) {
    (void)stored;
    if (address == REGMODEL_ADDRESS(&IWDG->SR)) {
        if (dog.status != 0 && dog.started && dog.left != REGMODEL_NEVER && dog.left-- == 0) {
            dog.status = 0;
        }
        return dog.status;
    }
    return address == REGMODEL_ADDRESS(&IWDG->PR)    ? dog.prescaler
           : address == REGMODEL_ADDRESS(&IWDG->RLR) ? dog.reload
                                                     : 0;
}

static uint32_t dog_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&IWDG->KR)) {
        dog.open = value == 0x5555; /* any other key closes the registers */
        dog.started = dog.started || value == 0xCCCC;
        dog.fed += value == 0xAAAA;
    } else if (dog.open && address == REGMODEL_ADDRESS(&IWDG->PR)) {
        dog.prescaler = value;
        dog.status |= IWDG_SR_PVU;
        dog.left = dog.update_polls;
    } else if (dog.open && address == REGMODEL_ADDRESS(&IWDG->RLR)) {
        dog.reload = value;
        dog.status |= IWDG_SR_RVU;
        dog.left = dog.update_polls;
    }
    return 0;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    memset(&dog, 0, sizeof dog);
    dog.reload = 0xFFF;
    dog.update_polls = 20;
    fake_clock = (clock_info_t){.core_hz = 1000000};
    regmodel_device(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR), dog_read, dog_write);
    regmodel_log(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR));
}

/* True if the watchdog waits at least timeout_ms with an oscillator of hz; computed in exact
 * integers. */
static bool long_enough(uint32_t timeout_ms, uint32_t hz) {
    uint64_t cycles = (uint64_t)(dog.reload + 1) * (4u << dog.prescaler);
    return cycles * 1000 >= (uint64_t)timeout_ms * hz;
}

static void test_start_is_the_manuals_sequence(void) {
    TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start(100));
    /* 100 ms at 47 kHz are 4,700 cycles, which is prescaler 4 (field 0) and 1,175 counts. */
    EXPECT_WRITES({&IWDG->KR, 0xCCCC}, {&IWDG->KR, 0x5555}, {&IWDG->PR, 0}, {&IWDG->RLR, 1174},
                  {&IWDG->KR, 0xAAAA});
    TEST_ASSERT_EQUAL_HEX32(1 << 12, regmodel_get(&DBGMCU->APB1_FZ)); /* stops with the core */
}

static void test_the_fed_value_is_the_new_one(void) {
    dog.update_polls = 500;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start(100));
    TEST_ASSERT_EQUAL_HEX32(0, dog.status); /* fed only after both values have taken effect */
    TEST_ASSERT_EQUAL_UINT(1, dog.fed);
}

static void test_it_never_bites_early_and_wastes_little(void) {
    for (uint32_t ms = 1; ms <= 22300; ms += ms < 3000 ? 1 : 97) {
        TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start(ms));
        TEST_ASSERT_TRUE(long_enough(ms, 47000));
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(4095, dog.reload);
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(6, dog.prescaler);
        /* One count less would be too short, so the reload is the smallest possible. */
        dog.reload--;
        TEST_ASSERT_TRUE(dog.reload == UINT32_MAX || !long_enough(ms, 47000));
    }
}

static void test_the_range_ends_where_the_counter_does(void) {
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_RANGE, watchdog_start(0));
    /* The longest time is 4,096 counts of 256 cycles at 47 kHz, 22,310 ms. */
    TEST_ASSERT_EQUAL_INT(WATCHDOG_OK, watchdog_start(22310));
    regmodel_log_clear();
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_RANGE, watchdog_start(22311));
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_RANGE, watchdog_start(UINT32_MAX));
    EXPECT_NO_WRITES(); /* nothing was started */
}

static void test_updates_that_never_end_are_reported(void) {
    dog.update_polls = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_TIMEOUT, watchdog_start(100));
    /* The driver waits 100 ms, on a 1 MHz core with four cycles per poll. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(25000, regmodel_read_count(&IWDG->SR));
}

static void test_the_emulators_absence_is_reported(void) {
    regmodel_absent(REGMODEL_ADDRESS(IWDG), REGMODEL_ADDRESS(&IWDG->SR));
    TEST_ASSERT_EQUAL_INT(WATCHDOG_ERR_TIMEOUT, watchdog_start(100));
}

static void test_feeding_is_one_write(void) {
    watchdog_feed();
    EXPECT_WRITES({&IWDG->KR, 0xAAAA});
}

TEST_LIST_BEGIN
TEST(test_start_is_the_manuals_sequence)
TEST(test_the_fed_value_is_the_new_one)
TEST(test_it_never_bites_early_and_wastes_little)
TEST(test_the_range_ends_where_the_counter_does)
TEST(test_updates_that_never_end_are_reported)
TEST(test_the_emulators_absence_is_reported)
TEST(test_feeding_is_one_write)
TEST_LIST_END

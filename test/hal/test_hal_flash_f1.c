/*
 * Tests the flash driver of the F100 with a model of the controller
 * (test/support/hal/flash_f1_model.h).
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/flash.h"
#include "hal/host/host.h"
#include "hal/stm32/board.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/flash_f1_model.h"
#include "test/support/hal/flash_store_check.h"
#include "test/support/hal/regmodel.h"

void setUp(void);
void setUp(void) {
    flash_f1_start(NULL);
    fake_clock = (clock_info_t){.core_hz = 24000000};
    regmodel_log(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR));
    regmodel_log(SLOT0, SLOT1 + SLOT - 1);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, flash_f1.wrong, "an access that the manual forbids");
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, host_irq.lock_depth, "interrupts left locked");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

/* ---------------------------------------------------------------------------------------- tests */
#define FLAGS (1 << 2 | 1 << 4 | 1 << 5) /* PGERR, WRPRTERR, EOP: writing ones clears them */

static void test_erase_is_the_manuals_sequence(void) {
    flash_f1.busy = 5;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT1 + PAGE, PAGE));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, FLAGS},
                  {&FLASH->CR, 1 << 1},                                      /* PER */
                  {&FLASH->AR, SLOT1 + PAGE}, {&FLASH->CR, 1 << 1 | 1 << 6}, /* PER and STRT */
                  {&FLASH->SR, FLAGS}, {&FLASH->CR, 1 << 7} /* LOCK */);
    TEST_ASSERT_EQUAL_HEX32(0, flash_f1_word(SLOT1));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, flash_f1_word(SLOT1 + PAGE));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, flash_f1_word(SLOT1 + 2 * PAGE - 4));
    TEST_ASSERT_EQUAL_HEX32(0, flash_f1_word(SLOT1 + 2 * PAGE));
}

static void test_erase_takes_every_page_that_it_touches(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0 + PAGE - 1, PAGE + 2));
    for (unsigned page = 0; page < 4; page++) {
        TEST_ASSERT_EQUAL_HEX32(page < 3 ? 0xFFFFFFFF : 0, flash_f1_word(SLOT0 + page * PAGE));
    }
}

static void test_erase_feeds_the_watchdog_with_interrupts_locked(void) {
    flash_f1.busy = 50;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(50, flash_f1.fed_while_busy);
    TEST_ASSERT_EQUAL_UINT(0, flash_f1.unlocked_irq);
}

static void test_erase_that_never_ends_is_given_up_and_locked(void) {
    flash_f1.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(flash_f1_locked());
    /* The driver polls for at least the 40 ms of the data sheet, at 24 MHz and four cycles per
     * poll. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(24000 * 40 / 4, regmodel_read_count(&FLASH->SR));
}

static void test_refused_keys_are_reported(void) {
    flash_f1.refuse_keys = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_program(SLOT0, "ab", 2));
}

static void test_busy_for_ever_before_the_start_touches_no_key(void) {
    flash_f1.sr = FLASH_SR_BSY;
    flash_f1.busy_left = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, PAGE));
    EXPECT_NO_WRITES();
}

static void test_a_controller_left_open_is_locked_before_the_keys(void) {
    flash_f1.cr = 0;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(flash_f1_locked());
}

static void test_the_emulators_flash_counts_as_locked(void) {
    regmodel_absent(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR));
    fake_clock.emulated = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_FALSE(flash_geometry()->persistent);
}

static void test_an_erase_of_a_protected_page_is_reported_and_locked(void) {
    flash_f1.fail_with = FLASH_SR_WRPRTERR;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_HARDWARE, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(flash_f1_locked());
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE)); /* the flag was cleared */
}

static void test_program_is_the_manuals_sequence(void) {
    flash_erase(SLOT0, PAGE);
    regmodel_log_clear();
    flash_f1.busy = 2;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0 + 2, "\x11\x22\x33\x44", 4));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, FLAGS},
                  {&FLASH->CR, 1 << 0}, /* PG */
                  {(void *)(uintptr_t)(SLOT0 + 2), 0x2211}, {&FLASH->SR, FLAGS},
                  {(void *)(uintptr_t)(SLOT0 + 4), 0x4433}, {&FLASH->SR, FLAGS},
                  {&FLASH->CR, 1 << 7} /* LOCK */);
    TEST_ASSERT_EQUAL_UINT(16, regmodel_log_at(4).width);
    uint8_t back[4];
    flash_read(SLOT0 + 2, back, 4);
    TEST_ASSERT_EQUAL_UINT8_ARRAY("\x11\x22\x33\x44", back, 4);
}

static void test_programming_twice_is_an_error_of_the_controller(void) {
    flash_erase(SLOT0, PAGE);
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0, "ab", 2));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_HARDWARE, flash_program(SLOT0, "cdef", 4));
    TEST_ASSERT_TRUE(flash_f1_locked());
    TEST_ASSERT_EQUAL_HEX32(0xFFFF6261, flash_f1_word(SLOT0)); /* programming stopped there */
}

static void test_program_that_never_ends_is_given_up_and_locked(void) {
    flash_erase(SLOT0, PAGE);
    flash_f1.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_program(SLOT0, "ab", 2));
    TEST_ASSERT_TRUE(flash_f1_locked());
}

static void test_a_bit_that_does_not_take_fails_the_check(void) {
    flash_erase(SLOT0, PAGE);
    flash_f1.stuck_mask = 0x0100;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_VERIFY, flash_program(SLOT0, "\0\0", 2));
}

static void test_range_and_alignment(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE, flash_erase(SLOT0 - PAGE, PAGE));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE, flash_erase(SLOT1 + SLOT, PAGE));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE, flash_erase(SLOT0, 2 * SLOT));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE, flash_program(SLOT1 - 2, "abcd", 4));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_ALIGN, flash_program(SLOT0 + 1, "ab", 2));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_ALIGN, flash_program(SLOT0, "abc", 3));
    EXPECT_NO_WRITES();
}

static void controller_fails(uint32_t at) {
    flash_f1.fail_with = at > 700 ? FLASH_SR_ERRORS : 0;
}

static void test_the_store_over_this_driver(void) {
    store_check(controller_fails);
}

TEST_LIST_BEGIN
TEST(test_erase_is_the_manuals_sequence)
TEST(test_erase_takes_every_page_that_it_touches)
TEST(test_erase_feeds_the_watchdog_with_interrupts_locked)
TEST(test_erase_that_never_ends_is_given_up_and_locked)
TEST(test_refused_keys_are_reported)
TEST(test_busy_for_ever_before_the_start_touches_no_key)
TEST(test_a_controller_left_open_is_locked_before_the_keys)
TEST(test_the_emulators_flash_counts_as_locked)
TEST(test_an_erase_of_a_protected_page_is_reported_and_locked)
TEST(test_program_is_the_manuals_sequence)
TEST(test_programming_twice_is_an_error_of_the_controller)
TEST(test_program_that_never_ends_is_given_up_and_locked)
TEST(test_a_bit_that_does_not_take_fails_the_check)
TEST(test_range_and_alignment)
TEST(test_the_store_over_this_driver)
TEST_LIST_END

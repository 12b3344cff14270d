// The flash driver of the F100 against a model of the controller. PM0063: unlock with two keys
// in order, page erase by PER, then AR, then STRT, program with PG by half-word writes to erased
// memory, wait for BSY after each, lock again.
#include "test/harness.h"

#include <string.h>

#include "hal/flash.h"
#include "hal/host/host.h"
#include "hal/stm32/board.h"
#include "test/fake_clock.h"
#include "test/flash_store_check.h"
#include "test/regmodel.h"

enum { PAGE = 0x400, SLOT = 0x2000, SLOT0 = 0x0801C000, SLOT1 = 0x0801E000 };

const board_t board = {
    .flash = {.geometry = {.slot = {{SLOT0, SLOT}, {SLOT1, SLOT}},
                           .erase_unit = PAGE,
                           .write_unit = 2,
                           .erase_unit_ms = 40}},
};

// ------------------------------------------------------------------------ model of the controller
static struct {
    unsigned key;  // 0: waits for the first key, 1: for the second, 2: open, 3: shut until reset
    unsigned busy; // polls that the next operation keeps BSY set
    unsigned busy_left; // of the operation that runs
    uint32_t fail_with; // error flags that the next operation ends with
    bool refuse_keys;
    uint16_t stuck_mask; // these bits of each programmed half-word do not take
    unsigned wrong;      // accesses that the manual forbids
    unsigned fed_while_busy;
    unsigned unlocked_irq;
} chip;

static uint32_t cr, sr, ar;

static bool locked(void) {
    return (cr & FLASH_CR_LOCK) != 0;
}

static void begin(void) {
    chip.busy_left = chip.busy;
    sr |= FLASH_SR_BSY;
}

static uint32_t flash_read_model(uint32_t address, uint32_t stored) {
    if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        return cr;
    }
    if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        if (sr & FLASH_SR_BSY) {
            chip.unlocked_irq += (cr & FLASH_CR_PER) != 0 && host_irq.lock_depth == 0;
            if (chip.busy_left == 0) {
                sr = (sr & ~(uint32_t)FLASH_SR_BSY) |
                     (chip.fail_with ? chip.fail_with : FLASH_SR_EOP);
                chip.fail_with = 0;
            } else if (chip.busy_left != REGMODEL_NEVER) {
                chip.busy_left--;
            }
        }
        return sr;
    }
    return stored;
}

static uint32_t flash_write_model(uint32_t address, unsigned width, uint32_t value,
                                  uint32_t stored) {
    (void)stored;
    chip.wrong += width != 32;
    if (address == REGMODEL_ADDRESS(&FLASH->KEYR)) {
        if (!locked() || chip.key == 3) {
            chip.key = 3;
            cr |= FLASH_CR_LOCK;
        } else if (chip.key == 0 && value == FLASH_KEY1 && !chip.refuse_keys) {
            chip.key = 1;
        } else if (chip.key == 1 && value == FLASH_KEY2) {
            chip.key = 2;
            cr &= ~(uint32_t)FLASH_CR_LOCK;
        } else {
            chip.key = 3;
        }
    } else if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        sr &= ~(value & (uint32_t)(FLASH_SR_ERRORS | FLASH_SR_EOP));
    } else if (address == REGMODEL_ADDRESS(&FLASH->AR)) {
        chip.wrong += (cr & FLASH_CR_PER) == 0;
        ar = value;
    } else if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        if (locked()) {
            chip.wrong += value != FLASH_CR_LOCK;
            return 0;
        }
        bool selected = (cr & FLASH_CR_PER) != 0;
        cr = value & ~(uint32_t)FLASH_CR_STRT;
        if (value & FLASH_CR_LOCK) {
            cr = FLASH_CR_LOCK;
            chip.key = 0;
        } else if (value & FLASH_CR_STRT) {
            chip.wrong += !selected || ar % PAGE != 0 || ar < SLOT0 || ar >= SLOT1 + SLOT;
            chip.wrong += (sr & FLASH_SR_BSY) != 0 || (sr & FLASH_SR_ERRORS) != 0;
            begin();
            for (uint32_t a = ar; a < ar + PAGE && chip.fail_with == 0; a += 4) {
                regmodel_set((void *)(uintptr_t)a, 0xFFFFFFFFu);
            }
        }
    }
    return value;
}

static uint32_t memory_write_model(uint32_t address, unsigned width, uint32_t value,
                                   uint32_t stored) {
    if (locked() || (cr & FLASH_CR_PG) == 0 || width != 16 || (sr & FLASH_SR_BSY)) {
        chip.wrong++;
        return stored;
    }
    unsigned shift = 8 * (address & 2);
    begin();
    if ((stored >> shift & 0xFFFF) != 0xFFFF) {
        chip.fail_with = FLASH_SR_PGERR; // only erased half-words can be programmed
    }
    uint32_t kept = 0xFFFFu << shift;
    return chip.fail_with ? stored : (stored & ~kept) | (value | chip.stuck_mask) << shift;
}

static uint32_t watchdog_write_model(uint32_t address, unsigned width, uint32_t value,
                                     uint32_t stored) {
    (void)address;
    (void)width;
    (void)stored;
    chip.fed_while_busy += value == IWDG_KEY_FEED && (sr & FLASH_SR_BSY) != 0;
    return value;
}

static uint32_t memory_word(uint32_t address) {
    return regmodel_get((void *)(uintptr_t)address);
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    memset(&chip, 0, sizeof chip);
    cr = FLASH_CR_LOCK;
    sr = ar = 0;
    fake_clock = (clock_info_t){.core_hz = 24000000};
    regmodel_device(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR), flash_read_model,
                    flash_write_model);
    regmodel_device(SLOT0, SLOT1 + SLOT - 1, NULL, memory_write_model);
    regmodel_device(REGMODEL_ADDRESS(&IWDG->KR), REGMODEL_ADDRESS(&IWDG->KR), NULL,
                    watchdog_write_model);
    regmodel_log(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR));
    regmodel_log(SLOT0, SLOT1 + SLOT - 1);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, chip.wrong, "an access that the manual forbids");
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, host_irq.lock_depth, "interrupts left locked");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

// ------------------------------------------------------------------------------------------ tests
#define FLAGS (1 << 2 | 1 << 4 | 1 << 5) // PGERR, WRPRTERR, EOP: cleared by ones

static void test_erase_is_the_manuals_sequence(void) {
    chip.busy = 5;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT1 + PAGE, PAGE));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, FLAGS},
                  {&FLASH->CR, 1 << 1},                                      // PER
                  {&FLASH->AR, SLOT1 + PAGE}, {&FLASH->CR, 1 << 1 | 1 << 6}, // and STRT
                  {&FLASH->SR, FLAGS}, {&FLASH->CR, 1 << 7} /* LOCK */);
    TEST_ASSERT_EQUAL_HEX32(0, memory_word(SLOT1));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT1 + PAGE));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT1 + 2 * PAGE - 4));
    TEST_ASSERT_EQUAL_HEX32(0, memory_word(SLOT1 + 2 * PAGE));
}

static void test_erase_takes_every_page_that_it_touches(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0 + PAGE - 1, PAGE + 2));
    for (unsigned page = 0; page < 4; page++) {
        TEST_ASSERT_EQUAL_HEX32(page < 3 ? 0xFFFFFFFF : 0, memory_word(SLOT0 + page * PAGE));
    }
}

static void test_erase_feeds_the_watchdog_with_interrupts_locked(void) {
    chip.busy = 50;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(50, chip.fed_while_busy);
    TEST_ASSERT_EQUAL_UINT(0, chip.unlocked_irq);
}

static void test_erase_that_never_ends_is_given_up_and_locked(void) {
    chip.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(locked());
    // At least the data sheet's 40 ms at 24 MHz and four cycles a poll.
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(24000 * 40 / 4, regmodel_read_count(&FLASH->SR));
}

static void test_refused_keys_are_reported(void) {
    chip.refuse_keys = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_program(SLOT0, "ab", 2));
}

static void test_busy_for_ever_before_the_start_touches_no_key(void) {
    sr = FLASH_SR_BSY;
    chip.busy_left = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, PAGE));
    EXPECT_NO_WRITES();
}

static void test_a_controller_left_open_is_locked_before_the_keys(void) {
    cr = 0;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(locked());
}

static void test_the_emulators_flash_counts_as_locked(void) {
    regmodel_absent(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->AR));
    fake_clock.emulated = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_FALSE(flash_geometry()->persistent);
}

static void test_an_erase_of_a_protected_page_is_reported_and_locked(void) {
    chip.fail_with = FLASH_SR_WRPRTERR;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_HARDWARE, flash_erase(SLOT0, PAGE));
    TEST_ASSERT_TRUE(locked());
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, PAGE)); // the flag does not stick
}

static void test_program_is_the_manuals_sequence(void) {
    flash_erase(SLOT0, PAGE);
    regmodel_log_clear();
    chip.busy = 2;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0 + 2, "\x11\x22\x33\x44", 4));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, FLAGS},
                  {&FLASH->CR, 1 << 0}, // PG
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
    TEST_ASSERT_TRUE(locked());
    TEST_ASSERT_EQUAL_HEX32(0xFFFF6261, memory_word(SLOT0)); // and nothing after it was tried
}

static void test_program_that_never_ends_is_given_up_and_locked(void) {
    flash_erase(SLOT0, PAGE);
    chip.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_program(SLOT0, "ab", 2));
    TEST_ASSERT_TRUE(locked());
}

static void test_a_bit_that_does_not_take_fails_the_check(void) {
    flash_erase(SLOT0, PAGE);
    chip.stuck_mask = 0x0100;
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
    chip.fail_with = at > 700 ? FLASH_SR_ERRORS : 0;
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

/*
 * Tests the flash driver of the F2 and F4 with a model of the controller. RM0090 requires: unlock
 * with two keys in order; wait for BSY; clear the error flags; erase by SER and SNB, then STRT;
 * program with PG by 32-bit writes; lock again. After an erase, reset both caches while they are
 * off.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/flash.h"
#include "hal/host/host.h"
#include "hal/stm32/board.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/flash_store_check.h"
#include "test/support/hal/regmodel.h"

enum { SECTOR = 0x20000, SLOT0 = 0x080C0000, SLOT1 = 0x080E0000 };

const board_t board = {
    .flash = {.geometry = {.slot = {{SLOT0, SECTOR}, {SLOT1, SECTOR}},
                           .erase_unit = SECTOR,
                           .write_unit = 4,
                           .erase_unit_ms = 2000},
              .sector = {10, 11}},
};

/* ---------------------------------------------------------------------- model of the controller */
static struct {
    unsigned key;       /* 0, 1: waits for first, second key; 2: open; 3: locked until reset */
    unsigned busy;      /* number of polls for which the next operation keeps BSY set */
    unsigned busy_left; /* polls left for the running operation */
    uint32_t fail_with; /* error flags with which the next operation ends */
    bool refuse_keys;
    uint32_t stuck_mask; /* these bits of each word are not programmed */
    bool erase_weak;     /* an erase leaves one bit unerased */
    unsigned wrong;      /* number of accesses that the manual forbids */
    unsigned fed_while_busy;
    unsigned unlocked_irq; /* polls during an erase with interrupts enabled */
} chip;

static uint32_t cr, sr;

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
            chip.unlocked_irq += (cr & FLASH_CR_SER) != 0 && host_irq.lock_depth == 0;
            if (chip.busy_left == 0) {
                sr = (sr & ~(uint32_t)FLASH_SR_BSY) | chip.fail_with;
                chip.fail_with = 0;
            } else if (chip.busy_left != REGMODEL_NEVER) {
                chip.busy_left--;
            }
        }
        return sr;
    }
    return stored;
}

static void erase_sector(unsigned sector) {
    uint32_t base = sector == 10 ? SLOT0 : sector == 11 ? SLOT1 : 0;
    chip.wrong += base == 0;
    for (uint32_t a = base; base != 0 && a < base + SECTOR; a += 4) {
        regmodel_set((void *)(uintptr_t)a, 0xFFFFFFFFu);
    }
    if (base != 0 && chip.erase_weak) {
        regmodel_set((void *)(uintptr_t)(base + 0x1234), 0xFFFFFFFEu);
    }
}

static uint32_t flash_write_model(uint32_t address, unsigned width, uint32_t value,
                                  uint32_t stored) {
    chip.wrong += width != 32;
    if (address == REGMODEL_ADDRESS(&FLASH->KEYR)) {
        if (!locked() || chip.key == 3) {
            chip.key = 3;
            cr |= FLASH_CR_LOCK;
        } else if (chip.key == 0 && value == FLASH_KEY1 && !chip.refuse_keys) {
            chip.key = 1;
        } else if (chip.key == 1 && value == FLASH_KEY2) {
            chip.key = 2;
            cr &= ~FLASH_CR_LOCK;
        } else {
            chip.key = 3; /* a wrong key locks the controller until the next reset */
        }
        return 0;
    }
    if (address == REGMODEL_ADDRESS(&FLASH->SR)) {
        sr &= ~(value & (uint32_t)(FLASH_SR_ERRORS | FLASH_SR_EOP));
        return 0;
    }
    if (address == REGMODEL_ADDRESS(&FLASH->CR)) {
        if (locked()) {
            chip.wrong += (value & ~FLASH_CR_LOCK) != 0;
            return 0;
        }
        cr = value & ~(uint32_t)FLASH_CR_STRT;
        if (value & FLASH_CR_LOCK) {
            cr = FLASH_CR_LOCK;
            chip.key = 0;
        } else if (value & FLASH_CR_STRT) {
            /* The sector must be selected before the start, with no operation running and no old
             * error flag. */
            chip.wrong += (value & FLASH_CR_SER) == 0 || (stored & FLASH_CR_SER) == 0;
            chip.wrong += (sr & FLASH_SR_BSY) != 0 || (sr & FLASH_SR_ERRORS) != 0;
            begin();
            if (chip.fail_with == 0) {
                erase_sector(value >> FLASH_CR_SNB_SHIFT & 15);
            }
        }
        return value;
    }
    return value;
}

static uint32_t memory_write_model(uint32_t address, unsigned width, uint32_t value,
                                   uint32_t stored) {
    bool ready = !locked() && (cr & FLASH_CR_PG) && (cr & 3 << 8) == FLASH_CR_PSIZE_32;
    if (!ready || width != 32 || (sr & FLASH_SR_BSY) || (sr & FLASH_SR_ERRORS)) {
        chip.wrong++;
        sr |= 1 << 7; /* PGSERR */
        return stored;
    }
    (void)address;
    begin();
    return chip.fail_with ? stored : stored & (value | chip.stuck_mask);
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
    sr = 0;
    fake_clock = (clock_info_t){.core_hz = 1000000};
    regmodel_device(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->OPTCR), flash_read_model,
                    flash_write_model);
    regmodel_device(SLOT0, SLOT1 + SECTOR - 1, NULL, memory_write_model);
    regmodel_device(REGMODEL_ADDRESS(&IWDG->KR), REGMODEL_ADDRESS(&IWDG->KR), NULL,
                    watchdog_write_model);
    regmodel_set(&FLASH->ACR, 5 | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN);
    regmodel_log(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->OPTCR));
    regmodel_log(SLOT0, SLOT1 + SECTOR - 1);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, chip.wrong, "an access that the manual forbids");
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, host_irq.lock_depth, "interrupts left locked");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

/* ---------------------------------------------------------------------------------------- tests */
#define ERRORS  (FLASH_SR_ERRORS | FLASH_SR_EOP)
#define ACR_ON  (5 | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN)
#define ACR_OFF (5 | FLASH_ACR_PRFTEN)

static void test_erase_is_the_manuals_sequence(void) {
    chip.busy = 5;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT1, SECTOR));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, ERRORS},
                  {&FLASH->CR, 1 << 1 | 11 << 3 | 2 << 8},           /* SER, sector 11, x32 */
                  {&FLASH->CR, 1 << 1 | 11 << 3 | 2 << 8 | 1 << 16}, /* SER and STRT */
                  {&FLASH->CR, FLASH_CR_LOCK}, {&FLASH->ACR, ACR_OFF},
                  {&FLASH->ACR, ACR_OFF | FLASH_ACR_ICRST | FLASH_ACR_DCRST},
                  {&FLASH->ACR, ACR_OFF}, {&FLASH->ACR, ACR_ON});
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT1));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT1 + SECTOR - 4));
    TEST_ASSERT_EQUAL_HEX32(0, memory_word(SLOT0)); /* the other slot is unchanged */
}

static void test_erase_feeds_the_watchdog_with_interrupts_locked(void) {
    chip.busy = 50;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(50, chip.fed_while_busy);
    TEST_ASSERT_EQUAL_UINT(0, chip.unlocked_irq);
    TEST_ASSERT_EQUAL_UINT(1, host_irq.lock_depth_max);
}

static void test_erase_of_one_byte_takes_its_whole_sector(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0 + 0x1FFFF, 1));
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT0));
    TEST_ASSERT_EQUAL_HEX32(0, memory_word(SLOT1));
}

static void test_erase_of_nothing_does_nothing(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, 0));
    EXPECT_NO_WRITES();
}

static void test_erase_that_never_ends_is_given_up_and_locked(void) {
    chip.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_TRUE(locked());
    /*
     * The driver polls for at least the two seconds of the data sheet; a poll takes at least four
     * cycles of this 1 MHz core.
     */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(2000000 / 4, regmodel_read_count(&FLASH->SR));
}

static void test_busy_before_the_start_is_waited_for(void) {
    sr = FLASH_SR_BSY;
    chip.busy_left = 7;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(8, regmodel_read_count(&FLASH->SR));
}

static void test_busy_for_ever_before_the_start_touches_no_key(void) {
    sr = FLASH_SR_BSY;
    chip.busy_left = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_program(SLOT0, "abcd", 4));
    EXPECT_NO_WRITES();
}

static void test_refused_keys_are_reported(void) {
    chip.refuse_keys = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_program(SLOT0, "abcd", 4));
    TEST_ASSERT_EQUAL_HEX32(0, memory_word(SLOT0));
}

static void test_a_controller_left_open_is_locked_before_the_keys(void) {
    cr = 0;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_TRUE(locked());
    TEST_ASSERT_EQUAL_HEX32(FLASH_CR_LOCK, regmodel_log_at(0).value);
}

static void test_the_emulators_flash_counts_as_locked(void) {
    regmodel_absent(REGMODEL_ADDRESS(FLASH), REGMODEL_ADDRESS(&FLASH->OPTCR));
    fake_clock.emulated = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_LOCKED, flash_program(SLOT0, "abcd", 4));
    TEST_ASSERT_FALSE(flash_geometry()->persistent);
}

static void test_geometry_is_the_boards(void) {
    const flash_geometry_t *g = flash_geometry();
    TEST_ASSERT_TRUE(g->persistent);
    TEST_ASSERT_EQUAL_HEX32(SLOT1, g->slot[1].address);
    TEST_ASSERT_EQUAL_UINT32(SECTOR, g->erase_unit);
    TEST_ASSERT_EQUAL_UINT32(4, g->write_unit);
}

static void test_an_erase_error_is_reported_and_locked(void) {
    chip.fail_with = 1 << 4; /* WRPERR */
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_HARDWARE, flash_erase(SLOT0, SECTOR));
    TEST_ASSERT_TRUE(locked());
}

static void test_old_error_flags_are_cleared_first(void) {
    sr = FLASH_SR_ERRORS;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_erase(SLOT0, SECTOR));
}

static void test_an_erase_that_leaves_a_bit_fails_the_check(void) {
    chip.erase_weak = true;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_VERIFY, flash_erase(SLOT0, SECTOR));
}

static void test_program_is_the_manuals_sequence(void) {
    flash_erase(SLOT0, SECTOR);
    regmodel_log_clear();
    chip.busy = 3;
    const uint8_t data[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0 + 8, data, 8));
    EXPECT_WRITES({&FLASH->KEYR, 0x45670123}, {&FLASH->KEYR, 0xCDEF89AB}, {&FLASH->SR, ERRORS},
                  {&FLASH->CR, 1 << 0 | 2 << 8}, /* PG, x32 */
                  {(void *)(uintptr_t)(SLOT0 + 8), 0x44332211},
                  {(void *)(uintptr_t)(SLOT0 + 12), 0x88776655}, {&FLASH->CR, FLASH_CR_LOCK});
    uint8_t back[6];
    flash_read(SLOT0 + 9, back, sizeof back);
    TEST_ASSERT_EQUAL_UINT8_ARRAY(data + 1, back, 6);
}

static void test_program_waits_for_every_word(void) {
    flash_erase(SLOT0, SECTOR);
    unsigned before = regmodel_read_count(&FLASH->SR);
    chip.busy = 10;
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0, "abcdefghijkl", 12));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(before + 3 * 11, regmodel_read_count(&FLASH->SR));
}

static void test_program_error_stops_and_locks(void) {
    flash_erase(SLOT0, SECTOR);
    chip.fail_with = 1 << 6; /* PGPERR */
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_HARDWARE, flash_program(SLOT0, "abcdefgh", 8));
    TEST_ASSERT_TRUE(locked());
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFFFF, memory_word(SLOT0 + 4)); /* not attempted */
}

static void test_program_that_never_ends_is_given_up_and_locked(void) {
    flash_erase(SLOT0, SECTOR);
    chip.busy = REGMODEL_NEVER;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_TIMEOUT, flash_program(SLOT0, "abcd", 4));
    TEST_ASSERT_TRUE(locked());
}

static void test_a_bit_that_does_not_take_fails_the_check(void) {
    flash_erase(SLOT0, SECTOR);
    chip.stuck_mask = 0x00010000;
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_VERIFY, flash_program(SLOT0, "\x00\x00\x00\x00", 4));
}

static void test_memory_that_is_not_erased_fails_the_check(void) {
    flash_erase(SLOT0, SECTOR);
    TEST_ASSERT_EQUAL_INT(FLASH_OK, flash_program(SLOT0, "\x0F\x0F\x0F\x0F", 4));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_VERIFY, flash_program(SLOT0, "\xF0\xF0\xF0\xF0", 4));
}

static void test_nothing_outside_the_slots_can_be_touched(void) {
    static const struct {
        uint32_t address, size;
    } outside[] = {
        {0x08000000, 4},         {SLOT0 - 4, 4},      {SLOT0 - 4, 8},      {SLOT1 - 4, 8},
        {SLOT1 + SECTOR - 4, 8}, {SLOT1 + SECTOR, 4}, {SLOT0, 2 * SECTOR}, {0, 4},
        {0xFFFFFFFC, 4},         {SLOT0 + 4, SECTOR}, {SLOT1, 0xFFFFFFFC},
    };
    static const uint8_t data[8];
    for (unsigned i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE, flash_erase(outside[i].address, outside[i].size));
        TEST_ASSERT_EQUAL_INT(FLASH_ERR_RANGE,
                              flash_program(outside[i].address, data, outside[i].size));
    }
    EXPECT_NO_WRITES();
}

static void test_unaligned_writes_are_refused(void) {
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_ALIGN, flash_program(SLOT0 + 2, "abcd", 4));
    TEST_ASSERT_EQUAL_INT(FLASH_ERR_ALIGN, flash_program(SLOT0, "abcdef", 6));
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
TEST(test_erase_feeds_the_watchdog_with_interrupts_locked)
TEST(test_erase_of_one_byte_takes_its_whole_sector)
TEST(test_erase_of_nothing_does_nothing)
TEST(test_erase_that_never_ends_is_given_up_and_locked)
TEST(test_busy_before_the_start_is_waited_for)
TEST(test_busy_for_ever_before_the_start_touches_no_key)
TEST(test_refused_keys_are_reported)
TEST(test_a_controller_left_open_is_locked_before_the_keys)
TEST(test_the_emulators_flash_counts_as_locked)
TEST(test_geometry_is_the_boards)
TEST(test_an_erase_error_is_reported_and_locked)
TEST(test_old_error_flags_are_cleared_first)
TEST(test_an_erase_that_leaves_a_bit_fails_the_check)
TEST(test_program_is_the_manuals_sequence)
TEST(test_program_waits_for_every_word)
TEST(test_program_error_stops_and_locks)
TEST(test_program_that_never_ends_is_given_up_and_locked)
TEST(test_a_bit_that_does_not_take_fails_the_check)
TEST(test_memory_that_is_not_erased_fails_the_check)
TEST(test_nothing_outside_the_slots_can_be_touched)
TEST(test_unaligned_writes_are_refused)
TEST(test_the_store_over_this_driver)
TEST_LIST_END

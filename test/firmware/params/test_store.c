/* Tests the store with power cuts at every operation of writing a set (test/support/power_cut.h). */
#include "test/support/harness.h"

#include <stdio.h>
#include <string.h>

#include "firmware/link/frame.h"
#include "firmware/params/store.h"
#include "test/support/power_cut.h"

enum { SLOT = 2048, PAGE = 512 };

static uint8_t memory[2 * SLOT];
static uint8_t first[SLOT], second[SLOT];

static power_cut_flash_t fresh(uint32_t unit, uint64_t seed) {
    memset(memory, 0xff, sizeof memory);
    return (power_cut_flash_t){.slot_bytes = SLOT,
                               .page_bytes = PAGE,
                               .unit = unit,
                               .memory = memory,
                               .cut_at = UINT64_MAX,
                               .random = seed};
}

static void fill(power_cut_flash_t *flash, uint8_t *set, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        set[i] = (uint8_t)power_cut_random(flash);
}

static int write_whole(store_t *store, const void *set, uint32_t length) {
    int status = store_begin(store, length);
    if (status == STORE_OK)
        status = store_put(store, set, length);
    return status == STORE_OK ? store_commit(store) : status;
}

static void test_nothing_is_no_set(void) {
    power_cut_flash_t flash = fresh(4, 1);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium));
    memset(memory, 0, sizeof memory); /* like unwritten flash in the emulator */
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium));
    fill(&flash, memory, sizeof memory);
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium));
}

static void test_newest_wins_and_slots_take_turns(void) {
    power_cut_flash_t flash = fresh(2, 2);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store, again;
    (void)store_open(&store, &medium);
    for (uint32_t i = 0; i < 9; i++) {
        char set[32];
        const int before = store.current;
        const uint32_t length = (uint32_t)snprintf(set, sizeof set, "set number %u", (unsigned)i);
        TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, set, length));
        TEST_ASSERT_NOT_EQUAL(before, store.current);
        TEST_ASSERT_EQUAL(STORE_OK, store_open(&again, &medium));
        TEST_ASSERT_EQUAL(store.current, again.current);
        TEST_ASSERT_EQUAL_UINT32(i + 1, again.sequence);
        TEST_ASSERT_EQUAL_UINT32(length, again.length);
        char read[32] = "";
        store_read(&again, 0, read, length);
        TEST_ASSERT_EQUAL_STRING(set, read);
    }
}

/* The sequence number wraps around: 0 is newer than 2^32 - 1. */
static void test_sequence_wraps(void) {
    power_cut_flash_t flash = fresh(4, 3);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "a", 1));
    store.sequence = INT32_MAX - 1; /* a step must be less than 2^31 */
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "b", 1));
    store.sequence = UINT32_MAX - 2;
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "b", 1));
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "b", 1));
    TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, store.sequence);
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "c", 1));
    TEST_ASSERT_EQUAL_UINT32(0, store.sequence);
    TEST_ASSERT_EQUAL(STORE_OK, store_open(&store, &medium));
    TEST_ASSERT_EQUAL_UINT32(0, store.sequence);
    char read;
    store_read(&store, 0, &read, 1);
    TEST_ASSERT_EQUAL('c', read);
}

/* If any bit of a slot is flipped, the store finds the previous set. */
static void test_every_flipped_bit_is_noticed(void) {
    power_cut_flash_t flash = fresh(4, 4);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "the older one", 13));
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "the newer one!", 14));
    uint8_t *slot = memory + store.current * SLOT;
    for (uint32_t bit = 0; bit < (STORE_HEAD + 14) * 8; bit++) {
        slot[bit / 8] ^= (uint8_t)(1u << bit % 8);
        TEST_ASSERT_EQUAL(STORE_OK, store_open(&store, &medium));
        TEST_ASSERT_EQUAL_UINT32(13, store.length);
        slot[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    TEST_ASSERT_EQUAL(STORE_OK, store_open(&store, &medium));
    TEST_ASSERT_EQUAL_UINT32(14, store.length);
}

static void test_misuse_is_refused(void) {
    power_cut_flash_t flash = fresh(4, 5);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_E_ORDER, store_put(&store, "x", 1));
    TEST_ASSERT_EQUAL(STORE_E_ORDER, store_commit(&store));
    TEST_ASSERT_EQUAL(STORE_E_ROOM, store_begin(&store, SLOT - STORE_HEAD));
    TEST_ASSERT_EQUAL(STORE_OK, store_begin(&store, 5));
    TEST_ASSERT_EQUAL(STORE_E_ORDER, store_put(&store, "123456", 6));
    TEST_ASSERT_EQUAL(STORE_OK, store_begin(&store, 5));
    TEST_ASSERT_EQUAL(STORE_OK, store_put(&store, "1234", 4));
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium)); /* the set was not committed */
    /* The store reads back and detects a medium that does not keep the bytes. */
    TEST_ASSERT_EQUAL(STORE_OK, store_begin(&store, 4));
    TEST_ASSERT_EQUAL(STORE_OK, store_put(&store, "1234", 4));
    memory[STORE_HEAD] = 0;
    TEST_ASSERT_EQUAL(STORE_E_VERIFY, store_commit(&store));
}

/* A head whose checksum is right may still claim more than the slot has. */
static void test_length_beyond_the_slot(void) {
    power_cut_flash_t flash = fresh(4, 6);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "set", 3));
    uint8_t *head = memory + store.current * SLOT;
    for (uint32_t more = 0; more < 2; more++) {
        const uint32_t length = SLOT - STORE_HEAD + more;
        put_u32(head + 8, length);
        put_u32(head + 12, crc32_add(0, head + STORE_HEAD, length));
        put_u32(head + 20, crc32_add(0, head, 20));
        TEST_ASSERT_EQUAL(more ? STORE_E_EMPTY : STORE_OK, store_open(&store, &medium));
    }
}

/* A medium that says yes and does not keep what it was given, from an offset on. */
static uint32_t kept_from;
static int keeps_in_part(void *context, unsigned slot, uint32_t offset, const void *data,
                         uint32_t n) {
    power_cut_flash_t *flash = context;
    return offset < kept_from ? 0 : power_cut_medium(flash).program(flash, slot, offset, data, n);
}

/* The head is not written. Neither of the first set, nor of a set after it, is that taken for
 * success; the set before stays. */
static void test_head_that_was_not_kept(void) {
    power_cut_flash_t flash = fresh(4, 7);
    store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    medium.program = keeps_in_part;
    kept_from = 4;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_E_VERIFY, write_whole(&store, "lost", 4));
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium));
    kept_from = 0;
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "kept", 4));
    kept_from = 4;
    TEST_ASSERT_EQUAL(STORE_E_VERIFY, write_whole(&store, "lost", 4));
    char read[5] = "";
    store_read(&store, 0, read, 4);
    TEST_ASSERT_EQUAL_STRING("kept", read);
}

/*
 * For 1,002 sets of random sizes and for write units of 2, 4 and 8 bytes, the power fails once at
 * every operation of writing the set.
 */
static void test_power_cuts(void) {
    static const uint32_t units[] = {2, 4, 8};
    uint64_t sequences = 0, cuts = 0, made = 0;
    for (uint32_t i = 0; i < 1002; i++) {
        power_cut_flash_t flash = fresh(units[i % 3], 1000 + i);
        const uint32_t old_length = (uint32_t)(power_cut_random(&flash) % 90);
        const uint32_t length = (uint32_t)(power_cut_random(&flash) % (i % 50 == 0 ? 1900 : 150));
        power_cut_result_t result;
        fill(&flash, memory, sizeof memory);
        fill(&flash, first, old_length);
        fill(&flash, second, length);
        TEST_ASSERT_EQUAL_MESSAGE(
            0, power_cut_torture(&flash, first, old_length, second, length, 1, &result),
            "a set was lost");
        TEST_ASSERT_EQUAL_UINT64(result.sequences, result.cuts + 1);
        sequences += result.sequences;
        cuts += result.cuts;
        made += result.made;
    }
    harness_note_number("write sequences", (int64_t)sequences);
    harness_note_number("of them with a power cut", (int64_t)cuts);
    harness_note_number("cut so late that the new set was there", (int64_t)made);
    TEST_ASSERT_GREATER_THAN_UINT64(10000, cuts);
    printf("measured link.store_writes %llu\n", (unsigned long long)sequences);
    printf("measured link.store_cuts %llu\n", (unsigned long long)cuts);
}

/*
 * The same for a set as large as that of the PUMA 560, in slots as on the STM32F4 but with pages of
 * 1 KB, so that there are more erasures to interrupt. Each pass leaves other random bits where the
 * power failed.
 */
static void test_power_cuts_of_a_whole_robot(void) {
    enum { SLOT_BYTES = 128 * 1024, PAGE_BYTES = 1024, SET_BYTES = 3284, PASSES = 4 };
    static uint8_t large[2 * SLOT_BYTES], set[SET_BYTES];
    static const uint8_t old[] = "the set before";
    power_cut_flash_t flash = {.slot_bytes = SLOT_BYTES,
                               .page_bytes = PAGE_BYTES,
                               .unit = 4,
                               .memory = large,
                               .random = 1};
    power_cut_result_t result;
    memset(large, 0xff, sizeof large);
    fill(&flash, set, sizeof set);
    TEST_ASSERT_EQUAL_MESSAGE(
        0, power_cut_torture(&flash, old, sizeof old, set, sizeof set, PASSES, &result),
        "a set was lost");
    TEST_ASSERT_EQUAL_UINT64(result.cuts, result.kept + result.made);
    /* a pass erases the pages of the set and writes each of its words, besides the head */
    TEST_ASSERT_GREATER_THAN_UINT64(PASSES * (SET_BYTES / PAGE_BYTES + SET_BYTES / 4), result.cuts);
    printf("measured link.torture_cuts %llu\n", (unsigned long long)(result.cuts / PASSES));
}

/*
 * Shows that the simulation detects a loss: here the test overwrites the only good set, and the
 * power cut loses the data.
 */
static void test_torture_sees_a_loss(void) {
    power_cut_flash_t flash = fresh(4, 77);
    const store_medium_t medium = power_cut_medium(&flash);
    store_t store;
    (void)store_open(&store, &medium);
    TEST_ASSERT_EQUAL(STORE_OK, write_whole(&store, "old", 3));
    store.current = store.current == 0 ? 1 : 0; /* overwrites the only good set */
    power_cut_power_up(&flash, 2);
    TEST_ASSERT_NOT_EQUAL(STORE_OK, write_whole(&store, "new", 3));
    power_cut_power_up(&flash, UINT64_MAX);
    TEST_ASSERT_EQUAL(STORE_E_EMPTY, store_open(&store, &medium));
}

TEST_LIST_BEGIN
TEST(test_nothing_is_no_set)
TEST(test_newest_wins_and_slots_take_turns)
TEST(test_sequence_wraps)
TEST(test_every_flipped_bit_is_noticed)
TEST(test_misuse_is_refused)
TEST(test_length_beyond_the_slot)
TEST(test_head_that_was_not_kept)
TEST(test_power_cuts)
TEST(test_power_cuts_of_a_whole_robot)
TEST(test_torture_sees_a_loss)
TEST_LIST_END

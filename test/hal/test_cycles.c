/*
 * Tests the cycle counter in the emulator: it counts executed instructions exactly, whatever the
 * unit of the raw counter is.
 */
#include "test/support/harness.h"
#include "hal/cycles.h"

static void test_counts_instructions(void) {
    TEST_ASSERT_TRUE(cycles_are_instructions());
}

/* One instruction may remain: the move that saves the first reading. */
static void test_nothing_costs_nothing(void) {
    uint32_t start = cycles_now();
    TEST_ASSERT_TRUE(cycles_between(start, cycles_now()) <= 1);
}

/* Counts the instructions between two readings that the compiler cannot move. */
#define COUNT(block)                                                                               \
    __extension__({                                                                                \
        uint32_t start_ = cycles_now();                                                            \
        __asm volatile(block : : : "r0", "cc");                                                    \
        uint32_t end_ = cycles_now();                                                              \
        cycles_between(start_, end_);                                                              \
    })

static void test_is_exact(void) {
    uint32_t none = COUNT("");
    TEST_ASSERT_EQUAL_UINT32(none + 1, COUNT("nop"));
    TEST_ASSERT_EQUAL_UINT32(none + 10, COUNT(".rept 10\n nop\n .endr"));
    TEST_ASSERT_EQUAL_UINT32(none + 1000, COUNT(".rept 1000\n nop\n .endr"));
    TEST_ASSERT_EQUAL_UINT32(none + 20001, COUNT("movw r0, #10000\n1: subs r0, r0, #1\n bne 1b"));
}

TEST_LIST_BEGIN
TEST(test_counts_instructions)
TEST(test_nothing_costs_nothing)
TEST(test_is_exact)
TEST_LIST_END

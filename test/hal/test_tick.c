/*
 * Tests the tick on the target: it starts and stops, refuses impossible rates and reports an
 * overrun.
 */
#include "test/support/harness.h"
#include "hal/tick.h"

static volatile uint32_t ticks;
static volatile uint32_t overruns;
static volatile uint32_t lost;
static volatile uint32_t load;   /* rounds of work inside the interrupt */
static volatile uint32_t rounds; /* rounds of the waiting loop, a clock that needs no timer */
static volatile uint32_t last, longest, shortest;

static void work(uint32_t n) {
    while (n-- > 0) {
        __asm volatile("nop");
    }
}

void tick_interrupt(void) {
    uint32_t gap = rounds - last;
    last = rounds;
    if (ticks >= 1) {
        longest = gap > longest ? gap : longest;
        shortest = gap < shortest ? gap : shortest;
    }
    ticks++;
    lost += tick_lost();
    work(load);
    if (tick_overrun()) {
        overruns++;
        load = 0; /* otherwise only the interrupt would run */
    }
}

void setUp(void);
void setUp(void) {
    ticks = overruns = lost = load = longest = 0;
    shortest = UINT32_MAX;
}

void tearDown(void);
void tearDown(void) {
    tick_stop();
}

/* Waits for a number of loop rounds, not for a time, so that a tick that never comes cannot hang
 * the test. */
static bool wait_for_ticks(uint32_t n) {
    enum { ROUNDS_MAX = 10000000 };
    for (uint32_t i = 0; i < ROUNDS_MAX && ticks < n; i++) {
        rounds++;
    }
    return ticks >= n;
}

static void test_rate_zero_is_refused(void) {
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(0));
}

static void test_rate_too_high_is_refused(void) {
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(UINT32_MAX));
}

static void test_ticks_come_at_even_distance(void) {
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(1000));
    TEST_ASSERT_TRUE(wait_for_ticks(12));
    TEST_ASSERT_EQUAL_UINT32(0, overruns);
    TEST_ASSERT_EQUAL_UINT32(0, lost);
    /*
     * The distances may differ by 4 rounds: the interrupt splits a round at either end, and its own
     * length varies by less than two rounds of eight instructions. A wrong period would differ by a
     * factor.
     */
    TEST_ASSERT_TRUE(longest > 10);
    TEST_ASSERT_UINT32_WITHIN(4, longest, shortest);
}

static void test_stop_stops(void) {
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(1000));
    TEST_ASSERT_TRUE(wait_for_ticks(3));
    tick_stop();
    uint32_t seen = ticks;
    work(100 * longest);
    TEST_ASSERT_EQUAL_UINT32(seen, ticks);
}

static void test_overrun_is_seen(void) {
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(1000));
    TEST_ASSERT_TRUE(wait_for_ticks(3));
    TEST_ASSERT_EQUAL_UINT32(0, overruns);
    /* This load takes longer than the period, because a round of the waiting loop is below 30
     * instructions. */
    load = 10 * longest;
    TEST_ASSERT_TRUE(wait_for_ticks(6));
    TEST_ASSERT_EQUAL_UINT32(1, overruns);
}

TEST_LIST_BEGIN
TEST(test_rate_zero_is_refused)
TEST(test_rate_too_high_is_refused)
TEST(test_ticks_come_at_even_distance)
TEST(test_stop_stops)
TEST(test_overrun_is_seen)
TEST_LIST_END

/* Tests the test harness: cases run in order, and the number formats work. */
#include "test/support/harness.h"

static int order;

static void test_runs_first(void) {
    TEST_ASSERT_EQUAL_INT(0, order++);
}

static void test_runs_second(void) {
    TEST_ASSERT_EQUAL_INT(1, order++);
}

static void test_doubles_and_64_bit(void) {
    TEST_ASSERT_EQUAL_INT64(INT64_C(0x123456789ABCDEF), INT64_C(0x123456789ABCDEF));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 0.1 + 0.2, 0.3);
}

TEST_LIST_BEGIN
TEST(test_runs_first)
TEST(test_runs_second)
TEST(test_doubles_and_64_bit)
TEST_LIST_END

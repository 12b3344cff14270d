/* Records with gaps: a lost sample does not count as a difference, and differences after a gap are
 * still found. */
#include "test/support/harness.h"
#include "tools/motion/record.h"

enum { JOINTS = 2, ROWS = 20, EVERY = 4 };

/* Makes the record of a motion that began at this tick, without the rows whose bit is set in
 * `lost`. The reference is the row number; the arm lags 0.001 behind it, and 0.1 in the last
 * row. */
static record_t make(uint32_t begin, uint32_t lost) {
    record_t record = {.joints = JOINTS};
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t word[64] = {0};
        double value[64] = {0};
        for (uint32_t i = 0; i < JOINTS; i++) {
            word[record_at(&record, RECORD_q_ref) + i] = 100 + r;
            word[record_at(&record, RECORD_q_arm) + i] = 1000 + r;
            value[record_at(&record, RECORD_q_ref) + i] = r;
            value[record_at(&record, RECORD_q_arm) + i] = r - (r + 1 < ROWS ? 0.001 : 0.1);
        }
        if (!(lost >> r & 1))
            TEST_ASSERT_EQUAL(0, record_add(&record, begin + EVERY * r, word, value));
    }
    record_finish(&record);
    return record;
}

static void check(uint32_t lost, uint32_t missing, uint32_t between) {
    record_t record = make(77, lost), twin = make(3, 0);
    uint64_t compared = 0;
    uint32_t seen = 0;
    TEST_ASSERT_EQUAL(between, record.missing);
    TEST_ASSERT_EQUAL(0, record_differences(&record, &twin, &compared, &seen));
    TEST_ASSERT_EQUAL(missing, seen);
    TEST_ASSERT_EQUAL((ROWS - missing) * record.width, compared);
    record.word[(size_t)(record.rows - 1) * record.width + record_at(&record, RECORD_q_arm)] ^= 1;
    TEST_ASSERT_EQUAL(1, record_differences(&record, &twin, &compared, &seen));
    record_free(&record);
    record_free(&twin);
}

static void test_lost_samples_are_no_differences(void) {
    check(0, 0, 0);
    check(1u << 7, 1, 1);
    check(1u << 3 | 1u << 4 | 1u << 11, 3, 3);
    check(3u, 2, 0); /* first two rows lost: the reference still shows which row comes first */
    check(1u << (ROWS - 1), 1, 0);
}

static void test_a_row_too_many_and_another_fault_are(void) {
    record_t record = make(77, 0), twin = make(3, 1u << (ROWS - 1));
    uint64_t compared = 0;
    uint32_t missing = 0;
    TEST_ASSERT_EQUAL(record.width, record_differences(&record, &twin, &compared, &missing));
    TEST_ASSERT_EQUAL(0, missing);
    record.fault = 1;
    TEST_ASSERT_EQUAL(record.width + 1, record_differences(&record, &twin, &compared, &missing));
    record_free(&record);
    record_free(&twin);
}

static void test_errors_are_of_what_came(void) {
    record_t whole = make(0, 0), cut = make(0, 1u << 5);
    /* The mean square is (19 * 0.001^2 + 0.1^2) / 20; the second record lacks one row with
     * 0.001. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.10 * 0.10 * 1.0019 / 20, whole.rms_all * whole.rms_all);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.10 * 0.10 * 1.0018 / 19, cut.rms_all * cut.rms_all);
    record_free(&whole);
    record_free(&cut);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_lost_samples_are_no_differences)
    TEST(test_a_row_too_many_and_another_fault_are)
    TEST(test_errors_are_of_what_came)
TEST_LIST_END
// clang-format on

/*
 * Every test file includes this header: Unity, the table of its cases, and announced resets. A test
 * runs on the host and on the target; test/support/harness.c explains how.
 *
 * static void test_thing(void) { TEST_ASSERT_EQUAL(1, one()); }
 * TEST_LIST_BEGIN
 * TEST(test_thing)
 * TEST_LIST_END
 */
#ifndef TEST_SUPPORT_HARNESS_H
#define TEST_SUPPORT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unity.h"

typedef struct {
    void (*run)(void);
    const char *name;
    int line;
} harness_case_t;

extern const harness_case_t harness_cases[];
extern const unsigned harness_case_count;
extern const char *const harness_file;

// clang-format off
#define TEST_LIST_BEGIN const harness_case_t harness_cases[] = {
#define TEST(function) {function, #function, __LINE__},
#define TEST_LIST_END };                                                                    \
    const unsigned harness_case_count = sizeof harness_cases / sizeof harness_cases[0];     \
    const char *const harness_file = __FILE__;
// clang-format on

/* Prints a line among the results, for example a measured number. */
void harness_note(const char *text);
void harness_note_number(const char *text, int64_t value);
/* Prints a number for the pages, as they show it: `measured NAME VALUE` (tools/dev/measured.py).
 * Only on the host; the target prints nothing. */
__attribute__((format(printf, 2, 3))) void harness_measured(const char *name, const char *format,
                                                            ...);

/*
 * Target only. A test calls this before it causes a fault; after the reset the case runs again, and
 * harness_after_reset returns true.
 */
void harness_expect_reset(void);
bool harness_after_reset(void);

#endif

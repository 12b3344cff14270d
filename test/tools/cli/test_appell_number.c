/* Compares the fast number conversions of the tool with those of the C library, which round
 * correctly. */
#include "test/support/harness.h"
#include "tools/cli/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef TEST_LONG
enum { NUMBERS = 100000000 };
#else
enum { NUMBERS = 300000 };
#endif

static uint64_t seed = 88172645463325252u;

static uint64_t chance(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Returns random bits, a number of ordinary size, one with few digits, or one next to a power of
 * ten. */
static double some_number(void) {
    uint64_t bits = chance();
    double value;
    switch (chance() % 4) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 0;
    case 1:
        return (double)(int64_t)bits / 9e18 * pow(10, (double)(chance() % 20) - 8);
    case 2:
        return (double)(bits % 2000000) / 1000 * pow(10, -(double)(chance() % 7));
    default:
        value = pow(10, (double)(chance() % 20) - 8);
        memcpy(&bits, &value, sizeof bits);
        bits += chance() % 7 - 3;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
}

static void check_scan(const char *text) {
    double value = -1;
    const char *end = number_scan(text, &value);
    TEST_ASSERT_NOT_NULL_MESSAGE(end, text);
    TEST_ASSERT_EQUAL_STRING_MESSAGE("", end, text);
    const double expected = strtod(text, NULL);
    TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&expected, &value, sizeof value, text);
}

static void test_printing_is_that_of_printf(void) {
    char ours[NUMBER_ROOM + 1], theirs[64];
    for (long i = 0; i < NUMBERS; i++) {
        const double value = some_number();
        for (int digits = 9; digits <= 17; digits += 8) {
            ours[number_print(ours, value, digits)] = '\0';
            snprintf(theirs, sizeof theirs, "%.*g", digits, value);
            TEST_ASSERT_EQUAL_STRING(theirs, ours);
        }
    }
}

static void test_scanning_is_that_of_strtod(void) {
    char text[100];
    for (long i = 0; i < NUMBERS; i++) {
        static const int digits[] = {3, 6, 9, 15, 16, 17, 18, 19, 20, 25};
        snprintf(text, sizeof text, "%.*g", digits[chance() % 10], some_number());
        check_scan(text);
        snprintf(text, sizeof text, "%llu.%llu", (unsigned long long)(chance() % 1000),
                 (unsigned long long)(chance() >> chance() % 64));
        check_scan(text);
    }
}

static void test_scanning_at_the_edges(void) {
    static const char *const good[] = {"0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5",
                                       "1e5",
                                       "1E-5",
                                       "1e+05",
                                       "00012",
                                       "1e-0",
                                       "0e999",
                                       "1e400",
                                       "-1e400",
                                       "1e-400",
                                       "4e-324",
                                       "2.5e-324",
                                       "9007199254740993", /* halfway between two doubles */
                                       "9007199254740993.0000000001",
                                       "0.1000000000000000055511151231257827",
                                       "1e22",
                                       "1e23",
                                       "18446744073709551615",
                                       "18446744073709551616",
                                       "99999999999999999999e-19",
                                       "2.2250738585072011e-308",
                                       "123456789012345678901234567890e-30"};
    static const char *const bad[] = {"",    "-",   "+",    ".", "-.", "e5",
                                      "nan", "inf", "-inf", "x", "--1"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        check_scan(good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_NULL_MESSAGE(number_scan(bad[i], &value), bad[i]);
    TEST_ASSERT_EQUAL_STRING("x10",
                             number_scan("0x10", &value)); /* hexadecimal numbers are not read */
    TEST_ASSERT_EQUAL_STRING("e", number_scan("2e", &value));
    TEST_ASSERT_EQUAL_STRING("e+", number_scan("2e+", &value));
    TEST_ASSERT_EQUAL_STRING(".3", number_scan("1.2.3", &value));
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_printing_is_that_of_printf)
    TEST(test_scanning_is_that_of_strtod)
    TEST(test_scanning_at_the_edges)
TEST_LIST_END
// clang-format on

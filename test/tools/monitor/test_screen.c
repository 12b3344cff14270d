/* Checks that the live screen of `appell monitor` fits every terminal with any number of joints, and
 * that every value is on one of its pages. */
#include "test/support/harness.h"
#include "tools/monitor/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIELDS = 14, ONES = 5, ROOM = 1 << 17 };

static double values[FIELDS][DYN_MAX_JOINTS];
static const double limits[DYN_MAX_JOINTS][2];
static screen_field_t fields[FIELDS];
static char names[DYN_MAX_JOINTS][64], text[ROOM];

static screen_t make_screen(uint32_t joints, unsigned width, unsigned height) {
    static const char *const name[FIELDS] = {"tick",  "state",  "limited", "unproved", "cost",
                                             "q_ref", "qd_ref", "qdd_ref", "q",        "qd",
                                             "q_arm", "volt",   "tau",     "tau_model"};
    screen_t s = {.width = width,
                  .height = height,
                  .head = {"a board with a long name  a robot with a long name  running, holding",
                           "no fault; a guard is weaker than its default",
                           "t 12345.678 s  1000 Hz  every 10 ticks  samples 1234567  lost 0 + 0"},
                  .joints = joints,
                  .fields = FIELDS,
                  .field = fields,
                  .event = "",
                  .typed = ""};
    for (uint32_t f = 0; f < FIELDS; f++) {
        for (uint32_t k = 0; k < joints; k++)
            values[f][k] = -(f * 100.0 + k + 0.5) * 1e-6; /* the longest that %.5g makes */
        fields[f] = (screen_field_t){.name = name[f],
                                     .unit = "rad/s^2 or m/s^2",
                                     .per_joint = f >= ONES,
                                     .value = values[f],
                                     .limit = limits};
    }
    for (uint32_t k = 0; k < joints; k++) {
        snprintf(names[k], sizeof names[k], "%s_joint_with_a_long_n\xc3\xa4me_%u",
                 k % 2 ? "shoulder" : "\xe8\x82\xa9", (unsigned)k + 1);
        s.joint[k] = names[k];
    }
    return s;
}

/* Returns the number of lines; none may be wider than the terminal. */
static unsigned check_lines(const screen_t *s, const char *shown) {
    unsigned lines = 1, columns = 0;
    for (const char *at = shown; *at; at++) {
        if (*at == '\033') { /* a colour */
            at = strchr(at, 'm');
            continue;
        }
        lines += *at == '\n';
        columns = *at == '\n' ? 0 : columns + (((unsigned char)*at & 0xc0) != 0x80);
        TEST_ASSERT_LESS_OR_EQUAL_UINT_MESSAGE(s->width, columns, shown);
    }
    return lines;
}

static void check_size(uint32_t joints, unsigned width, unsigned height, bool prompt) {
    screen_t s = make_screen(joints, width, height);
    static char pages[64 * 1024];
    char number[32];
    pages[0] = '\0';
    s.typed =
        prompt ? "set kp[shoulder] 12345, a line that is longer than the narrow terminal" : NULL;
    s.event =
        "the board refuses: this sentence is longer than any line of the terminal, because it "
        "tells what is wrong, and how it can be mended, at once; it has three lines at most";
    for (int coloured = 0; coloured < 2; coloured++) {
        s.colour = s.alarm = coloured;
        for (s.field_page = 0; s.field_page < 9; s.field_page++)
            for (s.joint_page = 0; s.joint_page < 32; s.joint_page++) {
                TEST_ASSERT_LESS_THAN_UINT(ROOM, screen_text(&s, text, sizeof text));
                TEST_ASSERT_LESS_OR_EQUAL_UINT(height, check_lines(&s, text));
                for (uint32_t f = ONES; f < FIELDS; f++)
                    for (uint32_t k = 0; k < joints; k++) {
                        snprintf(number, sizeof number, "%.5g", values[f][k]);
                        if (strstr(text, number))
                            pages[f * 64 + k] = 1;
                    }
            }
    }
    for (uint32_t f = ONES; f < FIELDS; f++)
        for (uint32_t k = 0; k < joints; k++)
            TEST_ASSERT_EQUAL_MESSAGE(1, pages[f * 64 + k], "a value is on no page");
}

static void test_every_size_fits_and_shows_every_value(void) {
    static const uint32_t joints[] = {1, 6, 7, 12, 32};
    for (size_t i = 0; i < sizeof joints / sizeof joints[0]; i++) {
        check_size(joints[i], 80, 24, true);
        check_size(joints[i], 80, 24, false);
        check_size(joints[i], 40, 10, true);
        check_size(joints[i], 200, 60, true);
    }
}

static void test_twelve_joints_need_one_page_of_80_by_24(void) {
    screen_t s = make_screen(12, 80, 24);
    screen_text(&s, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "joints 1/1"), text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "\njoint "), text);
    s = make_screen(32, 80, 24);
    s.joint_page = 1;
    screen_text(&s, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "joints 2/"), text);
}

static void test_a_smaller_terminal_is_no_error(void) {
    screen_t s = make_screen(6, 1, 1);
    TEST_ASSERT_GREATER_THAN_UINT(0, screen_text(&s, text, sizeof text));
    TEST_ASSERT_GREATER_THAN_UINT(0, screen_text(&s, text, 100));
    TEST_ASSERT_LESS_THAN_UINT(100, strlen(text));
}

static void test_values_near_limits_are_marked(void) {
    static const double limit[] = {-1, 3}, none[] = {0, 0};
    TEST_ASSERT_EQUAL(SCREEN_FREE, screen_nearness(1, limit));
    TEST_ASSERT_EQUAL(SCREEN_FREE, screen_nearness(2.79, limit)); /* 0.895 of the way from 1 to 3 */
    TEST_ASSERT_EQUAL(SCREEN_NEAR, screen_nearness(2.81, limit));
    TEST_ASSERT_EQUAL(SCREEN_NEAR, screen_nearness(-0.81, limit));
    TEST_ASSERT_EQUAL(SCREEN_AT, screen_nearness(3, limit));
    TEST_ASSERT_EQUAL(SCREEN_AT, screen_nearness(-7, limit));
    TEST_ASSERT_EQUAL(SCREEN_FREE, screen_nearness(1e9, none));
    screen_t s = make_screen(1, 80, 24);
    const double value[] = {2.9};
    const screen_field_t q = {
        .name = "q", .unit = "rad", .per_joint = true, .value = value, .limit = &limit};
    s.field = &q;
    s.fields = 1;
    screen_text(&s, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "2.9!"), text);
    TEST_ASSERT_NULL(strchr(text, '\033'));
    s.colour = true;
    screen_text(&s, text, sizeof text);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "\033[33m       2.9!\033[0m"), text);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_every_size_fits_and_shows_every_value)
    TEST(test_twelve_joints_need_one_page_of_80_by_24)
    TEST(test_a_smaller_terminal_is_no_error)
    TEST(test_values_near_limits_are_marked)
TEST_LIST_END
// clang-format on

/* The report of the self-test image: its lines, and the JSON file, whole and damaged. */
#include "test/support/harness.h"
#include "tools/link/silicon.h"

#include <stdlib.h>
#include <string.h>

static silicon_report_t report, again;

static silicon_line_t line(const char *text) {
    uint32_t number = 0;
    return silicon_read_line(&report, text, &number);
}

static void make_report(void) {
    TEST_ASSERT_EQUAL(SILICON_LINE_READY,
                      line("silicon: ready nucleo stm32f446 10006421 410fc241 ab12 silicon"));
    TEST_ASSERT_EQUAL(SILICON_LINE_TEST,
                      line("silicon: lsi = 31870 Hz (expected 17000 to 47000) ok"));
    TEST_ASSERT_EQUAL(SILICON_LINE_TEST,
                      line("silicon: pwm_off = 3 permille (expected 0 to 0) FAIL"));
    TEST_ASSERT_EQUAL(SILICON_LINE_TEST,
                      line("silicon: cycles.puma560.id.fast.f32 = 1850 cycles ok"));
    TEST_ASSERT_EQUAL(SILICON_LINE_TEST, line("silicon: fpu unseen: this core has no FPU"));
}

/* Writes the report; the caller frees the text. */
static char *json_of(const silicon_report_t *r, size_t *size) {
    char *text = NULL;
    FILE *stream = open_memstream(&text, size);
    TEST_ASSERT_NOT_NULL(stream);
    silicon_write_json(r, stream);
    fclose(stream);
    return text;
}

static void test_lines_become_results(void) {
    uint32_t number = 0;
    make_report();
    TEST_ASSERT_EQUAL_STRING("nucleo", report.board);
    TEST_ASSERT_EQUAL_STRING("10006421", report.idcode);
    TEST_ASSERT_FALSE(report.emulated);
    TEST_ASSERT_EQUAL(4, report.test_count);
    TEST_ASSERT_EQUAL(2, silicon_count(&report, SILICON_OK));
    TEST_ASSERT_EQUAL(1, silicon_count(&report, SILICON_FAIL));
    const silicon_test_t *lsi = silicon_find(&report, "lsi");
    TEST_ASSERT_NOT_NULL(lsi);
    TEST_ASSERT_TRUE(lsi->has_range && lsi->value == 31870 && lsi->high == 47000);
    TEST_ASSERT_EQUAL_STRING("this core has no FPU", silicon_find(&report, "fpu")->reason);
    TEST_ASSERT_NULL(silicon_find(&report, "lsi2"));
    TEST_ASSERT_EQUAL(SILICON_LINE_SEND, silicon_read_line(&report, "silicon: send 512", &number));
    TEST_ASSERT_EQUAL(512, number);
    TEST_ASSERT_EQUAL(
        SILICON_LINE_END,
        silicon_read_line(&report, "silicon: end: 2 ok, 1 failed, 1 unseen", &number));
    TEST_ASSERT_EQUAL(4, number);
}

static void test_garbled_lines_are_no_results(void) {
    static const char *const bad[] = {
        "silicon: ",
        "silicon: lsi",
        "silicon: lsi = Hz (expected 1 to 2) ok",
        "silicon: lsi = 5 Hz (expected 1 to 9) perhaps",
        "silicon: lsi = 5 Hz (expected 1 to 9) ok ok",
        "silicon: lsi = 5 Hz (expected 1 to",
        "silicon: lsi = nan Hz ok",
        "silicon: l\"si = 5 Hz ok",
        "silicon: l\\si = 5 Hz ok",
        "silicon: l\x1b[2Jsi = 5 Hz ok",
        "silicon: ready nucleo",
    };
    make_report();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_EQUAL_MESSAGE(SILICON_LINE_BAD, line(bad[i]), bad[i]);
    TEST_ASSERT_EQUAL(SILICON_LINE_OTHER, line("appell 0.2.0 on nucleo"));
    TEST_ASSERT_EQUAL(4, report.test_count);
    while (report.test_count < SILICON_TESTS_MAX)
        TEST_ASSERT_EQUAL(SILICON_LINE_TEST, line("silicon: fpu unseen: no FPU"));
    TEST_ASSERT_EQUAL(SILICON_LINE_BAD, line("silicon: fpu unseen: no FPU"));
}

static void test_the_file_keeps_everything(void) {
    size_t size;
    make_report();
    char *text = json_of(&report, &size);
    memset(&again, 0xA5, sizeof again);
    TEST_ASSERT_NULL(silicon_read_json(text, size, &again));
    TEST_ASSERT_EQUAL(report.test_count, again.test_count);
    for (uint32_t i = 0; i < report.test_count; i++) {
        char a[400], b[400];
        silicon_format(&report.test[i], a, sizeof a);
        silicon_format(&again.test[i], b, sizeof b);
        TEST_ASSERT_EQUAL_STRING(a, b);
    }
    TEST_ASSERT_EQUAL_STRING(report.build, again.build);
    free(text);
}

/* A file that ends early is refused, wherever it ends; only the final line may be missing. */
static void test_a_truncated_file_is_refused(void) {
    size_t size;
    make_report();
    char *text = json_of(&report, &size);
    for (size_t n = 0; n + 2 < size; n++) {
        char where[40];
        snprintf(where, sizeof where, "cut after %zu bytes", n);
        TEST_ASSERT_NOT_NULL_MESSAGE(silicon_read_json(text, n, &again), where);
    }
    free(text);
}

static void test_wrong_files_are_refused(void) {
    static const char *const bad[] = {
        "", "[]", "{}", "hello", "{\"format\": 1}", "{\"format\": 1, \"board\": []}", "\177ELF",
    };
    static const char head[] = "\"board\": \"b\", \"chip\": \"c\", \"idcode\": \"0\", \"cpuid\": "
                               "\"0\", \"build\": \"0\", \"emulated\": true, \"tests\": [";
    static const char *const tests[] = {
        "{\"name\": \"a\"}",
        "{\"name\": \"a\", \"verdict\": \"maybe\"}",
        "{\"name\": \"a\", \"verdict\": \"ok\"}",
        "{\"name\": \"a\", \"value\": \"x\", \"unit\": \"Hz\", \"verdict\": \"ok\"}",
        "{\"name\": \"a\", \"value\": nan, \"unit\": \"Hz\", \"verdict\": \"ok\"}",
        "{\"name\": \"a\", \"verdict\": \"unseen\", \"extra\": 1}",
        "5",
    };
    char text[600];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_NOT_NULL_MESSAGE(silicon_read_json(bad[i], strlen(bad[i]), &again), bad[i]);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        const int n = snprintf(text, sizeof text, "{\"format\": 1, %s%s]}", head, tests[i]);
        TEST_ASSERT_NOT_NULL_MESSAGE(silicon_read_json(text, (size_t)n, &again), tests[i]);
    }
    int n = snprintf(text, sizeof text, "{\"format\": 2, %s]}", head);
    TEST_ASSERT_NOT_NULL(silicon_read_json(text, (size_t)n, &again));
    n = snprintf(text, sizeof text, "{\"format\": 1, %s]}", head);
    TEST_ASSERT_NULL(silicon_read_json(text, (size_t)n, &again));
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_lines_become_results)
    TEST(test_garbled_lines_are_no_results)
    TEST(test_the_file_keeps_everything)
    TEST(test_a_truncated_file_is_refused)
    TEST(test_wrong_files_are_refused)
TEST_LIST_END
// clang-format on

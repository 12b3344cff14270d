/* Implements tools/link/silicon.h. libcyaml reads the report, because JSON is YAML. */
#include "tools/link/silicon.h"

#include <cyaml/cyaml.h>
#include <math.h>
#include <string.h>

static const cyaml_strval_t verdicts[] = {
    {"ok", SILICON_OK}, {"FAIL", SILICON_FAIL}, {"unseen", SILICON_UNSEEN}};
enum { VERDICTS = sizeof verdicts / sizeof verdicts[0] };

/* ---------------------------------------------------------------------------------------- lines */

static bool read_test(const char *text, silicon_test_t *test) {
    char verdict[8] = "";
    int used = 0;
    *test = (silicon_test_t){.verdict = VERDICTS};
    if (sscanf(text, "%63s unseen: %159[^\n]", test->name, test->reason) == 2) {
        test->verdict = SILICON_UNSEEN;
        return true;
    }
    if (sscanf(text, "%63s = %lf %23s (expected %lf to %lf) %7s%n", test->name, &test->value,
               test->unit, &test->low, &test->high, verdict, &used) == 6)
        test->has_range = true;
    else if (sscanf(text, "%63s = %lf %23s %7s%n", test->name, &test->value, test->unit, verdict,
                    &used) != 4)
        return false;
    for (int i = 0; i < SILICON_UNSEEN; i++)
        if (!strcmp(verdict, verdicts[i].str))
            test->verdict = i;
    return test->verdict < VERDICTS && isfinite(test->value) && text[used] == '\0';
}

silicon_line_t silicon_read_line(silicon_report_t *report, const char *line, uint32_t *number) {
    static const char prefix[] = "silicon: ";
    silicon_report_t r = {.format = SILICON_FORMAT};
    unsigned ok, failed, unseen;
    char where[16];
    if (strncmp(line, prefix, strlen(prefix)) != 0)
        return SILICON_LINE_OTHER;
    const char *text = line + strlen(prefix);
    for (const char *c = line; *c; c++) /* so that nothing needs an escape in JSON */
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            return SILICON_LINE_BAD;
    if (!strncmp(text, "ready ", 6)) {
        if (sscanf(text, "ready %31s %31s %15s %15s %47s %15s", r.board, r.chip, r.idcode, r.cpuid,
                   r.build, where) != 6)
            return SILICON_LINE_BAD;
        r.emulated = !strcmp(where, "emulator");
        *report = r;
        return SILICON_LINE_READY;
    }
    if (sscanf(text, "send %u", number) == 1)
        return SILICON_LINE_SEND;
    if (sscanf(text, "end: %u ok, %u failed, %u unseen", &ok, &failed, &unseen) == 3) {
        *number = ok + failed + unseen;
        return SILICON_LINE_END;
    }
    if (report->test_count == SILICON_TESTS_MAX ||
        !read_test(text, &report->test[report->test_count]))
        return SILICON_LINE_BAD;
    report->test_count++;
    return SILICON_LINE_TEST;
}

const silicon_test_t *silicon_find(const silicon_report_t *report, const char *name) {
    for (uint32_t i = 0; i < report->test_count; i++)
        if (!strcmp(report->test[i].name, name))
            return &report->test[i];
    return NULL;
}

uint32_t silicon_count(const silicon_report_t *report, silicon_verdict_t verdict) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < report->test_count; i++)
        count += report->test[i].verdict == (int)verdict;
    return count;
}

void silicon_format(const silicon_test_t *test, char *out, size_t size) {
    const char *verdict = verdicts[test->verdict].str;
    if (test->verdict == SILICON_UNSEEN)
        snprintf(out, size, "%-34s %s: %s", test->name, verdict, test->reason);
    else if (test->has_range)
        snprintf(out, size, "%-34s %10.0f %-12s expected %.0f to %.0f: %s", test->name, test->value,
                 test->unit, test->low, test->high, verdict);
    else
        snprintf(out, size, "%-34s %10.0f %-12s %s", test->name, test->value, test->unit, verdict);
}

/* ----------------------------------------------------------------------------------------- JSON */

void silicon_write_json(const silicon_report_t *report, FILE *stream) {
    fprintf(stream,
            "{\n  \"format\": %u,\n  \"board\": \"%s\",\n  \"chip\": \"%s\",\n"
            "  \"idcode\": \"%s\",\n  \"cpuid\": \"%s\",\n  \"build\": \"%s\",\n"
            "  \"emulated\": %s,\n  \"tests\": [",
            (unsigned)report->format, report->board, report->chip, report->idcode, report->cpuid,
            report->build, report->emulated ? "true" : "false");
    for (uint32_t i = 0; i < report->test_count; i++) {
        const silicon_test_t *t = &report->test[i];
        fprintf(stream, "%s\n    {\"name\": \"%s\", ", i > 0 ? "," : "", t->name);
        if (t->verdict != SILICON_UNSEEN)
            fprintf(stream, "\"value\": %.0f, \"unit\": \"%s\", ", t->value, t->unit);
        if (t->has_range)
            fprintf(stream, "\"low\": %.0f, \"high\": %.0f, ", t->low, t->high);
        fprintf(stream, "\"verdict\": \"%s\"", verdicts[t->verdict].str);
        if (t->verdict == SILICON_UNSEEN)
            fprintf(stream, ", \"reason\": \"%s\"", t->reason);
        fprintf(stream, "}");
    }
    fprintf(stream, "\n  ]\n}\n");
}

enum { OPTIONAL = CYAML_FLAG_OPTIONAL };
#define TEXT(key, flags, type, member) CYAML_FIELD_STRING(key, flags, type, member, 1)

static const cyaml_schema_field_t test_fields[] = {
    TEXT("name", 0, silicon_test_t, name),
    CYAML_FIELD_FLOAT("value", OPTIONAL, silicon_test_t, value),
    TEXT("unit", OPTIONAL, silicon_test_t, unit),
    CYAML_FIELD_FLOAT("low", OPTIONAL, silicon_test_t, low),
    CYAML_FIELD_FLOAT("high", OPTIONAL, silicon_test_t, high),
    CYAML_FIELD_ENUM("verdict", CYAML_FLAG_STRICT, silicon_test_t, verdict, verdicts, VERDICTS),
    TEXT("reason", OPTIONAL, silicon_test_t, reason),
    CYAML_FIELD_END};
static const cyaml_schema_value_t test_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, silicon_test_t, test_fields)};
static const cyaml_schema_field_t report_fields[] = {
    CYAML_FIELD_UINT("format", 0, silicon_report_t, format),
    TEXT("board", 0, silicon_report_t, board),
    TEXT("chip", 0, silicon_report_t, chip),
    TEXT("idcode", 0, silicon_report_t, idcode),
    TEXT("cpuid", 0, silicon_report_t, cpuid),
    TEXT("build", 0, silicon_report_t, build),
    CYAML_FIELD_BOOL("emulated", 0, silicon_report_t, emulated),
    CYAML_FIELD_SEQUENCE("tests", 0, silicon_report_t, test, &test_value, 0, SILICON_TESTS_MAX),
    CYAML_FIELD_END};
static const cyaml_schema_value_t report_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, silicon_report_t, report_fields)};
static const cyaml_config_t config = {
    .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};

const char *silicon_read_json(const char *text, size_t size, silicon_report_t *report) {
    silicon_report_t *found = NULL;
    const cyaml_err_t error = cyaml_load_data((const uint8_t *)text, size, &config, &report_value,
                                              (cyaml_data_t **)&found, NULL);
    if (error != CYAML_OK || !found)
        return error != CYAML_OK ? cyaml_strerror(error) : "it is empty";
    *report = *found;
    cyaml_free(&config, &report_value, found, 0);
    if (report->format != SILICON_FORMAT)
        return "it has another format than this program reads";
    for (uint32_t i = 0; i < report->test_count; i++) {
        silicon_test_t *t = &report->test[i];
        if (!isfinite(t->value) || !isfinite(t->low) || !isfinite(t->high))
            return "a number is not finite";
        if (t->verdict != SILICON_UNSEEN && !*t->unit)
            return "a result has no value or no unit";
        t->has_range = t->verdict != SILICON_UNSEEN && strncmp(t->name, "cycles.", 7) != 0;
    }
    return NULL;
}

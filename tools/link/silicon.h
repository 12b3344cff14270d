/* The report of the self-test image (test/silicon): its lines, and the JSON file that an owner
 * of a board can send back. */
#ifndef TOOLS_LINK_SILICON_H
#define TOOLS_LINK_SILICON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SILICON_TESTS_MAX = 200, SILICON_FORMAT = 1, SILICON_LINE = 256 };

typedef enum { SILICON_OK, SILICON_FAIL, SILICON_UNSEEN } silicon_verdict_t;

typedef struct {
    char name[64];
    double value; /* 0 if unseen */
    char unit[24];
    double low, high; /* the expected range */
    bool has_range;   /* false: a row of the bench, or unseen */
    int verdict;      /* silicon_verdict_t */
    char reason[160]; /* why it is unseen */
} silicon_test_t;

typedef struct {
    uint32_t format; /* SILICON_FORMAT */
    char board[32], chip[32];
    char idcode[16], cpuid[16]; /* registers of the chip: part and revision */
    char build[48];             /* build id of the image */
    bool emulated;
    silicon_test_t test[SILICON_TESTS_MAX];
    uint32_t test_count;
} silicon_report_t;

typedef enum {
    SILICON_LINE_OTHER, /* not a line of the image */
    SILICON_LINE_READY, /* the image waits for the host; fills in the board */
    SILICON_LINE_TEST,  /* a result; it is appended */
    SILICON_LINE_SEND,  /* the host shall send *number bytes */
    SILICON_LINE_END,   /* the last line; *number results came before it */
    SILICON_LINE_BAD,   /* garbled, or more results than the report can hold */
} silicon_line_t;

/* Reads one line, without its end. */
silicon_line_t silicon_read_line(silicon_report_t *report, const char *line, uint32_t *number);
const silicon_test_t *silicon_find(const silicon_report_t *report, const char *name);
uint32_t silicon_count(const silicon_report_t *report, silicon_verdict_t verdict);
/* Writes a result as a line of text, without an end of line. */
void silicon_format(const silicon_test_t *test, char *out, size_t size);
void silicon_write_json(const silicon_report_t *report, FILE *stream);
/* Returns NULL, or the reason why the text is not a report. */
const char *silicon_read_json(const char *text, size_t size, silicon_report_t *report);

#endif

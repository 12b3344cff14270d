/* Reads rows of numbers. */
#include "tools/cli/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

enum { ROW_LONGEST = 1 << 20, ROW_ROOM = 1 << 16 };

int rows_open(rows_t *rows, const char *path) {
    *rows = (rows_t){.file = STDIN_FILENO, .name = "stdin"};
    if (path && strcmp(path, "-") != 0) {
        rows->name = path;
        rows->file = open(path, O_RDONLY | O_CLOEXEC);
        if (rows->file < 0)
            return diag_error(path, "check the path and its permissions", "cannot be opened: %s",
                              strerror(errno));
    }
    rows->room = ROW_ROOM;
    rows->buffer = malloc(rows->room + 1);
    return rows->buffer ? EXIT_YES : diag_no_memory();
}

void rows_close(rows_t *rows) {
    free(rows->buffer);
    if (rows->file > STDIN_FILENO)
        close(rows->file);
}

int rows_error(const rows_t *rows, const char *cure, const char *format, ...) {
    char place[300], text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(place, sizeof place, "%.250s:%lu", rows->name, rows->line);
    out_flush(); /* so that earlier results appear before the error on a terminal */
    return diag_error(place, cure, "row %lu: %s", rows->row, text);
}

/* Reads more bytes into the buffer. Returns false at the end, or after printing an error. */
static bool fill(rows_t *rows, bool *failed) {
    memmove(rows->buffer, rows->buffer + rows->begin, rows->used - rows->begin);
    rows->used -= rows->begin;
    rows->begin = 0;
    if (rows->used == rows->room) {
        char *more = rows->room < ROW_LONGEST ? realloc(rows->buffer, 2 * rows->room + 1) : NULL;
        if (!more && rows->room < ROW_LONGEST) {
            diag_no_memory();
            *failed = true;
            return false;
        }
        if (!more) {
            rows->line++;
            rows->row++;
            rows_error(rows, "is this a file of rows?", "the line is longer than %d bytes",
                       ROW_LONGEST);
            *failed = true;
            return false;
        }
        rows->buffer = more;
        rows->room *= 2;
    }
    out_flush();
    ssize_t n;
    do
        n = read(rows->file, rows->buffer + rows->used, rows->room - rows->used);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        char place[300];
        snprintf(place, sizeof place, "%.250s:%lu", rows->name, rows->line + 1);
        diag_error(place, "check the file and the disk it is on", "reading failed: %s",
                   strerror(errno));
        *failed = true;
        return false;
    }
    rows->used += (size_t)n;
    return n > 0;
}

/* Returns the next line, with its newline replaced by a zero, or NULL at the end or on failure. */
static char *next_line(rows_t *rows, size_t *size, bool *failed) {
    size_t looked = 0;
    for (;;) {
        char *begin = rows->buffer + rows->begin;
        const size_t there = rows->used - rows->begin;
        char *end = memchr(begin + looked, '\n', there - looked);
        if (end || (rows->ended && there > 0)) {
            *size = end ? (size_t)(end - begin) : there;
            begin[*size] = '\0';
            rows->begin += *size + (end ? 1 : 0);
            rows->line++;
            return begin;
        }
        if (rows->ended)
            return NULL;
        looked = there;
        if (!fill(rows, failed)) {
            if (*failed)
                return NULL;
            rows->ended = true;
        }
    }
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void wrong_word(const rows_t *rows, const char *s) {
    enum { SHOWN = 23 };
    const size_t size = strcspn(s, " \t\r\v\f,#");
    rows_error(rows, "write numbers such as -0.5 or 1e-3, separated by blanks or commas",
               "'%.*s%s' is not a finite number", (int)(size < SHOWN ? size : SHOWN), s,
               size > SHOWN ? "..." : "");
}

/* Stores at most `count` numbers of the line and returns how many it has, or -1 after printing an
 * error. */
static long take_numbers(rows_t *rows, const char *s, size_t size, double *value, size_t count) {
    const char *const end = s + size;
    size_t found = 0;
    bool comma = false; /* there was a comma after the last number */
    for (;;) {
        while (is_blank(*s))
            s++;
        if (*s == ',') {
            if (comma || found == 0) {
                rows_error(rows, "write a number there", "a number is missing before a comma");
                return -1;
            }
            comma = true;
            s++;
            continue;
        }
        if (*s == '#' || s >= end)
            break;
        double number;
        const char *after = number_scan(s, &number);
        const bool ends = after && (is_blank(*after) || *after == ',' || *after == '#' || !*after);
        if (!ends || !isfinite(number)) {
            wrong_word(rows, s);
            return -1;
        }
        if (found < count)
            value[found] = number;
        found++;
        comma = false;
        s = after;
    }
    return (long)found;
}

int rows_next_any(rows_t *rows, double *value, size_t most, size_t *count) {
    bool failed = false;
    size_t size;
    for (char *s; (s = next_line(rows, &size, &failed)) != NULL;) {
        const char *t = s;
        while (is_blank(*t))
            t++;
        if (*t == '#' || (!*t && t == s + size))
            continue;
        rows->row++;
        const long found = take_numbers(rows, s, size, value, most);
        *count = found < 0 ? 0 : (size_t)found;
        return found < 0 ? -1 : 1;
    }
    return failed ? -1 : 0;
}

int rows_next(rows_t *rows, double *value, size_t count, const char *meaning) {
    size_t found;
    const int status = rows_next_any(rows, value, count, &found);
    if (status <= 0 || found == count)
        return status;
    rows_error(rows, "write each row on one line", "got %zu number%s, expected %zu (%s)", found,
               found == 1 ? "" : "s", count, meaning);
    return -1;
}

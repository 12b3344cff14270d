/*
 * Reads rows of numbers from a file or standard input. Numbers are separated by blanks or commas, #
 * starts a comment, and empty lines are skipped. A wrong row is an error, which is printed with its
 * line.
 */
#ifndef TOOLS_CLI_ROWS_H
#define TOOLS_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int file;
    const char *name; /* "stdin" or the path, for messages */
    unsigned long line;
    unsigned long row; /* number of rows read so far, without comments */
    char *buffer;
    size_t begin, used, room; /* the bytes from begin to used are unread */
    bool ended;
} rows_t;

/* Opens a file, or standard input if path is NULL or "-". Returns 0, or EXIT_BAD after printing the
 * reason. */
int rows_open(rows_t *rows, const char *path);
void rows_close(rows_t *rows);

/*
 * Reads the next row of exactly `count` numbers; `meaning` names them in messages ("q qd qdd of 6
 * joints"). Returns 1, 0 at the end, or -1 after printing what is wrong. Flushes the output before
 * it waits for input, so that a program that writes the rows and reads the results gets each result
 * before it sends the next row.
 */
int rows_next(rows_t *rows, double *value, size_t count, const char *meaning);

/* Like rows_next, for a row of any length; stores at most `most` numbers. */
int rows_next_any(rows_t *rows, double *value, size_t most, size_t *count);

/* Prints an error about the row that was read last. Returns EXIT_BAD. */
int rows_error(const rows_t *rows, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

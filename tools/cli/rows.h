/*
 * Reads rows of numbers from a file or standard input: numbers are separated by blanks or commas, #
 * starts a comment, empty lines are skipped. A wrong row is an error, which is printed here with
 * its place.
 */
#ifndef TOOLS_CLI_ROWS_H
#define TOOLS_CLI_ROWS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    int file;
    const char *name; /* "stdin", or the path */
    unsigned long line;
    unsigned long row; /* rows of numbers so far */
    char *buffer;
    size_t begin, used, room; /* bytes begin .. used of the buffer are unread */
    bool ended;
} rows_t;

/* path NULL or "-": standard input. Returns 0, or EXIT_BAD after printing the reason. */
int rows_open(rows_t *rows, const char *path);
void rows_close(rows_t *rows);

/*
 * Reads the next row of exactly `count` numbers; `meaning` names them in messages ("q qd qdd of 6
 * joints"). Returns 1, 0 at the end, or -1 after printing what is wrong. Flushes the output before
 * it waits for input, so that a program at both ends of a pipe gets each answer before it sends the
 * next row.
 */
int rows_next(rows_t *rows, double *value, size_t count, const char *meaning);

/* The same for a row of any length; stores at most `most` numbers. */
int rows_next_any(rows_t *rows, double *value, size_t most, size_t *count);

/* Prints an error about the row that was read last. Returns EXIT_BAD. */
int rows_error(const rows_t *rows, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

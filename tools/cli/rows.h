/*
 * Rows of numbers from a file or standard input: separated by blanks or commas, # starts a comment,
 * empty lines count for nothing. A row that is wrong is an error with its place, said here.
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
    size_t begin, used, room; /* of the buffer: what was not taken yet is begin .. used */
    bool ended;
} rows_t;

/* path NULL or "-": standard input. 0, or EXIT_BAD after saying why not. */
int rows_open(rows_t *rows, const char *path);
void rows_close(rows_t *rows);

/*
 * The next row of exactly `count` numbers; `meaning` names them in messages ("q qd qdd of 6
 * joints"). 1, or 0 at the end, or -1 after saying what is wrong. Flushes the output before it
 * waits for input, so that a program at both ends of a pipe gets each answer before it asks again.
 */
int rows_next(rows_t *rows, double *value, size_t count, const char *meaning);

/* The same for a row of any count of numbers; the first `most` of them are stored. */
int rows_next_any(rows_t *rows, double *value, size_t most, size_t *count);

/* An error in the row that was read last. Returns EXIT_BAD. */
int rows_error(const rows_t *rows, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/* Whole files, written so that a failure leaves nothing half-written behind. */
#ifndef TOOLS_CLI_FILE_H
#define TOOLS_CLI_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Beside the target first, then renamed onto it. EXIT_YES, or EXIT_BAD after saying why not. */
int file_write(const char *path, const void *bytes, size_t size);

/* Whether file_write could, for work whose result would be lost: nothing is left there. EXIT_YES,
 * or EXIT_BAD after saying why not. */
int file_check(const char *path);

/* The name of a column of CSV: what separates columns, which names of joints may hold, becomes _.
 */
void file_column(FILE *stream, const char *name);

/* A text that is put together in memory with stdio and then written as a whole. */
typedef struct {
    FILE *stream; /* NULL: there is no memory, which file_text_end says */
    char *text;
    size_t size;
} file_text_t;

FILE *file_text_begin(file_text_t *text);
/* path "-": standard output. EXIT_YES, or EXIT_BAD after saying why not; frees the text. */
int file_text_end(file_text_t *text, const char *path);

#endif

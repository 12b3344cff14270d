/* Writes whole files, such that a failure leaves nothing half-written behind. */
#ifndef TOOLS_CLI_FILE_H
#define TOOLS_CLI_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Writes beside the target first and then renames. Returns EXIT_YES, or EXIT_BAD after printing the
 * reason. */
int file_write(const char *path, const void *bytes, size_t size);

/* Checks whether file_write could succeed, before long work whose result would be lost. Leaves no
 * file. Returns EXIT_YES, or EXIT_BAD after printing the reason. */
int file_check(const char *path);

/* Writes the name of a CSV column. Separators, which names of joints may contain, become _. */
void file_column(FILE *stream, const char *name);

/* A text that is composed in memory with stdio and then written as a whole. */
typedef struct {
    FILE *stream; /* NULL: no memory; file_text_end reports it */
    char *text;
    size_t size;
} file_text_t;

FILE *file_text_begin(file_text_t *text);
/* Writes the text (path "-": to standard output) and frees it. Returns EXIT_YES, or EXIT_BAD after
 * printing the reason. */
int file_text_end(file_text_t *text, const char *path);

#endif

/* Writes whole files, so that a failure leaves no half-written file. */
#ifndef TOOLS_CLI_FILE_H
#define TOOLS_CLI_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Writes a temporary file beside the target and renames it. Returns EXIT_YES, or EXIT_BAD after
 * printing the reason. */
int file_write(const char *path, const void *bytes, size_t size);

/* Checks that file_write can succeed. Call it before long work whose result would be lost. Leaves
 * no file. Returns EXIT_YES, or EXIT_BAD after printing the reason. */
int file_check(const char *path);

/*
 * Writes the name of a CSV column. Separators become _, because names of joints may contain them.
 */
void file_column(FILE *stream, const char *name);

/* A text that is composed in memory with stdio and then written as a whole. */
typedef struct {
    FILE *stream; /* NULL if there is no memory; file_text_end reports it */
    char *text;
    size_t size;
} file_text_t;

FILE *file_text_begin(file_text_t *text);
/* Writes the text to the file, or to standard output if path is "-", and frees it. Returns
 * EXIT_YES, or EXIT_BAD after printing the reason. */
int file_text_end(file_text_t *text, const char *path);

#endif

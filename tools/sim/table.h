/* A whole file of rows in memory. */
#ifndef TOOLS_SIM_TABLE_H
#define TOOLS_SIM_TABLE_H

#include <stddef.h>

typedef struct {
    size_t rows, width;
    double *number;
    unsigned long *line; /* line number of each row in the file */
} table_t;

/*
 * Reads a file. All rows must have as many numbers as the first row, and that number must be one of
 * `counts`; `cure` explains the columns. Returns EXIT_YES, or EXIT_BAD after printing what is
 * wrong.
 */
int table_read(table_t *table, const char *path, const size_t *counts, size_t choices,
               const char *cure);
void table_free(table_t *table);
/* Checks that the first numbers of the rows increase. Returns EXIT_YES, or EXIT_BAD after printing
 * where they do not. */
int table_times(const table_t *table, const char *path);

#endif

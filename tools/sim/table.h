/* A whole file of rows in memory. */
#ifndef TOOLS_SIM_TABLE_H
#define TOOLS_SIM_TABLE_H

#include <stddef.h>

typedef struct {
    size_t rows, width;
    double *number;
    unsigned long *line; /* of each row in the file */
} table_t;

/* Rows of as many numbers as the first has, which must be one of `counts`; `cure` says what they
 * mean. EXIT_YES, or EXIT_BAD after saying what is wrong. */
int table_read(table_t *table, const char *path, const size_t *counts, size_t choices,
               const char *cure);
void table_free(table_t *table);
/* The first numbers of the rows must increase. EXIT_YES, or EXIT_BAD after saying where not. */
int table_times(const table_t *table, const char *path);

#endif

/* Reads a whole file of rows into memory. */
#include "tools/sim/table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/model/model.h"
#include "tools/cli/rows.h"
#include "tools/cli/diagnostics.h"

enum { NUMBERS_MAX = 1 + 3 * DYN_MAX_JOINTS };

static bool append(table_t *table, size_t *room, const double *row, unsigned long line) {
    if (table->rows == *room) {
        *room = *room ? 2 * *room : 64;
        double *number = realloc(table->number, *room * table->width * sizeof *number);
        if (number)
            table->number = number;
        unsigned long *lines = realloc(table->line, *room * sizeof *lines);
        if (lines)
            table->line = lines;
        if (!number || !lines)
            return false;
    }
    memcpy(table->number + table->rows * table->width, row, table->width * sizeof *row);
    table->line[table->rows++] = line;
    return true;
}

static int wrong_count(const rows_t *rows, size_t found, const table_t *table, const size_t *counts,
                       size_t choices, const char *cure) {
    char expected[80] = "";
    size_t used = 0;
    if (table->rows > 0)
        snprintf(expected, sizeof expected, "%zu, as in the rows before", table->width);
    else
        for (size_t i = 0; i < choices && used < sizeof expected; i++)
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%zu",
                                     i ? " or " : "", counts[i]);
    return rows_error(rows, cure, "got %zu number%s, expected %s", found, found == 1 ? "" : "s",
                      expected);
}

static int read_all(table_t *table, rows_t *rows, const size_t *counts, size_t choices,
                    const char *cure) {
    double row[NUMBERS_MAX];
    size_t found, room = 0;
    int status;
    while ((status = rows_next_any(rows, row, NUMBERS_MAX, &found)) > 0) {
        bool fits = table->rows > 0 ? found == table->width : false;
        for (size_t i = 0; i < choices && table->rows == 0; i++)
            fits = fits || found == counts[i];
        if (!fits)
            return wrong_count(rows, found, table, counts, choices, cure);
        table->width = found;
        if (!append(table, &room, row, rows->line))
            return diag_no_memory();
    }
    if (status < 0)
        return EXIT_BAD;
    if (table->rows == 0)
        return diag_error(rows->name, cure, "the file has no rows");
    return EXIT_YES;
}

int table_read(table_t *table, const char *path, const size_t *counts, size_t choices,
               const char *cure) {
    rows_t rows;
    *table = (table_t){0};
    if (rows_open(&rows, path) != EXIT_YES)
        return EXIT_BAD;
    const int status = read_all(table, &rows, counts, choices, cure);
    rows_close(&rows);
    if (status != EXIT_YES)
        table_free(table);
    return status;
}

void table_free(table_t *table) {
    free(table->number);
    free(table->line);
    *table = (table_t){0};
}

int table_times(const table_t *table, const char *path) {
    for (size_t i = 1; i < table->rows; i++) {
        const double before = table->number[(i - 1) * table->width];
        const double now = table->number[i * table->width];
        if (!(now > before)) {
            char place[300];
            snprintf(place, sizeof place, "%.250s:%lu", path, table->line[i]);
            return diag_error(place, "the first number of a row is its time, in s",
                              "the time %.9g is not later than %.9g", now, before);
        }
    }
    return EXIT_YES;
}

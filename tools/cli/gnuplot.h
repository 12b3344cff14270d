/* Functions that all pictures share: they drive gnuplot through a pipe, set its colours and report
 * its errors. */
#ifndef TOOLS_CLI_GNUPLOT_H
#define TOOLS_CLI_GNUPLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Checks that a picture can be written to this path. Call it before long work whose result would be
 * lost. Leaves no file. Returns EXIT_YES, or EXIT_BAD after printing the reason. */
int gnuplot_check(const char *path);
/* Starts gnuplot. The suffix of the path chooses the kind of picture: .png, .svg or .pdf. On
 * failure prints the reason and returns NULL. */
FILE *gnuplot_open(const char *path);
/* Sets line styles and grid, and begins a titled page of panels, which are filled row by row. Call
 * it after gnuplot_data. Sizes are in pixels. */
void gnuplot_page(FILE *pipe, const char *path, uint32_t width, uint32_t height, uint32_t rows,
                  uint32_t columns, const char *title);
/* Like gnuplot_page, but the panels are filled column by column. */
void gnuplot_page_columns(FILE *pipe, const char *path, uint32_t width, uint32_t height,
                          uint32_t rows, uint32_t columns, const char *title);
/* Ends the page and gnuplot. Returns EXIT_YES, or EXIT_BAD after printing the reason; in that case
 * there is no file. */
int gnuplot_close(FILE *pipe, const char *path);

/* Writes text in quotes for gnuplot; control characters become visible. */
void gnuplot_quoted(FILE *pipe, const char *text);
/* Writes the title of a curve. It is escaped, because gnuplot would read _ as a subscript. */
void gnuplot_legend(FILE *pipe, const char *text);

/* Number of line types that look different; colours vary first, then dashes. */
enum { GNUPLOT_LINES = 40 };

/* Largest number of rows that are drawn. A picture has fewer pixels across, and more rows cost
 * time. */
enum { GNUPLOT_ROWS = 3000 };
/*
 * Writes the data block $data: rows of `width` numbers from `take`, the time first. If there are
 * more than GNUPLOT_ROWS rows, each group of rows is drawn as the minimum and the maximum of every
 * column, so that a vibration keeps its peaks. The maximum comes first if the column falls.
 */
void gnuplot_data(FILE *pipe, size_t rows, size_t width,
                  void (*take)(const void *self, size_t row, double *value), const void *self);

#endif

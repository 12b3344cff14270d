/* What all pictures share: gnuplot at the other end of a pipe, its colours, and what went wrong. */
#ifndef TOOLS_CLI_GNUPLOT_H
#define TOOLS_CLI_GNUPLOT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Whether a picture can be drawn there, for work whose result would be lost: nothing is left there.
 * EXIT_YES, or EXIT_BAD after saying why not. */
int gnuplot_check(const char *path);
/* Starts gnuplot; the ending of the path chooses the kind of picture: .png, .svg or .pdf. NULL
 * after saying why not. */
FILE *gnuplot_open(const char *path);
/* Lines, grid and a page of panels with a title, filled row by row; after the data. Dots. */
void gnuplot_page(FILE *pipe, const char *path, uint32_t width, uint32_t height, uint32_t rows,
                  uint32_t columns, const char *title);
/* The same, filled column by column. */
void gnuplot_page_columns(FILE *pipe, const char *path, uint32_t width, uint32_t height,
                          uint32_t rows, uint32_t columns, const char *title);
/* Ends page and gnuplot. EXIT_YES, or EXIT_BAD after saying why not: then there is no file. */
int gnuplot_close(FILE *pipe, const char *path);

/* In single quotes, as gnuplot reads them. */
void gnuplot_quoted(FILE *pipe, const char *text);
/* A name in a legend, where _ and the like would lower what follows. */
void gnuplot_legend(FILE *pipe, const char *text);

/* Lines of a plot that look different: linetypes 1 to this, colours first and then dashes. */
enum { GNUPLOT_LINES = 40 };

/* At most so many rows are drawn: more than the picture has dots across would only cost time. */
enum { GNUPLOT_ROWS = 3000 };
/*
 * The block $data: rows of `width` numbers, the time first, as `take` gives them. Where there are
 * more than GNUPLOT_ROWS, each group of them is drawn as the least and the most of every column, in
 * the order in which it goes, so that a vibration keeps its peaks.
 */
void gnuplot_data(FILE *pipe, size_t rows, size_t width,
                  void (*take)(const void *self, size_t row, double *value), const void *self);

#endif

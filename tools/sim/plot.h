/* What plots share: gnuplot at the other end of a pipe, its colours, and what went wrong. */
#ifndef TOOLS_SIM_PLOT_H
#define TOOLS_SIM_PLOT_H

#include <stdio.h>

/* Starts gnuplot; the ending of the path chooses the kind of picture. NULL after saying why not. */
FILE *plot_open(const char *path);
/* Colours, grid and a page of panels with a title; after the data. */
void plot_page(FILE *pipe, const char *path, int rows, int columns, const char *title);
/* Ends page and gnuplot. EXIT_YES, or EXIT_BAD after saying why not. */
int plot_close(FILE *pipe, const char *path);

/* In single quotes, as gnuplot reads them. */
void plot_quoted(FILE *pipe, const char *text);
/* A name in a legend, where _ and the like would lower what follows. */
void plot_legend(FILE *pipe, const char *text);

/* At most so many rows are drawn: more than the picture has dots across would only cost time. */
enum { PLOT_ROWS = 3000 };

#endif

/* Lines over time, one panel below the other, drawn by gnuplot. */
#ifndef TOOLS_CLI_PLOT_H
#define TOOLS_CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plot plot_t;

/* The ending of the path chooses: .png, .svg or .pdf. NULL after saying what is wrong. */
plot_t *plot_open(const char *path, const char *title);
/* Its lines are the next `lines` values of plot_add. */
void plot_panel(plot_t *plot, const char *title, const char *unit, const char *const *name,
                uint32_t lines);
void plot_add(plot_t *plot, double t, const double *value);
/* Time counts from here on, where every panel has a line; what: that it has happened then. */
void plot_mark(plot_t *plot, double t, const char *what);
/* Draws it, unless `draw` is false, and frees it. EXIT_YES, or EXIT_BAD after saying why not. */
int plot_close(plot_t *plot, bool draw);

#endif

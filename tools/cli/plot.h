/* Plots lines over time with gnuplot, one panel below the other. */
#ifndef TOOLS_CLI_PLOT_H
#define TOOLS_CLI_PLOT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plot plot_t;

/* The suffix of the path chooses the format: .png, .svg or .pdf. On failure prints the reason and
 * returns NULL. */
plot_t *plot_open(const char *path, const char *title);
/* Adds a panel; its lines are the next `lines` values of plot_add. */
void plot_panel(plot_t *plot, const char *title, const char *unit, const char *const *name,
                uint32_t lines);
void plot_add(plot_t *plot, double t, const double *value);
/* Sets time zero to t and marks it in every panel with a line; `what` labels the time axis. */
void plot_mark(plot_t *plot, double t, const char *what);
/* Draws the plot unless `draw` is false, and frees it. Returns EXIT_YES, or EXIT_BAD after printing
 * the reason. */
int plot_close(plot_t *plot, bool draw);

#endif

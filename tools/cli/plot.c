/* Implements tools/cli/plot.h: collects rows in memory and sends them to gnuplot at the end. */
#include "tools/cli/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/gnuplot.h"
#include "tools/cli/diagnostics.h"

enum { WIDTH = 1200, PANEL_HEIGHT = 260 };

struct plot {
    char *path, *title, *mark;
    FILE *script; /* gnuplot commands of the panels */
    char *script_text;
    size_t script_size;
    uint32_t panels, values;
    double *number; /* rows, each with the time and the values */
    double zero;    /* the time that the axis shows as 0 */
    size_t rows, room;
};

static void drop(plot_t *plot) {
    if (plot->script)
        fclose(plot->script);
    free(plot->path);
    free(plot->title);
    free(plot->mark);
    free(plot->script_text);
    free(plot->number);
    free(plot);
}

plot_t *plot_open(const char *path, const char *title) {
    plot_t *plot = calloc(1, sizeof *plot);
    if (plot) {
        plot->path = strdup(path);
        plot->title = strdup(title);
        plot->script = open_memstream(&plot->script_text, &plot->script_size);
    }
    if (plot && plot->path && plot->title && plot->script)
        return plot;
    diag_no_memory();
    if (plot)
        drop(plot);
    return NULL;
}

void plot_panel(plot_t *plot, const char *title, const char *unit, const char *const *name,
                uint32_t lines) {
    FILE *s = plot->script;
    plot->panels++;
    fputs("set title ", s);
    gnuplot_quoted(s, title);
    fputs(" noenhanced\nset ylabel ", s);
    gnuplot_quoted(s, unit);
    fputs("\nplot ", s);
    for (uint32_t i = 0; i < lines; i++) {
        fprintf(s, "%s$data using 1:%u with lines lw 1.4", i > 0 ? ", " : "",
                (unsigned)(plot->values + i + 2));
        gnuplot_legend(s, name[i]);
    }
    fputc('\n', s);
    plot->values += lines;
}

void plot_add(plot_t *plot, double t, const double *value) {
    const size_t width = plot->values + 1u;
    if (plot->rows == plot->room) {
        const size_t room = plot->room > 0 ? 2 * plot->room : 1024;
        double *more = realloc(plot->number, room * width * sizeof *more);
        if (!more)
            return; /* out of memory: the plot ends with the rows so far */
        plot->number = more;
        plot->room = room;
    }
    double *row = plot->number + plot->rows++ * width;
    row[0] = t;
    memcpy(row + 1, value, plot->values * sizeof *row);
}

void plot_mark(plot_t *plot, double t, const char *what) {
    free(plot->mark);
    plot->mark = strdup(what);
    plot->zero = t;
}

static void take_row(const void *self, size_t row, double *value) {
    const plot_t *plot = self;
    const size_t width = plot->values + 1u;
    memcpy(value, plot->number + row * width, width * sizeof *value);
    value[0] -= plot->zero;
}

static int draw_it(plot_t *plot) {
    if (plot->rows == 0 || plot->panels == 0)
        return diag_error(plot->path, "wait for samples", "there is nothing to plot");
    if (fflush(plot->script) != 0)
        return diag_no_memory();
    FILE *pipe = gnuplot_open(plot->path);
    if (!pipe)
        return EXIT_BAD;
    gnuplot_data(pipe, plot->rows, plot->values + 1u, take_row, plot);
    gnuplot_page(pipe, plot->path, WIDTH, PANEL_HEIGHT * plot->panels, plot->panels, 1,
                 plot->title);
    fputs("set key outside right center vertical maxrows auto maxcols 1 height 0\nset lmargin at "
          "screen 0.08\nset rmargin at screen 0.84\nset offsets 0, 0, graph 0.05, graph 0.05\n",
          pipe);
    if (plot->mark) {
        fputs("set arrow from first 0, graph 0 to first 0, graph 1 nohead dt 2\nset xlabel ", pipe);
        gnuplot_quoted(pipe, plot->mark);
        fputc('\n', pipe);
    }
    fputs(plot->script_text, pipe);
    return gnuplot_close(pipe, plot->path);
}

int plot_close(plot_t *plot, bool draw) {
    const int status = draw ? draw_it(plot) : EXIT_YES;
    drop(plot);
    return status;
}

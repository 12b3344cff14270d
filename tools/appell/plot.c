/* tools/appell/plot.h: what gnuplot reads is collected in memory and written into its standard
 * input. */
#include "tools/appell/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/appell/say.h"

enum { PANELS_MOST = 16, DRAWN_MOST = 3000 };

struct plot {
    char path[1024];
    const char *terminal;
    FILE *script; /* panels */
    char *script_text;
    size_t script_size;
    uint32_t panels, values;
    double *number; /* rows of t and values */
    size_t rows, room;
};

static const struct {
    const char *ending, *terminal;
} terminals[] = {{".png", "pngcairo size 1200,%u font 'sans,11'"},
                 {".svg", "svg size 1200,%u dynamic font 'sans,13'"},
                 {".pdf", "pdfcairo size 29.7cm,%ucm font 'sans,9'"}};

static void quoted(FILE *to, const char *text) {
    fputc('\'', to);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', to);
        fputc(*text == '\n' ? ' ' : *text, to);
    }
    fputc('\'', to);
}

plot_t *plot_open(const char *path, const char *title) {
    const char *terminal = NULL;
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof terminals / sizeof terminals[0]; i++)
        if (length > 4 && !strcmp(path + length - 4, terminals[i].ending))
            terminal = terminals[i].terminal;
    plot_t *plot = calloc(1, sizeof *plot);
    if (!terminal || !plot || length >= sizeof plot->path) {
        say_error(path, "choose .png, .svg or .pdf", "no such kind of plot is known");
        free(plot);
        return NULL;
    }
    memcpy(plot->path, path, length + 1);
    plot->terminal = terminal;
    plot->script = open_memstream(&plot->script_text, &plot->script_size);
    if (!plot->script) {
        say_no_memory();
        free(plot);
        return NULL;
    }
    fputs("set grid lc '#dddddd' lt 1 lw 0.6\nset border lc '#444444'\nset key outside right\n"
          "set format y '%g'\nset offsets 0, 0, graph 0.05, graph 0.05\n",
          plot->script);
    fputs("title = ", plot->script);
    quoted(plot->script, title);
    fputc('\n', plot->script);
    return plot;
}

void plot_panel(plot_t *plot, const char *title, const char *unit, const char *const *name,
                uint32_t lines) {
    FILE *s = plot->script;
    if (plot->panels++ == 0)
        fputs("LAYOUT\n", s);
    fputs("set title ", s);
    quoted(s, title);
    fputs(" noenhanced\nset ylabel ", s);
    quoted(s, unit);
    fputs("\nplot ", s);
    for (uint32_t i = 0; i < lines; i++) {
        fprintf(s, "%s$data using 1:%u with lines lw 1.4 title ", i > 0 ? ", " : "",
                (unsigned)(plot->values + i + 2));
        quoted(s, name[i]);
        fputs(" noenhanced", s);
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
            return; /* the plot ends here */
        plot->number = more;
        plot->room = room;
    }
    double *row = plot->number + plot->rows++ * width;
    row[0] = t;
    memcpy(row + 1, value, plot->values * sizeof *row);
}

static void write_all(plot_t *plot, FILE *pipe) {
    const size_t width = plot->values + 1u, every = 1 + plot->rows / DRAWN_MOST;
    fputs("$data << END\n", pipe);
    for (size_t i = 0; i < plot->rows; i += every) {
        for (size_t k = 0; k < width; k++)
            fprintf(pipe, "%.9g ", plot->number[i * width + k]);
        fputc('\n', pipe);
    }
    fputs("END\nset terminal ", pipe);
    const unsigned high =
        !strncmp(plot->terminal, "pdf", 3) ? 7 * plot->panels : 260 * plot->panels;
    /* one of our own three formats, each with one %u */
    for (const char *c = plot->terminal; *c; c++) {
        if (c[0] == '%' && c[1] == 'u') {
            fprintf(pipe, "%u", high);
            c++;
        } else {
            fputc(*c, pipe);
        }
    }
    fputs("\nset output ", pipe);
    quoted(pipe, plot->path);
    fputc('\n', pipe);
    const char *layout = strstr(plot->script_text, "LAYOUT\n");
    fwrite(plot->script_text, 1, (size_t)(layout - plot->script_text), pipe);
    fprintf(pipe, "set multiplot layout %u,1 title title noenhanced\nset xlabel 't in s'\n%s",
            (unsigned)plot->panels, layout + 7);
    fputs("unset multiplot\nset output\n", pipe);
}

static int draw_it(plot_t *plot) {
    if (plot->rows == 0 || plot->panels == 0)
        return say_error(plot->path, "wait for samples", "there is nothing to plot");
    FILE *pipe = popen("exec gnuplot", "w");
    if (!pipe)
        return say_error(plot->path, NULL, "gnuplot cannot be started: %s", strerror(errno));
    write_all(plot, pipe);
    const int status = pclose(pipe);
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_YES;
    const bool missing = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return say_error(plot->path, missing ? "install gnuplot-nox, or run tools/setup.sh" : NULL,
                     missing ? "gnuplot, which draws the plots, is not there"
                             : "gnuplot failed, see above");
}

int plot_close(plot_t *plot, bool draw) {
    fclose(plot->script);
    const int status = draw ? draw_it(plot) : EXIT_YES;
    free(plot->script_text);
    free(plot->number);
    free(plot);
    return status;
}

/* Plots of a simulation: gnuplot draws them from what is written into its standard input. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/appell/say.h"
#include "tools/sim/output.h"
#include "tools/sim/plot.h"

/* What decides about the terminal of gnuplot. */
static const struct {
    const char *ending, *terminal;
} terminals[] = {{".png", "pngcairo size 1500,1050 font 'sans,11'"},
                 {".svg", "svg size 1500,1050 dynamic font 'sans,13'"},
                 {".pdf", "pdfcairo size 29.7cm,20.8cm font 'sans,9'"}};

static const char *terminal_of(const char *path) {
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof terminals / sizeof terminals[0]; i++) {
        const size_t size = strlen(terminals[i].ending);
        if (length > size && !strcmp(path + length - size, terminals[i].ending))
            return terminals[i].terminal;
    }
    return NULL;
}

void plot_quoted(FILE *pipe, const char *text) {
    fputc('\'', pipe);
    for (; *text; text++) {
        if (*text == '\'')
            fputc('\'', pipe);
        fputc(*text == '\n' ? ' ' : *text, pipe);
    }
    fputc('\'', pipe);
}

void plot_legend(FILE *pipe, const char *text) {
    fputs(" title ", pipe);
    plot_quoted(pipe, text);
    fputs(" noenhanced", pipe);
}

static void write_data(FILE *pipe, const sim_record_t *record) {
    const size_t every = 1 + (record->rows - 1) / PLOT_ROWS;
    fputs("$data << END\n", pipe);
    for (size_t i = 0; i < record->rows; i += every) {
        const double *p = record->number + i * record->width;
        for (size_t k = 0; k < record->width; k++)
            fprintf(pipe, "%.9g ", p[k]);
        fputc('\n', pipe);
    }
    fputs("END\n", pipe);
}

/* The unit of an axis that carries all joints. */
static const char *unit(const sim_record_t *record, const output_names_t *names, const char *turns,
                        const char *slides, const char *both) {
    uint32_t sliding = 0;
    for (uint32_t i = 0; i < record->joints; i++)
        sliding += names->slides[i];
    return sliding == 0 ? turns : sliding == record->joints ? slides : both;
}

/* Columns that are all the same would leave gnuplot without a range. */
static bool flat(const sim_record_t *record, uint32_t count, size_t first) {
    const double one = record->number[first - 1];
    for (size_t i = 0; i < record->rows; i++)
        for (uint32_t k = 0; k < count; k++)
            if (record->number[i * record->width + first - 1 + k] != one)
                return false;
    return true;
}

static void panel(FILE *pipe, const sim_record_t *record, const char *title, const char *label,
                  uint32_t count, size_t first, const char (*name)[64]) {
    fprintf(pipe, "set title '%s'\nset ylabel '%s'\n", title, label);
    if (flat(record, count, first))
        fprintf(pipe, "set yrange [%.9g:%.9g]\n", record->number[first - 1] - 1,
                record->number[first - 1] + 1);
    else
        fputs("set autoscale y\n", pipe);
    fputs("plot ", pipe);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(pipe, "%s$data using 1:%zu with lines lw 1.6 lc %u", i ? ", " : "", first + i,
                (unsigned)(i % 8 + 1));
        plot_legend(pipe, name[i]);
    }
    fputc('\n', pipe);
}

static void energy_panel(FILE *pipe, const sim_record_t *record, size_t first) {
    static const char *const name[] = {"kinetic",          "potential",        "work of the motors",
                                       "lost to friction", "work at the hand", "lost in the stops"};
    fputs("set title 'Energy'\nset ylabel 'J'\nset autoscale y\nplot ", pipe);
    bool any = false;
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        double most = 0;
        for (size_t i = 0; i < record->rows; i++)
            most = fmax(most, fabs(record->number[i * record->width + first - 1 + k]));
        if (k >= 2 && most == 0)
            continue; /* nothing of it in this run */
        fprintf(pipe, "%s$data using 1:%zu with lines lw 1.6 lc %zu title '%s'", any ? ", " : "",
                first + k, k + 1, name[k]);
        any = true;
    }
    fprintf(pipe,
            ", $data using 1:($%zu+$%zu) with lines lw 1.6 lc 'black' dt 2 title "
            "'kinetic + potential'\n",
            first, first + 1);
}

void plot_page(FILE *pipe, const char *path, int rows, int columns, const char *title) {
    fprintf(pipe, "set terminal %s background '#ffffff'\nset output ", terminal_of(path));
    plot_quoted(pipe, path);
    fprintf(
        pipe,
        "\nset linetype 1 lc '#0072b2'\nset linetype 2 lc '#d55e00'\nset linetype 3 lc '#009e73'\n"
        "set linetype 4 lc '#cc79a7'\nset linetype 5 lc '#e69f00'\nset linetype 6 lc '#56b4e9'\n"
        "set linetype 7 lc '#7f4f24'\nset linetype 8 lc '#555555'\n"
        "set grid lc '#dddddd' lt 1 lw 0.6\nset border lc '#444444'\nset key below maxrows 2\n"
        "set xlabel 't in s'\nset format y '%%g'\nset multiplot layout %d,%d title ",
        rows, columns);
    plot_quoted(pipe, title);
    fputs(" noenhanced font ',15'\n", pipe);
}

static void write_script(FILE *pipe, const sim_record_t *record, const output_names_t *names,
                         const char *path) {
    const size_t n = record->n, joints = record->joints;
    write_data(pipe, record);
    plot_page(pipe, path, 2, 2, names->title);
    panel(pipe, record, "Position", unit(record, names, "rad", "m", "rad, m"), record->n, 2,
          names->coordinate);
    panel(pipe, record, "Speed", unit(record, names, "rad/s", "m/s", "rad/s, m/s"), record->n,
          2 + n, names->coordinate);
    panel(pipe, record, "Torque of the motors", unit(record, names, "N m", "N", "N m, N"),
          record->joints, 2 + 3 * n, names->joint);
    energy_panel(pipe, record, 2 + 3 * n + 2 * joints);
}

FILE *plot_open(const char *path) {
    if (!terminal_of(path)) {
        say_error(path, "choose .png, .svg or .pdf", "no such kind of plot is known");
        return NULL;
    }
    FILE *probe = fopen(path, "ab"); /* gnuplot's own message would not name the cause */
    if (!probe) {
        say_error(path, "check the path and its permissions", "cannot be written: %s",
                  strerror(errno));
        return NULL;
    }
    fclose(probe);
    FILE *pipe = popen("exec gnuplot", "w");
    if (!pipe)
        say_error(path, NULL, "gnuplot cannot be started: %s", strerror(errno));
    return pipe;
}

int plot_close(FILE *pipe, const char *path) {
    fputs("unset multiplot\nset output\n", pipe);
    const int status = pclose(pipe);
    if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_YES;
    remove(path);
    const bool missing = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
    return say_error(path, missing ? "install gnuplot-nox, or run tools/setup.sh plot" : NULL,
                     missing ? "gnuplot, which draws the plots, is not there"
                             : "gnuplot failed, see above");
}

int output_plot(const sim_record_t *record, const output_names_t *names, const char *path) {
    FILE *pipe = plot_open(path);
    if (!pipe)
        return EXIT_BAD;
    write_script(pipe, record, names, path);
    return plot_close(pipe, path);
}

/* Plots of a simulation: gnuplot draws them from what is written into its standard input. */
#include <math.h>
#include <stdio.h>

#include "tools/appell/gnuplot.h"
#include "tools/appell/say.h"
#include "tools/sim/output.h"

static void write_data(FILE *pipe, const sim_record_t *record) {
    const size_t every = 1 + (record->rows - 1) / GNUPLOT_ROWS;
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
        gnuplot_legend(pipe, name[i]);
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

static void write_script(FILE *pipe, const sim_record_t *record, const output_names_t *names,
                         const char *path) {
    const size_t n = record->n, joints = record->joints;
    write_data(pipe, record);
    gnuplot_page(pipe, path, 1500, 1050, 2, 2, names->title);
    panel(pipe, record, "Position", unit(record, names, "rad", "m", "rad, m"), record->n, 2,
          names->coordinate);
    panel(pipe, record, "Speed", unit(record, names, "rad/s", "m/s", "rad/s, m/s"), record->n,
          2 + n, names->coordinate);
    panel(pipe, record, "Torque of the motors", unit(record, names, "N m", "N", "N m, N"),
          record->joints, 2 + 3 * n, names->joint);
    energy_panel(pipe, record, 2 + 3 * n + 2 * joints);
}

int output_plot(const sim_record_t *record, const output_names_t *names, const char *path) {
    FILE *pipe = gnuplot_open(path);
    if (!pipe)
        return EXIT_BAD;
    write_script(pipe, record, names, path);
    return gnuplot_close(pipe, path);
}

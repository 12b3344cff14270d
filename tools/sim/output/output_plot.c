/* Plots a simulation: writes commands and data to the standard input of gnuplot. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/gnuplot.h"
#include "tools/cli/diagnostics.h"
#include "tools/sim/output/output.h"

static void take_row(const void *self, size_t row, double *value) {
    const sim_record_t *record = self;
    memcpy(value, record->number + row * record->width, record->width * sizeof *value);
}

/* Curves of one panel: columns of the record and their names. */
typedef struct {
    uint32_t count;
    size_t column[SIM_COORDINATES_MAX];
    uint32_t line[SIM_COORDINATES_MAX]; /* line type of gnuplot: a joint has one in all panels */
    const char *name[SIM_COORDINATES_MAX];
    uint32_t prismatic; /* number of curves in m; the others are in rad */
} curves_t;

static void add(curves_t *curves, size_t column, uint32_t line, const char *name, bool prismatic) {
    curves->column[curves->count] = column;
    curves->line[curves->count] = line;
    curves->name[curves->count++] = name;
    curves->prismatic += prismatic;
}

/* Chooses the curves of the joints or those of the modes. `first` is the column of coordinate 0. */
static void choose(curves_t *curves, const sim_record_t *record, const output_names_t *names,
                   size_t first, bool modes) {
    curves->count = curves->prismatic = 0;
    for (uint32_t i = 0; i < record->n; i++)
        if (names->mode[i] == modes)
            add(curves, first + i, curves->count + 1, names->coordinate[i], names->metres[i]);
}

/* Returns the label of an axis: the unit for revolute joints, for prismatic joints, or for a mix of
 * both. */
static const char *unit(const curves_t *curves, const char *turns, const char *prismatic,
                        const char *both) {
    return curves->prismatic == 0 ? turns : curves->prismatic == curves->count ? prismatic : both;
}

/* True if all values are equal; then gnuplot finds no range. */
static bool flat(const sim_record_t *record, const curves_t *curves) {
    const double one = record->number[curves->column[0] - 1];
    for (size_t i = 0; i < record->rows; i++)
        for (uint32_t k = 0; k < curves->count; k++)
            if (record->number[i * record->width + curves->column[k] - 1] != one)
                return false;
    return true;
}

static void panel(FILE *pipe, const sim_record_t *record, const char *title, const char *label,
                  const curves_t *curves) {
    if (curves->count == 0)
        return;
    const double one = record->number[curves->column[0] - 1];
    fprintf(pipe, "set title '%s'\nset ylabel '%s'\n", title, label);
    if (flat(record, curves))
        fprintf(pipe, "set yrange [%.9g:%.9g]\n", one - 1, one + 1);
    else
        fputs("set autoscale y\n", pipe);
    fputs("plot ", pipe);
    for (uint32_t i = 0; i < curves->count; i++) {
        fprintf(pipe, "%s$data using 1:%zu with lines lw 1.6 lt %u", i ? ", " : "",
                curves->column[i], (unsigned)curves->line[i]);
        gnuplot_legend(pipe, curves->name[i]);
    }
    fputc('\n', pipe);
}

static void energy_panel(FILE *pipe, const sim_record_t *record, size_t first) {
    static const char *const name[] = {"kinetic",
                                       "potential",
                                       "work of the motors",
                                       "lost to friction",
                                       "work at the end effector",
                                       "lost in the stops"};
    fputs("set title 'Energy'\nset ylabel 'J'\nset autoscale y\nplot ", pipe);
    bool any = false;
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        double most = 0;
        for (size_t i = 0; i < record->rows; i++)
            most = fmax(most, fabs(record->number[i * record->width + first - 1 + k]));
        if (k >= 2 && most == 0)
            continue; /* this energy is zero throughout the run */
        fprintf(pipe, "%s$data using 1:%zu with lines lw 1.6 lt %zu title '%s'", any ? ", " : "",
                first + k, k + 1, name[k]);
        any = true;
    }
    fprintf(pipe,
            ", $data using 1:($%zu+$%zu) with lines lw 1.6 lc 'black' dt 2 title "
            "'kinetic + potential'\n",
            first, first + 1);
}

/* Chooses a curve for each joint; with `motors`, for each joint whose motor is known. `first` is the
 * column of joint 0. */
static void choose_joints(curves_t *curves, const sim_record_t *record, const output_names_t *names,
                          size_t first, bool motors) {
    curves->count = curves->prismatic = 0;
    for (uint32_t i = 0; i < record->joints; i++)
        if (names->motor[i] || !motors)
            add(curves, first + i, i + 1, names->joint[i], names->prismatic[i]);
}

static void write_script(FILE *pipe, const sim_record_t *record, const output_names_t *names,
                         const char *path) {
    const size_t n = record->n, joints = record->joints;
    const bool elastic = n > joints;
    curves_t curves;
    gnuplot_data(pipe, record->rows, record->width, take_row, record);
    gnuplot_page(pipe, path, 1500, elastic ? 2000 : 1500, elastic ? 4 : 3, 2, names->title);
    choose(&curves, record, names, 2, false);
    panel(pipe, record, "Position", unit(&curves, "rad", "m", "rad, m"), &curves);
    choose(&curves, record, names, 2 + n, false);
    panel(pipe, record, "Speed", unit(&curves, "rad/s", "m/s", "rad/s, m/s"), &curves);
    /* modes get panels of their own: on the scale of the joints they would look like zero */
    if (elastic) {
        choose(&curves, record, names, 2, true);
        panel(pipe, record, "Amplitudes of the modes", unit(&curves, "rad", "m", "m; torsion rad"),
              &curves);
        choose(&curves, record, names, 2 + n, true);
        panel(pipe, record, "Speeds of the modes",
              unit(&curves, "rad/s", "m/s", "m/s; torsion rad/s"), &curves);
    }
    choose(&curves, record, names, 2 + 2 * n, false);
    panel(pipe, record, "Acceleration", unit(&curves, "rad/s^2", "m/s^2", "rad/s^2, m/s^2"),
          &curves);
    choose_joints(&curves, record, names, 2 + 3 * n, false);
    panel(pipe, record, "Torque of the motors", unit(&curves, "N m", "N", "N m, N"), &curves);
    choose_joints(&curves, record, names, 2 + 3 * n + joints, true);
    panel(pipe, record, "Voltage of the motors", "V", &curves);
    energy_panel(pipe, record, 2 + 3 * n + 2 * joints);
}

int output_plot(const sim_record_t *record, const output_names_t *names, const char *path) {
    FILE *pipe = gnuplot_open(path);
    if (!pipe)
        return EXIT_BAD;
    write_script(pipe, record, names, path);
    return gnuplot_close(pipe, path);
}

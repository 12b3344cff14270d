/* Shows how an elastic arm was bent during a run: as CSV, and as a page of plots like Figs 4 to 15
 * of paper 004. */
#include "tools/sim/output/output_bent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/gnuplot.h"
#include "tools/cli/file.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/sim/elastic.h"

void output_elastic_names(output_names_t *names, const robot_t *robot,
                          const dyn_flex_model_t *flex) {
    output_names(names, robot);
    uint32_t at = 0;
    for (uint32_t i = 0; i < robot->n; i++) {
        names->metres[at] = names->prismatic[i];
        names->mode[at] = false;
        snprintf(names->coordinate[at++], sizeof names->coordinate[0], "%.60s",
                 robot->joint[i].name);
        for (int kind = 0; kind < DYN_FLEX_KINDS; kind++)
            for (uint32_t k = 0; k < flex->link[i].modes[kind]; k++) {
                names->metres[at] = kind != DYN_FLEX_TORSION;
                names->mode[at] = true;
                snprintf(names->coordinate[at++], sizeof names->coordinate[0], "%.48s.%s%u",
                         robot->joint[i].name, elastic_kind_name[kind], (unsigned)k + 1);
            }
    }
}

static void put_number(FILE *file, char before, double value, int digits) {
    char text[NUMBER_ROOM];
    const size_t size = number_print(text, value, digits);
    fputc(before, file);
    fwrite(text, 1, size, file);
}

static void csv_rows(FILE *file, const sim_system_t *arm, const sim_record_t *record) {
    const uint32_t columns = elastic_columns(arm);
    double value[ELASTIC_COLUMNS_MAX];
    char name[80], text[NUMBER_ROOM];
    fputs("t", file);
    for (uint32_t k = 0; k < columns; k++) {
        elastic_column_name(arm, k, name, sizeof name);
        fputc(',', file);
        file_column(file, name);
    }
    fputc('\n', file);
    for (size_t i = 0; i < record->rows; i++) {
        const sim_row_t row = sim_record_row(record, i);
        const size_t size = number_print(text, row.t, 17);
        fwrite(text, 1, size, file);
        elastic_column_values(arm, row.q, value);
        for (uint32_t k = 0; k < columns; k++)
            put_number(file, ',', value[k], 17);
        fputc('\n', file);
    }
}

int output_bent_csv(const sim_system_t *arm, const sim_record_t *record, const char *path) {
    file_text_t text;
    if (file_text_begin(&text))
        csv_rows(text.stream, arm, record);
    return file_text_end(&text, path);
}

typedef struct {
    const sim_system_t *arm;
    const sim_record_t *record;
} run_t;

/* Fills in one row of the data: time, joint positions, then the columns of tools/sim/elastic.h. */
static void take_row(const void *self, size_t index, double *value) {
    const run_t *run = self;
    const sim_row_t row = sim_record_row(run->record, index);
    *value++ = row.t;
    for (uint32_t k = 0; k < run->arm->joints; k++)
        *value++ = row.q[run->arm->coordinate[k]];
    elastic_column_values(run->arm, row.q, value);
}

static void panel(FILE *pipe, const char *title, const char *label) {
    fprintf(pipe, "set title '%s'\nset ylabel '%s'\nplot ", title, label);
}

static void line(FILE *pipe, uint32_t count, uint32_t column, const char *name) {
    fprintf(pipe, "%s$data using 1:%u with lines lw 1.6 lt %u", count ? ", " : "", (unsigned)column,
            (unsigned)(count + 1));
    gnuplot_legend(pipe, name);
}

/* Each axis of the end effector has its own panel, so that a small motion stays visible. */
static void effector_panel(FILE *pipe, const run_t *run, uint32_t axis) {
    char title[] = "End effector, x";
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (size_t i = 0; i < run->record->rows; i++) {
        double value[ELASTIC_COLUMNS_MAX];
        elastic_column_values(run->arm, sim_record_row(run->record, i).q, value);
        least = fmin(least, value[axis]);
        most = fmax(most, value[axis]);
    }
    title[sizeof title - 2] = "xyz"[axis];
    if (most - least < 1e-12) /* a constant with rounding noise; gnuplot needs a wider range */
        fprintf(pipe, "set yrange [%.9g:%.9g]\n", least - 1, most + 1);
    panel(pipe, title, "m");
    fprintf(pipe, "$data using 1:%u with lines lw 1.6 lt %u notitle\nset autoscale y\n",
            (unsigned)(2 + run->arm->joints + axis), (unsigned)(axis + 1));
}

static uint32_t count_of(const sim_system_t *arm, elastic_what_t what) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < elastic_columns(arm); k++)
        count += elastic_column_what(arm, k) == what;
    return count;
}

static void bent_panel(FILE *pipe, const sim_system_t *arm, const char *title, const char *label,
                       elastic_what_t what) {
    uint32_t lines = 0;
    if (count_of(arm, what) == 0)
        return;
    panel(pipe, title, label);
    for (uint32_t k = 0; k < elastic_columns(arm); k++) {
        char name[80];
        if (elastic_column_what(arm, k) != what)
            continue;
        elastic_column_name(arm, k, name, sizeof name);
        line(pipe, lines++, 2 + arm->joints + k, name);
    }
    fputc('\n', pipe);
}

int output_bent_plot(const sim_system_t *arm, const sim_record_t *record,
                     const output_names_t *names, const char *path) {
    const run_t run = {arm, record};
    const bool twists = count_of(arm, ELASTIC_TORSION) > 0;
    FILE *pipe = gnuplot_open(path);
    if (!pipe)
        return EXIT_BAD;
    gnuplot_data(pipe, record->rows, 1u + arm->joints + elastic_columns(arm), take_row, &run);
    gnuplot_page(pipe, path, 1500, twists ? 1900 : 1500, twists ? 4 : 3, 2, names->title);
    uint32_t prismatic = 0;
    for (uint32_t k = 0; k < arm->joints; k++)
        prismatic += names->prismatic[k];
    panel(pipe, "Joints", prismatic == 0 ? "rad" : prismatic == arm->joints ? "m" : "rad, m");
    for (uint32_t k = 0; k < arm->joints; k++)
        line(pipe, k, 2 + k, names->joint[k]);
    fputc('\n', pipe);
    for (uint32_t axis = 0; axis < 3; axis++)
        effector_panel(pipe, &run, axis);
    bent_panel(pipe, arm, "Deflection in the middle and at the end", "m", ELASTIC_DEFLECTION);
    bent_panel(pipe, arm, "Slope in the middle and at the end", "rad", ELASTIC_SLOPE);
    bent_panel(pipe, arm, "Torsion in the middle and at the end", "rad", ELASTIC_TORSION);
    return gnuplot_close(pipe, path);
}

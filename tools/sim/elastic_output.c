/* How an elastic arm was bent in a run: as CSV, and as a page of plots like Figs 4 to 15 of paper
 * 004. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/appell/gnuplot.h"
#include "tools/appell/file.h"
#include "tools/appell/number.h"
#include "tools/appell/out.h"
#include "tools/appell/say.h"
#include "tools/sim/elastic.h"

static void put_number(FILE *file, char before, double value, int digits) {
    char text[NUMBER_ROOM];
    const size_t size = number_print(text, value, digits);
    fputc(before, file);
    fwrite(text, 1, size, file);
}

static void csv_rows(FILE *file, const sim_arm_t *arm, const sim_record_t *record) {
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

int elastic_csv(const sim_arm_t *arm, const sim_record_t *record, const char *path) {
    file_text_t text;
    if (file_text_begin(&text))
        csv_rows(text.stream, arm, record);
    return file_text_end(&text, path);
}

/* Columns of the data: time, joints, then the elastic ones. */
static void write_data(FILE *pipe, const sim_arm_t *arm, const sim_record_t *record) {
    const size_t every = 1 + (record->rows - 1) / GNUPLOT_ROWS;
    double value[ELASTIC_COLUMNS_MAX];
    fputs("$data << END\n", pipe);
    for (size_t i = 0; i < record->rows; i += every) {
        const sim_row_t row = sim_record_row(record, i);
        fprintf(pipe, "%.9g", row.t);
        for (uint32_t k = 0; k < arm->joints; k++)
            fprintf(pipe, " %.9g", row.q[arm->coordinate[k]]);
        elastic_column_values(arm, row.q, value);
        for (uint32_t k = 0; k < elastic_columns(arm); k++)
            fprintf(pipe, " %.9g", value[k]);
        fputc('\n', pipe);
    }
    fputs("END\n", pipe);
}

static void panel(FILE *pipe, const char *title, const char *label) {
    fprintf(pipe, "set title '%s'\nset ylabel '%s'\nplot ", title, label);
}

static void line(FILE *pipe, uint32_t count, uint32_t column, const char *name) {
    fprintf(pipe, "%s$data using 1:%u with lines lw 1.6 lc %u", count ? ", " : "", (unsigned)column,
            (unsigned)(count % 8 + 1));
    gnuplot_legend(pipe, name);
}

/* Those elastic columns whose place in their group of four is one of two. */
static void bent_panel(FILE *pipe, const sim_arm_t *arm, const char *title, const char *label,
                       uint32_t first) {
    uint32_t lines = 0;
    panel(pipe, title, label);
    for (uint32_t k = 3; k < elastic_columns(arm); k++) {
        char name[80];
        if ((k - 3) % 4 / 2 != first)
            continue;
        elastic_column_name(arm, k, name, sizeof name);
        line(pipe, lines++, 2 + arm->joints + k, name);
    }
    if (lines == 0)
        fputs("0 title 'no link bends'", pipe);
    fputc('\n', pipe);
}

int elastic_plot(const sim_arm_t *arm, const sim_record_t *record, const output_names_t *names,
                 const char *path) {
    static const char *const hand[3] = {"x", "y", "z"};
    FILE *pipe = gnuplot_open(path);
    if (!pipe)
        return EXIT_BAD;
    write_data(pipe, arm, record);
    gnuplot_page(pipe, path, 1500, 1050, 2, 2, names->title);
    panel(pipe, "Joints", "rad, m");
    for (uint32_t k = 0; k < arm->joints; k++)
        line(pipe, k, 2 + k, names->joint[k]);
    fputc('\n', pipe);
    panel(pipe, "Hand", "m");
    for (uint32_t k = 0; k < 3; k++)
        line(pipe, k, 2 + arm->joints + k, hand[k]);
    fputc('\n', pipe);
    bent_panel(pipe, arm, "Deflection in the middle and at the end", "m", 0);
    bent_panel(pipe, arm, "Slope in the middle and at the end", "rad", 1);
    return gnuplot_close(pipe, path);
}

/* Writes the rows of a simulation as CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/file.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/sim/output/output.h"

void output_names(output_names_t *names, const robot_t *robot) {
    *names = (output_names_t){.title = robot->name};
    for (uint32_t i = 0; i < robot->n; i++) {
        snprintf(names->joint[i], sizeof names->joint[i], "%.60s", robot->joint[i].name);
        snprintf(names->coordinate[i], sizeof names->coordinate[i], "%.60s", robot->joint[i].name);
        names->prismatic[i] = names->metres[i] = robot->model.joint[i].type == DYN_PRISMATIC;
        names->motor[i] = !robot_motor_missing(robot, i);
    }
}

static void head(FILE *file, const char *what, uint32_t count, const char (*name)[64]) {
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, ",%s_", what);
        file_column(file, name[i]);
    }
}

static void numbers(FILE *file, const double *value, uint32_t count) {
    char text[NUMBER_ROOM];
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = number_print(text, value[i], 17);
        fputc(',', file);
        fwrite(text, 1, size, file);
    }
}

static void write_rows(FILE *file, const sim_record_t *record, const output_names_t *names) {
    static const struct {
        const char *name;
    } energies[] = {{"kinetic"},       {"potential"},  {"work_motors"}, {"lost_friction"},
                    {"work_effector"}, {"lost_stops"}, {"balance"}};
    fputs("t", file);
    head(file, "q", record->n, names->coordinate);
    head(file, "qd", record->n, names->coordinate);
    head(file, "qdd", record->n, names->coordinate);
    head(file, "tau", record->joints, names->joint);
    head(file, "volt", record->joints, names->joint);
    for (size_t i = 0; i < sizeof energies / sizeof energies[0]; i++)
        fprintf(file, ",%s", energies[i].name);
    fputc('\n', file);
    for (size_t i = 0; i < record->rows; i++) {
        const double *p = record->number + i * record->width;
        char text[NUMBER_ROOM];
        const size_t size = number_print(text, p[0], 17);
        fwrite(text, 1, size, file);
        numbers(file, p + 1, (uint32_t)record->width - 1);
        fputc('\n', file);
    }
}

int output_csv(const sim_record_t *record, const output_names_t *names, const char *path) {
    file_text_t text;
    if (file_text_begin(&text))
        write_rows(text.stream, record, names);
    return file_text_end(&text, path);
}

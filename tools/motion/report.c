/* Writes the tables and the CSV files of the trials. */
#include "tools/motion/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/file.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

const char *const report_controller[REPORT_CONTROLLERS] = {"PD", "PD + gravity",
                                                           "full feedforward"};
static const char *const masses[REPORT_MASSES] = {"exact masses", "masses 10 % wrong"};

/* Prints how much better full feedforward is. Not printed if a fault stopped a motion, because then
 * its error cannot be compared. */
static void print_factors(const record_t record[REPORT_CONTROLLERS]) {
    const double full = record[2].rms_all;
    bool whole = true;
    for (int c = 0; c < REPORT_CONTROLLERS; c++)
        whole = whole && record[c].fault == 0;
    if (whole && full > 0)
        out_format("    full feedforward is %.1f times better than PD and %.1f times better than "
                   "PD + gravity (RMS of all joints)\n",
                   record[0].rms_all / full, record[1].rms_all / full);
}

static void print_limits(const record_t record[REPORT_CONTROLLERS]) {
    for (int c = 0; c < REPORT_CONTROLLERS; c++) {
        if (record[c].limited > 0)
            out_format("    %s: a joint was at its torque or voltage limit in %u of %u samples\n",
                       report_controller[c], (unsigned)record[c].limited, (unsigned)record[c].rows);
        if (record[c].missing > 0)
            out_format(
                "    %s: %u samples are missing; RMS and peak were computed from the other %u\n",
                report_controller[c], (unsigned)record[c].missing, (unsigned)record[c].rows);
        if (record[c].fault > 0)
            out_format("    %s: stopped by the fault %s: %s; tracking errors were measured only up "
                       "to the fault\n",
                       report_controller[c], app_fault_name(record[c].fault),
                       app_fault_cause(record[c].fault));
    }
}

int report_width(const robot_t *robot) {
    enum { LEAST = 14, MOST = 32 };
    size_t width = LEAST;
    for (uint32_t i = 0; i < robot->n; i++)
        if (strlen(robot->joint[i].name) > width)
            width = strlen(robot->joint[i].name);
    return width < MOST ? (int)width : MOST;
}

void report_errors(const robot_t *robot, const result_t *result) {
    const int width = report_width(robot);
    for (int m = 0; m < REPORT_MASSES; m++) {
        const record_t *record = result->record[m];
        out_format("\n%s, %s\n", result->plan->title, masses[m]);
        out_format("  %-*s", width, "tracking error");
        for (int c = 0; c < REPORT_CONTROLLERS; c++)
            out_format("  %22s", report_controller[c]);
        out_format("\n  %-*s", width, "mrad, mm");
        for (int c = 0; c < REPORT_CONTROLLERS; c++)
            out_format("  %11s%11s", "RMS", "peak");
        for (uint32_t i = 0; i < robot->n; i++) {
            out_format("\n  %-*.*s", width, width, robot->joint[i].name);
            for (int c = 0; c < REPORT_CONTROLLERS; c++)
                out_format("  %11.4f%11.4f", 1000 * record[c].rms[i], 1000 * record[c].peak[i]);
        }
        out_format("\n  %-*s", width, "all joints");
        for (int c = 0; c < REPORT_CONTROLLERS; c++)
            out_format("  %11.4f%11s", 1000 * record[c].rms_all, "");
        out_text("\n");
        print_factors(record);
        print_limits(record);
    }
}

void report_json(const robot_t *robot, const result_t *result, size_t results) {
    json_list("motions");
    for (size_t k = 0; k < results; k++)
        for (int m = 0; m < REPORT_MASSES; m++)
            for (int c = 0; c < REPORT_CONTROLLERS; c++) {
                const record_t *record = &result[k].record[m][c];
                json_begin(NULL);
                json_string("motion", result[k].plan->title);
                json_string("masses", masses[m]);
                json_string("controller", report_controller[c]);
                json_number("rms", record->rms_all);
                json_numbers("joint_rms", record->rms, robot->n, 9);
                json_numbers("joint_peak", record->peak, robot->n, 9);
                json_integer("samples", record->rows);
                json_integer("samples_at_a_limit", record->limited);
                json_integer("samples_missing", record->missing);
                if (record->fault > 0)
                    json_string("fault", app_fault_name(record->fault));
                else
                    json_null("fault");
                json_end();
            }
    json_list_end();
}

void report_costs(const costs_t *costs, bool instructions, double cycles_per_instruction) {
    static const char *const stage[STAGES + 1] = {
#define X(name, text, help) text,
        STAGE_TABLE(X)
#undef X
            "whole tick"};
    const double factor = instructions ? cycles_per_instruction : 1;
    out_format("\ncost of a tick, from %u ticks\n  %-12s", (unsigned)costs->ticks, "stage");
    if (instructions)
        out_format("%30s", "instructions");
    out_format("%26s\n  %-12s", instructions ? "cycles (estimated)" : "cycles", "");
    if (instructions)
        out_format("%10s%10s%10s", "least", "mean", "worst");
    out_format("%16s%10s\n", "mean", "worst");
    for (int k = 0; k <= STAGES; k++) {
        out_format("  %-12s", stage[k]);
        if (instructions)
            out_format("%10u%10u%10u", (unsigned)costs->least[k], (unsigned)costs->mean[k],
                       (unsigned)costs->most[k]);
        out_format("%16.0f%10.0f\n", factor * costs->mean[k], factor * costs->most[k]);
    }
    if (instructions)
        out_format("  (cycles are estimated as %.2f per instruction, the ratio in the stored "
                   "benchmarks of the kernels on this core)\n",
                   factor);
}

int report_csv(const client_t *client, const char *path, const record_t *record) {
    FILE *file = fopen(path, "w");
    if (!file)
        return diag_error(path, "check the path and its permissions", "cannot be written: %s",
                          strerror(errno));
    fputs("t", file);
    for (uint32_t k = 0; k < record->width; k++) {
        char title[2 * CLIENT_NAME];
        const char *unit;
        client_value_title(client, k, title, sizeof title, &unit);
        fputc(',', file);
        file_column(file, title);
    }
    fputc('\n', file);
    for (uint32_t r = 0; r < record->rows; r++) {
        const double rate = record->rate_hz > 0 ? record->rate_hz : 1;
        fprintf(file, "%.9g", (record->tick[r] - record->tick[0]) / rate);
        for (uint32_t k = 0; k < record->width; k++)
            fprintf(file, ",%.9g", record->value[(size_t)r * record->width + k]);
        fputc('\n', file);
    }
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        return diag_error(path, "check the space on the disk", "cannot be written: %s",
                          strerror(errno));
    return EXIT_YES;
}

/*
 * Draws one picture of a comparison with gnuplot. Each motion has a column with these panels: the
 * motion, the error of every controller on a logarithmic scale, the RMS error per joint, torques
 * and voltages.
 */
#include "tools/motion/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/gnuplot.h"
#include "tools/cli/diagnostics.h"

static const char *const color[REPORT_CONTROLLERS] = {"#d55e00", "#e69f00", "#0072b2"};
static const char *const pale[REPORT_CONTROLLERS] = {"#f0b48c", "#f5d896", "#8cc0e0"};

/*
 * Rows are thinned to ROWS_DRAWN: a column of the picture has no more pixels across, and more rows
 * cost time.
 */
enum { ROWS_DRAWN = 700, FULL = 2, ROW_HEIGHT = 300, COLUMN_WIDTH = 700 };
/* In mrad or mm. Errors below this are rounding errors, so the logarithmic axis ends here. */
#define LEAST_ERROR 1e-3

static double time_of(const record_t *record, uint32_t row) {
    return (record->tick[row] - record->tick[0]) / (double)(record->rate_hz ? record->rate_hz : 1);
}

/* Returns the RMS error over the joints in one row, in mrad or mm. */
static double error_at(const record_t *record, uint32_t row) {
    double sum = 0;
    for (uint32_t i = 0; i < record->joints; i++) {
        const double off =
            record_value(record, row, RECORD_q_ref, i) - record_value(record, row, RECORD_q_arm, i);
        sum += off * off;
    }
    return fmax(LEAST_ERROR, 1000 * sqrt(sum / record->joints));
}

static void write_errors(FILE *pipe, const record_t *record, size_t r, int m, int c) {
    const uint32_t every = 1 + record->rows / ROWS_DRAWN;
    fprintf(pipe, "$error_%zu_%d_%d << END\n", r, m, c);
    for (uint32_t row = 0; row < record->rows; row += every)
        fprintf(pipe, "%.6g %.6g\n", time_of(record, row), error_at(record, row));
    fputs("END\n", pipe);
}

/* Writes t, then q_ref, q_arm, tau and volt of all joints, for the trial with full feedforward and
 * exact masses. */
static void write_motion(FILE *pipe, const record_t *record, size_t r) {
    static const uint32_t field[] = {RECORD_q_ref, RECORD_q_arm, RECORD_tau, RECORD_volt};
    const uint32_t every = 1 + record->rows / ROWS_DRAWN;
    fprintf(pipe, "$motion_%zu << END\n", r);
    for (uint32_t row = 0; row < record->rows; row += every) {
        fprintf(pipe, "%.6g", time_of(record, row));
        for (int f = 0; f < 4; f++)
            for (uint32_t i = 0; i < record->joints; i++)
                fprintf(pipe, " %.6g", record_value(record, row, field[f], i));
        fputc('\n', pipe);
    }
    fputs("END\n", pipe);
}

static void write_bars(FILE *pipe, const robot_t *robot, const result_t *result, size_t r) {
    fprintf(pipe, "$bars_%zu << END\n", r);
    for (uint32_t i = 0; i < robot->n; i++) {
        for (int c = 0; c < REPORT_CONTROLLERS; c++)
            for (int m = 0; m < REPORT_MASSES; m++)
                fprintf(pipe, " %.6g", fmax(LEAST_ERROR, 1000 * result->record[m][c].rms[i]));
        fputc('\n', pipe);
    }
    fputs("END\n", pipe);
}

/* Draws joint i from one block of write_motion. */
static void curve(FILE *pipe, const robot_t *robot, size_t r, uint32_t i, uint32_t block,
                  const char *width) {
    fprintf(pipe, "%s$motion_%zu using 1:%u with lines lw %s lt %u", i ? ", " : "", r,
            2 + block * robot->n + i, width, i + 1);
    gnuplot_legend(pipe, robot->joint[i].name);
}

static void position_panel(FILE *pipe, const robot_t *robot, const result_t *result, size_t r) {
    fprintf(pipe, "set title '%s'\nunset logscale y\nset ylabel 'position, rad or m'\nplot ",
            result->plan->title);
    for (uint32_t i = 0; i < robot->n; i++)
        curve(pipe, robot, r, i, 1, "1.8");
    fputs(", NaN with lines lw 1 dt 2 lc 'black' title 'reference'", pipe);
    for (uint32_t i = 0; i < robot->n; i++)
        fprintf(pipe, ", $motion_%zu using 1:%u with lines lw 1 dt 2 lc 'black' notitle", r, 2 + i);
    fputc('\n', pipe);
}

static void error_panel(FILE *pipe, size_t r) {
    fputs("set title 'tracking error, RMS of all joints'\nset ylabel 'mrad or mm'\n"
          "set logscale y\nset format y '10^{%L}'\nplot ",
          pipe);
    for (int c = 0; c < REPORT_CONTROLLERS; c++)
        for (int m = 0; m < REPORT_MASSES; m++)
            fprintf(pipe, "%s$error_%zu_%d_%d using 1:2 with lines lw %s lc '%s' %s%s%s",
                    c + m ? ", " : "", r, m, c, m ? "1.6 dt 2" : "2", color[c],
                    m ? "notitle" : "title '", m ? "" : report_controller[c], m ? "" : "'");
    fputs(", NaN with lines lw 1.6 dt 2 lc 'black' title 'masses 10 % wrong'\n", pipe);
}

/* Largest number of characters of joint names, separated by blanks, that fit side by side below a
 * panel. */
enum { NAMES_MOST = 70 };

static bool names_fit(const robot_t *robot) {
    size_t longest = 0;
    for (uint32_t i = 0; i < robot->n; i++)
        if (strlen(robot->joint[i].name) > longest)
            longest = strlen(robot->joint[i].name);
    return robot->n * (longest + 1) <= NAMES_MOST;
}

static void bar_panel(FILE *pipe, const robot_t *robot, size_t r) {
    fputs("set title 'RMS error by joint (pale: masses 10 % wrong)'\nset xlabel ' '\n"
          "set style data histograms\nset style histogram clustered gap 1.5\n"
          "set style fill solid 1 noborder\nset grid noxtics ytics\n",
          pipe);
    fprintf(pipe, "set xtics %s noenhanced (",
            names_fit(robot) ? "" : "rotate by 20 right font ',8'");
    for (uint32_t i = 0; i < robot->n; i++) {
        fputs(i ? ", " : "", pipe);
        gnuplot_quoted(pipe, robot->joint[i].name);
        fprintf(pipe, " %u", i);
    }
    fputs(")\n", pipe);
    fprintf(pipe, "set xrange [-0.6:%u.6]\nset yrange [%g:*]\nplot ", robot->n - 1, LEAST_ERROR);
    for (int c = 0; c < REPORT_CONTROLLERS; c++)
        for (int m = 0; m < REPORT_MASSES; m++) {
            fprintf(pipe, "%s$bars_%zu using %d lc '%s' ", c + m ? ", " : "", r, 1 + 2 * c + m,
                    m ? pale[c] : color[c]);
            if (m)
                fputs("notitle", pipe);
            else
                fprintf(pipe, "title '%s'", report_controller[c]);
        }
    fputs("\nset style data lines\nset autoscale x\nset autoscale y\nset xtics auto norotate "
          "autojustify font ''\nset grid "
          "xtics ytics\n"
          "set xlabel 't in s'\nunset logscale y\nset format y '%g'\n",
          pipe);
}

static void joint_panel(FILE *pipe, const robot_t *robot, size_t r, const char *title,
                        const char *label, uint32_t block) {
    fprintf(pipe, "set title '%s'\nset ylabel '%s'\nplot ", title, label);
    for (uint32_t i = 0; i < robot->n; i++)
        curve(pipe, robot, r, i, block, "1.5");
    fputc('\n', pipe);
}

static bool has_volts(const result_t *result) {
    const record_t *record = &result->record[0][FULL];
    for (uint32_t row = 0; row < record->rows; row++)
        for (uint32_t i = 0; i < record->joints; i++)
            if (record_value(record, row, RECORD_volt, i) != 0)
                return true;
    return false;
}

static void write_script(FILE *pipe, const robot_t *robot, const result_t *result, size_t results,
                         const char *path) {
    const bool volts = has_volts(&result[0]);
    const int rows = volts ? 5 : 4;
    for (size_t r = 0; r < results; r++) {
        for (int m = 0; m < REPORT_MASSES; m++)
            for (int c = 0; c < REPORT_CONTROLLERS; c++)
                write_errors(pipe, &result[r].record[m][c], r, m, c);
        write_motion(pipe, &result[r].record[0][FULL], r);
        write_bars(pipe, robot, &result[r], r);
    }
    char title[200];
    snprintf(title, sizeof title, "%s: benefit of the feedforward", robot->name);
    gnuplot_page_columns(pipe, path, (uint32_t)results * COLUMN_WIDTH,
                         (uint32_t)(rows * ROW_HEIGHT + 30), (uint32_t)rows, (uint32_t)results,
                         title);
    for (size_t r = 0; r < results; r++) {
        position_panel(pipe, robot, &result[r], r);
        error_panel(pipe, r);
        bar_panel(pipe, robot, r);
        joint_panel(pipe, robot, r, "torque at the joints, full feedforward", "N m or N", 2);
        if (volts)
            joint_panel(pipe, robot, r, "motor voltage, full feedforward", "V", 3);
    }
}

int report_plot(const robot_t *robot, const result_t *result, size_t results, const char *path) {
    FILE *pipe = gnuplot_open(path);
    if (!pipe)
        return EXIT_BAD;
    write_script(pipe, robot, result, results, path);
    return gnuplot_close(pipe, path);
}

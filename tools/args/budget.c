/* Estimates costs from the rows of the bench. tools/bench/baseline.csv is compiled in, so its
 * numbers exist only once. */
#include "tools/args/budget.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
        "budget_rows:\n"
        ".incbin \"tools/bench/baseline.csv\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char budget_rows[];

const budget_core_t budget_core[BUDGET_CORES] = {
    {"netduinoplus2", "cortex-m4f", "f32", "M4F f32", 168e6},
    {"netduino2", "cortex-m3", "q31", "M3 q31", 120e6},
};

typedef struct {
    double operations, cycles;
} point_t;

typedef struct {
    char board[24], cpu[24], robot[24], problem[16], method[16], real[8];
    point_t point;
} row_t;

static bool read_row(const char *text, row_t *row) {
    return sscanf(text, "%23[^,],%23[^,],%23[^,],%*d,%15[^,],%15[^,],%7[^,],%*f,%*f,%lf,%lf",
                  row->board, row->cpu, row->robot, row->problem, row->method, row->real,
                  &row->point.cycles, &row->point.operations) == 8;
}

/*
 * Finds the smallest and the largest arm of the bench with this kernel; returns false if there is
 * none. Takes only arms with revolute joints, because the line through two such arms meets the
 * measured PUMA 560.
 */
static bool find_ends(const budget_core_t *core, const char *problem, const char *method,
                      point_t end[2]) {
    bool found = false;
    for (const char *text = budget_rows; text; text = strchr(text, '\n')) {
        row_t row;
        text += *text == '\n';
        if (!read_row(text, &row) || strcmp(row.board, core->board) != 0 ||
            strcmp(row.cpu, core->cpu) != 0 || !strcmp(row.robot, "stanford") ||
            strcmp(row.problem, problem) != 0 || strcmp(row.method, method) != 0 ||
            strcmp(row.real, core->real) != 0)
            continue;
        if (!found || row.point.operations < end[0].operations)
            end[0] = row.point;
        if (!found || row.point.operations > end[1].operations)
            end[1] = row.point;
        found = true;
    }
    return found;
}

double budget_cycles(const budget_core_t *core, method_id_t method, double operations) {
    const problem_t problem = method_table[method].problem;
    point_t end[2];
    bool found = find_ends(core, problem_name(problem), method_name(method), end);
    /* A method without its own gravity kernel uses its bias kernel. */
    if (!found && problem == PROBLEM_GRAVITY)
        found = find_ends(core, problem_name(PROBLEM_BIAS), method_name(method), end);
    if (!found)
        return -1;
    if (operations < end[0].operations) /* a line would give a small arm too little */
        return end[0].cycles * operations / end[0].operations;
    const double span = end[1].operations - end[0].operations;
    const double slope = span > 0 ? (end[1].cycles - end[0].cycles) / span : 0;
    return end[0].cycles + slope * (operations - end[0].operations);
}

/* Returns the board of the bench that has the same core as this board. */
static const char *benched(const char *board) {
    static const char *const same[][2] = {{"stm32vldiscovery", "netduino2"},
                                          {"nucleo-f446re", "netduinoplus2"}};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (!strcmp(board, same[i][0]))
            return same[i][1];
    return board;
}

double budget_cycles_per_instruction(const char *board, const char *real) {
    double cycles = 0, instructions = 0;
    board = benched(board);
    for (const char *text = budget_rows; text; text = strchr(text, '\n')) {
        char name[24], robot[24], problem[16], method[16], type[8];
        double most, estimate;
        text += *text == '\n';
        if (sscanf(text, "%23[^,],%*[^,],%23[^,],%*d,%15[^,],%15[^,],%7[^,],%*f,%lf,%lf", name,
                   robot, problem, method, type, &most, &estimate) != 7 ||
            strcmp(name, board) != 0 || strcmp(robot, "puma560") != 0 || strcmp(type, real) != 0 ||
            strcmp(method, "fast") != 0 ||
            (strcmp(problem, "id") != 0 && strcmp(problem, "fd") != 0))
            continue;
        cycles += estimate;
        instructions += most;
    }
    return instructions > 0 ? cycles / instructions : 1;
}

bool budget_row(const char *board, const char *robot, const char *problem, const char *method,
                const char *real, double *instructions, double *cycles) {
    board = benched(board);
    for (const char *text = budget_rows; text; text = strchr(text, '\n')) {
        char name[24], arm[24], task[16], way[16], type[8];
        text += *text == '\n';
        if (sscanf(text, "%23[^,],%*[^,],%23[^,],%*d,%15[^,],%15[^,],%7[^,],%*f,%lf,%lf", name, arm,
                   task, way, type, instructions, cycles) == 7 &&
            !strcmp(name, board) && !strcmp(arm, robot) && !strcmp(task, problem) &&
            !strcmp(way, method) && !strcmp(type, real))
            return true;
    }
    return false;
}

bool budget_tick(const char *board, const char *real, bool simulated, double *instructions,
                 double *cycles) {
    return budget_row(board, "puma560", "tick", simulated ? "-" : "arm", real, instructions,
                      cycles);
}

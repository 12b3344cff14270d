/* Estimates the cost of a kernel on a board, from the accepted rows of the bench
 * (tools/bench/baseline.csv). */
#ifndef TOOLS_ARGS_BUDGET_H
#define TOOLS_ARGS_BUDGET_H

#include <stdbool.h>

#include "firmware/lab/methods.h"

typedef struct {
    const char *board, *cpu, *real; /* names of board, core and number type as in the bench */
    const char *title;
    double clock_hz;
} budget_core_t;

enum { BUDGET_CORES = 2 };
extern const budget_core_t budget_core[BUDGET_CORES];

/*
 * Returns the cycles of one call of this kernel. operations: number of multiplications, additions,
 * divisions and roots; the cost of the sines is included. The estimate lies on the line through the
 * smallest and the largest arm of the bench. The cycles of the bench are themselves an estimate
 * (tools/bench/cores.h). Negative if the bench has no row of the kernel.
 */
double budget_cycles(const budget_core_t *core, method_id_t method, double operations);

/*
 * Returns the estimated cycles per executed instruction on a board, averaged over the default
 * kernels of inverse and forward dynamics for the PUMA 560. 1 if the bench has no board with this
 * core.
 */
double budget_cycles_per_instruction(const char *board, const char *real);

/*
 * Returns the most executed instructions and the estimated cycles of a row of the bench on this
 * board or one with the same core. Returns false if the bench has no such row.
 */
bool budget_row(const char *board, const char *robot, const char *problem, const char *method,
                const char *real, double *instructions, double *cycles);

/* budget_row of the whole tick of the PUMA 560, with a real or a simulated arm. */
bool budget_tick(const char *board, const char *real, bool simulated, double *instructions,
                 double *cycles);

#endif

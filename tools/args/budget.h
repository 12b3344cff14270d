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
 * Returns executed instructions and estimated cycles of the worst whole tick of the PUMA 560 on
 * this board or one with the same core, with a real or a simulated arm. Returns false if the bench
 * has no such row.
 */
bool budget_tick(const char *board, const char *real, bool simulated, double *instructions,
                 double *cycles);

#endif

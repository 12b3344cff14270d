/* What a kernel costs on a board, from the accepted rows of the bench (tools/bench/baseline.csv).
 */
#ifndef TOOLS_ARGS_BUDGET_H
#define TOOLS_ARGS_BUDGET_H

#include <stdbool.h>

#include "firmware/lab/methods.h"

typedef struct {
    const char *board, *cpu, *real; /* as in the bench */
    const char *title;
    double clock_hz;
} budget_core_t;

enum { BUDGET_CORES = 2 };
extern const budget_core_t budget_core[BUDGET_CORES];

/*
 * Cycles of one call of this kernel with so many multiplications, additions, divisions and roots;
 * the sines that come with them are included: on the line through the bench's smallest and largest
 * arm, which meets both. The cycles of the bench are themselves an estimate (tools/bench/cores.h).
 * Negative where the bench has no row of it.
 */
double budget_cycles(const budget_core_t *core, method_id_t method, double operations);

/* Estimated cycles of an executed instruction on a board: of the default kernels of inverse and
 * forward dynamics together, with the PUMA 560. 1 where the bench has no board with this core. */
double budget_cycles_per_instruction(const char *board, const char *real);

/* The worst whole tick of the PUMA 560 on a board (or one with its core), with an arm at the
 * hardware or a simulated one: executed instructions and estimated cycles. False: the bench has
 * none. */
bool budget_tick(const char *board, const char *real, bool simulated, double *instructions,
                 double *cycles);

#endif

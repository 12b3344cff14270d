/*
 * The loop of the commands that compute a result for each input row: reads a row, calls the
 * command's function, prints lines or JSON, and reports at the end where the supply limited a
 * voltage.
 */
#ifndef TOOLS_ARGS_ROW_LOOP_H
#define TOOLS_ARGS_ROW_LOOP_H

#include "tools/cli/command.h"
#include "tools/cli/rows.h"
#include "tools/robot/robot.h"

typedef struct {
    const robot_t *robot;
    const char *method, *real; /* names */
    int digits;                /* significant digits of a printed number */
    size_t inputs, outputs;    /* numbers in an input row, and in an output row */
    const char *meaning;       /* names of the inputs for messages: "q qd qdd of 6 joints" */
    /*
     * Computes one row. Returns EXIT_YES, or another exit code after printing what is wrong. Sets
     * bit i of *limited if the voltage of joint i was limited. The loop refuses results that are
     * not finite.
     */
    int (*compute)(void *context, const rows_t *rows, const double *in, double *out,
                   uint32_t *limited);
    void *context;
} row_loop_t;

/* Reads the rows from the command's second argument, or from standard input. */
int row_loop_run(const request_t *request, const row_loop_t *loop);

#endif

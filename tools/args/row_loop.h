/*
 * The loop of the commands that turn rows into rows: reads, lets the command compute, prints lines
 * or JSON, and tells at the end where the supply limited a voltage.
 */
#ifndef TOOLS_ARGS_ROW_LOOP_H
#define TOOLS_ARGS_ROW_LOOP_H

#include "tools/cli/command.h"
#include "tools/cli/rows.h"
#include "tools/robot/robot.h"

typedef struct {
    const robot_t *robot;
    const char *method, *real; /* names */
    int digits;                /* that a number is printed with */
    size_t inputs, outputs;    /* numbers of a row */
    const char *meaning;       /* of the inputs, for messages: "q qd qdd of 6 joints" */
    /* EXIT_YES, or another exit code after saying what is wrong. Bit i of *limited: the voltage of
     * joint i was limited. Numbers that are not finite are refused by the loop. */
    int (*compute)(void *context, const rows_t *rows, const double *in, double *out,
                   uint32_t *limited);
    void *context;
} row_loop_t;

/* The rows are those of the command's second argument, or of standard input. */
int row_loop_run(const request_t *request, const row_loop_t *loop);

#endif

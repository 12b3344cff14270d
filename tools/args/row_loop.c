/* Implements tools/args/row_loop.h: reads input rows and prints one result for each. */
#include "tools/args/row_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

typedef struct {
    double *in, *out;
    /* number of rows in which the supply limited the voltage of each joint */
    unsigned long limited[DYN_MAX_JOINTS];
} state_t;

static int check(const row_loop_t *loop, const rows_t *rows, const double *out) {
    for (size_t i = 0; i < loop->outputs; i++)
        if (!isfinite(out[i]))
            return rows_error(rows,
                              strcmp(loop->real, "f64") == 0 ? "use smaller numbers"
                                                             : "use smaller numbers, or --real f64",
                              "the result in %s is not a finite number", loop->real);
    return EXIT_YES;
}

static int run_rows(const row_loop_t *loop, rows_t *rows, bool json, state_t *s) {
    if (isatty(rows->file))
        diag_note(NULL, "type rows of %zu numbers (%s); control-D ends the input", loop->inputs,
                  loop->meaning);
    for (;;) {
        const int found = rows_next(rows, s->in, loop->inputs, loop->meaning);
        if (found <= 0 || out_failed())
            return found < 0 ? EXIT_BAD : EXIT_YES;
        uint32_t limited = 0;
        int status = loop->compute(loop->context, rows, s->in, s->out, &limited);
        if (status == EXIT_YES)
            status = check(loop, rows, s->out);
        if (status != EXIT_YES)
            return status;
        for (uint32_t i = 0; limited; i++, limited >>= 1)
            s->limited[i] += limited & 1;
        if (json)
            json_numbers(NULL, s->out, loop->outputs, loop->digits);
        else
            out_row(s->out, loop->outputs, loop->digits);
    }
}

static void note_limited(const robot_t *robot, const rows_t *rows, const state_t *s) {
    for (uint32_t i = 0; i < robot->n; i++)
        if (s->limited[i] > 0)
            diag_note(NULL, "joint %s: the supply of %g V limited the voltage in %lu of %lu rows",
                      robot->joint[i].name, robot->model.joint[i].drive.motor.voltage,
                      s->limited[i], rows->row);
}

static int run_with(const request_t *request, const row_loop_t *loop, state_t *s) {
    rows_t rows;
    int status = rows_open(&rows, request->arguments > 1 ? request->argument[1] : NULL);
    if (status != EXIT_YES)
        return status;
    const bool json = request_has(request, OPTION_JSON);
    if (json) {
        json_begin(NULL);
        json_string("command", request->command->name);
        json_string("robot", loop->robot->name);
        json_string("method", loop->method);
        json_string("real", loop->real);
        json_list("rows");
    }
    status = run_rows(loop, &rows, json, s);
    if (json) {
        json_list_end();
        json_end();
    }
    out_flush();
    if (status == EXIT_YES && !request_has(request, OPTION_QUIET))
        note_limited(loop->robot, &rows, s);
    rows_close(&rows);
    return status;
}

int row_loop_run(const request_t *request, const row_loop_t *loop) {
    state_t s = {.in = calloc(loop->inputs, sizeof *s.in),
                 .out = calloc(loop->outputs, sizeof *s.out)};
    const int status = s.in && s.out ? run_with(request, loop, &s) : diag_no_memory();
    free(s.in);
    free(s.out);
    return status;
}

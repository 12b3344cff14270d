/* The commands that turn rows into rows, for arms with elastic links. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/appell/arm.h"
#include "tools/appell/commands.h"
#include "tools/appell/elastic.h"
#include "tools/appell/json.h"
#include "tools/appell/out.h"
#include "tools/appell/rows.h"
#include "tools/appell/say.h"

typedef struct {
    const robot_t *robot;
    problem_t problem;
    bool quasi_static, json;
    const elastic_type_t *type;
    elastic_t *elastic;
    uint32_t size;                         /* coordinates */
    unsigned long limited[DYN_MAX_JOINTS]; /* rows in which the supply limited a voltage */
} job_t;

static int choose_type(const request_t *request, job_t *job) {
    const char *name = request->value[OPTION_REAL], *method = request->value[OPTION_METHOD];
    job->type = name && !strcmp(name, "f32") ? &elastic_f32 : &elastic_f64;
    if (method && strcmp(method, "flex") != 0)
        return say_error(NULL, "leave out --method, or take the links as stiff with --rigid",
                         "for elastic links there is the method flex alone, not '%s'", method);
    if (name && !strcmp(name, "q31"))
        return say_error(NULL, "compute in f32, or take the links as stiff with --rigid",
                         "q31 is proved for limits, and a robot file has none for deflections");
    if (name && strcmp(name, job->type->name) != 0)
        return say_error(NULL, "choose one of: f64, f32", "there is no number type '%s'", name);
    return EXIT_YES;
}

static int prepare(const request_t *request, job_t *job) {
    double wrench[6];
    const bool wrenched = request_has(request, OPTION_WRENCH);
    dyn_flex_model_t *flex = malloc(sizeof *flex);
    int status = flex ? arm_flex(request, job->robot, flex) : say_no_memory(), prepared = DYN_OK;
    if (status == EXIT_YES && wrenched)
        status = request_list(request, OPTION_WRENCH, wrench, 6, 6, NULL);
    if (status == EXIT_YES && job->problem == PROBLEM_VOLT)
        status = arm_need_motors(job->robot);
    if (status == EXIT_YES) {
        job->size = dyn_flex_size(&job->robot->model, flex);
        job->elastic =
            job->type->make(&job->robot->model, flex, wrenched ? wrench : NULL, &prepared);
        if (!job->elastic)
            status = say_no_memory();
        else if (prepared != DYN_OK)
            status = say_error(job->robot->file, "`appell check` says more about it",
                               "the constants of this arm cannot be prepared");
    }
    free(flex);
    return status;
}

static void print_row(const job_t *job, const double *out, size_t count) {
    if (job->json) {
        json_numbers(NULL, out, count, job->type->digits);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            out_bytes(" ", 1);
        out_number(out[i], job->type->digits);
    }
    out_bytes("\n", 1);
}

static int check_row(const rows_t *rows, const job_t *job, int status, const double *out,
                     size_t count) {
    if (status != DYN_OK)
        return rows_error(rows, "`appell check` names joints that move no mass",
                          "the inertia matrix is not positive definite");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return rows_error(rows, "use smaller numbers, or f64", "the result is not finite in %s",
                              job->type->name);
    return EXIT_YES;
}

static int run_rows(job_t *job, rows_t *rows) {
    const uint32_t n = job->robot->n;
    const size_t inputs = elastic_inputs(job->problem, job->quasi_static, n, job->size);
    const size_t outputs = elastic_outputs(job->problem, n, job->size);
    double in[3 * DYN_FLEX_MAX], out[DYN_FLEX_MAX * DYN_FLEX_MAX];
    char meaning[120];
    snprintf(meaning, sizeof meaning, "%s of %u joint%s and %u modes",
             elastic_meaning(job->problem, job->quasi_static), (unsigned)n, n == 1 ? "" : "s",
             (unsigned)(job->size - n));
    if (isatty(rows->file))
        say_note(NULL, "rows of %zu numbers (%s), control-D ends", inputs, meaning);
    for (;;) {
        const int found = rows_next(rows, in, inputs, meaning);
        if (found <= 0 || out_failed())
            return found < 0 ? EXIT_BAD : EXIT_YES;
        uint32_t limited = 0;
        int status =
            job->type->row(job->elastic, job->problem, job->quasi_static, in, out, &limited);
        status = check_row(rows, job, status, out, outputs);
        if (status != EXIT_YES)
            return status;
        for (uint32_t i = 0; limited; i++, limited >>= 1)
            job->limited[i] += limited & 1;
        print_row(job, out, outputs);
    }
}

static void note_limited(const job_t *job, const rows_t *rows) {
    for (uint32_t i = 0; i < job->robot->n; i++)
        if (job->limited[i] > 0)
            say_note(NULL, "joint %s: the supply of %g V limits the voltage in %lu of %lu rows",
                     job->robot->joint[i].name, job->robot->model.joint[i].drive.motor.voltage,
                     job->limited[i], rows->row);
}

static int run_job(const request_t *request, job_t *job) {
    rows_t rows;
    int status = rows_open(&rows, request->arguments > 1 ? request->argument[1] : NULL);
    if (status != EXIT_YES)
        return status;
    job->json = request_has(request, OPTION_JSON);
    if (job->json) {
        json_begin(NULL);
        json_string("command", request->command->name);
        json_string("robot", job->robot->name);
        json_string("method", "flex");
        json_string("real", job->type->name);
        json_list("rows");
    }
    status = run_rows(job, &rows);
    if (job->json) {
        json_list_end();
        json_end();
    }
    out_flush();
    if (status == EXIT_YES && !request_has(request, OPTION_QUIET))
        note_limited(job, &rows);
    rows_close(&rows);
    return status;
}

int elastic_rows_run(const request_t *request, const robot_t *robot) {
    job_t job = {.robot = robot,
                 .problem = (problem_t)request->command->problem,
                 .quasi_static = request_has(request, OPTION_STATIC)};
    int status = choose_type(request, &job);
    if (status == EXIT_YES)
        status = prepare(request, &job);
    if (status == EXIT_YES)
        status = run_job(request, &job);
    if (job.elastic)
        job.type->drop(job.elastic);
    return status;
}

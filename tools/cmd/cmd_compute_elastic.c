/* The commands that turn rows of input into rows of results, for arms with elastic links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval_elastic.h"
#include "tools/args/row_loop.h"
#include "tools/cli/diagnostics.h"

typedef struct {
    const robot_t *robot;
    problem_t problem;
    bool quasi_static;
    const eval_elastic_type_t *type;
    eval_elastic_t *elastic;
    uint32_t size; /* number of coordinates: joints and modes */
} job_t;

static int choose_type(const request_t *request, job_t *job) {
    const char *name = request->value[OPTION_REAL], *method = request->value[OPTION_METHOD];
    job->type = name && !strcmp(name, "f32") ? &eval_elastic_f32 : &eval_elastic_f64;
    if (method && strcmp(method, "flex") != 0)
        return diag_error(NULL, "leave out --method, or compute with stiff links: --rigid",
                          "for elastic links the only method is flex, not '%s'", method);
    if (name && !strcmp(name, "q31"))
        return diag_error(NULL, "compute in f32, or with stiff links: --rigid",
                          "q31 cannot be used with elastic links: it may overflow, because a robot "
                          "file gives no limits for deflections");
    if (name && strcmp(name, job->type->name) != 0)
        return diag_error(NULL, "choose one of: f64, f32", "there is no number type '%s'", name);
    return EXIT_YES;
}

static int prepare(const request_t *request, job_t *job) {
    double wrench[6];
    const bool wrenched = request_has(request, OPTION_WRENCH);
    dyn_flex_model_t *flex = malloc(sizeof *flex);
    int status = flex ? arm_flex(request, job->robot, flex) : diag_no_memory(), prepared = DYN_OK;
    if (status == EXIT_YES && wrenched)
        status = request_list(request, OPTION_WRENCH, wrench, 6, 6, NULL);
    if (status == EXIT_YES && job->problem == PROBLEM_VOLT)
        status = arm_need_motors(job->robot);
    if (status == EXIT_YES) {
        job->size = dyn_flex_size(&job->robot->model, flex);
        job->elastic =
            job->type->make(&job->robot->model, flex, wrenched ? wrench : NULL, &prepared);
        if (!job->elastic)
            status = diag_no_memory();
        else if (prepared != DYN_OK)
            status = diag_error(job->robot->file, "see `appell check`",
                                "the constants of this arm cannot be prepared");
    }
    free(flex);
    return status;
}

static int compute(void *context, const rows_t *rows, const double *in, double *out,
                   uint32_t *limited) {
    job_t *job = context;
    if (job->type->row(job->elastic, job->problem, job->quasi_static, in, out, limited) != DYN_OK)
        return rows_error(rows, "`appell check` names the joints that move no mass",
                          "the inertia matrix is not positive definite");
    return EXIT_YES;
}

static int run_job(const request_t *request, job_t *job) {
    const uint32_t n = job->robot->n;
    char meaning[120];
    snprintf(meaning, sizeof meaning, "%s of %u joint%s and %u modes",
             eval_elastic_meaning(job->problem, job->quasi_static), (unsigned)n, n == 1 ? "" : "s",
             (unsigned)(job->size - n));
    const row_loop_t loop = {
        .robot = job->robot,
        .method = "flex",
        .real = job->type->name,
        .digits = job->type->digits,
        .inputs = eval_elastic_inputs(job->problem, job->quasi_static, n, job->size),
        .outputs = eval_elastic_outputs(job->problem, n, job->size),
        .meaning = meaning,
        .compute = compute,
        .context = job,
    };
    return row_loop_run(request, &loop);
}

int cmd_compute_elastic(const request_t *request, const robot_t *robot) {
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

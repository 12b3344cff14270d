/* The commands that turn rows of input into rows of results with a kernel: id, mass, fd, bias,
 * gravity, coriolis, fk, jacobian, volt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/eval/eval_gen.h"
#include "tools/image/gen_robot.h"
#include "tools/args/method.h"
#include "tools/args/remote.h"
#include "tools/args/row_loop.h"
#include "tools/cli/diagnostics.h"
#include "tools/proof/units.h"

typedef struct {
    const robot_t *robot;
    problem_t problem;
    method_id_t method;
    const eval_type_t *type;
    dyn_units_t units;
    evaluator_t *evaluator;
    remote_t remote; /* the board, if one computes the rows */
} job_t;

static int choose_method(const request_t *request, job_t *job) {
    job->problem = (problem_t)request->command->problem;
    job->method = method_find(job->problem, request->value[OPTION_METHOD]);
    if (job->method < METHOD_COUNT)
        return EXIT_YES;
    return method_unknown(job->problem, request->value[OPTION_METHOD]);
}

static int choose_effort(const request_t *request, const job_t *job) {
    long effort = GEN_EFFORT;
    if (request_has(request, OPTION_EFFORT) && !method_generated(job->method))
        return diag_error(NULL, "leave it out, or choose --method gen",
                          "--effort: method %s is not generated", method_name(job->method));
    if (request_has(request, OPTION_EFFORT) &&
        request_integer(request, OPTION_EFFORT, 0, 10000, &effort) != EXIT_YES)
        return EXIT_BAD;
    eval_gen_effort = (double)effort / GEN_EFFORT;
    return EXIT_YES;
}

static int choose_type(const char *name, job_t *job) {
    static const eval_type_t *const types[] = {&eval_f64, &eval_f32, &eval_q31};
    job->type = &eval_f64;
    if (!name)
        return EXIT_YES;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i]->name, name)) {
            job->type = types[i];
            return EXIT_YES;
        }
    return diag_error(NULL, "choose one of: f64, f32, q31", "there is no number type '%s'", name);
}

static int choose_units(job_t *job) {
    const robot_t *robot = job->robot;
    char missing[80];
    for (uint32_t i = 0; i < robot->n; i++) {
        units_missing(&robot->model, i, missing, sizeof missing);
        if (*missing)
            return diag_error(robot->file,
                              "give them under `limits:` in a robot file, or compute in f32",
                              "joint %s: the proof that q31 cannot overflow needs limits of %s",
                              robot->joint[i].name, missing);
    }
    range_report_t *report = calloc(1, sizeof *report);
    if (!report)
        return diag_no_memory();
    const int status = units_choose(&robot->model, job->method, &job->units, report);
    char tightest[80] = "";
    const range_entry_t *entry = &report->entry[report->tightest];
    if (status != DYN_OK && report->entries > 0 && entry->joint < robot->n)
        snprintf(tightest, sizeof tightest, " (%s of joint %s)", entry->name,
                 robot->joint[entry->joint].name);
    free(report);
    if (status == DYN_OK)
        return EXIT_YES;
    return diag_error(robot->file, "tighten the limits, use another method, or compute in f32",
                      "q31 can overflow within the limits of this arm, whatever the units%s",
                      tightest);
}

static int make_evaluator(job_t *job, const double *wrench) {
    int prepared;
    job->evaluator = job->type->make(&job->robot->model, &job->units, wrench, &prepared);
    if (!job->evaluator)
        return diag_no_memory();
    if (prepared == DYN_OK)
        prepared = job->type->ready(job->evaluator, job->method);
    if (prepared != DYN_OK)
        return diag_error(job->robot->file, "use another method or number type",
                          "the constants of this arm do not fit %s with method %s", job->type->name,
                          method_name(job->method));
    return EXIT_YES;
}

/*
 * Prepares a board that computes the rows with its own kernels and units. The host then only checks
 * that the input of a row is within the limits. The exception is forward dynamics in q31: a sum
 * that overflows wraps on the board without notice. So the checked kernel on the host computes each
 * row too, in the same units and with the same bits, and detects the overflow. Generated code has
 * no checked kernel.
 */
static int prepare_remote(const request_t *request, job_t *job, const double *wrench) {
    int status = remote_open(request, job->robot, job->method, request->value[OPTION_REAL], wrench,
                             !method_generated(job->method), &job->remote);
    job->units = job->remote.units;
    if (status == EXIT_YES)
        status = choose_type(job->remote.real, job);
    if (status == EXIT_YES && job->type == &eval_q31 && job->problem == PROBLEM_FD &&
        !method_generated(job->method))
        status = make_evaluator(job, wrench);
    return status;
}

static int prepare_own(job_t *job, const double *wrench) {
    if (job->type == &eval_q31 && choose_units(job) != EXIT_YES)
        return EXIT_BAD;
    return make_evaluator(job, wrench);
}

static int prepare(const request_t *request, job_t *job) {
    double numbers[6];
    const double *wrench = request_has(request, OPTION_WRENCH) ? numbers : NULL;
    if (wrench && request_list(request, OPTION_WRENCH, numbers, 6, 6, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (job->problem == PROBLEM_VOLT && arm_need_motors(job->robot) != EXIT_YES)
        return EXIT_BAD;
    return request_has(request, OPTION_PORT) ? prepare_remote(request, job, wrench)
                                             : prepare_own(job, wrench);
}

/* ------------------------------------------------------------------------------ limits of a row */

static int outside(const rows_t *rows, const job_t *job, uint32_t i, const char *what, double value,
                   double low, double high) {
    return rows_error(rows, "stay within the range, widen the limits, or compute in f32",
                      "%s of joint %s is %.9g, outside of %.9g .. %.9g, its range in q31", what,
                      job->robot->joint[i].name, value, low, high);
}

/* For q31: checks that every input is within the limits and that torques fit the format. */
static int within_limits(const rows_t *rows, const job_t *job, const double *in) {
    const dyn_model_t *model = &job->robot->model;
    const uint32_t n = model->n;
    const bool volt = job->problem == PROBLEM_VOLT;
    const double *q = volt ? NULL : in;
    const double *qd = volt ? in : problem_inputs(job->problem, 1) > 1 ? in + n : NULL;
    const double *qdd = job->problem == PROBLEM_ID ? in + 2 * n : NULL;
    const double *tau = volt ? in + n : job->problem == PROBLEM_FD ? in + 2 * n : NULL;
    for (uint32_t i = 0; i < n; i++) {
        const dyn_limits_t *l = &model->joint[i].drive.limits;
        const int exponent = dyn_q31_exponents(model, &job->units, i).torque;
        const double most = ldexp(7.99, exponent);
        if (q && l->position[1] > l->position[0] &&
            (q[i] < l->position[0] || q[i] > l->position[1]))
            return outside(rows, job, i, "position", q[i], l->position[0], l->position[1]);
        if (qd && fabs(qd[i]) > l->velocity)
            return outside(rows, job, i, "velocity", qd[i], -l->velocity, l->velocity);
        const double faster = units_acceleration(l);
        if (qdd && fabs(qdd[i]) > faster)
            return outside(rows, job, i, "acceleration", qdd[i], -faster, faster);
        if (tau && fabs(tau[i]) > most)
            return outside(rows, job, i, "torque", tau[i], -most, most);
    }
    return EXIT_YES;
}

static int row_status(const rows_t *rows, const job_t *job, int status, const double *out) {
    if (status == DYN_E_PIVOT)
        return rows_error(rows, dyn_status_cure(status), "%s", dyn_status_cause(status));
    if (status == DYN_E_TYPE && job->type == &eval_q31)
        return rows_error(rows, "use f32, or another method",
                          "the code generated for this arm cannot be used in q31: %s",
                          eval_gen_why);
    if (status == BATCH_OVERFLOW)
        return rows_error(rows, "use f32", "an intermediate value overflows in q31");
    if (job->type == &eval_q31 && job->problem == PROBLEM_FD)
        for (uint32_t i = 0; i < job->robot->n; i++) {
            const int exponent = dyn_q31_exponents(&job->robot->model, &job->units, i).acceleration;
            if (fabs(out[i]) >= ldexp(7.9999, exponent))
                return rows_error(rows, "use f32",
                                  "the acceleration of joint %s reaches %g in magnitude, the "
                                  "largest value that q31 has for this arm",
                                  job->robot->joint[i].name, ldexp(8, exponent));
        }
    return EXIT_YES;
}

/* ------------------------------------------------------------------------------------- the rows */

static int compute(void *context, const rows_t *rows, const double *in, double *out,
                   uint32_t *limited) {
    job_t *job = context;
    int status = DYN_OK;
    if (job->type == &eval_q31 && within_limits(rows, job, in) != EXIT_YES)
        return EXIT_BAD;
    if (job->evaluator)
        status = job->type->row(job->evaluator, job->method, in, out, limited);
    if (status == DYN_OK && job->remote.client &&
        remote_row(&job->remote, in, problem_inputs(job->problem, job->robot->n), out,
                   problem_outputs(job->problem, job->robot->n), limited) != EXIT_YES)
        return board_error(job->remote.client);
    return row_status(rows, job, status, out);
}

static int run_job(const request_t *request, job_t *job) {
    const int status = prepare(request, job);
    if (status != EXIT_YES)
        return status;
    const uint32_t n = job->robot->n;
    char meaning[80];
    snprintf(meaning, sizeof meaning, "%s of %u joint%s", problem_meaning(job->problem),
             (unsigned)n, n == 1 ? "" : "s");
    const row_loop_t loop = {
        .robot = job->robot,
        .method = method_name(job->method),
        .real = job->type->name,
        .digits = job->type->digits,
        .inputs = problem_inputs(job->problem, n),
        .outputs = problem_outputs(job->problem, n),
        .meaning = meaning,
        .compute = compute,
        .context = job,
    };
    return row_loop_run(request, &loop);
}

int cmd_compute(const request_t *request) {
    job_t job = {0};
    int status = EXIT_BAD;
    robot_t *robot = arm_load_compute(request);
    if (!robot)
        return EXIT_BAD;
    job.robot = robot;
    if (arm_elastic(request, robot) && request_has(request, OPTION_PORT))
        diag_error(robot->file, "use --rigid to treat the links as stiff beams",
                   "a board computes rows for rigid links only; this arm has elastic links");
    else if (arm_elastic(request, robot) && request_has(request, OPTION_EFFORT))
        diag_error(robot->file, "leave it out, or use --rigid",
                   "--effort: no code is generated for elastic links");
    else if (arm_elastic(request, robot))
        status = cmd_compute_elastic(request, robot);
    else if (request_has(request, OPTION_STATIC) || request_has(request, OPTION_LINEAR))
        diag_error(robot->file, "leave the option out",
                   "--static and --linear are for elastic links; this arm has none%s",
                   robot->elastic ? " with --rigid" : "");
    else if (choose_method(request, &job) == EXIT_YES && choose_effort(request, &job) == EXIT_YES &&
             choose_type(request->value[OPTION_REAL], &job) == EXIT_YES)
        status = run_job(request, &job);
    if (job.evaluator)
        job.type->drop(job.evaluator);
    remote_close(&job.remote);
    arm_free(robot);
    return status;
}

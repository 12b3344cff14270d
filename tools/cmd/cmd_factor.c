/* factor: prints U and D of the inertia matrix M = U D U^T and the articulated inertias for rows of
 * joint positions, and compares U D U^T with M. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/args/arm.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/rows.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/eval/factor.h"

typedef struct {
    const robot_t *robot;
    dyn_arm_f64_t arm;
    evaluator_t *evaluator; /* for M */
    factor_t factor;
    double error; /* largest difference of U D U^T from M, relative to the scales of the joints */
    bool json;
} job_t;

/* Returns how large numbers are on the way to the rows and columns of joint i: the largest inertia,
 * or mass if it is prismatic, of link i and what follows. Rounding errors are relative to it. */
static double scale_of(const job_t *job, uint32_t i, const double *M) {
    const uint32_t n = job->robot->n;
    const int first = job->robot->model.joint[i].type == DYN_PRISMATIC ? 3 : 0;
    double most = M[i * n + i];
    for (int k = first; k < first + 3; k++)
        most = fmax(most, job->factor.articulated[i][k][k]);
    return most;
}

static double difference(const job_t *job, const double *M) {
    const factor_t *f = &job->factor;
    const uint32_t n = f->n;
    double scale[DYN_MAX_JOINTS], most = 0;
    for (uint32_t i = 0; i < n; i++)
        scale[i] = scale_of(job, i, M);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t k = i > j ? i : j; k < n; k++)
                sum += f->U[i][k] * f->D[k] * f->U[j][k];
            const double off = fabs(sum - M[i * n + j]) / sqrt(scale[i]) / sqrt(scale[j]);
            most = isfinite(off) ? fmax(most, off) : HUGE_VAL; /* what is not finite stays seen */
        }
    return most;
}

/* Each of n joints takes the inertias through two rotations and a shift: some hundred roundings. */
static double allowed(const job_t *job) {
    return 100.0 * job->robot->n * DBL_EPSILON;
}

/* ----------------------------------------------------------------------------------------- output */

static void print_matrix(const double *value, size_t stride, uint32_t rows, uint32_t columns) {
    double most = 0;
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++)
            most = fmax(most, fabs(value[r * stride + c]));
    for (uint32_t r = 0; r < rows; r++) {
        out_text(" ");
        for (uint32_t c = 0; c < columns; c++) {
            const double x = value[r * stride + c];
            /* rounding errors are printed as zero; --json has them */
            out_format(" %12.6g", fabs(x) < 1e-14 * most ? 0.0 : x);
        }
        out_text("\n");
    }
}

static void print_text(const job_t *job, const double *q) {
    const factor_t *f = &job->factor;
    out_text("q =");
    for (uint32_t i = 0; i < f->n; i++)
        out_format(" %.9g", q[i]);
    out_text("\nU, upper triangular:\n");
    print_matrix(f->U[0], DYN_MAX_JOINTS, f->n, f->n);
    out_text("D, diagonal:\n");
    print_matrix(f->D, 0, 1, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        out_format("articulated inertia of link %u (%s):\n", (unsigned)i + 1,
                   job->robot->joint[i].name);
        print_matrix(f->articulated[i][0], 6, 6, 6);
    }
    out_format("U D U^T differs from M by %.2g, relative to the inertias of the joints\n\n",
               job->error);
}

static void print_json(const job_t *job, const double *q) {
    const factor_t *f = &job->factor;
    json_begin(NULL);
    json_numbers("q", q, f->n, 17);
    json_list("U");
    for (uint32_t i = 0; i < f->n; i++)
        json_numbers(NULL, f->U[i], f->n, 17);
    json_list_end();
    json_numbers("D", f->D, f->n, 17);
    json_list("articulated");
    for (uint32_t i = 0; i < f->n; i++) {
        json_list(NULL);
        for (int r = 0; r < 6; r++)
            json_numbers(NULL, f->articulated[i][r], 6, 17);
        json_list_end();
    }
    json_list_end();
    json_number("difference", job->error);
    json_end();
}

/* ------------------------------------------------------------------------------------- the rows */

static int compute(job_t *job, const rows_t *rows, const double *q, double *M) {
    uint32_t limited;
    const int status = factor_compute(&job->arm, q, &job->factor);
    if (status != DYN_OK)
        return rows_error(rows, dyn_status_cure(status), "%s", dyn_status_cause(status));
    (void)eval_f64.row(job->evaluator, method_find(PROBLEM_MASS, NULL), q, M, &limited);
    job->error = difference(job, M);
    if (!isfinite(job->error))
        return rows_error(rows, "use smaller numbers", "the result is not a finite number");
    return EXIT_YES;
}

static int run_rows(job_t *job, rows_t *rows) {
    const uint32_t n = job->robot->n;
    double q[DYN_MAX_JOINTS], M[DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    char meaning[40];
    int found, status = EXIT_YES;
    snprintf(meaning, sizeof meaning, "q of %u joint%s", (unsigned)n, n == 1 ? "" : "s");
    if (isatty(rows->file))
        diag_note(NULL, "type rows of %u numbers (%s); control-D ends the input", (unsigned)n,
                  meaning);
    while ((found = rows_next(rows, q, n, meaning)) > 0 && !out_failed()) {
        if (compute(job, rows, q, M) != EXIT_YES)
            return EXIT_BAD;
        if (job->json)
            print_json(job, q);
        else
            print_text(job, q);
        if (job->error > allowed(job)) {
            rows_error(rows,
                       "almost parallel axes cost digits: `appell check` finds them, --parallel "
                       "mends them",
                       "U D U^T differs from M by %.3g, more than %.3g that rounding explains",
                       job->error, allowed(job));
            status = EXIT_NO;
        }
    }
    return found < 0 ? EXIT_BAD : status;
}

static int run_with(const request_t *request, job_t *job) {
    rows_t rows;
    if (rows_open(&rows, request->arguments > 1 ? request->argument[1] : NULL) != EXIT_YES)
        return EXIT_BAD;
    job->json = request_has(request, OPTION_JSON);
    if (job->json) {
        json_begin(NULL);
        json_string("command", "factor");
        json_string("robot", job->robot->name);
        json_list("rows");
    }
    const int status = run_rows(job, &rows);
    if (job->json) {
        json_list_end();
        json_end();
    }
    out_flush();
    rows_close(&rows);
    return status;
}

int cmd_factor(const request_t *request) {
    robot_t *robot = arm_load_rigid(request);
    if (!robot)
        return EXIT_BAD;
    job_t *job = calloc(1, sizeof *job);
    int status = EXIT_BAD, prepared = DYN_OK;
    if (job) {
        job->robot = robot;
        job->evaluator = eval_f64.make(&robot->model, NULL, NULL, &prepared);
        if (prepared == DYN_OK)
            prepared = dyn_prepare_f64(&robot->model, NULL, &job->arm);
    }
    if (!job || !job->evaluator)
        diag_no_memory();
    else if (prepared != DYN_OK)
        diag_error(robot->file, dyn_status_cure(prepared), "%s", dyn_status_cause(prepared));
    else
        status = run_with(request, job);
    if (job && job->evaluator)
        eval_f64.drop(job->evaluator);
    free(job);
    arm_free(robot);
    return status;
}

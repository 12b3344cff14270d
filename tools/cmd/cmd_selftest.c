/* selftest: computes inverse dynamics of random states on a board, and in double precision on the
 * host, and compares the results. A product build uses the kernel of its tick. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/eval/eval.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/progress.h"
#include "tools/args/method.h"
#include "tools/args/remote.h"
#include "tools/cli/diagnostics.h"

typedef struct {
    const robot_t *robot;
    method_id_t method;
    long states;
    uint64_t random;
    double worst, largest; /* largest error and largest result over all states */
    uint32_t least, most;  /* cost of a call, in instructions or cycles */
} job_t;

/* Returns a random number from 0 to 1. */
static double uniform(job_t *job) {
    job->random ^= job->random << 13;
    job->random ^= job->random >> 7;
    job->random ^= job->random << 17;
    return (double)(job->random >> 11) * 0x1p-53;
}

static double between(job_t *job, double low, double high) {
    return low + (high - low) * uniform(job);
}

/* Chooses random q, qd and other inputs of the problem within the limits; without limits, angles
 * within one turn and other values within 1. */
static void random_state(job_t *job, double *in) {
    const dyn_model_t *m = &job->robot->model;
    for (uint32_t i = 0; i < m->n; i++) {
        const dyn_limits_t *l = &m->joint[i].drive.limits;
        const bool bounded = l->position[1] > l->position[0];
        const double v = l->velocity > 0 ? l->velocity : 1;
        const double a = l->acceleration > 0 ? l->acceleration : 1;
        in[i] = bounded ? between(job, l->position[0], l->position[1])
                        : between(job, -3.14159, 3.14159);
        in[m->n + i] = between(job, -v, v);
        in[2 * m->n + i] = between(job, -a, a);
    }
}

static void compare(job_t *job, const double *board, const double *host, size_t count) {
    for (size_t i = 0; i < count; i++) {
        job->worst = fmax(job->worst, fabs(board[i] - host[i]));
        job->largest = fmax(job->largest, fabs(host[i]));
    }
}

static int run_states(job_t *job, remote_t *remote, evaluator_t *host) {
    const problem_t problem = method_table[job->method].problem;
    const uint32_t n = job->robot->n;
    const size_t inputs = problem_inputs(problem, n), outputs = problem_outputs(problem, n);
    double in[3 * DYN_MAX_JOINTS], here[DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    double there[DYN_MAX_JOINTS * DYN_MAX_JOINTS];
    job->least = UINT32_MAX;
    for (long k = 0; k < job->states; k++) {
        uint32_t limited;
        progress_show("states", (uint64_t)k, (uint64_t)job->states);
        random_state(job, in);
        if (remote_row(remote, in, inputs, there, outputs, &limited) != EXIT_YES)
            return board_error(remote->client);
        (void)eval_f64.row(host, job->method, in, here, &limited);
        compare(job, there, here, outputs);
        job->least = remote->cost < job->least ? remote->cost : job->least;
        job->most = remote->cost > job->most ? remote->cost : job->most;
    }
    return EXIT_YES;
}

/* Largest error that is allowed, relative to the largest result. f32 rounds to 24 bits over some
 * hundred operations; the resolution of q31 depends on its units and is coarser. */
static double allowed(const char *real) {
    return !strcmp(real, "f64") ? 1e-6 /* the robot image is in single precision */ : 2e-5;
}

static int report(const request_t *request, const job_t *job, const remote_t *remote) {
    const double relative = job->largest > 0 ? job->worst / job->largest : 0;
    const bool good = relative <= allowed(remote->real);
    const bool instructions = remote->client->device.flags & HELLO_INSTRUCTIONS;
    const char *what = problem_name(method_table[job->method].problem);
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("board", remote->client->device.board);
        json_string("robot", job->robot->name);
        json_string("problem", what);
        json_string("method", method_name(job->method));
        json_string("real", remote->real);
        json_integer("states", job->states);
        json_number("worst_error", job->worst);
        json_number("largest_result", job->largest);
        json_number("relative", relative);
        json_integer(instructions ? "instructions" : "cycles", (long)job->least);
        json_bool("good", good);
        json_end();
    } else {
        out_format(
            "%s: %s of %s, method %s in %s, %ld random states: worst error %.3g, largest result "
            "%.6g, relative error %.2g (%s the limit of %.0g); the cheapest call took %u %s\n",
            remote->client->device.board, what, job->robot->name, method_name(job->method),
            remote->real, job->states, job->worst, job->largest, relative,
            good ? "within" : "ABOVE", allowed(remote->real), (unsigned)job->least,
            instructions ? "instructions" : "cycles");
    }
    return good ? EXIT_YES : EXIT_NO;
}

static int selftest(const request_t *request, job_t *job) {
    remote_t remote;
    int prepared = DYN_OK;
    const bool lab = !method_generated(job->method) &&
                     (request_has(request, OPTION_METHOD) || request_has(request, OPTION_REAL));
    int status = remote_open(request, job->robot, job->method, request->value[OPTION_REAL], NULL,
                             lab, &remote);
    evaluator_t *host =
        status == EXIT_YES ? eval_f64.make(&job->robot->model, NULL, NULL, &prepared) : NULL;
    if (status == EXIT_YES && (!host || prepared != DYN_OK))
        status = diag_error(job->robot->file, "see `appell check`",
                            "the constants of this arm cannot be prepared");
    if (status == EXIT_YES)
        status = run_states(job, &remote, host);
    if (status == EXIT_YES)
        status = report(request, job, &remote);
    if (host)
        eval_f64.drop(host);
    remote_close(&remote);
    return status;
}

int cmd_selftest(const request_t *request) {
    job_t job = {.states = 100, .random = 1};
    long seed = 1;
    request_t load = *request;
    if (request_has(request, OPTION_TIMES) &&
        request_integer(request, OPTION_TIMES, 1, 1000000, &job.states) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_SEED) &&
        request_integer(request, OPTION_SEED, 1, 1000000000, &seed) != EXIT_YES)
        return EXIT_BAD;
    job.random = (uint64_t)seed * 0x9e3779b97f4a7c15u;
    job.method = method_find(PROBLEM_ID, request->value[OPTION_METHOD]);
    if (job.method >= METHOD_COUNT)
        return method_unknown(PROBLEM_ID, request->value[OPTION_METHOD]);
    if (load.arguments == 0)
        load.argument[load.arguments++] = "puma560";
    robot_t *robot = arm_load_rigid(&load);
    if (!robot)
        return EXIT_BAD;
    job.robot = robot;
    const int status = selftest(request, &job);
    arm_free(robot);
    return status;
}

/* sim: runs a simulation that its options describe (read in cmd_sim_options.c), and writes rows,
 * plots and animations. Without such options it starts the interactive program of tools/shell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/args/arm.h"
#include "tools/args/method.h"
#include "tools/cli/file.h"
#include "tools/cli/gnuplot.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/commands.h"
#include "tools/cmd/cmd_sim.h"
#include "tools/shell/shell.h"
#include "tools/sim/elastic.h"
#include "tools/sim/output/output_bent.h"
#include "tools/sim/rigid.h"
#include "tools/sim/session.h"

/* Any of these options makes the run non-interactive. They say what to simulate, how, and what to
 * write; the interactive program has its own commands for that. */
static const option_id_t *const batch = OPTIONS(
    OPTION_DURATION, OPTION_MOTION, OPTION_MOVE, OPTION_TORQUE, OPTION_VOLTAGE, OPTION_OUTPUT,
    OPTION_PLOT, OPTION_ANIMATE, OPTION_JSON, OPTION_STOPS, OPTION_INTEGRATOR, OPTION_STEP,
    OPTION_TOLERANCE, OPTION_PERIOD, OPTION_SAMPLE, OPTION_START, OPTION_SPEED, OPTION_VOLTS,
    OPTION_WRENCH, OPTION_BENT, OPTION_CONTROLLER);

static void print_joints(const char *what, const double *value, uint32_t n) {
    out_format("  %-24s", what);
    for (uint32_t i = 0; i < n; i++)
        out_format(" %.9g", value[i]);
    out_text("\n");
}

static const char *method_of(const sim_job_t *job) {
    return job->elastic ? "flex" : method_name(job->method);
}

static void print_summary(const sim_job_t *job) {
    const sim_record_t *r = &job->record;
    const sim_row_t first = sim_record_row(r, 0), last = sim_record_row(r, r->rows - 1);
    const struct {
        const char *name;
        double begin, end;
    } rows[] = {{"kinetic", first.kinetic, last.kinetic},
                {"potential", first.potential, last.potential},
                {"work of the motors", 0, last.motor},
                {"lost to friction", 0, last.friction},
                {"work at the end effector", 0, last.effector},
                {"lost in the stops", 0, last.stops}};
    out_format("%s: %.9g s with %s, ", job->robot->name, last.t, job->options.integrator->name);
    if (job->options.tolerance > 0)
        out_format("tolerance %g", job->options.tolerance);
    else
        out_format("steps of %g s", job->options.step_s);
    out_format(", forward dynamics %s\n", method_of(job));
    out_format("  %lu steps, %lu rejected, %lu evaluations, %.3f s of processor time, %zu rows\n",
               job->steps, job->rejected, job->evaluations, job->processor_s, r->rows);
    print_joints("position at the end", last.q, r->n);
    print_joints("speed at the end", last.qd, r->n);
    out_format("  %-24s %15s %15s\n", "energy in J", "at the start", "at the end");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (i < 2 || rows[i].end != 0)
            out_format("  %-24s %15.9g %15.9g\n", rows[i].name, rows[i].begin, rows[i].end);
    const double kinetic = session_kinetic(r), balance = session_balance(r);
    out_format("  energy balance: wrong by at most %.3g J", balance);
    if (kinetic > 0)
        out_format(", which is %.3g times the largest kinetic energy", balance / kinetic);
    out_text("\n");
    if (job->impacts > 0)
        out_format("  joints hit their stops %lu time%s\n", job->impacts,
                   job->impacts == 1 ? "" : "s");
}

static void print_json(const sim_job_t *job) {
    const sim_record_t *r = &job->record;
    const sim_row_t last = sim_record_row(r, r->rows - 1);
    json_begin(NULL);
    json_string("command", "sim");
    json_string("robot", job->robot->name);
    json_string("method", method_of(job));
    json_string("integrator", job->options.integrator->name);
    json_number("t", last.t);
    json_integer("rows", (long)r->rows);
    json_integer("steps", (long)job->steps);
    json_integer("rejected", (long)job->rejected);
    json_integer("evaluations", (long)job->evaluations);
    json_integer("impacts", (long)job->impacts);
    json_number("processor_s", job->processor_s);
    json_numbers("q", last.q, r->n, 17);
    json_numbers("qd", last.qd, r->n, 17);
    json_number("kinetic", last.kinetic);
    json_number("potential", last.potential);
    json_number("work_motors", last.motor);
    json_number("lost_friction", last.friction);
    json_number("work_effector", last.effector);
    json_number("lost_stops", last.stops);
    json_number("kinetic_most", session_kinetic(r));
    json_number("balance_most", session_balance(r));
    json_end();
}

static bool is_csv(const char *path) {
    const char *ending = strrchr(path, '.');
    return ending && !strcmp(ending, ".csv");
}

/* Checks before the run that its outputs can be written. */
static int check_outputs(const request_t *request) {
    const char *rows = request->value[OPTION_OUTPUT], *bent = request->value[OPTION_BENT];
    if (rows && strcmp(rows, "-") != 0 && file_check(rows) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_PLOT) && gnuplot_check(request->value[OPTION_PLOT]) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_ANIMATE) &&
        file_check(request->value[OPTION_ANIMATE]) != EXIT_YES)
        return EXIT_BAD;
    if (bent)
        return is_csv(bent) ? file_check(bent) : gnuplot_check(bent);
    return EXIT_YES;
}

static int keep_bent(const sim_job_t *job, const output_names_t *names, const char *path) {
    if (is_csv(path))
        return output_bent_csv(job->arm, &job->record, path);
    return output_bent_plot(job->arm, &job->record, names, path);
}

static int keep(const sim_job_t *job) {
    const request_t *request = job->request;
    const char *rows = request->value[OPTION_OUTPUT];
    output_names_t names;
    int status = EXIT_YES;
    if (job->elastic)
        output_elastic_names(&names, job->robot, &job->flex);
    else
        output_names(&names, job->robot);
    if (rows)
        status = output_csv(&job->record, &names, rows);
    if (status == EXIT_YES && request_has(request, OPTION_PLOT))
        status = output_plot(&job->record, &names, request->value[OPTION_PLOT]);
    if (status == EXIT_YES && request_has(request, OPTION_ANIMATE))
        status = output_animation(job->arm, &job->record, &names, request->value[OPTION_ANIMATE]);
    if (status == EXIT_YES && request_has(request, OPTION_BENT))
        status = keep_bent(job, &names, request->value[OPTION_BENT]);
    if (rows && !strcmp(rows, "-"))
        return status;
    if (request_has(request, OPTION_JSON))
        print_json(job);
    else
        print_summary(job);
    return status;
}

static void note_limited(const sim_job_t *job) {
    for (uint32_t i = 0; i < job->arm->joints; i++)
        if (job->limited >> i & 1)
            diag_note(NULL, "joint %s: the supply of %g V limited the voltage",
                      job->robot->joint[i].name, job->robot->model.joint[i].drive.motor.voltage);
}

static int simulate(sim_job_t *job) {
    sim_t *sim = sim_make(job->arm, &job->source.input, &job->pull.wrench, &job->options);
    if (!sim)
        return diag_no_memory();
    const clock_t before = clock();
    sim_set(sim, job->q, job->qd);
    const int status = session_run(sim, job->duration_s, &job->record);
    job->processor_s = (double)(clock() - before) / CLOCKS_PER_SEC;
    job->steps = sim_steps(sim);
    job->rejected = sim_rejected(sim);
    job->evaluations = sim_evaluations(sim);
    job->impacts = sim_impacts(sim);
    job->limited = sim_limited(sim);
    const double t = sim_time(sim);
    sim_free(sim);
    int kept = EXIT_YES;
    if (job->record.rows > 0)
        kept = keep(job);
    out_flush();
    if (!request_has(job->request, OPTION_QUIET))
        note_limited(job);
    const char *cure = NULL;
    const char *fault = job->firmware ? firmware_fault(job->firmware, &cure) : NULL;
    if (fault)
        return diag_error(NULL, cure, "the firmware's controller stopped: %s", fault);
    if (status == SIM_STOPPED) {
        diag_note(NULL, "interrupted at %.6g of %g s; the results until then are kept", t,
                  job->duration_s);
        return kept == EXIT_YES ? EXIT_NO : kept;
    }
    if (status != SIM_OK)
        return diag_error(NULL, "use shorter steps (--step), or a --tolerance with rk45 or rk56",
                          "at %.6g s: %s", t, sim_status_text(status));
    return kept;
}

static int run_batch(sim_job_t *job) {
    int prepared;
    if (job->elastic && arm_flex(job->request, job->robot, &job->flex) != EXIT_YES)
        return EXIT_BAD;
    job->arm = job->elastic ? elastic_make(job->robot, &job->flex, &prepared)
                            : rigid_make(&job->robot->model, job->method, &prepared);
    if (!job->arm)
        return diag_error(job->robot->file, "see `appell check`", "%s", sim_status_text(prepared));
    int status = sim_take_options(job);
    if (status == EXIT_YES)
        status = check_outputs(job->request);
    if (status == EXIT_YES)
        status = simulate(job);
    source_free(&job->source);
    firmware_free(job->firmware);
    pull_free(&job->pull);
    motion_free(&job->motion);
    sim_record_free(&job->record);
    if (job->elastic)
        elastic_free(job->arm);
    else
        rigid_free(job->arm);
    return status;
}

static int choose_method(sim_job_t *job) {
    const char *name = job->request->value[OPTION_METHOD];
    if (job->elastic) {
        if (!name || !strcmp(name, "flex"))
            return EXIT_YES;
        return diag_error(NULL, "leave out --method, or compute with stiff links: --rigid",
                          "for elastic links the only method is flex, not '%s'", name);
    }
    job->method = method_find(PROBLEM_FD, name);
    if (job->method < METHOD_COUNT)
        return EXIT_YES;
    return method_unknown(PROBLEM_FD, name);
}

int cmd_sim(const request_t *request) {
    if (request_has_any(request, batch) && request_has(request, OPTION_SCRIPT))
        return diag_error(
            NULL, "put the options into the script as commands",
            "--script cannot be used together with options of a run, such as --duration");
    robot_t *robot = arm_load_compute(request);
    if (!robot)
        return EXIT_BAD;
    sim_job_t *job = calloc(1, sizeof *job);
    if (!job) {
        arm_free(robot);
        return diag_no_memory();
    }
    job->request = request;
    job->robot = robot;
    job->elastic = arm_elastic(request, robot);
    int status = EXIT_BAD;
    if (!job->elastic && (request_has(request, OPTION_BENT) || request_has(request, OPTION_LINEAR)))
        diag_error(robot->file, "leave the option out",
                   "--bent and --linear are for elastic links; this arm has none%s",
                   robot->elastic ? " with --rigid" : "");
    else if (robot->shapes_lost && request_has(request, OPTION_BENT))
        diag_error(robot->file, "use the robot file that contains the mode shapes",
                   "--bent needs the mode shapes, but an image does not contain shapes that were "
                   "given as tables");
    else if (choose_method(job) != EXIT_YES)
        status = EXIT_BAD;
    else if (request_has_any(request, batch))
        status = run_batch(job);
    else if (job->elastic)
        diag_error(robot->file, "give --duration, or compute with stiff links: --rigid",
                   "the interactive program is for rigid links; this arm has elastic links");
    else {
        const method_id_t method = job->method;
        free(job);
        return shell_run(request, robot, method);
    }
    free(job);
    arm_free(robot);
    return status;
}

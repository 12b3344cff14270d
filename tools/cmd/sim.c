/* sim: the simulator by options; the interactive program is in tools/sim/shell.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/args/arm.h"
#include "tools/cmd/commands.h"
#include "tools/cli/file.h"
#include "tools/cli/gnuplot.h"
#include "tools/cli/json.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/say.h"
#include "tools/sim/elastic.h"
#include "tools/sim/firmware.h"
#include "tools/sim/rigid.h"
#include "tools/sim/session.h"
#include "tools/sim/shell.h"

typedef struct {
    const request_t *request;
    const robot_t *robot;
    method_id_t method;
    bool elastic;
    dyn_flex_model_t flex;
    sim_arm_t *arm;
    sim_options_t options;
    double duration_s;
    double q[SIM_COORDINATES_MAX], qd[SIM_COORDINATES_MAX];
    sim_motion_t motion;
    source_t source;
    firmware_t *firmware;
    pull_t pull;
    sim_record_t record;
    double processor_s;
    unsigned long steps, rejected, evaluations, impacts;
    uint32_t limited;
} job_t;

/* Options with which the command line alone says what to do. Those that say how and what to keep
 * would have no meaning for the interactive program. */
static const option_id_t *const batch = OPTIONS(
    OPTION_DURATION, OPTION_MOTION, OPTION_MOVE, OPTION_TORQUE, OPTION_VOLTAGE, OPTION_OUTPUT,
    OPTION_PLOT, OPTION_ANIMATE, OPTION_JSON, OPTION_STOPS, OPTION_INTEGRATOR, OPTION_STEP,
    OPTION_TOLERANCE, OPTION_HOLD, OPTION_SAMPLE, OPTION_START, OPTION_SPEED, OPTION_VOLTS,
    OPTION_WRENCH, OPTION_BENT, OPTION_CONTROLLER);

/* A number greater than zero, where the option is given. */
static int take_positive(const request_t *request, option_id_t option, double *value) {
    if (!request_has(request, option))
        return EXIT_YES;
    if (request_list(request, option, value, 1, 1, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (*value > 0)
        return EXIT_YES;
    return say_error(NULL, "write a number above zero", "--%s: %g is not possible",
                     option_table[option].name, *value);
}

static int take_integrator(job_t *job) {
    const request_t *request = job->request;
    const char *name = request->value[OPTION_INTEGRATOR];
    sim_options_t *o = &job->options;
    o->integrator = name ? rk_find(name) : rk_methods;
    if (!o->integrator)
        return say_error(NULL, "choose one of: rk3, rk4, rk45, rk56", "there is no integrator '%s'",
                         name);
    o->step_s = 0.001;
    if (take_positive(request, OPTION_STEP, &o->step_s) != EXIT_YES ||
        take_positive(request, OPTION_TOLERANCE, &o->tolerance) != EXIT_YES)
        return EXIT_BAD;
    if (o->tolerance > 0 && !o->integrator->estimates)
        return say_error(NULL, "choose rk45 or rk56, or --step", "%s knows no --tolerance",
                         o->integrator->name);
    if (o->tolerance > 0 && request_has(request, OPTION_STEP))
        return say_error(NULL, "leave one of them out",
                         "--step asks for fixed steps, --tolerance for chosen ones");
    if (o->integrator->estimates && !request_has(request, OPTION_STEP) && !(o->tolerance > 0))
        o->tolerance = 1e-9;
    return EXIT_YES;
}

/* One source at most. */
static int take_one_source(const request_t *request) {
    static const option_id_t sources[] = {OPTION_TORQUE, OPTION_VOLTAGE, OPTION_MOTION,
                                          OPTION_MOVE};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (!request_has(request, sources[i]))
            continue;
        if (first)
            return say_error(NULL, "leave one of them out", "--%s and --%s both drive the arm",
                             first, option_table[sources[i]].name);
        first = option_table[sources[i]].name;
    }
    if (request_has(request, OPTION_VOLTS) && !request_has(request, OPTION_MOTION) &&
        !request_has(request, OPTION_MOVE))
        return say_error(NULL, "give --motion or --move", "--volts are those of a motion");
    if (request_has(request, OPTION_MOVE) && !request_has(request, OPTION_DURATION))
        return say_error(NULL, "give --duration", "--move needs a time to move in");
    return EXIT_YES;
}

/* Constants or a file: what exists as a file is one. */
static bool names_file(const request_t *request, option_id_t option) {
    double number;
    const char *text = request->value[option];
    return access(text, F_OK) == 0 || !number_scan(text + strspn(text, " \t"), &number);
}

static int take_drive(job_t *job, option_id_t option, sim_quantity_t quantity) {
    const request_t *request = job->request;
    double value[DYN_MAX_JOINTS];
    if (names_file(request, option))
        return source_schedule(&job->source, quantity, job->arm->joints, request->value[option],
                               job->options.hold_s);
    if (request_list(request, option, value, job->arm->joints, job->arm->joints, NULL) != EXIT_YES)
        return EXIT_BAD;
    source_constant(&job->source, quantity, job->arm->joints, value);
    return EXIT_YES;
}

static int take_motion(job_t *job) {
    const request_t *request = job->request;
    const uint32_t n = job->arm->joints, *at = job->arm->coordinate;
    double from[DYN_MAX_JOINTS], to[DYN_MAX_JOINTS], qdd[SIM_COORDINATES_MAX];
    int status;
    for (uint32_t i = 0; i < n; i++)
        from[i] = job->q[at[i]];
    if (request_has(request, OPTION_MOTION)) {
        status = motion_read(&job->motion, request->value[OPTION_MOTION], n);
    } else {
        status = request_list(request, OPTION_MOVE, to, n, n, NULL);
        if (status == EXIT_YES)
            status = motion_cycloid(&job->motion, n, from, to, job->duration_s);
    }
    if (status != EXIT_YES)
        return status;
    double q[SIM_COORDINATES_MAX], qd[SIM_COORDINATES_MAX];
    motion_at(&job->motion, 0, q, qd, qdd);
    for (uint32_t i = 0; i < n; i++) {
        if (!request_has(request, OPTION_START))
            job->q[at[i]] = q[i];
        if (!request_has(request, OPTION_SPEED))
            job->qd[at[i]] = qd[i];
    }
    if (job->elastic && !request_has(request, OPTION_START))
        elastic_settle(job->arm, job->q);
    source_motion(&job->source, request_has(request, OPTION_VOLTS) ? SIM_VOLTAGE : SIM_TORQUE,
                  job->arm, &job->motion, &job->pull.wrench);
    return EXIT_YES;
}

/* The loop is closed: the source is asked with the positions of the arm. */
static int take_controller(job_t *job) {
    const request_t *request = job->request;
    const uint32_t n = job->arm->joints;
    double to[DYN_MAX_JOINTS];
    if (strcmp(request->value[OPTION_CONTROLLER], "firmware") != 0)
        return say_error(NULL, "write --controller firmware", "there is no controller '%s'",
                         request->value[OPTION_CONTROLLER]);
    if (!request_has(request, OPTION_MOVE) || request_has(request, OPTION_VOLTS) ||
        request_has(request, OPTION_HOLD))
        return say_error(NULL, "give --move and --duration; the robot's rate is the hold",
                         "--controller goes with --move, without --volts and --hold");
    if (request_list(request, OPTION_MOVE, to, n, n, NULL) != EXIT_YES)
        return EXIT_BAD;
    job->firmware =
        firmware_make(job->robot, to, job->duration_s, &job->source.input, &job->options.hold_s);
    return job->firmware ? EXIT_YES : EXIT_BAD;
}

static int take_source(job_t *job) {
    const request_t *request = job->request;
    if (request_has(request, OPTION_CONTROLLER))
        return take_controller(job);
    if (request_has(request, OPTION_VOLTAGE) || request_has(request, OPTION_VOLTS))
        if (arm_need_motors(job->robot) != EXIT_YES)
            return EXIT_BAD;
    if (request_has(request, OPTION_TORQUE))
        return take_drive(job, OPTION_TORQUE, SIM_TORQUE);
    if (request_has(request, OPTION_VOLTAGE))
        return take_drive(job, OPTION_VOLTAGE, SIM_VOLTAGE);
    if (request_has(request, OPTION_MOTION) || request_has(request, OPTION_MOVE))
        return take_motion(job);
    source_constant(&job->source, SIM_TORQUE, job->arm->joints, NULL);
    return EXIT_YES;
}

static int take_wrench(job_t *job) {
    const request_t *request = job->request;
    double wrench[6];
    if (!request_has(request, OPTION_WRENCH))
        return EXIT_YES;
    if (names_file(request, OPTION_WRENCH))
        return pull_schedule(&job->pull, request->value[OPTION_WRENCH]);
    if (request_list(request, OPTION_WRENCH, wrench, 6, 6, NULL) != EXIT_YES)
        return EXIT_BAD;
    pull_constant(&job->pull, wrench);
    return EXIT_YES;
}

/* Of all coordinates, or of the joints alone. */
static int take_state(const job_t *job, option_id_t option, double *value, bool *joints) {
    const sim_arm_t *arm = job->arm;
    double given[SIM_COORDINATES_MAX];
    size_t count = 0;
    if (request_list(job->request, option, given, arm->joints, arm->n, &count) != EXIT_YES)
        return EXIT_BAD;
    *joints = count == arm->joints && arm->joints < arm->n;
    if (count != arm->joints && count != arm->n)
        return say_error(NULL, "give them of the joints, or of all coordinates",
                         "--%s: %zu numbers for %u joints and %u coordinates",
                         option_table[option].name, count, (unsigned)arm->joints, (unsigned)arm->n);
    for (uint32_t i = 0; i < count; i++)
        value[*joints ? arm->coordinate[i] : i] = given[i];
    return EXIT_YES;
}

static int take_start(job_t *job) {
    const request_t *request = job->request;
    bool joints = true;
    if (request_has(request, OPTION_START) &&
        take_state(job, OPTION_START, job->q, &joints) != EXIT_YES)
        return EXIT_BAD;
    if (job->elastic && joints)
        elastic_settle(job->arm, job->q);
    if (request_has(request, OPTION_SPEED) &&
        take_state(job, OPTION_SPEED, job->qd, &joints) != EXIT_YES)
        return EXIT_BAD;
    return EXIT_YES;
}

/* A joint that starts behind its stop would never come back. */
static int start_within_stops(const job_t *job) {
    for (uint32_t i = 0; i < job->arm->joints && job->options.stops; i++) {
        const double *l = job->arm->limit[i], at = job->q[job->arm->coordinate[i]];
        if (l[1] > l[0] && (at < l[0] || at > l[1]))
            return say_error(NULL, "start within the limits (--start), or leave out --stops",
                             "joint %s starts at %g, behind its stops at %g and %g",
                             job->robot->joint[i].name, at, l[0], l[1]);
    }
    return EXIT_YES;
}

static int take_duration(job_t *job) {
    if (request_has(job->request, OPTION_DURATION))
        return EXIT_YES;
    if (request_has(job->request, OPTION_MOTION))
        job->duration_s = motion_end(&job->motion);
    else if (source_end(&job->source) > 0)
        job->duration_s = source_end(&job->source);
    else
        return say_error(NULL, "give --duration", "how long is to be simulated?");
    if (job->duration_s > 0)
        return EXIT_YES;
    return say_error(NULL, "give --duration", "the motion ends at %g s", job->duration_s);
}

static int take_options(job_t *job) {
    const request_t *request = job->request;
    sim_options_t *o = &job->options;
    o->sample_s = job->elastic ? 0.001 : 0.01; /* beams vibrate at some hundred hertz */
    o->stops = request_has(request, OPTION_STOPS);
    o->stop = session_stop;
    if (take_integrator(job) != EXIT_YES || take_one_source(request) != EXIT_YES ||
        take_positive(request, OPTION_DURATION, &job->duration_s) != EXIT_YES ||
        take_positive(request, OPTION_HOLD, &o->hold_s) != EXIT_YES ||
        take_positive(request, OPTION_SAMPLE, &o->sample_s) != EXIT_YES ||
        take_start(job) != EXIT_YES || take_wrench(job) != EXIT_YES ||
        take_source(job) != EXIT_YES || take_duration(job) != EXIT_YES)
        return EXIT_BAD;
    if (job->duration_s / o->sample_s > 1e7 || job->duration_s / o->step_s > 1e10)
        return say_error(NULL, "a longer --sample, or a longer --step",
                         "%g s are too long for rows every %g s", job->duration_s, o->sample_s);
    return start_within_stops(job);
}

/* ---------------------------------------------------------------------------------------- summary
 */

static void print_joints(const char *what, const double *value, uint32_t n) {
    out_format("  %-22s", what);
    for (uint32_t i = 0; i < n; i++)
        out_format(" %.9g", value[i]);
    out_text("\n");
}

static const char *method_of(const job_t *job) {
    return job->elastic ? "flex" : method_name(job->method);
}

static void print_summary(const job_t *job) {
    const sim_record_t *r = &job->record;
    const sim_row_t first = sim_record_row(r, 0), last = sim_record_row(r, r->rows - 1);
    const struct {
        const char *name;
        double begin, end;
    } rows[] = {
        {"kinetic", first.kinetic, last.kinetic}, {"potential", first.potential, last.potential},
        {"work of the motors", 0, last.motor},    {"lost to friction", 0, last.friction},
        {"work at the hand", 0, last.hand},       {"lost in the stops", 0, last.stops}};
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
    out_format("  %-22s %15s %15s\n", "energy in J", "at the start", "at the end");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (i < 2 || rows[i].end != 0)
            out_format("  %-22s %15.9g %15.9g\n", rows[i].name, rows[i].begin, rows[i].end);
    const double kinetic = session_kinetic(r), balance = session_balance(r);
    out_format("  balance: off by %.3g J at most", balance);
    if (kinetic > 0)
        out_format(", %.3g of the largest kinetic energy", balance / kinetic);
    out_text("\n");
    if (job->impacts > 0)
        out_format("  stops were hit %lu time%s\n", job->impacts, job->impacts == 1 ? "" : "s");
}

static void print_json(const job_t *job) {
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
    json_number("work_hand", last.hand);
    json_number("lost_stops", last.stops);
    json_number("kinetic_most", session_kinetic(r));
    json_number("balance_most", session_balance(r));
    json_end();
}

/* ---------------------------------------------------------------------------------------- the run
 */

static bool is_csv(const char *path) {
    const char *ending = strrchr(path, '.');
    return ending && !strcmp(ending, ".csv");
}

/* What cannot be kept is known before the run, not after it. */
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

static int keep_bent(const job_t *job, const output_names_t *names, const char *path) {
    if (is_csv(path))
        return elastic_csv(job->arm, &job->record, path);
    return elastic_plot(job->arm, &job->record, names, path);
}

static int keep(const job_t *job) {
    const request_t *request = job->request;
    const char *rows = request->value[OPTION_OUTPUT];
    output_names_t names;
    int status = EXIT_YES;
    if (job->elastic)
        elastic_names(&names, job->robot, &job->flex);
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

static void note_limited(const job_t *job) {
    for (uint32_t i = 0; i < job->arm->joints; i++)
        if (job->limited >> i & 1)
            say_note(NULL, "joint %s: its supply of %g V limited the voltage",
                     job->robot->joint[i].name, job->robot->model.joint[i].drive.motor.voltage);
}

static int simulate(job_t *job) {
    sim_t *sim = sim_make(job->arm, &job->source.input, &job->pull.wrench, &job->options);
    if (!sim)
        return say_no_memory();
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
        return say_error(NULL, cure, "the firmware gave up: %s", fault);
    if (status == SIM_STOPPED) {
        say_note(NULL, "interrupted at %.6g of %g s; what was computed until then is kept", t,
                 job->duration_s);
        return kept == EXIT_YES ? EXIT_NO : kept;
    }
    if (status != SIM_OK)
        return say_error(NULL, "shorter steps (--step), or a --tolerance with rk45 or rk56",
                         "at %.6g s: %s", t, sim_status_text(status));
    return kept;
}

static int run_batch(job_t *job) {
    int prepared;
    if (job->elastic && arm_flex(job->request, job->robot, &job->flex) != EXIT_YES)
        return EXIT_BAD;
    job->arm = job->elastic ? elastic_make(job->robot, &job->flex, &prepared)
                            : rigid_make(&job->robot->model, job->method, &prepared);
    if (!job->arm)
        return say_error(job->robot->file, "`appell check` says more", "%s",
                         sim_status_text(prepared));
    int status = take_options(job);
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

static int choose_method(job_t *job) {
    const char *name = job->request->value[OPTION_METHOD];
    if (job->elastic) {
        if (!name || !strcmp(name, "flex"))
            return EXIT_YES;
        return say_error(NULL, "leave out --method, or take the links as stiff with --rigid",
                         "for elastic links there is the method flex alone, not '%s'", name);
    }
    job->method = method_find(PROBLEM_FD, name);
    if (job->method < METHOD_COUNT)
        return EXIT_YES;
    char list[200], cure[240];
    method_list(PROBLEM_FD, list, sizeof list);
    snprintf(cure, sizeof cure, "choose one of: %s", list);
    return say_error(NULL, cure, "there is no method '%s' for fd", name);
}

int sim_command_run(const request_t *request) {
    if (request_has_any(request, batch) && request_has(request, OPTION_SCRIPT))
        return say_error(NULL, "put what they say into the script",
                         "options for a run, and a --script");
    robot_t *robot = arm_load_compute(request);
    if (!robot)
        return EXIT_BAD;
    job_t *job = calloc(1, sizeof *job);
    if (!job) {
        arm_free(robot);
        return say_no_memory();
    }
    job->request = request;
    job->robot = robot;
    job->elastic = arm_elastic(request, robot);
    int status = EXIT_BAD;
    if (!job->elastic && (request_has(request, OPTION_BENT) || request_has(request, OPTION_LINEAR)))
        say_error(robot->file, "leave the option out",
                  "--bent and --linear are for elastic links, this arm has none");
    else if (robot->shapes_lost && request_has(request, OPTION_BENT))
        say_error(robot->file, "take the robot file that has them",
                  "--bent needs the mode shapes: they were tables, which an image does not hold");
    else if (choose_method(job) != EXIT_YES)
        status = EXIT_BAD;
    else if (request_has_any(request, batch))
        status = run_batch(job);
    else if (job->elastic)
        say_error(robot->file, "give --duration, or take the links as stiff with --rigid",
                  "the interactive program is for rigid links, this arm has elastic ones");
    else {
        const method_id_t method = job->method;
        free(job);
        return shell_run(request, robot, method);
    }
    free(job);
    arm_free(robot);
    return status;
}

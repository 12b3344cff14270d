/* Reads the options of `appell sim`, for tools/cmd/cmd_sim.h. */
#include <string.h>
#include <unistd.h>

#include "tools/args/arm.h"
#include "tools/cli/number.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/cmd_sim.h"
#include "tools/sim/elastic.h"
#include "tools/sim/session.h"

/* Reads a number greater than zero if the option is given. */
static int take_positive(const request_t *request, option_id_t option, double *value) {
    if (!request_has(request, option))
        return EXIT_YES;
    if (request_list(request, option, value, 1, 1, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (*value > 0)
        return EXIT_YES;
    return diag_error(NULL, "write a number above zero", "--%s: %g is not possible",
                      option_table[option].name, *value);
}

static int take_integrator(sim_job_t *job) {
    const request_t *request = job->request;
    const char *name = request->value[OPTION_INTEGRATOR];
    sim_options_t *o = &job->options;
    o->integrator = name ? rk_find(name) : rk_methods;
    if (!o->integrator)
        return diag_error(NULL, "choose one of: rk3, rk4, rk45, rk56",
                          "there is no integrator '%s'", name);
    o->step_s = 0.001;
    if (take_positive(request, OPTION_STEP, &o->step_s) != EXIT_YES ||
        take_positive(request, OPTION_TOLERANCE, &o->tolerance) != EXIT_YES)
        return EXIT_BAD;
    if (o->tolerance > 0 && !o->integrator->estimates)
        return diag_error(NULL, "choose rk45 or rk56, or give --step instead of --tolerance",
                          "%s does not estimate its error, so it cannot meet a --tolerance",
                          o->integrator->name);
    if (o->tolerance > 0 && request_has(request, OPTION_STEP))
        return diag_error(NULL, "leave one of them out",
                          "--step asks for fixed steps, --tolerance for variable ones");
    if (o->integrator->estimates && !request_has(request, OPTION_STEP) && !(o->tolerance > 0))
        o->tolerance = 1e-9;
    return EXIT_YES;
}

/* Checks that at most one option gives the source of torques or voltages. */
static int take_one_source(const request_t *request) {
    static const option_id_t sources[] = {OPTION_TORQUE, OPTION_VOLTAGE, OPTION_MOTION,
                                          OPTION_MOVE};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (!request_has(request, sources[i]))
            continue;
        if (first)
            return diag_error(NULL, "leave one of them out",
                              "--%s and --%s cannot both drive the arm", first,
                              option_table[sources[i]].name);
        first = option_table[sources[i]].name;
    }
    if (request_has(request, OPTION_VOLTS) && !request_has(request, OPTION_MOTION) &&
        !request_has(request, OPTION_MOVE))
        return diag_error(NULL, "give --motion or --move", "--volts needs a motion");
    if (request_has(request, OPTION_MOVE) && !request_has(request, OPTION_DURATION))
        return diag_error(NULL, "give --duration", "--move needs a duration");
    return EXIT_YES;
}

/* The value of --torque, --voltage or --wrench is a file name or a list of constants. True if a
 * file of this name exists or if the text does not begin with a number. */
static bool names_file(const request_t *request, option_id_t option) {
    double number;
    const char *text = request->value[option];
    return access(text, F_OK) == 0 || !number_scan(text + strspn(text, " \t"), &number);
}

static int take_drive(sim_job_t *job, option_id_t option, sim_quantity_t quantity) {
    const request_t *request = job->request;
    double value[DYN_MAX_JOINTS];
    if (names_file(request, option))
        return source_schedule(&job->source, quantity, job->arm->joints, request->value[option],
                               job->options.period_s);
    if (request_list(request, option, value, job->arm->joints, job->arm->joints, NULL) != EXIT_YES)
        return EXIT_BAD;
    source_constant(&job->source, quantity, job->arm->joints, value);
    return EXIT_YES;
}

static int take_motion(sim_job_t *job) {
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

/* Closes the control loop: the firmware reads the positions of the simulated arm and drives it. */
static int take_controller(sim_job_t *job) {
    const request_t *request = job->request;
    const uint32_t n = job->arm->joints;
    double to[DYN_MAX_JOINTS];
    if (strcmp(request->value[OPTION_CONTROLLER], "firmware") != 0)
        return diag_error(NULL, "write --controller firmware", "there is no controller '%s'",
                          request->value[OPTION_CONTROLLER]);
    if (!request_has(request, OPTION_MOVE) || request_has(request, OPTION_VOLTS) ||
        request_has(request, OPTION_PERIOD))
        return diag_error(NULL, "give --move and --duration; the robot's rate sets the period",
                          "--controller needs --move and takes neither --volts nor --period");
    if (request_list(request, OPTION_MOVE, to, n, n, NULL) != EXIT_YES)
        return EXIT_BAD;
    job->firmware =
        firmware_make(job->robot, to, job->duration_s, &job->source.input, &job->options.period_s);
    return job->firmware ? EXIT_YES : EXIT_BAD;
}

static int take_source(sim_job_t *job) {
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

static int take_wrench(sim_job_t *job) {
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

/* Reads the values of all coordinates, or of the joints alone; in that case *joints is true. */
static int take_state(const sim_job_t *job, option_id_t option, double *value, bool *joints) {
    const sim_system_t *arm = job->arm;
    double given[SIM_COORDINATES_MAX];
    size_t count = 0;
    if (request_list(job->request, option, given, arm->joints, arm->n, &count) != EXIT_YES)
        return EXIT_BAD;
    *joints = count == arm->joints && arm->joints < arm->n;
    if (count != arm->joints && count != arm->n)
        return diag_error(NULL, "give one number for each joint, or one for each coordinate",
                          "--%s: got %zu numbers; the arm has %u joints and %u coordinates",
                          option_table[option].name, count, (unsigned)arm->joints,
                          (unsigned)arm->n);
    for (uint32_t i = 0; i < count; i++)
        value[*joints ? arm->coordinate[i] : i] = given[i];
    return EXIT_YES;
}

static int take_start(sim_job_t *job) {
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

/* Refuses a start beyond a joint stop, because such a joint would never return. */
static int start_within_stops(const sim_job_t *job) {
    for (uint32_t i = 0; i < job->arm->joints && job->options.stops; i++) {
        const double *l = job->arm->limit[i], at = job->q[job->arm->coordinate[i]];
        if (l[1] > l[0] && (at < l[0] || at > l[1]))
            return diag_error(NULL, "start within the limits (--start), or leave out --stops",
                              "joint %s starts at %g, outside of its stops at %g and %g",
                              job->robot->joint[i].name, at, l[0], l[1]);
    }
    return EXIT_YES;
}

static int take_duration(sim_job_t *job) {
    if (request_has(job->request, OPTION_DURATION))
        return EXIT_YES;
    if (request_has(job->request, OPTION_MOTION))
        job->duration_s = motion_end(&job->motion);
    else if (source_end(&job->source) > 0)
        job->duration_s = source_end(&job->source);
    else
        return diag_error(NULL, "give --duration", "the duration of the simulation is missing");
    if (job->duration_s > 0)
        return EXIT_YES;
    return diag_error(NULL, "give --duration",
                      "the motion ends at %g s, so there is nothing to simulate", job->duration_s);
}

int sim_take_options(sim_job_t *job) {
    const request_t *request = job->request;
    sim_options_t *o = &job->options;
    o->sample_s = job->elastic ? 0.001 : 0.01; /* elastic beams vibrate at some hundred hertz */
    o->stops = request_has(request, OPTION_STOPS);
    o->stop = session_stop;
    if (take_integrator(job) != EXIT_YES || take_one_source(request) != EXIT_YES ||
        take_positive(request, OPTION_DURATION, &job->duration_s) != EXIT_YES ||
        take_positive(request, OPTION_PERIOD, &o->period_s) != EXIT_YES ||
        take_positive(request, OPTION_SAMPLE, &o->sample_s) != EXIT_YES ||
        take_start(job) != EXIT_YES || take_wrench(job) != EXIT_YES ||
        take_source(job) != EXIT_YES || take_duration(job) != EXIT_YES)
        return EXIT_BAD;
    if (job->duration_s / o->sample_s > 1e7)
        return diag_error(NULL, "use a longer --sample",
                          "%g s with one row every %g s make too many rows", job->duration_s,
                          o->sample_s);
    if (job->duration_s / o->step_s > 1e10)
        return diag_error(NULL, "use a longer --step", "%g s in steps of %g s are too many steps",
                          job->duration_s, o->step_s);
    return start_within_stops(job);
}

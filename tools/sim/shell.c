/* The interactive program: variables, commands, and the loop around them. */
#include "tools/sim/shell.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/say.h"
#include "tools/sim/line.h"
#include "tools/sim/output.h"
#include "tools/sim/rigid.h"
#include "tools/sim/session.h"
#include "tools/sim/source.h"

/* X(NAME, "name", "help"): what can be set and shown */
#define VARIABLE_TABLE(X)                                                                          \
    X(GRAVITY, "gravity",                                                                          \
      "acceleration of gravity, m/s^2. One number is along Z with the sign of the paper: "         \
      "positive "                                                                                  \
      "where Z of the base points up, negative where it points down; three numbers are the "       \
      "vector in the base frame, which points down")                                               \
    X(PERIOD, "DACTimePeriod", "time between two changes of the voltages, s")                      \
    X(THETA, "theta", "position of each joint, rad or m")                                          \
    X(OMEGA, "omega",                                                                              \
      "speed of each joint, rad/s or m/s; a new speed changes the torque, by the "                 \
      "back EMF of the motor")                                                                     \
    X(ALPHA, "alpha", "acceleration of each joint, rad/s^2 or m/s^2; forward_arm finds it")        \
    X(TORQUE, "torque", "of each motor at its joint, N m or N; setting it recomputes voltage")     \
    X(VOLTAGE, "voltage", "of each motor, V; setting it recomputes torque")                        \
    X(DACOUT, "DACOut",                                                                            \
      "what the converter puts out for each joint, V: the voltage, within the "                    \
      "supply of the motor; setting it sets the voltage")                                          \
    X(METHOD, "method", "how the Forward Arm computes: fast, crba, ga, aba, denoc or gen")         \
    X(INTEGRATOR, "integrator", "rk3 (as the paper), rk4, rk45 or rk56")                           \
    X(TIMESTEP, "timestep", "of the integrator and of the record, s; the paper's is 0.001")

/* X(name, "argument", "help") */
#define COMMAND_TABLE(X)                                                                           \
    X(inverse_arm, "", "torque and voltage for theta, omega and alpha")                            \
    X(forward_arm, "", "alpha for theta, omega and voltage")                                       \
    X(simulate, "",                                                                                \
      "the motion under constant voltage or a schedule; asks whether it starts "                   \
      "anew, from zero, with a file, and for how many timesteps. Answers may stand "               \
      "in the same line: simulate yes no no 1000")                                                 \
    X(plot_simulation, "[FILE]", "plots the simulation: .png, .svg or .pdf; simulation.png")       \
    X(print_simulation, "",                                                                        \
      "prints the simulation, or writes it into the open output file; asks "                       \
      "for start, finish and step, in timesteps: print_simulation 0 100 10")                       \
    X(write_graphic_file, "[FILE]", "an animation to be seen in a browser; simulation.html")       \
    X(open_output_file, "FILE", "what print_simulation prints goes there")                         \
    X(close_output_file, "", "and to the screen again")                                            \
    X(database_read, "ROBOT", "another arm; the variables start anew")                             \
    X(show, "", "all variables")                                                                   \
    X(help, "[NAME]", "this list, or more about one variable or command")                          \
    X(quit, "", "ends, as control-D does")

typedef enum {
#define X(id, name, help) VARIABLE_##id,
    VARIABLE_TABLE(X)
#undef X
        VARIABLES
} variable_t;

typedef struct {
    const request_t *request;
    robot_t *robot;
    sim_arm_t *arm;
    bool motors;
    line_t *line;
    double period_s, timestep_s;
    double theta[DYN_MAX_JOINTS], omega[DYN_MAX_JOINTS], alpha[DYN_MAX_JOINTS];
    double torque[DYN_MAX_JOINTS], voltage[DYN_MAX_JOINTS];
    method_id_t method;
    const rk_method_t *integrator;
    sim_t *sim; /* NULL: none, or something has changed since */
    source_t source;
    sim_record_t record;
    FILE *output;
    char *output_name;
    bool over;
} shell_t;

static const struct {
    const char *name, *help;
} variables[VARIABLES] = {
#define X(id, name, help) {name, help},
    VARIABLE_TABLE(X)
#undef X
};

static int shell_error(const shell_t *sh, const char *cure, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int shell_error(const shell_t *sh, const char *cure, const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_flush();
    return say_error(line_place(sh->line), cure, "%s", text);
}

/* ----------------------------------------------------------------------------------------- the arm
 */

/* A simulation cannot go on once what it was made of has changed. */
static void forget_run(shell_t *sh) {
    sim_free(sh->sim);
    sh->sim = NULL;
}

static void torque_from_voltage(shell_t *sh) {
    if (sh->motors)
        (void)sh->arm->torque(sh->arm->self, sh->omega, sh->voltage, sh->torque);
}

static void voltage_from_torque(shell_t *sh) {
    if (sh->motors)
        (void)sh->arm->voltage(sh->arm->self, sh->omega, sh->torque, sh->voltage);
}

static bool has_motors(const robot_t *robot) {
    for (uint32_t i = 0; i < robot->n; i++) {
        const dyn_motor_t *m = &robot->model.joint[i].drive.motor;
        if (m->gear == 0 || m->resistance <= 0 || m->torque_constant == 0)
            return false;
    }
    return true;
}

/* The kernels for the robot as it is described now. */
static int make_arm(shell_t *sh) {
    int status;
    sim_arm_t *arm = rigid_make(&sh->robot->model, sh->method, &status);
    if (!arm)
        return shell_error(sh, "`appell check` says more", "%s", sim_status_text(status));
    forget_run(sh);
    rigid_free(sh->arm);
    sh->arm = arm;
    sh->motors = has_motors(sh->robot);
    return EXIT_YES;
}

static int take_robot(shell_t *sh, robot_t *robot) {
    robot_t *before = sh->robot;
    sh->robot = robot;
    if (make_arm(sh) != EXIT_YES) {
        sh->robot = before;
        arm_free(robot);
        return EXIT_BAD;
    }
    arm_free(before);
    sim_record_free(&sh->record);
    sh->period_s = 1 / robot->rate_hz;
    memset(sh->theta, 0, sizeof sh->theta);
    memset(sh->omega, 0, sizeof sh->omega);
    memset(sh->alpha, 0, sizeof sh->alpha);
    memset(sh->torque, 0, sizeof sh->torque);
    memset(sh->voltage, 0, sizeof sh->voltage);
    return EXIT_YES;
}

static int need_motors(const shell_t *sh, const char *what) {
    if (sh->motors)
        return EXIT_YES;
    return shell_error(sh, "use torque, or give motors in the robot file",
                       "%s: this arm has no motors whose voltage could be computed", what);
}

/* --------------------------------------------------------------------------------------- variables
 */

static void print_numbers(const char *name, const double *value, uint32_t count) {
    out_format("%s =", name);
    for (uint32_t i = 0; i < count; i++)
        out_format(" %.9g", value[i] + 0.0); /* -0 is 0 */
    out_text("\n");
}

static void print_gravity(const shell_t *sh) {
    const double *g = sh->robot->gravity;
    if (g[0] != 0 || g[1] != 0) {
        print_numbers("gravity", g, 3);
        return;
    }
    out_format("gravity = %.9g  (Z of the base points %s; as a vector 0 0 %.9g)\n", -g[2] + 0.0,
               g[2] > 0 ? "down" : "up", g[2]);
}

static void limited(const shell_t *sh, double *out) {
    for (uint32_t i = 0; i < sh->arm->joints; i++) {
        const double most = sh->robot->model.joint[i].drive.motor.voltage;
        const double v = sh->voltage[i];
        out[i] = most > 0 && fabs(v) > most ? copysign(most, v) : v;
    }
}

static int print_variable(const shell_t *sh, variable_t variable) {
    const char *name = variables[variable].name;
    const uint32_t n = sh->arm->joints;
    double within[DYN_MAX_JOINTS];
    switch (variable) {
    case VARIABLE_GRAVITY:
        print_gravity(sh);
        break;
    case VARIABLE_PERIOD:
        print_numbers(name, &sh->period_s, 1);
        break;
    case VARIABLE_TIMESTEP:
        print_numbers(name, &sh->timestep_s, 1);
        break;
    case VARIABLE_THETA:
        print_numbers(name, sh->theta, n);
        break;
    case VARIABLE_OMEGA:
        print_numbers(name, sh->omega, n);
        break;
    case VARIABLE_ALPHA:
        print_numbers(name, sh->alpha, n);
        break;
    case VARIABLE_TORQUE:
        print_numbers(name, sh->torque, n);
        break;
    case VARIABLE_VOLTAGE:
    case VARIABLE_DACOUT:
        if (need_motors(sh, name) != EXIT_YES)
            return EXIT_BAD;
        limited(sh, within);
        print_numbers(name, variable == VARIABLE_DACOUT ? within : sh->voltage, n);
        break;
    case VARIABLE_METHOD:
        out_format("%s = %s\n", name, method_name(sh->method));
        break;
    case VARIABLE_INTEGRATOR:
        out_format("%s = %s\n", name, sh->integrator->name);
        break;
    case VARIABLES:
        break;
    }
    return EXIT_YES;
}

/* Numbers of a value; -1 after saying what is not one. */
static long scan_numbers(const shell_t *sh, const char *name, const char *text, double *value,
                         size_t most) {
    size_t count = 0;
    for (;;) {
        text += strspn(text, " \t,");
        if (!*text)
            return (long)count;
        double number;
        const char *end = number_scan(text, &number);
        if (!end || !isfinite(number) || (*end && !strchr(" \t,", *end))) {
            shell_error(sh, "write numbers such as -0.5 or 1e-3, separated by blanks",
                        "%s: '%.*s' is not a finite number", name, (int)strcspn(text, " \t,"),
                        text);
            return -1;
        }
        if (count < most)
            value[count] = number;
        count++;
        text = end;
    }
}

static int set_gravity(shell_t *sh, const char *text) {
    double value[3], before[3];
    const long count = scan_numbers(sh, "gravity", text, value, 3);
    if (count < 0)
        return EXIT_BAD;
    if (count != 1 && count != 3)
        return shell_error(sh, "write one number, along Z, or the three of a vector",
                           "gravity: %ld numbers", count);
    memcpy(before, sh->robot->gravity, sizeof before);
    const double down[3] = {0, 0, -value[0]};
    int status = arm_set_gravity(sh->request, sh->robot, count == 1 ? down : value);
    if (status == EXIT_YES)
        status = make_arm(sh);
    if (status != EXIT_YES)
        (void)arm_set_gravity(sh->request, sh->robot, before);
    return status;
}

static int set_positive(shell_t *sh, variable_t variable, const char *text) {
    const char *name = variables[variable].name;
    double value;
    const long count = scan_numbers(sh, name, text, &value, 1);
    if (count < 0)
        return EXIT_BAD;
    if (count != 1 || !(value > 0))
        return shell_error(sh, "write one number above zero, in s", "%s: %s", name,
                           count != 1 ? "one number is expected" : "that is not possible");
    forget_run(sh);
    *(variable == VARIABLE_PERIOD ? &sh->period_s : &sh->timestep_s) = value;
    return EXIT_YES;
}

static int set_word(shell_t *sh, variable_t variable, const char *text) {
    char cure[240] = "choose one of: rk3, rk4, rk45, rk56";
    if (variable == VARIABLE_INTEGRATOR) {
        const rk_method_t *found = rk_find(text);
        if (!found)
            return shell_error(sh, cure, "there is no integrator '%s'", text);
        forget_run(sh);
        sh->integrator = found;
        return EXIT_YES;
    }
    const method_id_t found = method_find(PROBLEM_FD, text), before = sh->method;
    if (found >= METHOD_COUNT) {
        char list[200];
        method_list(PROBLEM_FD, list, sizeof list);
        snprintf(cure, sizeof cure, "choose one of: %s", list);
        return shell_error(sh, cure, "there is no method '%s'", text);
    }
    sh->method = found;
    const int status = make_arm(sh);
    if (status != EXIT_YES)
        sh->method = before;
    return status;
}

static int set_vector(shell_t *sh, variable_t variable, const char *text) {
    const char *name = variables[variable].name;
    const uint32_t n = sh->arm->joints;
    double value[DYN_MAX_JOINTS];
    double *const of[VARIABLES] = {
        [VARIABLE_THETA] = sh->theta,     [VARIABLE_OMEGA] = sh->omega,
        [VARIABLE_ALPHA] = sh->alpha,     [VARIABLE_TORQUE] = sh->torque,
        [VARIABLE_VOLTAGE] = sh->voltage, [VARIABLE_DACOUT] = sh->voltage};
    if ((variable == VARIABLE_VOLTAGE || variable == VARIABLE_DACOUT) &&
        need_motors(sh, name) != EXIT_YES)
        return EXIT_BAD;
    const long count = scan_numbers(sh, name, text, value, n);
    if (count < 0)
        return EXIT_BAD;
    if (count != (long)n)
        return shell_error(sh, "one number for each joint",
                           "%s: %ld number%s where %u are expected", name, count,
                           count == 1 ? "" : "s", (unsigned)n);
    memcpy(of[variable], value, n * sizeof *value);
    if (variable == VARIABLE_THETA || variable == VARIABLE_OMEGA)
        forget_run(sh);
    if (variable == VARIABLE_DACOUT)
        limited(sh, sh->voltage);
    if (variable == VARIABLE_TORQUE)
        voltage_from_torque(sh);
    else if (variable != VARIABLE_THETA && variable != VARIABLE_ALPHA)
        torque_from_voltage(sh);
    return EXIT_YES;
}

static int set_variable(shell_t *sh, variable_t variable, const char *text) {
    switch (variable) {
    case VARIABLE_GRAVITY:
        return set_gravity(sh, text);
    case VARIABLE_PERIOD:
    case VARIABLE_TIMESTEP:
        return set_positive(sh, variable, text);
    case VARIABLE_METHOD:
    case VARIABLE_INTEGRATOR:
        return set_word(sh, variable, text);
    default:
        return set_vector(sh, variable, text);
    }
}

/* ----------------------------------------------------------------------------------------
 * questions
 */

/* The next word of the line, or the answer to a question. NULL where there is none. */
static const char *answer(shell_t *sh, const char **words, const char *question, char *room,
                          size_t size) {
    const char *text = *words + strspn(*words, " \t");
    const size_t length = strcspn(text, " \t");
    if (length > 0) {
        snprintf(room, size, "%.*s", (int)length, text);
        *words = text + length;
        return room;
    }
    const char *line;
    const line_status_t status = line_next(sh->line, question, &line);
    if (status == LINE_INTERRUPTED) /* who leaves a question by control-C knows that */
        return NULL;
    if (status != LINE_READ) {
        shell_error(sh, "give the answer in the line of the command, or in the next one",
                    "no answer to: %s", question);
        return NULL;
    }
    line += strspn(line, " \t");
    snprintf(room, size, "%s", line);
    for (size_t end = strlen(room); end > 0 && strchr(" \t", room[end - 1]);)
        room[--end] = '\0';
    *words = "";
    return room;
}

static int ask_yes(shell_t *sh, const char **words, const char *question, bool *yes) {
    char room[80];
    const char *text = answer(sh, words, question, room, sizeof room);
    if (!text)
        return EXIT_BAD;
    *yes = !strcmp(text, "y") || !strcmp(text, "yes");
    if (*yes || !strcmp(text, "n") || !strcmp(text, "no"))
        return EXIT_YES;
    return shell_error(sh, "nothing was done", "'%s' is neither yes nor no", text);
}

static int ask_count(shell_t *sh, const char **words, const char *question, long least, long most,
                     long *value) {
    char room[80], *end;
    const char *text = answer(sh, words, question, room, sizeof room);
    if (!text)
        return EXIT_BAD;
    errno = 0;
    *value = strtol(text, &end, 10);
    if (end != text && !*end && !errno && *value >= least && *value <= most)
        return EXIT_YES;
    char cure[80];
    snprintf(cure, sizeof cure, "write a whole number from %ld to %ld", least, most);
    return shell_error(sh, cure, "'%s' is not possible", text);
}

/* -----------------------------------------------------------------------------------------
 * commands
 */

static int run_inverse_arm(shell_t *sh, const char *words) {
    (void)words;
    const int status = sh->arm->inverse(sh->arm->self, sh->theta, sh->omega, sh->alpha, sh->torque);
    if (status != DYN_OK)
        return shell_error(sh, NULL, "%s", sim_status_text(status));
    voltage_from_torque(sh);
    print_variable(sh, VARIABLE_TORQUE);
    return sh->motors ? print_variable(sh, VARIABLE_VOLTAGE) : EXIT_YES;
}

static int run_forward_arm(shell_t *sh, const char *words) {
    double force[DYN_MAX_JOINTS];
    (void)words;
    sh->arm->friction(sh->arm->self, sh->omega, force);
    for (uint32_t i = 0; i < sh->arm->joints; i++)
        force[i] = sh->torque[i] - force[i];
    const int status = sh->arm->acceleration(sh->arm->self, sh->theta, sh->omega, force, sh->alpha);
    if (status != DYN_OK)
        return shell_error(sh, "`appell check` names joints that move no mass", "%s",
                           sim_status_text(status));
    return print_variable(sh, VARIABLE_ALPHA);
}

enum { TIMESTEPS_MAX = 1000000 };

/* What drives the run and for how long. */
static int choose_source(shell_t *sh, const char **words, source_t *source, double *duration_s) {
    const sim_quantity_t quantity = sh->motors ? SIM_VOLTAGE : SIM_TORQUE;
    const uint32_t n = sh->arm->joints;
    bool schedule;
    long steps;
    if (ask_yes(sh, words,
                sh->motors ? "Use a voltage schedule file? " : "Use a torque schedule file? ",
                &schedule) != EXIT_YES)
        return EXIT_BAD;
    if (!schedule) {
        if (ask_count(sh, words, "Number of timesteps? ", 1, TIMESTEPS_MAX, &steps) != EXIT_YES)
            return EXIT_BAD;
        source_constant(source, quantity, n, sh->motors ? sh->voltage : sh->torque);
        *duration_s = (double)steps * sh->timestep_s;
        return EXIT_YES;
    }
    char room[1024];
    const char *path = answer(sh, words, "Name of the file? ", room, sizeof room);
    if (!path || source_schedule(source, quantity, n, path, sh->period_s) != EXIT_YES)
        return EXIT_BAD;
    *duration_s = source_end(source);
    if (!(source->period_s > 0))
        *duration_s += sh->period_s;
    if (*duration_s <= TIMESTEPS_MAX * sh->timestep_s)
        return EXIT_YES;
    source_free(source);
    return shell_error(sh, "a longer timestep, or a shorter schedule",
                       "%g s are more than %d timesteps", *duration_s, TIMESTEPS_MAX);
}

static int start_run(shell_t *sh, bool zero) {
    const sim_options_t options = {.integrator = sh->integrator,
                                   .step_s = sh->timestep_s,
                                   .hold_s = sh->period_s,
                                   .sample_s = sh->timestep_s,
                                   .stop = session_stop};
    sim_t *sim = sim_make(sh->arm, &sh->source.input, NULL, &options);
    if (!sim)
        return say_no_memory();
    forget_run(sh);
    sim_record_free(&sh->record);
    if (zero) {
        memset(sh->theta, 0, sizeof sh->theta);
        memset(sh->omega, 0, sizeof sh->omega);
    }
    sim_set(sim, sh->theta, sh->omega);
    sh->sim = sim;
    return EXIT_YES;
}

/* The variables are those of the end. */
static void take_end(shell_t *sh) {
    if (sh->record.rows == 0)
        return;
    const sim_row_t last = sim_record_row(&sh->record, sh->record.rows - 1);
    const size_t size = sh->arm->joints * sizeof(double);
    memcpy(sh->theta, last.q, size);
    memcpy(sh->omega, last.qd, size);
    memcpy(sh->alpha, last.qdd, size);
    memcpy(sh->torque, last.torque, size);
    if (sh->motors)
        memcpy(sh->voltage, last.volt, size);
}

static int run_simulate(shell_t *sh, const char *words) {
    source_t source = {0};
    double duration_s;
    bool anew, zero = false;
    if (ask_yes(sh, &words, "Start a new simulation? ", &anew) != EXIT_YES)
        return EXIT_BAD;
    if (!anew && !sh->sim)
        return shell_error(sh, "answer yes to start a new one",
                           sh->record.rows > 0
                               ? "the simulation cannot go on: theta, omega or the arm has changed"
                               : "there is no simulation yet that could go on");
    if (anew && ask_yes(sh, &words, "Set theta and omega to zero? ", &zero) != EXIT_YES)
        return EXIT_BAD;
    if (choose_source(sh, &words, &source, &duration_s) != EXIT_YES)
        return EXIT_BAD;
    source_free(&sh->source);
    sh->source = source;
    sh->source.input.self = &sh->source;
    sh->source.from_s = anew ? 0 : sim_time(sh->sim);
    if (anew && start_run(sh, zero) != EXIT_YES)
        return EXIT_BAD;
    if (!anew)
        sim_drive(sh->sim, &sh->source.input);
    const int status = session_run(sh->sim, duration_s, &sh->record);
    take_end(sh);
    const double t = sim_time(sh->sim);
    if (status == SIM_STOPPED)
        out_format("interrupted: ");
    else if (status != SIM_OK)
        return shell_error(sh, "a shorter timestep", "at %.6g s: %s", t, sim_status_text(status));
    out_format("%zu rows, %.9g s simulated\n", sh->record.rows, t);
    return EXIT_YES;
}

static int need_record(const shell_t *sh) {
    if (sh->record.rows > 0)
        return EXIT_YES;
    return shell_error(sh, "`simulate` makes one", "there is no simulation yet");
}

/* The rest of a line as a file name, or the default. */
static const char *file_of(const char *words, const char *otherwise) {
    words += strspn(words, " \t");
    return *words ? words : otherwise;
}

static int run_plot_simulation(shell_t *sh, const char *words) {
    output_names_t names;
    const char *path = file_of(words, "simulation.png");
    output_names(&names, sh->robot);
    if (need_record(sh) != EXIT_YES || output_plot(&sh->record, &names, path) != EXIT_YES)
        return EXIT_BAD;
    out_format("plot in %s\n", path);
    return EXIT_YES;
}

static int run_write_graphic_file(shell_t *sh, const char *words) {
    output_names_t names;
    const char *path = file_of(words, "simulation.html");
    output_names(&names, sh->robot);
    if (need_record(sh) != EXIT_YES ||
        output_animation(sh->arm, &sh->record, &names, path) != EXIT_YES)
        return EXIT_BAD;
    out_format("animation in %s\n", path);
    return EXIT_YES;
}

/* One line to the screen or into the output file. */
static void print_text(shell_t *sh, const char *text) {
    if (sh->output)
        fputs(text, sh->output);
    else
        out_text(text);
}

static void print_row(shell_t *sh, const sim_row_t *row) {
    const double *const part[] = {row->q, row->qd, row->qdd, row->torque, row->volt};
    char text[40];
    snprintf(text, sizeof text, "%.9g", row->t);
    print_text(sh, text);
    for (size_t k = 0; k < (sh->motors ? 5 : 4); k++)
        for (uint32_t i = 0; i < sh->arm->joints; i++) {
            snprintf(text, sizeof text, " %.9g", part[k][i]);
            print_text(sh, text);
        }
    print_text(sh, "\n");
}

static int run_print_simulation(shell_t *sh, const char *words) {
    long start, finish, step;
    const long most = sh->record.rows > 0 ? (long)sh->record.rows - 1 : 0;
    if (need_record(sh) != EXIT_YES ||
        ask_count(sh, &words, "Start, in timesteps? ", 0, most, &start) != EXIT_YES ||
        ask_count(sh, &words, "Finish? ", start, most, &finish) != EXIT_YES ||
        ask_count(sh, &words, "Step? ", 1, TIMESTEPS_MAX, &step) != EXIT_YES)
        return EXIT_BAD;
    print_text(sh, sh->motors ? "# t theta omega alpha torque voltage, of each joint\n"
                              : "# t theta omega alpha torque, of each joint\n");
    for (long i = start; i <= finish; i += step) {
        const sim_row_t row = sim_record_row(&sh->record, (size_t)i);
        print_row(sh, &row);
    }
    if (sh->output && (fflush(sh->output) != 0 || ferror(sh->output)))
        return shell_error(sh, "free some space, or open another file", "%s: writing failed",
                           sh->output_name);
    return EXIT_YES;
}

static void close_output(shell_t *sh) {
    if (sh->output)
        fclose(sh->output);
    free(sh->output_name);
    sh->output = NULL;
    sh->output_name = NULL;
}

static int run_open_output_file(shell_t *sh, const char *words) {
    char room[1024];
    const char *path = answer(sh, &words, "Name of the output file? ", room, sizeof room);
    if (!path)
        return EXIT_BAD;
    FILE *file = *path ? fopen(path, "w") : NULL;
    if (!file)
        return shell_error(sh, "check the path and its permissions", "%s: cannot be opened: %s",
                           *path ? path : "no name", *path ? strerror(errno) : "empty");
    close_output(sh);
    sh->output = file;
    sh->output_name = strdup(path);
    return EXIT_YES;
}

static int run_close_output_file(shell_t *sh, const char *words) {
    (void)words;
    if (!sh->output)
        return shell_error(sh, "open_output_file opens one", "no output file is open");
    close_output(sh);
    return EXIT_YES;
}

static int run_database_read(shell_t *sh, const char *words) {
    char room[1024];
    const char *path = answer(sh, &words, "Name of the arm or its file? ", room, sizeof room);
    if (!path)
        return EXIT_BAD;
    request_t request = *sh->request;
    request.argument[0] = path;
    robot_t *robot = arm_load_compute(&request);
    if (robot && arm_elastic(&request, robot)) {
        arm_free(robot);
        char cure[1200];
        snprintf(cure, sizeof cure, "`appell sim %s` with options, as --duration, simulates them",
                 path);
        return shell_error(sh, cure,
                           "%s has elastic links, and the interactive program is for rigid ones; "
                           "%s stays",
                           path, sh->robot->name);
    }
    if (!robot || take_robot(sh, robot) != EXIT_YES)
        return shell_error(sh, "`database_read NAME` with a robot file, a URDF or a known name",
                           "%s was not read; %s stays", path, sh->robot->name);
    out_format("%s, %u joints\n", sh->robot->name, (unsigned)sh->robot->n);
    return EXIT_YES;
}

static int run_show(shell_t *sh, const char *words) {
    (void)words;
    out_format("%s, %u joints\n", sh->robot->name, (unsigned)sh->robot->n);
    for (int i = 0; i < VARIABLES; i++)
        if (sh->motors || (i != VARIABLE_VOLTAGE && i != VARIABLE_DACOUT))
            print_variable(sh, (variable_t)i);
    return EXIT_YES;
}

static int run_quit(shell_t *sh, const char *words) {
    (void)words;
    sh->over = true;
    return EXIT_YES;
}

static int run_help(shell_t *sh, const char *words);

static const struct {
    const char *name, *argument, *help;
    int (*run)(shell_t *sh, const char *words);
} commands[] = {
#define X(name, argument, help) {#name, argument, help, run_##name},
    COMMAND_TABLE(X)
#undef X
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int find_command(const char *name) {
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return i;
    return -1;
}

static int find_variable(const char *name) {
    for (int i = 0; i < VARIABLES; i++)
        if (!strcmp(variables[i].name, name))
            return i;
    return -1;
}

/* First words of lines, for completion. */
static const char *first_word(size_t i) {
    return i < COMMANDS               ? commands[i].name
           : i < COMMANDS + VARIABLES ? variables[i - COMMANDS].name
                                      : NULL;
}

static int unknown(const shell_t *sh, const char *name) {
    const char *known[COMMANDS + VARIABLES + 1];
    for (size_t i = 0; i <= COMMANDS + VARIABLES; i++)
        known[i] = first_word(i);
    const char *near = messages_nearest(name, known);
    char cure[160];
    snprintf(cure, sizeof cure, "%s%s%s`help` lists commands and variables",
             near ? "did you mean " : "", near ? near : "", near ? "? " : "");
    return shell_error(sh, cure, "there is no command or variable '%s'", name);
}

static void help_entry(const char *name, const char *argument, const char *text) {
    char head[60];
    snprintf(head, sizeof head, "%s %s", name, argument);
    out_format("  %-22s", head);
    size_t column = 24;
    while (*text) {
        const size_t size = strcspn(text, " ");
        if (column + size + 1 > 96) {
            out_format("\n%24s", "");
            column = 24;
        }
        out_text(" ");
        out_bytes(text, size);
        column += size + 1;
        text += size + (text[size] == ' ');
    }
    out_text("\n");
}

static int run_help(shell_t *sh, const char *words) {
    words += strspn(words, " \t");
    if (*words) {
        const int command = find_command(words), variable = find_variable(words);
        if (command < 0 && variable < 0)
            return unknown(sh, words);
        if (command >= 0)
            help_entry(words, commands[command].argument, commands[command].help);
        else
            help_entry(words, "", variables[variable].help);
        return EXIT_YES;
    }
    out_text("Variables: `theta` shows one, `theta = 0 0.5 ...` sets it.\n");
    for (int i = 0; i < VARIABLES; i++)
        help_entry(variables[i].name, "", variables[i].help);
    out_text("Commands:\n");
    for (int i = 0; i < COMMANDS; i++)
        help_entry(commands[i].name, commands[i].argument, commands[i].help);
    return EXIT_YES;
}

/* ------------------------------------------------------------------------------------------ the
 * loop
 */

static int run_line(shell_t *sh, const char *text) {
    char line[4096], name[64];
    snprintf(line, sizeof line, "%s", text);
    line[strcspn(line, "#")] = '\0';
    for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]);)
        line[--end] = '\0';
    const char *begin = line + strspn(line, " \t");
    const size_t size = strcspn(begin, " \t=");
    if (!*begin)
        return EXIT_YES;
    snprintf(name, sizeof name, "%.*s", (int)(size < 60 ? size : 60), begin);
    const char *rest = begin + size + strspn(begin + size, " \t");
    const int variable = find_variable(name), command = find_command(name);
    if (*rest == '=' && variable >= 0) {
        rest++;
        return set_variable(sh, (variable_t)variable, rest + strspn(rest, " \t"));
    }
    if (variable >= 0 && *rest)
        return shell_error(sh, "write `help` for the way it goes",
                           "%s is a variable: `%s = ...` sets it", name, name);
    if (variable >= 0)
        return print_variable(sh, (variable_t)variable);
    if (command < 0)
        return unknown(sh, name);
    return commands[command].run(sh, rest);
}

static int loop(shell_t *sh) {
    const char *text;
    while (!sh->over && !out_failed()) {
        const line_status_t status = line_next(sh->line, "sim> ", &text);
        if (status == LINE_END)
            break;
        if (status == LINE_INTERRUPTED)
            continue;
        char *copy = strdup(text); /* questions read further lines */
        if (!copy)
            return say_no_memory();
        const int code = run_line(sh, copy);
        free(copy);
        out_flush();
        if (code != EXIT_YES && !line_terminal(sh->line))
            return code;
    }
    return EXIT_YES;
}

int shell_run(const request_t *request, robot_t *robot, method_id_t method) {
    shell_t *sh = calloc(1, sizeof *sh);
    if (!sh) {
        arm_free(robot);
        return say_no_memory();
    }
    sh->request = request;
    sh->method = method;
    sh->integrator = rk_find("rk3"); /* as the paper */
    sh->timestep_s = 0.001;
    sh->line = line_open(request->value[OPTION_SCRIPT], first_word);
    int status = EXIT_BAD;
    if (!sh->line)
        arm_free(robot);
    else
        status = take_robot(sh, robot);
    if (status == EXIT_YES) {
        if (line_terminal(sh->line))
            out_format("%s, %u joints. `help` lists commands and variables, control-D ends.\n",
                       robot->name, (unsigned)robot->n);
        status = loop(sh);
    }
    close_output(sh);
    forget_run(sh);
    sim_record_free(&sh->record);
    source_free(&sh->source);
    rigid_free(sh->arm);
    arm_free(sh->robot);
    line_close(sh->line);
    free(sh);
    return status;
}

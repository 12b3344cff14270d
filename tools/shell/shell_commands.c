/* The commands of the interactive program and their questions, for tools/shell/shell_inside.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/shell/shell_inside.h"
#include "tools/sim/output/output.h"
#include "tools/sim/session.h"

/* Returns the next word of the line. If there is none, asks the question and returns the answer, or
 * NULL. */
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
    if (status == LINE_INTERRUPTED) /* control-C at a question needs no message */
        return NULL;
    if (status != LINE_READ) {
        shell_error(sh, "give the answer on the line of the command, or on the next line",
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
    return shell_error(sh, "nothing was done; answer yes or no", "'%s' is neither yes nor no",
                       text);
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

enum { TIMESTEPS_MAX = 1000000 };

/* Chooses the source of the run and its duration. */
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
    return shell_error(sh, "use a longer timestep or a shorter schedule",
                       "the schedule of %g s takes more than %d timesteps", *duration_s,
                       TIMESTEPS_MAX);
}

static int start_run(shell_t *sh, bool zero) {
    const sim_options_t options = {.integrator = sh->integrator,
                                   .step_s = sh->timestep_s,
                                   .period_s = sh->period_s,
                                   .sample_s = sh->timestep_s,
                                   .stop = session_stop};
    sim_t *sim = sim_make(sh->arm, &sh->source.input, &sh->pull.wrench, &options);
    if (!sim)
        return diag_no_memory();
    shell_forget_run(sh);
    sim_record_free(&sh->record);
    if (zero) {
        memset(sh->theta, 0, sizeof sh->theta);
        memset(sh->omega, 0, sizeof sh->omega);
    }
    sim_set(sim, sh->theta, sh->omega);
    sh->sim = sim;
    return EXIT_YES;
}

/* Sets the variables to the final state of the run. */
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

int shell_simulate(shell_t *sh, const char *words) {
    source_t source = {0};
    double duration_s;
    bool anew, zero = false;
    if (ask_yes(sh, &words, "Start a new simulation? ", &anew) != EXIT_YES)
        return EXIT_BAD;
    if (!anew && !sh->sim)
        return shell_error(
            sh, "answer yes to start a new simulation",
            sh->record.rows > 0
                ? "the simulation cannot be continued: theta, omega, timestep, DACTimePeriod, "
                  "integrator or the arm has changed"
                : "there is no simulation yet to continue");
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
        return shell_error(sh, "use a shorter timestep", "at %.6g s: %s", t,
                           sim_status_text(status));
    out_format("%zu rows, %.9g s simulated\n", sh->record.rows, t);
    return EXIT_YES;
}

static int need_record(const shell_t *sh) {
    if (sh->record.rows > 0)
        return EXIT_YES;
    return shell_error(sh, "`simulate` makes one", "there is no simulation yet");
}

/* Returns the rest of a line as a file name, or the default if it is empty. */
static const char *file_of(const char *words, const char *otherwise) {
    words += strspn(words, " \t");
    return *words ? words : otherwise;
}

int shell_plot_simulation(shell_t *sh, const char *words) {
    output_names_t names;
    const char *path = file_of(words, "simulation.png");
    output_names(&names, sh->robot);
    if (need_record(sh) != EXIT_YES || output_plot(&sh->record, &names, path) != EXIT_YES)
        return EXIT_BAD;
    out_format("plot in %s\n", path);
    return EXIT_YES;
}

int shell_write_graphic_file(shell_t *sh, const char *words) {
    output_names_t names;
    const char *path = file_of(words, "simulation.html");
    output_names(&names, sh->robot);
    if (need_record(sh) != EXIT_YES ||
        output_animation(sh->arm, &sh->record, &names, path) != EXIT_YES)
        return EXIT_BAD;
    out_format("animation in %s\n", path);
    return EXIT_YES;
}

static void print_row(shell_t *sh, const sim_row_t *row) {
    const double *const part[] = {row->q, row->qd, row->qdd, row->torque, row->volt};
    char text[40];
    snprintf(text, sizeof text, "%.9g", row->t);
    shell_print_text(sh, text);
    for (size_t k = 0; k < (sh->motors ? 5 : 4); k++)
        for (uint32_t i = 0; i < sh->arm->joints; i++) {
            snprintf(text, sizeof text, " %.9g", part[k][i]);
            shell_print_text(sh, text);
        }
    shell_print_text(sh, "\n");
}

int shell_print_simulation(shell_t *sh, const char *words) {
    long start, finish, step;
    const long most = sh->record.rows > 0 ? (long)sh->record.rows - 1 : 0;
    if (need_record(sh) != EXIT_YES ||
        ask_count(sh, &words, "Start, in timesteps? ", 0, most, &start) != EXIT_YES ||
        ask_count(sh, &words, "Finish? ", start, most, &finish) != EXIT_YES ||
        ask_count(sh, &words, "Step? ", 1, TIMESTEPS_MAX, &step) != EXIT_YES)
        return EXIT_BAD;
    shell_print_text(
        sh, sh->motors
                ? "# t, then theta of all joints, omega of all joints, and so on: alpha, torque, "
                  "voltage\n"
                : "# t, then theta of all joints, omega of all joints, and so on: alpha, torque\n");
    for (long i = start; i <= finish; i += step) {
        const sim_row_t row = sim_record_row(&sh->record, (size_t)i);
        print_row(sh, &row);
    }
    return shell_print_end(sh);
}

void shell_print_text(shell_t *sh, const char *text) {
    if (sh->output)
        fputs(text, sh->output);
    else
        out_text(text);
}

int shell_print_end(const shell_t *sh) {
    if (!sh->output || (fflush(sh->output) == 0 && !ferror(sh->output)))
        return EXIT_YES;
    return shell_error(sh, "free some space, or open another file", "%s: writing failed",
                       sh->output_name);
}

void shell_close_output(shell_t *sh) {
    if (sh->output)
        fclose(sh->output);
    free(sh->output_name);
    sh->output = NULL;
    sh->output_name = NULL;
}

int shell_open_output_file(shell_t *sh, const char *words) {
    char room[1024];
    const char *path = answer(sh, &words, "Name of the output file? ", room, sizeof room);
    if (!path)
        return EXIT_BAD;
    if (!*path)
        return shell_error(sh, "write open_output_file FILE", "the name of the file is empty");
    FILE *file = fopen(path, "w");
    if (!file)
        return shell_error(sh, "check the path and its permissions", "%s: cannot be opened: %s",
                           path, strerror(errno));
    shell_close_output(sh);
    sh->output = file;
    sh->output_name = strdup(path);
    return EXIT_YES;
}

int shell_close_output_file(shell_t *sh, const char *words) {
    (void)words;
    if (!sh->output)
        return shell_error(sh, "open a file with open_output_file", "no output file is open");
    shell_close_output(sh);
    return EXIT_YES;
}

int shell_database_read(shell_t *sh, const char *words) {
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
        snprintf(cure, sizeof cure,
                 "`appell sim %s` with options such as --duration simulates elastic links", path);
        return shell_error(
            sh, cure,
            "%s has elastic links, but the interactive program is for rigid links; %s stays loaded",
            path, sh->robot->name);
    }
    if (!robot || shell_take_robot(sh, robot) != EXIT_YES)
        return shell_error(sh, "use `database_read NAME` with a robot file, a URDF or a known name",
                           "%s was not read; %s stays loaded", path, sh->robot->name);
    out_format("%s, %u joints\n", sh->robot->name, (unsigned)sh->robot->n);
    return EXIT_YES;
}

int shell_show(shell_t *sh, const char *words) {
    (void)words;
    out_format("%s, %u joints\n", sh->robot->name, (unsigned)sh->robot->n);
    for (int i = 0; i < VARIABLES; i++)
        if (sh->motors || (i != VARIABLE_VOLTAGE && i != VARIABLE_DACOUT))
            shell_print_variable(sh, (variable_t)i);
    return EXIT_YES;
}

int shell_quit(shell_t *sh, const char *words) {
    (void)words;
    sh->over = true;
    return EXIT_YES;
}

/* demo: compares controllers with and without the model, on the simulated arm of a board. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/args/budget.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/progress.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"
#include "tools/motion/twin_gen.h"
#include "tools/motion/costs.h"
#include "tools/motion/plan.h"
#include "tools/motion/report.h"
#include "tools/motion/trial.h"

#define PD_HZ      5.0
#define MASS_ERROR 1.1f

/* The line of paper 000, section 5.2, with the inclination [0 90 180] degrees about Z, Y, Z. Its
 * two points are 0.3286 m apart, so 5 s give 0.066 m/s and not the printed 0.1 m/s. */
static const double line_from[3] = {0.50, 0.00, 0.05}, line_to[3] = {0.62, 0.30, 0.11};
static const double line_attitude[3][3] = {{0, 0, 1}, {0, -1, 0}, {1, 0, 0}};
#define LINE_S 5.0

typedef struct {
    const robot_t *robot;
    client_t *client;
    uint8_t *image;
    size_t image_size;
    const char *folder;
    uint32_t every;
    const char *asked;              /* argument of --set */
    char changed[CLIENT_NAME + 32]; /* why the twin cannot know the parameters; "": it knows them */
    bool stopped;                   /* a motion ended in a fault */
    bool json;
    uint64_t trials, trials_all; /* number of motions that have ended, and of all motions */
    /* number of values compared with the twin, and how many of them differ */
    uint64_t compared, different;
    /* number of samples that the twin has and the board did not send */
    uint32_t missing;
} session_t;

static int board_failed(const session_t *s) {
    return diag_error(s->client->device.board, s->client->error.cure, "%s", s->client->error.what);
}

/* ------------------------------------------------------------------------------- the comparison */

static void fill_trial(const session_t *s, const plan_t *plan, int mass, int controller,
                       trial_t *trial) {
    static const char *const file[REPORT_CONTROLLERS] = {"pd", "gravity", "full"};
    *trial = (trial_t){.title = report_controller[controller],
                       .set = true,
                       .feedback = FEEDBACK_PD,
                       .feedforward = (uint32_t)controller,
                       .sim_mass = mass ? MASS_ERROR : 1,
                       .asked = s->asked,
                       .kp = plan->kp,
                       .kd = plan->kd,
                       .start = plan->start,
                       .motion = plan->motion,
                       .point = plan->point,
                       .points = plan->points};
    snprintf(trial->name, sizeof trial->name, "%.23s-%s-%s", plan->name, file[controller],
             mass ? "wrong" : "exact");
}

/* Runs the same trial through the host's control step (the twin); every bit must agree. */
static int compare(session_t *s, const trial_t *trial, const record_t *record) {
    record_t twin;
    if (s->changed[0] != '\0' || strcmp(s->client->device.real, "f32") != 0)
        return EXIT_YES; /* the twin computes in f32 only, without changed parameters */
    const int status = trial_on_host(s->image, s->image_size, s->every, trial, &twin);
    if (status != APP_OK)
        return diag_error(trial->name, app_cure(status),
                          "the same control step on this machine refused the motion: %s",
                          app_cause(status));
    s->different += record_differences(record, &twin, &s->compared, &s->missing);
    record_free(&twin);
    return EXIT_YES;
}

static int write_rows(const session_t *s, const trial_t *trial, const record_t *record) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.csv", s->folder, trial->name);
    return report_csv(s->client, path, record);
}

static int run_trial(session_t *s, const trial_t *trial, record_t *record) {
    if (trial_on_board(s->client, trial, record) != 0)
        return board_failed(s);
    if (write_rows(s, trial, record) != EXIT_YES)
        return EXIT_BAD;
    return compare(s, trial, record);
}

static int run_plan(session_t *s, const plan_t *plan, result_t *result) {
    result->plan = plan;
    for (int m = 0; m < REPORT_MASSES; m++)
        for (int c = 0; c < REPORT_CONTROLLERS; c++) {
            trial_t trial;
            fill_trial(s, plan, m, c, &trial);
            progress_show("motions", s->trials++, s->trials_all);
            if (run_trial(s, &trial, &result->record[m][c]) != EXIT_YES)
                return EXIT_BAD;
            s->stopped = s->stopped || result->record[m][c].fault != 0;
        }
    if (!s->json)
        report_errors(s->robot, result);
    out_flush();
    return EXIT_YES;
}

/* Makes the plans for this robot: a fast motion for every robot, and the line of paper 000 if it is
 * the paper's arm. */
static size_t make_plans(const robot_t *robot, plan_t plan[2]) {
    size_t plans = 0;
    if (!strcmp(robot->name, "puma560") &&
        plan_line(robot, line_from, line_to, line_attitude, LINE_S, &plan[plans]) == 0)
        plans++;
    plan_fast(robot, &plan[plans++]);
    for (size_t i = 0; i < plans; i++)
        plan_gains(robot, PD_HZ, &plan[i]);
    return plans;
}

/* What the board has counted. */
typedef struct {
    costs_t costs;
    uint32_t counter[COUNTERS];
} counts_t;

static void print_counts(const session_t *s, const counts_t *counts) {
    const uint32_t *counter = counts->counter;
    if (counts->costs.ticks > 0)
        report_costs(
            &counts->costs, s->client->device.flags & HELLO_INSTRUCTIONS,
            budget_cycles_per_instruction(s->client->device.board, s->client->device.real));
    out_format("\n%u ticks, %u overruns; %u samples sent, %u dropped; %u tick%s per sample\n",
               (unsigned)counter[COUNTER_TICKS], (unsigned)counter[COUNTER_OVERRUNS],
               (unsigned)counter[COUNTER_SAMPLES], (unsigned)counter[COUNTER_DROPPED],
               (unsigned)s->every, s->every == 1 ? "" : "s");
    if (s->changed[0] != '\0')
        out_format("not compared with the host's control step: %s\n", s->changed);
    if (s->compared > 0)
        out_format(
            "%llu values compared with the host's control step, %llu differ in at least one bit\n",
            (unsigned long long)s->compared, (unsigned long long)s->different);
    if (s->missing > 0)
        out_format("warning: %u samples are missing: this machine was too busy to take them all\n",
                   (unsigned)s->missing);
}

static void print_json(const session_t *s, const result_t *result, size_t plans,
                       const counts_t *counts, const char *picture) {
    const bool instructions = s->client->device.flags & HELLO_INSTRUCTIONS;
    json_begin(NULL);
    json_string("robot", s->robot->name);
    json_string("board", s->client->device.board);
    json_string("real", s->client->device.real);
    report_json(s->robot, result, plans);
    json_integer("ticks", counts->counter[COUNTER_TICKS]);
    json_integer("overruns", counts->counter[COUNTER_OVERRUNS]);
    json_integer("samples", counts->counter[COUNTER_SAMPLES]);
    json_integer("dropped", counts->counter[COUNTER_DROPPED]);
    json_integer("ticks_per_sample", s->every);
    json_string("tick_unit", instructions ? "instructions" : "cycles");
    json_integer("tick_mean", counts->costs.mean[STAGES]);
    json_integer("tick_worst", counts->costs.most[STAGES]);
    if (s->changed[0] != '\0')
        json_string("not_compared", s->changed);
    json_integer("compared", (long)s->compared);
    json_integer("different", (long)s->different);
    json_integer("missing", s->missing);
    json_string("folder", s->folder);
    json_string("picture", picture);
    json_end();
}

/* Prints what the board has counted, and draws the picture. */
static int finish(session_t *s, const result_t *result, size_t plans) {
    counts_t counts;
    char picture[512];
    snprintf(picture, sizeof picture, "%s/run.png", s->folder);
    if (costs_fetch(s->client, &counts.costs) != 0 ||
        client_counters(s->client, counts.counter) != 0)
        return board_failed(s);
    if (!s->json)
        print_counts(s, &counts);
    if (report_plot(s->robot, result, plans, picture) != EXIT_YES)
        return EXIT_BAD;
    if (s->json)
        print_json(s, result, plans, &counts, picture);
    else
        out_format("rows in %s/*.csv, picture in %s\n", s->folder, picture);
    return counts.counter[COUNTER_OVERRUNS] == 0 && s->different == 0 && !s->stopped ? EXIT_YES
                                                                                     : EXIT_NO;
}

static int compare_controllers(session_t *s) {
    static plan_t plan[2];
    static result_t result[2];
    const size_t plans = make_plans(s->robot, plan);
    int status = EXIT_YES;
    s->trials_all = plans * REPORT_MASSES * REPORT_CONTROLLERS;
    for (size_t i = 0; i < plans && status == EXIT_YES; i++)
        status = run_plan(s, &plan[i], &result[i]);
    if (status == EXIT_YES)
        status = finish(s, result, plans);
    for (size_t i = 0; i < plans; i++) {
        free(plan[i].point);
        for (int m = 0; m < REPORT_MASSES; m++)
            for (int c = 0; c < REPORT_CONTROLLERS; c++)
                record_free(&result[i].record[m][c]);
    }
    return status;
}

/* ---------------------------------------------------------------------------------- the command */

static int make_folder(const char *path) {
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return diag_error(path, "check the path and its permissions; the parent folder must exist",
                          "cannot be made: %s", strerror(errno));
    return EXIT_YES;
}

/* The host's control step takes parameters from the robot image and from the trial; all others have
 * their defaults. Finds one of these others that has another value on the board. */
static int find_changed(session_t *s) {
    static const struct {
        const char *name, *key;
    } table[] = {
#define X(name, shape, when, unit, least, most, fallback, key, help) {#name, key},
        PARAMETER_ONE_TABLE(X)
#undef X
    };
    static const char without_effect[] = " sample_every stages rate_check ";
    static const char trial[] = " feedforward sim_mass "
#define X(name, value) #name " "
        TRIAL_GUARDS(X)
#undef X
        ;
    for (uint32_t p = 0; p < s->client->device.parameters; p++) {
        const device_parameter_t *own = &s->client->device.parameter[p];
        char word[CLIENT_NAME + 2];
        snprintf(word, sizeof word, " %s ", own->name);
        bool known =
            own->per_joint || strstr(without_effect, word) != NULL || strstr(trial, word) != NULL;
        for (size_t k = 0; k < sizeof table / sizeof table[0]; k++)
            known = known || (!strcmp(table[k].name, own->name) && table[k].key[0] != '\0');
        if (!strcmp(own->name, "feedback") && !(s->robot->has & IMAGE_HAS_FEEDBACK))
            known = false; /* loading such a robot leaves the board's feedback as it is */
        float value = own->fallback;
        bool saved;
        if (!known && client_get(s->client, p, 0, &value, &saved) != 0)
            return -1;
        if (value != own->fallback)
            snprintf(s->changed, sizeof s->changed, "%s is not at its default", own->name);
    }
    return 0;
}

static int with_board(const request_t *request, session_t *s) {
    if (client_lead(s->client, "demo") != 0)
        return board_failed(s);
    if (request_has(request, OPTION_SET) &&
        board_set(s->client, request->value[OPTION_SET]) != EXIT_YES)
        return EXIT_BAD;
    s->asked = request->value[OPTION_SET];
    if (request_has(request, OPTION_SET))
        snprintf(s->changed, sizeof s->changed, "--set was given");
    else if (find_changed(s) != 0)
        return board_failed(s);
    if (trial_stream(s->client, 1, &s->every) != 0)
        return board_failed(s);
    if (!s->json)
        out_format("%s on %s (%s)\n", s->robot->name, s->client->device.board,
                   s->client->device.real);
    out_flush();
    return compare_controllers(s);
}

static void interrupt(int signal) {
    trial_signal = signal;
}

int cmd_demo(const request_t *request) {
    robot_t *robot = arm_load_compute(request);
    if (!robot)
        return EXIT_BAD;
    const char *port =
        request_has(request, OPTION_PORT) ? request->value[OPTION_PORT] : "qemu:netduinoplus2";
    session_t s = {.robot = robot,
                   .json = request_has(request, OPTION_JSON),
                   .folder = request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT]
                                                                 : "appell-demo"};
    messages_t messages = MESSAGES_INIT;
    int status = make_folder(s.folder);
    if (status == EXIT_YES && request_has(request, OPTION_GENERATED) &&
        twin_gen_use(&robot->model) != DYN_OK)
        status = diag_no_memory();
    if (status == EXIT_YES) {
        s.image = robot_image_make(robot, &s.image_size, &messages);
        diag_messages(&messages, request_has(request, OPTION_QUIET));
        status = s.image ? EXIT_YES : EXIT_BAD;
    }
    if (status == EXIT_YES) {
        signal(SIGINT, interrupt);
        signal(SIGTERM, interrupt);
        s.client = board_open_image(port, "the comparison of controllers", s.image, s.image_size);
        status = s.client ? with_board(request, &s) : EXIT_BAD;
    }
    if (s.client)
        client_close(s.client);
    twin_gen_drop();
    messages_free(&messages);
    free(s.image);
    arm_free(robot);
    if (trial_signal != 0) { /* so that a shell sees the exit code 128 + signal */
        out_flush();
        signal(trial_signal, SIG_DFL);
        raise(trial_signal);
    }
    return status;
}

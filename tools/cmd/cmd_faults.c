/* faults: lists the faults, explains one, or provokes them on a simulated arm. clear: clears that of
 * a board. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "firmware/app/errors.h"
#include "firmware/safety/faults.h"
#include "firmware/control/sample.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/lead/rest.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/motion/faults.h"
#include "tools/motion/faults_twin.h"

/* Returns the fault with this number or name (with a hyphen or a blank between words), or 0 if
 * there is none. */
static unsigned fault_named(const char *word) {
    for (unsigned f = 1; f < APP_FAULTS; f++) {
        const char *name = app_fault_name(f);
        char number[12];
        size_t i = 0;
        while (word[i] && (name[i] == word[i] || (name[i] == ' ' && word[i] == '-')))
            i++;
        snprintf(number, sizeof number, "%u", f);
        if ((!word[i] && !name[i]) || !strcmp(number, word))
            return f;
    }
    return 0;
}

static void entry_text(unsigned f) {
    out_format("%2u  %-12s best stop: %s\n    %s\n    cure: %s\n", f, app_fault_name(f),
               app_stop_name(app_fault_stop(f)), app_fault_cause(f), app_fault_cure(f));
}

static void entry_json(unsigned f) {
    json_begin(NULL);
    json_integer("number", (long)f);
    json_string("name", app_fault_name(f));
    json_string("unit", quantity_unit(app_fault_quantity(f), 0));
    json_string("stop", app_stop_name(app_fault_stop(f)));
    json_string("cause", app_fault_cause(f));
    json_string("cure", app_fault_cure(f));
    json_end();
}

static void table_text(void) {
    for (unsigned f = 1; f < APP_FAULTS; f++)
        entry_text(f);
    out_text("\nstops, from best to worst\n");
    for (unsigned s = 0; s < APP_STOPS; s++)
        out_format("    %-8s %s\n", app_stop_name(s), app_stop_does(s));
}

static void table_json(void) {
    json_begin(NULL);
    json_list("faults");
    for (unsigned f = 1; f < APP_FAULTS; f++)
        entry_json(f);
    json_list_end();
    json_list("stops");
    for (unsigned s = 0; s < APP_STOPS; s++) {
        json_begin(NULL);
        json_string("name", app_stop_name(s));
        json_string("does", app_stop_does(s));
        json_end();
    }
    json_list_end();
    json_end();
}

static void print_line(const char *line) {
    out_format("%s\n", line);
    out_flush();
}

static void print_line_json(const char *line) {
    json_string(NULL, line);
}

static int provoke_on_board(const request_t *request, const robot_t *robot) {
    size_t size = 0;
    uint32_t done = 0;
    const char *folder =
        request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT] : "appell-faults";
    uint8_t *image = board_image(request, robot, &size);
    client_t *client = image ? board_open(request, DISCOVER_ALL | BOARD_LAB) : NULL;
    int status = EXIT_BAD;
    (void)mkdir(folder, 0777);
    if (client && board_needs_lab(client, "provoking faults") == EXIT_YES &&
        board_give(client, "provoking faults", image, size) == EXIT_YES) {
        const bool json = request_has(request, OPTION_JSON);
        if (json) {
            json_begin(NULL);
            json_list("report");
        }
        const int failed =
            faults_provoke(client, robot, folder, json ? print_line_json : print_line, &done);
        status = failed < 0 ? board_error(client) : failed > 0 ? EXIT_NO : EXIT_YES;
        if (json) {
            json_list_end();
            json_integer("as_expected", done);
            json_integer("not_as_expected", failed < 0 ? 1 : failed);
            json_string("folder", folder);
            json_end();
        } else
            out_format("%u faults were as expected, %d were not; samples in %s/fault-*.csv\n",
                       (unsigned)done, failed < 0 ? 1 : failed, folder);
    }
    if (client)
        client_close(client);
    free(image);
    return status;
}

/* Writes "value (bound)", or the value alone. */
static void with_bound(char *text, size_t size, const char *format, double value, double bound,
                       bool bounded) {
    const int at = snprintf(text, size, format, value);
    if (bounded && at > 0 && (size_t)at + 3 < size) {
        char number[24];
        snprintf(number, sizeof number, format, bound);
        snprintf(text + at, size - (size_t)at, " (%s)", number);
    }
}

static void print_motion(const faults_motion_t *m) {
    char speed[40], travel[40], fall[40];
    with_bound(speed, sizeof speed, "%.2f", m->speed.value, m->speed.bound, m->bounded);
    with_bound(travel, sizeof travel, "%.3f", m->travel.value, m->travel.bound, m->bounded);
    with_bound(fall, sizeof fall, "%.3f", m->fall, m->fall_bound, m->bounded);
    out_format(" %12s %15s %15s", speed, travel, fall);
}

static const char *outcome(const faults_result_t *r) {
    return r->answer != r->row->answer  ? reason_cause(r->answer)
           : r->fault != APP_FAULT_NONE ? app_fault_name(r->fault)
           : r->row->why                ? r->row->why
                                        : "not found";
}

static void result_text(const robot_t *robot, const faults_result_t *r) {
    (void)robot;
    out_format("%s: %s%s", r->row->how, r->answer != APP_OK ? "refused: " : "", outcome(r));
    if (r->fault != APP_FAULT_NONE && r->row->when)
        out_format(" (%s)", r->row->when);
    else if (r->fault != APP_FAULT_NONE)
        out_format(" after %.0f ms, %.3f from the reference", 1000 * r->found_s, r->off);
    if (r->noticed)
        out_format(" (notice after %.0f ms)", 1000 * r->found_s);
    if (r->fault != APP_FAULT_NONE)
        out_format("; stop: %s%s%s", app_stop_name(r->stop), r->worst > r->stop ? ", then " : "",
                   r->worst > r->stop ? app_stop_name(r->worst) : "");
    out_text("\n   ");
    print_motion(&r->without);
    out_text(" | ");
    print_motion(&r->with);
    out_format("%s\n", r->good ? "" : "   NOT AS EXPECTED");
    out_flush();
}

static void json_motion(const char *key, const robot_t *robot, const faults_motion_t *m) {
    json_begin(key);
    json_string("fastest", robot->joint[m->speed.joint].name);
    json_number("speed", m->speed.value);
    json_string("farthest", robot->joint[m->travel.joint].name);
    json_number("travel", m->travel.value);
    json_number("fall_m", m->fall);
    if (m->bounded) {
        json_number("speed_bound", m->speed.bound);
        json_number("travel_bound", m->travel.bound);
        json_number("fall_bound_m", m->fall_bound);
    }
    json_end();
}

static void result_json(const robot_t *robot, const faults_result_t *r) {
    json_begin(NULL);
    json_string("defect", r->row->how);
    json_bool("refused", r->answer != APP_OK);
    json_bool("found", r->fault != APP_FAULT_NONE);
    json_string("outcome", outcome(r));
    json_bool("as_expected", r->good);
    json_bool("falls", r->free);
    if (r->noticed)
        json_number("noticed_s", r->found_s);
    if (r->fault != APP_FAULT_NONE) {
        if (r->row->when)
            json_string("found_when", r->row->when);
        else
            json_number("found_s", r->found_s);
        json_string("stop", app_stop_name(r->stop));
        json_string("worst_stop", app_stop_name(r->worst));
    }
    json_number("off_reference", r->off);
    json_motion("without_brakes", robot, &r->without);
    json_motion("with_brakes", robot, &r->with);
    json_end();
}

/* Injects every defect into the board's twin. */
static int inject(const request_t *request, const robot_t *robot) {
    const bool json = request_has(request, OPTION_JSON);
    size_t size = 0;
    uint8_t *image = board_image(request, robot, &size); /* prints what is wrong with the robot */
    if (!image)
        return EXIT_BAD;
    free(image);
    if (json)
        json_list(NULL);
    else
        out_text("Speed of the fastest joint, rad/s or m/s; travel of the farthest, rad or m; fall "
                 "of the end effector, m; each (bound): without brakes | with brakes\n");
    const int failed = faults_twin(robot, json ? result_json : result_text);
    if (json)
        json_list_end();
    else if (failed >= 0)
        out_format("%d defects were not as expected\n", failed);
    if (failed < 0)
        return diag_error(NULL, "check the robot with `appell check`",
                          "the dynamics of the robot cannot be computed");
    return failed > 0 ? EXIT_NO : EXIT_YES;
}

/* Says why CLEAR is not possible in the present state of the board. */
static int not_cleared(client_t *client) {
    device_status_t status;
    if (client_status(client, &status) != 0)
        return board_error(client);
    if (status.state == APP_STATE_FAULT)
        diag_error(client->device.board, "clear the fault when the arm is at rest",
                   "the arm still brakes");
    else
        diag_error(client->device.board, "`appell status --port P` shows what the board does",
                   "there is no fault to clear; the board is %s", board_state(&status));
    return EXIT_NO;
}

/* Says what the board does now, and what clearing has not changed. */
static int cleared(client_t *client, const request_t *request) {
    rest_t rest;
    if (rest_read(client, &rest) != 0)
        return board_error(client);
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("board", client->device.board);
        json_string("state", board_state(&rest.status));
        json_string("arm", rest_text(&rest));
        json_bool("unrestored", rest.status.flags & STATUS_UNRESTORED);
        json_end();
        return EXIT_YES;
    }
    out_format("%s: cleared; %s\n", client->device.board, rest_text(&rest));
    if (rest.status.flags & STATUS_UNRESTORED)
        out_format("%s: a stored value was refused at the start; `appell status` says more, and "
                   "another `appell clear` acknowledges it\n",
                   client->device.board);
    return EXIT_YES;
}

int cmd_clear(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_ROBOT);
    if (!client)
        return EXIT_BAD;
    const int result = client_clear(client) == 0       ? cleared(client, request)
                       : client->reason == APP_E_STATE ? not_cleared(client)
                                                       : board_error(client);
    client_close(client);
    return result;
}

static int list(const request_t *request) {
    if (request_has(request, OPTION_PORT))
        return diag_error("--port", "`appell status` shows the fault of a board, with its cure",
                          "the list of faults is the same for every board");
    if (request_has(request, OPTION_JSON))
        table_json();
    else
        table_text();
    return EXIT_YES;
}

static int unknown_fault(const char *word) {
    const char *known[APP_FAULTS] = {NULL};
    char cure[120];
    for (unsigned f = 1; f < APP_FAULTS; f++)
        known[f - 1] = app_fault_name(f);
    messages_suggest(cure, sizeof cure, word, known, "`appell faults` lists the faults");
    return diag_error(NULL, cure, "there is no fault '%s'", word);
}

static int explain(const request_t *request) {
    if (request->arguments < 2)
        return diag_error(NULL, "write `appell faults explain FAULT`; `appell faults` lists all",
                          "FAULT is missing");
    const unsigned fault = fault_named(request->argument[1]);
    if (fault == 0)
        return unknown_fault(request->argument[1]);
    if (request_has(request, OPTION_JSON))
        entry_json(fault);
    else
        entry_text(fault);
    return EXIT_YES;
}

static int provoke(const request_t *request) {
    if (request->arguments < 2)
        return diag_error(NULL, "write `appell faults provoke ROBOT`", "ROBOT is missing");
    request_t arm = *request;
    arm.argument[0] = request->argument[1];
    robot_t *robot = arm_load_rigid(&arm);
    if (!robot)
        return EXIT_BAD;
    const int status = request_has(request, OPTION_PORT) ? provoke_on_board(request, robot)
                                                         : inject(request, robot);
    arm_free(robot);
    return status;
}

int cmd_faults(const request_t *request) {
    static const char *const words[] = {"explain", "provoke", NULL};
    char cure[160];
    if (request->arguments == 0)
        return list(request);
    const char *word = request->argument[0];
    if (!strcmp(word, words[0]))
        return explain(request);
    if (!strcmp(word, words[1]))
        return provoke(request);
    if (fault_named(word) > 0)
        snprintf(cure, sizeof cure, "write `appell faults explain %.40s`", word);
    else
        messages_suggest(cure, sizeof cure, word, words,
                         "write `appell faults explain FAULT` or `appell faults provoke ROBOT`");
    return diag_error(NULL, cure, "'%s' is neither explain nor provoke", word);
}

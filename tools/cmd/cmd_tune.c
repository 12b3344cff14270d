/* get, set: read and write the parameters of a board by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/number.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"

/* Chooses the unit for a joint from a text like "N m/rad|N/m": revolute before the bar, prismatic
 * after it. */
static void unit_of(const client_t *client, const device_parameter_t *t, uint32_t joint, char *out,
                    size_t size) {
    const char *bar = strchr(t->unit, '|');
    const bool second = bar && t->per_joint && client->device.prismatic[joint];
    if (second)
        snprintf(out, size, "%s", bar + 1);
    else
        snprintf(out, size, "%.*s", bar ? (int)(bar - t->unit) : (int)strlen(t->unit), t->unit);
}

static void name_of(const client_t *client, const device_parameter_t *t, uint32_t joint, char *out,
                    size_t size) {
    if (t->per_joint)
        snprintf(out, size, "%s[%s]", t->name, client->device.joint[joint]);
    else
        snprintf(out, size, "%s", t->name);
}

static int show(const request_t *request, client_t *client, uint32_t parameter, uint32_t joint) {
    const device_parameter_t *t = &client->device.parameter[parameter];
    char name[2 * CLIENT_NAME + 8], unit[CLIENT_NAME];
    float value;
    bool saved;
    if (client_get(client, parameter, joint, &value, &saved) != 0)
        return board_error(client);
    name_of(client, t, joint, name, sizeof name);
    unit_of(client, t, joint, unit, sizeof unit);
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("name", name);
        json_number("value", (double)value);
        json_string("unit", unit);
        json_number("least", (double)t->least);
        json_number("most", (double)t->most);
        json_bool("saved", saved);
        json_string("help", t->help);
        json_end();
        return EXIT_YES;
    }
    out_format("%-24s %12.7g %-10s %s%-14s  [%g .. %g]%s  %s\n", name, (double)value, unit, "",
               saved ? "" : "(only in RAM)", (double)t->least, (double)t->most,
               t->idle_only ? " only while idle" : "", t->help);
    return EXIT_YES;
}

static int show_all(const request_t *request, client_t *client, uint32_t parameter, int joint) {
    const device_t *d = &client->device;
    const uint32_t count = d->parameter[parameter].per_joint ? d->joints : 1;
    int status = EXIT_YES;
    for (uint32_t i = 0; i < count && status == EXIT_YES; i++)
        if (joint < 0 || (uint32_t)joint == i)
            status = show(request, client, parameter, i);
    return status;
}

/* Finds the parameter that the command line names, and its joint. *joint is -1 if all joints are
 * meant, and 0 if the parameter is not per joint. */
static int find(const request_t *request, client_t *client, uint32_t *parameter, int *joint) {
    const device_t *d = &client->device;
    if (client_parameter(client, request->argument[0], parameter, joint) != 0) {
        diag_error(d->board, client->error.cure, "%s", client->error.what);
        return EXIT_BAD;
    }
    if (!d->parameter[*parameter].per_joint || d->joints > 0)
        return EXIT_YES;
    diag_error(d->board, "load a robot with `appell flash ROBOT`",
               "%s has a value for each joint, but the board has no robot",
               d->parameter[*parameter].name);
    return EXIT_NO;
}

/* Prints one parameter; in JSON the values of all its joints are a list. */
static int show_named(const request_t *request, client_t *client, uint32_t parameter, int joint) {
    const bool list = request_has(request, OPTION_JSON) && joint < 0 &&
                      client->device.parameter[parameter].per_joint;
    if (list)
        json_list(NULL);
    const int status = show_all(request, client, parameter, joint);
    if (list)
        json_list_end();
    return status;
}

/* Prints the board's choice of telemetry fields. It is saved with the parameters but has names
 * instead of a number. */
static int show_telemetry(const request_t *request, client_t *client) {
    uint8_t chosen[256];
    uint32_t choices, every;
    if (client_discover_some(client, DISCOVER_FIELDS) != 0 ||
        client_choice(client, chosen, &choices, &every) != 0)
        return board_error(client);
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("name", "telemetry");
        json_list("fields");
        for (uint32_t i = 0; i < choices; i++)
            json_string(NULL, client->device.field[chosen[i]].name);
        json_list_end();
        json_integer("every", every);
        json_end();
        return EXIT_YES;
    }
    out_format("%-24s ", "telemetry");
    for (uint32_t i = 0; i < choices; i++)
        out_format("%s%s", i > 0 ? "," : "", client->device.field[chosen[i]].name);
    if (choices > 0)
        out_format(" every %u ticks", (unsigned)every);
    out_text(choices > 0 ? "  shown by `appell monitor` without --fields\n"
                         : "no fields are chosen; `appell monitor --fields` chooses some\n");
    return EXIT_YES;
}

static int get(const request_t *request, client_t *client) {
    uint32_t parameter;
    int joint, status = EXIT_YES;
    if (request->arguments > 0 && !strcmp(request->argument[0], "telemetry"))
        return show_telemetry(request, client);
    if (request->arguments > 0) {
        status = find(request, client, &parameter, &joint);
        return status == EXIT_YES ? show_named(request, client, parameter, joint) : status;
    }
    if (request_has(request, OPTION_JSON))
        json_list(NULL);
    for (uint32_t i = 0; i < client->device.parameters && status == EXIT_YES; i++)
        status = show_all(request, client, i, -1);
    if (request_has(request, OPTION_JSON)) {
        json_list_end();
        return status;
    }
    return status == EXIT_YES ? show_telemetry(request, client) : status;
}

static int set(const request_t *request, client_t *client) {
    double value;
    const char *text = request->argument[1];
    const char *end = number_scan(text, &value);
    uint32_t parameter;
    int joint;
    if (!end || *end || !isfinite(value))
        return diag_error(NULL, "write a number", "'%s' is not a finite number", text);
    const int status = find(request, client, &parameter, &joint);
    if (status != EXIT_YES)
        return status;
    const device_parameter_t *t = &client->device.parameter[parameter];
    for (uint32_t i = 0; i < (t->per_joint ? client->device.joints : 1); i++) {
        float now;
        if (joint >= 0 && (uint32_t)joint != i)
            continue;
        if (client_set(client, parameter, i, (float)value, &now) != 0) {
            char cure[2 * PORT_TEXT], unit[CLIENT_NAME];
            unit_of(client, t, i, unit, sizeof unit);
            snprintf(cure, sizeof cure, "%.200s (%s: %g .. %g %.60s)", client->error.cure, t->name,
                     (double)t->least, (double)t->most, unit);
            diag_error(client->device.board, cure, "%s", client->error.what);
            return client->status >= 0 ? EXIT_NO : EXIT_BAD;
        }
    }
    return show_named(request, client, parameter, joint);
}

static int with_board(const request_t *request,
                      int (*what)(const request_t *request, client_t *client)) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS);
    if (!client)
        return EXIT_BAD;
    const int status = what(request, client);
    client_close(client);
    return status;
}

int cmd_get(const request_t *request) {
    return with_board(request, get);
}

int cmd_set(const request_t *request) {
    return with_board(request, set);
}

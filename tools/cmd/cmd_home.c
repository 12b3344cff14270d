/* home: finds the positions of the joints at stops and switches, or sets them to given values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/safety/faults.h"
#include "firmware/params/parameters.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/lead/lead.h"

enum { POLL_MS = 50 };

/* What is known of the board while its joints are homed one after the other. */
typedef struct {
    bool begun; /* a joint was homed, so the outputs are on */
    bool reset; /* the board was reset meanwhile: its ticks count from 0 again */
    device_status_t status;
} homing_t;

static int read_status(client_t *client, homing_t *h) {
    const uint32_t before = h->status.tick;
    if (client_status(client, &h->status) != 0)
        return -1;
    h->reset = h->reset || (int32_t)(h->status.tick - before) < 0;
    return 0;
}

/* Waits until the accepted homing is over. The board reports a motion as soon as it has accepted
 * one, even before the next tick, so a slow host cannot miss the end. */
static int wait_end(client_t *client, const position_t *view, uint32_t joint, homing_t *h) {
    do {
        if (client_poll(client, POLL_MS) < 0 || read_status(client, h) != 0)
            return -1;
        if (isatty(STDERR_FILENO) && view->seen > 0)
            fprintf(stderr, "\r    %+9.4f", view->q[joint]);
    } while (lead_signal == 0 && !h->reset && h->status.state != APP_STATE_FAULT &&
             (h->status.state == APP_STATE_HOMING || h->status.flags & STATUS_MOVING));
    if (isatty(STDERR_FILENO))
        fputs("\r              \r", stderr);
    return 0;
}

static int get(client_t *client, const char *name, uint32_t joint, float *value) {
    uint32_t parameter;
    int all;
    bool saved;
    if (client_parameter(client, name, &parameter, &all) != 0)
        return -1;
    return client_get(client, parameter, joint, value, &saved);
}

/* Prints the fault in the words that the firmware uses. */
static int print_fault(client_t *client, uint32_t joint) {
    device_fault_t fault;
    if (client_fault(client, &fault) != 0)
        return board_error(client);
    diag_error(client->device.joint[joint], app_fault_cure(fault.fault),
               "homing ended with the fault %s: %s", app_fault_name(fault.fault),
               app_fault_cause(fault.fault));
    return EXIT_NO;
}

static const char *const way[] = {"lower switch", "lower stop", "absolute encoder", "upper stop",
                                  "upper switch"};

static void print_result(const request_t *request, const client_t *client, const position_t *view,
                         uint32_t joint, int how, double position) {
    const bool simulated = client->device.flags & HELLO_EMULATED && view->at_arm >= 0;
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("joint", client->device.joint[joint]);
        json_string("by", way[how + 2]);
        json_number("found_at", position);
        json_number("position", view->q[joint]);
        if (simulated)
            json_number("error", view->q[joint] - view->q_arm[joint]);
        json_end();
        return;
    }
    out_format("%-14s found the %s at %+.4f; now at %+.4f", client->device.joint[joint],
               way[how + 2], position, view->q[joint]);
    if (simulated)
        out_format("; %+.3f mrad or mm from the true position of the simulated arm",
                   1000 * (view->q[joint] - view->q_arm[joint]));
    out_text("\n");
    out_flush();
}

static int print_stopped(client_t *client, const homing_t *h, uint32_t joint, int how) {
    rest_t rest;
    if (rest_wait(client, &rest) != 0)
        return board_error(client);
    diag_error(client->device.joint[joint], "give the command again when that is safe",
               "%s before the %s was found; %s", h->reset ? "the board was reset" : "stopped",
               way[how + 2], rest_text(&rest));
    return EXIT_NO;
}

/* Asks before the first joint. Before the others the loop must still hold the arm, because nothing
 * may switch the outputs on again after a reset or a stop. */
static int may_begin(const request_t *request, client_t *client, homing_t *h, uint32_t joint,
                     int how) {
    if (!h->begun) {
        const int agreed = lead_agree(request, client);
        return agreed != EXIT_YES || client_status(client, &h->status) == 0 ? agreed
                                                                            : board_error(client);
    }
    if (read_status(client, h) != 0)
        return board_error(client);
    if (!h->reset && h->status.state == APP_STATE_FAULT)
        return print_fault(client, joint);
    return h->reset || h->status.state != APP_STATE_RUNNING ? print_stopped(client, h, joint, how)
                                                            : EXIT_YES;
}

/* Homes one joint; skips a joint that knows its position without homing. */
static int home_one(const request_t *request, client_t *client, position_t *view, uint32_t joint,
                    homing_t *h) {
    motion_t motion = {.kind = MOTION_HOME};
    float how, position;
    if (get(client, "home", joint, &how) != 0 ||
        get(client, "home_position", joint, &position) != 0)
        return board_error(client);
    if (how == 0 && request_has(request, OPTION_JOINT))
        return diag_error(
            client->device.joint[joint], "set `home`, or give the position of the arm with --at",
            "`home` is 0, which means an absolute encoder, so there is nothing to find");
    if (how == 0)
        return EXIT_YES;
    motion.value[joint] = 1;
    const int agreed = may_begin(request, client, h, joint, (int)how);
    if (agreed != EXIT_YES)
        return agreed;
    if (lead_motion(client, &motion) != 0 || wait_end(client, view, joint, h) != 0)
        return lead_refused(client);
    h->begun = true;
    if (lead_signal != 0)
        return EXIT_BAD;
    if (!h->reset && h->status.state == APP_STATE_FAULT)
        return print_fault(client, joint);
    if (h->reset || h->status.unhomed & 1u << joint)
        return print_stopped(client, h, joint, (int)how);
    if (position_wait(client, view, &h->status) != 0)
        return board_error(client);
    print_result(request, client, view, joint, (int)how, (double)position);
    return EXIT_YES;
}

static int find_joint(const client_t *client, const char *name, uint32_t *joint) {
    for (*joint = 0; *joint < client->device.joints; ++*joint)
        if (!strcmp(client->device.joint[*joint], name))
            return EXIT_YES;
    return diag_error("--joint", "`appell get home` lists the joints", "there is no joint %s",
                      name);
}

/* Homes one joint after the other, the last joint first, because a folded end effector leaves room
 * for the others. */
static int seek(const request_t *request, client_t *client, position_t *view) {
    uint32_t only = UINT32_MAX;
    homing_t h = {.begun = false};
    int status = EXIT_YES;
    if (request_has(request, OPTION_JOINT) &&
        find_joint(client, request->value[OPTION_JOINT], &only) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_JSON))
        json_list(NULL);
    for (uint32_t i = client->device.joints; i-- > 0 && status == EXIT_YES;)
        if (only == UINT32_MAX || only == i)
            status = home_one(request, client, view, i, &h);
    if (request_has(request, OPTION_JSON))
        json_list_end();
    else if (status == EXIT_YES)
        out_text("all joints that were asked for are homed\n");
    return status;
}

/* Sets the encoder offsets such that the arm's present position is the one that the user gives. */
static int set_offsets(const request_t *request, client_t *client, position_t *view) {
    double at[DYN_MAX_JOINTS], read[DYN_MAX_JOINTS];
    device_status_t status;
    uint32_t parameter;
    int all;
    float before, now;
    const uint32_t n = client->device.joints;
    if (request_list(request, OPTION_AT, at, n, n, NULL) != EXIT_YES)
        return EXIT_BAD;
    const int rest = board_outputs_off(request, client);
    if (rest != EXIT_YES)
        return rest;
    if (client_status(client, &status) != 0 || position_wait(client, view, &status) != 0 ||
        client_parameter(client, "encoder_offset", &parameter, &all) != 0)
        return board_error(client);
    /* copied, because later samples may already contain a new offset */
    memcpy(read, view->q, sizeof read);
    const bool json = request_has(request, OPTION_JSON);
    if (json)
        json_list(NULL);
    for (uint32_t i = 0; i < n; i++) {
        const double wrong = at[i] - read[i];
        if (get(client, "encoder_offset", i, &before) != 0 ||
            client_set(client, parameter, i, (float)((double)before + wrong), &now) != 0)
            return board_error(client);
        if (json) {
            json_begin(NULL);
            json_string("joint", client->device.joint[i]);
            json_number("read", read[i]);
            json_number("encoder_offset", (double)now);
            json_end();
        } else {
            out_format(
                "%-14s the encoder gave %+.4f instead of %+.4f; encoder_offset is now %+.6f\n",
                client->device.joint[i], read[i], at[i], (double)now);
        }
    }
    if (json)
        json_list_end();
    else
        out_text("the change lasts until the next reset; `appell save` keeps it\n");
    return EXIT_YES;
}

static int with_board(const request_t *request, client_t *client) {
    position_t view;
    if (client->device.joints == 0)
        return diag_error(client->device.board,
                          "load a robot with `appell flash ROBOT`, or give ROBOT in this command",
                          "the board has no robot");
    if (request_has(request, OPTION_SET)) {
        const int status = board_set(client, request->value[OPTION_SET]);
        if (status != EXIT_YES)
            return status;
    }
    if (lead_take(client, "home", &view) != 0)
        return board_error(client);
    return request_has(request, OPTION_AT) ? set_offsets(request, client, &view)
                                           : seek(request, client, &view);
}

int cmd_home(const request_t *request) {
    client_t *client = NULL;
    lead_catch();
    if (request->arguments > 0) {
        robot_t *robot = arm_load_rigid(request);
        client = robot ? board_open_with(request, robot, NULL) : NULL;
        arm_free(robot);
    } else {
        client = board_open(request, DISCOVER_ALL);
    }
    if (!client)
        return EXIT_BAD;
    return lead_close(client, with_board(request, client));
}

/* Implements tools/lead/lead.h. */
#include "tools/lead/lead.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "firmware/app/errors.h"
#include "firmware/params/parameters.h"
#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/confirm.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"

volatile sig_atomic_t lead_signal;

static void note(int signal) {
    lead_signal = signal;
}

void lead_catch(void) {
    /* without SA_RESTART, so that a signal also ends a wait */
    const struct sigaction action = {.sa_handler = note};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGQUIT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* The hub gives the samples to the holder of the lease, whatever others receive. */
int lead_take(client_t *client, const char *name, position_t *position) {
    if (position && position_stream(client, position) != 0 && client->status != LINK_TAKEN)
        return -1;
    if (client_lead(client, name) != 0)
        return -1;
    return position && position->at_q < 0 ? position_stream(client, position) : 0;
}

client_t *lead_open(const request_t *request, position_t *position) {
    lead_catch();
    client_t *client = board_open(request, DISCOVER_PARAMETERS | DISCOVER_FIELDS);
    if (!client)
        return NULL;
    if (client->device.joints == 0)
        diag_error(client->device.board, "load a robot: `appell flash ROBOT`",
                   "the board has no robot");
    else if (lead_take(client, request->command->name, position) != 0)
        board_error(client);
    else
        return client;
    client_close(client);
    return NULL;
}

int lead_agree(const request_t *request, client_t *client) {
    rest_t rest;
    if (rest_read(client, &rest) != 0)
        return board_error(client);
    if (rest.arm == ARM_SIMULATED || rest.fault.enabled || request_has(request, OPTION_UNATTENDED))
        return EXIT_YES;
    return confirm("the outputs of the real arm come on",
                   "give the command at a terminal, or add --unattended if nobody needs to agree",
                   "The outputs of the real arm come on now. Keep clear of the arm, with a hand at "
                   "the emergency stop.",
                   &lead_signal);
}

int lead_motion(client_t *client, const motion_t *motion) {
    return lead_signal != 0 ? -1 : client_motion(client, motion);
}

int lead_refused(client_t *client) {
    if (lead_signal != 0)
        return EXIT_BAD;
    const port_error_t refused = client->error;
    const int status = client->status, reason = client->reason;
    device_fault_t fault;
    if (reason == APP_E_STATE && client_fault(client, &fault) == 0 &&
        fault.fault != APP_FAULT_NONE) {
        diag_error(
            client->device.board, app_fault_cure(fault.fault),
            "the board has the fault %s: %s; `appell clear` clears it when its cause is gone",
            app_fault_name(fault.fault), app_fault_cause(fault.fault));
        return EXIT_NO;
    }
    client->error = refused;
    client->status = status;
    client->reason = reason;
    return board_error(client);
}

static void stop(client_t *client) {
    rest_t rest;
    if (rest_stop(client, &rest) == 0)
        /* no note: --quiet must not hide what holds the arm */
        diag_error(client->device.board, NULL, "interrupted: %s", rest_text(&rest));
    else
        diag_error(client->device.board, "press the emergency stop if the arm moves",
                   "interrupted, and the board did not confirm the stop: %s", client->error.what);
}

int lead_close(client_t *client, int code) {
    client->on_sample = NULL; /* the positions of the command may be gone */
    if (lead_signal != 0)
        stop(client);
    client_close(client);
    if (lead_signal != 0) {
        out_flush();
        signal(lead_signal, SIG_DFL);
        raise(lead_signal);
    }
    return code;
}

static void report_json(const rest_t *rest, const position_t *p) {
    double off[DYN_MAX_JOINTS];
    json_begin(NULL);
    if (p)
        json_numbers("q", p->q, p->n, 9);
    for (uint32_t i = 0; p && i < p->n; i++)
        off[i] = p->q_ref[i] - p->q[i];
    if (p && p->at_ref >= 0)
        json_numbers("error", off, p->n, 9);
    json_string("state", app_state_name(rest->status.state));
    json_bool("outputs", rest->fault.enabled);
    json_bool("moving", rest->status.flags & STATUS_MOVING);
    json_string("fault", app_fault_name(rest->fault.fault));
    json_string("arm", rest_text(rest));
    json_end();
}

static void report_positions(const client_t *client, const position_t *p) {
    for (uint32_t i = 0; i < p->n; i++) {
        const bool prismatic = client->device.prismatic[i];
        out_format("%-14s %+10.5f %-3s", client->device.joint[i], p->q[i], prismatic ? "m" : "rad");
        if (p->at_ref >= 0)
            out_format("   tracking error %+.3f %s", 1000 * (p->q_ref[i] - p->q[i]),
                       prismatic ? "mm" : "mrad");
        out_text("\n");
    }
}

int lead_report(const request_t *request, client_t *client, const rest_t *rest, const position_t *p,
                const char *what) {
    const unsigned fault = rest->fault.fault;
    if (request_has(request, OPTION_JSON)) {
        report_json(rest, p);
    } else {
        if (p && !request_has(request, OPTION_QUIET))
            report_positions(client, p);
        out_format("%s%s%s\n", what, *what ? "; " : "", rest_text(rest));
    }
    out_flush();
    if (fault == APP_FAULT_NONE)
        return EXIT_YES;
    diag_error(rest->fault.joint < client->device.joints ? client->device.joint[rest->fault.joint]
                                                         : client->device.board,
               app_fault_cure(fault), "fault %s: %s", app_fault_name(fault),
               app_fault_cause(fault));
    return EXIT_NO;
}

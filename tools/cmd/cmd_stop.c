/* hold, stop, release: what holds the arm while it does not move. */
#include <stdio.h>
#include <stdlib.h>

#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/confirm.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/commands.h"
#include "tools/lead/lead.h"

static int hold(const request_t *request, client_t *client, position_t *position) {
    const motion_t motion = {.kind = MOTION_HOLD};
    rest_t rest;
    const int agreed = lead_agree(request, client);
    if (agreed != EXIT_YES)
        return agreed;
    if (lead_motion(client, &motion) != 0)
        return lead_refused(client);
    if (rest_wait(client, &rest) != 0 || position_wait(client, position, &rest.status) != 0)
        return board_error(client);
    return lead_report(request, client, &rest, position, "");
}

int cmd_hold(const request_t *request) {
    position_t position;
    client_t *client = lead_open(request, &position);
    return client ? lead_close(client, hold(request, client, &position)) : EXIT_BAD;
}

/* The stop is the first request after the greeting, before anything is read from the board. */
int cmd_stop(const request_t *request) {
    client_t *client = board_open(request, BOARD_BARE);
    rest_t rest;
    if (!client)
        return EXIT_BAD;
    const int code = rest_stop(client, &rest) != 0 || client_discover_robot(client) != 0
                         ? board_error(client)
                         : lead_report(request, client, &rest, NULL, "");
    client_close(client);
    return code;
}

/* Says what falls and asks. */
static int agree(const request_t *request, const rest_t *rest) {
    const bool falls = rest_falls(rest);
    char question[200];
    if (!rest->fault.enabled || request_has(request, OPTION_YES))
        return EXIT_YES;
    snprintf(question, sizeof question, "%s",
             falls ? "The outputs go off at once, and the arm falls: it has no brakes (`brakes`). "
                     "Support it."
                   : "The outputs go off at once. The arm drops until its brakes hold.");
    return confirm(falls ? "the arm falls when it is released"
                         : "the arm drops a little until its "
                           "brakes hold",
                   "add --yes if that is meant; `appell stop` brakes the arm and keeps it",
                   question, &lead_signal);
}

static int release(const request_t *request, client_t *client) {
    rest_t rest;
    if (rest_read(client, &rest) != 0)
        return board_error(client);
    const int agreed = agree(request, &rest);
    if (agreed != EXIT_YES)
        return agreed;
    if (lead_signal != 0 || client_stop(client, true) != 0)
        return lead_refused(client);
    if (rest_wait(client, &rest) != 0)
        return board_error(client);
    return lead_report(request, client, &rest, NULL, "");
}

int cmd_release(const request_t *request) {
    client_t *client = lead_open(request, NULL);
    return client ? lead_close(client, release(request, client)) : EXIT_BAD;
}

/* Implements tools/args/watch.h. */
#include "tools/args/watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/out.h"

enum { LINE = 200, POLL_MS = 200 };

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

void watch_line(const device_status_t *status, char *text, size_t size) {
    const bool moves = status->flags & STATUS_MOVING && status->state == APP_STATE_RUNNING;
    const char *fault = status->fault ? app_fault_name(status->fault) : "";
    if (status->state == APP_STATE_FAULT)
        snprintf(text, size, "fault %s", fault);
    else
        snprintf(text, size, "%s%s%s%s", board_state(status), moves ? ", moves" : "",
                 *fault ? ", fault " : "", fault);
}

int watch_board(client_t *client, const char *name, const char *hint) {
    char last[LINE] = "", line[LINE];
    const bool terminal = isatty(STDOUT_FILENO);
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    while (!interrupted) {
        device_status_t status;
        if (client_status(client, &status) != 0) {
            if (client_poll(client, 0) < 0)
                break; /* the line is closed */
            continue;
        }
        watch_line(&status, line, sizeof line);
        if (terminal) {
            static const char clear[] = "\r\033[K";
            out_bytes(clear, sizeof clear - 1);
            out_format("%s: %s, %.1f s since its start%s", name, line,
                       (double)status.tick / (status.rate_hz > 0 ? status.rate_hz : 1), hint);
        } else if (strcmp(line, last) != 0) {
            out_format("%s: %s\n", name, line);
        }
        memcpy(last, line, sizeof last);
        out_flush();
        if (out_failed() || client_poll(client, POLL_MS) < 0)
            break;
    }
    if (terminal)
        out_text("\n");
    return interrupted || out_failed() ? EXIT_YES : EXIT_BAD;
}

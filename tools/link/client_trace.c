/* Prints what a client asks and what the board answers, for --verbose. */
#include <stdio.h>

#include "tools/link/client_inside.h"

static const char *const message_name[] = {
#define X(number, name, ...) [number] = #name,
    ASK_TABLE(X)
#undef X
};

static const char *const status_name[] = {
#define X(number, name, cause, cure) [number] = #name,
    LINK_STATUS_TABLE(X)
#undef X
};

static bool wanted;

void client_verbose(void) {
    wanted = true;
}

void trace_port(const char *name) {
    if (wanted)
        fprintf(stderr, "port %s\n", name);
}

void trace_hello(const client_t *client) {
    const device_t *d = &client->device;
    trace_end();
    if (wanted)
        fprintf(stderr, "board %s, %s, build %s, protocol %u%s\n", d->board, d->real, d->build,
                d->version, d->flags & HELLO_LAB ? ", laboratory" : "");
}

/* Answers of the same kind in a row make one line. */
static struct {
    link_message_t message;
    int count, repeats;
    int64_t ms;
} row;

void trace_end(void) {
    if (row.count == 0)
        return;
    fprintf(stderr, "%s", message_name[row.message]);
    if (row.count > 1)
        fprintf(stderr, ", %d times", row.count);
    fprintf(stderr, ": OK, %lld ms", (long long)row.ms);
    if (row.repeats > 0)
        fprintf(stderr, ", %d repetitions", row.repeats);
    fputc('\n', stderr);
    row.count = 0;
}

void trace_answer(const client_t *client, link_message_t message, int64_t ms, int repeats) {
    const int status = client->status;
    if (!wanted)
        return;
    if (row.count > 0 && (status != LINK_OK || row.message != message))
        trace_end();
    if (status == LINK_OK) {
        row.message = message;
        row.ms = (row.count > 0 ? row.ms : 0) + ms;
        row.repeats = (row.count > 0 ? row.repeats : 0) + repeats;
        row.count++;
        return;
    }
    fprintf(stderr, "%s: %s, %lld ms", message_name[message],
            status < 0                                                    ? "no answer"
            : (size_t)status < sizeof status_name / sizeof status_name[0] ? status_name[status]
                                                                          : "unknown status",
            (long long)ms);
    if (client->reason != 0)
        fprintf(stderr, ", reason %d (%s)", client->reason, reason_cause(client->reason));
    if (repeats > 0)
        fprintf(stderr, ", %d repetitions", repeats);
    fputc('\n', stderr);
}

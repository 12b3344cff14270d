/* Implements tools/config/saving.h. */
#include "tools/config/saving.h"

#include <signal.h>

#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"

static volatile sig_atomic_t interrupted;

static void note(int signal) {
    (void)signal;
    interrupted = 1;
}

void saving_catch(void) {
    const struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

bool saving_interrupted(const client_t *client) {
    if (interrupted)
        diag_error(client->device.board, "give the command again",
                   "the command was interrupted before the change was complete");
    return interrupted;
}

/* A board that was reset runs what it had saved. */
static void print_reset(client_t *client, const snapshot_t *before) {
    device_status_t now;
    if (client_status(client, &now) == 0 && now.tick < before->tick)
        diag_note(
            client->device.board,
            "the board was reset meanwhile: joints that have to be homed must be homed again");
}

static int nothing_before(const client_t *client) {
    diag_note(
        client->device.board,
        client->device.flags & HELLO_IN_PLACE
            ? "the board had no robot before, so nothing was put back; a robot that it has "
              "now stays"
            : "the board had no robot before, so nothing was put back; what it runs now lasts "
              "until the next reset");
    return EXIT_NO;
}

/* A board that runs its robot from flash must save to have the previous one again, and saves all
 * values that run. */
static void print_saved_too(client_t *client, const snapshot_t *before) {
    for (uint32_t i = 0; i < before->values; i++) {
        const snapshot_value_t *v = &before->value[i];
        float value;
        bool saved;
        if (!v->saved && client_get(client, v->parameter, v->joint, &value, &saved) == 0 && saved) {
            diag_note(client->device.board, "values that were only in RAM before are saved now");
            return;
        }
    }
}

int saving_roll_back(client_t *client, const snapshot_t *before, const char *again) {
    const char *board = client->device.board;
    print_reset(client, before);
    if (!before->image[0] && !before->image[1])
        return nothing_before(client);
    switch (snapshot_restore(client, before)) {
    case SNAPSHOT_UNTOUCHED:
        diag_note(board, "the previous robot still runs, with its parameters");
        break;
    case SNAPSHOT_PUT_BACK:
        diag_note(board, "the previous robot was put back and verified");
        print_saved_too(client, before);
        break;
    case SNAPSHOT_LOST:
        diag_error(board, again, "the previous robot could not be put back: %s",
                   *client->error.what
                       ? client->error.what
                       : "the bytes that were read back differ from those that were sent");
        break;
    }
    return EXIT_NO;
}

static bool is_stored(client_t *client, const snapshot_t *wanted) {
    snapshot_t now;
    const bool same =
        snapshot_take(client, &now) == 0 && snapshot_equal(&now, wanted) && snapshot_saved(&now);
    snapshot_free(&now);
    return same;
}

int saving_store(client_t *client, const snapshot_t *before, const snapshot_t *wanted,
                 const char *again, saving_t *out) {
    bool persistent;
    device_status_t now;
    *out = (saving_t){0};
    if (saving_interrupted(client))
        return saving_roll_back(client, before, again);
    if (client_save(client, &persistent) != 0) {
        const int code = board_error(client);
        if (board_not_persistent(client))
            diag_note(client->device.board, "%s", board_not_persistent(client));
        if (client->device.flags & HELLO_STORE)
            (void)saving_roll_back(client, before, again);
        return code; /* a board that cannot store goes on running from RAM */
    }
    if (!is_stored(client, wanted)) {
        diag_error(client->device.board, "repeat the command",
                   "what is stored differs from what ran before");
        return saving_roll_back(client, before, again);
    }
    if (client_status(client, &now) != 0)
        return board_error(client);
    *out = (saving_t){true, now.sequence};
    return EXIT_YES;
}

void saving_print(const client_t *client, const saving_t *saved) {
    if (!saved->done)
        return;
    out_format("saved as set number %u and verified by reading it back\n",
               (unsigned)saved->sequence);
    if (board_not_persistent(client))
        out_format("%s\n", board_not_persistent(client));
}

void saving_json(const client_t *client, const saving_t *saved) {
    json_bool("saved", saved->done);
    if (saved->done)
        json_integer("set", (long)saved->sequence);
    if (board_not_persistent(client))
        json_string("hint", board_not_persistent(client));
}

/* tools/appell/board.h */
#include "tools/appell/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/core/faults.h"
#include "tools/appell/robot_image.h"
#include "tools/appell/say.h"

client_t *board_open(const request_t *request, unsigned what) {
    const char *name = request->value[OPTION_PORT];
    port_error_t error;
    if (!name) {
        say_error(NULL,
                  "write --port P, for example --port /dev/ttyACM0 or --port "
                  "qemu:netduinoplus2",
                  "this needs a board");
        return NULL;
    }
    client_t *client = client_open(name, NULL, &error);
    if (!client) {
        say_error(name, error.cure, "%s", error.what);
        return NULL;
    }
    if (port_note(client->port) && !request_has(request, OPTION_QUIET))
        say_note(name, "%s", port_note(client->port));
    if (client_discover_some(client, what) == 0)
        return client;
    board_error(client);
    client_close(client);
    return NULL;
}

int board_error(const client_t *client) {
    say_error(client->device.board, client->error.cure, "%s", client->error.what);
    return client->status >= 0 ? EXIT_NO : EXIT_BAD;
}

uint8_t *board_image(const request_t *request, const robot_t *robot, size_t *size) {
    messages_t messages = MESSAGES_INIT;
    uint8_t *bytes = robot_image_make(robot, size, &messages);
    say_messages(&messages, bytes != NULL || request_has(request, OPTION_QUIET));
    messages_free(&messages);
    return bytes;
}

int board_outputs_off(const request_t *request, client_t *client) {
    enum { POLLS = 2000 };
    device_status_t status;
    for (int i = 0; i < POLLS; i++) {
        if (client_status(client, &status) != 0)
            return board_error(client);
        if (status.state == APP_STATE_UNCONFIGURED || status.state == APP_STATE_IDLE ||
            status.state == APP_STATE_FAULT)
            return EXIT_YES;
        if (i == 0 && !request_has(request, OPTION_QUIET))
            say_note(client->device.board, "the outputs are on: the arm is stopped first");
        if (i == 0 && client_stop(client, false) != 0)
            return board_error(client);
        (void)client_poll(client, 5);
    }
    say_error(client->device.board, "`appell monitor` shows what it does",
              "the arm does not come to rest");
    return EXIT_NO;
}

void board_progress(void *user, uint32_t done, uint32_t all) {
    enum { WIDTH = 40 };
    (void)user;
    if (!isatty(STDERR_FILENO))
        return;
    const uint32_t part = all > 0 ? done * WIDTH / all : WIDTH;
    fprintf(stderr, "\r[%.*s%.*s] %u of %u bytes%s", (int)part,
            "########################################", (int)(WIDTH - part),
            "                                        ", (unsigned)done, (unsigned)all,
            done == all ? "\n" : "");
    fflush(stderr);
}

const char *board_state(const device_status_t *status) {
    return app_state_name(status->state);
}

const char *board_not_persistent(const client_t *client) {
    const uint8_t flags = client->device.flags;
    if (flags & HELLO_PERSISTENT)
        return NULL;
    return flags & HELLO_STORE
               ? "not persistent here: what is saved survives a reset, not a loss of power"
               : "not persistent here: the emulated chip keeps nothing that is written to its "
                 "flash";
}

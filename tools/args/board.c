/* Implements tools/args/board.h. */
#include "tools/args/board.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "firmware/app/errors.h"
#include "firmware/params/bytes.h"
#include "firmware/safety/faults.h"
#include "tools/image/robot_image.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/progress.h"
#include "tools/link/run_folder.h"
#include "tools/link/slot.h"

/* Turns qemu:BOARD (the product build) into qemu:BOARD/lab (the laboratory build). */
static const char *lab_of(const char *name, char *room, size_t size) {
    const size_t length = strlen(name);
    const bool file = length > 4 && !strcmp(name + length - 4, ".elf");
    if (strncmp(name, "qemu:", 5) != 0 || strchr(name, '/') || file)
        return name;
    snprintf(room, size, "%s/lab", name);
    return room;
}

int board_needs_lab(const client_t *client, const char *what) {
    char cure[200];
    if (client->device.flags & HELLO_LAB)
        return EXIT_YES;
    snprintf(cure, sizeof cure,
             "write the laboratory firmware into the board: make BOARD=%.60s LAB=1 flash",
             client->device.board);
    return diag_error(client->device.board, cure,
                      "%s needs the laboratory firmware, but this board runs the product firmware",
                      what);
}

client_t *board_open(const request_t *request, unsigned what) {
    char room[PATH_MAX + 8], found[PATH_MAX];
    const char *name = request->value[OPTION_PORT];
    port_error_t error;
    if (!name) {
        if (run_default(found, sizeof found, &error) != 0) {
            diag_error(NULL, error.cure, "%s", error.what);
            return NULL;
        }
        name = found;
    }
    if (what & BOARD_LAB)
        name = lab_of(name, room, sizeof room);
    client_t *client = client_open(name, NULL, &error);
    if (!client) {
        diag_error(name, error.cure, "%s", error.what);
        return NULL;
    }
    if (port_note(client->port) && !request_has(request, OPTION_QUIET))
        diag_note(name, "%s", port_note(client->port));
    if (what & BOARD_BARE || client_discover_some(client, what & DISCOVER_ALL) == 0)
        return client;
    board_error(client);
    client_close(client);
    return NULL;
}

/* X of FIT_TABLE */
static const struct {
    const char *cause, *cure;
} fit_table[FITS] = {
#define X(bit, name, cause, cure) {cause, cure},
    FIT_TABLE(X)
#undef X
};

const char *board_fit_cause(unsigned part) {
    return fit_table[part].cause;
}

const char *board_fit_cure(unsigned part) {
    return fit_table[part].cure;
}

void board_fit_joints(const client_t *client, const device_hardware_t *h, unsigned part, char *text,
                      size_t size) {
    size_t used = 0;
    *text = 0;
    for (uint32_t i = 0; part < FITS_JOINT && i < client->device.joints && used < size; i++)
        if (h->joints[part] >> i & 1)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     client->device.joint[i]);
}

/* Names every part that does not fit, not only that something does not. */
static void misfits(client_t *client) {
    device_hardware_t h;
    char joints[512];
    if (client_discover_robot(client) != 0 || client_hardware(client, &h) != 0)
        return;
    for (unsigned part = 0; part < FITS; part++) {
        if (!(h.misfits >> part & 1))
            continue;
        board_fit_joints(client, &h, part, joints, sizeof joints);
        diag_error(client->device.board, board_fit_cure(part), "%s%s%s", joints,
                   *joints ? ": " : "", board_fit_cause(part));
    }
}

int board_error(client_t *client) {
    const bool refused = client->status >= 0;
    device_status_t status;
    const bool fit = client->reason == APP_E_FIT;
    diag_error(client->device.board, client->error.cure, "%s", client->error.what);
    if (refused && fit)
        misfits(client);
    if (refused && client_status(client, &status) == 0 && status.flags & STATUS_CRASHED)
        diag_error(client->device.board, "`appell crash` shows where it crashed",
                   "the board crashed and started again, which may be the cause");
    return refused ? EXIT_NO : EXIT_BAD;
}

uint8_t *board_image(const request_t *request, const robot_t *robot, size_t *size) {
    messages_t messages = MESSAGES_INIT;
    uint8_t *bytes = robot_image_make(robot, size, &messages);
    diag_messages(&messages, request_has(request, OPTION_QUIET));
    messages_free(&messages);
    return bytes;
}

int board_outputs_off(const request_t *request, client_t *client) {
    /* TIMEOUT_S is in the board's time, counted by its ticks */
    enum { STILL_POLLS = 2000, TIMEOUT_S = 10 };
    device_status_t status = {0};
    uint32_t first = 0, last = 0;
    for (int i = 0, still = 0; still < STILL_POLLS && last - first <= TIMEOUT_S * status.rate_hz;
         i++) {
        if (client_status(client, &status) != 0)
            return board_error(client);
        still = status.tick == last ? still + 1 : 0;
        last = status.tick;
        /* tick of the first status after the stop, because the host may have been slow */
        first = i <= 1 ? last : first;
        if (status.state == APP_STATE_UNCONFIGURED || status.state == APP_STATE_IDLE ||
            status.state == APP_STATE_FAULT)
            return EXIT_YES;
        if (i == 0 && !request_has(request, OPTION_QUIET))
            diag_note(client->device.board, "the outputs are on, so the arm is stopped first");
        if (i == 0 && client_stop(client, false) != 0)
            return board_error(client);
        (void)client_poll(client, 5);
    }
    diag_error(client->device.board,
               "if the arm has no brakes (`brakes` is 0), support the arm and reset the board; "
               "otherwise `appell monitor` shows what the arm does",
               "the outputs stay on, because the loop goes on holding or moving the arm, or the "
               "motors damp it");
    return EXIT_NO;
}

void board_progress(void *user, uint32_t done, uint32_t all) {
    (void)user;
    progress_show("bytes", done, all);
}

const char *board_state(const device_status_t *status) {
    return app_state_name(status->state);
}

const char *board_not_persistent(const client_t *client) {
    const uint8_t flags = client->device.flags;
    if (flags & HELLO_PERSISTENT)
        return NULL;
    return flags & HELLO_STORE
               ? "not persistent here: what is saved survives a reset, but not a loss of power"
               : "not persistent here: the emulated chip keeps nothing that is written to its "
                 "flash";
}

/* Loads an image, unless the board runs it already: then homing, gains and payload stay. Another
 * robot of somebody is not replaced; a board that only this command uses, or an empty one, takes
 * it. */
static int give_image(client_t *client, const uint8_t *image, size_t size) {
    device_status_t status;
    bool kept;
    if (client_status(client, &status) != 0)
        return -1;
    if (status.image_length == size && status.image_crc == crc32_add(0, image, size))
        return 0;
    if (status.joints > 0 && !port_firmware(client->port)) {
        port_fail(
            &client->error,
            "load the robot first: `appell flash ROBOT`, or with --no-save until the next reset; "
            "that ends what was set or homed for the other one",
            "the board has another robot, or another version of it: %s",
            client_discover_robot(client) == 0 ? client->device.robot : "?");
        return -1;
    }
    return client_send_image(client, TARGET_APP, image, (uint32_t)size, &kept, NULL, NULL);
}

int board_give(client_t *client, const char *what, const uint8_t *image, size_t size) {
    if ((what && client_simulated(client, what) != 0) || give_image(client, image, size) != 0 ||
        client_discover(client) != 0)
        return board_error(client);
    return EXIT_YES;
}

client_t *board_open_image(const char *name, const char *what, const uint8_t *image, size_t size) {
    port_flash_t flash = {0};
    port_error_t error;
    uint8_t *slot = slot_make(image, size, &flash.size);
    flash.bytes = slot;
    if (!slot)
        port_fail(&error, "close some programs", "there is not enough memory");
    client_t *client = slot ? client_open(name, &flash, &error) : NULL;
    free(slot);
    if (!client) {
        diag_error(name, error.cure, "%s", error.what);
        return NULL;
    }
    if (client_discover_some(client, DISCOVER_PARAMETERS) == 0 &&
        board_give(client, what, image, size) == EXIT_YES)
        return client;
    client_close(client);
    return NULL;
}

client_t *board_open_with(const request_t *request, const robot_t *robot, const char *what) {
    size_t size = 0;
    const char *name =
        request_has(request, OPTION_PORT) ? request->value[OPTION_PORT] : "qemu:netduinoplus2";
    uint8_t *image = board_image(request, robot, &size);
    client_t *client = image ? board_open_image(name, what, image, size) : NULL;
    free(image);
    return client;
}

int board_set(client_t *client, const char *list) {
    char item[80];
    for (const char *at = list; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        uint32_t parameter;
        int joint;
        float now;
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        at += length + (at[length] == ',');
        char *value = strchr(item, '='), *end = NULL;
        if (value)
            *value++ = '\0';
        const float number = value ? strtof(value, &end) : 0;
        if (!value || end == value || *end != '\0')
            return diag_error("--set", "write NAME=VALUE", "%s lacks a number", item);
        if (client_parameter(client, item, &parameter, &joint) != 0)
            return board_error(client);
        const bool all = joint < 0 && client->device.parameter[parameter].per_joint;
        const uint32_t first = joint < 0 ? 0 : (uint32_t)joint;
        for (uint32_t i = first; i <= (all ? client->device.joints - 1 : first); i++)
            if ((strcmp(item, "arm") ? client_override : client_set)(client, parameter, i, number,
                                                                     &now) != 0)
                return board_error(client);
    }
    return EXIT_YES;
}

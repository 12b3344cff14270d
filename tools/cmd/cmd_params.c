/* params apply, params save, flash: write the robot image and the parameters of a board. */
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cmd/difference.h"
#include "tools/cli/out.h"
#include "tools/cli/diagnostics.h"
#include "tools/link/snapshot.h"

/* ------------------------------------------------------------------------------------- applying */

/* Restores the earlier state of the board after a change that failed. Returns EXIT_NO. */
static int roll_back(client_t *client, const snapshot_t *before) {
    const char *board = client->device.board;
    if (!before->image[0] && !before->image[1]) {
        diag_note(board, "the board had no robot before, so nothing was put back");
        return EXIT_NO;
    }
    switch (snapshot_restore(client, before)) {
    case SNAPSHOT_UNTOUCHED:
        diag_note(board, "the previous robot still runs");
        break;
    case SNAPSHOT_PUT_BACK:
        diag_note(board, "the previous robot was put back and verified");
        break;
    case SNAPSHOT_LOST:
        diag_error(board,
                   "`appell params apply ROBOT --dry-run` shows how the board differs from ROBOT; "
                   "then apply again",
                   "the previous robot could not be put back: %s",
                   *client->error.what
                       ? client->error.what
                       : "the bytes that were read back differ from those that were sent");
        break;
    }
    return EXIT_NO;
}

/* True if the running image reads back as sent and the board reports its length and checksum. */
static bool runs(client_t *client, const uint8_t *image, size_t length) {
    device_status_t now;
    return snapshot_same(client, 0, image, length) && client_status(client, &now) == 0 &&
           now.image_length == length && now.image_crc == crc32_add(0, image, length);
}

static int send(const request_t *request, client_t *client, const snapshot_t *before,
                const uint8_t *image, size_t length, bool *kept) {
    const int sent =
        client_send_image(client, TARGET_APP, image, (uint32_t)length, kept,
                          request_has(request, OPTION_QUIET) ? NULL : board_progress, NULL);
    client->error.what[0] = sent == 0 ? '\0' : client->error.what[0];
    if (sent == 0 && runs(client, image, length))
        return EXIT_YES;
    if (*client->error.what)
        board_error(client);
    else
        diag_error(client->device.board, "apply the robot again",
                   "the bytes that were read back differ from those that were sent");
    return roll_back(client, before);
}

static int apply(const request_t *request, client_t *client, const snapshot_t *before,
                 const uint8_t *image, size_t length, bool *kept) {
    const uint8_t *old = before->image[0];
    const bool same = old && before->length[0] == length && !memcmp(old, image, length);
    *kept = false;
    if (same && difference_parameters(client, before, image, length, false) == 0) {
        out_format("%s: the board already runs this robot\n", client->device.board);
        difference_stays(client, before, image, length);
        out_flush();
        return EXIT_YES;
    }
    out_format("%s: changes\n", client->device.board);
    if (difference_images(old, before->length[0], image, length) +
            difference_parameters(client, before, image, length, true) ==
        0)
        out_text("  only prepared constants or the layout of the image differ\n");
    difference_stays(client, before, image, length);
    out_flush();
    if (request_has(request, OPTION_DRY_RUN))
        return EXIT_YES;
    int status = board_outputs_off(request, client);
    if (status == EXIT_YES)
        status = send(request, client, before, image, length, kept);
    if (status == EXIT_YES)
        out_format("applied: %zu bytes, verified by reading them back\n", length);
    return status;
}

/* True if the stored image equals the running image. */
static bool stored(client_t *client) {
    uint32_t size;
    uint8_t *running = client_read_image(client, 0, &size);
    const bool same = running && snapshot_same(client, 1, running, size);
    free(running);
    return same;
}

static int save(const request_t *request, client_t *client, const snapshot_t *before) {
    bool persistent;
    int status = board_outputs_off(request, client);
    if (status != EXIT_YES)
        return status;
    if (client_save(client, &persistent) != 0) {
        const int code = board_error(client);
        if (board_not_persistent(client))
            diag_note(client->device.board, "%s", board_not_persistent(client));
        if (!(client->device.flags & HELLO_STORE))
            return code; /* this board cannot store images; the image keeps running from RAM */
        (void)roll_back(client, before);
        return code;
    }
    if (!stored(client)) {
        diag_error(client->device.board, "save again",
                   "the stored image differs from the one that runs");
        return roll_back(client, before);
    }
    device_status_t now;
    if (client_status(client, &now) != 0)
        return board_error(client);
    out_format("saved as set number %u and verified by reading it back\n", (unsigned)now.sequence);
    if (board_not_persistent(client))
        out_format("%s\n", board_not_persistent(client));
    return EXIT_YES;
}

static int change(const request_t *request, client_t *client, const uint8_t *image, size_t length,
                  bool saving) {
    snapshot_t before;
    bool kept = false;
    int status;
    if (snapshot_take(client, &before) != 0) {
        snapshot_free(&before);
        return board_error(client);
    }
    status = apply(request, client, &before, image, length, &kept);
    if (status == EXIT_YES && !request_has(request, OPTION_DRY_RUN)) {
        if (saving && !kept)
            status = save(request, client, &before);
        else if (kept)
            out_text("saved already: the board keeps its robot in flash and runs it from there\n");
        else if (!(client->device.flags & HELLO_STORE))
            out_format("%s\n", board_not_persistent(client));
        else
            out_text("the change lasts until the next reset; `appell save` keeps it\n");
    }
    snapshot_free(&before);
    return status;
}

static int with_image(const request_t *request, const char *file, bool saving) {
    request_t load = *request;
    load.argument[0] = file;
    load.arguments = 1;
    robot_t *robot = arm_load(&load, NULL);
    if (!robot)
        return EXIT_BAD;
    size_t length = 0;
    uint8_t *image = board_image(request, robot, &length);
    arm_free(robot);
    client_t *client = image ? board_open(request, DISCOVER_PARAMETERS) : NULL;
    int status = EXIT_BAD;
    if (client) {
        status = change(request, client, image, length, saving);
        client_close(client);
    }
    free(image);
    return status;
}

int cmd_save(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_ROBOT);
    if (!client)
        return EXIT_BAD;
    snapshot_t before;
    const int status =
        snapshot_take(client, &before) == 0 ? save(request, client, &before) : board_error(client);
    snapshot_free(&before);
    client_close(client);
    return status;
}

int cmd_params(const request_t *request) {
    const char *what = request->argument[0];
    if (!strcmp(what, "apply") && request->arguments == 2)
        return with_image(request, request->argument[1], false);
    if (!strcmp(what, "save") && request->arguments == 1)
        return cmd_save(request);
    const bool known = !strcmp(what, "apply") || !strcmp(what, "save");
    return diag_error(
        NULL, "write `appell params apply ROBOT --port P` or `appell params save --port P`",
        known ? "`params %s` has too few or too many arguments" : "there is no `params %s`", what);
}

int cmd_flash(const request_t *request) {
    return with_image(request, request->argument[0], true);
}

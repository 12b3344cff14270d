/* flash: writes a robot into a board. save: keeps over resets what a board runs. */
#include <stdlib.h>
#include <string.h>

#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/config/difference.h"
#include "tools/config/saving.h"

static const char again[] = "`appell flash ROBOT --dry-run` shows how the board differs from "
                            "ROBOT; then flash again";

typedef struct {
    differences_t changes, stays;
    bool same; /* the board already runs this robot */
    bool sent, kept;
    snapshot_t runs; /* after it was sent */
    saving_t saved;
} flash_t;

/* Sends the image, and reads back what runs then. */
static int send(const request_t *request, client_t *client, const snapshot_t *before,
                const uint8_t *image, size_t length, flash_t *flash) {
    snapshot_t *runs = &flash->runs;
    saving_catch();
    const int sent =
        client_send_image(client, TARGET_APP, image, (uint32_t)length, &flash->kept,
                          request_has(request, OPTION_QUIET) ? NULL : board_progress, NULL);
    if (sent != 0 || snapshot_take(client, runs) != 0) {
        board_error(client);
        return saving_roll_back(client, before, again);
    }
    if (saving_interrupted(client))
        return saving_roll_back(client, before, again);
    if (runs->image[0] && runs->length[0] == length && !memcmp(runs->image[0], image, length))
        return EXIT_YES;
    diag_error(client->device.board, "flash the robot again",
               "the bytes that were read back differ from those that were sent");
    return saving_roll_back(client, before, again);
}

static void show_differences(const client_t *client, const flash_t *flash) {
    if (flash->same) {
        out_format("%s: the board already runs this robot\n", client->device.board);
    } else {
        out_format("%s: changes\n", client->device.board);
        differences_print(&flash->changes);
        if (flash->changes.count == 0)
            out_text("  only prepared constants or the layout of the image differ\n");
    }
    for (size_t i = 0; i < flash->stays.count; i++)
        out_format("  %s: %.9g is kept; the default is %.9g\n", flash->stays.item[i].name,
                   flash->stays.item[i].value[0], flash->stays.item[i].value[1]);
    out_flush();
}

static void show_end(const request_t *request, const client_t *client, const flash_t *flash,
                     size_t length) {
    if (flash->sent)
        out_format("applied: %zu bytes, verified by reading them back\n", length);
    saving_print(client, &flash->saved);
    if (flash->saved.done || request_has(request, OPTION_DRY_RUN))
        return;
    if (flash->kept)
        out_text("saved already: the board keeps its robot in flash and runs it from there\n");
    else if (flash->sent && !(client->device.flags & HELLO_STORE))
        out_format("%s\n", board_not_persistent(client));
    else if (flash->sent && request_has(request, OPTION_NO_SAVE))
        out_text("the change lasts until the next reset; `appell save` keeps it\n");
}

static void flash_json(const client_t *client, const flash_t *flash) {
    json_begin(NULL);
    json_string("board", client->device.board);
    json_bool("same", flash->same);
    differences_json("changes", &flash->changes);
    differences_json("stays", &flash->stays);
    json_bool("applied", flash->sent);
    if (flash->kept)
        json_bool("saved", true);
    else
        saving_json(client, &flash->saved);
    json_end();
}

static void compare(const client_t *client, const snapshot_t *before, const uint8_t *image,
                    size_t length, flash_t *out) {
    const uint8_t *old = before->image[0];
    difference_images(&out->changes, old, before->length[0], image, length);
    difference_parameters(&out->changes, client, before, image, length);
    difference_stays(&out->stays, client, before, image, length);
    out->same = old && before->length[0] == length && !memcmp(old, image, length) &&
                out->changes.count == 0;
}

static int change(const request_t *request, client_t *client, const snapshot_t *before,
                  const uint8_t *image, size_t length, flash_t *flash) {
    int status = EXIT_YES;
    if (request_has(request, OPTION_DRY_RUN))
        return EXIT_YES;
    if (!flash->same) {
        status = board_outputs_off(request, client);
        if (status == EXIT_YES)
            status = send(request, client, before, image, length, flash);
        flash->sent = status == EXIT_YES;
    }
    if (status != EXIT_YES || flash->kept || request_has(request, OPTION_NO_SAVE))
        return status;
    status = board_outputs_off(request, client);
    return status == EXIT_YES ? saving_store(client, before, flash->sent ? &flash->runs : before,
                                             again, &flash->saved)
                              : status;
}

static int with_snapshot(const request_t *request, client_t *client, const uint8_t *image,
                         size_t length) {
    const bool json = request_has(request, OPTION_JSON);
    snapshot_t before;
    flash_t flash = {0};
    int status;
    if (snapshot_take(client, &before) != 0) {
        snapshot_free(&before);
        return board_error(client);
    }
    compare(client, &before, image, length, &flash);
    if (flash.changes.failed || flash.stays.failed) {
        status = diag_no_memory();
    } else {
        if (!json)
            show_differences(client, &flash);
        status = change(request, client, &before, image, length, &flash);
        if (json)
            flash_json(client, &flash);
        else
            show_end(request, client, &flash, length);
    }
    differences_free(&flash.changes);
    differences_free(&flash.stays);
    snapshot_free(&flash.runs);
    snapshot_free(&before);
    return status;
}

int cmd_flash(const request_t *request) {
    robot_t *robot = arm_load(request, NULL);
    if (!robot)
        return EXIT_BAD;
    size_t length = 0;
    uint8_t *image = board_image(request, robot, &length);
    arm_free(robot);
    client_t *client = image ? board_open(request, DISCOVER_PARAMETERS) : NULL;
    int status = EXIT_BAD;
    if (client) {
        status = with_snapshot(request, client, image, length);
        client_close(client);
    }
    free(image);
    return status;
}

static int save(const request_t *request, client_t *client) {
    snapshot_t before;
    saving_t saved = {0};
    int status = snapshot_take(client, &before) == 0 ? board_outputs_off(request, client)
                                                     : board_error(client);
    if (status == EXIT_YES)
        status = saving_store(client, &before, &before,
                              "`appell status` shows whether the board answers", &saved);
    snapshot_free(&before);
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        saving_json(client, &saved);
        json_end();
    } else {
        saving_print(client, &saved);
    }
    return status;
}

int cmd_save(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS);
    if (!client)
        return EXIT_BAD;
    const int status = save(request, client);
    client_close(client);
    return status;
}

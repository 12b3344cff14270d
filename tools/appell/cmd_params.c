/* params apply, params save, flash: the set of parameters of a board. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/core/crc.h"
#include "firmware/core/image.h"
#include "tools/appell/arm.h"
#include "tools/appell/board.h"
#include "tools/appell/commands.h"
#include "tools/appell/out.h"
#include "tools/appell/say.h"
#include "tools/link/before.h"

/* ------------------------------------------------------------------------------- the difference */

typedef struct {
    const char *name, *unit;
    uint32_t count;
} field_t;

static const field_t arm_fields[] = {
#define X(name, count, unit, kind, help) {#name, unit, count},
    IMAGE_ARM_FIELDS(X)
#undef X
};
static const field_t joint_fields[] = {
#define X(name, count, unit, kind, help) {#name, unit, count},
    IMAGE_JOINT_FIELDS(X)
#undef X
};
enum {
    ARM_FIELDS = sizeof arm_fields / sizeof arm_fields[0],
    JOINT_FIELDS = sizeof joint_fields / sizeof joint_fields[0]
};

static unsigned numbers_differ(const char *joint, const field_t *field, unsigned fields,
                               const float *a, const float *b) {
    unsigned found = 0;
    for (; fields > 0; fields--, field++)
        for (uint32_t i = 0; i < field->count; i++, a++, b++) {
            if (*a == *b)
                continue;
            char index[16] = "";
            if (field->count > 1)
                snprintf(index, sizeof index, "[%u]", (unsigned)i + 1);
            out_format("  %s%s%s%s: %.9g -> %.9g %s\n", joint, *joint ? " " : "", field->name,
                       index, (double)*a, (double)*b, field->unit);
            found++;
        }
    return found;
}

static unsigned text_differs(const char *what, const char *a, const char *b) {
    if (!strcmp(a, b))
        return 0;
    out_format("  %s: %s -> %s\n", what, a, b);
    return 1;
}

static unsigned count_differs(const char *what, uint32_t a, uint32_t b) {
    if (a == b)
        return 0;
    out_format("  %s: %u -> %u\n", what, (unsigned)a, (unsigned)b);
    return 1;
}

/* Prints what a new image changes. How many things; 0: nothing that has a name. */
static unsigned show_difference(const uint8_t *old, uint32_t old_length, const uint8_t *image,
                                size_t length) {
    static image_t a, b;
    if (image_read(image, length, &b, NULL) != IMAGE_OK)
        return 1;
    if (!old || image_read(old, old_length, &a, NULL) != IMAGE_OK) {
        out_format("  nothing -> %s, %u joints\n", b.name, (unsigned)b.n);
        return 1;
    }
    unsigned found =
        text_differs("name", a.name, b.name) + count_differs("joints", a.n, b.n) +
        count_differs("feedback", a.feedback, b.feedback) +
        numbers_differ("", arm_fields, ARM_FIELDS, (const float *)&a.arm, (const float *)&b.arm);
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        found += text_differs("joint name", a.joint_name[i], b.joint_name[i]);
        found += count_differs("type", a.joint[i].type, b.joint[i].type);
        found +=
            numbers_differ(b.joint_name[i], joint_fields, JOINT_FIELDS,
                           (const float *)&a.joint[i].number, (const float *)&b.joint[i].number);
    }
    return found;
}

/* ------------------------------------------------------------------------------------ applying */

/* Something did not come out as it was sent: the board gets back what it had. */
static int roll_back(client_t *client, const before_t *before) {
    const char *board = client->device.board;
    if (!before->image[0] && !before->image[1]) {
        say_note(board, "there was nothing before that could be put back");
        return EXIT_NO;
    }
    switch (before_restore(client, before)) {
    case BEFORE_UNTOUCHED:
        say_note(board, "what ran before runs on");
        break;
    case BEFORE_PUT_BACK:
        say_note(board, "what ran before was put back, and verified");
        break;
    case BEFORE_LOST:
        say_error(board, "see what it has: `appell params apply ROBOT --dry-run`, and apply again",
                  "what ran before could not be put back: %s",
                  *client->error.what ? client->error.what
                                      : "what is read back is not what was sent");
        break;
    }
    return EXIT_NO;
}

/* The bytes are read back, and the board's own checksum of what runs agrees. */
static bool runs(client_t *client, const uint8_t *image, size_t length) {
    device_status_t now;
    return before_same(client, 0, image, length) && client_status(client, &now) == 0 &&
           now.image_length == length && now.image_crc == crc32_add(0, image, length);
}

static int send(const request_t *request, client_t *client, const before_t *before,
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
        say_error(client->device.board, "apply it again",
                  "what was read back is not what was sent");
    return roll_back(client, before);
}

static int apply(const request_t *request, client_t *client, const before_t *before,
                 const uint8_t *image, size_t length, bool *kept) {
    const uint8_t *old = before->image[0];
    *kept = false;
    if (old && before->length[0] == length && !memcmp(old, image, length)) {
        out_format("%s: runs these parameters already\n", client->device.board);
        out_flush();
        return EXIT_YES;
    }
    out_format("%s: changes\n", client->device.board);
    if (show_difference(old, before->length[0], image, length) == 0)
        out_text("  nothing with a name: prepared constants or layout only\n");
    out_flush();
    if (request_has(request, OPTION_DRY_RUN))
        return EXIT_YES;
    int status = board_outputs_off(request, client);
    if (status == EXIT_YES)
        status = send(request, client, before, image, length, kept);
    if (status == EXIT_YES)
        out_format("applied: %zu bytes, read back, running\n", length);
    return status;
}

/* What is stored now is what runs. */
static bool stored(client_t *client) {
    uint32_t size;
    uint8_t *running = client_read_image(client, 0, &size);
    const bool same = running && before_same(client, 1, running, size);
    free(running);
    return same;
}

static int save(const request_t *request, client_t *client, const before_t *before) {
    bool persistent;
    int status = board_outputs_off(request, client);
    if (status != EXIT_YES)
        return status;
    if (client_save(client, &persistent) != 0) {
        const int code = board_error(client);
        if (board_not_persistent(client))
            say_note(client->device.board, "%s", board_not_persistent(client));
        if (!(client->device.flags & HELLO_STORE))
            return code; /* nothing can be kept here: the image goes on running from RAM */
        (void)roll_back(client, before);
        return code;
    }
    if (!stored(client)) {
        say_error(client->device.board, "save again", "what was stored is not what runs");
        return roll_back(client, before);
    }
    device_status_t now;
    if (client_status(client, &now) != 0)
        return board_error(client);
    out_format("saved: set %u, read back\n", (unsigned)now.sequence);
    if (board_not_persistent(client))
        out_format("%s\n", board_not_persistent(client));
    return EXIT_YES;
}

static int change(const request_t *request, client_t *client, const uint8_t *image, size_t length,
                  bool saving) {
    before_t before;
    bool kept = false;
    int status;
    if (before_take(client, &before) != 0) {
        before_free(&before);
        return board_error(client);
    }
    status = apply(request, client, &before, image, length, &kept);
    if (status == EXIT_YES && !request_has(request, OPTION_DRY_RUN)) {
        if (saving && !kept)
            status = save(request, client, &before);
        else if (kept)
            out_text("saved: the board keeps its parameters in flash and uses them there\n");
        else if (board_not_persistent(client))
            out_format("%s\n", board_not_persistent(client));
        else
            out_text("until the next reset only: `appell save` makes it stay\n");
    }
    before_free(&before);
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
    client_t *client = image ? board_open(request, DISCOVER_ROBOT) : NULL;
    int status = EXIT_BAD;
    if (client) {
        status = change(request, client, image, length, saving);
        client_close(client);
    }
    free(image);
    return status;
}

int save_run(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_ROBOT);
    if (!client)
        return EXIT_BAD;
    before_t before;
    const int status =
        before_take(client, &before) == 0 ? save(request, client, &before) : board_error(client);
    before_free(&before);
    client_close(client);
    return status;
}

int params_run(const request_t *request) {
    const char *what = request->argument[0];
    if (!strcmp(what, "apply") && request->arguments == 2)
        return with_image(request, request->argument[1], false);
    if (!strcmp(what, "save") && request->arguments == 1)
        return save_run(request);
    return say_error(NULL,
                     "write `appell params apply ROBOT --port P` or `appell params save --port P`",
                     "params %s is not possible", what);
}

int flash_run(const request_t *request) {
    return with_image(request, request->argument[0], true);
}

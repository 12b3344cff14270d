/* config: reads the configuration of a board into a file, writes it back, and compares. */
#include <string.h>

#include "firmware/params/parameters.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/file.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"
#include "tools/config/config.h"
#include "tools/config/saving.h"

static const char again[] = "`appell config diff FILE` shows how the board differs from FILE; then "
                            "write it again";

/* Reads everything that is configured on the board. */
static int take(client_t *client, snapshot_t *state, config_t *config) {
    return snapshot_take(client, state) == 0 ? config_of_board(client, state, config)
                                             : board_error(client);
}

/* ---------------------------------------------------------------------------------------- read */

static void print_unsaved(const request_t *request, const client_t *client, const snapshot_t *now) {
    if (!snapshot_saved(now) && !request_has(request, OPTION_QUIET))
        diag_note(client->device.board, "not everything that the board runs is saved; the file has "
                                        "what runs, and `appell save` saves it");
}

static int read_board(const request_t *request, client_t *client) {
    snapshot_t now = {0};
    config_t config = {0};
    file_text_t text;
    int status = take(client, &now, &config);
    if (status == EXIT_YES) {
        print_unsaved(request, client, &now);
        if (request_has(request, OPTION_JSON)) {
            config_json(&config);
        } else {
            if (file_text_begin(&text))
                config_print(text.stream, &config);
            status = file_text_end(
                &text, request_has(request, OPTION_OUTPUT) ? request->value[OPTION_OUTPUT] : "-");
        }
    }
    config_free(&config);
    snapshot_free(&now);
    return status;
}

/* ---------------------------------------------------------------------------------------- diff */

static int show_differences(const request_t *request, const config_t *from, const config_t *to) {
    differences_t list = {0};
    int status;
    config_compare(from, to, &list);
    status = list.failed ? diag_no_memory() : list.count > 0 ? EXIT_NO : EXIT_YES;
    if (request_has(request, OPTION_JSON))
        differences_json(NULL, &list);
    else
        differences_print(&list);
    differences_free(&list);
    return status;
}

static int diff_files(const request_t *request) {
    config_t from = {0}, to = {0};
    int status = config_read(request->argument[1], &from);
    if (status == EXIT_YES)
        status = config_read(request->argument[2], &to);
    if (status == EXIT_YES)
        status = show_differences(request, &from, &to);
    config_free(&from);
    config_free(&to);
    return status;
}

static int diff_board(const request_t *request, client_t *client, const config_t *config) {
    snapshot_t now = {0};
    config_t board = {0};
    int status = take(client, &now, &board);
    if (status == EXIT_YES)
        status = show_differences(request, &board, config);
    config_free(&board);
    snapshot_free(&now);
    return status;
}

/* --------------------------------------------------------------------------------------- write */

/* Refuses while the outputs are on or a command leads the arm: nothing is stopped for this. */
static int check_rest(client_t *client) {
    device_fault_t fault;
    char leader[CLIENT_NAME];
    if (client_fault(client, &fault) != 0 || client_leader(client, leader) != 0)
        return board_error(client);
    if (fault.enabled) {
        diag_error(client->device.board,
                   "stop the arm first; if it has no brakes it goes on holding: support it, and "
                   "switch the outputs off",
                   "the outputs are on, so nothing was written");
        return EXIT_NO;
    }
    if (!*leader)
        return EXIT_YES;
    diag_error(client->device.board, "end that command first",
               "the command `%s` has the lease of the arm, so nothing was written", leader);
    return EXIT_NO;
}

static bool changes(const snapshot_t *before, const snapshot_t *wanted, const client_t *client,
                    const char *name) {
    for (uint32_t i = 0; i < before->values && i < wanted->values; i++)
        if (!strcmp(client->device.parameter[wanted->value[i].parameter].name, name) &&
            before->value[i].value != wanted->value[i].value)
            return true;
    return false;
}

static float arm_of(const config_t *config) {
    const config_value_t *arm = config_find(config, "arm", 0);
    return arm ? arm->value : ARM_SIMULATED;
}

/* Says what the arm has lost by the change, and which arm it is. */
static void print_arm_notes(client_t *client, const config_t *config, const snapshot_t *before,
                            const snapshot_t *wanted) {
    static const char *const lose[] = {"home", "home_position", "encoder_sign", "encoder_ratio",
                                       "arm"};
    bool lost = !before->image[0] || before->length[0] != wanted->length[0] ||
                memcmp(before->image[0], wanted->image[0], before->length[0]) != 0 ||
                (client->device.flags & HELLO_IN_PLACE) != 0;
    bool homes = false;
    for (size_t i = 0; i < sizeof lose / sizeof lose[0]; i++)
        lost = lost || changes(before, wanted, client, lose[i]);
    for (uint32_t i = 0; i < config->values; i++)
        homes = homes || (!strcmp(config->value[i].name, "home") && config->value[i].value != 0);
    if (lost && homes)
        diag_note(client->device.board, "joints that have to be homed must be homed again");
    if (arm_of(config) != ARM_SIMULATED)
        diag_note(client->device.board,
                  "the board controls the real arm; its outputs stay off until a motion");
}

/* Runs the configuration, reads everything again, and only then saves it. */
static int bring(const request_t *request, client_t *client, const snapshot_t *before,
                 const snapshot_t *wanted, saving_t *saved) {
    snapshot_t after = {0};
    saving_catch();
    if (snapshot_run(client, wanted, request_has(request, OPTION_QUIET) ? NULL : board_progress,
                     NULL) != 0) {
        board_error(client);
        return saving_roll_back(client, before, again);
    }
    if (saving_interrupted(client))
        return saving_roll_back(client, before, again);
    const bool same = snapshot_take(client, &after) == 0 && snapshot_equal(&after, wanted);
    snapshot_free(&after);
    if (!same) {
        diag_error(client->device.board, "write the configuration again",
                   "what was read back differs from what was sent");
        return saving_roll_back(client, before, again);
    }
    return saving_store(client, before, wanted, again, saved);
}

static void show_written(const request_t *request, const client_t *client, bool same,
                         const differences_t *list, const saving_t *saved) {
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("board", client->device.board);
        json_bool("same", same);
        differences_json("changes", list);
        saving_json(client, saved);
        json_end();
        return;
    }
    if (same)
        out_format("%s: the board already has this configuration, and it is saved\n",
                   client->device.board);
    saving_print(client, saved);
}

static int write_checked(const request_t *request, client_t *client, const config_t *config,
                         const snapshot_t *before, const config_t *board) {
    snapshot_t wanted = {0};
    differences_t list = {0};
    saving_t saved = {0};
    int status = config_state(config, client, &wanted);
    if (status == EXIT_YES) {
        if (board->image)
            config_compare(board, config, &list);
        const bool same = snapshot_equal(before, &wanted) && snapshot_saved(before);
        if (!request_has(request, OPTION_JSON)) {
            differences_print(&list);
            out_flush();
        }
        if (!same)
            status = bring(request, client, before, &wanted, &saved);
        show_written(request, client, same, &list, &saved);
        if (!same && saved.done && !request_has(request, OPTION_QUIET))
            print_arm_notes(client, config, before, &wanted);
    }
    differences_free(&list);
    snapshot_free(&wanted);
    return status;
}

static int write_board(const request_t *request, client_t *client, const config_t *config) {
    snapshot_t before = {0};
    config_t board = {0};
    int status = config_check(config, client);
    if (status != EXIT_YES) {
        diag_note(client->device.board, "nothing was written");
        return status;
    }
    if (strcmp(config->build, client->device.build) != 0 && !request_has(request, OPTION_QUIET))
        diag_note(config->file,
                  "the configuration is of another build of the firmware, %s; the board has %s, "
                  "and the same parameters",
                  config->build, client->device.build);
    status = check_rest(client);
    if (status == EXIT_YES)
        status = snapshot_take(client, &before) == 0 ? EXIT_YES : board_error(client);
    if (status == EXIT_YES && before.image[0])
        status = config_of_board(client, &before, &board);
    if (status == EXIT_YES)
        status = write_checked(request, client, config, &before, &board);
    config_free(&board);
    snapshot_free(&before);
    return status;
}

/* ------------------------------------------------------------------------------------- command */

static int with_file(const request_t *request,
                     int (*what)(const request_t *request, client_t *client,
                                 const config_t *config)) {
    config_t config = {0};
    int status = config_read(request->argument[1], &config);
    client_t *client =
        status == EXIT_YES ? board_open(request, DISCOVER_PARAMETERS | DISCOVER_FIELDS) : NULL;
    if (client) {
        status = what(request, client, &config);
        client_close(client);
    } else {
        status = EXIT_BAD;
    }
    config_free(&config);
    return status;
}

static int with_board(const request_t *request) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS | DISCOVER_FIELDS);
    const int status = client ? read_board(request, client) : EXIT_BAD;
    if (client)
        client_close(client);
    return status;
}

int cmd_config(const request_t *request) {
    const char *what = request->argument[0];
    const bool output = request_has(request, OPTION_OUTPUT);
    if (!strcmp(what, "read") && request->arguments == 1)
        return output && file_check(request->value[OPTION_OUTPUT]) != EXIT_YES
                   ? EXIT_BAD
                   : with_board(request);
    if (!strcmp(what, "write") && request->arguments == 2 && !output)
        return with_file(request, write_board);
    if (!strcmp(what, "diff") && request->arguments == 2 && !output)
        return with_file(request, diff_board);
    if (!strcmp(what, "diff") && request->arguments == 3 && !output)
        return diff_files(request);
    static const char *const known[] = {"read", "write", "diff", NULL};
    const char *nearest = messages_nearest(what, known);
    return diag_error(
        NULL,
        "write `appell config read -o FILE`, `appell config write FILE` or `appell "
        "config diff FILE`",
        nearest && !strcmp(what, nearest)
            ? "`config %s` has too few or too many arguments, or an option of another one"
            : "there is no `config %s`",
        what);
}

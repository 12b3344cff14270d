/* emulate: starts virtual boards that stay, lists and ends them, and does to them what happens to
 * boards: reset, loss of power, crash, emergency stop, defects. */
#define _GNU_SOURCE /* for pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "firmware/lab/defects.h"
#include "firmware/params/bytes.h"
#include "firmware/safety/faults.h"
#include "tools/args/arm.h"
#include "tools/args/board.h"
#include "tools/args/watch.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"
#include "tools/emulate/board.h"
#include "tools/link/hub.h"
#include "tools/link/run_folder.h"

/* ------------------------------------------------------------------------------------ starting one */

/* Writes the path of the file that keeps the flash of a virtual board, and makes its folder. */
static int flash_path(const request_t *request, const char *name, char path[PATH_MAX]) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (request_has(request, OPTION_FLASH)) {
        snprintf(path, PATH_MAX, "%s", request->value[OPTION_FLASH]);
        return EXIT_YES;
    }
    if (state && *state)
        snprintf(path, PATH_MAX, "%s/appell/%s.flash", state, name);
    else
        snprintf(path, PATH_MAX, "%s/.local/state/appell/%s.flash", home && *home ? home : ".",
                 name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!made)
            return diag_error(path, "name another file for the flash: --flash FILE",
                              "the folder cannot be made: %s", strerror(errno));
        *slash = '/';
    }
    return EXIT_YES;
}

/* Runs the board in a process of its own. It ends when this program closes `life`, the other end of
 * board->parent, unless they are -1. */
static int start(const virtual_board_t *board, int life) {
    port_error_t error = {.what = "the virtual board ended at once"};
    int ready[2];
    if (pipe(ready) != 0)
        return diag_no_memory();
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_RDWR);
        (void)setsid();
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
        (void)dup2(null, STDERR_FILENO);
        close(ready[0]);
        if (life >= 0)
            close(life); /* only this program's end keeps the board alive */
        if (board->parent < 0 && fork() != 0)
            _exit(0);
        _exit(virtual_board_run(board, ready[1]) == 0 ? 0 : 1);
    }
    close(ready[1]);
    const ssize_t n = child > 0 ? read(ready[0], &error, sizeof error) : 0;
    close(ready[0]);
    if (board->parent < 0 || n != 1)
        (void)waitpid(child, NULL, 0);
    return n == 1 ? EXIT_YES : diag_error(board->name, error.cure, "%s", error.what);
}

/* Loads the robot of --robot. Returns NULL after printing what is wrong. */
static robot_t *load_robot(const request_t *request) {
    request_t load = *request;
    load.argument[0] = request->value[OPTION_ROBOT];
    load.arguments = 1;
    return arm_load(&load, NULL);
}

/* Gives the board a robot and saves it, unless it has it already. */
static int give_robot(const request_t *request, const robot_t *robot, const char *port) {
    request_t on = *request;
    size_t size = 0;
    bool kept = false;
    device_status_t status;
    on.value[OPTION_PORT] = port;
    on.given[OPTION_PORT] = true;
    uint8_t *image = board_image(request, robot, &size);
    client_t *client = image ? board_open(&on, DISCOVER_ROBOT) : NULL;
    int result = EXIT_BAD;
    if (client) {
        const bool known = client_status(client, &status) == 0;
        const bool there =
            known && status.image_length == size && status.image_crc == crc32_add(0, image, size);
        const bool sent =
            known && !there &&
            client_send_image(client, TARGET_APP, image, (uint32_t)size, &kept,
                              request_has(request, OPTION_QUIET) ? NULL : board_progress,
                              NULL) == 0 &&
            (kept || client_save(client, &kept) == 0);
        result = there || sent ? EXIT_YES : board_error(client);
        const char *done = there ? "already there" : "loaded and saved";
        if (result == EXIT_YES && !request_has(request, OPTION_JSON))
            out_format("%s: the robot %s is %s\n", port, robot->name, done);
        client_close(client);
    }
    free(image);
    return result;
}

/* Shows a line of state until control-C or the end of the board. */
static int watch(const char *port) {
    port_error_t error;
    client_t *client = client_open(port, NULL, &error);
    const int status = client ? watch_board(client, port, " (control-C ends it)") : EXIT_BAD;
    client_close(client);
    return status == EXIT_YES ? EXIT_YES : diag_error(port, NULL, "the virtual board has ended");
}

static void print_start(const request_t *request, const virtual_board_t *board, const char *port) {
    if (request_has(request, OPTION_JSON)) {
        json_begin(NULL);
        json_string("port", port);
        json_string("flash", board->flash);
        json_end();
    } else if (!request_has(request, OPTION_QUIET)) {
        out_format("%s runs %s; commands find it without --port while it is the only one\n"
                   "what is saved stays in %s\n",
                   port, board->firmware, board->flash);
    }
    out_flush();
}

static int begin(const request_t *request, const robot_t *robot) {
    const char *board = request->argument[0];
    char name[RUN_NAME], firmware[PATH_MAX], flash[PATH_MAX], port[RUN_NAME + 10];
    int life[2] = {-1, -1};
    const size_t length = strlen(board);
    const bool file = length > 4 && !strcmp(board + length - 4, ".elf");
    const char *base = strrchr(board, '/') ? strrchr(board, '/') + 1 : board;
    snprintf(name, sizeof name, "%.*s", RUN_NAME - 1,
             request_has(request, OPTION_NAME) ? request->value[OPTION_NAME] : base);
    snprintf(firmware, sizeof firmware, "%s%s", board,
             file || request_has(request, OPTION_PRODUCT) ? "" : "/lab");
    snprintf(port, sizeof port, "virtual:%s", name);
    if (flash_path(request, name, flash) != EXIT_YES)
        return EXIT_BAD;
    if (!request_has(request, OPTION_DETACH) && pipe2(life, O_CLOEXEC) != 0)
        return diag_no_memory();
    const virtual_board_t is = {name, firmware, flash, request_has(request, OPTION_ERASE), life[0]};
    int status = start(&is, life[1]);
    if (life[0] >= 0)
        close(life[0]);
    if (status == EXIT_YES) {
        print_start(request, &is, port);
        if (robot)
            status = give_robot(request, robot, port);
        out_flush();
        if (!request_has(request, OPTION_DETACH) && status == EXIT_YES)
            status = watch(port);
    }
    if (life[1] >= 0) { /* ends the board */
        close(life[1]);
        while (waitpid(-1, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    return status;
}

/* A robot that cannot be read is told before a board starts. */
static int begin_with_robot(const request_t *request) {
    if (!request_has(request, OPTION_ROBOT))
        return begin(request, NULL);
    robot_t *robot = load_robot(request);
    const int status = robot ? begin(request, robot) : EXIT_BAD;
    arm_free(robot);
    return status;
}

/* -------------------------------------------------------------------------------- boards that run */

static int list(const request_t *request) {
    char name[RUN_BOARDS][RUN_NAME];
    const int count = run_boards(name);
    if (request_has(request, OPTION_JSON))
        json_list(NULL);
    for (int i = 0; i < count; i++) {
        if (request_has(request, OPTION_JSON))
            json_string(NULL, name[i]);
        else
            out_format("virtual:%s\n", name[i]);
    }
    if (request_has(request, OPTION_JSON))
        json_list_end();
    else if (count == 0)
        out_text("no virtual board runs\n");
    return EXIT_YES;
}

/* Asks the process that serves a port. The firmware need not answer: it may be what is wrong. Returns a
 * link_status_t, or -1 if nothing answers. */
static int ask_server(port_t *port, hub_control_t what) {
    enum { ANSWER_MS = 20000 };
    uint8_t frame[FRAME_WRITE_ROOM(3)] = {0}, rx[FRAME_READ_ROOM(FRAME_CONTENT_MAX)], byte;
    frame_reader_t reader;
    size_t size = 0;
    frame[FRAME_WRITE_AT] = HUB_CONTROL;
    frame[FRAME_WRITE_AT + 1] = 0;
    frame[FRAME_WRITE_AT + 2] = (uint8_t)what;
    frame_reader_init(&reader, rx, sizeof rx);
    if (port_write(port, frame, frame_close(frame, 3)) != 0)
        return -1;
    while (size < 3 || rx[0] != (HUB_CONTROL | PROTOCOL_REPLY)) {
        if (port_read(port, &byte, 1, ANSWER_MS) != 1)
            return -1;
        size = frame_take(&reader, byte);
    }
    return rx[2];
}

/* Waits until the server has closed its end. */
static void wait_end(port_t *port) {
    enum { END_MS = 20000 };
    uint8_t bytes[256];
    while (port_read(port, bytes, sizeof bytes, END_MS) > 0) {
    }
}

/* Tells what became of the board. */
static int report_board(const char *name, const char *done) {
    port_error_t error;
    device_status_t status;
    client_t *client = client_open(name, NULL, &error);
    if (!client)
        return diag_error(name, error.cure, "%s, but then: %s", done, error.what);
    int result = EXIT_YES;
    if (client_status(client, &status) != 0 || client_discover_robot(client) != 0)
        result = board_error(client);
    else
        out_format("%s: %s\nit is in the state %s, with %s%s; nothing moves\n",
                   client->device.board, done, board_state(&status),
                   client->device.joints > 0 ? "the robot " : "no robot",
                   client->device.joints > 0 ? client->device.robot : "");
    client_close(client);
    return result;
}

static int control(const request_t *request, hub_control_t what, const char *done) {
    char found[PATH_MAX];
    port_error_t error;
    const char *name = request->value[OPTION_PORT];
    if (!name && run_default(found, sizeof found, &error) != 0)
        return diag_error(NULL, error.cure, "%s", error.what);
    name = name ? name : found;
    port_t *port = port_open(name, NULL, &error);
    if (!port)
        return diag_error(name, error.cure, "%s", error.what);
    const int answer = port_hub(port) ? ask_server(port, what) : LINK_MESSAGE;
    if (answer == LINK_OK && what == CONTROL_END)
        wait_end(port);
    port_close(port);
    if (answer < 0)
        return diag_error(name, "end its process by hand", "the virtual board does not answer");
    if (answer != LINK_OK)
        return diag_error(name, "name a virtual board: --port virtual:NAME",
                          "only a virtual board can do this");
    if (what != CONTROL_END)
        return report_board(name, done); /* a crashed board starts again by itself */
    out_format("%s: %s\n", name, done);
    return EXIT_YES;
}

static int set_one(client_t *client, const char *name, float value) {
    uint32_t parameter;
    int joint;
    float now;
    return client_parameter(client, name, &parameter, &joint) == 0 &&
                   client_set(client, parameter, 0, value, &now) == 0
               ? 0
               : -1;
}

static int find_defect(const char *name, unsigned *defect) {
    const char *known[DEFECTS + 1] = {NULL};
    char cure[PORT_TEXT] = "";
    size_t used = 0;
    for (unsigned i = 0; i < DEFECTS; i++) {
        known[i] = defect_name(i);
        if (!strcmp(known[i], name)) {
            *defect = i;
            return EXIT_YES;
        }
    }
    const char *near = messages_nearest(name, known);
    used = near ? (size_t)snprintf(cure, sizeof cure, "did you mean '%s'? ", near) : 0;
    used += (size_t)snprintf(cure + used, sizeof cure - used, "There are: ");
    for (unsigned i = 0; i < DEFECTS && used < sizeof cure; i++)
        used +=
            (size_t)snprintf(cure + used, sizeof cure - used, "%s%s", i > 0 ? ", " : "", known[i]);
    return diag_error("--defect", cure, "there is no defect '%s'", name);
}

/* Says what the board does some ticks later. */
static int consequence(client_t *client) {
    enum { LATER = 5 };
    device_status_t first, now;
    char line[100];
    if (client_status(client, &first) != 0)
        return board_error(client);
    do {
        if (client_status(client, &now) != 0)
            return board_error(client);
    } while (now.tick - first.tick < LATER && now.joints > 0);
    watch_line(&now, line, sizeof line);
    out_format("the board: %s\n", line);
    return EXIT_YES;
}

/* Sets or removes a defect of the simulated arm. */
static int injure(const request_t *request, unsigned defect, const char *done) {
    client_t *client = board_open(request, DISCOVER_PARAMETERS);
    uint32_t joint = 0;
    int result = EXIT_YES;
    if (!client)
        return EXIT_BAD;
    if (request_has(request, OPTION_JOINT)) {
        const char *wanted = request->value[OPTION_JOINT];
        while (joint < client->device.joints && strcmp(client->device.joint[joint], wanted) != 0)
            joint++;
        if (joint == client->device.joints)
            result = diag_error("--joint", "`appell status` shows the robot of the board",
                                "the robot has no joint %s", wanted);
    }
    if (result == EXIT_YES && (set_one(client, "sim_defect_joint", (float)joint) != 0 ||
                               set_one(client, "sim_defect", (float)defect) != 0))
        result = board_error(client);
    if (result == EXIT_YES) {
        out_format("%s: %s\n", client->device.board, done);
        result = consequence(client);
    }
    client_close(client);
    return result;
}

static int injure_by_name(const request_t *request) {
    unsigned defect = 0;
    char done[100];
    if (find_defect(request->value[OPTION_DEFECT], &defect) != EXIT_YES)
        return EXIT_BAD;
    snprintf(done, sizeof done, "the simulated arm has the defect `%s` now", defect_name(defect));
    return injure(request, defect, defect == DEFECT_NONE ? "the simulated arm is sound" : done);
}

int cmd_emulate(const request_t *request) {
    static const struct {
        option_id_t option;
        hub_control_t control;
        const char *done;
    } control_table[] = {
        {OPTION_RESET, CONTROL_RESET, "reset; memory that a reset keeps is kept"},
        {OPTION_POWER_CYCLE, CONTROL_POWER, "the power was off and is on again"},
        {OPTION_CRASH, CONTROL_CRASH, "crashed and started again; `appell crash` shows where"},
        {OPTION_STOP, CONTROL_END, "ended"}};
    request_t on = *request;
    char port[RUN_NAME + 10];
    if (request_has(request, OPTION_LIST))
        return list(request);
    if (request->arguments == 1) { /* BOARD or NAME, for what is done to a board that runs */
        snprintf(port, sizeof port, "virtual:%.*s", RUN_NAME - 1, request->argument[0]);
        on.value[OPTION_PORT] = port;
        on.given[OPTION_PORT] = true;
    }
    for (size_t i = 0; i < sizeof control_table / sizeof control_table[0]; i++)
        if (request_has(request, control_table[i].option))
            return control(&on, control_table[i].control, control_table[i].done);
    if (request_has(request, OPTION_PRESS_ESTOP))
        return injure(&on, DEFECT_ESTOP, "the emergency stop is pressed");
    if (request_has(request, OPTION_RELEASE_ESTOP))
        return injure(&on, DEFECT_NONE,
                      "the emergency stop is released; a fault stays until `appell clear`");
    if (request_has(request, OPTION_DEFECT))
        return injure_by_name(&on);
    if (request->arguments == 1)
        return begin_with_robot(request);
    return diag_error(NULL, "write `appell emulate netduinoplus2`, or --list", "BOARD is missing");
}

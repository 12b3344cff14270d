/* jog: moves single joints while a key is held, from a terminal or with keys from a pipe. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "firmware/app/errors.h"
#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cmd/commands.h"
#include "tools/lead/lead.h"
#include "tools/lead/rehearsal.h"

/* How long a key counts as held: until its first repetition, until the next ones, and from a pipe.
 * While a key is held, the request for the board is repeated every SEND_MS; the board itself stops
 * an arm whose requests end (jog_timeout_s). */
enum { FIRST_MS = 600, REPEAT_MS = 150, PIPE_MS = 500, SEND_MS = 50 };
enum { KEY_NONE = -1, KEY_END = -2, ESCAPE = 27, KEY_UP = 256, KEY_DOWN, KEY_RIGHT, KEY_LEFT };

typedef struct {
    client_t *client;
    rehearsal_t *rehearsal;
    position_t position;
    double part; /* of the speed that is allowed */
    uint32_t joint;
    int way;           /* 1, -1, or 0: no key is held */
    bool terminal;     /* keys come from a terminal */
    bool begun;        /* the board has moved the arm for the key that is held */
    bool quit;         /* the command ends, and the arm is held */
    const char *taken; /* how the arm was stopped, if not by the keys */
    int64_t until_ms;  /* when the key that is held counts as released */
} jog_t;

static const char by_other[] = "another program has stopped the arm",
                  by_somebody[] = "the arm was stopped: by another program, or because the keys "
                                  "came too late over this line";

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------------------- terminal */

static struct termios found;

/* Called before the command ends, because a signal that ends it runs no other code. */
static void restore_terminal(void) {
    tcsetattr(STDIN_FILENO, TCSANOW, &found);
}

/* Keys come one by one and are not shown; those that were typed before do not count. Control-C stays
 * a signal: it works even if this program does not read keys. Control-Z would leave the terminal as
 * it is here. */
static bool prepare_terminal(void) {
    struct termios raw;
    if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &found) != 0)
        return false;
    raw = found;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_iflag &= ~(tcflag_t)IXON; /* control-S would make this program wait while the arm moves */
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    return tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0;
}

static int read_byte(int timeout_ms) {
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char byte;
    const int ready = poll(&wait, 1, timeout_ms);
    if (ready <= 0)
        return KEY_NONE;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    return n > 0 ? byte : n < 0 && errno == EINTR ? KEY_NONE : KEY_END;
}

/* Reads a key; the arrows come as ESC [ A to D, or ESC O A to D. */
static int read_key(int timeout_ms) {
    enum { SEQUENCE_MS = 20 };
    const int first = read_byte(timeout_ms);
    if (first != ESCAPE)
        return first;
    const int second = read_byte(SEQUENCE_MS);
    const int third = second == '[' || second == 'O' ? read_byte(SEQUENCE_MS) : KEY_NONE;
    return third >= 'A' && third <= 'D' ? KEY_UP + third - 'A' : ESCAPE;
}

static void show(const jog_t *j) {
    const device_t *d = &j->client->device;
    const double speed = j->part * rehearsal_jog_speed(j->rehearsal, j->joint);
    if (!j->terminal || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%u %.20s", (unsigned)j->joint + 1, d->joint[j->joint]);
    if (j->position.seen > 0)
        fprintf(stderr, " at %+.4f", j->position.q[j->joint]);
    fprintf(stderr, ", %.3f %s (%.0f %%) %-8s", speed, d->prismatic[j->joint] ? "m/s" : "rad/s",
            100 * j->part,
            j->way == 0  ? "holds"
            : j->way > 0 ? "moves +"
                         : "moves -");
}

/* ------------------------------------------------------------------------------------- the board */

/* Sends the present speed. The margin is for the rounding of the board's own sum. */
static int send(jog_t *j) {
    const double margin = 1 - 1e-5;
    motion_t motion = {.kind = MOTION_JOG};
    motion.value[j->joint] =
        (float)(j->way * j->part * margin * rehearsal_jog_speed(j->rehearsal, j->joint));
    if (lead_motion(j->client, &motion) == 0)
        return 0;
    if (j->client->status == LINK_STOPPED)
        j->taken = by_other;
    else if (j->begun && j->client->reason == APP_E_STATE)
        j->taken = by_somebody; /* between the status and this request */
    return j->taken ? 0 : -1;
}

/* Repeats the request while a key is held. Once the arm moves, a board that no longer moves it was
 * stopped by somebody, or by jog_timeout_s: this must not start it again. */
static int go_on(jog_t *j) {
    device_status_t status;
    if (client_status(j->client, &status) != 0)
        return -1;
    const bool moves = status.state == APP_STATE_RUNNING && status.flags & STATUS_MOVING;
    if (status.state == APP_STATE_FAULT || (j->begun && !moves)) {
        j->taken = by_somebody;
        return 0;
    }
    j->begun = j->begun || moves;
    return send(j);
}

/* The key is released: the arm brakes, and the loop holds it. */
static int pause_jog(jog_t *j) {
    if (j->way == 0)
        return 0;
    j->way = 0;
    if (!j->begun)
        return send(j);
    device_status_t status;
    if (client_status(j->client, &status) != 0)
        return -1;
    if (status.state != APP_STATE_RUNNING)
        j->taken = by_somebody;
    const int sent = j->taken || !(status.flags & STATUS_MOVING) ? 0 : send(j);
    j->begun = false;
    return sent;
}

static int way_of(int key) {
    return key == KEY_RIGHT || key == '+' || key == '=' ? 1
           : key == KEY_LEFT || key == '-'              ? -1
                                                        : 0;
}

/* Takes every key that has come, and waits for more. Repetitions of the key that is held only extend
 * its time, no matter how many have queued up behind a slow line. Returns the first other key. */
static int other_key(jog_t *j, int way, int wait_ms) {
    const int64_t due_ms = now_ms() + wait_ms;
    while (lead_signal == 0) {
        const int64_t left = due_ms - now_ms();
        const int key = read_key(left > 0 ? (int)left : 0);
        if (way_of(key) != way)
            return key;
        j->until_ms = now_ms() + REPEAT_MS;
    }
    return KEY_NONE;
}

/* Lets the arm move until the key counts as released or another one comes, which is returned. If that
 * one waits already, nothing moves. */
static int hold_key(jog_t *j, int way, int *key) {
    j->until_ms = now_ms() + (j->terminal ? FIRST_MS : PIPE_MS);
    *key = j->terminal ? other_key(j, way, 0) : KEY_NONE;
    while (*key == KEY_NONE && lead_signal == 0 && !j->taken && now_ms() < j->until_ms) {
        j->way = way;
        if (go_on(j) != 0 || client_poll(j->client, 0) < 0)
            return -1;
        show(j);
        const int64_t left = j->until_ms - now_ms();
        const int wait = left > SEND_MS ? SEND_MS : left > 0 ? (int)left : 0;
        if (j->terminal)
            *key = other_key(j, way, wait);
        else
            (void)poll(NULL, 0, wait);
    }
    return 0;
}

/* Acts on a key that moves nothing. */
static void choose(jog_t *j, int key) {
    const uint32_t n = j->client->device.joints;
    const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1};
    const int last = (int)(sizeof steps / sizeof steps[0]) - 1;
    int at = 0;
    while (at < last && steps[at] < j->part)
        at++;
    if (key == 'q' || key == KEY_END)
        j->quit = true;
    else if (key >= '1' && key <= '9' && (uint32_t)(key - '1') < n)
        j->joint = (uint32_t)(key - '1');
    else if (key == KEY_UP || key == KEY_DOWN)
        j->joint = (j->joint + (key == KEY_UP ? 1 : n - 1)) % n;
    else if (key == ']' && at < last)
        j->part = steps[at + (steps[at] <= j->part)];
    else if (key == '[' && at > 0)
        j->part = steps[at - 1];
}

static int run_keys(jog_t *j) {
    enum { WAIT_MS = 100 };
    int key = KEY_NONE;
    while (!j->quit && !j->taken && lead_signal == 0) {
        const int way = way_of(key);
        if (way != 0) {
            if ((way != j->way && pause_jog(j) != 0) || hold_key(j, way, &key) != 0)
                return -1;
            /* a key in a pipe that follows at once goes on with the motion */
            if (key == KEY_NONE && !j->terminal)
                key = read_key(0);
            if (key != KEY_NONE)
                continue;
        }
        if (pause_jog(j) != 0)
            return -1;
        choose(j, key);
        if (client_poll(j->client, 0) < 0)
            return -1;
        show(j);
        key = j->quit ? KEY_NONE : read_key(WAIT_MS);
    }
    return j->taken || lead_signal != 0 ? 0 : pause_jog(j);
}

/* ---------------------------------------------------------------------------------- the command */

static int take_options(const request_t *request, jog_t *j) {
    j->part = 0.2;
    if (request_has(request, OPTION_SPEED) &&
        request_list(request, OPTION_SPEED, &j->part, 1, 1, NULL) != EXIT_YES)
        return EXIT_BAD;
    if (!(j->part > 0 && j->part <= 1))
        return diag_error("--speed", "write a fraction such as 0.2",
                          "%g is not above 0 and at most 1", j->part);
    return EXIT_YES;
}

static int jog(const request_t *request, jog_t *j) {
    rest_t rest;
    if (take_options(request, j) != EXIT_YES)
        return EXIT_BAD;
    const int agreed = lead_agree(request, j->client);
    if (agreed != EXIT_YES || lead_signal != 0)
        return agreed;
    j->rehearsal = rehearsal_open(j->client);
    if (!j->rehearsal)
        return board_error(j->client);
    j->terminal = prepare_terminal();
    if (j->terminal && !request_has(request, OPTION_QUIET))
        fputs("1-9, up, down: joint; left, right: move; [ ]: speed; space: stop; q: end\n", stderr);
    const int failed = run_keys(j);
    if (j->terminal)
        restore_terminal();
    if (j->terminal && isatty(STDERR_FILENO))
        fputs("\n", stderr);
    if (failed != 0)
        return lead_refused(j->client);
    if (lead_signal != 0)
        return EXIT_BAD;
    if (rest_wait(j->client, &rest) != 0 ||
        position_wait(j->client, &j->position, &rest.status) != 0)
        return board_error(j->client);
    const int code = lead_report(request, j->client, &rest, &j->position,
                                 j->taken && rest.fault.fault == APP_FAULT_NONE ? j->taken : "");
    return code == EXIT_YES && j->taken ? EXIT_NO : code;
}

int cmd_jog(const request_t *request) {
    jog_t j = {.way = 0};
    j.client = lead_open(request, &j.position);
    if (!j.client)
        return EXIT_BAD;
    const int code = jog(request, &j);
    rehearsal_close(j.rehearsal);
    return lead_close(j.client, code);
}

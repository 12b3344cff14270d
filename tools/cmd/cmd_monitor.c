/* monitor: shows the samples of a board on a live screen with a prompt, writes them as CSV, JSON
 * lines or a plot, and sends them to plotting programs on this machine. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "firmware/safety/faults.h"
#include "tools/args/board.h"
#include "tools/cli/diagnostics.h"
#include "tools/cli/out.h"
#include "tools/cmd/commands.h"
#include "tools/monitor/prompt.h"
#include "tools/monitor/samples.h"
#include "tools/monitor/screen.h"
#include "tools/monitor/terminal.h"
#include "tools/monitor/watch.h"

enum { REDRAW_MS = 100, LOOK_MS = 250, TURN_MS = 20, HEAD = 512, SCREEN_ROOM = 1 << 18 };

typedef struct {
    const request_t *request;
    watch_t watch;
    samples_t out;
    prompt_t prompt;
    bool screen, keys; /* the live screen is shown; keys are read */
    uint32_t field_page, joint_page;
    long samples; /* number of samples; some more may arrive before the board ends the stream */
    long most;
    double last_s;  /* duration in seconds of the board's time; 0: no end */
    double first_t; /* time of the first sample */
    sample_in_t last;
    double
        t; /* its time in s: that of the board, which goes on over a reset with the host's clock */
    int64_t t_ms;
    double base_t; /* time of the sample from which ticks are counted */
    int64_t ticks; /* since then */
    uint32_t rate_hz;
    int64_t redraw_ms, look_ms;
} monitor_t;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

static bool finished(const monitor_t *m) {
    return interrupted || m->prompt.quit || m->out.failed || out_failed() ||
           (m->most > 0 && m->samples >= m->most) ||
           (m->last_s > 0 && m->samples > 0 && m->t - m->first_t >= m->last_s);
}

/* Goes on from the time of the last sample, by the ticks since then, or, if they count from 0 again
 * or have wrapped around in a long gap, by the host's clock. */
static void count_time(monitor_t *m, int32_t ticks, int64_t now) {
    if (m->watch.was_reset || ticks <= 0) {
        samples_gap(&m->out, m->t);
        m->base_t = m->t + (double)(now - m->t_ms) / 1000;
        m->ticks = 0;
    } else if (m->rate_hz != m->watch.status.rate_hz) {
        m->base_t = m->t;
        m->ticks = ticks;
    } else {
        m->ticks += ticks;
    }
    m->rate_hz = m->watch.status.rate_hz;
}

static void take_sample(void *user, const sample_in_t *s) {
    monitor_t *m = user;
    const int64_t now = watch_now_ms();
    if (finished(m))
        return;
    if (m->samples == 0) {
        m->rate_hz = m->watch.status.rate_hz;
        m->ticks = s->tick;
    } else {
        count_time(m, (int32_t)(s->tick - m->last.tick), now);
    }
    m->watch.was_reset = false;
    m->t = m->base_t + (double)m->ticks / m->rate_hz;
    m->t_ms = now;
    if (m->samples++ == 0)
        m->first_t = m->t;
    m->last = *s;
    samples_add(&m->out, m->watch.client, s, m->t);
}

/* ----------------------------------------------------------------------------------- the screen */

static void head_lines(const monitor_t *m, char head[SCREEN_HEADS][HEAD]) {
    const watch_t *w = &m->watch;
    const client_t *client = w->client;
    const device_fault_t *f = &w->fault;
    const bool moves = w->status.flags & STATUS_MOVING;
    const bool joint = client && f->joint < client->device.joints;
    static const char *const phase[] = {"", "NO SAMPLES  ", "NOT CONNECTED  "};
    snprintf(head[0], HEAD, "%s%.100s  %.100s  %s%s", phase[w->phase],
             client ? client->device.board : w->port, client ? client->device.robot : "",
             app_state_name(w->status.state),
             w->status.state != APP_STATE_RUNNING ? ""
             : moves                              ? ", moves"
                                                  : ", holds");
    if (f->fault != APP_FAULT_NONE)
        snprintf(head[1], HEAD, "fault %s%s%s; stop: %s; cure: %s", app_fault_name(f->fault),
                 joint ? ", joint " : "", joint ? client->device.joint[f->joint] : "",
                 app_stop_name(f->stop), app_fault_cure(f->fault));
    else
        snprintf(head[1], HEAD, "no fault%s%s",
                 w->status.flags & STATUS_WEAKER ? "; a guard is weaker than its default" : "",
                 w->status.flags & STATUS_OVERRIDDEN ? "; a command overrides a parameter" : "");
    snprintf(head[2], HEAD, "t %.3f s  %u Hz  every %u ticks  samples %ld  lost %u + %llu", m->t,
             (unsigned)w->status.rate_hz, client ? (unsigned)client->every : 0, m->samples,
             client ? (unsigned)client->lost_total : 0,
             client ? (unsigned long long)client->torn : 0);
}

/* Makes the text of the screen; without a prompt it stays behind when the command ends. */
static const char *screen_now(const monitor_t *m, bool prompt) {
    static char text[SCREEN_ROOM], head[SCREEN_HEADS][HEAD];
    static char units[256][2 * CLIENT_NAME + 4];
    static screen_field_t field[256];
    const client_t *client = m->watch.client;
    screen_t s = {.colour = terminal_colour(),
                  .alarm = m->watch.fault.fault != APP_FAULT_NONE,
                  .field = field,
                  .field_page = m->field_page,
                  .joint_page = m->joint_page,
                  .event = m->watch.event,
                  .typed = prompt ? m->prompt.typed : NULL};
    terminal_size(&s.width, &s.height);
    head_lines(m, head);
    for (int i = 0; i < SCREEN_HEADS; i++)
        s.head[i] = head[i];
    if (client && m->samples > 0) {
        const device_t *d = &client->device;
        bool kinds[2] = {false, false};
        uint32_t at = 0;
        s.joints = d->joints;
        for (uint32_t k = 0; k < d->joints; k++) {
            s.joint[k] = d->joint[k];
            kinds[d->prismatic[k] != 0] = true;
        }
        for (uint32_t i = 0; i < client->choices && at < m->last.values; i++) {
            const device_field_t *f = &d->field[client->chosen[i]];
            const limit_kind_t limit = watch_limit_of(f->name);
            const bool both = kinds[0] && kinds[1] && strcmp(f->unit[0], f->unit[1]) != 0;
            snprintf(units[i], sizeof units[i], "%s%s%s", f->unit[kinds[1] && !kinds[0]],
                     both ? "|" : "", both ? f->unit[1] : "");
            field[s.fields++] =
                (screen_field_t){.name = f->name,
                                 .unit = units[i],
                                 .per_joint = f->per_joint,
                                 .value = m->last.value + at,
                                 .limit = limit < LIMITS ? m->watch.limit[limit] : NULL};
            at += f->per_joint ? d->joints : 1;
        }
    }
    screen_text(&s, text, sizeof text);
    return text;
}

static void take_keys(monitor_t *m) {
    for (int key; (key = terminal_key()) != KEY_NONE;) {
        const uint32_t step = key == KEY_RIGHT || key == KEY_PAGE_DOWN ? 1 : UINT32_MAX;
        if (key == KEY_LEFT || key == KEY_RIGHT)
            m->field_page += step;
        else if (key == KEY_PAGE_UP || key == KEY_PAGE_DOWN)
            m->joint_page += step;
        else
            prompt_key(&m->prompt, &m->watch, key);
        m->redraw_ms = 0;
    }
}

/* ---------------------------------------------------------------------------------------- the run */

/* Takes samples from now on. */
static int listen_to(monitor_t *m) {
    const int status = samples_head(m->request, &m->out, m->watch.client);
    m->watch.client->on_sample = take_sample;
    m->watch.client->user = m;
    return status;
}

/* Waits for the board and the keys. */
static void wait_some(const monitor_t *m) {
    struct pollfd wait[2] = {
        {.fd = m->watch.client ? port_file(m->watch.client->port) : -1, .events = POLLIN},
        {.fd = m->keys ? STDIN_FILENO : -1, .events = POLLIN}};
    (void)poll(wait, 2, TURN_MS);
}

static void refresh(monitor_t *m) {
    const int64_t now = watch_now_ms();
    if (m->watch.phase == WATCH_ON && now >= m->look_ms) {
        m->look_ms = now + LOOK_MS;
        if (watch_look(&m->watch))
            prompt_follow(&m->prompt, &m->watch);
    }
    if (now < m->redraw_ms)
        return;
    m->redraw_ms = now + REDRAW_MS;
    terminal_show(screen_now(m, m->keys));
}

static int run(monitor_t *m) {
    int status = EXIT_YES;
    while (!finished(m) && status == EXIT_YES && !m->watch.dead) {
        wait_some(m);
        if (m->keys)
            take_keys(m);
        if (watch_turn(&m->watch,
                       m->watch.client && port_file(m->watch.client->port) < 0 ? TURN_MS : 0))
            status = listen_to(m);
        if (m->screen)
            refresh(m);
        else if (!m->watch.reported && *m->watch.event && !request_has(m->request, OPTION_QUIET))
            diag_note(m->watch.port, "%s", m->watch.event);
        m->watch.reported = true;
    }
    return status;
}

/* Tells what the arm does, what was lost, and leaves the board as it is. */
static int end(monitor_t *m, int status) {
    client_t *client = m->watch.client;
    const char *stopped = prompt_end(&m->prompt, &m->watch);
    if (m->screen) {
        const char *text = screen_now(m, false);
        terminal_end();
        out_bytes(text, strlen(text));
        out_text("\n");
        out_flush();
    }
    if (stopped)
        diag_note(client->device.board, "%s", stopped);
    if (m->watch.dead)
        return board_error(client);
    if (client && status == EXIT_YES && !request_has(m->request, OPTION_QUIET)) {
        diag_note(
            client->device.board,
            "%ld samples, every %u ticks; lost: %u samples on the board, %llu frames on the line",
            m->samples, (unsigned)client->every, (unsigned)client->lost_total,
            (unsigned long long)client->torn);
        if (m->watch.gaps > 0)
            diag_note(client->device.board, "the samples were interrupted %u times", m->watch.gaps);
    }
    if (client && m->watch.phase == WATCH_ON)
        (void)client_stream_keep(client);
    return status;
}

static void take_fields(const request_t *request, watch_t *watch) {
    static char text[1000];
    if (!request_has(request, OPTION_FIELDS))
        return;
    snprintf(text, sizeof text, "%s", request->value[OPTION_FIELDS]);
    for (char *word = strtok(text, ", "); word && watch->names < WATCH_FIELDS;
         word = strtok(NULL, ", "))
        watch->name[watch->names++] = word;
}

static int take_options(const request_t *request, monitor_t *m) {
    long every = 0;
    if ((request_has(request, OPTION_EVERY) &&
         request_integer(request, OPTION_EVERY, 1, 1000000, &every) != EXIT_YES) ||
        (request_has(request, OPTION_TIMES) &&
         request_integer(request, OPTION_TIMES, 1, 1000000000, &m->most) != EXIT_YES))
        return EXIT_BAD;
    m->watch.every = (uint32_t)every;
    take_fields(request, &m->watch);
    if (request_has(request, OPTION_DURATION)) {
        if (request_list(request, OPTION_DURATION, &m->last_s, 1, 1, NULL) != EXIT_YES)
            return EXIT_BAD;
        if (!(m->last_s > 0))
            return diag_error(NULL, "write a number above zero", "--duration: %g is not possible",
                              m->last_s);
    }
    return samples_open(request, &m->out);
}

int cmd_monitor(const request_t *request) {
    static monitor_t m;
    m = (monitor_t){.request = request};
    int status = take_options(request, &m);
    if (status == EXIT_YES) {
        m.watch.client = board_open(request, DISCOVER_ROBOT);
        status = m.watch.client ? EXIT_YES : EXIT_BAD;
    }
    if (status == EXIT_YES) {
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
        for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
            signal(signals[i], interrupt);
        snprintf(m.watch.port, sizeof m.watch.port, "%s", port_name(m.watch.client->port));
        status = watch_start(&m.watch) == 0 ? listen_to(&m) : board_error(m.watch.client);
    }
    if (status == EXIT_YES) {
        m.screen = m.out.file != stdout && isatty(STDOUT_FILENO);
        m.keys = m.screen && isatty(STDIN_FILENO);
        if (m.screen)
            terminal_begin(m.keys);
        status = end(&m, run(&m));
    }
    const int closed = samples_close(&m.out, status == EXIT_YES);
    watch_end(&m.watch);
    return status == EXIT_YES ? closed : status;
}

/* monitor: shows the samples of a board as a live table, CSV or plot, and sends them to plotting
 * programs on this machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/args/board.h"
#include "tools/cmd/commands.h"
#include "tools/cli/file.h"
#include "tools/cli/out.h"
#include "tools/cli/plot.h"
#include "tools/cli/diagnostics.h"

enum { FIELDS_MOST = 64, WINDOW = 2000, REDRAW_MS = 100, LINE = 400 };

typedef struct {
    client_t *client;
    FILE *csv;
    bool table; /* show a live table on the terminal */
    bool drawn;
    uint32_t lines;
    int udp;
    struct sockaddr_in teleplot, plotjuggler;
    bool to_teleplot, to_plotjuggler;
    double rate_hz;
    long samples; /* number of samples; some more may arrive before the board ends the stream */
    long most;
    double last_s; /* duration in seconds of the board's time; 0: no end */
    uint32_t first_tick;
    sample_in_t last;
    int64_t redraw_ms;
    plot_t *plot;
    bool failed;
} monitor_t;

static volatile sig_atomic_t interrupted;

static void interrupt(int signal) {
    (void)signal;
    interrupted = 1;
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint32_t values(const client_t *client) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < client->choices; i++)
        count += client->device.field[client->chosen[i]].per_joint ? client->device.joints : 1;
    return count;
}

/* ------------------------------------------------------------------------------------------ CSV */

static void csv_head(monitor_t *m) {
    char name[LINE];
    const char *unit;
    fprintf(m->csv, "tick,t");
    for (uint32_t i = 0; i < values(m->client); i++) {
        client_value_title(m->client, i, name, sizeof name, &unit);
        fputc(',', m->csv);
        file_column(m->csv, name);
    }
    fputc('\n', m->csv);
}

static void csv_row(monitor_t *m, const sample_in_t *s) {
    fprintf(m->csv, "%u,%.9g", (unsigned)s->tick, s->tick / m->rate_hz);
    for (uint32_t i = 0; i < s->values; i++)
        fprintf(m->csv, ",%.9g", s->value[i]);
    const bool written = fputc('\n', m->csv) != EOF;
    if (m->csv == stdout)
        out_flush(); /* so that a program that reads the rows gets each row whole and at once */
    else
        m->failed |= !written;
}

/* ------------------------------------------------------------------------------------------ UDP */

/* Sends one line "name:milliseconds:value" for each value, for Teleplot. */
static void send_teleplot(const monitor_t *m, const sample_in_t *s) {
    char text[8192], name[LINE];
    const char *unit;
    size_t used = 0;
    for (uint32_t i = 0; i < s->values && used + LINE + 64 < sizeof text; i++) {
        client_value_title(m->client, i, name, sizeof name, &unit);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s:%.6f:%.9g\n", name,
                                 1000 * s->tick / m->rate_hz, s->value[i]);
    }
    (void)sendto(m->udp, text, used, MSG_DONTWAIT, (const struct sockaddr *)&m->teleplot,
                 sizeof m->teleplot);
}

/* Sends one JSON object for each sample, with the time in seconds as "t", for PlotJuggler. */
static void send_plotjuggler(const monitor_t *m, const sample_in_t *s) {
    char text[16384], name[LINE];
    const char *unit;
    size_t used = (size_t)snprintf(text, sizeof text, "{\"t\":%.9g", s->tick / m->rate_hz);
    for (uint32_t i = 0; i < s->values && used + LINE + 64 < sizeof text; i++) {
        client_value_title(m->client, i, name, sizeof name, &unit);
        for (char *c = name; *c; c++)
            if (*c == '"' || *c == '\\')
                *c = '_';
        if (isfinite(s->value[i]))
            used += (size_t)snprintf(text + used, sizeof text - used, ",\"%s\":%.9g", name,
                                     s->value[i]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "}");
    (void)sendto(m->udp, text, used, MSG_DONTWAIT, (const struct sockaddr *)&m->plotjuggler,
                 sizeof m->plotjuggler);
}

/*
 * Opens the socket. The destination is always this machine, so that samples do not leave it.
 */
static int take_udp(const request_t *request, option_id_t option, monitor_t *m,
                    struct sockaddr_in *to, bool *used) {
    long port;
    if (!request_has(request, option))
        return EXIT_YES;
    if (request_integer(request, option, 1, 65535, &port) != EXIT_YES)
        return EXIT_BAD;
    if (m->udp < 0)
        m->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (m->udp < 0)
        return diag_error(NULL, NULL, "a UDP socket cannot be opened: %s", strerror(errno));
    *to = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *used = true;
    return EXIT_YES;
}

/* ----------------------------------------------------------------------------------- live table */

/* Moves the cursor or clears a line; out_text would make the sequence visible. */
static void control(const char *sequence) {
    out_bytes(sequence, strlen(sequence));
}

static void draw(monitor_t *m) {
    const device_t *d = &m->client->device;
    const sample_in_t *s = &m->last;
    char up[20];
    uint32_t at = 0;
    snprintf(up, sizeof up, "\033[%uA", (unsigned)m->lines);
    control(m->drawn ? up : "");
    control("\033[K");
    out_format("%s  %s  t %.3f s  tick %u  samples %ld  lost %u on the board, %llu on the line\n",
               d->board, d->robot, s->tick / m->rate_hz, (unsigned)s->tick, m->samples,
               (unsigned)m->client->lost_total, (unsigned long long)m->client->torn);
    control("\033[K");
    out_format("%-20s", "");
    for (uint32_t k = 0; k < d->joints; k++)
        out_format(" %12.12s", d->joint[k]);
    out_text("\n");
    m->lines = 2;
    for (uint32_t i = 0; i < m->client->choices; i++, m->lines++) {
        const device_field_t *field = &d->field[m->client->chosen[i]];
        control("\033[K");
        out_format("%-10.10s %-9.9s", field->name, field->unit[0]);
        for (uint32_t k = 0; k < (field->per_joint ? d->joints : 1); k++, at++)
            out_format(" %12.6g", s->value[at]);
        out_text("\n");
    }
    out_flush();
    m->drawn = true;
}

/* -------------------------------------------------------------------------------------- the run */

static bool finished(const monitor_t *m) {
    return interrupted || m->failed || out_failed() || (m->most > 0 && m->samples >= m->most) ||
           (m->last_s > 0 && m->samples > 0 &&
            (m->last.tick - m->first_tick) / m->rate_hz >= m->last_s);
}

static void take_sample(void *user, const sample_in_t *s) {
    monitor_t *m = user;
    if (finished(m))
        return;
    if (m->samples++ == 0)
        m->first_tick = s->tick;
    m->last = *s;
    if (m->csv)
        csv_row(m, s);
    if (m->to_teleplot)
        send_teleplot(m, s);
    if (m->to_plotjuggler)
        send_plotjuggler(m, s);
    if (m->plot)
        plot_add(m->plot, s->tick / m->rate_hz, s->value);
    if (m->table && (!m->drawn || now_ms() >= m->redraw_ms)) {
        m->redraw_ms = now_ms() + REDRAW_MS;
        draw(m);
    }
}

static uint32_t take_fields(const request_t *request, char *text, size_t size,
                            const char *name[FIELDS_MOST]) {
    uint32_t count = 0;
    const char *given = request->value[OPTION_FIELDS];
    if (!given)
        return 0;
    snprintf(text, size, "%s", given);
    for (char *word = strtok(text, ", "); word && count < FIELDS_MOST; word = strtok(NULL, ", "))
        name[count++] = word;
    return count;
}

/* Starts the samples with the fields of --fields, or the board's choice, or else q and tau. */
static int start(const request_t *request, monitor_t *m, uint32_t every) {
    static const char *const usual[] = {"q", "tau"};
    static char text[1000];
    const char *name[FIELDS_MOST];
    const uint32_t names = take_fields(request, text, sizeof text, name);
    device_status_t status;
    int started = client_stream(m->client, name, names, every, WINDOW, NULL, NULL);
    if (started != 0 && names == 0)
        started = client_stream(m->client, usual, 2, every, WINDOW, NULL, NULL);
    if (started != 0 || client_status(m->client, &status) != 0)
        return board_error(m->client);
    m->rate_hz = status.rate_hz;
    return EXIT_YES;
}

static int run(const request_t *request, monitor_t *m) {
    enum { SILENT_MS = 10000 };
    int64_t silent = now_ms() + SILENT_MS;
    m->client->on_sample = take_sample;
    m->client->user = m;
    while (!finished(m)) {
        const long before = m->samples;
        if (client_poll(m->client, 100) < 0)
            return interrupted ? EXIT_YES : board_error(m->client);
        if (m->samples != before)
            silent = now_ms() + SILENT_MS;
        else if (now_ms() > silent)
            return diag_error(m->client->device.board,
                              "load a robot first: a board without one sends no samples",
                              "the board sent no sample for %d s", SILENT_MS / 1000);
    }
    /* Draws the last table before the stream ends, because the end clears the client's fields and
     * counts. */
    if (m->table && m->samples > 0)
        draw(m);
    if (!request_has(request, OPTION_QUIET))
        diag_note(
            m->client->device.board,
            "%ld samples, every %u ticks; lost: %u samples on the board, %llu frames on the line",
            m->samples, (unsigned)m->client->every, (unsigned)m->client->lost_total,
            (unsigned long long)m->client->torn);
    (void)client_stream_keep(m->client);
    return m->failed ? diag_error(request->value[OPTION_OUTPUT], "check the space on the disk",
                                  "the samples cannot be written")
                     : EXIT_YES;
}

static int plot_begin(const request_t *request, monitor_t *m) {
    if (!request_has(request, OPTION_PLOT))
        return EXIT_YES;
    char title[2 * CLIENT_NAME];
    snprintf(title, sizeof title, "%.100s on %.60s", m->client->device.robot,
             m->client->device.board);
    m->plot = plot_open(request->value[OPTION_PLOT], title);
    if (!m->plot)
        return EXIT_BAD;
    uint32_t value = 0;
    for (uint32_t i = 0; i < m->client->choices; i++) {
        const device_field_t *field = &m->client->device.field[m->client->chosen[i]];
        const uint32_t count = field->per_joint ? m->client->device.joints : 1;
        const char *name[DYN_MAX_JOINTS];
        for (uint32_t k = 0; k < count; k++, value++)
            name[k] = field->per_joint ? m->client->device.joint[k] : field->name;
        plot_panel(m->plot, field->name, field->unit[0], name, count);
    }
    return EXIT_YES;
}

static int outputs(const request_t *request, monitor_t *m) {
    const char *path = request->value[OPTION_OUTPUT];
    double duration;
    if (take_udp(request, OPTION_TELEPLOT, m, &m->teleplot, &m->to_teleplot) != EXIT_YES ||
        take_udp(request, OPTION_PLOTJUGGLER, m, &m->plotjuggler, &m->to_plotjuggler) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_TIMES) &&
        request_integer(request, OPTION_TIMES, 1, 1000000000, &m->most) != EXIT_YES)
        return EXIT_BAD;
    if (request_has(request, OPTION_DURATION)) {
        if (request_list(request, OPTION_DURATION, &duration, 1, 1, NULL) != EXIT_YES)
            return EXIT_BAD;
        if (!(duration > 0))
            return diag_error(NULL, "write a number above zero", "--duration: %g is not possible",
                              duration);
        m->last_s = duration;
    }
    if (path && strcmp(path, "-") != 0) {
        m->csv = fopen(path, "w");
        if (!m->csv)
            return diag_error(path, "check the path and its permissions", "cannot be written: %s",
                              strerror(errno));
    } else if (path || !isatty(STDOUT_FILENO)) {
        m->csv = stdout;
    }
    m->table = m->csv != stdout && isatty(STDOUT_FILENO);
    return EXIT_YES;
}

int cmd_monitor(const request_t *request) {
    monitor_t m = {.udp = -1};
    long every = 0;
    if (request_has(request, OPTION_EVERY) &&
        request_integer(request, OPTION_EVERY, 1, 1000000, &every) != EXIT_YES)
        return EXIT_BAD;
    m.client = board_open(request, DISCOVER_FIELDS);
    if (!m.client)
        return EXIT_BAD;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    int status = outputs(request, &m);
    if (status == EXIT_YES)
        status = start(request, &m, (uint32_t)every);
    if (status == EXIT_YES)
        status = plot_begin(request, &m);
    if (status == EXIT_YES) {
        if (m.csv)
            csv_head(&m);
        status = run(request, &m);
    }
    if (m.csv && m.csv != stdout && fclose(m.csv) != 0)
        status = diag_error(request->value[OPTION_OUTPUT], "check the space on the disk",
                            "writing failed");
    if (m.plot && plot_close(m.plot, status == EXIT_YES) != EXIT_YES)
        status = EXIT_BAD;
    if (m.udp >= 0)
        close(m.udp);
    client_close(m.client);
    return status;
}

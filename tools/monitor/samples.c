/* Implements tools/monitor/samples.h. */
#include "tools/monitor/samples.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/cli/diagnostics.h"
#include "tools/cli/file.h"
#include "tools/cli/out.h"

enum { LINE = 400 };

/* Writes the title of a value as a name in JSON. */
static void json_title(const client_t *client, uint32_t value, char name[LINE]) {
    const char *unit;
    client_value_title(client, value, name, LINE, &unit);
    for (char *c = name; *c; c++)
        if (*c == '"' || *c == '\\')
            *c = '_';
}

/* --------------------------------------------------------------------------------------- rows */

static uint32_t values_of(const client_t *client) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < client->choices; i++)
        count += client->device.field[client->chosen[i]].per_joint ? client->device.joints : 1;
    return count;
}

static void csv_row(FILE *file, const sample_in_t *s, double t) {
    fprintf(file, "%u,%.9g", (unsigned)s->tick, t);
    for (uint32_t i = 0; i < s->values; i++)
        fprintf(file, ",%.9g", s->value[i]);
}

static void json_row(FILE *file, const client_t *client, const sample_in_t *s, double t) {
    char name[LINE];
    fprintf(file, "{\"tick\":%u,\"t\":%.9g", (unsigned)s->tick, t);
    for (uint32_t i = 0; i < s->values; i++) {
        json_title(client, i, name);
        if (isfinite(s->value[i]))
            fprintf(file, ",\"%s\":%.9g", name, s->value[i]);
        else
            fprintf(file, ",\"%s\":null", name);
    }
    fputc('}', file);
}

static void add_row(samples_t *out, const client_t *client, const sample_in_t *s, double t) {
    if (out->json)
        json_row(out->file, client, s, t);
    else
        csv_row(out->file, s, t);
    const bool written = fputc('\n', out->file) != EOF;
    if (out->file == stdout)
        out_flush(); /* so that a program that reads the rows gets each row whole and at once */
    else
        out->failed |= !written;
}

/* ----------------------------------------------------------------------------------------- UDP */

/* Sends one line "name:milliseconds:value" for each value, for Teleplot. */
static void send_teleplot(const samples_t *out, const client_t *client, const sample_in_t *s,
                          double t) {
    char text[8192], name[LINE];
    const char *unit;
    size_t used = 0;
    for (uint32_t i = 0; i < s->values && used + LINE + 64 < sizeof text; i++) {
        client_value_title(client, i, name, sizeof name, &unit);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s:%.6f:%.9g\n", name, 1000 * t,
                                 s->value[i]);
    }
    (void)sendto(out->udp, text, used, MSG_DONTWAIT, (const struct sockaddr *)&out->teleplot,
                 sizeof out->teleplot);
}

/* Sends one JSON object for each sample, with the time in seconds as "t", for PlotJuggler. */
static void send_plotjuggler(const samples_t *out, const client_t *client, const sample_in_t *s,
                             double t) {
    char text[16384], name[LINE];
    size_t used = (size_t)snprintf(text, sizeof text, "{\"t\":%.9g", t);
    for (uint32_t i = 0; i < s->values && used + LINE + 64 < sizeof text; i++) {
        json_title(client, i, name);
        if (isfinite(s->value[i]))
            used += (size_t)snprintf(text + used, sizeof text - used, ",\"%s\":%.9g", name,
                                     s->value[i]);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "}");
    (void)sendto(out->udp, text, used, MSG_DONTWAIT, (const struct sockaddr *)&out->plotjuggler,
                 sizeof out->plotjuggler);
}

/*
 * Opens the socket. The destination is always this machine, so that samples do not leave it.
 */
static int take_udp(const request_t *request, option_id_t option, samples_t *out,
                    struct sockaddr_in *to, bool *used) {
    long port;
    if (!request_has(request, option))
        return EXIT_YES;
    if (request_integer(request, option, 1, 65535, &port) != EXIT_YES)
        return EXIT_BAD;
    if (out->udp < 0)
        out->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (out->udp < 0)
        return diag_error(NULL, NULL, "a UDP socket cannot be opened: %s", strerror(errno));
    *to = (struct sockaddr_in){.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    *used = true;
    return EXIT_YES;
}

/* ------------------------------------------------------------------------------------- together */

int samples_open(const request_t *request, samples_t *out) {
    const char *path = request->value[OPTION_OUTPUT];
    *out = (samples_t){.udp = -1, .path = path, .json = request_has(request, OPTION_JSON)};
    if (take_udp(request, OPTION_TELEPLOT, out, &out->teleplot, &out->to_teleplot) != EXIT_YES ||
        take_udp(request, OPTION_PLOTJUGGLER, out, &out->plotjuggler, &out->to_plotjuggler) !=
            EXIT_YES)
        return EXIT_BAD;
    if (path && strcmp(path, "-") != 0) {
        out->file = fopen(path, "w");
        if (!out->file)
            return diag_error(path, "check the path and its permissions", "cannot be written: %s",
                              strerror(errno));
    } else if (path || out->json || !isatty(STDOUT_FILENO)) {
        out->file = stdout;
    }
    return EXIT_YES;
}

static int plot_begin(const char *path, samples_t *out, const client_t *client) {
    char title[2 * CLIENT_NAME];
    snprintf(title, sizeof title, "%.100s on %.60s", client->device.robot, client->device.board);
    out->plot = plot_open(path, title);
    if (!out->plot)
        return EXIT_BAD;
    uint32_t value = 0;
    for (uint32_t i = 0; i < client->choices; i++) {
        const device_field_t *field = &client->device.field[client->chosen[i]];
        const uint32_t count = field->per_joint ? client->device.joints : 1;
        const char *name[DYN_MAX_JOINTS];
        for (uint32_t k = 0; k < count; k++, value++)
            name[k] = field->per_joint ? client->device.joint[k] : field->name;
        plot_panel(out->plot, field->name, field->unit[0], name, count);
    }
    return EXIT_YES;
}

int samples_head(const request_t *request, samples_t *out, const client_t *client) {
    char name[LINE], *head = NULL;
    const char *unit;
    size_t size = 0;
    FILE *text = open_memstream(&head, &size);
    if (!text)
        return diag_no_memory();
    fputs("tick,t", text);
    for (uint32_t i = 0; i < values_of(client); i++) {
        client_value_title(client, i, name, sizeof name, &unit);
        fputc(',', text);
        file_column(text, name);
    }
    if (fclose(text) != 0 || !head) {
        free(head);
        return diag_no_memory();
    }
    const bool first = !out->head, other = !first && strcmp(head, out->head) != 0;
    free(out->head);
    out->head = head;
    if (other && (out->file || out->plot)) {
        diag_error(client->device.board, "start the command again, with another file",
                   "the board has another robot or other fields now: %.60s does not fit the rows "
                   "before it",
                   client->device.robot);
        return EXIT_NO;
    }
    if (first && out->file && !out->json)
        fprintf(out->file, "%s\n", head);
    return first && request_has(request, OPTION_PLOT)
               ? plot_begin(request->value[OPTION_PLOT], out, client)
               : EXIT_YES;
}

void samples_add(samples_t *out, const client_t *client, const sample_in_t *s, double t) {
    if (out->file)
        add_row(out, client, s, t);
    if (out->to_teleplot)
        send_teleplot(out, client, s, t);
    if (out->to_plotjuggler)
        send_plotjuggler(out, client, s, t);
    if (out->plot)
        plot_add(out->plot, t, s->value);
}

void samples_gap(samples_t *out, double t) {
    double nothing[CLIENT_VALUES_MAX];
    for (size_t i = 0; i < CLIENT_VALUES_MAX; i++)
        nothing[i] = (double)NAN;
    if (out->plot)
        plot_add(out->plot, t, nothing);
}

int samples_close(samples_t *out, bool good) {
    int status = EXIT_YES;
    if (out->failed)
        status =
            diag_error(out->path, "check the space on the disk", "the samples cannot be written");
    if (out->file && out->file != stdout && fclose(out->file) != 0 && status == EXIT_YES)
        status = diag_error(out->path, "check the space on the disk", "writing failed");
    if (out->plot && plot_close(out->plot, good) != EXIT_YES)
        status = EXIT_BAD;
    if (out->udp >= 0)
        close(out->udp);
    free(out->head);
    return status;
}

/* Implements tools/args/remote.h. */
#include "tools/args/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/image.h"
#include "firmware/lab/batch.h"
#include "tools/cli/diagnostics.h"

static const char *const reals[BATCH_REALS] = {
#define X(name, text) #text,
    BATCH_REAL_TABLE(X)
#undef X
};

static int list_methods(const client_t *client, problem_t problem, const char *wanted) {
    char list[200] = "";
    size_t used = 0;
    const device_t *d = &client->device;
    for (uint32_t i = 0; i < d->methods && used < sizeof list - 1; i++)
        if (!strcmp(d->method[i].problem_name, problem_name(problem)))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                                     d->method[i].name);
    if (used == 0 && d->methods == 0)
        return diag_error(d->board, "use a board with more memory",
                          "the firmware of this board does not compute %s", problem_name(problem));
    if (!(d->flags & HELLO_LAB)) {
        char what[80];
        snprintf(what, sizeof what, "method %s for %s", wanted, problem_name(problem));
        return board_needs_lab(client, what);
    }
    char cure[300];
    snprintf(cure, sizeof cure, "the board has: %s", list);
    return diag_error(d->board, cure, "the firmware of this board has no method '%s' for %s",
                      wanted, problem_name(problem));
}

static int find_method(const client_t *client, method_id_t method, uint32_t *out) {
    const device_t *d = &client->device;
    const problem_t problem = method_table[method].problem;
    for (uint32_t i = 0; i < d->methods; i++)
        if (!strcmp(d->method[i].problem_name, problem_name(problem)) &&
            !strcmp(d->method[i].name, method_name(method))) {
            *out = i;
            return EXIT_YES;
        }
    return list_methods(client, problem, method_name(method));
}

static int find_real(const client_t *client, uint32_t method, const char *name, uint32_t *out) {
    const device_t *d = &client->device;
    const uint8_t has = d->method[method].reals;
    char list[40] = "", cure[80];
    size_t used = 0;
    for (uint32_t i = 0; i < BATCH_REALS; i++) {
        if (!(has >> i & 1))
            continue;
        if (!strcmp(reals[i], name)) {
            *out = i;
            return EXIT_YES;
        }
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", reals[i]);
    }
    if (!(d->flags & HELLO_LAB)) {
        snprintf(cure, sizeof cure, "number type %s", name);
        return board_needs_lab(client, cure);
    }
    snprintf(cure, sizeof cure, "the board has: %s", list);
    return diag_error(d->board, cure, "the firmware of this board has no number type '%s'", name);
}

static int put_robot(const request_t *request, const robot_t *robot, uint32_t real,
                     const double *wrench, remote_t *out) {
    static image_t image;
    size_t size = 0;
    bool kept;
    int status = board_outputs_off(request, out->client);
    uint8_t *bytes = status == EXIT_YES ? board_image(request, robot, &size) : NULL;
    if (!bytes)
        return status == EXIT_YES ? EXIT_BAD : status;
    if (image_read(bytes, size, &image, NULL) == IMAGE_OK)
        (void)image_units(&image, &out->units);
    if (client_send_image(out->client, (uint8_t)(TARGET_BATCH + real), bytes, (uint32_t)size, &kept,
                          NULL, NULL) != 0 ||
        (wrench && client_wrench(out->client, wrench) != 0))
        status = board_error(out->client);
    free(bytes);
    return status;
}

int remote_open(const request_t *request, const robot_t *robot, method_id_t method,
                const char *real, const double *wrench, bool lab, remote_t *out) {
    uint32_t type = 0;
    *out = (remote_t){.client = board_open(request, DISCOVER_METHODS | (lab ? BOARD_LAB : 0))};
    if (!out->client)
        return EXIT_BAD;
    snprintf(out->real, sizeof out->real, "%s", real ? real : out->client->device.real);
    int status = find_method(out->client, method, &out->method);
    if (status == EXIT_YES)
        status = find_real(out->client, out->method, out->real, &type);
    if (status == EXIT_YES && client_takes(out->client, robot->n) != 0)
        status = board_error(out->client); /* checked here, before the running robot is stopped */
    if (status == EXIT_YES)
        status = put_robot(request, robot, type, wrench, out);
    return status;
}

int remote_row(remote_t *remote, const double *in, size_t inputs, double *out, size_t outputs,
               uint32_t *limited) {
    return client_row(remote->client, remote->method, in, inputs, out, outputs, limited,
                      &remote->cost) == 0
               ? EXIT_YES
               : EXIT_NO;
}

void remote_close(remote_t *remote) {
    client_close(remote->client);
    remote->client = NULL;
}

/* Configurations of boards, for tools/config/config.h: of a board, for a board, and compared. */
#include <stdlib.h>
#include <string.h>

#include "firmware/params/bytes.h"
#include "firmware/params/image.h"
#include "tools/cli/diagnostics.h"
#include "tools/config/config.h"

/* ---------------------------------------------------------------------------------- of a board */

static void telemetry_names(const client_t *client, const snapshot_t *state, char *out,
                            size_t size) {
    size_t used = 0;
    snprintf(out, size, "none");
    for (uint32_t i = 0; i < state->choices && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? "," : "",
                                 client->device.field[state->chosen[i]].name);
}

int config_of_board(client_t *client, const snapshot_t *state, config_t *out) {
    const device_t *d = &client->device;
    *out = (config_t){0};
    if (!state->image[0]) {
        diag_error(d->board, "load a robot: `appell flash ROBOT`",
                   "the board has no robot, and without one it keeps nothing");
        return EXIT_NO;
    }
    snprintf(out->board, sizeof out->board, "%s", d->board);
    snprintf(out->build, sizeof out->build, "%s", d->build);
    telemetry_names(client, state, out->telemetry, sizeof out->telemetry);
    for (uint32_t i = 0; i < state->values; i++) {
        const snapshot_value_t *from = &state->value[i];
        const device_parameter_t *t = &d->parameter[from->parameter];
        config_value_t v = {.per_joint = t->per_joint,
                            .saved = from->saved,
                            .joint = from->joint,
                            .value = from->value};
        snprintf(v.name, sizeof v.name, "%s", t->name);
        client_unit(t, d->prismatic[from->joint], v.unit, sizeof v.unit);
        if (!config_add(out, &v))
            return diag_no_memory();
    }
    out->image = malloc(state->length[0] + 1);
    if (!out->image)
        return diag_no_memory();
    memcpy(out->image, state->image[0], state->length[0]);
    out->length = state->length[0];
    return EXIT_YES;
}

/* --------------------------------------------------------------------------------- for a board */

typedef struct {
    const config_t *config;
    client_t *client;
    image_t image;
    unsigned refused;
} check_t;

#define REFUSE(check, line, ...)                                                                   \
    ((check)->refused++, config_wrong((check)->config, line, __VA_ARGS__))

static int find_parameter(const client_t *client, const config_value_t *v) {
    for (uint32_t i = 0; i < client->device.parameters; i++)
        if (!strcmp(client->device.parameter[i].name, v->name) &&
            client->device.parameter[i].per_joint == v->per_joint)
            return (int)i;
    return -1;
}

/* The units and the number of the joints are those of the robot in the file. */
static void unit_of(const check_t *check, const device_parameter_t *t, uint32_t joint, char *out,
                    size_t size) {
    client_unit(t, check->image.joint[joint].type == DYN_PRISMATIC, out, size);
}

static void check_value(check_t *check, const config_value_t *v) {
    client_t *client = check->client;
    char unit[CLIENT_NAME];
    const int parameter = find_parameter(client, v);
    if (parameter < 0) {
        uint32_t number;
        int joint;
        if (client_parameter(client, v->name, &number, &joint) == 0)
            REFUSE(check, v->line, "see what `appell config read` writes for this board",
                   client->device.parameter[number].per_joint
                       ? "%s has a value for each joint on this board, and one in the file"
                       : "%s has one value on this board, and one for each joint in the file",
                   v->name);
        else
            REFUSE(check, v->line, client->error.cure, "%s", client->error.what);
        return;
    }
    const device_parameter_t *t = &client->device.parameter[parameter];
    if (v->per_joint && v->joint >= check->image.n) {
        REFUSE(check, v->line, "remove the line", "%s[%u]: the robot in the file has %u joints",
               v->name, v->joint + 1u, (unsigned)check->image.n);
        return;
    }
    unit_of(check, t, v->joint, unit, sizeof unit);
    if (strcmp(unit, v->unit) != 0)
        REFUSE(check, v->line, "convert the value, and write the unit of this firmware",
               "%s is in `%s` in the file, and in `%s` on this board", v->name, v->unit, unit);
    else if (!(v->value >= t->least && v->value <= t->most))
        REFUSE(check, v->line, "change the value",
               "%s = %.9g is outside of the range of this board, %g .. %g", v->name,
               (double)v->value, (double)t->least, (double)t->most);
}

static void check_missing(check_t *check) {
    const device_t *d = &check->client->device;
    for (uint32_t i = 0; i < d->parameters; i++) {
        const device_parameter_t *t = &d->parameter[i];
        char unit[CLIENT_NAME];
        for (uint32_t joint = 0; joint < (t->per_joint ? check->image.n : 1); joint++) {
            char index[16] = "", cure[2 * CLIENT_NAME + 80];
            if (config_find(check->config, t->name, joint))
                continue;
            if (t->per_joint)
                snprintf(index, sizeof index, "[%u]", (unsigned)joint + 1);
            unit_of(check, t, joint, unit, sizeof unit);
            snprintf(cure, sizeof cure, "add a line such as `%.100s%s = %.9g%s%.100s`", t->name,
                     index, (double)t->fallback, *unit ? " " : "", unit);
            REFUSE(check, 0, cure, "the board has the parameter %s%s, and the file does not",
                   t->name, index);
        }
    }
}

/* Finds the fields. Returns their number, or -1 with the client's error. */
static int find_fields(client_t *client, const char *text, uint8_t chosen[256]) {
    int count = 0;
    char name[CLIENT_NAME];
    if (!strcmp(text, "none"))
        return 0;
    for (;; text++) {
        const size_t size = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)size, text);
        const int field = client_field(client, name);
        if (field < 0)
            return -1;
        if (memchr(chosen, field, (size_t)count)) {
            port_fail(&client->error, "name each field once", "the field %s is named twice", name);
            return -1;
        }
        chosen[count++] = (uint8_t)field;
        text += size;
        if (!*text)
            return count;
    }
}

int config_check(const config_t *config, client_t *client) {
    static check_t check;
    const device_t *d = &client->device;
    uint8_t chosen[256] = {0};
    check = (check_t){.config = config, .client = client};
    if (image_read(config->image, config->length, &check.image, NULL) != IMAGE_OK)
        return EXIT_BAD; /* config_read has checked it */
    if (strcmp(config->board, d->board) != 0)
        REFUSE(&check, config->line_board,
               "use a configuration of this board, or `appell flash ROBOT`",
               "the configuration is of a board %s, and this is a %s", config->board, d->board);
    if (client_takes(client, check.image.n) != 0)
        REFUSE(&check, config->line_image, client->error.cure, "%s", client->error.what);
    if (find_fields(client, config->telemetry, chosen) < 0)
        REFUSE(&check, config->line_telemetry, client->error.cure, "%s", client->error.what);
    for (uint32_t i = 0; i < config->values; i++)
        check_value(&check, &config->value[i]);
    check_missing(&check);
    return check.refused == 0 ? EXIT_YES : EXIT_NO;
}

int config_state(const config_t *config, client_t *client, snapshot_t *out) {
    const device_t *d = &client->device;
    *out = (snapshot_t){0};
    out->value = calloc(config->values + 1, sizeof *out->value);
    for (int which = 0; which < 2; which++) {
        out->image[which] = malloc(config->length + 1);
        out->length[which] = config->length;
        if (out->image[which])
            memcpy(out->image[which], config->image, config->length);
    }
    if (!out->value || !out->image[0] || !out->image[1])
        return diag_no_memory();
    /* in the order of the board, for snapshot_equal */
    for (uint32_t i = 0; i < d->parameters; i++)
        for (uint32_t joint = 0; joint < (d->parameter[i].per_joint ? DYN_MAX_JOINTS : 1);
             joint++) {
            const config_value_t *v = config_find(config, d->parameter[i].name, joint);
            if (v)
                out->value[out->values++] =
                    (snapshot_value_t){(uint8_t)i, (uint8_t)joint, true, v->value};
        }
    const int fields = find_fields(client, config->telemetry, out->chosen);
    out->choices = fields > 0 ? (uint32_t)fields : 0;
    return EXIT_YES;
}

/* ------------------------------------------------------------------------------------ compared */

static void text_differs(differences_t *out, const char *what, const char *from, const char *to) {
    if (strcmp(from, to) != 0)
        differences_text(out, what, from, to);
}

static void title_of(const config_t *config, const config_value_t *v, char *out, size_t size) {
    static image_t image;
    const bool known = v->per_joint &&
                       image_read(config->image, config->length, &image, NULL) == IMAGE_OK &&
                       v->joint < image.n;
    if (known)
        snprintf(out, size, "%s[%s]", v->name, image.joint_name[v->joint]);
    else
        snprintf(out, size, "%s", v->name);
}

/* Adds the values of `to` that differ from those of `from` or, if `only` is true, those that `from`
 * does not have. */
static void values_differ(const config_t *from, const config_t *to, bool only, bool forward,
                          differences_t *out) {
    char title[2 * CLIENT_NAME], number[32 + CLIENT_NAME];
    for (uint32_t i = 0; i < to->values; i++) {
        const config_value_t *b = &to->value[i];
        const config_value_t *a = config_find(from, b->name, b->joint);
        title_of(to, b, title, sizeof title);
        if (!a) {
            snprintf(number, sizeof number, "%.9g%s%.100s", (double)b->value, *b->unit ? " " : "",
                     b->unit);
            differences_text(out, title, forward ? "nothing" : number,
                             forward ? number : "nothing");
        } else if (!only && !snapshot_same_bits(a->value, b->value)) {
            differences_number(out, title, (double)a->value, "", (double)b->value, b->unit);
        }
    }
}

void config_compare(const config_t *from, const config_t *to, differences_t *out) {
    text_differs(out, "board", from->board, to->board);
    text_differs(out, "telemetry", from->telemetry, to->telemetry);
    values_differ(from, to, false, true, out);
    values_differ(to, from, true, false, out);
    const size_t before = out->count;
    difference_images(out, from->image, from->length, to->image, to->length);
    if (out->count == before &&
        (from->length != to->length || memcmp(from->image, to->image, from->length) != 0))
        differences_text(out, "image", "its prepared constants or its layout",
                         "those of the other one");
}

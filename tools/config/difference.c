/* Implements tools/config/difference.h. */
#include "tools/config/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/params/image.h"
#include "tools/cli/json.h"
#include "tools/cli/out.h"

/* ------------------------------------------------------------------------------------- the list */

static difference_t *add(differences_t *list, const char *name) {
    if (list->count == list->room) {
        const size_t room = 2 * list->room + 16;
        difference_t *more = realloc(list->item, room * sizeof *more);
        if (!more) {
            list->failed = true;
            return NULL;
        }
        list->item = more;
        list->room = room;
    }
    difference_t *d = &list->item[list->count++];
    *d = (difference_t){.kind = ""};
    snprintf(d->name, sizeof d->name, "%s", name);
    return d;
}

void differences_text(differences_t *list, const char *name, const char *from, const char *to) {
    difference_t *d = add(list, name);
    if (!d)
        return;
    snprintf(d->text[0], sizeof d->text[0], "%s", from);
    snprintf(d->text[1], sizeof d->text[1], "%s", to);
}

void differences_number(differences_t *list, const char *name, double from, const char *kind,
                        double to, const char *unit) {
    difference_t *d = add(list, name);
    if (!d)
        return;
    d->number = true;
    d->value[0] = from;
    d->value[1] = to;
    d->kind = kind;
    snprintf(d->unit, sizeof d->unit, "%s", unit);
}

void differences_print(const differences_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        const difference_t *d = &list->item[i];
        out_format("  %s%s", d->name, *d->name ? ": " : "");
        if (d->number)
            out_format("%.9g%s -> %.9g%s%s\n", d->value[0], d->kind, d->value[1],
                       *d->unit ? " " : "", d->unit);
        else
            out_format("%s -> %s\n", d->text[0], d->text[1]);
    }
}

void differences_json(const char *key, const differences_t *list) {
    static const char *const side[2] = {"from", "to"};
    json_list(key);
    for (size_t i = 0; i < list->count; i++) {
        const difference_t *d = &list->item[i];
        json_begin(NULL);
        json_string("name", d->name);
        for (int k = 0; k < 2; k++) {
            if (d->number)
                json_number(side[k], d->value[k]);
            else
                json_string(side[k], d->text[k]);
        }
        if (d->number)
            json_string("unit", d->unit);
        json_end();
    }
    json_list_end();
}

void differences_free(differences_t *list) {
    free(list->item);
    *list = (differences_t){0};
}

/* ----------------------------------------------------------------------------------- the images */

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

static void numbers_differ(differences_t *list, const char *joint, const field_t *field,
                           unsigned fields, const float *a, const float *b) {
    for (; fields > 0; fields--, field++)
        for (uint32_t i = 0; i < field->count; i++, a++, b++) {
            if (*a == *b)
                continue;
            char name[CLIENT_NAME + 64], index[16] = "";
            if (field->count > 1)
                snprintf(index, sizeof index, "[%u]", (unsigned)i + 1);
            snprintf(name, sizeof name, "%s%s%s%s", joint, *joint ? " " : "", field->name, index);
            differences_number(list, name, (double)*a, "", (double)*b, field->unit);
        }
}

static void text_differs(differences_t *list, const char *what, const char *a, const char *b) {
    if (strcmp(a, b) != 0)
        differences_text(list, what, a, b);
}

static void count_differs(differences_t *list, const char *what, uint32_t a, uint32_t b) {
    if (a != b)
        differences_number(list, what, a, "", b, "");
}

void difference_images(differences_t *list, const uint8_t *old, uint32_t old_length,
                       const uint8_t *image, size_t length) {
    static image_t a, b;
    if (image_read(image, length, &b, NULL) != IMAGE_OK)
        return;
    if (!old || image_read(old, old_length, &a, NULL) != IMAGE_OK) {
        char robot[IMAGE_NAME_MAX + 32];
        snprintf(robot, sizeof robot, "%s, %u joints", b.name, (unsigned)b.n);
        differences_text(list, "", "nothing", robot);
        return;
    }
    text_differs(list, "name", a.name, b.name);
    count_differs(list, "joints", a.n, b.n);
    if (a.has & b.has & IMAGE_HAS_FEEDBACK)
        count_differs(list, "feedback", a.feedback, b.feedback);
    numbers_differ(list, "", arm_fields, ARM_FIELDS, (const float *)&a.arm, (const float *)&b.arm);
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        text_differs(list, "joint name", a.joint_name[i], b.joint_name[i]);
        count_differs(list, "type", a.joint[i].type, b.joint[i].type);
        numbers_differ(list, b.joint_name[i], joint_fields, JOINT_FIELDS,
                       (const float *)&a.joint[i] + IMAGE_JOINT_FIRST,
                       (const float *)&b.joint[i] + IMAGE_JOINT_FIRST);
    }
}

/* ----------------------------------------------------------------------------------- parameters */

/* Computes the value that an image gives to a parameter, as firmware/app/setup.c does on the board.
 * Returns false if the image does not set the parameter. */
static bool set_by(const image_t *image, const char *name, uint32_t joint, float *value) {
    const image_arm_t *arm = &image->arm;
    const struct {
        const char *name;
        float value;
    } of_arm[] = {{"rate_hz", arm->rate_hz[0]},
                  {"payload_mass", arm->payload_mass[0]},
                  {"payload_x", arm->payload_com[0]},
                  {"payload_y", arm->payload_com[1]},
                  {"payload_z", arm->payload_com[2]}};
    for (size_t i = 0; i < sizeof of_arm / sizeof of_arm[0]; i++)
        if (!strcmp(name, of_arm[i].name)) {
            *value = of_arm[i].value;
            return true;
        }
    if (!strcmp(name, "feedback")) {
        *value = (float)image->feedback;
        return (image->has & IMAGE_HAS_FEEDBACK) != 0;
    }
    if (joint >= image->n)
        return false;
    const image_joint_t *f = &image->joint[joint];
    const struct {
        const char *name;
        float value;
    } of_joint[] = {{"kp", f->kp[0]},
                    {"kd", f->kd[0]},
                    {"encoder_offset", f->offset[0]},
                    {"encoder_sign", f->sign[0]},
                    {"encoder_ratio", f->ratio[0] != 0 ? f->ratio[0] : 1},
                    {"position_lower", f->position[0]},
                    {"position_upper", f->position[1]},
                    {"home", (float)image->home_how[joint]},
                    {"home_position", image->home_position[joint]}};
    for (size_t i = 0; i < sizeof of_joint / sizeof of_joint[0]; i++)
        if (!strcmp(name, of_joint[i].name)) {
            *value = of_joint[i].value;
            return true;
        }
    return false;
}

static const device_parameter_t *parameter_of(const client_t *client, const snapshot_value_t *v) {
    return &client->device.parameter[v->parameter];
}

static const char *name_of(const client_t *client, const snapshot_value_t *v, char *out,
                           size_t size) {
    const device_parameter_t *t = parameter_of(client, v);
    snprintf(out, size, t->per_joint ? "%s[%s]" : "%s", t->name, client->device.joint[v->joint]);
    return out;
}

void difference_parameters(differences_t *list, const client_t *client, const snapshot_t *before,
                           const uint8_t *image, size_t length) {
    static image_t a, b;
    char name[2 * CLIENT_NAME + 8];
    if (!before->image[0] ||
        image_read(before->image[0], before->length[0], &a, NULL) != IMAGE_OK ||
        image_read(image, length, &b, NULL) != IMAGE_OK)
        return;
    for (uint32_t i = 0; i < before->values; i++) {
        const snapshot_value_t *v = &before->value[i];
        const device_parameter_t *t = parameter_of(client, v);
        float was, will;
        if ((t->per_joint && a.n != b.n) || !set_by(&b, t->name, v->joint, &will) ||
            v->value == will)
            continue;
        if (set_by(&a, t->name, v->joint, &was) && v->value == was)
            continue; /* already listed as a difference of the images */
        differences_number(list, name_of(client, v, name, sizeof name), (double)v->value,
                           " on the board", (double)will, "");
    }
}

void difference_stays(differences_t *list, const client_t *client, const snapshot_t *before,
                      const uint8_t *image, size_t length) {
    static image_t b;
    char name[2 * CLIENT_NAME + 8];
    if (image_read(image, length, &b, NULL) != IMAGE_OK)
        return;
    for (uint32_t i = 0; i < before->values; i++) {
        const snapshot_value_t *v = &before->value[i];
        const device_parameter_t *t = parameter_of(client, v);
        float will;
        /* sample_every is part of the choice of telemetry fields, so it is not listed here. */
        if (t->per_joint || v->value == t->fallback || !strcmp(t->name, "sample_every") ||
            set_by(&b, t->name, 0, &will))
            continue;
        differences_number(list, name_of(client, v, name, sizeof name), (double)v->value, "",
                           (double)t->fallback, "");
    }
}

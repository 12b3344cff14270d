/* Implements tools/cmd/difference.h. */
#include "tools/cmd/difference.h"

#include <stdio.h>
#include <string.h>

#include "firmware/params/image.h"
#include "tools/cli/out.h"

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

unsigned difference_images(const uint8_t *old, uint32_t old_length, const uint8_t *image,
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
        (a.has & b.has & IMAGE_HAS_FEEDBACK ? count_differs("feedback", a.feedback, b.feedback)
                                            : 0) +
        numbers_differ("", arm_fields, ARM_FIELDS, (const float *)&a.arm, (const float *)&b.arm);
    for (uint32_t i = 0; i < a.n && i < b.n; i++) {
        found += text_differs("joint name", a.joint_name[i], b.joint_name[i]);
        found += count_differs("type", a.joint[i].type, b.joint[i].type);
        found += numbers_differ(b.joint_name[i], joint_fields, JOINT_FIELDS,
                                (const float *)&a.joint[i] + IMAGE_JOINT_FIRST,
                                (const float *)&b.joint[i] + IMAGE_JOINT_FIRST);
    }
    return found;
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

static void print_name(const client_t *client, const snapshot_value_t *v) {
    const device_parameter_t *t = parameter_of(client, v);
    out_format(t->per_joint ? "  %s[%s]: " : "  %s: ", t->name, client->device.joint[v->joint]);
}

unsigned difference_parameters(const client_t *client, const snapshot_t *before,
                               const uint8_t *image, size_t length, bool print) {
    static image_t a, b;
    unsigned found = 0;
    if (!before->image[0] ||
        image_read(before->image[0], before->length[0], &a, NULL) != IMAGE_OK ||
        image_read(image, length, &b, NULL) != IMAGE_OK)
        return 0;
    for (uint32_t i = 0; i < before->values; i++) {
        const snapshot_value_t *v = &before->value[i];
        const device_parameter_t *t = parameter_of(client, v);
        float was, will;
        if ((t->per_joint && a.n != b.n) || !set_by(&b, t->name, v->joint, &will) ||
            v->value == will)
            continue;
        if (set_by(&a, t->name, v->joint, &was) && v->value == was)
            continue; /* already printed as a difference of the images */
        if (print) {
            print_name(client, v);
            out_format("%.9g on the board -> %.9g\n", (double)v->value, (double)will);
        }
        found++;
    }
    return found;
}

void difference_stays(const client_t *client, const snapshot_t *before, const uint8_t *image,
                      size_t length) {
    static image_t b;
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
        print_name(client, v);
        out_format("%.9g is kept; the default is %.9g\n", (double)v->value, (double)t->fallback);
    }
}

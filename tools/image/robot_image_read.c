/* Reads robots from robot images, for tools/image/robot_image.h. Accepts only images that a robot
 * file can express, so that nothing is lost in the conversion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dyn/number/q31.h"
#include "firmware/params/image_flex.h"
#include "tools/image/robot_image_inside.h"

static void to_doubles(const float *in, double *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = (double)in[i];
}

static void to_angles(const float *in, double *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = image_angle(in[i]);
}

static void image_to_joint(const image_joint_t *in, const char *name, robot_joint_t *out) {
    const image_joint_t *f = in;
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->link_name, sizeof out->link_name, "%s", name);
    out->has = in->has | ROBOT_JOINT_INERTIAL;
    dyn_source_joint_t *s = &out->source;
    s->alpha = image_angle(f->alpha[0]);
    s->a = (double)f->a[0];
    s->theta = image_angle(f->theta[0]);
    s->d = (double)f->d[0];
    out->encoder = (robot_encoder_t){(double)f->counts[0], (double)f->sign[0], (double)f->offset[0],
                                     (double)f->ratio[0]};
    out->kp = (double)f->kp[0];
    out->kd = (double)f->kd[0];
}

static void image_to_robot(const image_t *image, const dyn_model_t *model, robot_t *out) {
    const image_arm_t *arm = &image->arm;
    snprintf(out->name, sizeof out->name, "%s", image->name);
    out->convention = DYN_CONVENTION_MDH;
    out->has = image->has;
    out->n = image->n;
    to_doubles(arm->gravity, out->gravity, 3);
    to_doubles(arm->base_xyz, out->base_xyz, 3);
    to_angles(arm->base_rpy, out->base_rpy, 3);
    to_doubles(arm->tool_xyz, out->tool_xyz, 3);
    to_angles(arm->tool_rpy, out->tool_rpy, 3);
    out->rate_hz = (double)arm->rate_hz[0];
    out->feedback = (uint32_t)image->feedback;
    out->payload = model->payload;
    for (uint32_t i = 0; i < image->n; i++) {
        image_to_joint(&image->joint[i], image->joint_name[i], &out->joint[i]);
        out->joint[i].homing =
            (robot_homing_t){image->home_how[i], (double)image->home_position[i]};
        const image_thermal_t thermal = image_thermal(image, i);
        out->joint[i].thermal =
            (robot_thermal_t){(double)thermal.continuous, (double)thermal.time_s};
        out->joint[i].source.type = model->joint[i].type;
        out->joint[i].source.link = model->joint[i].link;
        out->joint[i].source.drive = model->joint[i].drive;
        out->joint[i].source.drive.limits.acceleration =
            /* the limit as in the file, not the board's default */
            (double)image->joint[i].acceleration[0];
    }
}

/* Reads the beams of an image. Returns false with an error. */
static bool image_to_beams(const image_t *image, robot_t *out, message_place_t place,
                           messages_t *messages) {
    image_beam_t beam[DYN_FLEX_MAX_JOINTS];
    if (!image_elastic(image))
        return true;
    out->integrals = calloc(1, sizeof *out->integrals);
    const int status = out->integrals ? image_get_flex(image, beam, out->integrals) : IMAGE_E_ROOM;
    if (status != IMAGE_OK) {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, place, image_cure(status),
                     "the elastic links in the robot image cannot be used: %s",
                     image_cause(status));
        return false;
    }
    out->elastic = true;
    for (uint32_t i = 0; i < image->n; i++) {
        robot_joint_t *joint = &out->joint[i];
        joint->elastic = beam[i].beam;
        out->shapes_lost = out->shapes_lost || beam[i].tables;
        joint->flex = (robot_flex_t){.modes_xy = beam[i].modes[DYN_FLEX_XY],
                                     .modes_xz = beam[i].modes[DYN_FLEX_XZ],
                                     .modes_torsion = beam[i].modes[DYN_FLEX_TORSION]};
#define X(name, unit, help) joint->flex.name = (double)beam[i].name;
        IMAGE_BEAM_FIELDS(X)
#undef X
    }
    return true;
}

/* Checks that the q31 constants in the image are those of the arm, if this build can read them.
 * Works on a copy, because the bytes of a file in memory need not be word-aligned. */
static bool q31_agrees(const image_t *image, const dyn_model_t *model) {
    const image_section_t *section = &image->section[IMAGE_SECTION_Q31A];
    image_t *copy = calloc(1, sizeof *copy);
    uint8_t *bytes = section->bytes ? malloc(section->size) : NULL;
    dyn_arm_q31_t *arm = calloc(1, sizeof *arm);
    const dyn_arm_q31_t *given;
    dyn_units_t units;
    bool agrees = true;
    if (copy && bytes && arm && image_units(image, &units)) {
        *copy = *image;
        memcpy(bytes, section->bytes, section->size);
        copy->section[IMAGE_SECTION_Q31A].bytes = bytes;
        const int status = image_arm_q31(copy, &given);
        if (status != IMAGE_E_BUILD)
            agrees = status == IMAGE_OK && dyn_prepare_q31(model, &units, arm) == DYN_OK &&
                     memcmp(arm, given, section->size - IMAGE_Q31_HEAD) == 0;
    }
    free(copy);
    free(bytes);
    free(arm);
    return agrees;
}

static bool same_singles(const float *a, const float *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool same_content(const image_t *a, const image_t *b) {
    bool same =
        a->n == b->n && a->has == b->has && a->feedback == b->feedback &&
        same_singles((const float *)&a->arm, (const float *)&b->arm, sizeof a->arm / sizeof(float));
    for (uint32_t i = 0; same && i < a->n; i++) {
        const image_joint_t *x = &a->joint[i], *y = &b->joint[i];
        same = x->type == y->type && x->has == y->has && a->home_how[i] == b->home_how[i] &&
               a->home_position[i] == b->home_position[i] &&
               same_singles((const float *)x + IMAGE_JOINT_FIRST,
                            (const float *)y + IMAGE_JOINT_FIRST, IMAGE_JOINT_NUMBERS);
    }
    return same;
}

/*
 * Checks that the section FLEX of the image is the one that the robot `again` gives. If mode shapes
 * were tables, the integrals cannot be computed again, because an image does not contain the
 * tables; then only the presence of the section is checked.
 */
static bool same_flex(const image_t *image, const robot_t *robot, const robot_t *again) {
    const image_section_t *section = &image->section[IMAGE_SECTION_FLEX];
    messages_t own = MESSAGES_INIT;
    image_t *made = calloc(1, sizeof *made);
    uint8_t *bytes = made ? robot_image_flex(again, made, &own) : NULL;
    bool same = (bytes != NULL) == (section->bytes != NULL);
    if (same && bytes && !robot->shapes_lost)
        same = made->section[IMAGE_SECTION_FLEX].size == section->size &&
               memcmp(bytes, section->bytes, section->size) == 0;
    free(bytes);
    free(made);
    messages_free(&own);
    return same;
}

static bool same_thermal(const image_t *image, const robot_t *again) {
    bool same = true;
    for (uint32_t i = 0; i < image->n; i++) {
        const image_thermal_t t = image_thermal(image, i);
        same = same && t.continuous == (float)again->joint[i].thermal.continuous &&
               t.time_s == (float)again->joint[i].thermal.time;
    }
    return same;
}

/*
 * Checks that a robot file can express the image, so that --show loses nothing: the image has no
 * number where it says that none was given, and no number that the schema forbids. A board accepts
 * every image whose numbers are possible; all images made by this tool also pass this check.
 * Returns false with an error.
 */
static bool robot_file_says_it(const image_t *image, const robot_t *robot, message_place_t place,
                               messages_t *messages) {
    static const char cure[] = "make a new image with this `appell`";
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    robot_t *copy = calloc(1, sizeof *copy);
    image_t *again = calloc(1, sizeof *again);
    const bool memory = stream && copy && again;
    const bool saved = memory && robot_save(stream, robot) == 0;
    bool good = stream && fclose(stream) == 0 && saved;
    if (!good) {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
    } else {
        messages_t own = MESSAGES_INIT;
        good = robot_parse(robot->file, text, size, NULL, copy, &own) == 0;
        bool same = good;
        if (good) {
            robot_to_image(copy, again);
            same = same_content(image, again) && same_flex(image, robot, copy) &&
                   same_thermal(image, copy);
        }
        if (!good && own.count > 0)
            messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT,
                         (message_place_t){place.file, 0, own.item[0].subject}, cure,
                         "the robot image has a value that no robot file can express: %s",
                         own.item[0].text);
        else if (!same)
            messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, place, cure,
                         "the robot image marks numbers as absent although it contains them");
        good = same;
        messages_free(&own);
        robot_free(copy);
    }
    free(text);
    free(copy);
    free(again);
    return good;
}

int robot_image_read(const char *file, const uint8_t *bytes, size_t size,
                     const robot_options_t *options, robot_t *out, messages_t *messages) {
    message_place_t place = {file, 0, NULL};
    if (options->tip || options->freeze_count > 0) {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_VALUE, place,
                     "make the image from the URDF with these options",
                     "--tip and --freeze work with a URDF only");
        return -1;
    }
    image_t *image = calloc(1, sizeof *image);
    dyn_model_t *model = calloc(1, sizeof *model);
    image_where_t where = {.joint = IMAGE_NO_JOINT};
    int status = -1;
    if (!image || !model) {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
    } else if ((status = image_read(bytes, size, image, &where)) != IMAGE_OK) {
        char subject[40] = "";
        if (where.joint < DYN_MAX_JOINTS)
            snprintf(subject, sizeof subject, "joint %u", (unsigned)where.joint + 1);
        place.subject = subject;
        char text[200];
        if (status == IMAGE_E_NUMBER)
            robot_number_text(&where, text, sizeof text);
        else
            snprintf(text, sizeof text, "%s", where.field ? where.field : "");
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, place, image_cure(status),
                     "the robot image cannot be used: %s%s%s", image_cause(status),
                     *text ? ": " : "", text);
    } else if (image_length(bytes, size) != size) {
        status = -1;
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, place,
                     "cut the file to the length of the image", "%zu bytes follow the robot image",
                     size - image_length(bytes, size));
    } else if (image_model(image, model) != DYN_OK || !q31_agrees(image, model)) {
        status = -1;
        messages_add(messages, MESSAGE_ERROR, MESSAGE_FORMAT, place, "make the image again",
                     "the data of the arm in this robot image contradict each other");
    } else {
        image_to_robot(image, model, out);
        const bool good = image_to_beams(image, out, place, messages) &&
                          robot_file_says_it(image, out, place, messages);
        status = good ? 0 : -1;
    }
    free(image);
    free(model);
    return status == 0 ? 0 : -1;
}

/* Writes robots as robot images, for tools/image/robot_image.h. */
#include <stdio.h>
#include <stdlib.h>

#include "dyn/number/q31.h"
#include "firmware/params/image_flex.h"
#include "tools/image/robot_image_inside.h"
#include "tools/proof/units.h"
#include "tools/robot/modes.h"

_Static_assert(ROBOT_NAME_MAX == IMAGE_NAME_MAX, "a name fits");

/*
 * Makes the section with the q31 constants that the proof covers. They fit, because the proof has
 * prepared the same constants. The struct is zeroed first, because its padding is written too and
 * the same robot must give the same bytes. Returns NULL if there is no memory.
 */
static uint8_t *make_q31(const dyn_model_t *model, const dyn_units_t *units, image_t *image) {
    dyn_arm_q31_t *arm = calloc(1, sizeof *arm);
    uint8_t *bytes = arm ? malloc(image_q31_size(model->n)) : NULL;
    if (bytes && dyn_prepare_q31(model, units, arm) == DYN_OK) {
        image_put_q31(arm, bytes);
        image->section[IMAGE_SECTION_Q31A] = (image_section_t){bytes, image_q31_size(model->n)};
    }
    free(arm);
    return bytes;
}

/* Adds a note if acceleration limits are missing: the proof then assumes the accelerations with
 * which the board plans its motions. A URDF cannot give accelerations. */
static void note_accelerations(const robot_t *robot, const image_t *image, messages_t *messages) {
    uint32_t taken = 0, first = 0;
    for (uint32_t i = image->n; i-- > 0;) {
        const image_joint_t *f = &image->joint[i];
        if (f->acceleration[0] > 0 || !(f->velocity[0] > 0))
            continue;
        first = i;
        taken++;
    }
    if (taken == 0)
        return;
    const robot_joint_t *joint = &robot->joint[first];
    char others[60] = "";
    if (taken > 1)
        snprintf(others, sizeof others, "; the same holds for %u more joint%s", (unsigned)taken - 1,
                 taken == 2 ? "" : "s");
    messages_add(
        messages, MESSAGE_NOTE, MESSAGE_LIMITS,
        (message_place_t){robot->file, joint->line.limits, joint->name},
        "give it under `limits:` in a robot file, or with --limits V,A",
        "there is no acceleration limit; %g is assumed, which reaches the velocity limit in %g s%s",
        (double)(image->joint[first].velocity[0] / IMAGE_RISE_DEFAULT_S),
        (double)IMAGE_RISE_DEFAULT_S, others);
}

/* Proves q31 for the numbers of the image, not of the file, because the board receives the image.
 * The bytes of the returned section must live until the image is written. */
static uint8_t *prove(const robot_t *robot, image_t *image, messages_t *messages) {
    dyn_model_t *model = calloc(1, sizeof *model);
    range_report_t *report = calloc(1, sizeof *report);
    dyn_units_t units = {0};
    const message_place_t place = {robot->file, 0, NULL};
    char missing[80] = "";
    uint8_t *bytes = NULL;
    if (model && report && image_model(image, model) == DYN_OK) {
        note_accelerations(robot, image, messages);
        const int status = units_prove(model, &units, report);
        image->proved = status == DYN_OK;
        image->q31_length = units.length;
        image->q31_time = units.time;
        for (uint32_t i = 0; i < image->n; i++)
            image->joint[i].q31_mass = image->proved ? units.mass[i] : 0;
        if (image->proved)
            bytes = make_q31(model, &units, image);
        for (uint32_t i = 0; i < image->n && !*missing; i++) {
            units_missing(model, i, missing, sizeof missing);
            if (*missing)
                messages_add(messages, MESSAGE_NOTE, MESSAGE_LIMITS,
                             (message_place_t){robot->file, robot->joint[i].line.limits,
                                               robot->joint[i].name},
                             "give them under `limits:` in the robot file, or give velocity and "
                             "acceleration with --limits V,A",
                             "the image is for float32 only: a proof of q31 needs limits of %s",
                             missing);
        }
        if (!image->proved && !*missing)
            messages_add(messages, MESSAGE_NOTE, MESSAGE_LIMITS, place, "tighten the limits",
                         "the image is for float32 only: within these limits q31 can overflow");
    }
    free(model);
    free(report);
    return bytes;
}

/*
 * Makes a copy of the arm with its beams rounded to single precision, as in the image. So integrals
 * and stiff links stay the same when the image is shown and made again. Returns NULL with an error.
 * The caller frees the copy only: it shares everything that it points to with the robot.
 */
static robot_t *rounded(const robot_t *robot, messages_t *messages) {
    robot_t *copy = malloc(sizeof *copy);
    if (!copy) {
        const message_place_t place = {robot->file, 0, NULL};
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
        return NULL;
    }
    *copy = *robot;
    for (uint32_t i = 0; i < copy->n; i++) {
        robot_joint_t *joint = &copy->joint[i];
        if (!joint->elastic)
            continue;
#define X(name, unit, help) joint->flex.name = (double)robot_single(joint->flex.name);
        IMAGE_BEAM_FIELDS(X)
#undef X
        joint->source.link = modes_stiff(&joint->flex);
        if (i + 1 < copy->n)
            copy->joint[i + 1].source.a = joint->flex.length;
    }
    if (!copy->elastic || robot_settle(copy, 0, messages) == 0)
        return copy;
    free(copy);
    return NULL;
}

static void beam_to_image(const robot_joint_t *joint, bool lost, image_beam_t *out) {
    const robot_flex_t *f = &joint->flex;
    *out = (image_beam_t){.beam = joint->elastic};
    if (!joint->elastic)
        return;
    out->modes[DYN_FLEX_XY] = f->modes_xy;
    out->modes[DYN_FLEX_XZ] = f->modes_xz;
    out->modes[DYN_FLEX_TORSION] = f->modes_torsion;
    out->tables = lost || f->shape_xy || f->shape_xz || f->shape_torsion;
#define X(name, unit, help) out->name = robot_single(f->name);
    IMAGE_BEAM_FIELDS(X)
#undef X
}

uint8_t *robot_image_flex(const robot_t *robot, image_t *image, messages_t *messages) {
    image_beam_t beam[DYN_FLEX_MAX_JOINTS];
    dyn_flex_model_t *flex = robot->elastic ? calloc(1, sizeof *flex) : NULL;
    uint8_t *bytes = NULL;
    if (flex && modes_robot(robot, flex, messages) == 0) {
        for (uint32_t i = 0; i < robot->n; i++)
            beam_to_image(&robot->joint[i], robot->shapes_lost, &beam[i]);
        const uint32_t size = image_flex_size(robot->n, beam);
        bytes = malloc(size);
        if (bytes) {
            image_put_flex(robot->n, beam, flex, bytes);
            image->section[IMAGE_SECTION_FLEX] = (image_section_t){bytes, size};
        }
    }
    free(flex);
    return bytes;
}

static void writing_failed(const robot_t *robot, int status, const image_where_t *where,
                           messages_t *messages) {
    const robot_joint_t *joint = where->joint < robot->n ? &robot->joint[where->joint] : NULL;
    char text[200] = "";
    if (status == IMAGE_E_NUMBER)
        robot_number_text(where, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s%s%s", image_cause(status), where->field ? ": " : "",
                 where->field ? where->field : "");
    messages_add(
        messages, MESSAGE_ERROR, MESSAGE_VALUE,
        (message_place_t){robot->file, joint ? joint->line.joint : 0, joint ? joint->name : NULL},
        image_cure(status), "no image can be made: %s", text);
}

/* Writes the bytes of the image. The contents of the sections must live until then. */
static int write_all(const robot_t *robot, image_t *image, uint8_t *bytes, size_t *size,
                     image_where_t *where, messages_t *messages) {
    uint8_t *flex = robot_image_flex(robot, image, messages), *q31 = NULL;
    uint8_t *thermal = robot_image_thermal(robot, image);
    int status = IMAGE_E_NUMBER;
    *where = (image_where_t){.joint = IMAGE_NO_JOINT, .field = "elastic links", .span = {1, 0, 0}};
    if (flex || !robot->elastic)
        status = image_write(image, bytes, IMAGE_SIZE_MAX, size, where);
    if (status == IMAGE_OK) {
        q31 = prove(robot, image, messages);
        status = image_write(image, bytes, IMAGE_SIZE_MAX, size, where);
    }
    free(q31);
    free(thermal);
    free(flex);
    return status;
}

uint8_t *robot_image_make(const robot_t *robot, size_t *size, messages_t *messages) {
    const message_place_t place = {robot->file, 0, NULL};
    robot_t *copy = rounded(robot, messages);
    if (!copy)
        return NULL;
    image_t *image = calloc(1, sizeof *image);
    uint8_t *bytes = malloc(IMAGE_SIZE_MAX);
    image_where_t where;
    int status = IMAGE_E_ROOM;
    if (!robot_image_drives(copy, messages)) {
        status = IMAGE_E_NUMBER;
    } else if (image && bytes) {
        robot_to_image(copy, image);
        status = write_all(copy, image, bytes, size, &where, messages);
        if (status != IMAGE_OK)
            writing_failed(robot, status, &where, messages);
    } else {
        messages_add(messages, MESSAGE_ERROR, MESSAGE_MEMORY, place, NULL,
                     "there is not enough memory");
    }
    free(image);
    free(copy);
    if (status == IMAGE_OK)
        return bytes;
    free(bytes);
    return NULL;
}

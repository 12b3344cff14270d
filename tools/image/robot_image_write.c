/*
 * Writes robots as robot images, for tools/image/robot_image.h. If the robot came from an image or
 * uses the same frames as an image, its numbers are packed without conversion, so that robot file
 * and image convert into each other without change.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dyn/number/q31.h"
#include "firmware/params/image_flex.h"
#include "tools/image/robot_image_inside.h"
#include "tools/proof/units.h"
#include "tools/robot/modes.h"

_Static_assert(ROBOT_NAME_MAX == IMAGE_NAME_MAX, "a name fits");

/* Rounds to the nearest single-precision number. A value that is too large becomes infinite; the
 * writer rejects it. */
static void to_singles(const double *in, float *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = fabs(in[i]) <= (double)FLT_MAX ? (float)in[i] : (float)copysign(INFINITY, in[i]);
}

static float to_single(double in) {
    float out;
    to_singles(&in, &out, 1);
    return out;
}

static bool any(const float *value, int count) {
    for (int i = 0; i < count; i++)
        if (value[i] != 0)
            return true;
    return false;
}

/* Removes rounding noise: composing frames leaves less than 1e-14 where zeros and quarter turns
 * were, which is below a millionth of the resolution of single precision. */
static double without_noise(double value, double step) {
    const double near = rint(value / step) * step;
    return fabs(value - near) < 1e-14 ? near : value;
}

static void pose_to_rpy(const dyn_pose_t *pose, float xyz[3], float rpy[3]) {
    const double(*r)[3] = pose->r;
    const double quarter = 1.57079632679489661923;
    const double level = hypot(r[0][0], r[1][0]);
    double angle[3] = {atan2(r[2][1], r[2][2]), atan2(-r[2][0], level), atan2(r[1][0], r[0][0])};
    if (level < 1e-9) { /* pitch is 90 degrees: roll and yaw turn about the same axis */
        angle[0] = atan2(-r[1][2], r[1][1]);
        angle[2] = 0;
    }
    for (int i = 0; i < 3; i++) {
        rpy[i] = to_single(without_noise(angle[i], quarter));
        xyz[i] = to_single(fabs(pose->p[i]) < 1e-15 ? 0 : pose->p[i]);
    }
}

/* True if the frames of the file are already those of the image. */
static bool same_frames(const robot_t *robot) {
    const dyn_source_joint_t *first = &robot->joint[0].source;
    if (robot->convention != DYN_CONVENTION_MDH || first->alpha != 0 || first->a != 0 ||
        first->theta != 0 || first->d != 0)
        return false;
    for (uint32_t i = 0; i < robot->n; i++)
        for (int k = 0; k < 3; k++)
            if (robot->joint[i].source.inertia_rpy[k] != 0)
                return false;
    return true;
}

static void arm_to_image(const robot_t *robot, bool same, image_t *image) {
    const dyn_model_t *model = &robot->model;
    image_arm_t *arm = &image->arm;
    const dyn_body_t *payload = same ? &robot->payload : &model->payload;
    image->n = robot->n;
    image->name = robot->name;
    image->has = robot->has & IMAGE_HAS_ALL;
    image->feedback = (uint32_t)robot->feedback;
    arm->rate_hz[0] = to_single(robot->rate_hz);
    to_singles(same ? robot->gravity : model->gravity, arm->gravity, 3);
    if (same) {
        to_singles(robot->base_xyz, arm->base_xyz, 3);
        to_singles(robot->base_rpy, arm->base_rpy, 3);
        to_singles(robot->tool_xyz, arm->tool_xyz, 3);
        to_singles(robot->tool_rpy, arm->tool_rpy, 3);
    } else {
        pose_to_rpy(&model->base, arm->base_xyz, arm->base_rpy);
        pose_to_rpy(&model->tool, arm->tool_xyz, arm->tool_rpy);
    }
    if (any(arm->base_xyz, 3) || any(arm->base_rpy, 3))
        image->has |= IMAGE_HAS_BASE;
    if (any(arm->tool_xyz, 3) || any(arm->tool_rpy, 3))
        image->has |= IMAGE_HAS_TOOL;
    if (robot->has & IMAGE_HAS_PAYLOAD) { /* without a payload its centre of mass is undefined */
        arm->payload_mass[0] = to_single(payload->mass);
        to_singles(payload->com, arm->payload_com, 3);
        to_singles(payload->inertia, arm->payload_inertia, 6);
    }
}

static void joint_to_image(const robot_joint_t *in, const dyn_model_joint_t *model, bool same,
                           image_joint_t *out) {
    const dyn_source_joint_t *source = &in->source;
    const dyn_drive_t *drive = &source->drive;
    const dyn_body_t *link = same ? &source->link : &model->link;
    image_joint_t *f = out;
    out->type = (uint32_t)source->type;
    out->has = in->has & IMAGE_JOINT_HAS_ALL;
    f->alpha[0] = to_single(same ? source->alpha : model->alpha);
    f->a[0] = to_single(same ? source->a : model->a);
    f->theta[0] = to_single(same ? source->theta : model->theta);
    f->d[0] = to_single(same ? source->d : model->d);
    f->mass[0] = to_single(link->mass);
    to_singles(link->com, f->com, 3);
    to_singles(link->inertia, f->inertia, 6);
    to_singles(drive->limits.position, f->position, 2);
    f->velocity[0] = to_single(drive->limits.velocity);
    f->acceleration[0] = to_single(drive->limits.acceleration);
    f->torque[0] = to_single(drive->limits.torque);
    f->resistance[0] = to_single(drive->motor.resistance);
    f->torque_constant[0] = to_single(drive->motor.torque_constant);
    f->gear[0] = to_single(drive->motor.gear);
    f->rotor_inertia[0] = to_single(drive->motor.rotor_inertia);
    f->voltage[0] = to_single(drive->motor.voltage);
    f->viscous[0] = to_single(drive->friction.viscous);
    to_singles(drive->friction.coulomb, f->coulomb, 2);
    f->width[0] = to_single(drive->friction.width);
    f->counts[0] = to_single(in->encoder.counts);
    f->sign[0] = in->encoder.sign < 0 ? -1 : 1;
    f->offset[0] = to_single(in->encoder.offset);
    f->ratio[0] = in->encoder.ratio != 0 ? to_single(in->encoder.ratio) : 1;
    f->kp[0] = to_single(in->kp);
    f->kd[0] = to_single(in->kd);
}

void robot_to_image(const robot_t *robot, image_t *image) {
    const bool same = same_frames(robot);
    arm_to_image(robot, same, image);
    for (uint32_t i = 0; i < robot->n; i++) {
        joint_to_image(&robot->joint[i], &robot->model.joint[i], same, &image->joint[i]);
        image->joint_name[i] = robot->joint[i].name;
        image->home_how[i] = (int8_t)robot->joint[i].homing.how;
        image->home_position[i] = to_single(robot->joint[i].homing.position);
    }
}

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
#define X(name, unit, help) joint->flex.name = (double)to_single(joint->flex.name);
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
#define X(name, unit, help) out->name = to_single(f->name);
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
    messages_add(
        messages, MESSAGE_ERROR, MESSAGE_VALUE,
        (message_place_t){robot->file, joint ? joint->line.joint : 0, joint ? joint->name : NULL},
        status == IMAGE_E_NUMBER ? "use SI units, and numbers that single precision can hold"
                                 : image_cure(status),
        "no image can be made: %s%s%s", image_cause(status), where->field ? ": " : "",
        where->field ? where->field : "");
}

/* Writes the bytes of the image. The contents of the sections must live until then. */
static int write_all(const robot_t *robot, image_t *image, uint8_t *bytes, size_t *size,
                     image_where_t *where, messages_t *messages) {
    uint8_t *flex = robot_image_flex(robot, image, messages), *q31 = NULL;
    uint8_t *thermal = robot_image_thermal(robot, image);
    int status = IMAGE_E_NUMBER;
    *where = (image_where_t){IMAGE_NO_JOINT, "elastic links"};
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

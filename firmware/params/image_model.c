/* Makes the inputs of the kernels from a robot image: the model, the units of fixed point, the
 * prepared constants, and the hash that links generated code to its arm. */
#include "firmware/params/image.h"

#include <math.h>
#include <string.h>

#include "firmware/params/bytes.h"

double image_angle(float stored) {
    const double quarter = 1.57079632679489661923;
    const double turns = rint((double)stored / quarter);
    if (fabs(turns) <= 16 && (float)(turns * quarter) == stored)
        return turns * quarter;
    return (double)stored;
}

static void to_doubles(const float *in, double *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = (double)in[i];
}

static dyn_pose_t to_pose(const float xyz[3], const float rpy[3]) {
    const double p[3] = {(double)xyz[0], (double)xyz[1], (double)xyz[2]};
    const double r[3] = {image_angle(rpy[0]), image_angle(rpy[1]), image_angle(rpy[2])};
    return dyn_pose_rpy(p, r);
}

static void to_joint(const image_joint_t *in, dyn_model_joint_t *out) {
    const image_joint_t *f = in;
    dyn_drive_t *drive = &out->drive;
    out->type = in->type == DYN_PRISMATIC ? DYN_PRISMATIC : DYN_REVOLUTE;
    out->alpha = image_angle(f->alpha[0]);
    out->a = (double)f->a[0];
    out->theta = image_angle(f->theta[0]);
    out->d = (double)f->d[0];
    out->link.mass = (double)f->mass[0];
    to_doubles(f->com, out->link.com, 3);
    to_doubles(f->inertia, out->link.inertia, 6);
    to_doubles(f->position, drive->limits.position, 2);
    drive->limits.velocity = (double)f->velocity[0];
    drive->limits.acceleration =
        (double)(f->acceleration[0] > 0 ? f->acceleration[0]
                                        : f->velocity[0] / IMAGE_RISE_DEFAULT_S);
    drive->limits.torque = (double)f->torque[0];
    drive->motor.resistance = (double)f->resistance[0];
    drive->motor.torque_constant = (double)f->torque_constant[0];
    drive->motor.gear = (double)f->gear[0];
    drive->motor.rotor_inertia = (double)f->rotor_inertia[0];
    drive->motor.voltage = (double)f->voltage[0];
    drive->friction.viscous = (double)f->viscous[0];
    to_doubles(f->coulomb, drive->friction.coulomb, 2);
    drive->friction.width = (double)f->width[0];
}

int image_model(const image_t *image, dyn_model_t *model) {
    const image_arm_t *arm = &image->arm;
    model->n = image->n;
    to_doubles(arm->gravity, model->gravity, 3);
    model->base = to_pose(arm->base_xyz, arm->base_rpy);
    model->tool = to_pose(arm->tool_xyz, arm->tool_rpy);
    model->payload.mass = (double)arm->payload_mass[0];
    to_doubles(arm->payload_com, model->payload.com, 3);
    to_doubles(arm->payload_inertia, model->payload.inertia, 6);
    for (uint32_t i = 0; i < image->n; i++)
        to_joint(&image->joint[i], &model->joint[i]);
    return dyn_model_check(model);
}

bool image_units(const image_t *image, dyn_units_t *units) {
    units->length = image->q31_length;
    units->time = image->q31_time;
    for (uint32_t i = 0; i < image->n; i++)
        units->mass[i] = (int8_t)image->joint[i].q31_mass;
    return image->proved;
}

uint32_t image_q31_size(uint32_t n) {
    return IMAGE_Q31_HEAD + (uint32_t)offsetof(dyn_arm_q31_t, joint) +
           n * (uint32_t)sizeof(dyn_joint_q31_t);
}

void image_put_q31(const dyn_arm_q31_t *arm, uint8_t *bytes) {
    put_u32(put_u32(bytes, dyn_q31_layout()), 0);
    memcpy(bytes + IMAGE_Q31_HEAD, arm, image_q31_size(arm->n) - IMAGE_Q31_HEAD);
}

/* Checks that constants from the image cannot lead a kernel out of its memory or into an undefined
 * shift. */
static bool arm_possible(const image_t *image, const dyn_arm_q31_t *arm) {
    bool possible = arm->n == image->n && arm->reach_shift < 32;
    for (uint32_t i = 0; possible && i < arm->n; i++) {
        const dyn_joint_q31_t *j = &arm->joint[i];
        const dyn_drive_q31_t *d = &j->drive;
        possible = j->mass_shift < 32 && j->prismatic == image->joint[i].type && d->volt_max >= 0 &&
                   d->per_width.cut < 64 && d->viscous.cut < 64 && d->volt_tau.cut < 64 &&
                   d->volt_qd.cut < 64 && d->tau_volt.cut < 64 && d->tau_qd.cut < 64;
    }
    return possible;
}

int image_arm_q31(const image_t *image, const dyn_arm_q31_t **arm) {
    const image_section_t *section = &image->section[IMAGE_SECTION_Q31A];
    *arm = NULL;
    if (!section->bytes || !image->proved)
        return IMAGE_E_UNPROVED;
    if (section->size < IMAGE_Q31_HEAD || get_u32(section->bytes) != dyn_q31_layout())
        return IMAGE_E_BUILD;
    /* The section is word-aligned: the image is, and everything before a section has whole
     * words. */
    const void *at = section->bytes + IMAGE_Q31_HEAD;
    if (section->size != image_q31_size(image->n) || (uintptr_t)at % 4 != 0 ||
        !arm_possible(image, at))
        return IMAGE_E_NUMBER;
    *arm = at;
    return IMAGE_OK;
}

/* Returns a hash of the previous hash and some more words. */
static uint32_t hash_more(uint32_t hash, const void *words, size_t size) {
    uint8_t block[4 + 14 * 4];
    put_u32(block, hash);
    memcpy(block + 4, words, size);
    return crc32_add(0, block, 4 + size);
}

uint32_t image_model_hash(const image_t *image, bool fixed_point) {
    const image_arm_t *a = &image->arm;
    uint32_t hash = hash_more(image->n, a->gravity, sizeof a->gravity);
    const struct {
        float base[6], tool[6];
    } poses = {{a->base_xyz[0], a->base_xyz[1], a->base_xyz[2], a->base_rpy[0], a->base_rpy[1],
                a->base_rpy[2]},
               {a->tool_xyz[0], a->tool_xyz[1], a->tool_xyz[2], a->tool_rpy[0], a->tool_rpy[1],
                a->tool_rpy[2]}};
    hash = hash_more(hash, &poses, sizeof poses);
    hash = hash_more(hash, a->payload_mass, sizeof a->payload_mass);
    hash = hash_more(hash, a->payload_com, sizeof a->payload_com);
    hash = hash_more(hash, a->payload_inertia, sizeof a->payload_inertia);
    if (fixed_point) {
        const int32_t units[3] = {image->proved, image->q31_length, image->q31_time};
        hash = hash_more(hash, units, sizeof units);
    }
    for (uint32_t i = 0; i < image->n; i++) {
        const image_joint_t *j = &image->joint[i];
        const image_joint_t *x = j;
        const float frame[6] = {x->alpha[0], x->a[0],    x->theta[0],
                                x->d[0],     x->gear[0], x->rotor_inertia[0]};
        hash = hash_more(hash, &j->type, sizeof j->type);
        hash = hash_more(hash, frame, sizeof frame);
        hash = hash_more(hash, x->mass, sizeof x->mass);
        hash = hash_more(hash, x->com, sizeof x->com);
        hash = hash_more(hash, x->inertia, sizeof x->inertia);
        if (fixed_point) {
            const float limits[4] = {x->position[0], x->position[1], x->velocity[0],
                                     x->acceleration[0]};
            hash = hash_more(hash, &j->q31_mass, sizeof j->q31_mass);
            hash = hash_more(hash, limits, sizeof limits);
        }
    }
    return hash;
}

/* Implements test/support/control_arm.h. */
#include "test/support/control_arm.h"

#include "firmware/params/image.h"
#include "test/support/dyn/dyn_arms.h"

#include <math.h>
#include <string.h>

/* Values of tools/robots/puma560.yaml. The units of q31 are those that the tool proves for these
 * limits. */
static const struct {
    float position[2], velocity, acceleration, torque;
    float resistance, torque_constant, gear, rotor_inertia;
    float viscous, coulomb[2];
    int32_t mass_unit;
} drive[CONTROL_ARM_JOINTS] = {
    {{-2.7925f, 2.7925f}, 1.4f, 6, 97.6f, 2.1f, 0.189f, -62.6111f, 2e-4f, 5.8f, {-27.2f, 24.7f}, 3},
    {{-0.7854f, 3.927f}, 0.9f, 6, 186.4f, 2.1f, 0.219f, 107.815f, 2e-4f, 9.5f, {-7.7f, 13.6f}, 3},
    {{-3.927f, 0.7854f}, 2.1f, 10, 89.4f, 2.1f, 0.202f, -53.7063f, 2e-4f, 4.0f, {-5.6f, 7.1f}, 1},
    {{-1.9199f, 2.9671f},
     3.9f,
     20,
     24.2f,
     6.7f,
     0.075f,
     76.0364f,
     3.3e-5f,
     0.4f,
     {-1.3f, 0.9f},
     -1},
    {{-1.7453f, 1.7453f}, 4.2f, 20, 20.1f, 6.7f, 0.066f, 71.923f, 3.3e-5f, 0.4f, {-1.0f, 0.7f}, -1},
    {{-4.6426f, 4.6426f}, 3.9f, 20, 21.3f, 6.7f, 0.066f, 76.686f, 3.3e-5f, 0.2f, {-0.8f, 0.3f}, -1},
};

/* Gains: the inertia of each joint in the middle of its range, with the other joints free, times
 * w^2 and 2 w, where w is 2 pi times 5 Hz. */
#define W     31.4159265f
#define KP(i) (W * W * (i))
#define KD(i) (2 * W * (i))
const float control_arm_kp[] = {KP(1.9f), KP(4.4f), KP(0.92f), KP(0.19f), KP(0.17f), KP(0.194f)};
const float control_arm_kd[] = {KD(1.9f), KD(4.4f), KD(0.92f), KD(0.19f), KD(0.17f), KD(0.194f)};

static void singles(const double *in, float *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = (float)in[i];
}

static void fill_joint(const dyn_model_joint_t *in, uint32_t i, int motors, image_joint_t *out) {
    image_joint_t *f = out;
    out->q31_mass = drive[i].mass_unit;
    f->alpha[0] = (float)in->alpha;
    f->a[0] = (float)in->a;
    f->theta[0] = (float)in->theta;
    f->d[0] = (float)in->d;
    f->mass[0] = (float)in->link.mass;
    singles(in->link.com, f->com, 3);
    singles(in->link.inertia, f->inertia, 6);
    memcpy(f->position, drive[i].position, sizeof f->position);
    f->velocity[0] = drive[i].velocity;
    f->acceleration[0] = drive[i].acceleration;
    f->torque[0] = drive[i].torque;
    f->gear[0] = drive[i].gear;
    f->rotor_inertia[0] = drive[i].rotor_inertia;
    if (motors) {
        f->resistance[0] = drive[i].resistance;
        f->torque_constant[0] = drive[i].torque_constant;
        f->voltage[0] = 40;
    }
    f->viscous[0] = drive[i].viscous;
    memcpy(f->coulomb, drive[i].coulomb, sizeof f->coulomb);
    f->counts[0] = 1000;
    f->sign[0] = drive[i].gear < 0 ? -1 : 1;
    f->ratio[0] = fabsf(drive[i].gear);
    f->kp[0] = control_arm_kp[i];
    f->kd[0] = control_arm_kd[i];
}

/* Adds the constants for fixed point, as the tool does. `room` is memory for the prepared arm until
 * its constants are written as a section. */
static bool prepare_fixed(image_t *image, dyn_model_t *model, void *room) {
    static uint8_t section[CONTROL_ARM_ROOM / 2];
    dyn_arm_q31_t *arm = room;
    dyn_units_t units;
    const uint32_t size = image_q31_size(image->n);
    if (size > sizeof section || image_model(image, model) != DYN_OK || !image_units(image, &units))
        return false;
    memset(room, 0, size);
    if (dyn_prepare_q31(model, &units, arm) != DYN_OK)
        return false;
    image_put_q31(arm, section);
    image->section[IMAGE_SECTION_Q31A] = (image_section_t){section, size};
    return true;
}

const uint8_t *control_arm_image(size_t *size, int motors) {
    static image_t image;
    static dyn_model_t model;
    static _Alignas(4) uint8_t bytes[CONTROL_ARM_ROOM];
    static const char *const name[] = {"waist", "shoulder", "elbow", "roll", "pitch", "flange"};
    memset(&image, 0, sizeof image);
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    image.n = CONTROL_ARM_JOINTS;
    image.feedback = FEEDBACK_PD;
    image.has = IMAGE_HAS_FEEDBACK;
    image.proved = true;
    image.q31_length = -2;
    image.q31_time = -3;
    image.arm.rate_hz[0] = 1000;
    singles(model.gravity, image.arm.gravity, 3);
    image.name = "puma560";
    for (uint32_t i = 0; i < image.n; i++) {
        image.joint_name[i] = name[i];
        fill_joint(&model.joint[i], i, motors, &image.joint[i]);
    }
    *size = 0;
    const bool written = prepare_fixed(&image, &model, bytes) &&
                         image_write(&image, bytes, sizeof bytes, size, NULL) == IMAGE_OK;
    return written ? bytes : NULL;
}

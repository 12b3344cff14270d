/*
 * Fills in the numbers of a robot image from a robot, for the writer of images and for the doctor. If
 * the robot came from an image or uses the same frames as an image, its numbers are taken without
 * conversion, so that robot file and image convert into each other without change.
 */
#include <float.h>
#include <math.h>

#include "tools/robot/robot.h"

/* Rounds to the nearest single-precision number. A value that is too large becomes infinite; the
 * writer rejects it. */
static void to_singles(const double *in, float *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = fabs(in[i]) <= (double)FLT_MAX ? (float)in[i] : (float)copysign(INFINITY, in[i]);
}

float robot_single(double in) {
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
        rpy[i] = robot_single(without_noise(angle[i], quarter));
        xyz[i] = robot_single(fabs(pose->p[i]) < 1e-15 ? 0 : pose->p[i]);
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
    arm->rate_hz[0] = robot_single(robot->rate_hz);
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
        arm->payload_mass[0] = robot_single(payload->mass);
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
    f->alpha[0] = robot_single(same ? source->alpha : model->alpha);
    f->a[0] = robot_single(same ? source->a : model->a);
    f->theta[0] = robot_single(same ? source->theta : model->theta);
    f->d[0] = robot_single(same ? source->d : model->d);
    f->mass[0] = robot_single(link->mass);
    to_singles(link->com, f->com, 3);
    to_singles(link->inertia, f->inertia, 6);
    to_singles(drive->limits.position, f->position, 2);
    f->velocity[0] = robot_single(drive->limits.velocity);
    f->acceleration[0] = robot_single(drive->limits.acceleration);
    f->torque[0] = robot_single(drive->limits.torque);
    f->resistance[0] = robot_single(drive->motor.resistance);
    f->torque_constant[0] = robot_single(drive->motor.torque_constant);
    f->gear[0] = robot_single(drive->motor.gear);
    f->rotor_inertia[0] = robot_single(drive->motor.rotor_inertia);
    f->voltage[0] = robot_single(drive->motor.voltage);
    f->viscous[0] = robot_single(drive->friction.viscous);
    to_singles(drive->friction.coulomb, f->coulomb, 2);
    f->width[0] = robot_single(drive->friction.width);
    f->counts[0] = robot_single(in->encoder.counts);
    f->sign[0] = in->has & IMAGE_JOINT_HAS_SIGN ? robot_single(in->encoder.sign) : 1;
    f->offset[0] = robot_single(in->encoder.offset);
    f->ratio[0] = in->has & IMAGE_JOINT_HAS_RATIO ? robot_single(in->encoder.ratio) : 1;
    f->kp[0] = robot_single(in->kp);
    f->kd[0] = robot_single(in->kd);
}

void robot_to_image(const robot_t *robot, image_t *image) {
    const bool same = same_frames(robot);
    arm_to_image(robot, same, image);
    for (uint32_t i = 0; i < robot->n; i++) {
        joint_to_image(&robot->joint[i], &robot->model.joint[i], same, &image->joint[i]);
        image->joint_name[i] = robot->joint[i].name;
        image->home_how[i] = (int8_t)robot->joint[i].homing.how;
        image->home_position[i] = robot_single(robot->joint[i].homing.position);
    }
}

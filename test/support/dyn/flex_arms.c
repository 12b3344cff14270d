/* Implements test/support/dyn/flex_arms.h. */
#include "test/support/dyn/flex_arms.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* beta l, the roots of cos cosh = -1, as constants. */
static const double root[6] = {1.8751040687119612, 4.694091132974175, 7.854757438237613,
                               10.995540734875467, 14.13716839104647, 17.278759532088236};

static double sigma_of(double b) {
    return (cosh(b) + cos(b)) / (sinh(b) + sin(b));
}

double flex_bending(uint32_t k, double length, double x, int order) {
    const double b = root[k], at = b * x / length, s = sigma_of(b), sign = k % 2 ? -1 : 1;
    const double p[3] = {cosh(at) - cos(at) - s * (sinh(at) - sin(at)),
                         sinh(at) + sin(at) - s * (cosh(at) - cos(at)),
                         cosh(at) + cos(at) - s * (sinh(at) + sin(at))};
    return sign * p[order] * pow(b / length, order);
}

double flex_torsion(uint32_t k, double length, double x, int order) {
    const double b = (k + 0.5) * pi, at = b * x / length, sign = k % 2 ? -1 : 1;
    const double p[3] = {sin(at), cos(at), -sin(at)};
    return sign * sqrt(2) * p[order] * pow(b / length, order);
}

/* The mean of phi is 2 sigma / b, the mean of (x / l) phi is 2 / b^2, and phi'(l) is 2 b sigma / l.
 * The modes are orthogonal, and so are their curvatures. */
static void bending(const flex_beam_t *beam, uint32_t k, bool along_z, dyn_flex_mode_t *mode) {
    const double b = root[k], s = sigma_of(b), sign = k % 2 ? -1 : 1, m = beam->mu * beam->length;
    mode->tip = 2;
    mode->slope = (along_z ? -1 : 1) * 2 * b * s / beam->length;
    mode->weight = sign * m * 2 * s / b;
    mode->moment = sign * m * beam->length * 2 / (b * b);
}

static double bending_stiffness(const flex_beam_t *beam, uint32_t k, bool along_z) {
    return (along_z ? beam->EI_y : beam->EI_z) * pow(root[k], 4) / pow(beam->length, 3);
}

void flex_arm_beam(flex_arm_t *arm, uint32_t i) {
    const flex_beam_t *beam = &arm->beam[i];
    dyn_flex_link_t *link = &arm->flex.link[i];
    dyn_body_t *body = &arm->model.joint[i].link;
    const double l = beam->length, m = beam->mu * l;
    const uint32_t bends = beam->xy + beam->xz;
    if (bends + beam->torsion == 0)
        return;
    *body = (dyn_body_t){m, {l / 2, 0, 0}, {beam->polar * l, m * l * l / 12, m * l * l / 12, 0}};
    *link = (dyn_flex_link_t){
        .modes = {beam->xy, beam->xz, beam->torsion}, .length = l, .damping = beam->damping};
    for (uint32_t f = 0; f < bends; f++) {
        const bool along_z = f >= beam->xy;
        const uint32_t k = along_z ? f - beam->xy : f;
        bending(beam, k, along_z, &link->mode[f]);
        link->mode[f].stiffness[f] = bending_stiffness(beam, k, along_z);
        for (uint32_t g = 0; g < bends; g++)
            link->mode[f].mass[g] = k == (g >= beam->xy ? g - beam->xy : g) ? m : 0;
    }
    for (uint32_t k = 0; k < beam->torsion; k++) {
        dyn_flex_mode_t *mode = &link->mode[bends + k];
        const double b = (k + 0.5) * pi, sign = k % 2 ? -1 : 1;
        mode->slope = sqrt(2);
        mode->weight = sign * beam->polar * l * sqrt(2) / b;
        mode->mass[bends + k] = beam->polar * l;
        mode->stiffness[bends + k] = beam->GJ * b * b / l;
    }
}

static void settle(flex_arm_t *arm, uint32_t n) {
    arm->model.n = n;
    arm->model.base = dyn_pose_identity();
    arm->model.tool = dyn_pose_identity();
    for (uint32_t i = 0; i < n; i++)
        flex_arm_beam(arm, i);
}

static void planar(flex_arm_t *arm) {
    arm->model.gravity[1] = -9.81;
    arm->beam[0] = arm->beam[1] = (flex_beam_t){.length = 1, .mu = 5, .EI_z = 1000, .xy = 1};
    arm->model.joint[1].a = 1;
    settle(arm, 2);
}

static const dyn_body_t effector = {
    0.8, {0.05, -0.02, 0.07}, {0.004, 0.005, 0.003, 0.0004, -0.0003, 0.0002}};

static void space(flex_arm_t *arm) {
    dyn_model_joint_t *j = arm->model.joint;
    arm->model.gravity[2] = -9.81;
    j[0].link = (dyn_body_t){6, {0.02, 0.1, -0.05}, {0.2, 0.1, 0.15, 0.01, -0.02, 0.03}};
    j[1].alpha = 1.3;
    j[1].a = 0.2;
    j[1].d = 0.15;
    arm->beam[1] = (flex_beam_t){.length = 0.9,
                                 .mu = 3,
                                 .EI_y = 900,
                                 .EI_z = 400,
                                 .GJ = 150,
                                 .polar = 0.004,
                                 .xy = 1,
                                 .xz = 1,
                                 .torsion = 1};
    j[2].a = 0.9;
    j[2].alpha = -0.7;
    j[2].d = -0.1;
    arm->beam[2] =
        (flex_beam_t){.length = 0.7, .mu = 2, .EI_y = 150, .EI_z = 250, .xy = 1, .xz = 1};
    settle(arm, 3);
    arm->model.payload = effector;
    arm->model.payload.com[0] += 0.7;
    arm->model.tool.p[0] = 0.8;
    arm->model.tool.p[2] = 0.1;
}

static void prismatic(flex_arm_t *arm) {
    dyn_model_joint_t *j = arm->model.joint;
    arm->model.gravity[0] = 2;
    arm->model.gravity[2] = -9.5;
    arm->beam[0] = (flex_beam_t){
        .length = 0.6, .mu = 8, .EI_y = 3000, .EI_z = 2000, .damping = 1e-3, .xy = 2, .xz = 2};
    j[1].a = 0.6;
    j[1].alpha = 0.9;
    j[1].d = 0.2;
    arm->beam[1] = (flex_beam_t){
        .length = 0.5, .mu = 4, .EI_z = 500, .GJ = 200, .polar = 0.01, .xy = 1, .torsion = 2};
    j[2].type = DYN_PRISMATIC;
    j[2].a = 0.5;
    j[2].alpha = -1.1;
    j[2].theta = 0.4;
    j[2].d = 0.1;
    j[2].link = (dyn_body_t){2, {0.1, 0, 0.02}, {0.02, 0.01, 0.015, 0.001, 0, 0.002}};
    j[3].a = 0.25;
    j[3].alpha = 0.5;
    j[3].d = 0.05;
    j[3].link = effector;
    j[3].drive.motor = (dyn_motor_t){.gear = 50, .rotor_inertia = 1e-5};
    settle(arm, 4);
    arm->model.payload = (dyn_body_t){0.3, {0.1, 0, 0}, {0.001, 0.001, 0.001, 0, 0, 0}};
}

void flex_arm(flex_arm_name_t name, flex_arm_t *out) {
    static const char *const names[FLEX_ARMS] = {"planar", "space", "prismatic"};
    static void (*const make[FLEX_ARMS])(flex_arm_t *) = {planar, space, prismatic};
    *out = (flex_arm_t){.name = names[name]};
    make[name](out);
}

void flex_chain(uint32_t n, uint32_t elastic, uint32_t xy, uint32_t xz, flex_arm_t *out) {
    *out = (flex_arm_t){.name = "chain"};
    out->model.gravity[2] = -9.81;
    for (uint32_t i = 0; i < n; i++) {
        dyn_model_joint_t *j = &out->model.joint[i];
        if (i > 0) {
            j->alpha = i % 2 ? 1.2 : -0.8;
            j->a = 0.5;
            j->d = 0.1;
        }
        j->link = (dyn_body_t){2, {0.2, 0.01, -0.02}, {0.01, 0.05, 0.05, 0.001, 0.002, -0.001}};
        if (i + elastic >= n)
            out->beam[i] =
                (flex_beam_t){.length = 0.5, .mu = 4, .EI_y = 400, .EI_z = 500, .xy = xy, .xz = xz};
    }
    settle(out, n);
}

/* Poses and rigid bodies in double precision, for loading and converting models. Not used in the
 * tick. */
#include "dyn/model/model.h"

#include <math.h>
#include <stdbool.h>

dyn_pose_t dyn_pose_identity(void) {
    return (dyn_pose_t){.r = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .p = {0, 0, 0}};
}

dyn_pose_t dyn_pose_compose(const dyn_pose_t *outer, const dyn_pose_t *inner) {
    dyn_pose_t out;
    for (int i = 0; i < 3; i++) {
        out.p[i] = outer->p[i];
        for (int j = 0; j < 3; j++) {
            out.p[i] += outer->r[i][j] * inner->p[j];
            out.r[i][j] = outer->r[i][0] * inner->r[0][j] + outer->r[i][1] * inner->r[1][j] +
                          outer->r[i][2] * inner->r[2][j];
        }
    }
    return out;
}

dyn_pose_t dyn_pose_inverse(const dyn_pose_t *pose) {
    dyn_pose_t out;
    for (int i = 0; i < 3; i++) {
        out.p[i] = 0;
        for (int j = 0; j < 3; j++) {
            out.r[i][j] = pose->r[j][i];
            out.p[i] -= pose->r[j][i] * pose->p[j];
        }
    }
    return out;
}

void dyn_exact_turn(double angle, double *cosine, double *sine) {
    /* The double nearest to k pi/2 differs from it by at most half an ulp, which is below
     * 1.8e-16 k. */
    const double tiny = 1e-15;
    double c = cos(angle), s = sin(angle);
    if (fabs(c) < tiny) {
        c = 0;
        s = s > 0 ? 1 : -1;
    } else if (fabs(s) < tiny) {
        s = 0;
        c = c > 0 ? 1 : -1;
    }
    *cosine = c;
    *sine = s;
}

dyn_pose_t dyn_pose_rpy(const double xyz[3], const double rpy[3]) {
    double cr, sr, cp, sp, cy, sy;
    dyn_exact_turn(rpy[0], &cr, &sr);
    dyn_exact_turn(rpy[1], &cp, &sp);
    dyn_exact_turn(rpy[2], &cy, &sy);
    return (dyn_pose_t){.r = {{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                              {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                              {-sp, cp * sr, cp * cr}},
                        .p = {xyz[0], xyz[1], xyz[2]}};
}

dyn_pose_t dyn_pose_joint(const dyn_model_joint_t *joint, double q) {
    bool prismatic = joint->type == DYN_PRISMATIC;
    double ca, sa, ct, st;
    double d = joint->d + (prismatic ? q : 0);
    dyn_exact_turn(joint->alpha, &ca, &sa);
    dyn_exact_turn(joint->theta + (prismatic ? 0 : q), &ct, &st);
    return (dyn_pose_t){.r = {{ct, -st, 0}, {ca * st, ca * ct, -sa}, {sa * st, sa * ct, ca}},
                        .p = {joint->a, -sa * d, ca * d}};
}

static void tensor_unpack(const double six[6], double m[3][3]) {
    m[0][0] = six[0];
    m[1][1] = six[1];
    m[2][2] = six[2];
    m[0][1] = m[1][0] = six[3];
    m[1][2] = m[2][1] = six[4];
    m[0][2] = m[2][0] = six[5];
}

dyn_body_t dyn_body_move(const dyn_body_t *body, const dyn_pose_t *pose) {
    static const int row[6] = {0, 1, 2, 0, 1, 0}, col[6] = {0, 1, 2, 1, 2, 2};
    dyn_body_t out = {.mass = body->mass};
    double m[3][3];
    tensor_unpack(body->inertia, m);
    for (int i = 0; i < 3; i++) {
        out.com[i] = pose->p[i];
        for (int j = 0; j < 3; j++)
            out.com[i] += pose->r[i][j] * body->com[j];
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                out.inertia[k] += pose->r[row[k]][i] * m[i][j] * pose->r[col[k]][j];
    return out;
}

dyn_body_t dyn_body_join(const dyn_body_t *one, const dyn_body_t *two) {
    dyn_body_t out = {.mass = one->mass + two->mass};
    double e[3];
    /* Reduced mass times the square of the distance: there is no cancellation, and the result is
     * correct if either mass is 0. */
    double reduced = out.mass > 0 ? one->mass * two->mass / out.mass : 0;
    for (int i = 0; i < 3; i++) {
        e[i] = two->com[i] - one->com[i];
        out.com[i] = one->com[i] + (out.mass > 0 ? two->mass / out.mass * e[i] : 0);
    }
    for (int i = 0; i < 6; i++)
        out.inertia[i] = one->inertia[i] + two->inertia[i];
    out.inertia[0] += reduced * (e[1] * e[1] + e[2] * e[2]);
    out.inertia[1] += reduced * (e[0] * e[0] + e[2] * e[2]);
    out.inertia[2] += reduced * (e[0] * e[0] + e[1] * e[1]);
    out.inertia[3] -= reduced * e[0] * e[1];
    out.inertia[4] -= reduced * e[1] * e[2];
    out.inertia[5] -= reduced * e[0] * e[2];
    return out;
}

dyn_body_t dyn_model_last_link(const dyn_model_t *model) {
    return dyn_body_join(&model->joint[model->n - 1].link, &model->payload);
}

double dyn_model_rotor(const dyn_model_joint_t *joint) {
    const dyn_motor_t *motor = &joint->drive.motor;
    return motor->rotor_inertia * motor->gear * motor->gear;
}

static bool all_finite(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool body_finite(const dyn_body_t *body) {
    return isfinite(body->mass) && all_finite(body->com, 3) && all_finite(body->inertia, 6);
}

static bool pose_finite(const dyn_pose_t *pose) {
    return all_finite(pose->r[0], 9) && all_finite(pose->p, 3);
}

static bool drive_finite(const dyn_drive_t *drive) {
    const dyn_motor_t *m = &drive->motor;
    const dyn_friction_t *f = &drive->friction;
    const double value[9] = {m->resistance,    m->torque_constant, m->gear,
                             m->rotor_inertia, m->voltage,         f->viscous,
                             f->coulomb[0],    f->coulomb[1],      f->width};
    return all_finite(value, 9);
}

int dyn_model_check(const dyn_model_t *model) {
    if (model->n < 1 || model->n > DYN_MAX_JOINTS)
        return DYN_E_JOINTS;
    if (!all_finite(model->gravity, 3) || !body_finite(&model->payload) ||
        !pose_finite(&model->base) || !pose_finite(&model->tool))
        return DYN_E_NUMBER;
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_model_joint_t *j = &model->joint[i];
        const double frame[4] = {j->alpha, j->a, j->theta, j->d};
        if (j->type != DYN_REVOLUTE && j->type != DYN_PRISMATIC)
            return DYN_E_TYPE;
        if (!all_finite(frame, 4) || !body_finite(&j->link) || !drive_finite(&j->drive))
            return DYN_E_NUMBER;
    }
    const dyn_model_joint_t *first = &model->joint[0];
    if (first->alpha != 0 || first->a != 0 || first->theta != 0 || first->d != 0)
        return DYN_E_BASE;
    return DYN_OK;
}

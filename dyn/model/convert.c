/*
 * Converts the input conventions into modified Denavit-Hartenberg frames.
 *
 * Every convention is first written as T_i(q) = X_i M(q) Y_i, with M a motion about or along z and
 * X, Y constant. X_i brings the parent's link frame to the "axis frame" of joint i; Y_i leads from
 * there to the link frame of the file. Between two axis frames lies the constant W_i = Y_i-1 X_i. A
 * modified DH frame is an axis frame turned about and moved along its own axis (phi, delta, which
 * commute with M) until its x axis is the common normal to the next axis:
 *
 *     W = Rz(phi) Tz(delta)  Rx(alpha) Tx(a)  Rz(theta) Tz(d)
 *
 * phi and delta are added to the offsets of the previous joint, or to the base if that is the first
 * joint. After the last joint there is no next axis, so phi and delta are free: zero, or theta and
 * d of a DH table. What remains is the constant pose of the file's last link.
 */
#include "dyn/model/convert.h"

#include <math.h>
#include <stdbool.h>

typedef struct {
    dyn_pose_t x, y;
} split_t;

typedef struct {
    double phi, delta, alpha, a, theta, d, bent;
} normal_t;

static dyn_pose_t pose_x(double alpha, double a) {
    const double xyz[3] = {a, 0, 0}, rpy[3] = {alpha, 0, 0};
    return dyn_pose_rpy(xyz, rpy);
}

static dyn_pose_t pose_z(double theta, double d) {
    const double xyz[3] = {0, 0, d}, rpy[3] = {0, 0, theta};
    return dyn_pose_rpy(xyz, rpy);
}

static double length3(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Computes a rotation that turns z to the axis; it is exact for the six directions along the
 * coordinate axes. */
static bool pose_axis(const double axis[3], dyn_pose_t *pose) {
    double len = length3(axis);
    if (!(len > 0))
        return false;
    double u[3] = {axis[0] / len, axis[1] / len, axis[2] / len};
    /* The helper axis k is the coordinate axis most nearly perpendicular to u; then x = helper x u
     * and y = u x x. */
    int k = fabs(u[0]) <= fabs(u[1]) ? (fabs(u[0]) <= fabs(u[2]) ? 0 : 2)
                                     : (fabs(u[1]) <= fabs(u[2]) ? 1 : 2);
    double h[3] = {0, 0, 0}, x[3];
    if (u[0] == 0 && u[1] == 0 && u[2] > 0) {
        *pose = dyn_pose_identity();
        return true;
    }
    h[k] = 1;
    x[0] = h[1] * u[2] - h[2] * u[1];
    x[1] = h[2] * u[0] - h[0] * u[2];
    x[2] = h[0] * u[1] - h[1] * u[0];
    len = length3(x);
    for (int i = 0; i < 3; i++) {
        pose->r[i][0] = x[i] / len;
        pose->r[i][2] = u[i];
        pose->p[i] = 0;
    }
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        pose->r[i][1] = u[a] * pose->r[b][0] - u[b] * pose->r[a][0];
    }
    return true;
}

static int split_joint(const dyn_source_t *source, uint32_t i, split_t *out) {
    const dyn_source_joint_t *j = &source->joint[i];
    const dyn_pose_t along = pose_z(j->theta, j->d), across = pose_x(j->alpha, j->a);
    switch (source->convention) {
    case DYN_CONVENTION_DH:
        out->x = dyn_pose_identity();
        out->y = dyn_pose_compose(&along, &across);
        return DYN_OK;
    case DYN_CONVENTION_MDH:
        out->x = across;
        out->y = along;
        return DYN_OK;
    case DYN_CONVENTION_FRAMES: {
        dyn_pose_t origin = dyn_pose_rpy(j->xyz, j->rpy), turn;
        if (!pose_axis(j->axis, &turn))
            return DYN_E_AXIS;
        out->x = dyn_pose_compose(&origin, &turn);
        out->y = dyn_pose_inverse(&turn);
        return DYN_OK;
    }
    }
    return DYN_E_TYPE;
}

/* Computes the six numbers of W for axes in any position: skew, crossing, parallel, coincident. */
static normal_t common_normal(const dyn_pose_t *w, double parallel_rad) {
    normal_t out = {0};
    const double *p = w->p;
    const double u[3] = {w->r[0][2], w->r[1][2], w->r[2][2]};
    double across = sqrt(u[0] * u[0] + u[1] * u[1]); /* sin of the angle between the axes */
    if (across > parallel_rad) {
        /* The common normal x lies along z cross u. The point p + t u is nearest to the z axis
         * where it has no component along the part of u that is perpendicular to z. */
        double x[2] = {-u[1] / across, u[0] / across};
        double t = -(p[0] * u[0] + p[1] * u[1]) / (across * across);
        out.phi = atan2(x[1], x[0]);
        out.alpha = atan2(across, u[2]);
        out.a = p[0] * x[0] + p[1] * x[1];
        out.delta = p[2] + t * u[2];
        out.d = -t;
    } else {
        /* Any common normal is correct: take the one at the height of the next origin. */
        double a = sqrt(p[0] * p[0] + p[1] * p[1]);
        out.bent = across;
        out.alpha = u[2] > 0 ? 0 : atan2(0, -1);
        if (a > 0)
            out.phi = atan2(p[1], p[0]);
        out.a = a;
        out.delta = p[2];
    }
    /* What remains of W is a turn about z: take its angle from the x axis of W. */
    dyn_pose_t left = pose_z(out.phi, out.delta), middle = pose_x(out.alpha, out.a);
    left = dyn_pose_compose(&left, &middle);
    left = dyn_pose_inverse(&left);
    left = dyn_pose_compose(&left, w);
    out.theta = atan2(left.r[1][0], left.r[0][0]);
    return out;
}

/* A DH table contains the six numbers already; they stay the same to the last bit. */
static normal_t table_normal(const dyn_source_t *source, uint32_t i) {
    const dyn_source_joint_t *before = &source->joint[i - 1], *here = &source->joint[i];
    normal_t out = {.phi = before->theta, .delta = before->d};
    const dyn_source_joint_t *across = source->convention == DYN_CONVENTION_DH ? before : here;
    out.alpha = across->alpha;
    out.a = across->a;
    return out;
}

static bool finite_all(const double *x, int n) {
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static bool source_joint_finite(const dyn_source_joint_t *j) {
    const double frame[4] = {j->theta, j->d, j->a, j->alpha};
    return finite_all(frame, 4) && finite_all(j->xyz, 3) && finite_all(j->rpy, 3) &&
           finite_all(j->axis, 3) && finite_all(j->inertia_rpy, 3) && isfinite(j->link.mass) &&
           finite_all(j->link.com, 3) && finite_all(j->link.inertia, 6);
}

static bool source_finite(const dyn_source_t *source) {
    return finite_all(source->gravity, 3) && finite_all(source->base_xyz, 3) &&
           finite_all(source->base_rpy, 3) && finite_all(source->tool_xyz, 3) &&
           finite_all(source->tool_rpy, 3) && isfinite(source->payload.mass) &&
           finite_all(source->payload.com, 3) && finite_all(source->payload.inertia, 6);
}

/* Moves link i of the file into our frame, which is the axis frame turned by phi and moved by
 * delta. */
static dyn_pose_t settle_link(const dyn_source_joint_t *in, const dyn_pose_t *y, double phi,
                              double delta, dyn_model_joint_t *out) {
    const double nowhere[3] = {0, 0, 0};
    dyn_pose_t own = pose_z(phi, delta);
    own = dyn_pose_inverse(&own);
    dyn_pose_t link = dyn_pose_compose(&own, y);
    /* The tensor is about the centre of mass on its own axes (inertia_rpy); the centre is given in
     * the link frame. */
    dyn_pose_t axes = dyn_pose_rpy(nowhere, in->inertia_rpy);
    dyn_body_t body = in->link;
    for (int i = 0; i < 3; i++)
        body.com[i] = 0;
    body = dyn_body_move(&body, &axes);
    for (int i = 0; i < 3; i++)
        body.com[i] = in->link.com[i];
    out->link = dyn_body_move(&body, &link);
    return link;
}

int dyn_convert(const dyn_source_t *source, double parallel_rad, dyn_model_t *model,
                dyn_report_t *report) {
    dyn_report_t unused;
    if (!report)
        report = &unused;
    *report = (dyn_report_t){0};
    *model = (dyn_model_t){0};
    if (source->n < 1 || source->n > DYN_MAX_JOINTS)
        return DYN_E_JOINTS;
    if (!source_finite(source))
        return DYN_E_NUMBER;
    model->n = source->n;

    dyn_pose_t base = dyn_pose_rpy(source->base_xyz, source->base_rpy), y_before, last;
    const bool table = source->convention != DYN_CONVENTION_FRAMES;
    for (uint32_t i = 0; i < source->n; i++) {
        const dyn_source_joint_t *in = &source->joint[i];
        dyn_model_joint_t *out = &model->joint[i];
        split_t split;
        report->joint = i;
        if (in->type != DYN_REVOLUTE && in->type != DYN_PRISMATIC)
            return DYN_E_TYPE;
        if (!source_joint_finite(in))
            return DYN_E_NUMBER;
        int status = split_joint(source, i, &split);
        if (status != DYN_OK)
            return status;
        out->type = in->type;
        out->drive = in->drive;
        if (i == 0) {
            model->base = split.x;
        } else {
            dyn_pose_t w = dyn_pose_compose(&y_before, &split.x);
            normal_t c = table ? table_normal(source, i) : common_normal(&w, parallel_rad);
            if (c.bent > report->bent_angle) {
                report->bent_angle = c.bent;
                report->bent_joint = i;
            }
            out->alpha = c.alpha;
            out->a = c.a;
            out->theta = c.theta;
            out->d = c.d;
            out[-1].theta += c.phi;
            out[-1].d += c.delta;
            settle_link(in - 1, &y_before, c.phi, c.delta, out - 1);
            if (i == 1) {
                dyn_pose_t shift = pose_z(c.phi, c.delta);
                model->base = dyn_pose_compose(&model->base, &shift);
                out[-1].theta = out[-1].d = 0;
            }
        }
        y_before = split.y;
    }

    /* The frame after the last axis. A table keeps its own theta and d here, so that the conversion
     * does not change an MDH table. */
    const dyn_source_joint_t *in = &source->joint[source->n - 1];
    dyn_model_joint_t *out = &model->joint[source->n - 1];
    double phi = table ? in->theta : 0, delta = table ? in->d : 0;
    last = settle_link(in, &y_before, phi, delta, out);
    if (source->n > 1) {
        out->theta += phi;
        out->d += delta;
    } else {
        dyn_pose_t shift = pose_z(phi, delta);
        model->base = dyn_pose_compose(&model->base, &shift);
    }
    report->last_link = last;

    const dyn_pose_t tool = dyn_pose_rpy(source->tool_xyz, source->tool_rpy);
    model->tool = dyn_pose_compose(&last, &tool);
    model->payload = dyn_body_move(&source->payload, &last);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            model->gravity[i] += model->base.r[j][i] * source->gravity[j];
    model->base = dyn_pose_compose(&base, &model->base);
    return DYN_OK;
}

/*
 * Pose and geometric Jacobian of the end effector of an arm with elastic links, as
 * dyn/kernel/kinematics.c gives them for rigid links. The amplitudes of the modes are coordinates
 * too.
 *
 * The pass runs outward on the axes of the world. A column of the Jacobian is a rotation about an
 * axis u through a point p and a translation s. Until the position of the end effector is known the
 * column stores s - u x p and u; at the end it becomes s + u x (end effector - p) and u. For floats
 * only: in q31 axes and lengths have different formats, and the Jacobian of an elastic arm is not
 * needed there.
 */
#include "dyn/number/real.h"

#include "dyn/flex/flex.h"
#include "dyn/number/rigid.h"

/* The axes of a frame and the frame's origin. */
typedef struct {
    vec x, y, z, p;
} axes;

INLINE vec mix(real c, vec a, real s, vec b) {
    return vec_add(vec_scale(c, a), vec_scale(s, b));
}

INLINE axes about_x(turn t, axes e) {
    return (axes){e.x, mix(t.c, e.y, t.s, e.z), mix(t.c, e.z, real_neg(t.s), e.y), e.p};
}

INLINE axes about_y(turn t, axes e) {
    return (axes){mix(t.c, e.x, real_neg(t.s), e.z), e.y, mix(t.c, e.z, t.s, e.x), e.p};
}

INLINE axes about_z(turn t, axes e) {
    return (axes){mix(t.c, e.x, t.s, e.y), mix(t.c, e.y, real_neg(t.s), e.x), e.z, e.p};
}

INLINE vec at(axes e, vec r) {
    return vec_add(mix(r.x, e.x, r.y, e.y), vec_scale(r.z, e.z));
}

INLINE axes moved(axes e, vec r) {
    e.p = vec_add(e.p, at(e, r));
    return e;
}

/* Applies E = 1 + theta~. As in the paper, the resulting axes are not exactly orthonormal. */
INLINE axes turned_linear(axes e, vec theta) {
    const vec t = at(e, theta);
    return (axes){vec_add_cross(e.x, t, e.x), vec_add_cross(e.y, t, e.y),
                  vec_add_cross(e.z, t, e.z), e.p};
}

INLINE void put(real *J, uint32_t n, vec upper, vec lower) {
    J[0] = upper.x;
    J[n] = upper.y;
    J[2 * n] = upper.z;
    J[3 * n] = lower.x;
    J[4 * n] = lower.y;
    J[5 * n] = lower.z;
}

/* Writes the column of a translation along `slide` and a rotation about `axis` through p. */
INLINE void column(real *J, uint32_t n, vec slide, vec axis, vec p) {
    put(J, n, vec_add_cross(slide, p, axis), axis);
}

INLINE axes joint_step(const joint *j, const flex_body *B, bool beam, real q, axes e) {
    e = moved(e, beam ? vec_zero() : vec_make(B->a, real_known(0), real_known(0)));
    if (j->prismatic)
        return moved(about_z(turn_load(&j->fixed_z), e), vec_z(real_add(j->offset, q)));
    turn z;
    real_sincos(q, j->offset, &z.c, &z.s);
    return moved(about_z(z, e), vec_z(j->fixed_d));
}

/* Returns the frame at the end of a beam. Writes the columns of the beam's modes if J is not
 * NULL. */
INLINE axes beam_step(const flex *f, const flex_body *B, const real theta[], axes e, real *J) {
    const modes m = modes_of(B, theta);
    const grip g = grip_of(B, m);
    const uint32_t n = f->size, bends = (uint32_t)B->y + B->z;
    const axes link = e;
    e = moved(e, vec_make(B->l, g.y, g.z));
    vec u[3] = {link.x, link.y, link.z}; /* axes of torsion and of the bends along z and y */
    if (f->linear) {
        e = turned_linear(e, vec_make(g.about_x, g.about_y, g.about_z));
    } else {
        e = about_z(turn_at(g.about_z, real_known(0)), e);
        u[1] = e.y;
        e = about_y(turn_at(g.about_y, real_known(0)), e);
        u[0] = e.x;
        e = about_x(turn_at(g.about_x, real_known(0)), e);
    }
    if (!J)
        return e;
    for (uint32_t k = 0; k < B->modes; k++) {
        real *to = J + B->at + 1 + k;
        const vec none = vec_zero();
        if (k < B->y)
            column(to, n, vec_scale(B->tip[k], link.y), vec_scale(B->slope[k], u[2]), e.p);
        else if (k < bends)
            column(to, n, vec_scale(B->tip[k], link.z), vec_scale(B->slope[k], u[1]), e.p);
        else
            column(to, n, none, vec_scale(B->slope[k], u[0]), e.p);
    }
    return e;
}

/* Returns the frame of the end effector. Writes the columns of the Jacobian if J is not NULL. */
INLINE axes effector(const arm *a, const flex *f, const real theta[], real *J) {
    axes e = {pose_column(&a->base, 0), pose_column(&a->base, 1), pose_column(&a->base, 2),
              pose_origin(&a->base)};
    for (uint32_t i = 0; i < f->n; i++) {
        const joint *j = &a->joint[i];
        const flex_body *B = &f->link[i];
        if (i > 0)
            e = about_x(turn_load(&j->x), e);
        e = joint_step(j, B, i == 0 || f->link[i - 1].modes > 0, theta[B->at], e);
        if (J && j->prismatic)
            put(J + B->at, f->size, e.z, vec_zero());
        else if (J)
            column(J + B->at, f->size, vec_zero(), e.z, e.p);
        if (B->modes > 0)
            e = beam_step(f, B, theta, e, J);
    }
    return e;
}

void DYN(flex_pose)(const arm *a, const flex *f, const real theta[], real out[12]) {
    const axes e = effector(a, f, theta, NULL);
    const vec p = vec_add(e.p, at(e, pose_origin(&f->tool)));
    const vec x = at(e, pose_column(&f->tool, 0)), y = at(e, pose_column(&f->tool, 1)),
              z = at(e, pose_column(&f->tool, 2));
    const vec row[4] = {x, y, z, p};
    for (uint32_t k = 0; k < 4; k++) {
        out[k] = row[k].x;
        out[4 + k] = row[k].y;
        out[8 + k] = row[k].z;
    }
}

void DYN(flex_jacobian)(const arm *a, const flex *f, const real theta[], real J[]) {
    const axes e = effector(a, f, theta, J);
    const vec p = vec_add(e.p, at(e, pose_origin(&f->tool)));
    const uint32_t n = f->size;
    for (uint32_t c = 0; c < n; c++) {
        const real *u = J + c;
        const vec slide = vec_make(u[0], u[n], u[2 * n]);
        const vec axis = vec_make(u[3 * n], u[4 * n], u[5 * n]);
        put(J + c, n, vec_add_cross(slide, axis, p), axis);
    }
}

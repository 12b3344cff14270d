/*
 * Pose and velocity of the end effector: forward kinematics and the geometric Jacobian. Frames as
 * in Swartz's kinematic description, in modified Denavit-Hartenberg form.
 *
 * pose: 3 x 4 row-major, [R p], of the end effector (arm->tool) in the world (arm->base). Inward,
 * from the end effector to the base: two columns of R and p are carried; the third column is the
 * cross product of the two.
 *
 * jacobian: 6 x n row-major, velocity of the end effector's origin, then angular velocity, on the
 * axes of the world; the columns are z_i x (p - p_i), z_i for a revolute joint and z_i, 0 for a
 * prismatic one. Outward; a column keeps p_i and z_i until the end effector is known, so that no
 * scratch is needed.
 *
 * Operations (revolute, base and tool included; test_dyn_kinematics): pose 24n + 21
 * multiplications, 14n + 16 additions; jacobian 36n - 9 and 24n - 3.
 *
 * q31: lengths in units of 2^(length + arm->reach_shift) m, chosen by dyn_prepare so that the
 * stretched arm fits; dimensionless numbers in Q28, computed in Q30. In the Jacobian the column of
 * a prismatic joint is scaled from the joint's speed unit to this unit, so that J qd needs no
 * correction.
 */
#include "dyn/number/real.h"

#include "dyn/number/rigid.h"

INLINE vec vec_reach(const arm *a, vec p) {
    return vec_make(real_shift_mass(p.x, a->reach_shift), real_shift_mass(p.y, a->reach_shift),
                    real_shift_mass(p.z, a->reach_shift));
}

/* Carries the point p from the frame of a joint to that of its parent; lengths are in the unit of
 * this file. */
INLINE vec point_to_parent(const arm *a, frame A, vec p) {
    return half_to_parent(A, vec_add(child_to_half(A, p), vec_reach(a, A.p)));
}

INLINE void pose_row(real row[4], real x, real y, real z, real p) {
    row[0] = turn_real(x);
    row[1] = turn_real(y);
    row[2] = turn_real(z);
    row[3] = p;
}

void DYN(pose)(const arm *a, const real q[], real out[12]) {
    vec x = pose_column(&a->tool, 0), y = pose_column(&a->tool, 1);
    vec p = vec_reach(a, pose_origin(&a->tool));
    for (uint32_t i = a->n - 1; i > 0; i--) {
        const frame A = frame_at(&a->joint[i], q[i]);
        x = vec_joined(to_parent(A, x));
        y = vec_joined(to_parent(A, y));
        p = vec_joined(point_to_parent(a, A, p));
    }
    const frame A = frame_first(a->joint, q[0]);
    x = vec_joined(pose_turn(&a->base, to_parent(A, x)));
    y = vec_joined(pose_turn(&a->base, to_parent(A, y)));
    p = vec_joined(vec_add(pose_turn(&a->base, point_to_parent(a, A, p)), a->base_reach));
    const vec z = turn_cross(x, y);
    pose_row(out, x.x, y.x, z.x, p.x);
    pose_row(out + 4, x.y, y.y, z.y, p.y);
    pose_row(out + 8, x.z, y.z, z.z, p.z);
}

/* The axes of a frame in the world, in the format of a turn, and the frame's origin. */
typedef struct {
    vec x, y, z, p;
} axes;

/* axis_mix returns c a + s b, axis_unmix c b - s a: the axes a, b of a frame after a turn in their
 * plane. */
INLINE vec axis_mix(real c, vec a, real s, vec b) {
    return vec_make(turn_round(turn_mac(turn_mul(c, a.x), s, b.x)),
                    turn_round(turn_mac(turn_mul(c, a.y), s, b.y)),
                    turn_round(turn_mac(turn_mul(c, a.z), s, b.z)));
}

INLINE vec axis_unmix(real c, vec b, real s, vec a) {
    return vec_make(turn_round(turn_msub(turn_mul(c, b.x), s, a.x)),
                    turn_round(turn_msub(turn_mul(c, b.y), s, a.y)),
                    turn_round(turn_msub(turn_mul(c, b.z), s, a.z)));
}

/* Returns u + a x, where x is an axis. */
INLINE vec along(vec u, real a, vec x) {
    return vec_make(real_add(u.x, turn_round(turn_mul(x.x, a))),
                    real_add(u.y, turn_round(turn_mul(x.y, a))),
                    real_add(u.z, turn_round(turn_mul(x.z, a))));
}

INLINE axes axes_outward(const arm *a, frame A, axes up) {
    const vec half_y = axis_mix(A.x.c, up.y, A.x.s, up.z);
    const vec p = vec_reach(a, A.p);
    axes here;
    here.z = axis_unmix(A.x.c, up.z, A.x.s, up.y);
    here.x = axis_mix(A.z.c, up.x, A.z.s, half_y);
    here.y = axis_unmix(A.z.c, half_y, A.z.s, up.x);
    here.p = vec_joined(along(along(up.p, p.x, up.x), p.z, here.z));
    /* The rows of a rotation are turned as its columns are. */
    const vec row[3] = {vec_joined(vec_make(here.x.x, here.y.x, here.z.x)),
                        vec_joined(vec_make(here.x.y, here.y.y, here.z.y)),
                        vec_joined(vec_make(here.x.z, here.y.z, here.z.z))};
    here.x = vec_make(row[0].x, row[1].x, row[2].x);
    here.y = vec_make(row[0].y, row[1].y, row[2].y);
    here.z = vec_make(row[0].z, row[1].z, row[2].z);
    return here;
}

INLINE void column_put(real *J, uint32_t n, vec upper, vec lower) {
    J[0] = upper.x;
    J[n] = upper.y;
    J[2 * n] = upper.z;
    J[3 * n] = lower.x;
    J[4 * n] = lower.y;
    J[5 * n] = lower.z;
}

INLINE vec turn_vec_real(vec a) {
    return vec_make(turn_real(a.x), turn_real(a.y), turn_real(a.z));
}

void DYN(jacobian)(const arm *a, const real q[], real J[]) {
    const uint32_t n = a->n;
    const frame first = frame_first(a->joint, q[0]);
    axes here = {pose_column(&a->base, 0), pose_column(&a->base, 1), pose_column(&a->base, 2),
                 a->base_reach};
    here = axes_outward(a, first, here);
    column_put(J, n, here.p, here.z);
    for (uint32_t i = 1; i < n; i++) {
        here = axes_outward(a, frame_at(&a->joint[i], q[i]), here);
        column_put(J + i, n, here.p, here.z);
    }
    const vec t = vec_reach(a, pose_origin(&a->tool));
    const vec effector = along(along(along(here.p, t.x, here.x), t.y, here.y), t.z, here.z);
    for (uint32_t i = 0; i < n; i++) {
        const real *c = J + i;
        const vec p = vec_make(c[0], c[n], c[2 * n]);
        const vec z = vec_make(c[3 * n], c[4 * n], c[5 * n]);
        if (a->joint[i].prismatic)
            column_put(J + i, n, vec_reach(a, turn_vec_real(z)), vec_zero());
        else
            column_put(J + i, n, turn_cross(z, vec_sub(effector, p)), turn_vec_real(z));
    }
}

/*
 * The unknowns of dyn/paper/crba_forward.c and dyn/paper/ga_forward.c. These are not the
 * accelerations of the joints but
 *
 *     x_1 = qdd_1,   x_i = qdd_i + t_i x_i-1,   t_i = Z_i . Z_i-1 = cos alpha_i
 *
 * where joint i and its parent are both revolute or both prismatic; otherwise t_i = 0. On parallel
 * axes the unknowns are the accelerations relative to the base. With a heavy link after a light one
 * on a parallel axis, the elements of the inertia matrix H are nearly equal, and the result depends
 * on digits that rounding H drops: in paper 000, section 5.1, the accelerations are off by 0.5
 * rad/s^2 even when H is accurate to the last bit of a float. If only x_j is not zero, link j turns
 * about its axis and link j + 1 follows only across its own axis, so that the large part of the
 * inertia is not involved. With qdd = T x the equations are (T^T H T) x = T^T (tau - B). None of
 * their elements needs a difference of large numbers, provided that T^T H T is not computed from H.
 * In the half-turned frame between two links with axes Z' (parent) and Z, the element along the
 * parent's axis minus t times the element along ours is
 *
 *     Z'.(n + p x f) - t Z.n = s (n + p x f)_y + c (p x f)_z       turning
 *     Z'.f - t Z.f           = s f_y                               prismatic
 *
 * with s, c of alpha. The bias is computed the same way.
 */
#ifndef DYN_PAPER_ACROSS_H
#define DYN_PAPER_ACROSS_H

#include "dyn/number/tensor.h"

/* Force and moment about the origin of a link. */
typedef struct {
    vec f, n;
} effort;

/* The effort that a link passes to its parent. */
typedef struct {
    effort up;
    real element; /* component along the parent's axis minus t times that along our axis */
} passed;

/* The column of one x_j: the effort at link j and the diagonal element. */
typedef struct {
    effort here;
    real diagonal;
} column;

INLINE bool same_type(const joint *j) {
    return j[0].prismatic == j[-1].prismatic;
}

INLINE real effort_along(const joint *j, effort e) {
    return j->prismatic ? e.f.z : e.n.z;
}

INLINE column column_merged(column x) {
    return (column){{vec_merged(x.here.f), vec_merged(x.here.n)}, real_merged(x.diagonal)};
}

INLINE effort effort_to_half(const joint *j, frame A, effort e) {
    return (effort){child_to_half(A, vec_to_parent_unit(j, e.f)),
                    child_to_half(A, vec_to_parent_unit(j, e.n))};
}

/* Carries an effort from link i to its parent. */
INLINE passed pass_inward(const joint *j, frame A, effort here) {
    const effort half = effort_to_half(j, A, here);
    const vec f = half.f, pf = vec_cross(A.p, f), n = vec_add(half.n, pf);
    const turn x = A.x;
    passed out = {.up = {.f = half_to_parent(A, f)}};
    if (same_type(j) && !j->prismatic) {
        /* The moment about the parent's axis is the element plus t times that about our axis. */
        const acc across = turn_mac(turn_mul(x.s, n.y), x.c, pf.z);
        out.element = turn_round(across);
        out.up.n = vec_make(n.x, turn_round(turn_msub(turn_mul(x.c, n.y), x.s, n.z)),
                            turn_round(turn_mac(across, x.c, half.n.z)));
        return out;
    }
    out.up.n = half_to_parent(A, n);
    out.element = same_type(j) ? turn_round(turn_mul(x.s, f.y)) : effort_along(j - 1, out.up);
    return out;
}

/* Carries an effort from the second link to the first, where only the element is needed. */
INLINE real pass_first(const joint *j, frame A, effort here) {
    const vec f = vec_to_parent_unit(j, here.f), n = vec_to_parent_unit(j, here.n);
    if (same_type(j) && j->prismatic)
        return turn_round(turn_mul(A.x.s, half_y(A, f)));
    if (j[-1].prismatic)
        return to_parent_z(A, f);
    const vec half = child_to_half(A, f);
    const real pf_y = acc_round(acc_msub(acc_mul(A.p.z, half.x), A.p.x, half.z));
    const real n_y = real_add(half_y(A, n), pf_y), pf_z = real_mul(A.p.x, half.y);
    const acc across = turn_mac(turn_mul(A.x.s, n_y), A.x.c, pf_z);
    return turn_round(same_type(j) ? across : turn_mac(across, A.x.c, n.z));
}

/* axis_part returns t_i a; unit_part returns it in the units of the parent link, for an a that
 * contains mass. */
INLINE real axis_part(const joint *j, real a) {
    return same_type(j) ? turn_round(turn_mul(j->x.c, a)) : real_known(0);
}

INLINE real unit_part(const joint *j, real a) {
    return axis_part(j, real_shift_mass(a, j->mass_shift));
}

/* Returns T^T tau of joint i - 1 minus the bias of that joint. */
INLINE real remaining(const joint *j, const real tau[], uint32_t i, real bias) {
    return real_sub(real_sub(tau[i - 1], unit_part(&j[i], tau[i])), bias);
}

/* Adds T^T R T, where R contains the rotors: the rotor of joint i turns by qdd_i = x_i - t_i x_i-1.
 * The branch depends on the model only. */
INLINE void add_rotors(const arm *a, real M[]) {
    const joint *j = a->joint;
    real *Mi = M;
    for (uint32_t i = 0; i < a->n; i++) {
        if (j[i].geared) {
            Mi[i] = add_rotor(&j[i], Mi[i]);
            if (i > 0) {
                const real across = unit_part(&j[i], j[i].rotor);
                Mi[i - 1] = real_sub(Mi[i - 1], across);
                Mi[-1] = real_add(Mi[-1], axis_part(&j[i], across));
            }
        }
        Mi += i + 1;
    }
}

/* Solves (T^T H T) x = T^T (tau - B) for x, given the matrix and the right-hand side; then computes
 * qdd. */
INLINE int solve_across(const arm *a, real M[], real x[]) {
    const joint *j = a->joint;
    add_rotors(a, M);
    const int status = DYN(cholesky_mass)(a, M, x);
    for (uint32_t i = a->n - 1; i > 0; i--)
        x[i] = real_sub(x[i], axis_part(&j[i], x[i - 1]));
    return status;
}

#endif

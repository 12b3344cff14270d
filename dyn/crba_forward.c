/*
 * Forward dynamics `crba`: inertia matrix by composite bodies (dyn/crba.c), bias by the
 * Newton-Euler steps with zero acceleration, Cholesky's factors; N. M. Swartz, "Arm Dynamics
 * Simulation" (1982), (14) and (15).
 *
 * Different from the paper: the unknowns. With a heavy link behind a light one on a parallel axis
 * the elements of H are nearly equal, and what decides is in the digits that rounding H drops: in
 * paper 000, section 5.1, the accelerations are off by 0.5 rad/s^2 when H is right to the last bit
 * of a float. So the unknowns are not the accelerations of the joints but
 *
 *     x_1 = qdd_1,   x_i = qdd_i + t_i x_i-1,   t_i = Z_i . Z_i-1 = cos alpha_i
 *
 * where joint i and the one before both turn or both slide, else t_i = 0: on parallel axes the
 * accelerations against the base. x_j alone turns link j about its axis and lets link j + 1 follow
 * only across its own, so that the large part of the inertia is not in it. With qdd = T x the
 * equations are (T^T H T) x = T^T (tau - B), and no element of theirs needs a difference of large
 * numbers, as long as it is not formed from H: in the half-turned frame between two links with axes
 * Z' and Z the element along the axis before, less t times the one along ours, is
 *
 *     Z'.(n + p x f) - t Z.n = s (n + p x f)_y + c (p x f)_z       turning
 *     Z'.f - t Z.f           = s f_y                               sliding
 *
 * with s, c of alpha. The bias goes the same way. Error of joint 1
 * in float there: 0.0006 rad/s^2, with H itself 1.2 (test_dyn_table5).
 *
 * Operations that the results need (revolute, n >= 3; test_dyn_crba), solver included:
 * (n^3 + 75n^2 + 872n)/6 - 225 multiplications, (n^3 + 45n^2 + 764n)/6 - 217 additions, n
 * reciprocals and square roots; n = 6: 1133 and 853, Walker and Orin 1627 and 1261. The first link
 * is not peeled: about 65 and 60 more are executed for it. Scratch: that of `ne`, 36 bytes for each
 * joint in f32 and q31, and n (n + 1) / 2 numbers.
 */
#include DYN_REAL_H

#include "dyn/composite.h"
#include "dyn/scale.h"

typedef struct {
    load up;      /* at the link before */
    real element; /* along its axis, less t times along ours */
} passed;

INLINE bool same_type(const joint *j) {
    return j[0].prismatic == j[-1].prismatic;
}

/* (24) and (25) from link i to the one before. */
INLINE passed pass_inward(const joint *j, const ne_link *link, load here) {
    const frame A = frame_again(j, turn_load(&link->z), link->d);
    const vec f = child_to_half(A, vec_to_parent_unit(j, here.f));
    vec n = child_to_half(A, vec_to_parent_unit(j, here.n));
    const vec pf = vec_cross(A.p, f);
    passed out;
    n = vec_add(n, pf);
    out.up = (load){half_to_parent(A, f), half_to_parent(A, n)};
    if (!same_type(j))
        out.element = along_axis(j - 1, out.up);
    else if (j->prismatic)
        out.element = turn_round(turn_mul(A.x.s, f.y));
    else
        out.element = turn_round(turn_mac(turn_mul(A.x.s, n.y), A.x.c, pf.z));
    return out;
}

/* x_j at work on the composite body: the load at link j and the diagonal element. */
typedef struct {
    load here;
    real diagonal;
} column;

INLINE column plain_column(const joint *j, body b) {
    return j->prismatic ? (column){sliding(b), b.m} : (column){turning(b), b.I.zz};
}

/* Link j + 1 turns across its axis by s, and its origin moves by Z' x p. */
INLINE column turning_column(const joint *j, frame A, body half) {
    const load own = turning(link_body(j));
    const real fy = turn_round(turn_mul(A.x.c, real_mul(half.m, A.p.x)));
    const vec f = vec_make(turn_round(turn_mul(A.x.s, half.h.z)), fy,
                           real_neg(turn_round(turn_mul(A.x.s, half.h.x))));
    const vec n = vec_make(
        turn_round(turn_msub(turn_mul(A.x.s, half.I.xy), A.x.c, real_mul(A.p.x, half.h.z))),
        turn_round(turn_mul(A.x.s, half.I.yy)),
        turn_round(turn_mac(turn_mul(A.x.s, half.I.yz), A.x.c, real_mul(A.p.x, half.h.x))));
    const real more = turn_round(turn_mac(turn_mul(A.x.s, n.y), A.x.c, real_mul(A.p.x, fy)));
    return (column){{vec_add(own.f, half_to_parent(A, f)), vec_add(own.n, half_to_parent(A, n))},
                    real_add(own.n.z, more)};
}

/* Link j + 1 slides across its axis by s. */
INLINE column sliding_column(const joint *j, frame A, body half) {
    const load own = sliding(link_body(j));
    const vec f = vec_make(real_known(0), turn_round(turn_mul(A.x.s, half.m)), real_known(0));
    const vec n = vec_make(real_neg(turn_round(turn_mul(A.x.s, half.h.z))), real_known(0),
                           turn_round(turn_mul(A.x.s, half.h.x)));
    return (column){{vec_add(own.f, half_to_parent(A, f)), vec_add(own.n, half_to_parent(A, n))},
                    real_add(own.f.z, turn_round(turn_mul(A.x.s, f.y)))};
}

/* What a joint has behind it: all of it, and what x_j moves. */
typedef struct {
    body all;
    column x;
} carrier;

INLINE column merged(column x) {
    return (column){{vec_merged(x.here.f), vec_merged(x.here.n)}, real_merged(x.diagonal)};
}

INLINE carrier join_inward(const joint *j, const ne_link *link, body b) {
    const frame A = frame_again(j, turn_load(&link->z), link->d);
    const body half = carried(j, A, b);
    carrier out;
    out.all = join(j - 1, A, half);
    if (!same_type(j))
        out.x = plain_column(j - 1, out.all);
    else if (j->prismatic)
        out.x = sliding_column(j - 1, A, half);
    else
        out.x = turning_column(j - 1, A, half);
    out.x = merged(out.x);
    return out;
}

/* t_i a, in the units of the link before where a contains mass. */
INLINE real axis_part(const joint *j, real a) {
    return same_type(j) ? turn_round(turn_mul(j->x.c, a)) : real_known(0);
}

INLINE real unit_part(const joint *j, real a) {
    return axis_part(j, real_shift_mass(a, j->mass_shift));
}

/* T^T R T: the rotor of joint i turns by qdd_i = x_i - t_i x_i-1. A branch on the model. */
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

int DYN(crba_forward)(const arm *a, DYN_T(crba_forward_scratch) *scratch, const real q[],
                      const real qd[], const real tau[], real qdd[]) {
    const joint *j = a->joint;
    ne_link *link = scratch->link;
    real *M = scratch->M;
    const uint32_t last = a->n - 1;
    const real still = real_known(0);
    motion m = {vec_zero(), vec_zero(), a->base_acceleration};
    ne_link first;
    m = outward(0, j, frame_first(j, q[0]), m, qd[0], still, &first);
    for (uint32_t i = 1; i <= last; i++)
        m = outward(i, &j[i], frame_at(&j[i], q[i]), m, qd[i], still, &link[i]);

    carrier b = {link_body(&j[last]), merged(plain_column(&j[last], link_body(&j[last])))};
    load p = {first.F, first.n};
    if (last > 0)
        p = (load){link[last].F, link[last].n};
    qdd[last] = real_sub(tau[last], along_axis(&j[last], p));
    for (uint32_t i = last; i > 0; i--) {
        real *Mi = M + i * (i + 1) / 2;
        load here = b.x.here;
        Mi[i] = b.x.diagonal;
        for (uint32_t k = i; k > 1; k--) {
            const passed x = pass_inward(&j[k], &link[k], here);
            Mi[k - 1] = x.element;
            here = x.up;
        }
        Mi[0] = pass_inward(&j[1], &link[1], here).element;

        const ne_link *before = i > 1 ? &link[i - 1] : &first;
        const load own = {before->F, before->n};
        const passed x = pass_inward(&j[i], &link[i], p);
        const real bias = real_add(along_axis(&j[i - 1], own), x.element);
        p = (load){vec_add(own.f, x.up.f), vec_add(own.n, x.up.n)};
        qdd[i - 1] = real_sub(real_sub(tau[i - 1], unit_part(&j[i], tau[i])), bias);
        b = join_inward(&j[i], &link[i], b.all);
    }
    M[0] = b.x.diagonal;

    add_rotors(a, M);
    const int status = DYN(cholesky_mass)(a, M, qdd);
    for (uint32_t i = last; i > 0; i--)
        qdd[i] = real_sub(qdd[i], axis_part(&j[i], qdd[i - 1]));
    return status;
}

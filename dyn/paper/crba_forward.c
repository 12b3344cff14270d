/*
 * Forward dynamics `crba`: inertia matrix by composite bodies (dyn/paper/crba.c), bias by the
 * Newton-Euler steps with zero acceleration, and Cholesky's factorisation; N. M. Swartz, "Arm
 * Dynamics Simulation" (1982), (14) and (15).
 *
 * Different from the paper: the unknowns, which dyn/paper/across.h explains. In the example of
 * paper 000, section 5.1, the error of joint 1 in float is 0.0006 rad/s^2; with H itself it is 1.2
 * rad/s^2 (test_dyn_table5).
 *
 * Operations (revolute, without rotors, n >= 3; test_dyn_crba), solver included: (n^3 + 72n^2 +
 * 893n)/6 - 184 multiplications, (n^3 + 45n^2 + 770n)/6 - 183 additions, n reciprocals and n square
 * roots. For n = 6 these are 1177 and 893; Walker and Orin have 1627 and 1261. Scratch: that of
 * `ne`, 36 bytes for each joint in f32 and q31, and n (n + 1) / 2 numbers.
 */
#include "dyn/number/real.h"

#include "dyn/paper/composite.h"

#include "dyn/paper/across.h"

/* The load of the composite body as the effort of x_j. */
INLINE effort of_load(load l) {
    return (effort){l.f, l.n};
}

INLINE column plain_column(const joint *j, body b) {
    return j->prismatic ? (column){of_load(prismatic(b)), b.m}
                        : (column){of_load(turning(b)), b.I.zz};
}

/* The column of x_j for a revolute joint j: link j + 1 turns across its axis by s, and its origin
 * moves by Z' x p. */
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

/* The column of x_j for a prismatic joint j: link j + 1 moves across its axis by s. */
INLINE column prismatic_column(const joint *j, frame A, body half) {
    const load own = prismatic(link_body(j));
    const vec f = vec_make(real_known(0), turn_round(turn_mul(A.x.s, half.m)), real_known(0));
    const vec n = vec_make(real_neg(turn_round(turn_mul(A.x.s, half.h.z))), real_known(0),
                           turn_round(turn_mul(A.x.s, half.h.x)));
    return (column){{vec_add(own.f, half_to_parent(A, f)), vec_add(own.n, half_to_parent(A, n))},
                    real_add(own.f.z, turn_round(turn_mul(A.x.s, f.y)))};
}

/* The composite body of joint j (link j and all later links) and the column of x_j. */
typedef struct {
    body all;
    column x;
} carrier;

INLINE frame frame_of(const joint *j, const ne_link *link) {
    return frame_again(j, turn_load(&link->z), link->d);
}

INLINE carrier join_inward(const joint *j, frame A, body b) {
    const body half = carried(j, A, b);
    carrier out;
    out.all = join(j - 1, A, half);
    if (!same_type(j))
        out.x = plain_column(j - 1, out.all);
    else if (j->prismatic)
        out.x = prismatic_column(j - 1, A, half);
    else
        out.x = turning_column(j - 1, A, half);
    out.x = column_merged(out.x);
    return out;
}

/* Returns the diagonal element of x_1; nothing else is needed of the first link. */
INLINE real join_first(const joint *j, frame A, body b) {
    if (same_type(j)) {
        const body half = carried(j, A, b);
        return j->prismatic ? prismatic_column(j - 1, A, half).diagonal
                            : turning_column(j - 1, A, half).diagonal;
    }
    b = join(j - 1, A, carried(j, A, b));
    return j->prismatic ? b.I.zz : b.m;
}

/* (24) and (25): computes row i of the matrix left of the diagonal. */
INLINE void row_left(const joint *j, const ne_link *link, uint32_t i, effort here, real Mi[]) {
    for (uint32_t k = i; k > 1; k--) {
        const passed x = pass_inward(&j[k], frame_of(&j[k], &link[k]), here);
        Mi[k - 1] = x.element;
        here = x.up;
    }
    Mi[0] = pass_first(&j[1], frame_of(&j[1], &link[1]), here);
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

    const real own_first = along_axis(j, (load){first.F, first.n});
    const body end = link_body(&j[last]);
    carrier b = {end, column_merged(plain_column(&j[last], end))};
    if (last == 0) {
        qdd[0] = real_sub(tau[0], own_first);
        M[0] = b.x.diagonal;
        return solve_across(a, M, qdd);
    }
    effort p = {link[last].F, link[last].n};
    qdd[last] = real_sub(tau[last], effort_along(&j[last], p));
    for (uint32_t i = last;; i--) {
        const frame A = frame_of(&j[i], &link[i]);
        real *Mi = M + i * (i + 1) / 2;
        Mi[i] = b.x.diagonal;
        row_left(j, link, i, b.x.here, Mi);
        if (i == 1)
            break;
        const effort own = {link[i - 1].F, link[i - 1].n};
        const passed x = pass_inward(&j[i], A, p);
        qdd[i - 1] = remaining(j, tau, i, real_add(effort_along(&j[i - 1], own), x.element));
        p = (effort){vec_add(own.f, x.up.f), vec_add(own.n, x.up.n)};
        b = join_inward(&j[i], A, b.all);
    }
    const frame A = frame_of(&j[1], &link[1]);
    qdd[0] = remaining(j, tau, 1, real_add(own_first, pass_first(&j[1], A, p)));
    M[0] = join_first(&j[1], A, b.all);
    return solve_across(a, M, qdd);
}

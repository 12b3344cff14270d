/*
 * Forward dynamics `ga`: Mata et al. (2002), sections 3 and 4.2: D q'' = tau - bias (17), with the
 * inertia matrix, the bias by the outward recursion of dyn/paper/ga.c with zero accelerations
 * (corrected: gravity is part of it) and Cholesky's decomposition.
 *
 * Different from the paper: the unknowns, which dyn/paper/across.h explains, and with them the
 * matrix. Its column of x_j is the effort of a body whose part after joint j + 1 moves across that
 * joint's axis only. gamma_j and E_j contain the masses of the later links as a point at the next
 * origin, so that this part has a first moment phi and an inertia Psi but no mass; in the
 * half-turned frame it turns by (0, s, 0) about the origin of link j and is carried along by c a in
 * y (s, c of alpha):
 *
 *     f = s (phi_z, 0, -phi_x),   n = s Psi (0, 1, 0) + c a (-phi_z, 0, phi_x)
 *
 * In float the error of joint 1 in the example of section 5.1 is 0.0004 rad/s^2; with D itself it
 * is 1.7, and 0.56 if D is right to the last bit (test_dyn_table5).
 *
 * Operations (revolute, without rotors, n >= 3; test_dyn_ga), solver included:
 * (n^3 + 72n^2 + 737n)/6 - 183 multiplications, (n^3 + 45n^2 + 722n)/6 - 190 additions, n
 * reciprocals and square roots; n = 6: 1022 and 838, the paper 1042 and 905. Scratch:
 * sizeof(dyn_ga_link) for each joint, 36 bytes in f32 and q31, and n (n + 1) / 2 numbers.
 */
#include "dyn/number/real.h"

#include "dyn/paper/across.h"
#include "dyn/paper/ga.h"

INLINE frame frame_of(const joint *j, const ga_link *link) {
    return frame_again(j, turn_load(&link->z), link->d);
}

/* `turning` and `prismatic` return the effort of a unit acceleration of the joint: force z x phi and
 * moment Psi z (step 7) for a revolute joint, force m z and moment phi x z for a prismatic one. */
INLINE effort turning(vec phi, sym Psi) {
    return (effort){vec_make(real_neg(phi.y), phi.x, real_known(0)),
                    vec_make(Psi.xz, Psi.yz, Psi.zz)};
}

INLINE effort prismatic(real m, vec phi) {
    return (effort){vec_z(m), vec_make(phi.y, real_neg(phi.x), real_known(0))};
}

INLINE column plain_column(const joint *j, composite c) {
    return (column){j->prismatic ? prismatic(j->ga.M, c.phi) : turning(c.phi, c.Psi),
                    diagonal(j, c)};
}

INLINE column turning_column(const joint *j, frame A, composite half) {
    const turn x = A.x;
    const effort own = turning(j->ga.gamma, j->ga.E);
    const real f_z = real_neg(turn_round(turn_mul(x.s, half.phi.x)));
    const vec f = vec_make(turn_round(turn_mul(x.s, half.phi.z)), real_known(0), f_z);
    const acc n_x = turn_msub(turn_mul(x.s, half.Psi.xy), x.c, real_mul(A.p.x, half.phi.z));
    const acc n_z = turn_mac(turn_mul(x.s, half.Psi.yz), x.c, real_mul(A.p.x, half.phi.x));
    const vec n =
        vec_make(turn_round(n_x), turn_round(turn_mul(x.s, half.Psi.yy)), turn_round(n_z));
    const real along = real_add(own.n.z, turn_round(turn_mul(x.s, n.y)));
    column out = {{vec_add(own.f, half_to_parent(A, f)), vec_zero()}, along};
    out.here.n = vec_make(real_add(own.n.x, n.x),
                          real_add(own.n.y, turn_round(turn_msub(turn_mul(x.c, n.y), x.s, n.z))),
                          real_add(along, turn_round(turn_mul(x.c, n.z))));
    return out;
}

INLINE column prismatic_column(const joint *j, frame A, composite half) {
    const real M = real_shift_mass(j[1].ga.M, j[1].mass_shift);
    const effort own = prismatic(j->m, j->ga.gamma);
    const real none = real_known(0);
    const vec f = vec_make(none, turn_round(turn_mul(A.x.s, M)), none);
    const vec n = vec_make(real_neg(turn_round(turn_mul(A.x.s, half.phi.z))), none,
                           turn_round(turn_mul(A.x.s, half.phi.x)));
    return (column){{vec_add(own.f, half_to_parent(A, f)), vec_add(own.n, half_to_parent(A, n))},
                    real_add(own.f.z, turn_round(turn_mul(A.x.s, f.y)))};
}

/* Steps 4 and 5: takes the composite body from link i to its parent. Sets *x to the column of the
 * parent joint's unknown. */
INLINE composite join_inward(const joint *j, frame A, composite c, column *x) {
    const joint *to = j - 1;
    const composite half = shift(j, A, c);
    c = step_5(to, A, half);
    if (!same_type(j))
        *x = plain_column(to, c);
    else if (j->prismatic)
        *x = prismatic_column(to, A, half);
    else
        *x = turning_column(to, A, half);
    *x = column_merged(*x);
    return c;
}

/* Returns the diagonal element of x_1; nothing else is needed of the first link. */
INLINE real join_first(const joint *j, frame A, composite c) {
    const joint *first = j - 1;
    if (!same_type(j))
        return step_5_first(first, A, c);
    if (j->prismatic) {
        const real M = real_shift_mass(j->ga.M, j->mass_shift);
        return real_add(first->m, turn_round(turn_mul(A.x.s, turn_round(turn_mul(A.x.s, M)))));
    }
    const vec phi = child_to_half(A, vec_to_parent_unit(j, c.phi));
    const real yy = sym_shift_half_yy(A, sym_to_parent_unit(j, c.Psi), phi);
    return real_add(first->ga.E.zz, turn_round(turn_mul(A.x.s, turn_round(turn_mul(A.x.s, yy)))));
}

/* Step 7: computes row i of the matrix left of the diagonal. */
INLINE void row_left(const joint *j, const ga_link *link, uint32_t i, effort here, real Di[]) {
    for (uint32_t k = i; k > 1; k--) {
        const passed x = pass_inward(&j[k], frame_of(&j[k], &link[k]), here);
        Di[k - 1] = x.element;
        here = x.up;
    }
    Di[0] = pass_first(&j[1], frame_of(&j[1], &link[1]), here);
}

int DYN(ga_forward)(const arm *a, DYN_T(ga_forward_scratch) *scratch, const real q[],
                    const real qd[], const real tau[], real qdd[]) {
    const joint *j = a->joint;
    ga_link *link = scratch->link;
    real *D = scratch->D;
    const uint32_t last = a->n - 1;
    const real own_first = all_out(a, link, q, qd, NULL);
    composite c = {j[last].ga.gamma, j[last].ga.E};
    column x = column_merged(plain_column(&j[last], c));
    if (last == 0) {
        qdd[0] = real_sub(tau[0], own_first);
        D[0] = x.diagonal;
        return solve_across(a, D, qdd);
    }
    effort p = {link[last].f, link[last].chi};
    qdd[last] = real_sub(tau[last], effort_along(&j[last], p));
    for (uint32_t i = last;; i--) {
        const frame A = frame_of(&j[i], &link[i]);
        real *Di = D + i * (i + 1) / 2;
        Di[i] = x.diagonal;
        row_left(j, link, i, x.here, Di);
        if (i == 1)
            break;
        const effort own = {link[i - 1].f, link[i - 1].chi};
        const passed up = pass_inward(&j[i], A, p);
        qdd[i - 1] = remaining(j, tau, i, real_add(effort_along(&j[i - 1], own), up.element));
        p = (effort){vec_add(own.f, up.up.f), vec_add(own.n, up.up.n)};
        c = join_inward(&j[i], A, c, &x);
    }
    const frame A = frame_of(&j[1], &link[1]);
    qdd[0] = remaining(j, tau, 1, real_add(own_first, pass_first(&j[1], A, p)));
    D[0] = join_first(&j[1], A, c);
    return solve_across(a, D, qdd);
}

/*
 * Inertia matrix `fast`: composite bodies, as in Walker and Orin's method 3, of regrouped links
 * (dyn/model/pseudo_inertia.h, dyn/kernel/fast.h).
 *
 * The composite body of joint i (its link and all later links) is kept as first moment L and
 * Euler's tensor J about the origin of link i. Its mass M is a constant, and zero unless joint i or
 * a later joint is prismatic. A unit acceleration of joint i about or along its axis u takes, about
 * the origin of link i,
 *
 *     revolute   the force u x L and the moment (trace(J) 1 - J) u
 *     prismatic  the force M u   and the moment L x u
 *
 * Both are computed in the parent's frame, where L is needed anyway and u is (0, -sin alpha, cos
 * alpha), and carried from link to link like the loads of inverse dynamics. Their component on the
 * axis of each joint on the way is an element of the matrix. The angle of the first joint does not
 * matter.
 *
 * Operations (revolute, n >= 3; test_dyn_fast): 10n^2 + 5n - 32 multiplications, 6n^2 + 22n - 47
 * additions; n = 6: 358, 301. Scratch: as dyn/kernel/fast.c.
 */
#include "dyn/number/real.h"

#include "dyn/kernel/fast.h"

typedef struct {
    vec L;
    sym J;
} composite;

typedef struct {
    vec f, n;
} effort;

/* Returns the force and moment for a unit acceleration of the joint, about the origin of its link,
 * on the axes and in the mass unit of the parent link. L is on the parent's axes and J on those of
 * the link; both are in the parent's mass unit. */
INLINE effort own_effort(const joint *j, bool prismatic, frame A, vec L, sym J) {
    if (prismatic) {
        const vec uxL = axis_cross(A.x, L);
        return (effort){axis_scale(A.x, real_shift_mass(j->fast.M, j->mass_shift)),
                        vec_make(real_neg(uxL.x), real_neg(uxL.y), real_neg(uxL.z))};
    }
    const vec n = vec_make(real_neg(J.xz), real_neg(J.yz), real_add(J.xx, J.yy));
    return (effort){axis_cross(A.x, L), to_parent(A, n)};
}

/* Reports an element in column i of the matrix to the checking backends. */
INLINE real element(uint32_t i, real M) {
    NAMED(i, M);
    return M;
}

/* Reports the composite body of joint i to the checking backends. */
INLINE composite named(uint32_t i, composite c) {
    NAMED(i, c.L);
    const vec J = vec_make(c.J.xx, c.J.yy, c.J.zz), Jx = vec_make(c.J.xy, c.J.yz, c.J.xz);
    NAMED(i, J);
    NAMED(i, Jx);
    return c;
}

/* Carries an effort from link i to its parent. */
INLINE effort inward(const joint *j, bool prismatic, const fast_link *link, effort e) {
    frame A = fast_again(j, prismatic, link);
    vec f = to_parent(A, vec_to_parent_unit(j, e.f));
    vec n = to_parent(A, vec_to_parent_unit(j, e.n));
    return (effort){f, vec_add_cross(n, A.p, f)};
}

/* Carries an effort from the second link to the first and returns only its component on the
 * axis. */
INLINE real inward_first(bool first_prismatic, const joint *j, bool prismatic,
                         const fast_link *link, effort e) {
    frame A = fast_second(j, prismatic, link);
    vec f = vec_to_parent_unit(j, e.f), n = vec_to_parent_unit(j, e.n);
    if (first_prismatic)
        return to_parent_z(A, f);
    f = vec_make(prismatic ? to_parent_x(A, f) : real_known(0), to_parent_y(A, f), real_known(0));
    return real_add(to_parent_z(A, n), vec_cross_z(A.p, f));
}

/* Carries an effort at link k > 0 inward through all links and writes its components on the axes to
 * row[k] ... row[0]. */
INLINE void column(const joint *j, bool mixed, const fast_link *link, uint32_t k, effort e,
                   real row[]) {
    e = (effort){vec_carried(e.f), vec_carried(e.n)};
    for (; k > 1; k--) {
        NAMED(k, e.f);
        NAMED(k, e.n);
        row[k] = element(k, prismatic_at(mixed, &j[k]) ? e.f.z : e.n.z);
        if (prismatic_at(mixed, &j[k]))
            e = inward(&j[k], true, &link[k], e);
        else
            e = inward(&j[k], false, &link[k], e);
    }
    NAMED(1, e.f);
    NAMED(1, e.n);
    row[1] = element(1, prismatic_at(mixed, &j[1]) ? e.f.z : e.n.z);
    if (prismatic_at(mixed, &j[0]))
        row[0] = inward_first(true, &j[1], false, &link[1], e);
    else if (prismatic_at(mixed, &j[1]))
        row[0] = inward_first(false, &j[1], true, &link[1], e);
    else
        row[0] = inward_first(false, &j[1], false, &link[1], e);
    row[0] = element(0, row[0]);
}

/* Carries the composite body of joint i >= 2 to its parent link. Sets *e to the effort of a unit
 * acceleration of the joint, about the parent's origin. */
INLINE composite join(const joint *j, bool mixed, bool prismatic, const fast_link *link,
                      composite c, effort *e) {
    frame A = fast_again(j, prismatic, link);
    c = (composite){vec_to_parent_unit(j, c.L), sym_to_parent_unit(j, c.J)};
    vec L = to_parent(A, c.L), before = L;
    if (mixed && j->fast.heavy)
        L = vec_add(L, vec_scale(real_shift_mass(j->fast.M, j->mass_shift), A.p));
    const composite out = {L, sym_add_outer(sym_to_parent(A, c.J), A.p, before, L)};
    *e = own_effort(j, prismatic, A, before, c.J);
    e->n = vec_add_cross(e->n, A.p, e->f);
    return out;
}

INLINE composite join_own(const joint *j, bool prismatic, composite c) {
    return (composite){vec_add(c.L, fast_l(j, prismatic)), sym_add(c.J, fast_J(j, prismatic))};
}

/* Diagonal element of joint i. */
INLINE real diagonal(const joint *j, bool prismatic, composite c) {
    return prismatic ? j->fast.M : real_add(c.J.xx, c.J.yy);
}

/* The last step, from the second link to the first: writes M[0] to M[2]. The composite body itself
 * is no longer needed. */
INLINE void join_first(const joint *j, bool mixed, bool prismatic, const fast_link *link,
                       composite c, real M[]) {
    const joint *first = j - 1;
    const bool first_prismatic = prismatic_at(mixed, first);
    frame A = fast_second(j, prismatic, link);
    M[2] = diagonal(j, prismatic, c);
    c = (composite){vec_to_parent_unit(j, c.L), sym_to_parent_unit(j, c.J)};
    const vec L = prismatic || first_prismatic
                      ? to_parent(A, c.L)
                      : vec_make(to_parent_x(A, c.L), real_known(0), real_known(0));
    const real mass = real_shift_mass(j->fast.M, j->mass_shift);
    if (first_prismatic) {
        M[1] = own_effort(j, prismatic, A, L, c.J).f.z;
        M[0] = first->fast.M;
        return;
    }
    real zz = sym_to_parent_xx_yy(A, c.J);
    zz = real_add(zz, real_mul(A.p.x, real_add(L.x, L.x)));
    if (prismatic) {
        zz = real_add(zz, real_mul(A.p.y, real_add(L.y, L.y)));
        effort e = own_effort(j, prismatic, A, L, c.J);
        M[1] = real_add(e.n.z, vec_cross_z(A.p, e.f));
    } else {
        const vec n = vec_make(real_neg(c.J.xz), real_neg(c.J.yz), real_add(c.J.xx, c.J.yy));
        const real f_y = turn_round(turn_mul(A.x.c, L.x));
        M[1] = real_add(to_parent_z(A, n), real_mul(A.p.x, f_y));
    }
    if (mixed && j->fast.heavy) {
        const vec r = vec_make(A.p.x, A.p.y, real_known(0));
        zz = real_add(zz, vec_dot(r, vec_scale(mass, r)));
    }
    M[0] = real_add(zz, first->fast.J.xx);
}

INLINE void matrix(const arm *a, bool mixed, const fast_link *link, real M[]) {
    const joint *j = a->joint;
    uint32_t i = a->n - 1;
    if (i == 0) {
        M[0] = prismatic_at(mixed, j) ? j->fast.M : j->fast.J.xx;
        return;
    }
    composite c = {vec_zero(), sym_make(real_known(0), real_known(0), real_known(0), real_known(0),
                                        real_known(0), real_known(0))};
    c = prismatic_at(mixed, &j[i]) ? join_own(&j[i], true, c) : join_own(&j[i], false, c);
    for (real *row = M + i * (i + 1) / 2; i > 1; i--) {
        effort e;
        c = named(i, (composite){vec_carried(c.L), sym_carried(c.J)});
        row[i] = prismatic_at(mixed, &j[i]) ? diagonal(&j[i], true, c) : diagonal(&j[i], false, c);
        row[i] = element(i, row[i]);
        c = prismatic_at(mixed, &j[i]) ? join(&j[i], mixed, true, &link[i], c, &e)
                                       : join(&j[i], mixed, false, &link[i], c, &e);
        c = prismatic_at(mixed, &j[i - 1]) ? join_own(&j[i - 1], true, c)
                                           : join_own(&j[i - 1], false, c);
        column(j, mixed, link, i - 1, e, row);
        row -= i;
    }
    c = named(1, c);
    if (prismatic_at(mixed, &j[1]))
        join_first(&j[1], mixed, true, &link[1], c, M);
    else
        join_first(&j[1], mixed, false, &link[1], c, M);
    M[2] = element(1, M[2]);
    M[1] = element(0, M[1]);
    M[0] = element(0, M[0]);
}

void DYN(fast_mass_placed)(const arm *a, const fast_link *link, real M[]) {
    if (FAST_MIXED(a))
        matrix(a, true, link, M);
    else
        matrix(a, false, link, M);
}

void DYN(fast_mass)(const arm *a, DYN_T(fast_scratch) *scratch, const real q[], real M[]) {
    const joint *j = a->joint;
    fast_link *link = scratch->link;
    for (uint32_t i = 1; i < a->n; i++)
        if (j[i].prismatic)
            fast_place(&j[i], true, q[i], &link[i]);
        else
            fast_place(&j[i], false, q[i], &link[i]);
    DYN(fast_mass_placed)(a, link, M);
}

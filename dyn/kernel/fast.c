/*
 * Inverse dynamics `fast`: the Gibbs-Appell recursion of dyn/paper/ga.c on base inertial
 * parameters. When the model is prepared, the mass that moves with the parent link is counted there
 * (dyn/model/pseudo_inertia.h). A revolute link is left with Euler's tensor J without zz and a
 * first moment l without z, both about its origin, and no mass at all. This is exact for any arm.
 *
 *   f = Omega l                                   6M 3A   (prismatic: Omega l + m a)
 *   n = vee(Omega J - (Omega J)^T) + l x a        17M 17A (prismatic: l x a)
 *
 * w, wd: angular velocity and acceleration; a: acceleration of the link's origin; f, n: force and
 * moment about it; p: vector from the parent's origin, (a, 0, rise) on the parent's axes
 * (dyn/kernel/fast.h).
 *
 * Operations (revolute, n >= 3; test_dyn_fast), multiplications and additions:
 *   inverse  81n - 96   69n - 89     n = 6: 390, 325
 *   bias     81n - 102  68n - 94            384, 314
 *   gravity  20n - 18   12n - 13            102, 59
 * Scratch: sizeof(dyn_fast_link) for each joint, 36 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/kernel/fast.h"

typedef struct {
    vec w, wd, a;
    omega Omega;
} motion;

typedef struct {
    vec f, n;
} load;

INLINE motion carried(motion m) {
    return (motion){vec_carried(m.w), vec_carried(m.wd), vec_carried(m.a), omega_carried(m.Omega)};
}

/* Motion of link i from the motion of its parent. */
INLINE motion outward(uint32_t i, bool prismatic, frame A, motion up, real qd, real qdd) {
    motion m;
    m.w = to_child(A, up.w);
    m.wd = to_child(A, up.wd);
    m.a = to_child(A, vec_add(up.a, omega_mul(up.Omega, A.p)));
    if (prismatic) {
        m.a = vec_add_cross(vec_add(m.a, vec_z(qdd)), m.w, vec_z(real_add(qd, qd)));
    } else {
        m.wd = vec_add_cross(vec_add(m.wd, vec_z(qdd)), m.w, vec_z(qd));
        m.w = vec_add(m.w, vec_z(qd));
    }
    m.Omega = omega_make(m.w, m.wd);
    NAMED(i, m.w);
    NAMED(i, m.wd);
    NAMED(i, m.a);
    return m;
}

INLINE load body(uint32_t i, const joint *j, bool prismatic, motion m) {
    vec l = fast_l(j, prismatic), f = omega_mul(m.Omega, l);
    if (prismatic)
        f = vec_add(f, vec_scale(j->fast.m, m.a));
    load own = {f, omega_euler_add_cross(m.Omega, fast_J(j, prismatic), l, m.a)};
    NAMED(i, own.f);
    NAMED(i, own.n);
    return own;
}

/* Link i >= 1 (the second link or later). Writes everything except f and n to `link`. */
INLINE motion link_out(uint32_t i, const joint *j, bool prismatic, bool second, motion up, real q,
                       real qd, real qdd, fast_link *link, load *own) {
    fast_place(j, prismatic, q, link);
    frame A = second ? fast_second(j, prismatic, link) : fast_again(j, prismatic, link);
    motion m = outward(i, prismatic, A, up, qd, qdd);
    *own = body(i, j, prismatic, m);
    return m;
}

/* The load that link i exerts on its parent. */
INLINE load inward(const joint *j, bool prismatic, const fast_link *link, load here) {
    frame A = fast_again(j, prismatic, link);
    vec f = to_parent(A, vec_to_parent_unit(j, here.f));
    vec n = to_parent(A, vec_to_parent_unit(j, here.n));
    return (load){f, vec_add_cross(n, A.p, f)};
}

/* The same for a parent that is the first link, where only the component on the axis is needed. */
INLINE real inward_first(bool first_prismatic, const joint *j, bool prismatic,
                         const fast_link *link, load here) {
    frame A = fast_second(j, prismatic, link);
    vec f = vec_to_parent_unit(j, here.f), n = vec_to_parent_unit(j, here.n);
    if (first_prismatic)
        return to_parent_z(A, f);
    f = vec_make(prismatic ? to_parent_x(A, f) : real_known(0), to_parent_y(A, f), real_known(0));
    return real_add(to_parent_z(A, n), vec_cross_z(A.p, f));
}

INLINE load total(uint32_t i, const fast_link *link, load behind) {
    load here = {vec_add(link->f, behind.f), vec_add(link->n, behind.n)};
    NAMED(i, here.f);
    NAMED(i, here.n);
    return here;
}

/* The first link: the base is at rest, and only the component on the axis is needed. */
INLINE motion first_out(const arm *a, bool mixed, real q, real qd, real qdd, real *tau) {
    const joint *j = a->joint;
    const vec g = a->base_acceleration;
    motion m = {vec_zero(), vec_zero(), g, omega_make(vec_zero(), vec_zero())};
    if (prismatic_at(mixed, j)) {
        m.a = vec_add(g, vec_z(qdd));
        *tau = real_mul(j->fast.m, m.a.z);
    } else {
        turn z;
        real_sincos(q, j->offset, &z.c, &z.s);
        m.a = vec_turn_z(z, g);
        m.w = vec_z(qd);
        m.wd = vec_z(qdd);
        *tau = acc_round(
            acc_msub(acc_mac(acc_mul(j->fast.J.xx, qdd), j->fast.l.x, m.a.y), j->fast.l.y, m.a.x));
    }
    m.Omega = omega_make(m.w, m.wd);
    NAMED(0, m.a);
    return m;
}

/* qdd is NULL where all accelerations are zero; the compiler knows this at each call. */
INLINE void inverse(const arm *a, bool mixed, fast_link *link, const real q[], const real qd[],
                    const real qdd[], real tau[]) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;
    const real none = real_known(0);
    load own;
    motion m = first_out(a, mixed, q[0], qd[0], qdd ? qdd[0] : none, &tau[0]);
    NAMED(0, tau[0]);
    if (last == 0)
        return;

    /* The first link can only turn about z or not at all. Its zeros make the second link cheap. */
    uint32_t i = 1;
    real qdd1 = qdd ? qdd[1] : none;
    if (prismatic_at(mixed, &j[1]))
        m = link_out(1, &j[1], true, true, m, q[1], qd[1], qdd1, &link[1], &own);
    else
        m = link_out(1, &j[1], false, true, m, q[1], qd[1], qdd1, &link[1], &own);
    while (i < last) {
        link[i].f = own.f;
        link[i].n = own.n;
        i++;
        real qddi = qdd ? qdd[i] : none;
        m = carried(m);
        if (prismatic_at(mixed, &j[i]))
            m = link_out(i, &j[i], true, false, m, q[i], qd[i], qddi, &link[i], &own);
        else
            m = link_out(i, &j[i], false, false, m, q[i], qd[i], qddi, &link[i], &own);
    }

    load here = own;
    for (; i > 1; i--) {
        if (prismatic_at(mixed, &j[i])) {
            tau[i] = here.f.z;
            here = inward(&j[i], true, &link[i], here);
        } else {
            tau[i] = here.n.z;
            here = inward(&j[i], false, &link[i], here);
        }
        NAMED(i, tau[i]);
        here = total(i - 1, &link[i - 1], here);
    }
    tau[1] = prismatic_at(mixed, &j[1]) ? here.f.z : here.n.z;
    NAMED(1, tau[1]);
    real first;
    if (prismatic_at(mixed, &j[0]))
        first = inward_first(true, &j[1], false, &link[1], here);
    else if (prismatic_at(mixed, &j[1]))
        first = inward_first(false, &j[1], true, &link[1], here);
    else
        first = inward_first(false, &j[1], false, &link[1], here);
    tau[0] = real_add(tau[0], first);
    NAMED(0, tau[0]);
}

void DYN(fast_inverse)(const arm *a, DYN_T(fast_scratch) *scratch, const real q[], const real qd[],
                       const real qdd[], real tau[]) {
    if (FAST_MIXED(a))
        inverse(a, true, scratch->link, q, qd, qdd, tau);
    else
        inverse(a, false, scratch->link, q, qd, qdd, tau);
}

void DYN(fast_bias)(const arm *a, DYN_T(fast_scratch) *scratch, const real q[], const real qd[],
                    real tau[]) {
    if (FAST_MIXED(a))
        inverse(a, true, scratch->link, q, qd, NULL, tau);
    else
        inverse(a, false, scratch->link, q, qd, NULL, tau);
}

/* At rest Omega is zero, and a revolute link has no mass, so its moment is l x a. Forces exist only
 * where this or a later joint is prismatic, which the model knows (`heavy`). */
INLINE vec gravity_out(uint32_t i, const joint *j, bool prismatic, vec up, real q,
                       fast_link *link) {
    fast_place(j, prismatic, q, link);
    vec a = vec_turn_z(turn_load(&link->z), vec_turn_x(turn_load(&j->x), up));
    NAMED(i, a);
    if (prismatic)
        link->f = vec_scale(j->fast.m, a);
    link->n = vec_cross(fast_l(j, prismatic), a);
    return a;
}

INLINE load gravity_in(const joint *j, bool prismatic, const fast_link *link, load here) {
    if (j->fast.heavy)
        return inward(j, prismatic, link, here);
    frame A = fast_again(j, prismatic, link);
    return (load){vec_carried(vec_zero()), to_parent(A, vec_to_parent_unit(j, here.n))};
}

void DYN(fast_gravity)(const arm *a, DYN_T(fast_scratch) *scratch, const real q[], real tau[]) {
    const joint *j = a->joint;
    fast_link *link = scratch->link;
    const uint32_t last = a->n - 1;
    const real none = real_known(0);
    vec up = first_out(a, true, q[0], none, none, &tau[0]).a;
    NAMED(0, tau[0]);
    if (last == 0)
        return;
    for (uint32_t i = 1; i <= last; i++)
        up = j[i].prismatic ? gravity_out(i, &j[i], true, up, q[i], &link[i])
                            : gravity_out(i, &j[i], false, up, q[i], &link[i]);
    load here = {vec_carried(vec_zero()), link[last].n};
    for (uint32_t i = last;; i--) {
        if (j[i].prismatic)
            here.f = vec_add(here.f, link[i].f);
        tau[i] = j[i].prismatic ? here.f.z : here.n.z;
        NAMED(i, tau[i]);
        if (i == 1)
            break;
        here = j[i].prismatic ? gravity_in(&j[i], true, &link[i], here)
                              : gravity_in(&j[i], false, &link[i], here);
        here.n = vec_add(here.n, link[i - 1].n);
        NAMED(i - 1, here.f);
        NAMED(i - 1, here.n);
    }
    if (!j[1].fast.heavy)
        here.f = vec_zero();
    tau[0] = real_add(tau[0], inward_first(j[0].prismatic, &j[1], j[1].prismatic, &link[1], here));
    NAMED(0, tau[0]);
}

/* Shared by the Gibbs-Appell kernels: the outward recursion of dyn/paper/ga.c and the composite
 * bodies of dyn/paper/ga_mass.c. The headers of these files explain the symbols and the numbers of
 * steps and equations. */
#ifndef DYN_PAPER_GA_H
#define DYN_PAPER_GA_H

#include "dyn/number/tensor.h"

typedef DYN_T(ga_link) ga_link;

typedef struct {
    vec w, wd, sdd;
    omega Omega;
} motion;

INLINE motion carried(motion m) {
    return (motion){vec_carried(m.w), vec_carried(m.wd), vec_carried(m.sdd),
                    omega_carried(m.Omega)};
}

INLINE motion at_rest(const arm *a) {
    return (motion){vec_zero(), vec_zero(), a->base_acceleration,
                    omega_make(vec_zero(), vec_zero())};
}

/* Returns s_i-1,i on the axes of the parent link. */
INLINE vec origin(const joint *j, frame A) {
    if (!j->prismatic)
        return j->ga.s;
    return vec_add(j->ga.s, half_to_parent(A, vec_z(A.p.z)));
}

/* Step 1 without rdd. */
INLINE motion outward(uint32_t i, const joint *j, frame A, motion up, real qd, real qdd) {
    motion m;
    m.w = to_child(A, up.w);
    m.wd = to_child(A, up.wd);
    m.sdd = to_child(A, vec_add(up.sdd, omega_mul(up.Omega, origin(j, A))));
    if (j->prismatic) {
        m.sdd = vec_add_cross(vec_add(m.sdd, vec_z(qdd)), m.w, vec_z(real_add(qd, qd)));
    } else {
        m.wd = vec_add_cross(vec_add(m.wd, vec_z(qdd)), m.w, vec_z(qd));
        m.w = vec_add(m.w, vec_z(qd));
    }
    m.Omega = omega_make(m.w, m.wd);
    NAMED(i, m.w);
    NAMED(i, m.wd);
    NAMED(i, m.sdd);
    return m;
}

/* Step 2: stores f and the link's own part of chi. */
INLINE void body(uint32_t i, const joint *j, motion m, ga_link *link) {
    vec rdd = vec_add(m.sdd, omega_mul(m.Omega, j->s));
    vec f = vec_scale(j->m, rdd);                               /* (9) */
    vec chi = omega_euler_add_cross(m.Omega, j->ga.J, j->s, f); /* t of (10), and r~ f */
    NAMED(i, rdd);
    NAMED(i, f);
    link->f = f;
    link->chi = chi;
}

/* The first link turns about z or moves along z, and only the component on this axis is needed. */
INLINE real body_first(const joint *j, motion m) {
    if (j->prismatic)
        return real_mul(j->m, m.sdd.z);
    const vec r = vec_make(j->s.x, j->s.y, real_known(0));
    const sym J = {.xx = j->ga.J.xx,
                   .yy = j->ga.J.yy,
                   .zz = real_known(0),
                   .xy = real_known(0),
                   .yz = real_known(0),
                   .xz = real_known(0)};
    const vec sdd = vec_make(m.sdd.x, m.sdd.y, real_known(0));
    vec f = vec_scale(j->m, vec_add(sdd, omega_mul(m.Omega, r)));
    return omega_euler_add_cross(m.Omega, J, r, f).z;
}

/* Steps 1 and 2 for every link except the first; results go to `link`. */
INLINE motion link_out(uint32_t i, const joint *j, motion up, real q, real qd, real qdd,
                       ga_link *link) {
    frame A = frame_at(j, q);
    motion m = outward(i, j, A, up, qd, qdd);
    body(i, j, m, link);
    link->z = A.z;
    link->d = A.p.z;
    return m;
}

/* Steps 1 and 2 for all links. Returns what the first link alone adds to the torque of joint 1; the
 * results of the other links go to `link`. qdd is NULL where all accelerations are zero; the compiler knows this
 * at each call. */
INLINE real all_out(const arm *a, ga_link *link, const real q[], const real qd[],
                    const real qdd[]) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;

    /* The base is at rest, and the first link can only turn about z or not at all: the compiler
     * knows these zeros, so that the first two links are cheap. */
    const real none = real_known(0);
    motion m = outward(0, j, frame_first(j, q[0]), at_rest(a), qd[0], qdd ? qdd[0] : none);
    const real own = body_first(j, m);
    if (last == 0)
        return own;
    m = link_out(1, &j[1], m, q[1], qd[1], qdd ? qdd[1] : none, &link[1]);
    for (uint32_t i = 2; i <= last; i++)
        m = link_out(i, &j[i], carried(m), q[i], qd[i], qdd ? qdd[i] : none, &link[i]);
    return own;
}

/* The composite body of a joint, about the origin of its link. */
typedef struct {
    vec phi;
    sym Psi;
} composite;

/* Step 6: the diagonal element of the joint. */
INLINE real diagonal(const joint *j, composite c) {
    return j->prismatic ? j->ga.M : c.Psi.zz;
}

/* The first half of steps 4 and 5: takes the composite body of joint i+1 to the origin of link i,
 * on half-turned axes. */
INLINE composite shift(const joint *next, frame A, composite c) {
    vec phi = child_to_half(A, vec_to_parent_unit(next, c.phi)), behind = phi;
    if (next->prismatic)
        phi = vec_add(phi, vec_scale(real_shift_mass(next->ga.M, next->mass_shift), A.p));
    sym Psi = sym_turn_back_z(A.z, sym_to_parent_unit(next, c.Psi));
    return (composite){phi, sym_shift(Psi, A.p, behind, phi)};
}

/* The second half of step 5: takes the body to the axes of link i and adds link i. */
INLINE composite step_5(const joint *j, frame A, composite half) {
    return (composite){vec_add(j->ga.gamma, half_to_parent(A, half.phi)),
                       sym_add(j->ga.E, sym_turn_back_x(A.x, half.Psi))};
}

/* The first link needs only Psi(3,3). */
INLINE real step_5_first(const joint *j, frame A, composite c) {
    const joint *next = j + 1;
    if (j->prismatic)
        return j->ga.M;
    vec phi = child_to_half(A, vec_to_parent_unit(next, c.phi)), behind = phi;
    if (next->prismatic)
        phi = vec_add(phi, vec_scale(real_shift_mass(next->ga.M, next->mass_shift), A.p));
    real zz = sym_shift_turn_zz(A, sym_to_parent_unit(next, c.Psi), behind, phi);
    return real_add(j->ga.E.zz, zz);
}

#endif

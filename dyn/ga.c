/*
 * Inverse dynamics `ga`: the Gibbs-Appell equations as V. Mata, S. Provenzano, F. Valero and J. I.
 * Cuadrado give them in "Serial-robot dynamics algorithms for moderately large numbers of joints"
 * (2002), section 4.1, equations (9) to (16).
 *
 * Symbols as in the paper: w, wd angular velocity and acceleration, Omega = wd~ + w~^2 (12), sdd
 * the acceleration of a link's origin, rdd that of its centre of mass, s from one origin to the
 * next, r the centre of mass, J Euler's tensor about it (11), f and t force and moment of a link,
 * phi the forces of all links behind it, chi the moment of it all about its origin.
 *
 * Corrected: the base is accelerated against gravity (printed: with it); (15) and (16) run over one
 * index, chi_j = r~_jj f_j + s~_j,j+1 phi_j + t_j + R_j+1 chi_j+1 with phi_n = 0 and chi_n+1 = 0.
 * Different: prismatic joints are added, by (7e): their axis takes part in sdd, not in w, and
 * tau_j = z_j . (f_j + phi_j); s~ phi is done in the half-turned frame, where s is (a, 0, d).
 *
 * Operations (revolute, n >= 3; test_dyn_ga): 94n - 101 multiplications, 82n - 96 additions; the
 * paper 96n - 101 and 84n - 100. The bias: 94n - 111, 81n - 105; the paper 96n - 108, 83n - 105.
 * Scratch: sizeof(dyn_ga_link) for each joint, 36 bytes in f32 and q31.
 */
#include DYN_REAL_H

#include "dyn/tensor.h"

typedef DYN_T(ga_link) ga_link;

typedef struct {
    vec w, wd, sdd;
    omega Omega;
} motion;

typedef struct {
    vec phi, chi;
} load;

INLINE motion carried(motion m) {
    return (motion){vec_carried(m.w), vec_carried(m.wd), vec_carried(m.sdd),
                    omega_carried(m.Omega)};
}

INLINE motion at_rest(const arm *a) {
    return (motion){vec_zero(), vec_zero(), a->base_acceleration,
                    omega_make(vec_zero(), vec_zero())};
}

/* s_i-1,i on the axes of the link before. */
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

/* Step 2, and what of chi is the link's own. */
INLINE void body(uint32_t i, const joint *j, motion m, ga_link *link) {
    vec rdd = vec_add(m.sdd, omega_mul(m.Omega, j->s));
    vec f = vec_scale(j->m, rdd);                               /* (9) */
    vec chi = omega_euler_add_cross(m.Omega, j->ga.J, j->s, f); /* t of (10), and r~ f */
    NAMED(i, rdd);
    NAMED(i, f);
    link->f = f;
    link->chi = chi;
}

/* The first link turns about z or slides along it, and nobody asks for more than its axis. */
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

/* Step 3: what link j puts on the link before, phi_j-1 and its part of chi_j-1. */
INLINE load inward(const joint *j, const ga_link *link, load here) {
    frame A = frame_again(j, turn_load(&link->z), link->d);
    vec phi = child_to_half(A, vec_to_parent_unit(j, here.phi));
    vec chi = child_to_half(A, vec_to_parent_unit(j, here.chi));
    chi = vec_add_cross(chi, A.p, phi);
    return (load){half_to_parent(A, phi), half_to_parent(A, chi)};
}

/* The same for the first link, of which only the axis is wanted. */
INLINE real inward_first(const joint *first, const joint *j, const ga_link *link, load here) {
    frame A = frame_again(j, turn_load(&link->z), link->d);
    vec phi = child_to_half(A, vec_to_parent_unit(j, here.phi));
    if (first->prismatic)
        return half_to_parent_z(A, phi);
    vec chi = vec_to_parent_unit(j, here.chi);
    chi = vec_make(real_known(0), half_y(A, chi), chi.z);
    return half_to_parent_z(A, vec_add_cross_yz(chi, A.p, phi));
}

/* f_j + phi_j and chi_j. */
INLINE load total(uint32_t i, const ga_link *link, load behind) {
    load here = {vec_add(link->f, behind.phi), vec_add(link->chi, behind.chi)};
    NAMED(i, here.phi);
    NAMED(i, here.chi);
    return here;
}

/* (14) */
INLINE real along_axis(const joint *j, load here) {
    return j->prismatic ? here.phi.z : here.chi.z;
}

/* Steps 1 and 2 for a link that leaves something behind. */
INLINE motion link_out(uint32_t i, const joint *j, motion up, real q, real qd, real qdd,
                       ga_link *link) {
    frame A = frame_at(j, q);
    motion m = outward(i, j, A, up, qd, qdd);
    body(i, j, m, link);
    link->z = A.z;
    link->d = A.p.z;
    return m;
}

/* qdd is NULL where all accelerations are zero, known when this is compiled. */
INLINE void inverse(const arm *a, ga_link *link, const real q[], const real qd[], const real qdd[],
                    real tau[]) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;

    /* The base rests, and link 1 can only turn about z: their zeros are known when this is
     * compiled, so that the first two links are cheap. */
    const real none = real_known(0);
    motion m = outward(0, j, frame_first(j, q[0]), at_rest(a), qd[0], qdd ? qdd[0] : none);
    tau[0] = body_first(j, m);
    NAMED(0, tau[0]);
    if (last == 0)
        return;
    m = link_out(1, &j[1], m, q[1], qd[1], qdd ? qdd[1] : none, &link[1]);
    for (uint32_t i = 2; i <= last; i++)
        m = link_out(i, &j[i], carried(m), q[i], qd[i], qdd ? qdd[i] : none, &link[i]);

    load here = {link[last].f, link[last].chi};
    for (uint32_t i = last; i > 0; i--) {
        tau[i] = along_axis(&j[i], here);
        NAMED(i, tau[i]);
        if (i == 1)
            break;
        here = total(i - 1, &link[i - 1], inward(&j[i], &link[i], here));
    }
    tau[0] = real_add(tau[0], inward_first(&j[0], &j[1], &link[1], here));
    NAMED(0, tau[0]);
}

void DYN(ga_inverse)(const arm *a, DYN_T(ga_scratch) *scratch, const real q[], const real qd[],
                     const real qdd[], real tau[]) {
    inverse(a, scratch->link, q, qd, qdd, tau);
}

void DYN(ga_bias)(const arm *a, DYN_T(ga_scratch) *scratch, const real q[], const real qd[],
                  real tau[]) {
    inverse(a, scratch->link, q, qd, NULL, tau);
}

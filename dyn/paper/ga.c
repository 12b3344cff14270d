/*
 * Inverse dynamics `ga`: the Gibbs-Appell equations as V. Mata, S. Provenzano, F. Valero and J. I.
 * Cuadrado give them in "Serial-robot dynamics algorithms for moderately large numbers of joints"
 * (2002), section 4.1, equations (9) to (16).
 *
 * Symbols as in the paper: w, wd are angular velocity and acceleration, Omega = wd~ + w~^2 (12),
 * sdd the acceleration of a link's origin, rdd that of its centre of mass, s from one origin to the
 * next, r the centre of mass, J Euler's tensor about it (11), f and t force and moment of a link,
 * phi the force of all later links, chi the moment of the link and all later links about the link's
 * origin.
 *
 * Corrected: the base is accelerated against gravity (printed: with it); (15) and (16) run over one
 * index, chi_j = r~_jj f_j + s~_j,j+1 phi_j + t_j + R_j+1 chi_j+1 with phi_n = 0 and chi_n+1 = 0.
 * Different: prismatic joints are added, by (7e): their axis enters sdd, not w, and tau_j = z_j .
 * (f_j + phi_j); s~ phi is done in the half-turned frame, where s is (a, 0, d).
 *
 * Operations (revolute, n >= 3; test_dyn_ga): 94n - 101 multiplications, 82n - 96 additions; the
 * paper 96n - 101 and 84n - 100. The bias: 94n - 111, 81n - 105; the paper 96n - 108, 83n - 105.
 * Scratch: sizeof(dyn_ga_link) for each joint, 36 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/ga.h"

typedef struct {
    vec phi, chi;
} load;

/* Step 3: returns the load of link j on its parent: phi_j-1 and its part of chi_j-1. */
INLINE load inward(const joint *j, const ga_link *link, load here) {
    frame A = frame_again(j, turn_load(&link->z), link->d);
    vec phi = child_to_half(A, vec_to_parent_unit(j, here.phi));
    vec chi = child_to_half(A, vec_to_parent_unit(j, here.chi));
    chi = vec_add_cross(chi, A.p, phi);
    return (load){half_to_parent(A, phi), half_to_parent(A, chi)};
}

/* The same for a parent that is the first link, where only the component on the axis is needed. */
INLINE real inward_first(const joint *first, const joint *j, const ga_link *link, load here) {
    frame A = frame_again(j, turn_load(&link->z), link->d);
    vec phi = child_to_half(A, vec_to_parent_unit(j, here.phi));
    if (first->prismatic)
        return half_to_parent_z(A, phi);
    vec chi = vec_to_parent_unit(j, here.chi);
    chi = vec_make(real_known(0), half_y(A, chi), chi.z);
    return half_to_parent_z(A, vec_add_cross_yz(chi, A.p, phi));
}

/* Returns f_j + phi_j and chi_j. */
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

/* qdd is NULL where all accelerations are zero; the compiler knows this at each call. */
INLINE void inverse(const arm *a, ga_link *link, const real q[], const real qd[], const real qdd[],
                    real tau[]) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;
    tau[0] = all_out(a, link, q, qd, qdd);
    NAMED(0, tau[0]);
    if (last == 0)
        return;
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

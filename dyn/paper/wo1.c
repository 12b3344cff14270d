/*
 * Inertia matrix `wo1`: the first method of Walker and Orin. Column j of the matrix is the torque
 * of inverse dynamics when joint j has unit acceleration, all others rest and there is no gravity
 * (N. M. Swartz, "Arm Dynamics Simulation", 1982, Calculating the H matrix). It is slow, but needs
 * nothing except `ne`.
 *
 * The steps are those of dyn/paper/ne.c with its symbols; the compiler knows that the velocities
 * are zero. Links before j do not move, and by symmetry only the torques of joints from j on are
 * needed, so that both passes of column j run from joint j on.
 *
 * Operations (revolute, n >= 2; test_dyn_crba): 32n^2 - 37n + 11 multiplications, 24n^2 - 31n + 11
 * additions.
 * Scratch: that of `ne`, 36 bytes for each joint in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/newton.h"

/* (2) and (4): returns the motion of link i without velocities. */
INLINE motion carried(const joint *j, const ne_link *link, motion up) {
    const frame A = frame_again(j, turn_load(&link->z), link->d);
    vec wd = parent_to_half(A, up.wd);
    vec vd = vec_add_cross(parent_to_half(A, up.vd), wd, A.p);
    return (motion){vec_zero(), half_to_child(A, wd), half_to_child(A, vd)};
}

/* (5) to (7): stores the load of link i without velocities, and its own part of (9). */
INLINE void own_load(uint32_t i, const joint *j, motion m, ne_link *link) {
    vec F = vec_scale(j->m, vec_add_cross(m.vd, m.wd, j->s));
    NAMED(i, F);
    link->F = F;
    link->n = vec_add_cross(sym_mul(j->J, m.wd), j->s, F);
}

/* Computes the torques of joint `first` and all later joints when joint `first` gives its link the
 * motion m. The compiler knows the zeros of m. */
INLINE void column(const arm *a, ne_link *link, uint32_t first, motion m, real M[]) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;
    unsigned unit = 0; /* q31: difference in bits between the mass units of link i and link
                        * `first` */
    own_load(first, &j[first], m, &link[first]);
    if (first < last) {
        m = carried(&j[first + 1], &link[first + 1], m);
        m = (motion){vec_zero(), vec_merged(m.wd), vec_merged(m.vd)};
        own_load(first + 1, &j[first + 1], m, &link[first + 1]);
    }
    for (uint32_t i = first + 1; i <= last; i++)
        unit += j[i].mass_shift;
    for (uint32_t i = first + 2; i <= last; i++) {
        m = carried(&j[i], &link[i], m);
        own_load(i, &j[i], m, &link[i]);
    }
    load here = {link[last].F, link[last].n};
    for (uint32_t i = last; i > first; i--) {
        M[i * (i + 1) / 2 + first] = real_shift_mass(along_axis(&j[i], here), unit);
        unit -= j[i].mass_shift;
        here = total(i - 1, &link[i - 1], inward(&j[i], &link[i], here));
    }
    M[first * (first + 3) / 2] = along_axis(&j[first], here);
}

void DYN(wo1_mass)(const arm *a, ne_scratch *scratch, const real q[], real M[]) {
    const joint *j = a->joint;
    const vec axis = vec_z(real_known(1));
    ne_link *link = scratch->link;
    for (uint32_t i = 1; i < a->n; i++) {
        const frame A = frame_at(&j[i], q[i]);
        link[i].z = A.z;
        link[i].d = A.p.z;
    }
    for (uint32_t i = 0; i < a->n; i++)
        if (j[i].prismatic)
            column(a, link, i, (motion){vec_zero(), vec_zero(), axis}, M);
        else
            column(a, link, i, (motion){vec_zero(), axis, vec_zero()}, M);
}

/*
 * Inertia matrix `crba`: composite rigid bodies, the third method of Walker and Orin as N. M.
 * Swartz gives it in "Arm Dynamics Simulation" (1982), equations (16) to (26).
 *
 * Symbols: M, c, E are mass, centre and inertia of the body that moves with joint j, links j to N;
 * f and n are force and moment that link i - 1 exerts on link i when joint j has unit acceleration
 * and all other joints rest.
 *
 * Different from the paper: frames are modified Denavit-Hartenberg, so that the axis of joint j
 * goes through the origin of frame j and (19) to (23) hold without p. A composite body keeps M c
 * and its inertia about the origin of its frame in place of c and E about c: (17) needs no
 * division, which fails for massless links, and (19) to (23) are components of the stored
 * quantities. Prismatic joints are added. Corrected: in appendix (19), (20), (23), (26) the axis is
 * A_j^(j-1) Z, here Z itself; in (24) the distance is p_i; (21) and (23) run over all joints.
 *
 * Operations (revolute, n >= 2; test_dyn_crba): 10n^2 + 19n - 29 multiplications, 6n^2 + 33n - 39
 * additions; Walker and Orin 12n^2 + 56n - 27 and 7n^2 + 67n - 56.
 * Scratch: sizeof(dyn_crba_link) for each joint, 12 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/composite.h"

typedef DYN_T(crba_link) crba_link;

INLINE frame frame_of(const joint *j, const crba_link *link) {
    return frame_again(j, turn_load(&link->z), link->d);
}

/* (24) and (25): returns the load of link i on its parent, about the parent's origin. */
INLINE load step_inward(const joint *j, const crba_link *link, load here) {
    const frame A = frame_of(j, link);
    vec f = child_to_half(A, vec_to_parent_unit(j, here.f));
    vec n = child_to_half(A, vec_to_parent_unit(j, here.n));
    n = vec_add_cross(n, A.p, f);
    return (load){half_to_parent(A, f), half_to_parent(A, n)};
}

/* Computes the elements of row i left of column k, from the load at link k >= 1. */
INLINE void row_left(const joint *j, const crba_link *link, uint32_t k, load here, real Mi[]) {
    for (; k > 1; k--) {
        here = step_inward(&j[k], &link[k], here);
        Mi[k - 1] = along_axis(&j[k - 1], here);
    }
    Mi[0] = along_axis(&j[0], step_inward(&j[1], &link[1], here));
}

/* Computes row i >= 2. The first step inwards uses the known zeros of the load. */
INLINE void matrix_row(const joint *j, const crba_link *link, uint32_t i, body b, real Mi[]) {
    load here;
    if (j[i].prismatic) {
        Mi[i] = b.m;
        here = step_inward(&j[i], &link[i], prismatic(b));
    } else {
        Mi[i] = b.I.zz;
        here = step_inward(&j[i], &link[i], turning(b));
    }
    here = (load){vec_merged(here.f), vec_merged(here.n)};
    Mi[i - 1] = along_axis(&j[i - 1], here);
    row_left(j, link, i - 1, here, Mi);
}

void DYN(crba_mass)(const arm *a, DYN_T(crba_scratch) *scratch, const real q[], real M[]) {
    const joint *j = a->joint;
    crba_link *link = scratch->link;
    for (uint32_t i = 1; i < a->n; i++) {
        const frame A = frame_at(&j[i], q[i]);
        link[i].z = A.z;
        link[i].d = A.p.z;
    }
    uint32_t i = a->n - 1;
    body b = link_body(&j[i]);
    real *Mi = M + i * (i + 1) / 2;
    for (; i > 1; i--) {
        matrix_row(j, link, i, b, Mi);
        const frame A = frame_of(&j[i], &link[i]);
        b = join(&j[i - 1], A, carried(&j[i], A, b));
        Mi -= i;
    }
    /* The first two links need only the components on the axes; the compiler drops the rest. */
    if (i == 1) {
        if (j[1].prismatic) {
            M[2] = b.m;
            M[1] = along_axis(&j[0], step_inward(&j[1], &link[1], prismatic(b)));
        } else {
            M[2] = b.I.zz;
            M[1] = along_axis(&j[0], step_inward(&j[1], &link[1], turning(b)));
        }
        const frame A = frame_of(&j[1], &link[1]);
        b = join(&j[0], A, carried(&j[1], A, b));
    }
    M[0] = j->prismatic ? b.m : b.I.zz;
}

/* Composite rigid bodies, for dyn/paper/crba.c, whose header explains symbols and equation numbers,
 * and for dyn/paper/crba_forward.c. */
#ifndef DYN_PAPER_COMPOSITE_H
#define DYN_PAPER_COMPOSITE_H

#include "dyn/paper/newton.h"

typedef struct {
    real m; /* mass M */
    vec h;  /* first moment M c */
    sym I;  /* inertia about the origin */
} body;

INLINE body link_body(const joint *j) {
    return (body){j->m, j->ms, j->I};
}

/* The composite body of link `next` on the half-turned axes, about the origin of its parent. When
 * the reference point moves by p = (a, 0, d), an inertia grows by p.u 1 - (p u^T + u p^T) / 2,
 * where u is the sum of the first moments before and after. */
INLINE body carried(const joint *next, frame A, body b) {
    real m = real_shift_mass(b.m, next->mass_shift);
    vec h = child_to_half(A, vec_to_parent_unit(next, b.h));
    sym I = sym_turn_back_z(A.z, sym_to_parent_unit(next, b.I));
    real hx = acc_round(acc_mac(acc_mul(h.x, real_known(1)), m, A.p.x));
    real hz = acc_round(acc_mac(acc_mul(h.z, real_known(1)), m, A.p.z));
    real ax = real_mul(A.p.x, real_add(h.x, hx));
    real dz = real_mul(A.p.z, real_add(h.z, hz));
    I.xx = real_add(I.xx, dz);
    I.yy = real_add(I.yy, real_add(ax, dz));
    I.zz = real_add(I.zz, ax);
    I.xy = real_sub(I.xy, real_mul(A.p.x, h.y));
    I.yz = real_sub(I.yz, real_mul(A.p.z, h.y));
    I.xz = real_sub(I.xz, acc_round(acc_mac(acc_mul(A.p.x, h.z), A.p.z, hx)));
    return (body){m, vec_make(hx, h.y, hz), I};
}

/* (16) to (18): joins a link with the body that it carries. */
INLINE body join(const joint *j, frame A, body half) {
    body own = link_body(j);
    return (body){real_add(own.m, half.m), vec_add(own.h, half_to_parent(A, half.h)),
                  sym_add(own.I, sym_turn_back_x(A.x, half.I))};
}

/* (19) to (23): returns the load for a unit acceleration of the composite body b by a revolute
 * joint. */
INLINE load turning(body b) {
    return (load){vec_make(real_neg(b.h.y), b.h.x, real_known(0)),
                  vec_make(b.I.xz, b.I.yz, b.I.zz)};
}

/* The same for a prismatic joint. */
INLINE load prismatic(body b) {
    return (load){vec_z(b.m), vec_make(b.h.y, real_neg(b.h.x), real_known(0))};
}

#endif

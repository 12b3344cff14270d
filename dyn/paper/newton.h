/* The steps of the Newton-Euler recursion, for dyn/paper/ne.c, whose header explains the symbols
 * and the equation numbers, and for dyn/paper/wo1.c, which runs them with known zeros. */
#ifndef DYN_PAPER_NEWTON_H
#define DYN_PAPER_NEWTON_H

#include "dyn/number/real.h"

typedef DYN_T(ne_link) ne_link;
typedef DYN_T(ne_scratch) ne_scratch;

typedef struct {
    vec w, wd, vd;
} motion;

typedef struct {
    vec f, n;
} load;

/* (1) to (7) for link i, from the motion of its parent in `up`. */
INLINE motion outward(uint32_t i, const joint *j, frame A, motion up, real qd, real qdd,
                      ne_link *link) {
    motion m;
    vec w = parent_to_half(A, up.w);
    vec wd = parent_to_half(A, up.wd);
    vec vd = parent_to_half(A, up.vd);
    /* (4) A (vd + wd x p + w x (w x p)). The paper computes the same on the axes of the child. */
    vd = vec_add_cross2(vd, wd, A.p, w, vec_cross(w, A.p));
    m.w = half_to_child(A, w);
    m.wd = half_to_child(A, wd);
    m.vd = half_to_child(A, vd);

    if (j->prismatic) {
        /* (4) ... + Z qdd + 2 w x Z qd: the Coriolis term that the paper leaves out. */
        m.vd = vec_add_cross(vec_add(m.vd, vec_z(qdd)), m.w, vec_z(real_add(qd, qd)));
    } else {
        /* (2) A wd + Z qdd + A w x Z qd, then (1) A w + Z qd */
        m.wd = vec_add_cross(vec_add(m.wd, vec_z(qdd)), m.w, vec_z(qd));
        m.w = vec_add(m.w, vec_z(qd));
    }
    NAMED(i, m.w);
    NAMED(i, m.wd);
    NAMED(i, m.vd);

    /* (5) wd x s + w x (w x s) + vd, (6) m vs, (7) J wd + w x J w */
    vec vs = vec_add_cross2(m.vd, m.wd, j->s, m.w, vec_cross(m.w, j->s));
    vec F = vec_scale(j->m, vs);
    vec N = sym_euler(j->J, m.wd, m.w);
    NAMED(i, vs);
    NAMED(i, F);
    NAMED(i, N);

    link->z = A.z;
    link->d = A.p.z;
    link->F = F;
    link->n = vec_add_cross(N, j->s, F); /* (9) the link's own part: N + s x F */
    return m;
}

/* (8) and (9) for link i; `down` is the load that the next link exerts on it. */
INLINE load total(uint32_t i, const ne_link *link, load down) {
    load here = {vec_add(link->F, down.f), vec_add(link->n, down.n)};
    NAMED(i, here.f);
    NAMED(i, here.n);
    return here;
}

/* (10) */
INLINE real along_axis(const joint *j, load here) {
    return j->prismatic ? here.f.z : here.n.z;
}

/* Returns the part of the parent's (8) and (9) that comes from this link: A f and A n + p x A f, at
 * the parent's origin. */
INLINE load inward(const joint *j, const ne_link *link, load here) {
    frame A = frame_again(j, turn_load(&link->z), link->d);
    vec f = child_to_half(A, vec_to_parent_unit(j, here.f));
    vec n = child_to_half(A, vec_to_parent_unit(j, here.n));
    n = vec_add_cross(n, A.p, f);
    return (load){half_to_parent(A, f), half_to_parent(A, n)};
}

#endif

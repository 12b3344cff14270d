/*
 * Shared by the kernels dyn/kernel/fast.c and dyn/kernel/fast_mass.c: the frames of the
 * regrouped links (dyn/model/pseudo_inertia.h). These frames have the axes of the model's frames,
 * but the origin of a revolute link lies where the common normal from the parent meets the link's
 * axis. On the parent's axes the vector to this origin is p = (a, 0, rise): it has no y component,
 * so no half-turned frame is needed.
 *
 * Every inner function takes the type of its joint as a constant: the compiler makes branch-free
 * code for each type, and a pass branches once for each link.
 */
#ifndef DYN_KERNEL_FAST_H
#define DYN_KERNEL_FAST_H

#include "dyn/number/tensor.h"

typedef DYN_T(fast_link) fast_link;

/* Arms whose joints are all revolute have their own instance of the code, without branches on the
 * type of a joint. On the Cortex-M4F with the PUMA 560 it saves 70 of 1,216 instructions in inverse
 * dynamics and 107 of 1,190 in the inertia matrix, and costs 4.5 KB of code (16.5 instead of 12 KB
 * for all kernels of this method; gcc 12.2 -O2). With DYN_FAST_SMALL there is no such instance, and
 * every arm runs the code for mixed joints. */
#ifdef DYN_FAST_SMALL
#define FAST_MIXED(arm) ((void)(arm), true)
#else
#define FAST_MIXED(arm) ((arm)->mixed)
#endif

INLINE bool prismatic_at(bool mixed, const joint *j) {
    return mixed && j->prismatic;
}

/* Returns the frame of a joint with p on the axes of the parent link. */
INLINE frame fast_frame(const joint *j, bool prismatic, turn z, real d, real rise) {
    turn x = turn_load(&j->x);
    vec p = vec_make(j->a, real_known(0), rise);
    if (prismatic)
        p = vec_add(p, vec_turn_back_x(x, vec_z(d)));
    return (frame){.x = x, .z = z, .p = p};
}

/* Stores the joint's rotation z and displacement d at q in `link`; the inward pass needs them
 * again. */
INLINE void fast_place(const joint *j, bool prismatic, real q, fast_link *link) {
    if (prismatic) {
        link->z = turn_load(&j->fixed_z);
        link->d = real_add(j->offset, q);
    } else {
        real_sincos(q, j->offset, &link->z.c, &link->z.s);
    }
}

INLINE frame fast_again(const joint *j, bool prismatic, const fast_link *link) {
    return fast_frame(j, prismatic, turn_load(&link->z), prismatic ? link->d : real_known(0),
                      j->fast.rise);
}

/* Returns the frame of the second joint. The first joint has no d, and its link has no rise. */
INLINE frame fast_second(const joint *j, bool prismatic, const fast_link *link) {
    return fast_frame(j, prismatic, turn_load(&link->z), prismatic ? link->d : real_known(0),
                      real_known(0));
}

/* Returns the first moment of a link. Its z component is zero for a revolute link, because it was
 * regrouped into the parent. */
INLINE vec fast_l(const joint *j, bool prismatic) {
    return vec_make(j->fast.l.x, j->fast.l.y, prismatic ? j->fast.l.z : real_known(0));
}

/* Returns Euler's tensor of a link. zz of a revolute link and the whole tensor of a prismatic one
 * are zero, because they were regrouped into the parent. */
INLINE sym fast_J(const joint *j, bool prismatic) {
    const real none = real_known(0);
    const sym *J = &j->fast.J;
    if (prismatic)
        return sym_make(none, none, none, none, none, none);
    return sym_make(J->xx, J->yy, none, J->xy, J->yz, J->xz);
}

#endif

/*
 * What the kernels dyn/kernel/fast.c, dyn/kernel/fast_mass.c and dyn/kernel/fast_forward.c share:
 * the frames of the regrouped links (dyn/model/pseudo_inertia.h). They have the axes of the model's
 * frames, but the origin of a revolute link lies where the arm before it arrives, so that on the
 * axes of the link before the vector to it is p = (a, 0, rise): no y, and no half-turned frame
 * needed for that.
 *
 * Every inner function takes the type of its joint as a constant: for each type the compiler makes
 * one straight line, and a link costs one branch.
 */
#ifndef DYN_KERNEL_FAST_H
#define DYN_KERNEL_FAST_H

#include "dyn/number/tensor.h"

typedef DYN_T(fast_link) fast_link;

/* An instance of its own for arms whose joints all turn saves the branches: on the Cortex-M4F, PUMA
 * 560, 70 of 1,216 instructions of inverse dynamics and 107 of 1,190 of the inertia matrix, for 4.5
 * KB of code (16.5 instead of 12 KB for all kernels of this method; gcc 12.2 -O2). Without it
 * (DYN_FAST_SMALL) every arm is taken for a mixed one. */
#ifdef DYN_FAST_SMALL
#define FAST_MIXED(arm) ((void)(arm), true)
#else
#define FAST_MIXED(arm) ((arm)->mixed)
#endif

INLINE bool prismatic_at(bool mixed, const joint *j) {
    return mixed && j->prismatic;
}

/* A frame whose p is on the axes of the link before. */
INLINE frame fast_frame(const joint *j, bool prismatic, turn z, real d, real rise) {
    turn x = turn_load(&j->x);
    vec p = vec_make(j->a, real_known(0), rise);
    if (prismatic)
        p = vec_add(p, vec_turn_back_x(x, vec_z(d)));
    return (frame){.x = x, .z = z, .p = p};
}

/* Where the joint stands; z and d are kept for the way back. */
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

/* The second joint: the first has no d, and its link no rise. */
INLINE frame fast_second(const joint *j, bool prismatic, const fast_link *link) {
    return fast_frame(j, prismatic, turn_load(&link->z), prismatic ? link->d : real_known(0),
                      real_known(0));
}

/* First moment without the z that a revolute link has given away. */
INLINE vec fast_l(const joint *j, bool prismatic) {
    return vec_make(j->fast.l.x, j->fast.l.y, prismatic ? j->fast.l.z : real_known(0));
}

/* Euler's tensor without the zz that a revolute link has given away; a prismatic one has none. */
INLINE sym fast_J(const joint *j, bool prismatic) {
    const real none = real_known(0);
    const sym *J = &j->fast.J;
    if (prismatic)
        return sym_make(none, none, none, none, none, none);
    return sym_make(J->xx, J->yy, none, J->xy, J->yz, J->xz);
}

#endif

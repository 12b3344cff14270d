/* Vocabulary of dyn/kernel/kinematics.c and dyn/kernel/wrench.c: constant poses (base and tool)
 * with the rotation in the format of a plane rotation, and products with unit vectors in that
 * format. */
#ifndef DYN_NUMBER_RIGID_H
#define DYN_NUMBER_RIGID_H

#include "dyn/number/real.h"

typedef DYN_T(pose) pose;

INLINE vec pose_column(const pose *T, int k) {
    return vec_make(T->r[0][k], T->r[1][k], T->r[2][k]);
}

INLINE vec pose_origin(const pose *T) {
    return vec_make(T->p[0], T->p[1], T->p[2]);
}

INLINE real turn_dot(const real u[3], vec a) {
    return turn_round(turn_mac(turn_mac(turn_mul(u[0], a.x), u[1], a.y), u[2], a.z));
}

/* R a, with R the rotation of T: 9M 6A. */
INLINE vec pose_turn(const pose *T, vec a) {
    return vec_make(turn_dot(T->r[0], a), turn_dot(T->r[1], a), turn_dot(T->r[2], a));
}

/* u x a, where u is a unit vector in the format of a turn. */
INLINE vec turn_cross(vec u, vec a) {
    return vec_make(turn_round(turn_msub(turn_mul(u.y, a.z), u.z, a.y)),
                    turn_round(turn_msub(turn_mul(u.z, a.x), u.x, a.z)),
                    turn_round(turn_msub(turn_mul(u.x, a.y), u.y, a.x)));
}

#endif

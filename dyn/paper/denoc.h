/* Operations that the denoc kernels share: wrenches, cross products with the joint axis, and 3x3
 * matrices with their change of axes. The header of dyn/paper/denoc.c explains the symbols. */
#ifndef DYN_PAPER_DENOC_H
#define DYN_PAPER_DENOC_H

#include "dyn/number/real.h"

/* A wrench w: moment about a point, and force. */
typedef struct {
    vec n, f;
} wrench;

INLINE wrench wrench_add(wrench a, wrench b) {
    return (wrench){vec_add(a.n, b.n), vec_add(a.f, b.f)};
}

INLINE wrench wrench_to_parent_unit(const joint *j, wrench a) {
    return (wrench){vec_to_parent_unit(j, a.n), vec_to_parent_unit(j, a.f)};
}

/* e x a and a x e, where e = (0, 0, 1) is the axis of a joint in its link's frame. */
INLINE vec e_cross(vec a) {
    return vec_make(real_neg(a.y), a.x, real_known(0));
}

INLINE vec cross_e(vec a) {
    return vec_make(a.y, real_neg(a.x), real_known(0));
}

/* A matrix by its rows. */
typedef struct {
    vec x, y, z;
} mat;

INLINE mat mat_add(mat A, mat B) {
    return (mat){vec_add(A.x, B.x), vec_add(A.y, B.y), vec_add(A.z, B.z)};
}

INLINE mat mat_transpose(mat A) {
    return (mat){vec_make(A.x.x, A.y.x, A.z.x), vec_make(A.x.y, A.y.y, A.z.y),
                 vec_make(A.x.z, A.y.z, A.z.z)};
}

INLINE vec mat_column_z(mat A) {
    return vec_make(A.x.z, A.y.z, A.z.z);
}

INLINE mat mat_to_parent_unit(const joint *j, mat A) {
    return (mat){vec_to_parent_unit(j, A.x), vec_to_parent_unit(j, A.y),
                 vec_to_parent_unit(j, A.z)};
}

/* Takes a matrix back to the axes before a turn, R A R^T. In the plane of the turn, its symmetric
 * part turns as in sym_turn_back_x and its skew part does not change. 12M 11A. */
typedef struct {
    real t11, t12, t21, t22;
} square;

INLINE square square_turn_back(turn t, real t11, real t12, real t21, real t22) {
    real k = turn_round(turn_mac(turn_mul(t.s, real_sub(t11, t22)), t.c, real_add(t12, t21)));
    real sk = turn_round(turn_mul(t.s, k)), ck = turn_round(turn_mul(t.c, k));
    return (square){real_sub(t11, sk), real_sub(ck, t21), real_sub(ck, t12), real_add(t22, sk)};
}

#ifndef mat_turn_back_x
INLINE mat mat_turn_back_x(turn t, mat A) {
    square b = square_turn_back(t, A.y.y, A.y.z, A.z.y, A.z.z);
    vec row = vec_turn_back_x(t, A.x);
    vec column = vec_turn_back_x(t, vec_make(A.x.x, A.y.x, A.z.x));
    return (mat){row, vec_make(column.y, b.t11, b.t12), vec_make(column.z, b.t21, b.t22)};
}
#endif

#ifndef mat_turn_back_z
INLINE mat mat_turn_back_z(turn t, mat A) {
    square b = square_turn_back(t, A.x.x, A.x.y, A.y.x, A.y.y);
    vec row = vec_turn_back_z(t, A.z);
    vec column = vec_turn_back_z(t, mat_column_z(A));
    return (mat){vec_make(b.t11, b.t12, column.x), vec_make(b.t21, b.t22, column.y), row};
}
#endif

#endif

/* Vocabulary of the Gibbs-Appell kernels: the acceleration tensor Omega = wd~ + w~^2 of a
 * rotating body and its products with Euler's tensor J. A body that rotates with w and wd gives
 * the point r the acceleration Omega r, and its moment is the vector of the skew tensor Omega J
 * - (Omega J)^T. */
#ifndef DYN_NUMBER_TENSOR_H
#define DYN_NUMBER_TENSOR_H

#include "dyn/number/real.h"

/* Marks a value that is carried round a loop. The compiler does not remember which components are
 * zero in the first round; the backend `count` defines this macro so that it forgets them too. In
 * all other backends the macro does nothing. */
#ifndef real_carried
#define real_carried(a) (a)
#define vec_carried(a)  (a) /* keeps the vector whole: `range` stores its norm */
#define sym_carried(a)  (a)
#else
INLINE vec vec_carried(vec a) {
    return vec_make(real_carried(a.x), real_carried(a.y), real_carried(a.z));
}

INLINE sym sym_carried(sym a) {
    return (sym){real_carried(a.xx), real_carried(a.yy), real_carried(a.zz),
                 real_carried(a.xy), real_carried(a.yz), real_carried(a.xz)};
}
#endif

/* The tensor Omega by row and column. xx, yy and zz are the negated diagonal elements; x2, y2 and
 * z2 are the squares of w, which the diagonal consists of. */
#ifndef omega_make
typedef struct {
    real xx, yy, zz, xy, yx, yz, zy, zx, xz;
    real x2, y2, z2;
} omega;

/* 6M 9A */
INLINE omega omega_make(vec w, vec wd) {
    omega o;
    real xy = real_mul(w.x, w.y), yz = real_mul(w.y, w.z), zx = real_mul(w.z, w.x);
    o.x2 = real_mul(w.x, w.x);
    o.y2 = real_mul(w.y, w.y);
    o.z2 = real_mul(w.z, w.z);
    o.xx = real_add(o.y2, o.z2);
    o.yy = real_add(o.z2, o.x2);
    o.zz = real_add(o.x2, o.y2);
    o.xy = real_sub(xy, wd.z);
    o.yx = real_add(xy, wd.z);
    o.yz = real_sub(yz, wd.x);
    o.zy = real_add(yz, wd.x);
    o.zx = real_sub(zx, wd.y);
    o.xz = real_add(zx, wd.y);
    return o;
}

INLINE omega omega_carried(omega o) {
    o.xx = real_carried(o.xx);
    o.yy = real_carried(o.yy);
    o.zz = real_carried(o.zz);
    o.xy = real_carried(o.xy);
    o.yx = real_carried(o.yx);
    o.yz = real_carried(o.yz);
    o.zy = real_carried(o.zy);
    o.zx = real_carried(o.zx);
    o.xz = real_carried(o.xz);
    return o;
}

/* Omega r: 9M 6A */
INLINE vec omega_mul(omega o, vec r) {
    return vec_make(acc_round(acc_msub(acc_mac(acc_mul(o.xy, r.y), o.xz, r.z), o.xx, r.x)),
                    acc_round(acc_msub(acc_mac(acc_mul(o.yx, r.x), o.yz, r.z), o.yy, r.y)),
                    acc_round(acc_msub(acc_mac(acc_mul(o.zx, r.x), o.zy, r.y), o.zz, r.z)));
}

/* The vector of Omega J - (Omega J)^T, (10) of Mata et al., plus a x b: 15M 15A and 6M 6A. */
INLINE real omega_euler_part(real zx, real xy, real zy, real yy, real yx, real xz, real yz, real zz,
                             real z2_y2, real J_yz, real ay, real bz, real az, real by) {
    acc sum = acc_mac(acc_mul(zx, xy), zy, yy);
    sum = acc_msub(acc_msub(sum, yx, xz), yz, zz);
    sum = acc_mac(sum, z2_y2, J_yz);
    return acc_round(acc_msub(acc_mac(sum, ay, bz), az, by));
}

INLINE vec omega_euler_add_cross(omega o, sym J, vec a, vec b) {
    return vec_make(omega_euler_part(o.zx, J.xy, o.zy, J.yy, o.yx, J.xz, o.yz, J.zz,
                                     real_sub(o.z2, o.y2), J.yz, a.y, b.z, a.z, b.y),
                    omega_euler_part(o.xy, J.yz, o.xz, J.zz, o.zy, J.xy, o.zx, J.xx,
                                     real_sub(o.x2, o.z2), J.xz, a.z, b.x, a.x, b.z),
                    omega_euler_part(o.yz, J.xz, o.yx, J.xx, o.xz, J.yz, o.xy, J.yy,
                                     real_sub(o.y2, o.x2), J.xy, a.x, b.y, a.y, b.x));
}
#endif

/* Single components of a vector. The first link needs only the component on its axis, and this
 * takes fewer operations than the whole vector with two components unused. */
#ifndef to_parent_y
INLINE real half_y(frame A, vec a) {
    return turn_round(turn_mac(turn_mul(A.z.c, a.y), A.z.s, a.x));
}

INLINE real to_parent_x(frame A, vec a) {
    return turn_round(turn_msub(turn_mul(A.z.c, a.x), A.z.s, a.y));
}

INLINE real to_parent_y(frame A, vec a) {
    return turn_round(turn_msub(turn_mul(A.x.c, half_y(A, a)), A.x.s, a.z));
}

INLINE real to_parent_z(frame A, vec a) {
    return turn_round(turn_mac(turn_mul(A.x.c, a.z), A.x.s, half_y(A, a)));
}

INLINE real half_to_parent_z(frame A, vec a) {
    return turn_round(turn_mac(turn_mul(A.x.c, a.z), A.x.s, a.y));
}
#endif

/* Returns xx + yy of R T R^T in 9M 12A. The second turn is about x and does not change xx. */
#ifndef sym_to_parent_xx_yy
INLINE real sym_to_parent_xx_yy(frame A, sym T) {
    block b = block_turn_back(A.z, T.xx, T.yy, T.xy);
    real yz = turn_round(turn_mac(turn_mul(A.z.c, T.yz), A.z.s, T.xz));
    real k = turn_round(turn_mac(turn_mul(A.x.s, real_sub(b.t22, T.zz)), A.x.c, real_add(yz, yz)));
    return real_sub(real_add(b.t11, b.t22), turn_round(turn_mul(A.x.s, k)));
}
#endif

/* The axis of a joint is u = (0, -s, c) on the axes of the parent link. axis_scale returns k u;
 * axis_cross returns u x a in 4M 1A. */
INLINE vec axis_scale(turn x, real k) {
    return vec_make(real_known(0), real_neg(turn_round(turn_mul(x.s, k))),
                    turn_round(turn_mul(x.c, k)));
}

INLINE vec axis_cross(turn x, vec a) {
    return vec_make(real_neg(turn_round(turn_mac(turn_mul(x.s, a.z), x.c, a.y))),
                    turn_round(turn_mul(x.c, a.x)), turn_round(turn_mul(x.s, a.x)));
}

/* T + p a^T + b p^T, where the result is symmetric because b is a plus a multiple of p. */
#ifndef sym_add_outer
INLINE sym sym_add_outer(sym T, vec p, vec a, vec b) {
    return (sym){.xx = real_add(T.xx, real_mul(p.x, real_add(a.x, b.x))),
                 .yy = real_add(T.yy, real_mul(p.y, real_add(a.y, b.y))),
                 .zz = real_add(T.zz, real_mul(p.z, real_add(a.z, b.z))),
                 .xy = real_add(T.xy, acc_round(acc_mac(acc_mul(p.x, a.y), b.x, p.y))),
                 .yz = real_add(T.yz, acc_round(acc_mac(acc_mul(p.y, a.z), b.y, p.z))),
                 .xz = real_add(T.xz, acc_round(acc_mac(acc_mul(p.x, a.z), b.x, p.z)))};
}
#endif

/* The same for an inertia T instead of Euler's tensor: T + p.(a + b) 1 - p a^T - b p^T. This is the
 * inertia about a point that is p away; a is the first moment about the old point, b about the new
 * one. */
INLINE sym sym_shift(sym T, vec p, vec a, vec b) {
    real x = real_mul(p.x, real_add(a.x, b.x));
    real y = real_mul(p.y, real_add(a.y, b.y));
    real z = real_mul(p.z, real_add(a.z, b.z));
    return (sym){.xx = real_add(T.xx, real_add(y, z)),
                 .yy = real_add(T.yy, real_add(z, x)),
                 .zz = real_add(T.zz, real_add(x, y)),
                 .xy = real_sub(T.xy, acc_round(acc_mac(acc_mul(p.x, a.y), b.x, p.y))),
                 .yz = real_sub(T.yz, acc_round(acc_mac(acc_mul(p.y, a.z), b.y, p.z))),
                 .xz = real_sub(T.xz, acc_round(acc_mac(acc_mul(p.x, a.z), b.x, p.z)))};
}

/* Returns only zz of sym_shift in the parent's frame, where p is (a, 0, d) and T is still in the
 * child's frame. */
INLINE real sym_shift_turn_zz(frame A, sym T, vec a, vec b) {
    block t = block_turn_back(A.z, T.xx, T.yy, T.xy);
    real yz = turn_round(turn_mac(turn_mul(A.z.c, T.yz), A.z.s, T.xz));
    real x = real_mul(A.p.x, real_add(a.x, b.x)), z = real_mul(A.p.z, real_add(a.z, b.z));
    real yy = real_add(t.t22, real_add(z, x)), zz = real_add(T.zz, x);
    yz = real_sub(yz, real_mul(b.y, A.p.z));
    real k = turn_round(turn_mac(turn_mul(A.x.s, real_sub(yy, zz)), A.x.c, real_add(yz, yz)));
    return real_add(zz, turn_round(turn_mul(A.x.s, k)));
}

/* Returns only yy of sym_shift in the half-turned frame, for a body without mass: its first moment
 * `half` is the same about both points. */
INLINE real sym_shift_half_yy(frame A, sym T, vec half) {
    block t = block_turn_back(A.z, T.xx, T.yy, T.xy);
    real x = real_mul(A.p.x, real_add(half.x, half.x));
    real z = real_mul(A.p.z, real_add(half.z, half.z));
    return real_add(t.t22, real_add(x, z));
}

INLINE real vec_cross_z(vec a, vec b) {
    return acc_round(acc_msub(acc_mul(a.x, b.y), a.y, b.x));
}

/* Returns u + a x b with the x component set to zero. */
INLINE vec vec_add_cross_yz(vec u, vec a, vec b) {
    return vec_make(real_known(0), real_add(u.y, acc_round(acc_msub(acc_mul(a.z, b.x), a.x, b.z))),
                    real_add(u.z, acc_round(acc_msub(acc_mul(a.x, b.y), a.y, b.x))));
}

#ifndef sym_to_parent_unit
INLINE sym sym_to_parent_unit(const joint *j, sym T) {
    const unsigned shift = j->mass_shift;
    return (sym){real_shift_mass(T.xx, shift), real_shift_mass(T.yy, shift),
                 real_shift_mass(T.zz, shift), real_shift_mass(T.xy, shift),
                 real_shift_mass(T.yz, shift), real_shift_mass(T.xz, shift)};
}
#endif

#endif

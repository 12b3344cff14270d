/* Vocabulary of dyn/paper/aba.c: the 3x3 block that couples rotation and translation in an
 * articulated inertia, and the change of frame of the blocks. */
#ifndef DYN_NUMBER_SPATIAL_H
#define DYN_NUMBER_SPATIAL_H

#include "dyn/number/real.h"

typedef struct {
    real xx, xy, xz, yx, yy, yz, zx, zy, zz;
} gen;

/* H + a~, where a~ b = a x b */
#ifndef gen_add_cross
INLINE gen gen_add_cross(gen H, vec a) {
    H.xy = real_sub(H.xy, a.z);
    H.xz = real_add(H.xz, a.y);
    H.yx = real_add(H.yx, a.z);
    H.yz = real_sub(H.yz, a.x);
    H.zx = real_sub(H.zx, a.y);
    H.zy = real_add(H.zy, a.x);
    return H;
}
#endif

#ifndef sym_add_scalar
INLINE sym sym_add_scalar(sym A, real m) {
    A.xx = real_add(A.xx, m);
    A.yy = real_add(A.yy, m);
    A.zz = real_add(A.zz, m);
    return A;
}
#endif

/* A - a b^T, where the result is symmetric because b is a multiple of a. 6M 6A. */
#ifndef sym_sub_outer
INLINE sym sym_sub_outer(sym A, vec a, vec b) {
    return (sym){.xx = real_sub(A.xx, real_mul(a.x, b.x)),
                 .yy = real_sub(A.yy, real_mul(a.y, b.y)),
                 .zz = real_sub(A.zz, real_mul(a.z, b.z)),
                 .xy = real_sub(A.xy, real_mul(a.x, b.y)),
                 .yz = real_sub(A.yz, real_mul(a.y, b.z)),
                 .xz = real_sub(A.xz, real_mul(a.x, b.z))};
}
#endif

#ifndef gen_to_parent_unit
INLINE gen gen_to_parent_unit(const joint *j, gen H) {
    const unsigned k = j->mass_shift;
    return (gen){real_shift_mass(H.xx, k), real_shift_mass(H.xy, k), real_shift_mass(H.xz, k),
                 real_shift_mass(H.yx, k), real_shift_mass(H.yy, k), real_shift_mass(H.yz, k),
                 real_shift_mass(H.zx, k), real_shift_mass(H.zy, k), real_shift_mass(H.zz, k)};
}
#endif

/* Takes H back to the axes before a turn, R H R^T: 12M 11A. In the plane of the turn, with k = s
 * (H11 - H22) + c (H12 + H21): H11 - s k, H22 + s k, c k - H21, c k - H12. */
typedef struct {
    real h11, h22, h12, h21;
} gen_block;

INLINE gen_block gen_block_turn_back(turn t, real h11, real h22, real h12, real h21) {
    real k = turn_round(turn_mac(turn_mul(t.s, real_sub(h11, h22)), t.c, real_add(h12, h21)));
    real sk = turn_round(turn_mul(t.s, k)), ck = turn_round(turn_mul(t.c, k));
    return (gen_block){real_sub(h11, sk), real_add(h22, sk), real_sub(ck, h21), real_sub(ck, h12)};
}

#ifndef gen_turn_back_z
INLINE gen gen_turn_back_z(turn t, gen H) {
    const gen_block b = gen_block_turn_back(t, H.xx, H.yy, H.xy, H.yx);
    return (gen){.xx = b.h11,
                 .xy = b.h12,
                 .xz = turn_round(turn_msub(turn_mul(t.c, H.xz), t.s, H.yz)),
                 .yx = b.h21,
                 .yy = b.h22,
                 .yz = turn_round(turn_mac(turn_mul(t.c, H.yz), t.s, H.xz)),
                 .zx = turn_round(turn_msub(turn_mul(t.c, H.zx), t.s, H.zy)),
                 .zy = turn_round(turn_mac(turn_mul(t.c, H.zy), t.s, H.zx)),
                 .zz = H.zz};
}
#endif

#ifndef gen_turn_back_x
INLINE gen gen_turn_back_x(turn t, gen H) {
    const gen_block b = gen_block_turn_back(t, H.yy, H.zz, H.yz, H.zy);
    return (gen){.xx = H.xx,
                 .xy = turn_round(turn_msub(turn_mul(t.c, H.xy), t.s, H.xz)),
                 .xz = turn_round(turn_mac(turn_mul(t.c, H.xz), t.s, H.xy)),
                 .yx = turn_round(turn_msub(turn_mul(t.c, H.yx), t.s, H.zx)),
                 .yy = b.h11,
                 .yz = b.h12,
                 .zx = turn_round(turn_mac(turn_mul(t.c, H.zx), t.s, H.yx)),
                 .zy = b.h21,
                 .zz = b.h22};
}
#endif

/* H + p~ M for p = (a, 0, d): the coupling block about the origin at -p; 10M 12A. */
#ifndef gen_add_p_cross
INLINE gen gen_add_p_cross(gen H, vec p, sym M) {
    real dxy = real_mul(p.z, M.xy), ayz = real_mul(p.x, M.yz);
    H.xx = real_sub(H.xx, dxy);
    H.xy = real_sub(H.xy, real_mul(p.z, M.yy));
    H.xz = real_sub(H.xz, real_mul(p.z, M.yz));
    H.yx = real_add(H.yx, acc_round(acc_msub(acc_mul(p.z, M.xx), p.x, M.xz)));
    H.yy = real_add(H.yy, real_sub(dxy, ayz));
    H.yz = real_add(H.yz, acc_round(acc_msub(acc_mul(p.z, M.xz), p.x, M.zz)));
    H.zx = real_add(H.zx, real_mul(p.x, M.xy));
    H.zy = real_add(H.zy, real_mul(p.x, M.yy));
    H.zz = real_add(H.zz, ayz);
    return H;
}
#endif

/* A - G p~ - (H p~)^T with G = H + p~ M from above: the rotational block; 10M 16A. */
#ifndef sym_sub_cross_p
INLINE sym sym_sub_cross_p(sym A, gen H, gen G, vec p) {
    const real a = p.x, d = p.z;
    A.xx = real_sub(A.xx, real_mul(d, real_add(G.xy, H.xy)));
    A.yy = real_add(A.yy,
                    acc_round(acc_msub(acc_mul(d, real_add(G.yx, H.yx)), a, real_add(G.yz, H.yz))));
    A.zz = real_add(A.zz, real_mul(a, real_add(G.zy, H.zy)));
    A.xy = real_add(A.xy, acc_round(acc_msub(acc_mul(d, real_sub(G.xx, H.yy)), a, G.xz)));
    A.yz = real_add(A.yz, acc_round(acc_mac(acc_mul(a, real_sub(G.yy, H.zz)), d, H.zx)));
    A.xz = real_add(A.xz, acc_round(acc_msub(acc_mul(a, G.xy), d, H.zy)));
    return A;
}
#endif

#endif

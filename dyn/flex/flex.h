/*
 * What the elastic kernels share: the pose of a link and the bend of its beam (flex_place), and the
 * transformation of vectors, tensors and loads between the frame of a link and the one at the end
 * of its beam. Symbols and equation numbers are those of paper 004, named in
 * dyn/model/flex_model.h.
 *
 * Sums over modes run over the number of modes in the model. Branches depend on that number and on
 * the kind of a mode, never on the state.
 */
#ifndef DYN_FLEX_FLEX_H
#define DYN_FLEX_FLEX_H

#include "dyn/number/gain.h"
#include "dyn/number/tensor.h"

typedef DYN_T(flex) flex;
typedef DYN_T(flex_body) flex_body;
typedef DYN_T(flex_link) flex_link;
typedef DYN_T(flex_scratch) flex_scratch;

/* Converts an angle in radians to the format of real_sincos: in q31 a binary angle. */
#ifndef real_angle
#define real_angle(rad) (rad)
#endif

/* vec_turn_y returns the components of a vector on axes that are turned about y, vec_turn_back_y
 * those on the axes before the turn: 4M 2A. */
#ifndef vec_turn_y
INLINE vec vec_turn_y(turn t, vec a) {
    return vec_make(turn_round(turn_msub(turn_mul(t.c, a.x), t.s, a.z)), a.y,
                    turn_round(turn_mac(turn_mul(t.c, a.z), t.s, a.x)));
}

INLINE vec vec_turn_back_y(turn t, vec a) {
    return vec_make(turn_round(turn_mac(turn_mul(t.c, a.x), t.s, a.z)), a.y,
                    turn_round(turn_msub(turn_mul(t.c, a.z), t.s, a.x)));
}
#endif

INLINE sym sym_turn_back_y(turn t, sym A) {
    block b = block_turn_back(t, A.zz, A.xx, A.xz);
    return sym_make(b.t22, A.yy, b.t11, turn_round(turn_mac(turn_mul(t.c, A.xy), t.s, A.yz)),
                    turn_round(turn_msub(turn_mul(t.c, A.yz), t.s, A.xy)), b.t12);
}

/* Sum of c_k x_k over modes: n multiplications, n - 1 additions. */
INLINE real mode_sum(const real *c, const real *x, uint32_t n) {
    if (n == 0)
        return real_merged(real_known(0));
    acc sum = acc_mul(c[0], x[0]);
    for (uint32_t k = 1; k < n; k++)
        sum = acc_mac(sum, c[k], x[k]);
    return acc_round(sum);
}

/* The amplitudes (or rates) of a link's modes, by kind. */
typedef struct {
    const real *y, *z, *x; /* bending along y, along z; torsion */
} modes;

INLINE modes modes_of(const flex_body *B, const real theta[]) {
    const real *delta = theta + B->at + 1;
    return (modes){delta, delta + B->y, delta + B->y + B->z};
}

INLINE uint32_t torsions(const flex_body *B) {
    return (uint32_t)B->modes - B->y - B->z;
}

/* kind_begin and kind_end bound the modes of the same kind as mode k. Stiffness does not couple
 * different kinds. */
INLINE uint32_t kind_begin(const flex_body *B, uint32_t k) {
    const uint32_t bends = (uint32_t)B->y + B->z;
    return k < B->y ? 0 : k < bends ? B->y : bends;
}

INLINE uint32_t kind_end(const flex_body *B, uint32_t k) {
    const uint32_t bends = (uint32_t)B->y + B->z;
    return k < B->y ? B->y : k < bends ? bends : B->modes;
}

/* Deflection and rotation of the end of the beam by its modes, (60) and (8); their rates, (61) and
 * (64); or their accelerations, (62) and (66). For a load: the forces and moments along these. */
typedef struct {
    real y, z; /* deflection */
    real about_z, about_y, about_x;
} grip;

INLINE grip grip_of(const flex_body *B, modes m) {
    const uint32_t y = B->y, z = B->z, bends = y + z;
    return (grip){mode_sum(B->tip, m.y, y), mode_sum(B->tip + y, m.z, z),
                  mode_sum(B->slope, m.y, y), mode_sum(B->slope + y, m.z, z),
                  mode_sum(B->slope + bends, m.x, torsions(B))};
}

INLINE turn turn_at(real angle, real offset) {
    turn t;
    real_sincos(real_angle(angle), offset, &t.c, &t.s);
    return t;
}

/* Computes B3 and B9 of the bent beam and the shape-weighted first moments of (32) and (33). */
INLINE void bend_inertia(const flex_body *B, modes m, flex_link *link) {
    const uint32_t y = B->y, z = B->z, bends = y + z;
    vec b = B->b;
    sym E = B->E;
    for (uint32_t k = 0; k < bends; k++) {
        link->uy[k] = mode_sum(B->mass[k], m.y, y);
        link->uz[k] = mode_sum(B->mass[k] + y, m.z, z);
    }
    if (y > 0) {
        b = vec_make(b.x, real_add(b.y, mode_sum(B->weight, m.y, y)), b.z);
        E.xy = real_add(E.xy, mode_sum(B->moment, m.y, y));
        E.yy = real_add(E.yy, mode_sum(link->uy, m.y, y));
    }
    if (z > 0) {
        b = vec_make(b.x, b.y, real_add(b.z, mode_sum(B->weight + y, m.z, z)));
        E.xz = real_add(E.xz, mode_sum(B->moment + y, m.z, z));
        E.zz = real_add(E.zz, mode_sum(link->uz + y, m.z, z));
    }
    if (y > 0 && z > 0)
        E.yz = real_add(E.yz, mode_sum(link->uz, m.y, y));
    link->b = b;
    link->E = sym_make(E.xx, E.yy, E.zz, E.xy, E.yz, E.xz);
}

/* Step 1: computes the rotation of the joint and E of (6), combined with alpha of the next
 * joint. */
INLINE void flex_place(const arm *a, const flex *f, uint32_t i, const real theta[],
                       flex_link *link) {
    const joint *j = &a->joint[i];
    const flex_body *B = &f->link[i];
    if (j->prismatic) {
        link->z = turn_load(&j->fixed_z);
        link->d = real_add(j->offset, theta[B->at]);
    } else {
        real_sincos(theta[B->at], j->offset, &link->z.c, &link->z.s);
        link->d = j->fixed_d;
    }
    link->next = turn_load(&B->next);
    link->b = B->b;
    link->E = B->E;
    if (B->modes == 0)
        return;
    const modes m = modes_of(B, theta);
    const grip g = grip_of(B, m);
    link->tip = vec_make(B->l, g.y, g.z);
    if (f->linear) {
        link->theta = vec_make(g.about_x, g.about_y, g.about_z);
    } else {
        if (B->y > 0)
            link->bend_z = turn_at(g.about_z, real_known(0));
        if (B->z > 0)
            link->bend_y = turn_at(g.about_y, real_known(0));
        if (torsions(B) > 0)
            link->next = turn_at(g.about_x, B->next_angle);
    }
    bend_inertia(B, m, link);
}

/* Takes a vector from the axes at the end of the beam, before the turn about x, to the axes of the
 * link. */
INLINE vec end_to_link(const flex *f, const flex_body *B, const flex_link *link, vec a) {
    if (f->linear)
        return vec_add_cross(a, link->theta, a);
    if (B->z > 0)
        a = vec_turn_back_y(turn_load(&link->bend_y), a);
    if (B->y > 0)
        a = vec_turn_back_z(turn_load(&link->bend_z), a);
    return a;
}

/* Force and moment on a link. */
typedef struct {
    vec f, n;
} load;

/* Writes the components of a load at the end of the beam that act on its modes to *g, and returns
 * the same load about the link's origin, (99). */
INLINE load load_from_end(const flex *f, const flex_body *B, const flex_link *link, load end,
                          grip *g) {
    vec n = end.n;
    g->about_x = n.x;
    if (f->linear) {
        n = vec_add_cross(n, link->theta, n);
        g->about_x = n.x;
        g->about_y = n.y;
    } else {
        if (B->z > 0)
            n = vec_turn_back_y(turn_load(&link->bend_y), n);
        g->about_y = n.y;
        if (B->y > 0)
            n = vec_turn_back_z(turn_load(&link->bend_z), n);
    }
    g->about_z = n.z;
    const vec at = end_to_link(f, B, link, end.f);
    g->y = at.y;
    g->z = at.z;
    return (load){at, vec_add_cross(n, link->tip, at)};
}

/* Returns the generalised force on mode k by a load at the end of the beam. */
INLINE real mode_load(const flex_body *B, uint32_t k, grip g) {
    if (k < B->y)
        return acc_round(acc_mac(acc_mul(B->tip[k], g.y), B->slope[k], g.about_z));
    if (k < (uint32_t)B->y + B->z)
        return acc_round(acc_mac(acc_mul(B->tip[k], g.z), B->slope[k], g.about_y));
    return real_mul(B->slope[k], g.about_x);
}

/* Takes a load from link i to the end of its parent, before the turn about x there. */
INLINE load load_inward(const arm *a, const flex *f, const flex_link *link, uint32_t i, load here) {
    const joint *j = &a->joint[i];
    const turn z = turn_load(&link[i].z), x = turn_load(&link[i - 1].next);
    vec force = vec_turn_back_z(z, vec_to_parent_unit(j, here.f));
    vec n = vec_turn_back_z(z, vec_to_parent_unit(j, here.n));
    if (f->link[i - 1].modes > 0)
        n = vec_merged(vec_add_cross(n, vec_z(link[i].d), force));
    else
        n = vec_merged(vec_add_cross(n, frame_p(f->link[i].a, link[i].d), force));
    return (load){vec_turn_back_x(x, force), vec_turn_back_x(x, n)};
}

INLINE real along_axis(const joint *j, load here) {
    return j->prismatic ? here.f.z : here.n.z;
}

#endif

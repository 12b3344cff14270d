/*
 * Elastic links, the inertia matrix I(Theta) of (94): steps 7 to 10 of paper 004
 * (dyn/model/flex_model.h names it), equations (75) to (93).
 *
 * The paper sums over the links after a pair (j, k): sigma, psi, U, gamma, xi, lambda and V are
 * mass, first moment and inertia of those links, kept separately for every pair of frames. Here
 * those links are one body with M, h and I, which grows from the end effector to the base:
 *     lambda = M 1,   gamma + xi = h~,   sigma - psi - U = I
 * about the end of a beam (the paper's k+) or about the origin of a link. A unit acceleration of a
 * mode or a joint needs a force and a moment on that body. Carried to the base, this load gives
 * every element in the row of the matrix: (81) and (85) are `end_column` and `row_left`. The matrix
 * is the paper's, term by term. Terms that several pairs share are computed once, so that the cost
 * is O(n^2) in vectors, while the paper has O(n^2) in 3x3 matrices.
 *
 * Operations: test_flex_backends. No scratch besides the results of flex_place.
 */
#include "dyn/number/real.h"

#include "dyn/flex/flex.h"

typedef struct {
    real M;
    vec h; /* first moment */
    sym I; /* inertia, about the same point */
} body;

/* Returns B9 of (31), computed from Euler's tensor. */
INLINE sym inertia_of(sym E) {
    return sym_make(real_add(E.yy, E.zz), real_add(E.zz, E.xx), real_add(E.xx, E.yy),
                    real_neg(E.xy), real_neg(E.yz), real_neg(E.xz));
}

/* Returns the body about the point at -p instead of the origin. */
INLINE body body_shift(body c, vec p) {
    const vec h = vec_make(acc_round(acc_mac(acc_mul(c.h.x, real_known(1)), c.M, p.x)),
                           acc_round(acc_mac(acc_mul(c.h.y, real_known(1)), c.M, p.y)),
                           acc_round(acc_mac(acc_mul(c.h.z, real_known(1)), c.M, p.z)));
    return (body){c.M, h, sym_shift(c.I, p, c.h, h)};
}

/* Takes the body from the origin of link i to the end of its parent, before the turn about x
 * there. */
INLINE body body_inward(const arm *a, const flex *f, const flex_link *link, uint32_t i, body c) {
    const joint *j = &a->joint[i];
    const turn z = turn_load(&link[i].z), x = turn_load(&link[i - 1].next);
    c.M = real_shift_mass(c.M, j->mass_shift);
    c.h = vec_turn_back_z(z, vec_to_parent_unit(j, c.h));
    c.I = sym_turn_back_z(z, sym_to_parent_unit(j, c.I));
    if (f->link[i - 1].modes > 0)
        c = body_shift(c, vec_z(link[i].d));
    else
        c = body_shift(c, frame_p(f->link[i].a, link[i].d));
    return (body){c.M, vec_merged(vec_turn_back_x(x, c.h)), sym_turn_back_x(x, c.I)};
}

/* The body on the end of a beam, and the force G and moment J about that end for a unit turn about
 * the axes x and y of E; those for z are elements of c. All are on the axes of the link. */
typedef struct {
    body c;
    vec Gx, Jx, Gy, Jy;
    /* xx, yx: moments about x and y of a unit turn about x; yy: about y of a unit turn about y */
    real xx, yx, yy;
} end_body;

INLINE void take_x(end_body *e) {
    const vec h = e->c.h;
    const sym *I = &e->c.I;
    e->Gx = vec_make(real_known(0), real_neg(h.z), h.y);
    e->Jx = vec_make(I->xx, I->xy, I->xz);
    e->xx = I->xx;
}

INLINE void take_y(end_body *e) {
    const vec h = e->c.h;
    const sym *I = &e->c.I;
    e->Gy = vec_make(h.z, real_known(0), real_neg(h.x));
    e->Jy = vec_make(I->xy, I->yy, I->yz);
    e->yx = e->Jx.y;
    e->yy = I->yy;
}

/* Returns E T E^T for E = 1 + theta~: first T + theta~ T column by column, then the same with the
 * transpose. */
INLINE sym sym_linear(vec theta, sym T) {
    const vec x = vec_make(T.xx, T.xy, T.xz), y = vec_make(T.xy, T.yy, T.yz),
              z = vec_make(T.xz, T.yz, T.zz);
    const vec ex = vec_add_cross(x, theta, x), ey = vec_add_cross(y, theta, y),
              ez = vec_add_cross(z, theta, z);
    vec r1 = vec_make(ex.x, ey.x, ez.x), r2 = vec_make(ex.y, ey.y, ez.y),
        r3 = vec_make(ex.z, ey.z, ez.z);
    r1 = vec_add_cross(r1, theta, r1);
    r2 = vec_add_cross(r2, theta, r2);
    r3 = vec_add_cross(r3, theta, r3);
    return sym_make(r1.x, r2.y, r3.z, r1.y, r2.z, r1.z);
}

INLINE end_body bend(const flex *f, const flex_body *B, const flex_link *link, body c) {
    end_body e = {c, vec_zero(), vec_zero(), vec_zero(), vec_zero(), c.M, c.M, c.M};
    if (f->linear) {
        e.c.h = vec_add_cross(c.h, link->theta, c.h);
        e.c.I = sym_linear(link->theta, c.I);
        take_x(&e);
        take_y(&e);
        return e;
    }
    if (torsions(B) > 0)
        take_x(&e);
    if (B->z > 0) {
        const turn y = turn_load(&link->bend_y);
        e.c.h = vec_turn_back_y(y, e.c.h);
        e.c.I = sym_turn_back_y(y, e.c.I);
        if (torsions(B) > 0) {
            e.Gx = vec_turn_back_y(y, e.Gx);
            e.Jx = vec_turn_back_y(y, e.Jx);
        }
        take_y(&e);
    }
    if (B->y > 0) {
        const turn z = turn_load(&link->bend_z);
        e.c.h = vec_turn_back_z(z, e.c.h);
        e.c.I = sym_turn_back_z(z, e.c.I);
        if (torsions(B) > 0) {
            e.Gx = vec_turn_back_z(z, e.Gx);
            e.Jx = vec_turn_back_z(z, e.Jx);
        }
        if (B->z > 0) {
            e.Gy = vec_turn_back_z(z, e.Gy);
            e.Jy = vec_turn_back_z(z, e.Jy);
        }
    }
    return e;
}

INLINE dyn_flex_kind_t kind_of(const flex_body *B, uint32_t k) {
    return k < B->y ? DYN_FLEX_XY : k < (uint32_t)B->y + B->z ? DYN_FLEX_XZ : DYN_FLEX_TORSION;
}

/* Returns the product of mode k with a force and a moment at the end of its beam. */
INLINE real both(const flex_body *B, uint32_t k, real deflected, real turned) {
    return acc_round(acc_mac(acc_mul(B->tip[k], deflected), B->slope[k], turned));
}

/* Returns the contribution of the body at the end of a link to the element of two of the link's
 * modes. k <= g, so the kind of k comes first. */
INLINE real pair(const flex_body *B, const end_body *e, uint32_t k, uint32_t g) {
    const dyn_flex_kind_t of_k = kind_of(B, k), of_g = kind_of(B, g);
    const real M = e->c.M;
    if (of_g == DYN_FLEX_TORSION) {
        const real x = of_k == DYN_FLEX_XY   ? both(B, k, e->Gx.y, e->Jx.z)
                       : of_k == DYN_FLEX_XZ ? both(B, k, e->Gx.z, e->yx)
                                             : real_mul(B->slope[k], e->xx);
        return real_mul(B->slope[g], x);
    }
    if (of_k != of_g) /* k along y, g along z */
        return real_mul(B->slope[g], both(B, k, e->Gy.y, e->Jy.z));
    const real G = of_k == DYN_FLEX_XY ? e->c.h.x : e->Gy.z;
    const real J = of_k == DYN_FLEX_XY ? e->c.I.zz : e->yy;
    return both(B, g, both(B, k, M, G), both(B, k, G, J));
}

/* Returns force and moment about the end of the beam for a unit acceleration of mode k. */
INLINE load end_column(const flex_body *B, const end_body *e, uint32_t k) {
    const vec h = e->c.h;
    const sym *I = &e->c.I;
    const real none = real_known(0), tip = B->tip[k], slope = B->slope[k];
    switch (kind_of(B, k)) {
    case DYN_FLEX_XY:
        return (load){vec_make(real_neg(real_mul(slope, h.y)), both(B, k, e->c.M, h.x), none),
                      vec_make(acc_round(acc_msub(acc_mul(slope, I->xz), tip, h.z)),
                               real_mul(slope, I->yz), both(B, k, h.x, I->zz))};
    case DYN_FLEX_XZ:
        return (load){vec_make(real_mul(slope, e->Gy.x), real_mul(slope, e->Gy.y),
                               both(B, k, e->c.M, e->Gy.z)),
                      vec_make(both(B, k, h.y, e->Jy.x),
                               acc_round(acc_msub(acc_mul(slope, e->Jy.y), tip, h.x)),
                               real_mul(slope, e->Jy.z))};
    default:
        return (load){vec_scale(slope, e->Gx), vec_scale(slope, e->Jx)};
    }
}

/* Returns epsilon and alpha of mode k: the terms of the beam itself. */
INLINE load own_column(const flex_body *B, const flex_link *link, uint32_t k) {
    const real none = real_known(0), moment = B->moment[k];
    switch (kind_of(B, k)) {
    case DYN_FLEX_XY:
        return (load){vec_make(none, B->weight[k], none),
                      vec_make(real_neg(link->uz[k]), none, moment)};
    case DYN_FLEX_XZ:
        return (load){vec_make(none, none, B->weight[k]),
                      vec_make(link->uy[k], real_neg(moment), none)};
    default:
        return (load){vec_zero(), vec_make(B->weight[k], none, none)};
    }
}

/* Completes the row of a coordinate of link i in the columns of all earlier links, from the load
 * about the origin of link i. */
INLINE void row_left(const arm *a, const flex *f, const flex_link *link, uint32_t i, load here,
                     real row[]) {
    while (i > 0) {
        load end = load_inward(a, f, link, i, here);
        const flex_body *B = &f->link[--i];
        if (B->modes > 0) {
            grip g;
            end = load_from_end(f, B, &link[i], end, &g);
            for (uint32_t k = 0; k < B->modes; k++)
                row[B->at + 1 + k] = mode_load(B, k, g);
        }
        here = (load){vec_merged(end.f), vec_merged(end.n)};
        row[B->at] = along_axis(&a->joint[i], here);
    }
}

INLINE real *row_of(real I[], uint32_t at) {
    return I + at * (at + 1) / 2;
}

/* Computes the rows of the modes of link i. `behind` is the body on the link's end, or NULL. */
INLINE void mode_rows(const arm *a, const flex *f, const flex_link *link, uint32_t i,
                      const end_body *behind, real I[]) {
    const flex_body *B = &f->link[i];
    for (uint32_t k = 0; k < B->modes; k++) {
        real *row = row_of(I, B->at + 1 + k);
        for (uint32_t g = 0; g <= k; g++) {
            const real own = kind_of(B, g) == kind_of(B, k) ? B->mass[k][g] : real_known(0);
            row[B->at + 1 + g] = behind ? real_add(own, pair(B, behind, g, k)) : own;
        }
        load here = own_column(B, &link[i], k);
        if (behind) {
            const load end = end_column(B, behind, k);
            here.f = vec_add(here.f, end.f);
            here.n = vec_add(here.n, vec_add_cross(end.n, link[i].tip, end.f));
        }
        here = (load){vec_merged(here.f), vec_merged(here.n)};
        row[B->at] = along_axis(&a->joint[i], here);
        row_left(a, f, link, i, here, row);
    }
}

INLINE body join(body one, body two) {
    return (body){real_add(one.M, two.M), vec_add(one.h, two.h), sym_add(one.I, two.I)};
}

/* Computes the row of joint i. c is the composite body that the joint moves, about the joint's
 * origin. */
INLINE void joint_row(const arm *a, const flex *f, const flex_link *link, uint32_t i, body c,
                      real I[]) {
    const uint32_t at = f->link[i].at;
    real *row = row_of(I, at);
    const real none = real_known(0);
    if (a->joint[i].prismatic) {
        row[at] = c.M;
        row_left(a, f, link, i, (load){vec_z(c.M), vec_make(c.h.y, real_neg(c.h.x), none)}, row);
    } else {
        row[at] = c.I.zz;
        row_left(a, f, link, i,
                 (load){vec_make(real_neg(c.h.y), c.h.x, none), vec_make(c.I.xz, c.I.yz, c.I.zz)},
                 row);
    }
}

void DYN(flex_mass_placed)(const arm *a, const flex *f, const flex_scratch *scratch, real I[]) {
    const flex_link *link = scratch->link;
    const uint32_t last = f->n - 1;
    body c = {f->end_M, f->end_b, inertia_of(f->end_E)};
    bool some = f->loaded;
    if (some) {
        const turn x = turn_load(&link[last].next);
        c.h = vec_turn_back_x(x, c.h);
        c.I = sym_turn_back_x(x, c.I);
    }
    for (uint32_t i = last;; i--) {
        const flex_body *B = &f->link[i];
        const body own = {B->M, link[i].b, inertia_of(link[i].E)};
        if (!some) {
            mode_rows(a, f, link, i, NULL, I);
            c = own;
        } else if (B->modes == 0) {
            c = join(own, c);
        } else {
            const end_body behind = bend(f, B, &link[i], c);
            mode_rows(a, f, link, i, &behind, I);
            c = join(own, body_shift(behind.c, link[i].tip));
        }
        some = true;
        joint_row(a, f, link, i, c, I);
        if (i == 0)
            break;
        c = body_inward(a, f, link, i, c);
    }
}

void DYN(flex_mass)(const arm *a, const flex *f, flex_scratch *scratch, const real theta[],
                    real I[]) {
    for (uint32_t i = 0; i < f->n; i++)
        flex_place(a, f, i, theta, &scratch->link[i]);
    DYN(flex_mass_placed)(a, f, scratch, I);
}

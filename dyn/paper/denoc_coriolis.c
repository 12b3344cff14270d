/*
 * Coriolis matrix `denoc`: equations (28) and (29) of Saha (dyn/paper/denoc.c has the paper, the
 * symbols and the frames; M~ and c as in dyn/paper/denoc_mass.c). C = N^T (M N' + M' N) with M'_i =
 * (w x I_i, 0; 0, 0).
 *
 * C qd is the Coriolis and centrifugal torque, and dM/dt - 2C is skew-symmetric, for revolute and
 * prismatic joints (test_dyn_denoc, in double on random chains, dM/dt by differences). dM/dt - 2C
 * is skew because the N' terms cancel in pairs and the remaining term of link i is I w~ + w~ I.
 * This C is not that of Christoffel's symbols: C(qd = a) b and C(qd = b) a differ. It would be
 * Christoffel's with M'_i = -w x E_i, where E = tr(I) 1 / 2 - I is Euler's tensor; that changes
 * neither C qd nor the skew symmetry of dM/dt - 2C.
 *
 * H_ij acts on rotations only. So all that (29) needs of M', H and M~' of links i to n is K_i e_j,
 * with K_i = M'~_i + H_ii = (K, -u~), where u is the rate of the first moment h:
 *
 *   i <= j   c_ij = p_i^T B_ji^T (M~_j Omega_j p_j + K_j e_j)
 *   i > j    c_ij = p_i^T M~_i (B_ij Omega_j + B'_ij) p_j + p_i^T K_i e_j
 *   (28)     K_i-1 = M'_i-1 + B_i,i-1^T (K_i + M~_i B'_i,i-1)
 *
 * and in the lower triangle B'_ij p_j = (0, (v_j - v_i) x e_j) with the velocities v of the
 * centres.
 *
 * Misprints of the paper, corrected here: (28) lacks the dots and should read M'~_i = M'_i +
 * M'~_i+1 and H_ij = M~_i B'_ij + B^T H_i+1,i. In (29), for i <= j, H_j+1,i should be H_j+1,j. B'
 * of a prismatic joint contains e_i b'_i.
 *
 * In q31 c_ij is in the mass unit of the link with the smaller index.
 *
 * Operations (revolute, n >= 3; test_dyn_denoc): 29.5n^2 + 158.5n - 165 multiplications, 19.5n^2 +
 * 157.5n - 168 additions.
 *
 * Scratch: sizeof(dyn_denoc_coriolis_link) for each joint, 68 bytes in f32 and
 * q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/denoc.h"
#include "dyn/number/tensor.h"

typedef DYN_T(denoc_coriolis_link) coriolis_link;

/* M~ and K of a composite body, about the centre of mass of a link. */
typedef struct {
    real m;
    vec h, u;
    sym I;
    mat K;
} composite;

/* What link i passes to the links before it: `row` is M~_i p_i, `k` is p_i^T K_i - row.f x v_i, and
 * `column` is the load for the column of C. */
typedef struct {
    wrench row;
    vec k;
    wrench column;
} carried;

/* Returns w x J, column by column. */
INLINE mat gyroscopic(sym J, vec w) {
    return mat_transpose((mat){vec_cross(w, vec_make(J.xx, J.xy, J.xz)),
                               vec_cross(w, vec_make(J.xy, J.yy, J.yz)),
                               vec_cross(w, vec_make(J.xz, J.yz, J.zz))});
}

INLINE composite link_mass(const joint *j, const coriolis_link *link) {
    /* The functions after this one are not inlined, so the zeros are not known there. */
    const vec none = vec_carried(vec_zero());
    return (composite){j->m, none, none, j->J, gyroscopic(j->J, link->w)};
}

/* Returns a - b1 c1 - b2 c2. */
INLINE real minus2(real a, real b1, real c1, real b2, real c2) {
    return real_sub(a, acc_round(acc_mac(acc_mul(b1, c1), b2, c2)));
}

/* (23b) and (28): moves the reference point. Because a~ b~ = b a^T - a.b 1, the move adds -h~ cd~ -
 * c~ u~ = (h.cd + c.u) 1 - cd h^T - u c^T to K, with h before and u after the move. */
INLINE composite join(const joint *before, vec w_before, const joint *j, const coriolis_link *link,
                      composite M) {
    const turn x = turn_load(&j->x), z = turn_load(&link->z);
    const vec c = link->c, cd = link->cd;
    real m = real_shift_mass(M.m, j->mass_shift);
    vec h = vec_turn_back_x(x, vec_turn_back_z(z, vec_to_parent_unit(j, M.h)));
    vec u = vec_turn_back_x(x, vec_turn_back_z(z, vec_to_parent_unit(j, M.u)));
    sym I = sym_turn_back_x(x, sym_turn_back_z(z, sym_to_parent_unit(j, M.I)));
    mat K = mat_turn_back_x(x, mat_turn_back_z(z, mat_to_parent_unit(j, M.K)));

    vec moved = vec_add(h, vec_scale(m, c)), sum = vec_add(h, moved);
    real xx = real_mul(c.x, sum.x), yy = real_mul(c.y, sum.y), zz = real_mul(c.z, sum.z);
    I.xx = real_add(I.xx, real_add(yy, zz));
    I.yy = real_add(I.yy, real_add(zz, xx));
    I.zz = real_add(I.zz, real_add(xx, yy));
    I.xy = minus2(I.xy, c.x, h.y, c.y, moved.x);
    I.yz = minus2(I.yz, c.y, h.z, c.z, moved.y);
    I.xz = minus2(I.xz, c.x, h.z, c.z, moved.x);

    u = vec_add(u, vec_scale(m, cd));
    xx = acc_round(acc_mac(acc_mul(cd.x, h.x), u.x, c.x));
    yy = acc_round(acc_mac(acc_mul(cd.y, h.y), u.y, c.y));
    zz = acc_round(acc_mac(acc_mul(cd.z, h.z), u.z, c.z));
    K.x = vec_make(real_add(K.x.x, real_add(yy, zz)), minus2(K.x.y, cd.x, h.y, u.x, c.y),
                   minus2(K.x.z, cd.x, h.z, u.x, c.z));
    K.y = vec_make(minus2(K.y.x, cd.y, h.x, u.y, c.x), real_add(K.y.y, real_add(zz, xx)),
                   minus2(K.y.z, cd.y, h.z, u.y, c.z));
    K.z = vec_make(minus2(K.z.x, cd.z, h.x, u.z, c.x), minus2(K.z.y, cd.z, h.y, u.z, c.y),
                   real_add(K.z.z, real_add(xx, yy)));
    return (composite){real_add(before->m, m), moved, u, sym_add(before->J, I),
                       mat_add(gyroscopic(before->J, w_before), K)};
}

/* Omega p = (w x e, w x (e x s)) of a revolute joint, with the zeros of e. */
INLINE vec centripetal(vec w, vec s) {
    return vec_cross(w, e_cross(s));
}

INLINE carried turned(const joint *j, vec w, vec speed, composite M) {
    const vec v = e_cross(j->s), x = cross_e(w), y = centripetal(w, j->s);
    carried g;
    g.row.n = vec_add_cross(vec_make(M.I.xz, M.I.yz, M.I.zz), M.h, v);
    g.row.f = e_cross(vec_add(M.h, vec_scale(M.m, j->s)));
    g.k = vec_add_cross2(M.K.z, M.u, v, speed, g.row.f);
    g.column.n = vec_add_cross(vec_add(sym_mul(M.I, x), mat_column_z(M.K)), M.h, y);
    g.column.f = vec_add_cross(vec_add(vec_scale(M.m, y), e_cross(M.u)), x, M.h);
    return g;
}

INLINE carried pushed(vec w, vec speed, composite M) {
    const vec x = cross_e(w);
    carried g;
    g.row = (wrench){cross_e(M.h), vec_z(M.m)};
    g.k = vec_add_cross(cross_e(M.u), speed, g.row.f);
    g.column = (wrench){vec_cross(M.h, x), vec_scale(M.m, x)};
    return g;
}

/* Returns p^T g, the component of a wrench on the joint's axis. */
INLINE real along_axis(const joint *j, wrench g) {
    if (j->prismatic)
        return g.f.z;
    return real_add(g.n.z, acc_round(acc_msub(acc_mul(j->s.x, g.f.y), j->s.y, g.f.x)));
}

/* Returns an element below the diagonal, from Omega_j p_j and B'_ij p_j. Not for the first
 * joint. */
INLINE real below(const joint *j, const coriolis_link *link, carried g) {
    const vec w = link->w, y = link->y, n = g.row.n, f = g.row.f;
    if (j->prismatic)
        return acc_round(acc_msub(acc_mul(f.x, w.y), f.y, w.x));
    acc sum = acc_msub(acc_mul(n.x, w.y), n.y, w.x);
    sum = acc_mac(acc_mac(acc_mac(sum, f.x, y.x), f.y, y.y), f.z, y.z);
    return real_add(g.k.z, acc_round(sum));
}

/* Returns B_i,i-1^T g. */
INLINE wrench propagate(const joint *j, const coriolis_link *link, wrench g) {
    const turn x = turn_load(&j->x), z = turn_load(&link->z);
    g = wrench_to_parent_unit(j, g);
    vec f = vec_turn_back_x(x, vec_turn_back_z(z, g.f));
    vec n = vec_turn_back_x(x, vec_turn_back_z(z, g.n));
    return (wrench){vec_add_cross(n, link->c, f), f};
}

INLINE carried inward(const joint *j, const coriolis_link *link, carried g) {
    vec k = vec_turn_back_z(turn_load(&link->z), vec_to_parent_unit(j, g.k));
    return (carried){propagate(j, link, g.row), vec_turn_back_x(turn_load(&j->x), k),
                     propagate(j, link, g.column)};
}

/* Computes the elements of the first joint in a row and a column. Its Omega p is zero, or B'
 * cancels it; the compiler drops unused results. */
INLINE void at_first(const joint *j, const coriolis_link *link, carried g, real *row,
                     real *column) {
    g = inward(&j[1], &link[1], g);
    *row = j->prismatic ? real_known(0) : g.k.z;
    *column = along_axis(j, g.column);
}

/* Computes row and column from element i on, to the left and upwards. */
static void rest_of_both(const arm *a, const coriolis_link *link, uint32_t i, const carried *from,
                         real *row, real *column) {
    const joint *j = a->joint;
    carried g = *from;
    for (; i > 0; i--) {
        row[i] = below(&j[i], &link[i], g);
        column[i * a->n] = along_axis(&j[i], g.column);
        if (i == 1)
            break;
        g = inward(&j[i], &link[i], g);
    }
    at_first(j, link, g, row, column);
}

/* Computes row and column i up to the diagonal from the effect of joint i on the composite body. */
INLINE void leave(const arm *a, const coriolis_link *link, uint32_t i, carried g, real C[]) {
    const joint *j = a->joint;
    real *row = C + i * a->n, *column = C + i;
    row[i] = along_axis(&j[i], g.column);
    if (i == 1) {
        at_first(j, link, g, row, column);
    } else {
        g = inward(&j[i], &link[i], g);
        rest_of_both(a, link, i - 1, &g, row, column);
    }
}

static void row_and_column(const arm *a, const coriolis_link *link, uint32_t i, const composite *M,
                           real C[]) {
    const joint *j = &a->joint[i];
    const vec w = link[i].w, v = link[i].v;
    if (j->prismatic)
        leave(a, link, i, pushed(w, v, *M), C);
    else
        leave(a, link, i, turned(j, w, v, *M), C);
}

/* Computes the velocities nu of link i from those of its parent; v is that of the centre of
 * mass. */
INLINE void outward(const joint *j, real q, real qd, vec w_before, vec v_before,
                    coriolis_link *link) {
    const turn x = turn_load(&j->x);
    turn z = turn_load(&j->fixed_z);
    if (!j->prismatic)
        real_sincos(q, j->offset, &z.c, &z.s);
    vec w = vec_turn_z(z, vec_turn_x(x, w_before));
    vec r = j->r, rd = vec_zero();
    if (j->prismatic) {
        r = vec_add(r, vec_turn_back_x(x, vec_z(q)));
        rd = vec_turn_back_x(x, vec_z(qd));
    } else {
        w = vec_add(w, vec_z(qd));
    }
    vec sd = vec_turn_back_x(x, vec_turn_back_z(z, vec_cross(w, j->s)));
    link->z = z;
    link->c = vec_add(r, vec_turn_back_x(x, vec_turn_back_z(z, j->s)));
    link->cd = vec_add(vec_add_cross(rd, w_before, r), sd);
    link->w = w;
    link->v = vec_turn_z(z, vec_turn_x(x, vec_add(v_before, link->cd)));
    link->y = vec_add(centripetal(w, j->s), cross_e(link->v));
}

/* APART functions are not inlined, so that no stack frame is large. */
#define APART static __attribute__((noinline))

APART void join_next(const joint *j, const coriolis_link *link, composite *M) {
    *M = join(j - 1, link[-1].w, j, link, *M);
}

/* The first link if it is revolute: only c_11 is needed. */
APART real first_element(const joint *j, const coriolis_link *link, vec along, vec across,
                         const composite *M) {
    const vec w = vec_z(along.z), v = vec_make(across.x, across.y, real_known(0));
    return along_axis(j, turned(j, w, v, join(j, w, &j[1], &link[1], *M)).column);
}

APART void velocities(const arm *a, coriolis_link *link, const real q[], const real qd[], vec along,
                      vec across) {
    const joint *j = a->joint;
    /* In each branch the compiler knows the zeros of the first link. */
    if (j->prismatic)
        outward(&j[1], q[1], qd[1], vec_zero(), vec_z(along.z), &link[1]);
    else
        outward(&j[1], q[1], qd[1], vec_z(along.z), vec_make(across.x, across.y, real_known(0)),
                &link[1]);
    for (uint32_t k = 2; k < a->n; k++)
        outward(&j[k], q[k], qd[k], link[k - 1].w, link[k - 1].v, &link[k]);
}

void DYN(denoc_coriolis)(const arm *a, DYN_T(denoc_coriolis_scratch) *scratch, const real q[],
                         const real qd[], real C[]) {
    const joint *j = a->joint;
    coriolis_link *link = scratch->link;
    uint32_t i = a->n - 1;
    const vec along = vec_z(qd[0]), across = vec_scale(qd[0], e_cross(j->s));
    if (i == 0) {
        C[0] = real_known(0);
        return;
    }
    velocities(a, link, q, qd, along, across);

    composite M = link_mass(&j[i], &link[i]);
    for (; i > 1; i--) {
        row_and_column(a, link, i, &M, C);
        join_next(&j[i], &link[i], &M);
    }
    row_and_column(a, link, 1, &M, C);
    C[0] = j->prismatic ? real_known(0) : first_element(j, link, along, across, &M);
}

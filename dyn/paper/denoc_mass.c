/*
 * Inertia matrix `denoc`: i_ij = p_i^T M~_i B_ij p_j, equation (24) of Saha (dyn/paper/denoc.c has
 * the paper, the symbols and the frames), with the composite masses of (23b).
 *
 * M~_i is about the centre of mass C_i of link i, on the axes of link i: inertia I, first moment h
 * of the composite body (zero for the link alone) and mass m,
 *
 *     M~ (wd, a) = (I wd + h x a, m a + wd x h).
 *
 * B_i,i-1 moves it by c, the vector from C_i-1 to C_i, which is -c_i,i-1 of the paper.
 *
 * Operations (revolute, n >= 3; test_dyn_denoc): 12n^2 + 39n - 57 multiplications, 8n^2 + 51n - 70
 * additions.
 *
 * Scratch: sizeof(dyn_denoc_mass_link) for each joint, 20 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/denoc.h"

typedef DYN_T(denoc_mass_link) mass_link;

typedef struct {
    real m;
    vec h;
    sym I;
} composite;

/* The link alone: M_i of (2). */
INLINE composite link_mass(const joint *j) {
    return (composite){j->m, vec_zero(), j->J};
}

/* (23b): B_i,i-1^T M~_i B_i,i-1 + M_i-1. When the reference point moves by c, an inertia grows by
 * c.u 1 - (c u^T + u c^T) / 2, where u is the sum of the first moments before and after. */
INLINE composite join(const joint *before, const joint *j, const mass_link *link, composite M) {
    const turn x = turn_load(&j->x), z = turn_load(&link->z);
    const vec c = link->c;
    real m = real_shift_mass(M.m, j->mass_shift);
    vec h = vec_turn_back_x(x, vec_turn_back_z(z, vec_to_parent_unit(j, M.h)));
    sym I = sym_turn_back_x(x, sym_turn_back_z(z, sym_to_parent_unit(j, M.I)));
    vec moved = vec_add(h, vec_scale(m, c)), u = vec_add(h, moved);
    real xx = real_mul(c.x, u.x), yy = real_mul(c.y, u.y), zz = real_mul(c.z, u.z);
    I.xx = real_add(I.xx, real_add(yy, zz));
    I.yy = real_add(I.yy, real_add(zz, xx));
    I.zz = real_add(I.zz, real_add(xx, yy));
    I.xy = real_sub(I.xy, acc_round(acc_mac(acc_mul(c.x, h.y), c.y, moved.x)));
    I.yz = real_sub(I.yz, acc_round(acc_mac(acc_mul(c.y, h.z), c.z, moved.y)));
    I.xz = real_sub(I.xz, acc_round(acc_mac(acc_mul(c.x, h.z), c.z, moved.x)));
    return (composite){real_add(before->m, m), moved, sym_add(before->J, I)};
}

/* Returns p^T g, the component of a wrench on the joint's axis. */
INLINE real along_axis(const joint *j, wrench g) {
    if (j->prismatic)
        return g.f.z;
    return real_add(g.n.z, acc_round(acc_msub(acc_mul(j->s.x, g.f.y), j->s.y, g.f.x)));
}

/* Returns B_i,i-1^T g. */
INLINE wrench inward(const joint *j, const mass_link *link, wrench g) {
    const turn x = turn_load(&j->x), z = turn_load(&link->z);
    g = wrench_to_parent_unit(j, g);
    vec f = vec_turn_back_x(x, vec_turn_back_z(z, g.f));
    vec n = vec_turn_back_x(x, vec_turn_back_z(z, g.n));
    return (wrench){vec_add_cross(n, link->c, f), f};
}

/* The first link needs only the component on its axis; the compiler drops the rest. */
INLINE real at_first(const joint *j, const mass_link *link, wrench g) {
    real m;
    if (j->prismatic)
        m = inward(&j[1], &link[1], g).f.z;
    else
        m = along_axis(j, inward(&j[1], &link[1], g));
    NAMED(0, m);
    return m;
}

/* Computes the elements of a row from column i to the left. */
static void rest_of_row(const joint *j, const mass_link *link, uint32_t i, const wrench *from,
                        real Mi[]) {
    wrench g = *from;
    for (; i > 0; i--) {
        Mi[i] = along_axis(&j[i], g);
        NAMED(i, Mi[i]);
        if (i == 1)
            break;
        g = inward(&j[i], &link[i], g);
    }
    Mi[0] = at_first(j, link, g);
}

/* Computes row i to the left of the diagonal from M~_i p_i, whose zeros are known. */
INLINE void row_left(const joint *j, const mass_link *link, uint32_t i, wrench g, real Mi[]) {
    if (i == 1) {
        Mi[0] = at_first(j, link, g);
    } else {
        g = inward(&j[i], &link[i], g);
        rest_of_row(j, link, i - 1, &g, Mi);
    }
}

/* pushed returns M~_i p_i for a prismatic joint, turned for a revolute one. */
INLINE wrench pushed(composite M) {
    return (wrench){cross_e(M.h), vec_z(M.m)};
}

INLINE wrench turned(const joint *j, composite M) {
    const vec v = e_cross(j->s);
    return (wrench){vec_add_cross(vec_make(M.I.xz, M.I.yz, M.I.zz), M.h, v),
                    e_cross(vec_add(M.h, vec_scale(M.m, j->s)))};
}

INLINE void row(const joint *j, const mass_link *link, uint32_t i, composite M, real Mi[]) {
    NAMED(i, M.m);
    NAMED(i, M.h);
    NAMED(i, M.I.xx);
    NAMED(i, M.I.yy);
    if (j[i].prismatic) {
        Mi[i] = M.m;
        row_left(j, link, i, pushed(M), Mi);
    } else {
        const wrench g = turned(&j[i], M);
        Mi[i] = along_axis(&j[i], g);
        NAMED(i, Mi[i]);
        row_left(j, link, i, g, Mi);
    }
}

static void row_behind(const joint *j, const mass_link *link, uint32_t i, const composite *M,
                       real Mi[]) {
    row(j, link, i, *M, Mi);
}

INLINE real first_element(const joint *j, composite M) {
    NAMED(0, M.I.zz);
    return along_axis(j, turned(j, M));
}

void DYN(denoc_mass)(const arm *a, DYN_T(denoc_mass_scratch) *scratch, const real q[], real M[]) {
    const joint *j = a->joint;
    mass_link *link = scratch->link;
    uint32_t i = a->n - 1;
    for (uint32_t k = 1; k <= i; k++) {
        const turn x = turn_load(&j[k].x);
        turn z = turn_load(&j[k].fixed_z);
        if (!j[k].prismatic)
            real_sincos(q[k], j[k].offset, &z.c, &z.s);
        vec s = vec_turn_back_z(z, j[k].s);
        if (j[k].prismatic)
            s = vec_add(s, vec_z(q[k]));
        link[k].z = z;
        link[k].c = vec_add(j[k].r, vec_turn_back_x(x, s));
    }

    if (i == 0) {
        M[0] = j->prismatic ? j->m : first_element(j, link_mass(j));
        return;
    }
    /* The last link has no first moment about its centre of mass. The first link needs only the
     * component on its axis. */
    real *Mi = M + i * (i + 1) / 2;
    composite C = link_mass(&j[i]);
    row(j, link, i, C, Mi);
    if (i > 1) {
        C = join(&j[i - 1], &j[i], &link[i], C);
        Mi -= i--;
        row_behind(j, link, i, &C, Mi);
    }
    while (i > 1) {
        C = join(&j[i - 1], &j[i], &link[i], C);
        Mi -= i--;
        row_behind(j, link, i, &C, Mi);
    }
    if (j->prismatic)
        M[0] = join(j, &j[1], &link[1], C).m;
    else
        M[0] = first_element(j, join(j, &j[1], &link[1], C));
    NAMED(0, M[0]);
}

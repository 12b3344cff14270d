/*
 * Inertia matrix `ga`: the Hessian of Gibbs' function, V. Mata, S. Provenzano, F. Valero and J. I.
 * Cuadrado, "Serial-robot dynamics algorithms for moderately large numbers of joints" (2002),
 * section 4.2, steps 1 to 7.
 *
 * Symbols as in the paper: M, gamma, H, E of step 1 are prepared (dyn/kernel/prepare_regroup.c);
 * s_k,j points from the origin of link k to that of link j; dw_k = d wd_j / d q''_k is the axis of
 * joint k; phi and Psi are the first moment and the inertia of the composite body of a joint about
 * the joint's origin; D is the inertia matrix.
 *
 * Corrected: gamma_n and H_n belong to step 1; j and not i is the frame in step 3; in steps 5 and 7
 * s~ is multiplied by the tensor phi~. Different: the shift of step 5 is done in the half-turned
 * frame, where s is (a, 0, d); step 2 adds s_j-1,j there as well, and steps 2, 3 and 7 go through
 * the frames together, so that only the vectors of one frame are stored. Prismatic joints are
 * added: if joint j is prismatic, a unit acceleration needs the force F = M z and the moment
 * N = phi x z instead of z x phi and Psi z; if joint k is prismatic, (7e) becomes dw_k . F. If the next joint is prismatic, M s is not
 * part of gamma and E.
 *
 * Operations (revolute, n >= 3; test_dyn_ga): 11.5n^2 + 6.5n - 32 multiplications, 8n^2 + 22n - 50
 * additions; the paper 11.5n^2 + 19.5n - 49 and 8.5n^2 + 31.5n - 69.
 * Scratch: sizeof(dyn_ga_mass_link) for each joint, 60 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/ga.h"

typedef DYN_T(ga_mass_link) ga_mass_link;

/* Computes force F and moment N for a unit acceleration of the joint, in the joint's frame: Psi z
 * of step 7. */
INLINE void effort(const joint *j, composite c, ga_mass_link *link) {
    const real none = real_known(0);
    if (j->prismatic) {
        link->F = vec_z(j->ga.M);
        link->N = vec_make(c.phi.y, real_neg(c.phi.x), none);
    } else {
        link->F = vec_make(real_neg(c.phi.y), c.phi.x, none);
        link->N = vec_make(c.Psi.xz, c.Psi.yz, c.Psi.zz);
    }
}

/* Steps 2, 3 and 7 for joint i: computes row i of the matrix without the diagonal. */
INLINE void row_of(const joint *j, bool prismatic, ga_mass_link *link, uint32_t i, real D[]) {
    frame A = frame_again(&j[i], turn_load(&link[i].z), link[i].d);
    const real none = real_known(0);
    /* The parent joint's axis is a column of R, and s_i-1,i is constant in the half-turned
     * frame. */
    uint32_t k = i - 1;
    vec w = half_to_child(A, vec_make(none, turn_real(A.x.s), turn_real(A.x.c)));
    vec s = half_to_child(A, A.p);
    vec F = link[i].F, N = link[i].N;
    for (;;) {
        link[k].w = w;
        link[k].s = s;
        F = vec_to_parent_unit(&j[k + 1], F);
        N = vec_to_parent_unit(&j[k + 1], N);
        const vec force = prismatic ? vec_z(F.z) : vec_make(F.x, F.y, none);
        const vec moment = prismatic ? vec_make(N.x, N.y, none) : N;
        D[k] = j[k].prismatic ? vec_dot(w, force) : vec_dot(w, vec_add_cross(moment, s, force));
        if (k == 0)
            break;
        k--;
        w = to_child(A, link[k].w);
        s = half_to_child(A, vec_add(parent_to_half(A, link[k].s), A.p));
    }
}

void DYN(ga_mass)(const arm *a, DYN_T(ga_scratch) *scratch, const real q[], real D[]) {
    const joint *j = a->joint;
    ga_mass_link *link = scratch->mass;
    uint32_t i = a->n - 1;
    real *row = D + i * (i + 1) / 2;
    composite c = {j[i].ga.gamma, j[i].ga.E};
    for (; i > 0; i--) {
        frame A = frame_at(&j[i], q[i]);
        link[i].z = A.z;
        link[i].d = A.p.z;
        effort(&j[i], c, &link[i]);
        row[i] = diagonal(&j[i], c);
        if (i == 1)
            D[0] = step_5_first(j, A, c);
        else
            c = step_5(&j[i - 1], A, shift(&j[i], A, c));
        row -= i;
    }
    if (a->n == 1)
        D[0] = diagonal(j, c);
    for (i = 1; i < a->n; i++) {
        row += i;
        if (j[i].prismatic)
            row_of(j, true, link, i, row);
        else
            row_of(j, false, link, i, row);
    }
}

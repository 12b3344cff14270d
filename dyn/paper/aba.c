/*
 * Forward dynamics `aba`: R. Featherstone's articulated-body algorithm, in link frames.
 *
 * Symbols: IA = {A, H; H^T, M} is the articulated inertia of links i to N about the origin of frame
 * i: A is rotational, M translational, H couples them. n, f: articulated bias load. U = IA S and D
 * = S^T U for the joint axis S. u: the torque minus the bias along the axis. First the Newton-Euler
 * steps of dyn/paper/ne.c with zero acceleration give every link its load from gravity and
 * velocities; the remaining equations are linear in the accelerations and contain no velocity.
 *
 * Frame changes are plane rotations and shifts by (a, 0, d); symmetric blocks are six numbers. A
 * joint passes IA - U U^T / D and n + U u / D on to the parent link. If the joint has no rotor,
 * their components along the axis are known without a subtraction: 0 and the torque. The code uses
 * that, because the subtraction loses digits where a heavy link follows a light one. In the example
 * of paper 000, section 5.1, the error of joint 1 in float is 0.0002 rad/s^2; with the subtraction
 * it is 0.019 rad/s^2. A rotor of inertia r is added to D only; then the fraction k = r / D of the
 * inertia and of u remains along the axis.
 *
 * In q31 U is multiplied by 2^e and D by 4^e, so that D is in [1, 4) and 1/D fits the format. In
 * floats this scaling is empty.
 *
 * Operations (revolute, n >= 3, including those for a rotor; test_dyn_aba): 248n - 260
 * multiplications, 222n - 231 additions, n reciprocals. For n = 6 these are 1228 and 1101;
 * Featherstone counts 1533 and 1415.
 * Scratch: sizeof(dyn_aba_link) for each joint, 72 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/newton.h"
#include "dyn/number/scale.h"
#include "dyn/number/spatial.h"

typedef DYN_T(aba_link) aba_link;

typedef struct {
    sym A, M;
    gen H;
} inertia;

INLINE inertia plus_link(const joint *j, inertia I) {
    return (inertia){
        .A = sym_add(j->I, I.A), .M = sym_add_scalar(I.M, j->m), .H = gen_add_cross(I.H, j->ms)};
}

INLINE inertia inertia_to_parent_unit(const joint *j, inertia I) {
    return (inertia){.A = sym_to_parent_unit(j, I.A),
                     .M = sym_to_parent_unit(j, I.M),
                     .H = gen_to_parent_unit(j, I.H)};
}

/* Takes an inertia to the origin and the axes of the parent link. */
INLINE inertia inertia_to_parent(frame F, inertia I) {
    I = (inertia){.A = sym_turn_back_z(F.z, I.A),
                  .M = sym_turn_back_z(F.z, I.M),
                  .H = gen_turn_back_z(F.z, I.H)};
    const gen H = gen_add_p_cross(I.H, F.p, I.M);
    I.A = sym_sub_cross_p(I.A, I.H, H, F.p);
    return (inertia){.A = sym_turn_back_x(F.x, I.A),
                     .M = sym_turn_back_x(F.x, I.M),
                     .H = gen_turn_back_x(F.x, H)};
}

/* The inertia of the last link alone. */
INLINE inertia inertia_of_link(const joint *j) {
    const real o = real_merged(real_known(0));
    return plus_link(j, (inertia){.A = {o, o, o, o, o, o},
                                  .M = {o, o, o, o, o, o},
                                  .H = {o, o, o, o, o, o, o, o, o}});
}

INLINE vec vec_scale_2(vec a, int up) {
    return vec_make(real_scale(a.x, up), real_scale(a.y, up), real_scale(a.z, up));
}

/* Stores U, 1/D and u of a joint and records the pivot D. */
INLINE void see_axis(const joint *j, vec n, vec f, real D, real u, aba_link *link, pivot *worst) {
    D = add_rotor(j, D);
    *worst = pivot_see(*worst, D);
    const int up = real_headroom(D) >> 1;
    link->up = up;
    link->n = vec_scale_2(n, up);
    link->f = vec_scale_2(f, up);
    link->recip = real_recip(real_scale(D, 2 * up));
    link->u = real_scale_clamped(u, up);
}

/* Returns r / D. */
INLINE real rotor_part(const joint *j, const aba_link *link) {
    return real_mul(real_scale(j->rotor, 2 * link->up), link->recip);
}

/* Computes I - U U^T / D and load + U u / D for a revolute joint. */
INLINE void let_through_turning(const joint *j, const aba_link *link, real tau, inertia *I,
                                load *p) {
    const vec n = link->n, f = link->f, Gf = vec_scale(link->recip, f);
    const real Gx = real_mul(link->recip, n.x), Gy = real_mul(link->recip, n.y);
    const real k = rotor_part(j, link), g = real_mul(link->recip, link->u);
    const real u = real_sub(tau, p->n.z);
    I->A = (sym){.xx = real_sub(I->A.xx, real_mul(n.x, Gx)),
                 .yy = real_sub(I->A.yy, real_mul(n.y, Gy)),
                 .xy = real_sub(I->A.xy, real_mul(n.x, Gy)),
                 .xz = real_mul(k, I->A.xz),
                 .yz = real_mul(k, I->A.yz),
                 .zz = real_mul(k, I->A.zz)};
    I->H = (gen){.xx = real_sub(I->H.xx, real_mul(n.x, Gf.x)),
                 .xy = real_sub(I->H.xy, real_mul(n.x, Gf.y)),
                 .xz = real_sub(I->H.xz, real_mul(n.x, Gf.z)),
                 .yx = real_sub(I->H.yx, real_mul(n.y, Gf.x)),
                 .yy = real_sub(I->H.yy, real_mul(n.y, Gf.y)),
                 .yz = real_sub(I->H.yz, real_mul(n.y, Gf.z)),
                 .zx = real_mul(k, I->H.zx),
                 .zy = real_mul(k, I->H.zy),
                 .zz = real_mul(k, I->H.zz)};
    I->M = sym_sub_outer(I->M, f, Gf);
    p->f = vec_add(p->f, vec_scale(g, f));
    p->n = vec_make(real_add(p->n.x, real_mul(g, n.x)), real_add(p->n.y, real_mul(g, n.y)),
                    real_sub(tau, real_mul(k, u)));
}

/* The same for a prismatic joint. */
INLINE void let_through_prismatic(const joint *j, const aba_link *link, real tau, inertia *I,
                                  load *p) {
    const vec n = link->n, f = link->f, Gn = vec_scale(link->recip, n);
    const real Gx = real_mul(link->recip, f.x), Gy = real_mul(link->recip, f.y);
    const real k = rotor_part(j, link), g = real_mul(link->recip, link->u);
    const real u = real_sub(tau, p->f.z);
    I->M = (sym){.xx = real_sub(I->M.xx, real_mul(f.x, Gx)),
                 .yy = real_sub(I->M.yy, real_mul(f.y, Gy)),
                 .xy = real_sub(I->M.xy, real_mul(f.x, Gy)),
                 .xz = real_mul(k, I->M.xz),
                 .yz = real_mul(k, I->M.yz),
                 .zz = real_mul(k, I->M.zz)};
    I->H = (gen){.xx = real_sub(I->H.xx, real_mul(n.x, Gx)),
                 .xy = real_sub(I->H.xy, real_mul(n.x, Gy)),
                 .xz = real_mul(k, I->H.xz),
                 .yx = real_sub(I->H.yx, real_mul(n.y, Gx)),
                 .yy = real_sub(I->H.yy, real_mul(n.y, Gy)),
                 .yz = real_mul(k, I->H.yz),
                 .zx = real_sub(I->H.zx, real_mul(n.z, Gx)),
                 .zy = real_sub(I->H.zy, real_mul(n.z, Gy)),
                 .zz = real_mul(k, I->H.zz)};
    I->A = sym_sub_outer(I->A, n, Gn);
    p->n = vec_add(p->n, vec_scale(g, n));
    p->f = vec_make(real_add(p->f.x, real_mul(g, f.x)), real_add(p->f.y, real_mul(g, f.y)),
                    real_sub(tau, real_mul(k, u)));
}

/* Computes U, D and u of joint i, passes inertia and load on to the parent, and adds the parent's
 * own inertia and load. */
INLINE void inward_step(const joint *j, aba_link *link, const ne_link *before, real tau,
                        pivot *worst, inertia *I, load *p) {
    if (j->prismatic) {
        see_axis(j, vec_make(I->H.xz, I->H.yz, I->H.zz), vec_make(I->M.xz, I->M.yz, I->M.zz),
                 I->M.zz, real_sub(tau, p->f.z), link, worst);
        let_through_prismatic(j, link, tau, I, p);
    } else {
        see_axis(j, vec_make(I->A.xz, I->A.yz, I->A.zz), vec_make(I->H.zx, I->H.zy, I->H.zz),
                 I->A.zz, real_sub(tau, p->n.z), link, worst);
        let_through_turning(j, link, tau, I, p);
    }
    const frame F = frame_again(j, turn_load(&link->ne.z), link->ne.d);
    *I = plus_link(j - 1, inertia_to_parent(F, inertia_to_parent_unit(j, *I)));
    *p = total(0, before, inward(j, &link->ne, *p));
}

typedef struct {
    vec wd, vd;
} acceleration;

/* Returns the acceleration of link i and writes that of its joint to *qdd. `acceleration` is
 * relative to the motion of the link with all joint accelerations zero. */
INLINE acceleration outward_step(const joint *j, const aba_link *link, acceleration up, real *qdd) {
    const frame F = frame_again(j, turn_load(&link->ne.z), link->ne.d);
    vec wd = parent_to_half(F, up.wd);
    vec vd = vec_add_cross(parent_to_half(F, up.vd), wd, F.p);
    wd = half_to_child(F, wd);
    vd = half_to_child(F, vd);
    const real carried = real_add(vec_dot(link->n, wd), vec_dot(link->f, vd));
    *qdd = real_scale_clamped(real_mul(link->recip, real_sub(link->u, carried)), link->up);
    if (j->prismatic)
        vd = vec_add(vd, vec_z(*qdd));
    else
        wd = vec_add(wd, vec_z(*qdd));
    return (acceleration){wd, vd};
}

int DYN(aba_forward)(const arm *a, DYN_T(aba_scratch) *scratch, const real q[], const real qd[],
                     const real tau[], real qdd[]) {
    const joint *j = a->joint;
    aba_link *link = scratch->link;
    const uint32_t last = a->n - 1;
    const real still = real_known(0);
    pivot worst = pivot_begin();
    motion m = {vec_zero(), vec_zero(), a->base_acceleration};
    ne_link first;

    m = outward(0, j, frame_first(j, q[0]), m, qd[0], still, &first);
    for (uint32_t i = 1; i <= last; i++)
        m = outward(i, &j[i], frame_at(&j[i], q[i]), m, qd[i], still, &link[i].ne);

    /* Only the component on the axis of the first link is needed; the compiler drops the rest. */
    inertia I = inertia_of_link(&j[last]);
    load p = {first.F, first.n};
    if (last > 0) {
        p = (load){link[last].ne.F, link[last].ne.n};
        for (uint32_t i = last; i > 1; i--)
            inward_step(&j[i], &link[i], &link[i - 1].ne, tau[i], &worst, &I, &p);
        inward_step(&j[1], &link[1], &first, tau[1], &worst, &I, &p);
    }

    const real D = add_rotor(j, j->prismatic ? I.M.zz : I.A.zz);
    const int up = real_headroom(D) >> 1;
    const real u = real_scale_clamped(real_sub(tau[0], along_axis(j, p)), up);
    worst = pivot_see(worst, D);
    qdd[0] = real_scale_clamped(real_mul(real_recip(real_scale(D, 2 * up)), u), up);
    if (last > 0) {
        acceleration x;
        if (j->prismatic)
            x = outward_step(&j[1], &link[1], (acceleration){vec_zero(), vec_z(qdd[0])}, &qdd[1]);
        else
            x = outward_step(&j[1], &link[1], (acceleration){vec_z(qdd[0]), vec_zero()}, &qdd[1]);
        x = (acceleration){vec_merged(x.wd), vec_merged(x.vd)};
        for (uint32_t i = 2; i <= last; i++)
            x = outward_step(&j[i], &link[i], x, &qdd[i]);
    }
    return pivot_ok(worst) ? DYN_OK : DYN_E_PIVOT;
}

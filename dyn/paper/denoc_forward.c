/*
 * Forward dynamics `denoc`: Saha's recursive U D U^T factorisation of the inertia matrix
 * (dyn/paper/denoc.c has the paper and the frames), section 5.2, equations (33) to (37), and
 * appendix B, (46) to (50): O(n), the inertia matrix is never formed. phi = tau minus the torques
 * of inverse dynamics with zero acceleration, dyn_denoc_bias.
 *
 * Twists and wrenches are of the origin O_i of frame i in place of the centre of mass, so that p_i
 * is (e, 0), prismatic (0, e): psi^_i = M^_i p_i is a column of the articulated mass M^_i, and in
 * single precision the two-body arm of Ascher, Pai and Cloutier (paper 000, 5.1) has an error of
 * 0.003 rad/s^2; about the mass centres it would be 0.5. M^_i = (I, H; H^T, M): moment I wd + H a,
 * force H^T wd + M a.
 *
 * Rotors: the rotor inertia is added to m^_i, so that the row of the axis in M^_i - psi^ psi^T / m^
 * is rotor * psi. Without a rotor this row is zero, and the rotation about the axis keeps it zero:
 * `plain` below.
 *
 * Corrected: in (35) tau^_i-1 must be tau^_i+1; (50) must be M_kk = M^_k - psi^_k psi_k^T.
 *
 * q31: M^_i is in the mass unit of link i, and psi is scaled as `pivot_scale` describes. `range`
 * does not prove this kernel: divisions by a pivot saturate, and the checked backend tests the
 * rest.
 *
 * Operations without the bias (revolute, no rotor, n >= 3; test_dyn_denoc): 138n - 208
 * multiplications, the n reciprocals included, 136n - 226 additions. The paper has 201n - 335 and
 * 193n - 361. With the bias 243n - 292 and 222n - 303.
 *
 * Scratch: that of dyn_denoc_bias and sizeof(dyn_denoc_psi) for each joint, together 64 bytes a
 * joint in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/denoc.h"
#include "dyn/number/scale.h"
#include "dyn/number/tensor.h"

typedef DYN_T(denoc_psi) denoc_psi;

/* tools/eval/factor.c compiles this file with a DENOC_WATCH that takes the articulated mass of each
 * joint out, and then needs the first one in full. */
#ifndef DENOC_WATCH
#define DENOC_WATCHED            false
#define DENOC_WATCH(joint, mass) ((void)0)
#endif

/* The articulated mass M^. */
typedef struct {
    sym I;
    mat H;
    sym M;
} articulated;

/* M^_i and eta_i,i+1, both in the frame of link i. */
typedef struct {
    articulated M;
    wrench eta;
} carried;

/* The scale for dividing by m^ in a number format without an exponent. With m^ 4^up in [1, 4), psi^
 * 2^up and psi / 2^up fit the format, because psi^ psi^T / m^ is no larger than M^ itself. psi and
 * the rates tau~ are stored divided by 2^up. In floats all of this is empty. */
typedef struct {
    real inverse; /* 1 / (m^ 4^up) */
    int up;
} pivot_scale;

INLINE pivot_scale scale_of(real m) {
    /* Rounds down for negative numbers too. */
    const int up = (real_headroom(m) + 64) / 2 - 32;
    return (pivot_scale){real_recip(real_scale_clamped(m, 2 * up)), up};
}

INLINE vec vec_up(vec a, int up) {
    return vec_make(real_scale_clamped(a.x, up), real_scale_clamped(a.y, up),
                    real_scale_clamped(a.z, up));
}

INLINE real minus_product(real a, real b, real c) {
    return real_sub(a, real_mul(b, c));
}

/* a - k b */
INLINE vec vec_minus(vec a, real k, vec b) {
    return vec_make(minus_product(a.x, k, b.x), minus_product(a.y, k, b.y),
                    minus_product(a.z, k, b.z));
}

/* A - u v^T, where the result is symmetric. */
INLINE sym sym_minus(sym A, vec u, vec v) {
    return sym_make(minus_product(A.xx, u.x, v.x), minus_product(A.yy, u.y, v.y),
                    minus_product(A.zz, u.z, v.z), minus_product(A.xy, u.x, v.y),
                    minus_product(A.yz, u.y, v.z), minus_product(A.xz, u.x, v.z));
}

INLINE articulated link_mass(const joint *j) {
    const real none = real_known(0);
    const vec h = j->ms;
    return (articulated){.I = j->I,
                         .H = {vec_make(none, real_neg(h.z), h.y),
                               vec_make(h.z, none, real_neg(h.x)),
                               vec_make(real_neg(h.y), h.x, none)},
                         .M = {j->m, j->m, j->m, none, none, none}};
}

INLINE articulated add_mass(articulated A, articulated B) {
    return (articulated){sym_add(A.I, B.I), mat_add(A.H, B.H), sym_add(A.M, B.M)};
}

/* B^T M B in the half-turned frame, where the move is by p = (a, 0, d): H' = H + p~ M and
 * I' = I + p~ H^T + (p~ H'^T)^T. */
INLINE articulated move(articulated A, vec p) {
    const real a = p.x, d = p.z;
    const sym M = A.M;
    const mat H = A.H;
    const real dxy = real_mul(d, M.xy), ayz = real_mul(a, M.yz);
    mat G;
    G.x = vec_make(real_sub(H.x.x, dxy), minus_product(H.x.y, d, M.yy),
                   minus_product(H.x.z, d, M.yz));
    G.y = vec_make(real_add(H.y.x, acc_round(acc_msub(acc_mul(d, M.xx), a, M.xz))),
                   real_add(H.y.y, real_sub(dxy, ayz)),
                   real_add(H.y.z, acc_round(acc_msub(acc_mul(d, M.xz), a, M.zz))));
    G.z = vec_make(real_add(H.z.x, real_mul(a, M.xy)), real_add(H.z.y, real_mul(a, M.yy)),
                   real_add(H.z.z, ayz));
    sym I = A.I;
    I.xx = minus_product(I.xx, d, real_add(H.x.y, G.x.y));
    I.yy = real_add(
        I.yy, acc_round(acc_msub(acc_mul(d, real_add(H.y.x, G.y.x)), a, real_add(H.y.z, G.y.z))));
    I.zz = real_add(I.zz, real_mul(a, real_add(H.z.y, G.z.y)));
    I.xy = real_add(I.xy, acc_round(acc_msub(acc_mul(d, real_sub(G.x.x, H.y.y)), a, G.x.z)));
    I.xz = real_add(I.xz, acc_round(acc_msub(acc_mul(a, G.x.y), d, H.z.y)));
    I.yz = real_add(I.yz, acc_round(acc_mac(acc_mul(a, real_sub(G.y.y, H.z.z)), d, H.z.x)));
    return (articulated){I, G, M};
}

/* B_i,i-1^T M B_i,i-1 */
INLINE articulated to_before(const joint *j, frame A, articulated M) {
    M.I = sym_turn_back_z(A.z, sym_to_parent_unit(j, M.I));
    M.H = mat_turn_back_z(A.z, mat_to_parent_unit(j, M.H));
    M.M = sym_turn_back_z(A.z, sym_to_parent_unit(j, M.M));
    M = move(M, A.p);
    return (articulated){sym_turn_back_x(A.x, M.I), mat_turn_back_x(A.x, M.H),
                         sym_turn_back_x(A.x, M.M)};
}

/* The same for the first link, where only I.zz (its axis) is needed. */
INLINE real to_first(const joint *j, frame A, articulated B) {
    const real a = A.p.x, d = A.p.z;
    const sym I = sym_turn_back_z(A.z, sym_to_parent_unit(j, B.I));
    const sym M = sym_turn_back_z(A.z, sym_to_parent_unit(j, B.M));
    const mat H = mat_turn_back_z(A.z, mat_to_parent_unit(j, B.H));
    const real yx = acc_round(acc_msub(acc_mul(d, M.xx), a, M.xz));
    const real yz = acc_round(acc_msub(acc_mul(d, M.xz), a, M.zz));
    const real yy = acc_round(acc_msub(acc_mul(d, M.xy), a, M.yz));
    const real Iyy =
        real_add(I.yy, acc_round(acc_msub(acc_mul(d, real_add(real_add(H.y.x, H.y.x), yx)), a,
                                          real_add(real_add(H.y.z, H.y.z), yz))));
    const real Izz =
        real_add(I.zz, real_mul(a, real_add(real_add(H.z.y, H.z.y), real_mul(a, M.yy))));
    const real Iyz = real_add(
        I.yz, acc_round(acc_mac(acc_mul(a, real_sub(real_add(H.y.y, yy), H.z.z)), d, H.z.x)));
    const real k =
        turn_round(turn_mac(turn_mul(A.x.s, real_sub(Iyy, Izz)), A.x.c, real_add(Iyz, Iyz)));
    return real_add(Izz, turn_round(turn_mul(A.x.s, k)));
}

/* B_i,i-1^T eta */
INLINE wrench wrench_to_before(const joint *j, frame A, wrench g) {
    g = wrench_to_parent_unit(j, g);
    vec f = child_to_half(A, g.f);
    vec n = vec_add_cross(child_to_half(A, g.n), A.p, f);
    return (wrench){half_to_parent(A, n), half_to_parent(A, f)};
}

/* The same for the first link, where only the moment about the axis is needed. */
INLINE real wrench_to_first(const joint *j, frame A, wrench g) {
    g = wrench_to_parent_unit(j, g);
    const vec f = child_to_half(A, g.f), n = vec_make(real_known(0), half_y(A, g.n), g.n.z);
    return half_to_parent_z(A, vec_add_cross_yz(n, A.p, f));
}

INLINE bool plain(const joint *j) {
    return !j->prismatic && !j->geared;
}

/* (47) to (50), (34) and (35) for a revolute joint without rotor, still in its own link's frame. */
INLINE carried reduce_plain(carried c, real phi, denoc_psi *psi, pivot *worst) {
    const real none = real_known(0);
    articulated M = c.M;
    const wrench hat = {vec_make(M.I.xz, M.I.yz, M.I.zz), M.H.z};
    *worst = pivot_see(*worst, hat.n.z);
    const pivot_scale k = scale_of(hat.n.z);
    const real ux = real_scale_clamped(hat.n.x, k.up), uy = real_scale_clamped(hat.n.y, k.up);
    const vec uf = vec_up(hat.f, k.up), f = vec_scale(k.inverse, uf);
    const real nx = real_mul(k.inverse, ux), ny = real_mul(k.inverse, uy);
    const real t = real_scale_clamped(real_sub(phi, c.eta.n.z), k.up);
    psi->n = vec_make(nx, ny, none);
    psi->f = f;
    psi->rate = real_mul(k.inverse, t);
    psi->up = k.up;

    M.I = (sym){.xx = minus_product(M.I.xx, ux, nx),
                .yy = minus_product(M.I.yy, uy, ny),
                .zz = none,
                .xy = minus_product(M.I.xy, ux, ny),
                .yz = none,
                .xz = none};
    M.H = (mat){vec_minus(M.H.x, ux, f), vec_minus(M.H.y, uy, f), vec_zero()};
    M.M = sym_minus(M.M, uf, f);
    /* The component of eta + tau^ along the axis is phi again. */
    const wrench eta = {
        vec_make(real_add(c.eta.n.x, real_mul(nx, t)), real_add(c.eta.n.y, real_mul(ny, t)), phi),
        vec_add(c.eta.f, vec_scale(t, f))};
    return (carried){M, eta};
}

INLINE carried inward_plain(const joint *before, const joint *j, frame A, carried c, real phi,
                            denoc_psi *psi, pivot *worst) {
    c = reduce_plain(c, phi, psi, worst);
    return (carried){add_mass(to_before(j, A, c.M), link_mass(before)),
                     wrench_to_before(j, A, c.eta)};
}

/* The same as inward_plain for every other joint. */
static void inward(const joint *before, const joint *j, const frame *A, carried *c, real phi,
                   denoc_psi *psi, pivot *worst) {
    articulated M = c->M;
    wrench hat;
    real m, t;
    if (j->prismatic) {
        hat = (wrench){mat_column_z(M.H), vec_make(M.M.xz, M.M.yz, M.M.zz)};
        m = add_rotor(j, hat.f.z);
        t = real_sub(phi, c->eta.f.z);
    } else {
        hat = (wrench){vec_make(M.I.xz, M.I.yz, M.I.zz), M.H.z};
        m = add_rotor(j, hat.n.z);
        t = real_sub(phi, c->eta.n.z);
    }
    *worst = pivot_see(*worst, m);
    const pivot_scale k = scale_of(m);
    const vec un = vec_up(hat.n, k.up), uf = vec_up(hat.f, k.up);
    const vec n = vec_scale(k.inverse, un), f = vec_scale(k.inverse, uf);
    const vec rn = vec_up(vec_scale(j->rotor, n), k.up), rf = vec_up(vec_scale(j->rotor, f), k.up);
    t = real_scale_clamped(t, k.up);
    psi->n = n;
    psi->f = f;
    psi->rate = real_mul(k.inverse, t);
    psi->up = k.up;

    M.I = sym_minus(M.I, un, n);
    M.H = (mat){vec_minus(M.H.x, un.x, f), vec_minus(M.H.y, un.y, f), vec_minus(M.H.z, un.z, f)};
    M.M = sym_minus(M.M, uf, f);
    /* The row of the axis would be a small difference of large terms, so it is computed without
     * subtraction. */
    if (j->prismatic) {
        M.H = (mat){vec_make(M.H.x.x, M.H.x.y, rn.x), vec_make(M.H.y.x, M.H.y.y, rn.y),
                    vec_make(M.H.z.x, M.H.z.y, rn.z)};
        M.M.xz = rf.x;
        M.M.yz = rf.y;
        M.M.zz = rf.z;
    } else {
        M.I.xz = rn.x;
        M.I.yz = rn.y;
        M.I.zz = rn.z;
        M.H.z = rf;
    }
    const wrench eta = {vec_add(c->eta.n, vec_scale(t, n)), vec_add(c->eta.f, vec_scale(t, f))};
    c->M = add_mass(to_before(j, *A, M), link_mass(before));
    c->eta = wrench_to_before(j, *A, eta);
}

/* mu_i,i-1 = B_i,i-1 mu_i-1: the acceleration of link i if its joint has zero acceleration. */
typedef struct {
    vec w, v;
} twist;

INLINE twist held(frame A, twist mu) {
    vec w = parent_to_half(A, mu.w);
    vec v = vec_add_cross(parent_to_half(A, mu.v), w, A.p);
    return (twist){half_to_child(A, w), half_to_child(A, v)};
}

/* (36) and (37): returns the acceleration of a joint. */
INLINE real acceleration(const joint *j, const denoc_psi *psi, twist mu, real f_z) {
    const vec f = vec_make(psi->f.x, psi->f.y, f_z);
    real rest;
    if (plain(j)) {
        acc sum = acc_mac(acc_mul(psi->n.x, mu.w.x), psi->n.y, mu.w.y);
        sum = acc_mac(acc_mac(acc_mac(sum, f.x, mu.v.x), f.y, mu.v.y), f.z, mu.v.z);
        rest = real_add(real_scale_clamped(mu.w.z, -psi->up), acc_round(sum));
    } else {
        rest = real_add(vec_dot(psi->n, mu.w), vec_dot(f, mu.v));
    }
    return real_scale_clamped(real_sub(psi->rate, rest), psi->up);
}

INLINE twist moving(const joint *j, twist mu, real qdd) {
    if (j->prismatic)
        mu.v = vec_add(mu.v, vec_z(qdd));
    else
        mu.w = vec_add(mu.w, vec_z(qdd));
    return mu;
}

INLINE frame frame_kept(const joint *j, const DYN_T(denoc_link) *link, real q) {
    return frame_again(j, turn_load(&link->z), j->prismatic ? real_add(j->offset, q) : j->fixed_d);
}

/* APART functions are not inlined, so that no stack frame is large; the mass goes through memory
 * anyway. */
#define APART static __attribute__((noinline))

/* The last link: the zeros of a single body are known. */
APART void inward_last(const joint *j, const frame *A, real phi, carried *c, denoc_psi *psi,
                       pivot *worst) {
    const carried alone = {link_mass(j), {vec_zero(), vec_zero()}};
    if (plain(j)) {
        *c = inward_plain(j - 1, j, *A, alone, phi, psi, worst);
    } else {
        *c = alone;
        inward(j - 1, j, A, c, phi, psi, worst);
    }
}

APART void inward_next(const joint *j, const frame *A, real phi, carried *c, denoc_psi *psi,
                       pivot *worst) {
    if (plain(j))
        *c = inward_plain(j - 1, j, *A, *c, phi, psi, worst);
    else
        inward(j - 1, j, A, c, phi, psi, worst);
}

/* m^ and eta on the axis of the first joint; nothing else is needed of the first link. */
typedef struct {
    real m, eta;
} on_axis;

APART on_axis inward_first(const joint *j, const frame *A, real phi, carried *c, denoc_psi *psi,
                           pivot *worst) {
    if (!DENOC_WATCHED && plain(j) && !j[-1].prismatic) {
        const carried b = reduce_plain(*c, phi, psi, worst);
        return (on_axis){real_add(to_first(j, *A, b.M), j[-1].I.zz), wrench_to_first(j, *A, b.eta)};
    }
    inward_next(j, A, phi, c, psi, worst);
    DENOC_WATCH(0, c->M);
    return j[-1].prismatic ? (on_axis){c->M.M.zz, c->eta.f.z} : (on_axis){c->M.I.zz, c->eta.n.z};
}

/* Factorises all joints except the first. Returns m^ and eta on the axis of the first joint. */
APART on_axis factorise(const arm *a, DYN_T(denoc_forward_scratch) *scratch, const real q[],
                        const real phi[], pivot *worst) {
    const joint *j = a->joint;
    const DYN_T(denoc_link) *kept = scratch->bias.link;
    denoc_psi *psi = scratch->link;
    uint32_t i = a->n - 1;
    carried c;
    DENOC_WATCH(i, link_mass(&j[i]));
    if (i == 0)
        return (on_axis){j->prismatic ? j->m : j->I.zz, real_known(0)};
    frame A = frame_kept(&j[i], &kept[i], q[i]);
    inward_last(&j[i], &A, phi[i], &c, &psi[i], worst);
    while (--i > 1) {
        DENOC_WATCH(i, c.M);
        A = frame_kept(&j[i], &kept[i], q[i]);
        inward_next(&j[i], &A, phi[i], &c, &psi[i], worst);
    }
    DENOC_WATCH(i, c.M);
    if (i == 0)
        return j->prismatic ? (on_axis){c.M.M.zz, c.eta.f.z} : (on_axis){c.M.I.zz, c.eta.n.z};
    A = frame_kept(&j[1], &kept[1], q[1]);
    return inward_first(&j[1], &A, phi[1], &c, &psi[1], worst);
}

int DYN(denoc_forward)(const arm *a, DYN_T(denoc_forward_scratch) *scratch, const real q[],
                       const real qd[], const real tau[], real qdd[]) {
    const joint *j = a->joint;
    const DYN_T(denoc_link) *kept = scratch->bias.link;
    const denoc_psi *psi = scratch->link;
    const uint32_t last = a->n - 1;
    pivot worst = pivot_begin();

    DYN(denoc_bias)(a, &scratch->bias, q, qd, qdd);
    for (uint32_t i = 0; i <= last; i++)
        qdd[i] = real_sub(tau[i], qdd[i]);

    const on_axis first = factorise(a, scratch, q, qdd, &worst);
    const real m = add_rotor(j, first.m);
    worst = pivot_see(worst, m);
    const pivot_scale k = scale_of(m);
    const real t = real_scale_clamped(real_sub(qdd[0], first.eta), k.up);
    qdd[0] = real_scale_clamped(real_mul(k.inverse, t), k.up);

    twist mu = {vec_zero(), vec_zero()};
    if (last > 0) {
        const frame A = frame_kept(&j[1], &kept[1], q[1]);
        if (j->prismatic)
            mu = held(A, (twist){vec_zero(), vec_z(qdd[0])});
        else
            mu = held(A, (twist){vec_z(qdd[0]), vec_zero()});
        qdd[1] = acceleration(&j[1], &psi[1], mu, psi[1].f.z);
        for (uint32_t i = 2; i < last; i++) {
            mu = moving(&j[i - 1], (twist){vec_carried(mu.w), vec_carried(mu.v)}, qdd[i - 1]);
            mu = held(frame_kept(&j[i], &kept[i], q[i]), mu);
            qdd[i] = acceleration(&j[i], &psi[i], mu, psi[i].f.z);
        }
    }
    if (last > 1) {
        const frame A = frame_kept(&j[last], &kept[last], q[last]);
        mu = held(A, moving(&j[last - 1], mu, qdd[last - 1]));
        /* A single body that turns about e needs no force along e. */
        if (plain(&j[last]))
            qdd[last] = acceleration(&j[last], &psi[last], mu, real_known(0));
        else
            qdd[last] = acceleration(&j[last], &psi[last], mu, psi[last].f.z);
    }
    return pivot_ok(worst) ? DYN_OK : DYN_E_PIVOT;
}

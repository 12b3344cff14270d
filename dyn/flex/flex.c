/*
 * Elastic links, the right-hand side: steps 1 to 6 of M. H. Korayem and A. M. Shafei, "Motion
 * equations proper for forward dynamics of robotic manipulator with flexible links by using
 * recursive Gibbs-Appell formulation" (2009), equations (59) to (66) and (95) to (103).
 *
 * flex_bias runs steps 1 to 6. Its result is minus Re for zero torques, without the stiffness,
 * which dyn/flex/flex_load.c adds. flex_inverse takes the accelerations too, as in (57) and (58).
 *
 * Symbols as in the paper: S and T are force and moment of a link, phi and chi those of all later
 * links, epsilon is `weight`, r and theta of a mode at the end of the beam are `tip` and `slope`.
 * Different from the paper:
 *
 * - The paper's B8, B9, alpha and beta are products of the modes with one vector for each mode:
 *   the first moment weighted with its shape, u_k = integral of mu phi_k r = (moment, uy, uz). B9
 *   comes from Euler's tensor, whose rows are sums of delta_k u_k; alpha_k = u_k x e_k; beta_k is
 *   u_k . e_k 1 - u_k e_k^T, e_k = y or z. With Omega = w'~ + w~^2 the mode's own force (102) is
 *   epsilon_k e_k . r'' + e_k . (Omega u_k + 2 w x u'_k).
 * - E of (6) is a rotation (dyn/model/flex_model.h), and (63) and (65) apply to its three turns one
 *   after the other. This includes w x theta' of (65), which (70) and step 2 drop: without this
 *   term energy is not conserved in motions out of a plane.
 * - Prismatic joints, offsets d, torsion with a polar inertia (a gyrostat about the beam), and a
 *   body on the end of the last beam are added.
 * Corrected: signs of (13) and (44); delta' in (102); (86) is B9.
 *
 * Operations: test_flex_backends. Scratch: sizeof(dyn_flex_link) for each joint.
 */
#include "dyn/number/real.h"

#include "dyn/flex/flex.h"

typedef struct {
    vec w, wd, vd;
} motion;

INLINE motion carried(motion m) {
    return (motion){vec_carried(m.w), vec_carried(m.wd), vec_carried(m.vd)};
}

/* Rates and accelerations of a link's modes. `still` means that all accelerations are zero. */
typedef struct {
    modes rate, more;
    bool still;
} pace;

/* (59), (63), (65): takes the motion from the end of the parent link, before the turn about x
 * there, to link i. */
INLINE motion joint_out(uint32_t i, const joint *j, bool beam, real reach, turn x, turn z, real d,
                        motion up, real qd, real qdd) {
    motion m;
    vec w = vec_turn_x(x, up.w), wd = vec_turn_x(x, up.wd), vd = vec_turn_x(x, up.vd);
    if (beam)
        vd = vec_merged(vec_add_cross2(vd, wd, vec_z(d), w, vec_cross(w, vec_z(d))));
    else
        vd = vec_merged(
            vec_add_cross2(vd, wd, frame_p(reach, d), w, vec_cross(w, frame_p(reach, d))));
    m.w = vec_turn_z(z, w);
    m.wd = vec_turn_z(z, wd);
    m.vd = vec_turn_z(z, vd);
    if (j->prismatic) {
        m.vd = vec_add_cross(vec_add(m.vd, vec_z(qdd)), m.w, vec_z(real_add(qd, qd)));
    } else {
        m.wd = vec_add_cross(vec_add(m.wd, vec_z(qdd)), m.w, vec_z(qd));
        m.w = vec_add(m.w, vec_z(qd));
    }
    NAMED(i, m.w);
    NAMED(i, m.wd);
    NAMED(i, m.vd);
    return m;
}

/* Returns the generalised force that mode k needs for the link's own inertia: -Q of (102), plus the
 * masses of (37) times the accelerations of the modes. */
INLINE real mode_own(const flex_body *B, const flex_link *link, uint32_t k, motion m, omega O,
                     real twice_wx, pace p) {
    const uint32_t y = B->y, bends = y + (uint32_t)B->z;
    acc sum;
    if (k < y) {
        sum = acc_mac(acc_mul(B->weight[k], m.vd.y), O.yx, B->moment[k]);
        sum = acc_mac(acc_msub(sum, O.yy, link->uy[k]), O.yz, link->uz[k]);
        if (B->z > 0)
            sum = acc_msub(sum, twice_wx, mode_sum(B->mass[k] + y, p.rate.z, B->z));
        return p.still ? acc_round(sum)
                       : real_add(acc_round(sum), mode_sum(B->mass[k], p.more.y, y));
    }
    if (k < bends) {
        sum = acc_mac(acc_mul(B->weight[k], m.vd.z), O.zx, B->moment[k]);
        sum = acc_msub(acc_mac(sum, O.zy, link->uy[k]), O.zz, link->uz[k]);
        if (y > 0)
            sum = acc_mac(sum, twice_wx, mode_sum(B->mass[k], p.rate.y, y));
        return p.still ? acc_round(sum)
                       : real_add(acc_round(sum), mode_sum(B->mass[k] + y, p.more.z, B->z));
    }
    const real own = real_mul(B->weight[k], m.wd.x);
    return p.still ? own : real_add(own, mode_sum(B->mass[k] + bends, p.more.x, torsions(B)));
}

/* Returns the sum of rate_k u_k over the modes of one plane: a row of B8. */
INLINE vec u_sum(const flex_body *B, const flex_link *link, uint32_t from, uint32_t n,
                 const real *rate) {
    return vec_make(mode_sum(B->moment + from, rate, n), mode_sum(link->uy + from, rate, n),
                    mode_sum(link->uz + from, rate, n));
}

INLINE vec twice(vec a) {
    return vec_add(a, a);
}

/* Returns the terms of S (96) and T (97) of a bent beam that come from moving modes. */
INLINE load beam_moving(const flex_body *B, const flex_link *link, motion m, pace p) {
    const uint32_t y = B->y, z = B->z, bends = y + z;
    load out = {vec_zero(), vec_zero()};
    if (bends > 0) {
        /* 2 B2 w contains epsilon delta'. 2 B8 w = 2 (trace(P) 1 - P) w, where the rows of P are
         * the sums of rate_k u_k. */
        const vec eps = vec_make(real_known(0), mode_sum(B->weight, p.rate.y, y),
                                 mode_sum(B->weight + y, p.rate.z, z));
        const vec py = u_sum(B, link, 0, y, p.rate.y), pz = u_sum(B, link, y, z, p.rate.z);
        const vec w2 = twice(m.w);
        out.f = vec_cross(w2, eps);
        out.n = vec_sub(vec_scale(real_add(py.y, pz.z), w2),
                        vec_make(real_known(0), vec_dot(py, w2), vec_dot(pz, w2)));
        if (!p.still) {
            const vec ay = u_sum(B, link, 0, y, p.more.y), az = u_sum(B, link, y, z, p.more.z);
            out.f = vec_add(out.f, vec_make(real_known(0), mode_sum(B->weight, p.more.y, y),
                                            mode_sum(B->weight + y, p.more.z, z)));
            out.n = vec_add(out.n, vec_make(real_sub(az.y, ay.z), real_neg(az.x), ay.x));
        }
    }
    if (torsions(B) > 0) {
        /* The torsion acts like a gyrostat: its angular momentum h along x turns with the link. */
        const real h = mode_sum(B->weight + bends, p.rate.x, torsions(B));
        const real hd =
            p.still ? real_known(0) : mode_sum(B->weight + bends, p.more.x, torsions(B));
        out.n = vec_add(out.n, vec_make(hd, real_mul(m.w.z, h), real_neg(real_mul(m.w.y, h))));
    }
    return (load){vec_merged(out.f), vec_merged(out.n)};
}

/* Returns S and T of a body with the motion `m`, about its origin. */
INLINE load body_load(real M, vec b, sym E, motion m, omega O) {
    return (load){vec_add(vec_scale(M, m.vd), omega_mul(O, b)),
                  omega_euler_add_cross(O, E, b, m.vd)};
}

/* Step 3: stores the loads of link i. Writes the forces of its modes (mode_own), minus Q of step 5,
 * to force[]. */
INLINE void link_loads(uint32_t i, const flex_body *B, flex_link *link, motion m, omega O, pace p,
                       real force[]) {
    load own = body_load(B->M, link->b, link->E, m, O);
    if (B->modes > 0) {
        const load more = beam_moving(B, link, m, p);
        const real twice_wx = real_add(m.w.x, m.w.x);
        own = (load){vec_add(own.f, more.f), vec_add(own.n, more.n)};
        for (uint32_t k = 0; k < B->modes; k++) {
            force[B->at + 1 + k] = mode_own(B, link, k, m, O, twice_wx, p);
            NAMED(i, force[B->at + 1 + k]);
        }
    }
    NAMED(i, own.f);
    NAMED(i, own.n);
    link->f = own.f;
    link->n = own.n;
}

/* Adds one of the three turns of E with its rate, (63) and (65). `spin` lies along the axis of the
 * turn. */
INLINE motion spun(motion m, vec spin, vec more) {
    m.wd = vec_add(vec_add_cross(m.wd, m.w, spin), more);
    m.w = vec_add(m.w, spin);
    return m;
}

INLINE vec vec_x(real x) {
    return vec_make(x, real_known(0), real_known(0));
}

INLINE vec vec_y(real y) {
    return vec_make(real_known(0), y, real_known(0));
}

/* Returns the motion at the end of the beam, on the end's axes before the turn about x. */
INLINE motion beam_end(const flex *f, const flex_body *B, const flex_link *link, motion m, omega O,
                       pace p) {
    const real none = real_known(0);
    const grip rate = grip_of(B, p.rate);
    const grip more = p.still ? (grip){none, none, none, none, none} : grip_of(B, p.more);
    vec vd = vec_add(m.vd, omega_mul(O, link->tip));
    vd = vec_add_cross(vd, twice(m.w), vec_make(none, rate.y, rate.z));
    m.vd = vec_add(vd, vec_make(none, more.y, more.z));
    if (f->linear) {
        const vec theta = link->theta;
        m = spun(m, vec_make(rate.about_x, rate.about_y, rate.about_z),
                 vec_make(more.about_x, more.about_y, more.about_z));
        /* Multiplies by the transpose of E, which the paper uses as its inverse. */
        return (motion){vec_add_cross(m.w, m.w, theta), vec_add_cross(m.wd, m.wd, theta),
                        vec_add_cross(m.vd, m.vd, theta)};
    }
    if (B->y > 0) {
        const turn t = turn_load(&link->bend_z);
        m = (motion){vec_turn_z(t, m.w), vec_turn_z(t, m.wd), vec_turn_z(t, m.vd)};
        m = spun(m, vec_z(rate.about_z), vec_z(more.about_z));
        m = (motion){vec_merged(m.w), vec_merged(m.wd), vec_merged(m.vd)};
    }
    if (B->z > 0) {
        const turn t = turn_load(&link->bend_y);
        m = (motion){vec_turn_y(t, m.w), vec_turn_y(t, m.wd), vec_turn_y(t, m.vd)};
        m = spun(m, vec_y(rate.about_y), vec_y(more.about_y));
        m = (motion){vec_merged(m.w), vec_merged(m.wd), vec_merged(m.vd)};
    }
    if (torsions(B) > 0)
        m = spun(m, vec_x(rate.about_x), vec_x(more.about_x));
    return (motion){vec_merged(m.w), vec_merged(m.wd), vec_merged(m.vd)};
}

/* Returns the load of the body on the end of the last beam, on the axes before the turn about x. */
INLINE load end_load(const flex *f, const flex_link *link, motion m) {
    const turn x = turn_load(&link->next);
    m = (motion){vec_turn_x(x, m.w), vec_turn_x(x, m.wd), vec_turn_x(x, m.vd)};
    const load end = body_load(f->end_M, f->end_b, f->end_E, m, omega_make(m.w, m.wd));
    return (load){vec_turn_back_x(x, end.f), vec_turn_back_x(x, end.n)};
}

/* Computes the loads of link i, which moves as `m`, and returns the motion of its end. */
INLINE motion link_out(const flex *f, uint32_t i, flex_link *link, motion m, const real thetad[],
                       const real thetadd[], real force[]) {
    const flex_body *B = &f->link[i];
    const omega O = omega_make(m.w, m.wd);
    const pace p = {modes_of(B, thetad), modes_of(B, thetadd ? thetadd : thetad), !thetadd};
    link_loads(i, B, link, m, O, p, force);
    if (B->modes == 0)
        return (motion){vec_merged(m.w), vec_merged(m.wd), vec_merged(m.vd)};
    return beam_end(f, B, link, m, O, p);
}

/* Steps 4 and 6, (98) to (100) and (103): takes the load `end` at the end of link i to the link's
 * origin. */
INLINE load link_back(const arm *a, const flex *f, uint32_t i, const flex_link *link, load end,
                      real force[]) {
    const flex_body *B = &f->link[i];
    if (B->modes > 0) {
        grip g;
        end = load_from_end(f, B, link, end, &g);
        for (uint32_t k = 0; k < B->modes; k++) {
            real *at = &force[B->at + 1 + k];
            *at = real_add(*at, mode_load(B, k, g));
        }
    }
    const load here = {vec_add(link->f, end.f), vec_add(link->n, end.n)};
    NAMED(i, here.f);
    NAMED(i, here.n);
    force[B->at] = along_axis(&a->joint[i], here);
    NAMED(i, force[B->at]);
    return here;
}

/* thetadd is NULL where all accelerations are zero; the compiler knows this at each call. */
INLINE void inverse(const arm *a, const flex *f, flex_link *link, const real theta[],
                    const real thetad[], const real thetadd[], real force[]) {
    const real none = real_known(0);
    const uint32_t last = f->n - 1;
    for (uint32_t i = 0; i <= last; i++)
        flex_place(a, f, i, theta, &link[i]);

    /* The base is at rest: the compiler knows these zeros. */
    const motion base = {vec_zero(), vec_zero(), a->base_acceleration};
    motion m = joint_out(0, a->joint, true, none, turn_none(), turn_load(&link[0].z), none, base,
                         thetad[0], thetadd ? thetadd[0] : none);
    m = link_out(f, 0, &link[0], m, thetad, thetadd, force);
    for (uint32_t i = 1; i <= last; i++) {
        const flex_body *B = &f->link[i];
        m = joint_out(i, &a->joint[i], f->link[i - 1].modes > 0, B->a, turn_load(&link[i - 1].next),
                      turn_load(&link[i].z), link[i].d, carried(m), thetad[B->at],
                      thetadd ? thetadd[B->at] : none);
        m = link_out(f, i, &link[i], m, thetad, thetadd, force);
    }

    load end = {vec_zero(), vec_zero()};
    if (f->loaded)
        end = end_load(f, &link[last], m);
    end = (load){vec_merged(end.f), vec_merged(end.n)};
    for (uint32_t i = last;; i--) {
        const load here = link_back(a, f, i, &link[i], end, force);
        if (i == 0)
            break;
        end = load_inward(a, f, link, i, here);
    }
}

void DYN(flex_inverse)(const arm *a, const flex *f, flex_scratch *scratch, const real theta[],
                       const real thetad[], const real thetadd[], real force[]) {
    inverse(a, f, scratch->link, theta, thetad, thetadd, force);
}

void DYN(flex_bias)(const arm *a, const flex *f, flex_scratch *scratch, const real theta[],
                    const real thetad[], real force[]) {
    inverse(a, f, scratch->link, theta, thetad, NULL, force);
}

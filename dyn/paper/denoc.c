/*
 * Inverse dynamics `denoc`: the decoupled natural orthogonal complement of S. K. Saha, "Dynamics of
 * Serial Multibody Systems Using the Decoupled Natural Orthogonal Complement Matrices" (1999),
 * section 5.1, with gravity by (32). Bias and gravity torques are the same code with zeros that the
 * compiler knows.
 *
 * Symbols as in the paper, on the axes of link i: the twist nu = (w, v) and its rate xi = (wd, a)
 * are of the centre of mass C_i, gamma = (n, f) is about it; d_i from the origin O_i to C_i (s in
 * dyn/number/arm.inc), r_i from C_i to O_i+1; p_i = (e, e x d_i), prismatic (0, e); B_i,i-1 carries
 * a twist from C_i-1 to C_i.
 *
 * Frames: the paper's frame i+1, fixed to link i, is frame i of distal Denavit-Hartenberg. Ours,
 * modified Denavit-Hartenberg, is fixed to link i too but has its z on joint i, so that e is (0, 0,
 * 1) and d_i is constant there; r of the parent link is the constant j->r, to which a prismatic
 * joint adds q e.
 *
 * B and its rate are not formed. With U = wd~ + w~ w~ (dyn/number/tensor.h) of the parent link, the
 * origin accelerates by a_O = a + U r, on the parent's axes, plus 2 w x e qd + e qdd where the
 * joint is prismatic; with U of the link itself, its centre of mass accelerates by a_O + U d, on
 * its own axes.
 *
 * Corrected: in the forward recursion of nu the paper lacks B; B' of a prismatic joint contains e_i
 * b'_i, so that w x e qd, once in Omega p, counts twice. Of nu only w is used.
 *
 * Operations (revolute, n >= 3; test_dyn_denoc): 105n - 79 multiplications, 87n - 73 additions;
 * the paper has 120n - 44 and 97n - 55. Bias: 105n - 84 and 86n - 77; gravity: 39n - 26 and
 * 27n - 22.
 *
 * Scratch: sizeof(dyn_denoc_link) for each joint, 32 bytes in f32 and q31.
 */
#include "dyn/number/real.h"

#include "dyn/paper/denoc.h"
#include "dyn/number/tensor.h"

typedef DYN_T(denoc_link) denoc_link;

/* w is part of the twist nu, wd and a are xi; U gives the accelerations of the link's points. */
typedef struct {
    vec w, wd, a;
    omega U;
} motion;

/* The inputs that the compiler knows to be zero: MOVING none, COASTING qdd, RESTING qdd and qd. */
typedef enum { MOVING, COASTING, RESTING } zeros;

/* Restores the known zeros in each round of the loop, because the compiler does not see them
 * through a loop. */
INLINE motion carry(motion m, zeros known) {
    m.a = vec_carried(m.a);
    if (known == RESTING) {
        m.w = m.wd = vec_zero();
    } else {
        m.w = vec_carried(m.w);
        m.wd = vec_carried(m.wd);
        m.U = omega_carried(m.U);
    }
    return m;
}

/* Returns r of the parent of link i. */
INLINE vec r_before(const joint *j, real q) {
    return j->prismatic ? vec_add(j->r, vec_turn_back_x(turn_load(&j->x), vec_z(q))) : j->r;
}

/* The forward recursion: computes the motion of link i from that of its parent. `up` contains a_O
 * on the parent's axes. */
INLINE motion outward(uint32_t i, const joint *j, turn x, turn z, motion up, real qd, real qdd,
                      zeros known) {
    motion m = up;
    m.w = vec_turn_z(z, vec_turn_x(x, up.w));
    m.wd = vec_turn_z(z, vec_turn_x(x, up.wd));
    m.a = vec_turn_z(z, vec_turn_x(x, up.a));
    if (known == RESTING)
        qd = real_known(0);
    if (known != MOVING)
        qdd = real_known(0);
    if (j->prismatic) {
        m.a = vec_add_cross(vec_add(m.a, vec_z(qdd)), m.w, vec_z(real_add(qd, qd)));
    } else {
        m.wd = vec_add_cross(vec_add(m.wd, vec_z(qdd)), m.w, vec_z(qd));
        m.w = vec_add(m.w, vec_z(qd));
    }
    /* w and wd are zero in both branches, but the compiler sees that too late. */
    if (known == RESTING)
        m.w = m.wd = vec_zero();
    NAMED(i, m.w);
    NAMED(i, m.wd);
    if (known != RESTING) {
        m.U = omega_make(m.w, m.wd);
        m.a = vec_add(m.a, omega_mul(m.U, j->s));
    }
    NAMED(i, m.a);
    return m;
}

/* Returns M xi + M' nu. */
INLINE wrench own(uint32_t i, const joint *j, motion m) {
    wrench g = {sym_euler(j->J, m.wd, m.w), vec_scale(j->m, m.a)};
    NAMED(i, g.n);
    NAMED(i, g.f);
    return g;
}

/* Returns gamma about the origin; p^T gamma is its component on the axis. */
INLINE wrench at_origin(const joint *j, wrench g) {
    return (wrench){vec_add_cross(g.n, j->s, g.f), g.f};
}

INLINE real along_axis(const joint *j, wrench g) {
    return j->prismatic ? g.f.z : g.n.z;
}

/* Takes gamma_i, given about the origin of link i, to the centre of mass of the parent: B_i,i-1^T
 * gamma_i. */
INLINE wrench inward(const joint *j, const denoc_link *link, real q, wrench g) {
    const turn x = turn_load(&j->x), z = turn_load(&link->z);
    g = wrench_to_parent_unit(j, g);
    vec f = vec_turn_back_x(x, vec_turn_back_z(z, g.f));
    vec n = vec_turn_back_x(x, vec_turn_back_z(z, g.n));
    return (wrench){vec_add_cross(n, r_before(j, q), f), f};
}

INLINE void recursion(const arm *a, denoc_link *link, const real q[], const real qd[],
                      const real qdd[], real tau[], zeros known) {
    const joint *j = a->joint;
    const uint32_t last = a->n - 1;
    const frame A = frame_first(j, q[0]);
    motion m = {vec_zero(), vec_zero(), a->base_acceleration, omega_make(vec_zero(), vec_zero())};

    m = outward(0, j, turn_none(), A.z, m, qd[0], qdd[0], known);
    const wrench first = own(0, j, m);
    for (uint32_t i = 1; i <= last; i++) {
        m = carry(m, known);
        /* Takes the acceleration to the origin of joint i, on the axes of the parent link. */
        if (known != RESTING)
            m.a = vec_add(m.a, omega_mul(m.U, r_before(&j[i], q[i])));
        if (j[i].prismatic)
            link[i].z = turn_load(&j[i].fixed_z);
        else
            real_sincos(q[i], j[i].offset, &link[i].z.c, &link[i].z.s);
        m = outward(i, &j[i], turn_load(&j[i].x), turn_load(&link[i].z), m, qd[i], qdd[i], known);
        const wrench g = own(i, &j[i], m);
        link[i].n = g.n;
        link[i].f = g.f;
    }

    /* The last link carries no other link. The first link needs only the component on its axis; the
     * compiler drops the rest. */
    wrench down = {vec_zero(), vec_zero()};
    if (last > 0) {
        wrench g = at_origin(&j[last], (wrench){link[last].n, link[last].f});
        tau[last] = along_axis(&j[last], g);
        NAMED(last, tau[last]);
        down = inward(&j[last], &link[last], q[last], g);
        for (uint32_t i = last - 1; i > 0; i--) {
            g = at_origin(&j[i], wrench_add((wrench){link[i].n, link[i].f}, down));
            NAMED(i, g.f);
            NAMED(i, g.n);
            tau[i] = along_axis(&j[i], g);
            NAMED(i, tau[i]);
            down = inward(&j[i], &link[i], q[i], g);
        }
    }
    const wrench g = wrench_add(first, down);
    tau[0] = j->prismatic ? g.f.z : at_origin(j, g).n.z;
    NAMED(0, tau[0]);
}

void DYN(denoc_inverse)(const arm *a, DYN_T(denoc_scratch) *scratch, const real q[],
                        const real qd[], const real qdd[], real tau[]) {
    recursion(a, scratch->link, q, qd, qdd, tau, MOVING);
}

void DYN(denoc_bias)(const arm *a, DYN_T(denoc_scratch) *scratch, const real q[], const real qd[],
                     real tau[]) {
    recursion(a, scratch->link, q, qd, qd, tau, COASTING);
}

void DYN(denoc_gravity)(const arm *a, DYN_T(denoc_scratch) *scratch, const real q[], real tau[]) {
    recursion(a, scratch->link, q, q, q, tau, RESTING);
}

/* Traces inverse dynamics for tools/gen/form.h: first outward through the groups, then inward. */
#include "tools/gen/form_vector.h"

/* Elements of Omega = wd~ + w~ w~ by row and column; xx, yy and zz are the negated diagonal; x2, y2
 * and z2 are the squares of the components of w. */
typedef struct {
    ref_t x2, y2, z2, xx, yy, zz, xy, yx, yz, zy, zx, xz;
} omega_t;

/*
 * Makes Omega of a link in a group, on the link's or the group's axes. w is the angular velocity;
 * w.z = zG + rate, where zG is that of the group's frame and rate that of the link in the group.
 * u.x and u.y are the angular acceleration without the terms rate times w; wdz is its z component.
 */
static omega_t omega_of(trace_t *t, bool direct, vec_t w, vec_t u, ref_t zG, ref_t rate,
                        ref_t wdz) {
    omega_t o;
    const ref_t xy = mul(t, w.x, w.y);
    o.x2 = mul(t, w.x, w.x);
    o.y2 = mul(t, w.y, w.y);
    o.z2 = mul(t, w.z, w.z);
    o.xx = add(t, o.y2, o.z2);
    o.yy = add(t, o.z2, o.x2);
    o.zz = add(t, o.x2, o.y2);
    o.xy = sub(t, xy, wdz);
    o.yx = add(t, xy, wdz);
    if (direct) {
        const ref_t twice = add(t, w.z, rate);
        o.yz = sub(t, mul(t, w.y, zG), u.x);
        o.zy = add(t, mul(t, w.y, twice), u.x);
        o.zx = sub(t, mul(t, w.x, twice), u.y);
        o.xz = add(t, mul(t, w.x, zG), u.y);
    } else {
        const ref_t wdx = add(t, u.x, mul(t, rate, w.y)), wdy = sub(t, u.y, mul(t, rate, w.x));
        const ref_t yz = mul(t, w.y, w.z), zx = mul(t, w.z, w.x);
        o.yz = sub(t, yz, wdx);
        o.zy = add(t, yz, wdx);
        o.zx = sub(t, zx, wdy);
        o.xz = add(t, zx, wdy);
    }
    return o;
}

static vec_t omega_mul(trace_t *t, omega_t o, vec_t r) {
    return (vec_t){sub(t, add(t, mul(t, o.xy, r.y), mul(t, o.xz, r.z)), mul(t, o.xx, r.x)),
                   sub(t, add(t, mul(t, o.yx, r.x), mul(t, o.yz, r.z)), mul(t, o.yy, r.y)),
                   sub(t, add(t, mul(t, o.zx, r.x), mul(t, o.zy, r.y)), mul(t, o.zz, r.z))};
}

/* One component of the axial vector of the skew-symmetric matrix Omega J - (Omega J)^T. */
static ref_t euler(trace_t *t, ref_t zx, ref_t Jxy, ref_t zy, ref_t Jyy, ref_t yx, ref_t Jxz,
                   ref_t yz, ref_t Jzz, ref_t z2, ref_t y2, ref_t Jyz) {
    ref_t sum = add(t, mul(t, zx, Jxy), mul(t, zy, Jyy));
    sum = sub(t, sub(t, sum, mul(t, yx, Jxz)), mul(t, yz, Jzz));
    return add(t, sum, mul(t, sub(t, z2, y2), Jyz));
}

static load_t body_load(trace_t *t, body_t b, omega_t o, vec_t a) {
    const vec_t n = {
        euler(t, o.zx, b.J.xy, o.zy, b.J.yy, o.yx, b.J.xz, o.yz, b.J.zz, o.z2, o.y2, b.J.yz),
        euler(t, o.xy, b.J.yz, o.xz, b.J.zz, o.zy, b.J.xy, o.zx, b.J.xx, o.x2, o.z2, b.J.xz),
        euler(t, o.yz, b.J.xz, o.yx, b.J.xx, o.xz, b.J.yz, o.xy, b.J.yy, o.y2, o.x2, b.J.xy)};
    return (load_t){vadd(t, omega_mul(t, o, b.l), vscale(t, b.m, a)), vadd(t, n, cross(t, b.l, a))};
}

/* Result of the outward pass for a link: the load of its own mass, on the axes of the group or of
 * the link. */
typedef struct {
    load_t own;
    bool on_group;
} left_t;

typedef struct {
    vec_t w, wd, a; /* motion of a link, on the link's axes */
    omega_t o;
} motion_t;

/* Goes outward through the group that starts with joint i; returns the motion of its last link. */
static motion_t group_out(trace_t *t, uint32_t i, motion_t before, left_t left[]) {
    const gen_joint_t *joint = t->arm->joint;
    const uint8_t choice = t->choice[i];
    const turn_t x = alpha_of(t, i);
    const vec_t wG = in_x(t, x, before.w), uG = in_x(t, x, before.wd);
    const vec_t step = hold_vec(t, omega_mul(t, before.o, step_of(t, i)));
    vec_t aG = in_x(t, x, vadd(t, before.a, step));
    ref_t rate = 0, turned = 0;
    motion_t m = before;
    for (uint32_t k = i; k == i || (k < t->arm->n && !joint[k].starts); k++) {
        const bool last = k + 1 == t->arm->n || joint[k + 1].starts;
        if (joint[k].prismatic) {
            const ref_t twice = mul(t, K(t, 2), t->qd[k]);
            aG = vadd(t, aG,
                      (vec_t){mul(t, wG.y, twice), graph_neg(mul(t, wG.x, twice)), t->qdd[k]});
        } else {
            rate = add(t, rate, t->qd[k]);
            turned = add(t, turned, t->qdd[k]);
        }
        const bool direct = choice & FORM_DIRECT;
        const ref_t z = add(t, wG.z, rate), wdz = add(t, uG.z, turned);
        const vec_t onG = {wG.x, wG.y, z};
        const omega_t OG = omega_of(t, direct, onG, uG, wG.z, rate, wdz);
        const vec_t inward = in_z(t, t->phi[k], onG), u = in_z(t, t->phi[k], uG);
        const vec_t w = last ? hold_vec(t, inward) : inward;
        m.w = w;
        m.wd = (vec_t){add(t, u.x, mul(t, rate, w.y)), sub(t, u.y, mul(t, rate, w.x)), wdz};
        m.o = omega_of(t, direct, w, u, wG.z, rate, wdz);
        m.a = in_z(t, t->phi[k], aG);
        if (last) {
            m.wd = hold_vec(t, m.wd);
            m.a = hold_vec(t, m.a);
        }
        hint_vec(t, "w", k, m.w);
        hint_vec(t, "wd", k, m.wd);
        hint_vec(t, "a", k, m.a);
        left[k].on_group = choice & (last ? FORM_LAST : FORM_BODIES);
        body_t b = body_of(t, k);
        if (left[k].on_group) {
            b.l = out_z(t, t->phi[k], b.l);
            b.J = sym_out_z(t, t->phi[k], b.J);
            left[k].own = body_load(t, b, OG, aG);
        } else
            left[k].own = body_load(t, b, m.o, m.a);
        left[k].own = hold_load(t, left[k].own);
        hint_vec(t, "F", k, left[k].own.f);
        hint_vec(t, "N", k, left[k].own.n);
        if (!last) {
            if (choice & FORM_SHIFT)
                aG = hold_vec(t, vadd(t, aG, omega_mul(t, OG, step_in_group(t, k + 1))));
            else {
                const vec_t p = {K(t, joint[k + 1].a), 0,
                                 add(t, K(t, joint[k + 1].rise), slide_of(t, k + 1))};
                aG = hold_vec(t, vadd(t, aG, out_z(t, t->phi[k], omega_mul(t, m.o, p))));
            }
        }
    }
    return m;
}

/*
 * Goes inward from the last joint of a group to the first and computes tau. `behind` is the load of
 * the groups behind, on the axes of the last link and about its origin. Returns the load on the
 * link before the group.
 */
static load_t group_in(trace_t *t, uint32_t first, uint32_t last, load_t behind,
                       const left_t left[], ref_t tau[]) {
    load_t L = behind;
    bool on_link = true;
    for (uint32_t k = last + 1; k-- > first;) {
        load_t own = left[k].own;
        if (!left[k].on_group && on_link && (t->choice[first] & FORM_TURNED))
            L = load_out_z(t, t->phi[k], load_sum(t, L, own));
        else {
            if (on_link)
                L = load_out_z(t, t->phi[k], L);
            L = load_sum(t, L, left[k].on_group ? own : load_out_z(t, t->phi[k], own));
        }
        on_link = false;
        L = hold_load(t, L);
        hint_vec(t, "f", k, L.f);
        hint_vec(t, "n", k, L.n);
        tau[k] = t->arm->joint[k].prismatic ? L.f.z : L.n.z;
        if (k > first)
            L = load_shift(t, step_in_group(t, k), L);
    }
    const turn_t x = alpha_of(t, first);
    L = (load_t){out_x(t, x, L.f), out_x(t, x, L.n)};
    return first > 0 ? load_shift(t, step_of(t, first), L) : L;
}

/* Returns the load on the last link that balances the wrench, about the link's origin. */
static load_t effector_load(trace_t *t) {
    load_t none = {{0, 0, 0}, {0, 0, 0}};
    if (!(t->arm->keep & GEN_KEEP_WRENCH) || t->at_rest)
        return none;
    ref_t w[6], r[6] = {0};
    for (int k = 0; k < 6; k++)
        w[k] = graph_neg(graph_input(t->g, GEN_WRENCH, k));
    const dyn_pose_t *tool = &t->arm->tool;
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++)
            r[k] = add(t, r[k], mul(t, K(t, tool->r[k % 3][c]), w[c + 3 * (k / 3)]));
    const load_t load = {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}};
    return load_shift(t, constant(t, tool->p), load);
}

void form_inverse(trace_t *t, ref_t tau[]) {
    const uint32_t n = t->arm->n;
    static left_t left[DYN_MAX_JOINTS];
    const vec_t none = {0, 0, 0};
    motion_t m = {none, none, gravity_of(t), {0}};
    for (uint32_t i = 0; i < n; i++)
        if (t->arm->joint[i].starts)
            m = group_out(t, i, m, left);
    load_t L = effector_load(t);
    for (uint32_t last = n; last-- > 0;) {
        const uint32_t first = t->first[last];
        L = group_in(t, first, last, L, left, tau);
        last = first;
    }
}

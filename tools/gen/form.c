/* Inverse dynamics, inertia matrix and forward dynamics of tools/gen/form.h. */
#include "tools/gen/form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gen_array_name[GEN_ARRAYS] = {"q",       "qd",      "qdd",   "tau",
                                                "gravity", "payload", "wrench"};

typedef struct {
    ref_t x, y, z;
} vec_t;

typedef struct {
    ref_t xx, yy, zz, xy, yz, xz;
} sym_t;

typedef struct {
    ref_t c, s;
} turn_t;

/* What is at hand while an arm is traced. */
typedef struct {
    graph_t *g;
    const gen_arm_t *arm;
    const uint8_t *choice;          /* of each group */
    uint32_t first[DYN_MAX_JOINTS]; /* joint of the link's group */
    turn_t phi[DYN_MAX_JOINTS];     /* of link j against its group */
    ref_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    bool at_rest;               /* gravity torques: nothing but the masses */
    gen_names_t *names;         /* may be NULL */
    ref_t named[GEN_NAMES_MAX]; /* what they are while the graph is built */
} trace_t;

double gen_probe(void *context, int32_t array, int32_t index) {
    /* Angles, speeds and the rest without any relation between them. */
    const double k = 1 + index + 37 * array + 1009 * *(const int *)context;
    return sin(k * 12.9898 + 4.1414 * k * k);
}

/* Joints from 1, as in the papers. */
static void hint(trace_t *t, const char *name, uint32_t joint, const char *part, ref_t a) {
    gen_names_t *names = t->names;
    if (!names || names->count == GEN_NAMES_MAX || graph_at(t->g, a >> 1)->op <= GRAPH_COS)
        return;
    gen_name_t *n = &names->name[names->count];
    if (snprintf(n->name, sizeof n->name, "%s%u%s", name, (unsigned)joint + 1, part) >= GEN_NAME)
        return;
    t->named[names->count++] = a;
}

static ref_t K(trace_t *t, double value) {
    return graph_const(t->g, value);
}

static ref_t add(trace_t *t, ref_t a, ref_t b) {
    return graph_add(t->g, a, b);
}

static ref_t sub(trace_t *t, ref_t a, ref_t b) {
    return graph_sub(t->g, a, b);
}

static ref_t mul(trace_t *t, ref_t a, ref_t b) {
    return graph_mul(t->g, a, b);
}

static vec_t vadd(trace_t *t, vec_t a, vec_t b) {
    return (vec_t){add(t, a.x, b.x), add(t, a.y, b.y), add(t, a.z, b.z)};
}

static vec_t cross(trace_t *t, vec_t a, vec_t b) {
    return (vec_t){sub(t, mul(t, a.y, b.z), mul(t, a.z, b.y)),
                   sub(t, mul(t, a.z, b.x), mul(t, a.x, b.z)),
                   sub(t, mul(t, a.x, b.y), mul(t, a.y, b.x))};
}

static vec_t vscale(trace_t *t, ref_t k, vec_t a) {
    return (vec_t){mul(t, k, a.x), mul(t, k, a.y), mul(t, k, a.z)};
}

static vec_t constant(trace_t *t, const double a[3]) {
    return (vec_t){K(t, a[0]), K(t, a[1]), K(t, a[2])};
}

static void hint_vec(trace_t *t, const char *name, uint32_t joint, vec_t a) {
    hint(t, name, joint, "x", a.x);
    hint(t, name, joint, "y", a.y);
    hint(t, name, joint, "z", a.z);
}

static void hint_sym(trace_t *t, const char *name, uint32_t joint, sym_t A) {
    hint(t, name, joint, "xx", A.xx);
    hint(t, name, joint, "yy", A.yy);
    hint(t, name, joint, "zz", A.zz);
    hint(t, name, joint, "xy", A.xy);
    hint(t, name, joint, "yz", A.yz);
    hint(t, name, joint, "xz", A.xz);
}

/* From link to group: Rz, and back. */
static vec_t out_z(trace_t *t, turn_t r, vec_t a) {
    return (vec_t){sub(t, mul(t, r.c, a.x), mul(t, r.s, a.y)),
                   add(t, mul(t, r.s, a.x), mul(t, r.c, a.y)), a.z};
}

static vec_t in_z(trace_t *t, turn_t r, vec_t a) {
    r.s = graph_neg(r.s);
    return out_z(t, r, a);
}

/* From group to the link before: Rx, and back. */
static vec_t out_x(trace_t *t, turn_t r, vec_t a) {
    return (vec_t){a.x, sub(t, mul(t, r.c, a.y), mul(t, r.s, a.z)),
                   add(t, mul(t, r.s, a.y), mul(t, r.c, a.z))};
}

static vec_t in_x(trace_t *t, turn_t r, vec_t a) {
    r.s = graph_neg(r.s);
    return out_x(t, r, a);
}

/* Rz A Rz^T: the block by k = s (xx - yy) + 2 c xy. */
static sym_t sym_out_z(trace_t *t, turn_t r, sym_t A) {
    const ref_t k = add(t, mul(t, r.s, sub(t, A.xx, A.yy)), mul(t, r.c, mul(t, K(t, 2), A.xy)));
    const ref_t sk = mul(t, r.s, k);
    return (sym_t){.xx = sub(t, A.xx, sk),
                   .yy = add(t, A.yy, sk),
                   .zz = A.zz,
                   .xy = sub(t, mul(t, r.c, k), A.xy),
                   .yz = add(t, mul(t, r.c, A.yz), mul(t, r.s, A.xz)),
                   .xz = sub(t, mul(t, r.c, A.xz), mul(t, r.s, A.yz))};
}

static sym_t sym_out_x(trace_t *t, turn_t r, sym_t A) {
    const ref_t k = add(t, mul(t, r.s, sub(t, A.yy, A.zz)), mul(t, r.c, mul(t, K(t, 2), A.yz)));
    const ref_t sk = mul(t, r.s, k);
    return (sym_t){.xx = A.xx,
                   .yy = sub(t, A.yy, sk),
                   .zz = add(t, A.zz, sk),
                   .xy = sub(t, mul(t, r.c, A.xy), mul(t, r.s, A.xz)),
                   .yz = sub(t, mul(t, r.c, k), A.yz),
                   .xz = add(t, mul(t, r.c, A.xz), mul(t, r.s, A.xy))};
}

static sym_t sym_sum(trace_t *t, sym_t A, sym_t B) {
    return (sym_t){add(t, A.xx, B.xx), add(t, A.yy, B.yy), add(t, A.zz, B.zz),
                   add(t, A.xy, B.xy), add(t, A.yz, B.yz), add(t, A.xz, B.xz)};
}

/* ------------------------------------------------------------------------------------ constants */

typedef struct {
    ref_t m;
    vec_t l;
    sym_t J;
} body_t;

static turn_t alpha_of(trace_t *t, uint32_t i) {
    return (turn_t){K(t, t->arm->joint[i].ca), K(t, t->arm->joint[i].sa)};
}

static body_t body_of(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    body_t b = {
        K(t, j->m),
        constant(t, j->l),
        {K(t, j->J[0]), K(t, j->J[1]), K(t, j->J[2]), K(t, j->J[3]), K(t, j->J[4]), K(t, j->J[5])}};
    if (i == t->arm->n - 1 && (t->arm->keep & GEN_KEEP_PAYLOAD)) {
        ref_t p[10];
        for (int k = 0; k < 10; k++)
            p[k] = graph_input(t->g, GEN_PAYLOAD, k);
        b.m = add(t, b.m, p[0]);
        b.l = vadd(t, b.l, (vec_t){p[1], p[2], p[3]});
        b.J = sym_sum(t, b.J, (sym_t){p[4], p[5], p[6], p[7], p[8], p[9]});
    }
    return b;
}

static vec_t gravity_of(trace_t *t) {
    if (t->arm->keep & GEN_KEEP_GRAVITY)
        return (vec_t){graph_neg(graph_input(t->g, GEN_GRAVITY, 0)),
                       graph_neg(graph_input(t->g, GEN_GRAVITY, 1)),
                       graph_neg(graph_input(t->g, GEN_GRAVITY, 2))};
    const double up[3] = {-t->arm->gravity[0], -t->arm->gravity[1], -t->arm->gravity[2]};
    return constant(t, up);
}

/* Where every link of a group stands in it. */
static void place(trace_t *t) {
    ref_t angle = 0;
    for (uint32_t i = 0; i < t->arm->n; i++) {
        const gen_joint_t *j = &t->arm->joint[i];
        t->first[i] = j->starts ? i : t->first[i - 1];
        if (j->starts)
            angle = 0;
        const bool turns = !j->prismatic && !(t->arm->round && i == t->arm->n - 1);
        angle = graph_angle(t->g, angle, turns ? t->q[i] : GRAPH_NONE, j->theta);
        graph_sincos(t->g, angle, &t->phi[i].c, &t->phi[i].s);
    }
}

/* Along the axis of a prismatic joint. */
static ref_t slide_of(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    return j->prismatic ? add(t, t->q[i], K(t, j->d)) : 0;
}

/* From the origin of the link before to ours, on its axes; for the first of a group. */
static vec_t step_of(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    const vec_t slide = out_x(t, alpha_of(t, i), (vec_t){0, 0, slide_of(t, i)});
    return vadd(t, (vec_t){K(t, j->a), 0, K(t, j->rise)}, slide);
}

/* The same on the axes of the group; for those behind the first. */
static vec_t step_in_group(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    const vec_t p = out_z(t, t->phi[i - 1], (vec_t){K(t, j->a), 0, 0});
    return vadd(t, p, (vec_t){0, 0, add(t, K(t, j->rise), slide_of(t, i))});
}

/* ----------------------------------------------------------------------------- inverse dynamics */

/* Omega = wd~ + w~ w~ by row and column; of the diagonal the negative. */
typedef struct {
    ref_t x2, y2, z2, xx, yy, zz, xy, yx, yz, zy, zx, xz;
} omega_t;

/*
 * w is (x, y) on some axes of the group and zG + rate about its axis; (ux, uy) the part of the
 * angular acceleration that is not rate times w.
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

/* One part of the vector of Omega J - (Omega J)^T. */
static ref_t euler(trace_t *t, ref_t zx, ref_t Jxy, ref_t zy, ref_t Jyy, ref_t yx, ref_t Jxz,
                   ref_t yz, ref_t Jzz, ref_t z2, ref_t y2, ref_t Jyz) {
    ref_t sum = add(t, mul(t, zx, Jxy), mul(t, zy, Jyy));
    sum = sub(t, sub(t, sum, mul(t, yx, Jxz)), mul(t, yz, Jzz));
    return add(t, sum, mul(t, sub(t, z2, y2), Jyz));
}

typedef struct {
    vec_t f, n;
} load_t;

static load_t body_load(trace_t *t, body_t b, omega_t o, vec_t a) {
    const vec_t n = {
        euler(t, o.zx, b.J.xy, o.zy, b.J.yy, o.yx, b.J.xz, o.yz, b.J.zz, o.z2, o.y2, b.J.yz),
        euler(t, o.xy, b.J.yz, o.xz, b.J.zz, o.zy, b.J.xy, o.zx, b.J.xx, o.x2, o.z2, b.J.xz),
        euler(t, o.yz, b.J.xz, o.yx, b.J.xx, o.xz, b.J.yz, o.xy, b.J.yy, o.y2, o.x2, b.J.xy)};
    return (load_t){vadd(t, omega_mul(t, o, b.l), vscale(t, b.m, a)), vadd(t, n, cross(t, b.l, a))};
}

/* What the outward pass leaves of a link: its own load, and on which axes. */
typedef struct {
    load_t own;
    bool on_group;
} left_t;

typedef struct {
    vec_t w, wd, a; /* of a link, on its axes */
    omega_t o;
} motion_t;

/* Outward through the group that starts with joint i; gives the motion of its last link. */
static motion_t group_out(trace_t *t, uint32_t i, motion_t before, left_t left[]) {
    const gen_joint_t *joint = t->arm->joint;
    const uint8_t choice = t->choice[i];
    const turn_t x = alpha_of(t, i);
    const vec_t wG = in_x(t, x, before.w), uG = in_x(t, x, before.wd);
    vec_t aG = in_x(t, x, vadd(t, before.a, omega_mul(t, before.o, step_of(t, i))));
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
        vec_t w = in_z(t, t->phi[k], onG), u = in_z(t, t->phi[k], uG);
        m.w = w;
        m.wd = (vec_t){add(t, u.x, mul(t, rate, w.y)), sub(t, u.y, mul(t, rate, w.x)), wdz};
        m.o = omega_of(t, direct, w, u, wG.z, rate, wdz);
        m.a = in_z(t, t->phi[k], aG);
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
        hint_vec(t, "F", k, left[k].own.f);
        hint_vec(t, "N", k, left[k].own.n);
        if (!last) {
            if (choice & FORM_SHIFT)
                aG = vadd(t, aG, omega_mul(t, OG, step_in_group(t, k + 1)));
            else {
                const vec_t p = {K(t, joint[k + 1].a), 0,
                                 add(t, K(t, joint[k + 1].rise), slide_of(t, k + 1))};
                aG = vadd(t, aG, out_z(t, t->phi[k], omega_mul(t, m.o, p)));
            }
        }
    }
    return m;
}

static load_t load_sum(trace_t *t, load_t a, load_t b) {
    return (load_t){vadd(t, a.f, b.f), vadd(t, a.n, b.n)};
}

static load_t load_out_z(trace_t *t, turn_t r, load_t a) {
    return (load_t){out_z(t, r, a.f), out_z(t, r, a.n)};
}

static load_t load_shift(trace_t *t, vec_t p, load_t a) {
    return (load_t){a.f, vadd(t, a.n, cross(t, p, a.f))};
}

/* Inward from the last joint of a group to the first, tau on the way; gives the load on the link
 * before. `behind` is on the axes of the last link, about its origin. */
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

/* The hand's wrench as a load on the last link, about its origin. */
static load_t hand_load(trace_t *t) {
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

static void inverse(trace_t *t, ref_t tau[]) {
    const uint32_t n = t->arm->n;
    static left_t left[DYN_MAX_JOINTS];
    const vec_t none = {0, 0, 0};
    motion_t m = {none, none, gravity_of(t), {0}};
    for (uint32_t i = 0; i < n; i++)
        if (t->arm->joint[i].starts)
            m = group_out(t, i, m, left);
    load_t L = hand_load(t);
    for (uint32_t last = n; last-- > 0;) {
        const uint32_t first = t->first[last];
        L = group_in(t, first, last, L, left, tau);
        last = first;
    }
}

/* ------------------------------------------------------------------------------- inertia matrix */

typedef struct {
    ref_t M;
    vec_t L;
    sym_t J;
    ref_t around; /* J.xx + J.yy, which a turn about z does not change */
} composite_t;

static composite_t join(trace_t *t, composite_t c, body_t b) {
    return (composite_t){add(t, c.M, b.m), vadd(t, c.L, b.l), sym_sum(t, c.J, b.J),
                         add(t, c.around, add(t, b.J.xx, b.J.yy))};
}

static composite_t join_turned(trace_t *t, composite_t c, turn_t r, body_t b) {
    const ref_t around = add(t, c.around, add(t, b.J.xx, b.J.yy));
    b.l = out_z(t, r, b.l);
    b.J = sym_out_z(t, r, b.J);
    c = join(t, c, b);
    c.around = around;
    return c;
}

/* About a point p before. */
static composite_t move(trace_t *t, composite_t c, vec_t p) {
    const vec_t Mp = vscale(t, c.M, p), b = vadd(t, c.L, Mp), a = c.L;
    const ref_t xx = mul(t, p.x, add(t, a.x, b.x)), yy = mul(t, p.y, add(t, a.y, b.y));
    c.J.xx = add(t, c.J.xx, xx);
    c.J.yy = add(t, c.J.yy, yy);
    c.J.zz = add(t, c.J.zz, mul(t, p.z, add(t, a.z, b.z)));
    c.J.xy = add(t, c.J.xy, add(t, mul(t, p.x, a.y), mul(t, b.x, p.y)));
    c.J.yz = add(t, c.J.yz, add(t, mul(t, p.y, a.z), mul(t, b.y, p.z)));
    c.J.xz = add(t, c.J.xz, add(t, mul(t, p.x, a.z), mul(t, b.x, p.z)));
    c.around = add(t, c.around, add(t, xx, yy));
    c.L = b;
    return c;
}

/* The unit acceleration of joint k: what it takes at its origin, on the axes of its group. */
static load_t unit_load(const gen_joint_t *j, composite_t c) {
    if (j->prismatic)
        return (load_t){{0, 0, c.M}, {c.L.y, graph_neg(c.L.x), 0}};
    return (load_t){{graph_neg(c.L.y), c.L.x, 0}, {graph_neg(c.J.xz), graph_neg(c.J.yz), c.around}};
}

static void matrix(trace_t *t, ref_t M[]) {
    const gen_arm_t *arm = t->arm;
    static load_t effort[DYN_MAX_JOINTS];
    composite_t c = {0};
    for (uint32_t last = arm->n; last-- > 0;) {
        const uint32_t first = t->first[last];
        c = join(t, c, body_of(t, last));
        c.L = out_z(t, t->phi[last], c.L);
        c.J = sym_out_z(t, t->phi[last], c.J);
        for (uint32_t e = last + 1; e < arm->n; e++)
            effort[e] = load_out_z(t, t->phi[last], effort[e]);
        for (uint32_t k = last + 1; k-- > first;) {
            hint_vec(t, "L", k, c.L);
            hint_sym(t, "J", k, c.J);
            effort[k] = unit_load(&arm->joint[k], c);
            for (uint32_t e = k; e < arm->n; e++)
                M[e * (e + 1) / 2 + k] = arm->joint[k].prismatic ? effort[e].f.z : effort[e].n.z;
            if (k == first)
                break;
            const vec_t p = step_in_group(t, k);
            for (uint32_t e = k; e < arm->n; e++)
                effort[e] = load_shift(t, p, effort[e]);
            c = join_turned(t, move(t, c, p), t->phi[k - 1], body_of(t, k - 1));
        }
        last = first;
        if (first == 0)
            break;
        const turn_t x = alpha_of(t, first);
        const vec_t p = step_of(t, first);
        for (uint32_t e = first; e < arm->n; e++) {
            const load_t turned = {out_x(t, x, effort[e].f), out_x(t, x, effort[e].n)};
            effort[e] = load_shift(t, p, turned);
        }
        c.L = out_x(t, x, c.L);
        c.J = sym_out_x(t, x, c.J);
        c.around = add(t, c.J.xx, c.J.yy);
        c = move(t, c, p);
    }
    for (uint32_t i = 0; i < arm->n; i++)
        M[i * (i + 3) / 2] = add(t, M[i * (i + 3) / 2], K(t, arm->joint[i].rotor));
}

static void hint_pair(trace_t *t, const char *name, uint32_t i, uint32_t j, ref_t a) {
    char part[12];
    snprintf(part, sizeof part, "_%u", (unsigned)j + 1);
    hint(t, name, i, part, a);
}

/* A x' = x by A = U D U^T from the last joint to the first. */
static void solve(trace_t *t, uint32_t n, ref_t A[], ref_t x[]) {
    for (uint32_t i = n; i-- > 0;) {
        ref_t *Ai = A + i * (i + 1) / 2;
        const ref_t recip = graph_recip(t->g, Ai[i]);
        ref_t u[DYN_MAX_JOINTS];
        hint(t, "D", i, "", Ai[i]);
        for (uint32_t j = 0; j < i; j++) {
            u[j] = mul(t, Ai[j], recip);
            hint_pair(t, "U", i, j, u[j]);
        }
        for (uint32_t j = 0; j < i; j++) {
            for (uint32_t k = 0; k <= j; k++) {
                A[j * (j + 1) / 2 + k] = sub(t, A[j * (j + 1) / 2 + k], mul(t, u[j], Ai[k]));
                hint_pair(t, "S", j, k, A[j * (j + 1) / 2 + k]);
            }
            x[j] = sub(t, x[j], mul(t, u[j], x[i]));
        }
        x[i] = mul(t, x[i], recip);
        for (uint32_t j = 0; j < i; j++)
            Ai[j] = u[j];
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < i; j++)
            x[i] = sub(t, x[i], mul(t, A[i * (i + 1) / 2 + j], x[j]));
}

/* --------------------------------------------------------------------------------- whole graphs */

static void add_drives(trace_t *t, bool moves, ref_t tau[]) {
    for (uint32_t i = 0; i < t->arm->n; i++) {
        const gen_joint_t *j = &t->arm->joint[i];
        tau[i] = add(t, tau[i], mul(t, K(t, j->rotor), t->qdd[i]));
        if (moves && (t->arm->keep & GEN_FRICTION)) {
            const ref_t sign = graph_other(t->g, GRAPH_SIGN, t->qd[i], GRAPH_NONE);
            tau[i] = add(t, tau[i], mul(t, K(t, j->viscous), t->qd[i]));
            /* s ((P - N) / 2 + (P + N) / 2 s), as in dyn/kernel/drive.c: P or N or, at rest,
             * nothing. Of the same friction in both directions one product is left. */
            const ref_t even = K(t, (j->coulomb[1] - j->coulomb[0]) / 2);
            const ref_t uneven = K(t, (j->coulomb[1] + j->coulomb[0]) / 2);
            tau[i] = add(t, tau[i], mul(t, sign, add(t, even, mul(t, uneven, sign))));
        }
    }
}

/* Values at the probes, while every node is still there. */
static void probe_names(trace_t *t) {
    const int32_t size = graph_size(t->g);
    double *value = malloc((size_t)size * sizeof *value);
    if (!value)
        abort();
    for (int probe = 0; probe < GEN_PROBES; probe++) {
        graph_eval_all(t->g, gen_probe, &probe, value);
        for (int i = 0; i < t->names->count; i++)
            t->names->name[i].value[probe] = value[t->named[i] >> 1];
    }
    free(value);
}

graph_t *form_trace(const gen_arm_t *arm, form_kind_t kind, const uint8_t choice[DYN_MAX_JOINTS],
                    gen_names_t *names) {
    static trace_t t;
    static ref_t M[DYN_MAX_JOINTS * (DYN_MAX_JOINTS + 1) / 2], x[DYN_MAX_JOINTS];
    t = (trace_t){.g = graph_new(), .arm = arm, .choice = choice, .names = names};
    if (names)
        names->count = 0;
    for (uint32_t i = 0; i < arm->n; i++) {
        t.q[i] = graph_input(t.g, GEN_Q, (int32_t)i);
        if (kind == FORM_ID || kind == FORM_BIAS || kind == FORM_FD)
            t.qd[i] = graph_input(t.g, GEN_QD, (int32_t)i);
        if (kind == FORM_ID)
            t.qdd[i] = graph_input(t.g, GEN_QDD, (int32_t)i);
    }
    place(&t);
    t.at_rest = kind == FORM_GRAVITY;
    if (kind != FORM_MASS) {
        inverse(&t, x);
        add_drives(&t, kind == FORM_ID || kind == FORM_FD, x);
    }
    if (kind == FORM_MASS || kind == FORM_FD)
        matrix(&t, M);
    if (kind == FORM_FD) {
        for (uint32_t i = 0; i < arm->n; i++)
            x[i] = sub(&t, graph_input(t.g, GEN_TAU, (int32_t)i), x[i]);
        solve(&t, arm->n, M, x);
    }
    if (kind == FORM_MASS)
        for (uint32_t i = 0; i < arm->n * (arm->n + 1) / 2; i++)
            graph_output(t.g, M[i]);
    else
        for (uint32_t i = 0; i < arm->n; i++)
            graph_output(t.g, x[i]);
    if (names)
        probe_names(&t);
    graph_sweep(t.g);
    return t.g;
}

static double cost_with(const gen_arm_t *arm, form_kind_t kind, const uint8_t *choice,
                        const graph_cost_t *cost) {
    graph_t *g = form_trace(arm, kind, choice, NULL);
    const double total = graph_total(g, cost);
    graph_free(g);
    return total;
}

graph_t *form_best(const gen_arm_t *arm, form_kind_t kind, const graph_cost_t *cost,
                   gen_names_t *names) {
    uint8_t choice[DYN_MAX_JOINTS] = {0};
    if (kind == FORM_MASS)
        return form_trace(arm, kind, choice, names);
    memset(choice, FORM_TURNED, sizeof choice);
    double least = cost_with(arm, kind, choice, cost);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < arm->n; i++) {
            if (!arm->joint[i].starts)
                continue;
            uint8_t best = choice[i];
            for (unsigned c = 0; c < 1u << FORM_CHOICES; c++) {
                choice[i] = (uint8_t)c;
                const double total = cost_with(arm, kind, choice, cost);
                if (total < least - 1e-9) {
                    least = total;
                    best = (uint8_t)c;
                }
            }
            choice[i] = best;
        }
    return form_trace(arm, kind, choice, names);
}

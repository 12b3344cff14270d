/* Vectors, turns, tensors, loads and constants of an arm, as references into a graph; shared by
 * form_inverse.c and form.c. */
#ifndef TOOLS_GEN_FORM_VECTOR_H
#define TOOLS_GEN_FORM_VECTOR_H

#include <stdio.h>

#include "tools/gen/form.h"

typedef struct {
    ref_t x, y, z;
} vec_t;

typedef struct {
    ref_t xx, yy, zz, xy, yz, xz;
} sym_t;

typedef struct {
    ref_t c, s;
} turn_t;

/* The state while an arm is traced. */
typedef struct {
    graph_t *g;
    const gen_arm_t *arm;
    const uint8_t *choice;          /* bits FORM_... of each group */
    uint32_t first[DYN_MAX_JOINTS]; /* first joint of each link's group */
    turn_t phi[DYN_MAX_JOINTS];     /* turn of each link relative to its group */
    ref_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
    bool at_rest;               /* only gravity torques are computed, without the wrench */
    int32_t held;               /* number of vectors held so far */
    gen_names_t *names;         /* names to record, or NULL */
    ref_t named[GEN_NAMES_MAX]; /* node of each name, while the graph is built */
} trace_t;

/* Gives a node a name. Joints count from 1 in names, as in the papers. */
static inline void hint(trace_t *t, const char *name, uint32_t joint, const char *part, ref_t a) {
    gen_names_t *names = t->names;
    if (!names || names->count == GEN_NAMES_MAX || graph_at(t->g, a >> 1)->op <= GRAPH_COS)
        return;
    gen_name_t *n = &names->name[names->count];
    if (snprintf(n->name, sizeof n->name, "%s%u%s", name, (unsigned)joint + 1, part) >= GEN_NAME)
        return;
    t->named[names->count++] = a;
}

static inline ref_t K(trace_t *t, double value) {
    return graph_const(t->g, value);
}

static inline ref_t add(trace_t *t, ref_t a, ref_t b) {
    return graph_add(t->g, a, b);
}

static inline ref_t sub(trace_t *t, ref_t a, ref_t b) {
    return graph_sub(t->g, a, b);
}

static inline ref_t mul(trace_t *t, ref_t a, ref_t b) {
    return graph_mul(t->g, a, b);
}

static inline vec_t vadd(trace_t *t, vec_t a, vec_t b) {
    return (vec_t){add(t, a.x, b.x), add(t, a.y, b.y), add(t, a.z, b.z)};
}

static inline vec_t cross(trace_t *t, vec_t a, vec_t b) {
    return (vec_t){sub(t, mul(t, a.y, b.z), mul(t, a.z, b.y)),
                   sub(t, mul(t, a.z, b.x), mul(t, a.x, b.z)),
                   sub(t, mul(t, a.x, b.y), mul(t, a.y, b.x))};
}

static inline vec_t vscale(trace_t *t, ref_t k, vec_t a) {
    return (vec_t){mul(t, k, a.x), mul(t, k, a.y), mul(t, k, a.z)};
}

static inline vec_t constant(trace_t *t, const double a[3]) {
    return (vec_t){K(t, a[0]), K(t, a[1]), K(t, a[2])};
}

static inline void hint_vec(trace_t *t, const char *name, uint32_t joint, vec_t a) {
    hint(t, name, joint, "x", a.x);
    hint(t, name, joint, "y", a.y);
    hint(t, name, joint, "z", a.z);
}

static inline void hint_sym(trace_t *t, const char *name, uint32_t joint, sym_t A) {
    hint(t, name, joint, "xx", A.xx);
    hint(t, name, joint, "yy", A.yy);
    hint(t, name, joint, "zz", A.zz);
    hint(t, name, joint, "xy", A.xy);
    hint(t, name, joint, "yz", A.yz);
    hint(t, name, joint, "xz", A.xz);
}

/* out_z turns a vector from the axes of a link to those of its group (Rz); in_z turns it back. */
static inline vec_t out_z(trace_t *t, turn_t r, vec_t a) {
    return (vec_t){sub(t, mul(t, r.c, a.x), mul(t, r.s, a.y)),
                   add(t, mul(t, r.s, a.x), mul(t, r.c, a.y)), a.z};
}

static inline vec_t in_z(trace_t *t, turn_t r, vec_t a) {
    r.s = graph_neg(r.s);
    return out_z(t, r, a);
}

/* out_x turns a vector from the axes of a group to those of the link before (Rx); in_x turns it
 * back. */
static inline vec_t out_x(trace_t *t, turn_t r, vec_t a) {
    return (vec_t){a.x, sub(t, mul(t, r.c, a.y), mul(t, r.s, a.z)),
                   add(t, mul(t, r.s, a.y), mul(t, r.c, a.z))};
}

static inline vec_t in_x(trace_t *t, turn_t r, vec_t a) {
    r.s = graph_neg(r.s);
    return out_x(t, r, a);
}

/* Computes Rz A Rz^T. The xy block is turned with k = s (xx - yy) + 2 c xy. */
static inline sym_t sym_out_z(trace_t *t, turn_t r, sym_t A) {
    const ref_t k = add(t, mul(t, r.s, sub(t, A.xx, A.yy)), mul(t, r.c, mul(t, K(t, 2), A.xy)));
    const ref_t sk = mul(t, r.s, k);
    return (sym_t){.xx = sub(t, A.xx, sk),
                   .yy = add(t, A.yy, sk),
                   .zz = A.zz,
                   .xy = sub(t, mul(t, r.c, k), A.xy),
                   .yz = add(t, mul(t, r.c, A.yz), mul(t, r.s, A.xz)),
                   .xz = sub(t, mul(t, r.c, A.xz), mul(t, r.s, A.yz))};
}

static inline sym_t sym_out_x(trace_t *t, turn_t r, sym_t A) {
    const ref_t k = add(t, mul(t, r.s, sub(t, A.yy, A.zz)), mul(t, r.c, mul(t, K(t, 2), A.yz)));
    const ref_t sk = mul(t, r.s, k);
    return (sym_t){.xx = A.xx,
                   .yy = sub(t, A.yy, sk),
                   .zz = add(t, A.zz, sk),
                   .xy = sub(t, mul(t, r.c, A.xy), mul(t, r.s, A.xz)),
                   .yz = sub(t, mul(t, r.c, k), A.yz),
                   .xz = add(t, mul(t, r.c, A.xz), mul(t, r.s, A.xy))};
}

static inline sym_t sym_sum(trace_t *t, sym_t A, sym_t B) {
    return (sym_t){add(t, A.xx, B.xx), add(t, A.yy, B.yy), add(t, A.zz, B.zz),
                   add(t, A.xy, B.xy), add(t, A.yz, B.yz), add(t, A.xz, B.xz)};
}

/* Hold a vector or tensor, if the arm asks for it (graph_hold). Its terms must be held ones or few:
 * inside of what is held bounds are intervals. */
static inline vec_t hold_vec(trace_t *t, vec_t a) {
    if (!t->arm->held)
        return a;
    const int32_t k = t->held++;
    return (vec_t){graph_hold(t->g, a.x, k, 0), graph_hold(t->g, a.y, k, 1),
                   graph_hold(t->g, a.z, k, 2)};
}

static inline sym_t hold_sym(trace_t *t, sym_t A) {
    if (!t->arm->held)
        return A;
    const int32_t k = t->held++;
    return (sym_t){graph_hold(t->g, A.xx, k, 0), graph_hold(t->g, A.yy, k, 1),
                   graph_hold(t->g, A.zz, k, 2), graph_hold(t->g, A.xy, k, 3),
                   graph_hold(t->g, A.yz, k, 4), graph_hold(t->g, A.xz, k, 5)};
}

/* ------------------------------------------------------------------------------------ constants */

typedef struct {
    ref_t m;
    vec_t l;
    sym_t J;
} body_t;

static inline turn_t alpha_of(trace_t *t, uint32_t i) {
    return (turn_t){K(t, t->arm->joint[i].ca), K(t, t->arm->joint[i].sa)};
}

static inline body_t body_of(trace_t *t, uint32_t i) {
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

static inline vec_t gravity_of(trace_t *t) {
    if (t->arm->keep & GEN_KEEP_GRAVITY)
        return (vec_t){graph_neg(graph_input(t->g, GEN_GRAVITY, 0)),
                       graph_neg(graph_input(t->g, GEN_GRAVITY, 1)),
                       graph_neg(graph_input(t->g, GEN_GRAVITY, 2))};
    const double up[3] = {-t->arm->gravity[0], -t->arm->gravity[1], -t->arm->gravity[2]};
    return constant(t, up);
}

/* Returns the position along the axis of a prismatic joint, or 0 for a revolute joint. */
static inline ref_t slide_of(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    return j->prismatic ? add(t, t->q[i], K(t, j->d)) : 0;
}

/* Returns the vector from the origin of the link before to the origin of link i, on the axes of the
 * link before. Only for the first link of a group. */
static inline vec_t step_of(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    const vec_t slide = out_x(t, alpha_of(t, i), (vec_t){0, 0, slide_of(t, i)});
    return vadd(t, (vec_t){K(t, j->a), 0, K(t, j->rise)}, slide);
}

/* Returns the vector from the origin of the link before to the origin of link i, on the axes of the
 * group. Only for links other than the first of a group. */
static inline vec_t step_in_group(trace_t *t, uint32_t i) {
    const gen_joint_t *j = &t->arm->joint[i];
    const vec_t p = out_z(t, t->phi[i - 1], (vec_t){K(t, j->a), 0, 0});
    return vadd(t, p, (vec_t){0, 0, add(t, K(t, j->rise), slide_of(t, i))});
}

/* ---------------------------------------------------------------------------------------- loads */

typedef struct {
    vec_t f, n;
} load_t;

static inline load_t load_sum(trace_t *t, load_t a, load_t b) {
    return (load_t){vadd(t, a.f, b.f), vadd(t, a.n, b.n)};
}

static inline load_t load_out_z(trace_t *t, turn_t r, load_t a) {
    return (load_t){out_z(t, r, a.f), out_z(t, r, a.n)};
}

static inline load_t hold_load(trace_t *t, load_t a) {
    return (load_t){hold_vec(t, a.f), hold_vec(t, a.n)};
}

static inline load_t load_shift(trace_t *t, vec_t p, load_t a) {
    return (load_t){a.f, vadd(t, a.n, cross(t, p, a.f))};
}

/* Implemented in form_inverse.c. Computes the torques of inverse dynamics without rotors and
 * friction. */
void form_inverse(trace_t *t, ref_t tau[]);

#endif

/* Traces the inertia matrix and forward dynamics of tools/gen/form.h, and makes whole graphs. */
#include "tools/gen/form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/form_vector.h"

const char *const gen_array_name[GEN_ARRAYS] = {"q",       "qd",      "qdd",   "tau",
                                                "gravity", "payload", "wrench"};

double gen_probe(void *context, int32_t array, int32_t index) {
    /*
     * Pseudo-random angles, speeds and other inputs, so that no two of them are related by chance.
     */
    const double k = 1 + index + 37 * array + 1009 * *(const int *)context;
    return sin(k * 12.9898 + 4.1414 * k * k);
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

/* Moves the reference point of a composite body by -p. */
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

/* Returns the load that a unit acceleration of joint j needs, about the joint's origin and on the
 * axes of its group. `c` is the composite body behind the joint. */
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
            effort[e] = hold_load(t, load_out_z(t, t->phi[last], effort[e]));
        for (uint32_t k = last + 1; k-- > first;) {
            c.L = hold_vec(t, c.L);
            c.J = hold_sym(t, c.J);
            c.around = hold_vec(t, (vec_t){c.around, 0, 0}).x;
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

/* Solves A y = x and returns y in x. Factors A = U D U^T from the last joint to the first. */
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

/* Computes the angle of every link within its group. */
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

static void add_drives(trace_t *t, bool moves, ref_t tau[]) {
    for (uint32_t i = 0; i < t->arm->n; i++) {
        const gen_joint_t *j = &t->arm->joint[i];
        tau[i] = add(t, tau[i], mul(t, K(t, j->rotor), t->qdd[i]));
        if (moves && (t->arm->keep & GEN_FRICTION)) {
            const ref_t sign = graph_other(t->g, GRAPH_SIGN, t->qd[i], GRAPH_NONE);
            tau[i] = add(t, tau[i], mul(t, K(t, j->viscous), t->qd[i]));
            /*
             * Coulomb friction s ((P - N) / 2 + (P + N) / 2 s), as in dyn/kernel/drive.c. It is P
             * at s = 1, N at s = -1 and zero at rest. If friction is equal in both directions, one
             * product remains.
             */
            const ref_t even = K(t, (j->coulomb[1] - j->coulomb[0]) / 2);
            const ref_t uneven = K(t, (j->coulomb[1] + j->coulomb[0]) / 2);
            tau[i] = add(t, tau[i], mul(t, sign, add(t, even, mul(t, uneven, sign))));
        }
    }
}

/* Records the values of the named nodes at the probes while every node still exists. */
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
        form_inverse(&t, x);
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
    /* The time of the search grows with the square of the number of groups, and for forward dynamics
     * with its fourth power: the solver adds n^3 operations, which no choice changes. */
    enum { SEARCHED = 9 };
    const form_kind_t searched = kind == FORM_FD && arm->n > SEARCHED ? FORM_BIAS : kind;
    const int rounds = arm->n > SEARCHED ? 1 : 2;
    uint8_t choice[DYN_MAX_JOINTS] = {0};
    if (kind == FORM_MASS)
        return form_trace(arm, kind, choice, names);
    memset(choice, FORM_TURNED, sizeof choice);
    double least = cost_with(arm, searched, choice, cost);
    for (int round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < arm->n; i++) {
            if (!arm->joint[i].starts)
                continue;
            uint8_t best = choice[i];
            for (unsigned c = 0; c < 1u << FORM_CHOICES; c++) {
                choice[i] = (uint8_t)c;
                const double total = cost_with(arm, searched, choice, cost);
                if (total < least - 1e-9) {
                    least = total;
                    best = (uint8_t)c;
                }
            }
            choice[i] = best;
        }
    return form_trace(arm, kind, choice, names);
}

/* Derives the closed form of tools/gen/closed.h. */
#include "tools/gen/closed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- arms, angles */

closed_t *closed_new(uint32_t n, int32_t most_monomials) {
    closed_t *c = graph_must(calloc(1, sizeof *c));
    c->n = n;
    c->d = poly_new(most_monomials);
    return c;
}

void closed_free(closed_t *c) {
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n; i++) {
        closed_joint_t *j = &c->joint[i];
        poly_t *const all[] = {&j->ca, &j->sa, &j->a, &j->rise, &j->d, &j->rotor, &c->G[i]};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            poly_free(all[k]);
        for (int k = 0; k < CLOSED_P; k++)
            poly_free(&j->P[k]);
    }
    for (uint32_t i = 0; i < c->n * (c->n + 1) / 2; i++)
        poly_free(&c->H[i]);
    for (int k = 0; k < 3; k++)
        poly_free(&c->gravity[k]);
    poly_delete(c->d);
    free(c);
}

int closed_at(int r, int s) {
    static const int row[4] = {0, 3, 5, 6};
    return r <= s ? row[r] + s : row[s] + r;
}

closed_t *closed_from_arm(const gen_arm_t *arm, int32_t most_monomials) {
    closed_t *c = closed_new(arm->n, most_monomials);
    poly_dictionary_t *d = c->d;
    for (uint32_t i = 0; i < arm->n; i++) {
        const gen_joint_t *from = &arm->joint[i];
        closed_joint_t *j = &c->joint[i];
        j->prismatic = from->prismatic;
        j->starts = from->starts;
        j->still = arm->round && i == arm->n - 1;
        j->theta = from->theta;
        poly_add_number(d, &j->ca, from->ca);
        poly_add_number(d, &j->sa, from->sa);
        poly_add_number(d, &j->a, from->a);
        poly_add_number(d, &j->rise, from->rise);
        poly_add_number(d, &j->d, from->d);
        poly_add_number(d, &j->rotor, from->rotor);
        const double *J = from->J, *l = from->l;
        const double P[CLOSED_P] = {J[0], J[3], J[5], l[0], J[1], J[4], l[1], J[2], l[2], from->m};
        for (int k = 0; k < CLOSED_P; k++)
            poly_add_number(d, &j->P[k], P[k]);
    }
    for (int k = 0; k < 3; k++)
        poly_add_number(d, &c->gravity[k], arm->gravity[k]);
    return c;
}

static bool turns(const closed_t *c, uint32_t i) {
    return !c->joint[i].prismatic && !c->joint[i].still;
}

uint32_t closed_turning(const closed_t *c, uint32_t first, uint32_t last) {
    uint32_t joints = 0;
    for (uint32_t i = first; i <= last; i++)
        joints |= turns(c, i) ? 1u << i : 0;
    return joints;
}

double closed_offset(const closed_t *c, uint32_t first, uint32_t last) {
    double sum = 0;
    for (uint32_t i = first; i <= last; i++)
        sum += c->joint[i].theta;
    return sum;
}

void closed_state(const closed_t *c, const double *q, double *value) {
    for (uint32_t a = 0; a < c->n; a++) {
        double angle = 0;
        value[POLY_POSITION + a] = q[a];
        for (uint32_t b = a; b < c->n; b++) {
            angle += c->joint[b].theta + (turns(c, b) ? q[b] : 0);
            value[poly_cosine(a, b)] = cos(angle);
            value[poly_cosine(a, b) + 1] = sin(angle);
        }
    }
}

/* --------------------------------------------------------------------------------- the derivation */

typedef struct {
    poly_t c, s;
} turn_t;

/* E of the header: four rows, three columns. */
typedef struct {
    poly_t at[4][3];
} effort_t;

typedef struct {
    closed_t *arm;
    poly_dictionary_t *d;
    /* Gravity on the axes of the groups, three for each joint; NULL: the matrix is derived. It does
     * not depend on the first joint, which stands still then. Gravity needs no Euler's tensor. */
    const poly_t *gravity;
    bool first_stands;
    uint32_t first[DYN_MAX_JOINTS]; /* first joint of the group */
    turn_t phi[DYN_MAX_JOINTS];     /* angle of the link relative to the axes of its group */
    poly_t C[CLOSED_P];
    effort_t effort[DYN_MAX_JOINTS];
} work_t;

static void name_angles(work_t *w) {
    const closed_t *c = w->arm;
    uint32_t begin = 0, end = 0; /* turning joints of the group: from begin to before end */
    double still = 0;            /* offsets behind them */
    for (uint32_t i = 0; i < c->n; i++) {
        if (i == 0 || c->joint[i].starts) {
            begin = end = i;
            still = 0;
        }
        w->first[i] = i == 0 || c->joint[i].starts ? i : w->first[i - 1];
        still += c->joint[i].theta;
        if (i == 0 && w->first_stands) {
            /* Its offset turns the whole arm, which does not matter. */
            begin = end = 1;
            still = 0;
        } else if (turns(c, i)) {
            end = i + 1;
            still = 0;
        }
        double k, l;
        dyn_exact_turn(still, &k, &l);
        if (end == begin) {
            poly_add_number(w->d, &w->phi[i].c, k);
            poly_add_number(w->d, &w->phi[i].s, l);
            continue;
        }
        const int cosine = poly_cosine(begin, end - 1);
        poly_add_variable(w->d, &w->phi[i].c, k, cosine);
        poly_add_variable(w->d, &w->phi[i].c, -l, cosine + 1);
        poly_add_variable(w->d, &w->phi[i].s, k, cosine + 1);
        poly_add_variable(w->d, &w->phi[i].s, l, cosine);
    }
}

/* Turns the pair (x, y) by an angle: x' = c x - s y, y' = s x + c y. */
static void turn_pair(poly_dictionary_t *d, const turn_t *t, poly_t *x, poly_t *y) {
    poly_t u = {0}, v = {0};
    poly_add_product(d, &u, 1, &t->c, x);
    poly_add_product(d, &u, -1, &t->s, y);
    poly_add_product(d, &v, 1, &t->s, x);
    poly_add_product(d, &v, 1, &t->c, y);
    poly_gather(&u);
    poly_gather(&v);
    poly_free(x);
    poly_free(y);
    *x = u;
    *y = v;
}

/* Turns a mass distribution about the axis that is neither a nor b, from a to b. */
static void turn_body(poly_dictionary_t *d, const turn_t *t, int a, int b, poly_t *C) {
    poly_t full[4][4] = {{{0}}};
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            poly_add(d, &full[r][s], 1, &C[closed_at(r, s)]);
    for (int s = 0; s < 4; s++)
        turn_pair(d, t, &full[a][s], &full[b][s]);
    for (int r = 0; r < 4; r++)
        turn_pair(d, t, &full[r][a], &full[r][b]);
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            if (r <= s) {
                poly_free(&C[closed_at(r, s)]);
                C[closed_at(r, s)] = full[r][s];
            } else
                poly_free(&full[r][s]);
}

static void turn_effort(poly_dictionary_t *d, const turn_t *t, int a, int b, effort_t *e) {
    for (int s = 0; s < 3; s++)
        turn_pair(d, t, &e->at[a][s], &e->at[b][s]);
    for (int r = 0; r < 4; r++)
        turn_pair(d, t, &e->at[r][a], &e->at[r][b]);
}

/* Moves the origin by -p along axis r. */
static void shift_body(work_t *w, int r, const poly_t *p) {
    poly_dictionary_t *d = w->d;
    poly_t *C = w->C;
    if (p->count == 0)
        return;
    if (w->gravity) {
        poly_add_product(d, &C[closed_at(r, 3)], 1, p, &C[closed_at(3, 3)]);
        poly_gather(&C[closed_at(r, 3)]);
        return;
    }
    /* The corner grows by p times the old first moment and p times the new one. */
    poly_t *corner = &C[closed_at(r, r)], *moment = &C[closed_at(r, 3)], before = {0};
    poly_add(d, &before, 1, moment);
    poly_add_product(d, moment, 1, p, &C[closed_at(3, 3)]);
    poly_gather(moment);
    poly_add_product(d, corner, 1, p, &before);
    poly_add_product(d, corner, 1, p, moment);
    poly_gather(corner);
    poly_free(&before);
    for (int s = 0; s < 3; s++)
        if (s != r) {
            poly_add_product(d, &C[closed_at(r, s)], 1, p, &C[closed_at(s, 3)]);
            poly_gather(&C[closed_at(r, s)]);
        }
}

static void shift_effort(poly_dictionary_t *d, int r, const poly_t *p, effort_t *e) {
    for (int s = 0; s < 3 && p->count > 0; s++) {
        poly_add_product(d, &e->at[r][s], 1, p, &e->at[3][s]);
        poly_gather(&e->at[r][s]);
    }
}

/* Makes E = C Q^T of joint k, on the axes of its group. */
static void begin_effort(work_t *w, uint32_t k) {
    effort_t *e = &w->effort[k];
    for (int r = 0; r < 4; r++)
        if (w->arm->joint[k].prismatic)
            poly_add(w->d, &e->at[r][2], 1, &w->C[closed_at(r, 3)]);
        else {
            poly_add(w->d, &e->at[r][0], -1, &w->C[closed_at(r, 1)]);
            poly_add(w->d, &e->at[r][1], 1, &w->C[closed_at(r, 0)]);
        }
}

/* H_ij = trace(Q_i E) for joint i and all joints behind it. */
static void read_row(work_t *w, uint32_t i) {
    for (uint32_t j = i; j < w->arm->n; j++) {
        const effort_t *e = &w->effort[j];
        poly_t *H = &w->arm->H[j * (j + 1) / 2 + i];
        if (w->arm->joint[i].prismatic)
            poly_add(w->d, H, 1, &e->at[3][2]);
        else {
            poly_add(w->d, H, 1, &e->at[0][1]);
            poly_add(w->d, H, -1, &e->at[1][0]);
        }
        if (i == j)
            poly_add(w->d, H, 1, &w->arm->joint[i].rotor);
        poly_gather(H);
    }
}

/* Adds link k: as it is, or turned to the axes of its group. */
static void add_body(work_t *w, uint32_t k, const turn_t *turned) {
    poly_t P[CLOSED_P] = {{0}};
    for (int r = 0; r < 4; r++)
        for (int s = w->gravity ? 3 : r; s < 4; s++)
            poly_add(w->d, &P[closed_at(r, s)], 1, &w->arm->joint[k].P[closed_at(r, s)]);
    if (turned)
        turn_body(w->d, turned, 0, 1, P);
    for (int i = 0; i < CLOSED_P; i++) {
        poly_add(w->d, &w->C[i], 1, &P[i]);
        poly_gather(&w->C[i]);
        poly_free(&P[i]);
    }
}

static void shift_all(work_t *w, uint32_t from, int axis, const poly_t *p) {
    shift_body(w, axis, p);
    for (uint32_t e = from; e < w->arm->n; e++)
        shift_effort(w->d, axis, p, &w->effort[e]);
}

static void turn_all(work_t *w, uint32_t from, int a, int b, const turn_t *t) {
    turn_body(w->d, t, a, b, w->C);
    for (uint32_t e = from; e < w->arm->n; e++)
        turn_effort(w->d, t, a, b, &w->effort[e]);
}

/* The displacement of joint k along its own axis: d, and the position of a prismatic joint. */
static void slide(work_t *w, uint32_t k) {
    poly_t p = {0};
    poly_add(w->d, &p, 1, &w->arm->joint[k].d);
    if (w->arm->joint[k].prismatic)
        poly_add_variable(w->d, &p, 1, POLY_POSITION + (int)k);
    shift_all(w, k, 2, &p);
    poly_free(&p);
}

/* From the group that begins with joint k to the axes of the link before it. */
static void leave_group(work_t *w, uint32_t k) {
    const closed_joint_t *j = &w->arm->joint[k];
    const turn_t alpha = {j->ca, j->sa};
    slide(w, k);
    turn_all(w, k, 1, 2, &alpha);
    shift_all(w, k, 0, &j->a);
    shift_all(w, k, 2, &j->rise);
}

/* From link k to the link before it, inside a group. */
static void step_in_group(work_t *w, uint32_t k) {
    const closed_joint_t *j = &w->arm->joint[k];
    const turn_t *phi = &w->phi[k - 1];
    poly_t x = {0}, y = {0};
    slide(w, k);
    poly_add_product(w->d, &x, 1, &j->a, &phi->c);
    poly_add_product(w->d, &y, 1, &j->a, &phi->s);
    poly_gather(&x);
    poly_gather(&y);
    shift_all(w, k, 0, &x);
    shift_all(w, k, 1, &y);
    shift_all(w, k, 2, &j->rise);
    poly_free(&x);
    poly_free(&y);
}

static void work_free(work_t *w) {
    for (int i = 0; i < CLOSED_P; i++)
        poly_free(&w->C[i]);
    for (uint32_t k = 0; k < w->arm->n; k++) {
        poly_free(&w->phi[k].c);
        poly_free(&w->phi[k].s);
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 3; s++)
                poly_free(&w->effort[k].at[r][s]);
    }
    free(w);
}

static work_t *work_new(closed_t *c, bool first_stands) {
    work_t *w = graph_must(calloc(1, sizeof *w));
    w->arm = c;
    w->d = c->d;
    w->first_stands = first_stands;
    name_angles(w);
    return w;
}

/* Goes from the last link to the first; `row` is called when C is at joint k, on the axes of its
 * group. */
static void inward(work_t *w, void (*row)(work_t *w, uint32_t k)) {
    closed_t *c = w->arm;
    for (uint32_t k = c->n; k-- > 0 && !poly_full(c->d);) {
        const bool last = k + 1 == c->n || c->joint[k + 1].starts;
        if (last) {
            add_body(w, k, NULL);
            turn_all(w, k + 1, 0, 1, &w->phi[k]);
        } else
            add_body(w, k, &w->phi[k]);
        row(w, k);
        if (c->progress)
            c->progress(c->context, c->n - k, c->n, poly_monomials(c->d));
        if (k == 0)
            break;
        if (w->first[k] == k)
            leave_group(w, k);
        else
            step_in_group(w, k);
    }
}

static void matrix_row(work_t *w, uint32_t k) {
    begin_effort(w, k);
    read_row(w, k);
}

/* ------------------------------------------------------------------------------------- gravity */

/* Gravity on the axes of the groups, from the base outwards: into g, three for each joint. */
static void turn_gravity(work_t *w, poly_t *g) {
    const closed_t *c = w->arm;
    for (uint32_t k = 0; k < c->n; k++) {
        poly_t *own = g + (size_t)3 * k;
        for (int r = 0; r < 3; r++)
            poly_add(w->d, &own[r], 1, k > 0 ? &g[3 * (k - 1) + (uint32_t)r] : &c->gravity[r]);
        if (k > 0 && w->first[k] != k)
            continue;
        if (k >
            0) /* back by phi: x' = c x + s y, y' = -s x + c y, which is turn_pair from y to x */
            turn_pair(w->d, &w->phi[k - 1], &own[1], &own[0]);
        const turn_t alpha = {c->joint[k].ca, c->joint[k].sa};
        turn_pair(w->d, &alpha, &own[2], &own[1]);
    }
}

static bool has_gravity(const closed_t *c) {
    return c->gravity[0].count || c->gravity[1].count || c->gravity[2].count;
}

/* G_k = -g^T Q_k C (0, 0, 0, 1)^T */
static void gravity_row(work_t *w, uint32_t k) {
    const poly_t *g = w->gravity + (size_t)3 * k;
    poly_t *G = &w->arm->G[k];
    if (w->arm->joint[k].prismatic)
        poly_add_product(w->d, G, -1, &g[2], &w->C[closed_at(3, 3)]);
    else {
        poly_add_product(w->d, G, 1, &g[0], &w->C[closed_at(1, 3)]);
        poly_add_product(w->d, G, -1, &g[1], &w->C[closed_at(0, 3)]);
    }
    poly_gather(G);
}

static void derive_gravity(closed_t *c) {
    poly_t g[3 * DYN_MAX_JOINTS] = {{0}};
    work_t *w = work_new(c, false);
    turn_gravity(w, g);
    w->gravity = g;
    inward(w, gravity_row);
    for (uint32_t i = 0; i < 3 * c->n; i++)
        poly_free(&g[i]);
    work_free(w);
}

bool closed_derive(closed_t *c) {
    work_t *w = work_new(c, true);
    inward(w, matrix_row);
    work_free(w);
    if (has_gravity(c) && !poly_full(c->d))
        derive_gravity(c);
    return !poly_full(c->d);
}

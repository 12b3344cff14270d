/*
 * The inertia matrix in closed form, after Uicker and Kahn as Bansevicius et al. (2005) use it:
 *
 *     H_ij = sum over k >= max(i, j) of trace(dW_k/dq_i J_k dW_k^T/dq_j)          (2), corrected
 *
 * with W_k the 4 x 4 pose of link k and J_k its 4 x 4 mass distribution
 * (dyn/model/pseudo_inertia.h, regrouped). Every element is a polynomial in the sines and cosines
 * (and positions of prismatic joints), multiplied out, with s^2 replaced by 1 - c^2. The graph is
 * the dictionary of the monomials of all elements: a monomial is a chain of products, and equal
 * beginnings of chains are the same nodes.
 *
 * The matrix does not depend on the first joint: W is taken at q_1 = 0, and dW/dq_1 is z x W (for a
 * prismatic joint a unit shift along z). Angles of parallel axes are sums.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/form.h"

/* Each link j has three variables: cosine and sine of its angle in its group, and the position of
 * joint j. */
enum { VARIABLES = 3 * FORM_UICKER_KAHN_MAX, TERMS_MAX = 4096 };

typedef struct {
    uint8_t e[VARIABLES];
    double k;
} term_t;

typedef struct {
    term_t *term;
    int count, room;
} poly_t;

typedef struct {
    const gen_arm_t *arm;
    /* index of the cosine's variable; -1 if the angle is constant */
    int angle[DYN_MAX_JOINTS];
    double c[DYN_MAX_JOINTS], s[DYN_MAX_JOINTS]; /* cosine and sine of a constant angle */
    uint32_t first[DYN_MAX_JOINTS];
    bool too_many;
} closed_t;

static void poly_gather(poly_t *p);

static void poly_push(closed_t *u, poly_t *p, const term_t *t) {
    if (p->count == TERMS_MAX) {
        poly_gather(p);
        u->too_many = u->too_many || p->count > TERMS_MAX / 2;
    }
    if (u->too_many)
        return;
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 8;
        p->term = realloc(p->term, (size_t)p->room * sizeof *p->term);
        if (!p->term)
            abort();
    }
    p->term[p->count++] = *t;
}

static int ascending(const void *a, const void *b) {
    return memcmp(((const term_t *)a)->e, ((const term_t *)b)->e, VARIABLES);
}

/* Combines equal monomials and removes those whose coefficients cancel except for rounding. */
static void poly_gather(poly_t *p) {
    int used = 0;
    double most = 0;
    if (p->count > 0)
        qsort(p->term, (size_t)p->count, sizeof *p->term, ascending);
    for (int i = 0; i < p->count; i++) {
        most = fmax(most, fabs(p->term[i].k));
        if (used > 0 && ascending(&p->term[used - 1], &p->term[i]) == 0)
            p->term[used - 1].k += p->term[i].k;
        else
            p->term[used++] = p->term[i];
    }
    p->count = 0;
    for (int i = 0; i < used; i++)
        if (fabs(p->term[i].k) > 1e-15 * most)
            p->term[p->count++] = p->term[i];
}

/* Adds a term and replaces s^2 by 1 - c^2 until no sine has a power above one. */
static void push_reduced(closed_t *u, poly_t *p, term_t t) {
    for (int v = 0; v + 1 < VARIABLES; v += 3)
        if (t.e[v + 1] >= 2) {
            t.e[v + 1] = (uint8_t)(t.e[v + 1] - 2);
            push_reduced(u, p, t);
            t.e[v] = (uint8_t)(t.e[v] + 2);
            t.k = -t.k;
            push_reduced(u, p, t);
            return;
        }
    poly_push(u, p, &t);
}

static void poly_add_product(closed_t *u, poly_t *sum, double k, const poly_t *a, const poly_t *b) {
    for (int i = 0; i < a->count && !u->too_many; i++)
        for (int j = 0; j < b->count && !u->too_many; j++) {
            term_t t = a->term[i];
            t.k *= k * b->term[j].k;
            for (int v = 0; v < VARIABLES; v++)
                t.e[v] = (uint8_t)(t.e[v] + b->term[j].e[v]);
            push_reduced(u, sum, t);
        }
}

static void poly_add(closed_t *u, poly_t *sum, double k, const poly_t *a) {
    for (int i = 0; i < a->count && k != 0; i++) {
        term_t t = a->term[i];
        t.k *= k;
        poly_push(u, sum, &t);
    }
}

static void poly_variable(closed_t *u, poly_t *p, int variable, double k) {
    term_t t = {.k = k};
    if (variable >= 0)
        t.e[variable] = 1;
    if (k != 0)
        poly_push(u, p, &t);
}

static void poly_free(poly_t *p) {
    free(p->term);
    *p = (poly_t){0};
}

/* The upper three rows of a pose W: rotation R and position p. */
typedef struct {
    poly_t at[3][4];
} pose_t;

static void pose_free(pose_t *W) {
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            poly_free(&W->at[r][c]);
}

/* Returns cosine and sine of link j's angle as polynomials. */
static void angle_of(closed_t *u, uint32_t j, poly_t *c, poly_t *s) {
    if (u->angle[j] < 0) {
        poly_variable(u, c, -1, u->c[j]);
        poly_variable(u, s, -1, u->s[j]);
    } else {
        poly_variable(u, c, u->angle[j], 1);
        poly_variable(u, s, u->angle[j] + 1, 1);
    }
}

/*
 * Computes W, the pose of link j, from G, the pose of the group's axes with the origin of link j.
 */
static void link_pose(closed_t *u, uint32_t j, const pose_t *G, pose_t *W) {
    poly_t c = {0}, s = {0};
    angle_of(u, j, &c, &s);
    for (int r = 0; r < 3; r++) {
        poly_add_product(u, &W->at[r][0], 1, &G->at[r][0], &c);
        poly_add_product(u, &W->at[r][0], 1, &G->at[r][1], &s);
        poly_add_product(u, &W->at[r][1], 1, &G->at[r][1], &c);
        poly_add_product(u, &W->at[r][1], -1, &G->at[r][0], &s);
        poly_add(u, &W->at[r][2], 1, &G->at[r][2]);
        poly_add(u, &W->at[r][3], 1, &G->at[r][3]);
        for (int k = 0; k < 4; k++)
            poly_gather(&W->at[r][k]);
    }
    poly_free(&c);
    poly_free(&s);
}

/* Goes from link j - 1 to the axes of link j's group, with the origin at link j. */
static void next_group(closed_t *u, uint32_t j, const pose_t *before, const pose_t *G,
                       pose_t *out) {
    const gen_joint_t *joint = &u->arm->joint[j];
    for (int r = 0; r < 3; r++) {
        poly_add(u, &out->at[r][3], 1, &before->at[r][3]);
        poly_add(u, &out->at[r][3], joint->a, &before->at[r][0]);
        poly_add(u, &out->at[r][3], joint->rise, &before->at[r][2]);
        if (joint->starts) {
            poly_add(u, &out->at[r][0], 1, &before->at[r][0]);
            poly_add(u, &out->at[r][1], joint->ca, &before->at[r][1]);
            poly_add(u, &out->at[r][1], joint->sa, &before->at[r][2]);
            poly_add(u, &out->at[r][2], -joint->sa, &before->at[r][1]);
            poly_add(u, &out->at[r][2], joint->ca, &before->at[r][2]);
        } else
            for (int k = 0; k < 3; k++)
                poly_add(u, &out->at[r][k], 1, &G->at[r][k]);
        if (joint->prismatic) {
            poly_t slide = {0};
            poly_variable(u, &slide, -1, joint->d);
            if (j > 0)
                poly_variable(u, &slide, 3 * (int)j + 2, 1);
            poly_add_product(u, &out->at[r][3], 1, &out->at[r][2], &slide);
            poly_free(&slide);
        }
        for (int k = 0; k < 4; k++)
            poly_gather(&out->at[r][k]);
    }
}

/* True if the angle of link j in its group contains joint i. */
static bool turns_with(const closed_t *u, uint32_t j, uint32_t i) {
    return i >= u->first[j] && i <= j;
}

static void derive(closed_t *u, const poly_t *p, uint32_t i, poly_t *out) {
    for (int k = 0; k < p->count; k++)
        for (uint32_t j = 0; j < u->arm->n; j++) {
            term_t t = p->term[k];
            const int c = 3 * (int)j, s = c + 1, q = c + 2;
            if (u->arm->joint[i].prismatic) {
                if (j == i && t.e[q] > 0) {
                    t.k *= t.e[q];
                    t.e[q]--;
                    push_reduced(u, out, t);
                }
                continue;
            }
            if (u->angle[j] != c || !turns_with(u, j, i))
                continue;
            if (t.e[c] > 0) {
                term_t d = t;
                d.k *= -t.e[c];
                d.e[c]--;
                d.e[s]++;
                push_reduced(u, out, d);
            }
            if (t.e[s] > 0) {
                term_t d = t;
                d.k *= t.e[s];
                d.e[s]--;
                d.e[c]++;
                push_reduced(u, out, d);
            }
        }
    poly_gather(out);
}

/* Computes dW/dq_i, where W is the pose of a link. */
static void derivative(closed_t *u, const pose_t *W, uint32_t i, pose_t *out) {
    if (i > 0) {
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                derive(u, &W->at[r][c], i, &out->at[r][c]);
    } else if (u->arm->joint[0].prismatic) {
        poly_variable(u, &out->at[2][3], -1, 1);
    } else {
        for (int c = 0; c < 4; c++) {
            poly_add(u, &out->at[0][c], -1, &W->at[1][c]);
            poly_add(u, &out->at[1][c], 1, &W->at[0][c]);
        }
    }
}

/* Adds trace(A P B^T) to `sum`; P is the 4 x 4 mass distribution of link j. */
static void add_trace(closed_t *u, const pose_t *A, const gen_joint_t *j, const pose_t *B,
                      poly_t *sum) {
    const double *J = j->J, *l = j->l;
    const double P[4][4] = {{J[0], J[3], J[5], l[0]},
                            {J[3], J[1], J[4], l[1]},
                            {J[5], J[4], J[2], l[2]},
                            {l[0], l[1], l[2], j->m}};
    for (int r = 0; r < 3; r++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                if (P[a][b] != 0)
                    poly_add_product(u, sum, P[a][b], &A->at[r][a], &B->at[r][b]);
    poly_gather(sum);
}

static void name_angles(closed_t *u) {
    double constant = 0;
    bool turning = false;
    for (uint32_t j = 0; j < u->arm->n; j++) {
        const gen_joint_t *joint = &u->arm->joint[j];
        u->first[j] = joint->starts ? j : u->first[j - 1];
        if (joint->starts) {
            constant = 0;
            turning = false;
        }
        constant += joint->theta;
        const bool turns = !joint->prismatic && j > 0;
        turning = turning || turns;
        if (!turning) {
            u->angle[j] = -1;
            dyn_exact_turn(constant, &u->c[j], &u->s[j]);
        } else
            u->angle[j] = turns || joint->theta != 0 ? 3 * (int)j : u->angle[j - 1];
    }
}

/* --------------------------------------------------------------------------------- to the graph */

typedef struct {
    graph_t *g;
    ref_t variable[VARIABLES];
} dictionary_t;

static void fill(const closed_t *u, dictionary_t *d) {
    ref_t angle = 0;
    for (uint32_t j = 0; j < u->arm->n; j++) {
        const gen_joint_t *joint = &u->arm->joint[j];
        const ref_t q = graph_input(d->g, GEN_Q, (int32_t)j);
        if (joint->starts)
            angle = 0;
        const bool turns = !joint->prismatic && j > 0;
        angle = graph_angle(d->g, angle, turns ? q : GRAPH_NONE, joint->theta);
        if (u->angle[j] == 3 * (int)j)
            graph_sincos(d->g, angle, &d->variable[3 * j], &d->variable[3 * j + 1]);
        d->variable[3 * j + 2] = q;
    }
}

static ref_t monomial(const dictionary_t *d, const uint8_t *e) {
    ref_t product = 2;
    for (int v = VARIABLES - 1; v >= 0; v--)
        for (int k = 0; k < e[v]; k++)
            product = graph_mul(d->g, product, d->variable[v]);
    return product;
}

static ref_t sum_of(const dictionary_t *d, const poly_t *p, double more) {
    ref_t sum = graph_const(d->g, more);
    for (int i = 0; i < p->count; i++)
        sum = graph_add(
            d->g, sum, graph_mul(d->g, graph_const(d->g, p->term[i].k), monomial(d, p->term[i].e)));
    return sum;
}

graph_t *form_uicker_kahn(const gen_arm_t *arm) {
    static closed_t u;
    const uint32_t n = arm->n;
    if (n > FORM_UICKER_KAHN_MAX || (arm->keep & GEN_KEEP_PAYLOAD))
        return NULL;
    u = (closed_t){.arm = arm};
    name_angles(&u);
    pose_t *D = calloc(n, sizeof *D);
    poly_t *H = calloc(n * (n + 1) / 2, sizeof *H);
    if (!D || !H)
        abort();
    pose_t W = {0}, G = {0};
    for (int r = 0; r < 3; r++)
        poly_variable(&u, &W.at[r][r], -1, 1);
    for (uint32_t k = 0; k < n; k++) {
        pose_t nextG = {0}, nextW = {0};
        next_group(&u, k, &W, &G, &nextG);
        link_pose(&u, k, &nextG, &nextW);
        pose_free(&W);
        pose_free(&G);
        W = nextW;
        G = nextG;
        for (uint32_t i = 0; i <= k && !u.too_many; i++) {
            derivative(&u, &W, i, &D[i]);
            for (uint32_t j = 0; j <= i; j++)
                add_trace(&u, &D[i], &arm->joint[k], &D[j], &H[i * (i + 1) / 2 + j]);
        }
        for (uint32_t i = 0; i <= k; i++)
            pose_free(&D[i]);
    }
    pose_free(&W);
    pose_free(&G);
    dictionary_t d = {.g = graph_new()};
    fill(&u, &d);
    for (uint32_t i = 0; i < n && !u.too_many; i++)
        for (uint32_t j = 0; j <= i; j++)
            graph_output(d.g,
                         sum_of(&d, &H[i * (i + 1) / 2 + j], i == j ? arm->joint[i].rotor : 0));
    graph_sweep(d.g);
    for (uint32_t i = 0; i < n * (n + 1) / 2; i++)
        poly_free(&H[i]);
    free(H);
    free(D);
    if (!u.too_many)
        return d.g;
    graph_free(d.g);
    return NULL;
}

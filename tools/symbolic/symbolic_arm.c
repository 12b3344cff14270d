/* Makes the arm of tools/gen/closed.h whose numbers have names (tools/symbolic/symbolic.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gen/gen.h"
#include "tools/symbolic/symbolic.h"

const char *const symbolic_usual[SYMBOLIC_KINDS] = {
    "d", "a", "alpha", "m", "x", "y", "z", "Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz", "Jr"};

typedef struct {
    symbolic_t *s;
    poly_dictionary_t *d;
    const symbolic_names_t *names;
    uint32_t n;
} builder_t;

/* Masses first, then lengths, then inertias: the order in which a product is written. An angle is
 * in it only as cosine and sine. */
static int variable_of(uint32_t joint, symbolic_kind_t kind) {
    static const int rank[SYMBOLIC_KINDS] = {2, 1, 0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    return 4 + rank[kind] * (DYN_MAX_JOINTS + 1) + (int)joint;
}

static symbolic_parameter_t *find(symbolic_t *s, const char *name) {
    for (int i = 0; i < s->parameters; i++)
        if (!strcmp(s->parameter[i].name, name))
            return &s->parameter[i];
    return NULL;
}

static void usual_name(const builder_t *b, uint32_t joint, symbolic_kind_t kind, char *out) {
    const char *given = (*b->names)[joint][kind];
    if (*given)
        snprintf(out, SYMBOLIC_NAME, "%s", given);
    else if (joint == b->n)
        snprintf(out, SYMBOLIC_NAME, "%sp", symbolic_usual[kind]);
    else
        snprintf(out, SYMBOLIC_NAME, "%s%u", symbolic_usual[kind], (unsigned)joint + 1);
}

/* Adds k times a number of the arm: as its name, or not at all if it is zero. */
static void add_named(builder_t *b, poly_t *sum, double k, uint32_t joint, symbolic_kind_t kind,
                      double value) {
    char name[SYMBOLIC_NAME];
    if (value == 0)
        return;
    if (*(*b->names)[joint][kind] && value < 0) { /* a name with a minus */
        k = -k;
        value = -value;
    }
    usual_name(b, joint, kind, name);
    symbolic_parameter_t *p = find(b->s, name);
    if (!p) {
        p = &b->s->parameter[b->s->parameters++];
        *p = (symbolic_parameter_t){.kind = kind,
                                    .joint = joint,
                                    .value = value,
                                    .given = *(*b->names)[joint][kind] != '\0'};
        memcpy(p->name, name, sizeof name);
    }
    poly_add_variable(b->d, sum, k, variable_of(p->joint, p->kind));
}

/* P of a body whose numbers have names. */
static void add_body(builder_t *b, const dyn_body_t *body, uint32_t joint, poly_t *P) {
    static const int row[6] = {0, 1, 2, 0, 1, 0}, column[6] = {0, 1, 2, 1, 2, 2};
    poly_t m = {0}, r[3] = {{0}};
    add_named(b, &m, 1, joint, SYMBOLIC_MASS, body->mass);
    for (int k = 0; k < 3; k++)
        add_named(b, &r[k], 1, joint, SYMBOLIC_COM + (symbolic_kind_t)k, body->com[k]);
    for (int k = 0; k < 6; k++) {
        poly_t product = {0}, *entry = &P[closed_at(row[k], column[k])];
        /* Euler's tensor about the centre: half of the trace minus the moment, minus a product */
        for (int i = 0; k < 3 && i < 3; i++)
            add_named(b, entry, i == k ? -0.5 : 0.5, joint, SYMBOLIC_INERTIA + (symbolic_kind_t)i,
                      body->inertia[i]);
        if (k >= 3)
            add_named(b, entry, -1, joint, SYMBOLIC_INERTIA + (symbolic_kind_t)k, body->inertia[k]);
        poly_add_product(b->d, &product, 1, &r[row[k]], &r[column[k]]);
        poly_add_product(b->d, entry, 1, &m, &product);
        poly_free(&product);
    }
    for (int k = 0; k < 3; k++) {
        poly_add_product(b->d, &P[closed_at(k, 3)], 1, &m, &r[k]);
        poly_free(&r[k]);
    }
    poly_add(b->d, &P[closed_at(3, 3)], 1, &m);
    poly_free(&m);
    for (int k = 0; k < CLOSED_P; k++)
        poly_gather(&P[k]);
}

static double quiet(double angle) {
    return gen_quiet_angle(angle, gen_noise(GEN_F64));
}

static void set_alpha(builder_t *b, const dyn_source_joint_t *from, uint32_t joint, poly_t *ca,
                      poly_t *sa) {
    const char *name = (*b->names)[joint][SYMBOLIC_ALPHA];
    double c, s;
    if (*name) {
        uint32_t at = 0; /* the same name is the same angle */
        while (at < joint && strcmp(b->s->alpha_name[at], name) != 0)
            at++;
        if (!find(b->s, name)) {
            symbolic_parameter_t *p = &b->s->parameter[b->s->parameters++];
            *p = (symbolic_parameter_t){
                .kind = SYMBOLIC_ALPHA, .joint = joint, .value = fabs(from->alpha), .given = true};
            memcpy(p->name, name, SYMBOLIC_NAME);
            memcpy(b->s->alpha_name[at], name, SYMBOLIC_NAME);
            b->s->alpha[at] = fabs(from->alpha);
        }
        const int cosine = POLY_ANGLE + 2 * (POLY_RANGES + (int)at);
        poly_add_variable(b->d, ca, 1, cosine);
        poly_add_variable(b->d, sa, from->alpha < 0 ? -1 : 1, cosine + 1);
        return;
    }
    dyn_exact_turn(quiet(from->alpha), &c, &s);
    poly_add_number(b->d, ca, c);
    poly_add_number(b->d, sa, s);
}

/* Distal DH: the body stands in a frame that is turned by alpha about x and shifted by a. */
static void to_proximal(poly_dictionary_t *d, const poly_t *ca, const poly_t *sa, const poly_t *a,
                        poly_t *P) {
    const poly_t none = {0};
    const poly_t *const T[4][4] = {{NULL, NULL, NULL, a},
                                   {NULL, ca, sa, &none},
                                   {NULL, sa, ca, &none},
                                   {NULL, NULL, NULL, NULL}};
    poly_t left[4][4] = {{{0}}}, out[CLOSED_P] = {{0}};
    /* left = T P, then out = left T^T; T is 1 on its diagonal where nothing is named, and the sine
     * in row y is negative. */
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < 4; r++)
            for (int s = pass ? r : 0; s < 4; s++) {
                poly_t *to = pass ? &out[closed_at(r, s)] : &left[r][s];
                const int turned = pass ? s : r; /* the row of T */
                for (int k = 0; k < 4; k++) {
                    const poly_t *from = pass ? &left[r][k] : &P[closed_at(k, s)];
                    const double sign = turned == 1 && k == 2 ? -1 : 1;
                    if (T[turned][k])
                        poly_add_product(d, to, sign, T[turned][k], from);
                    else if (turned == k)
                        poly_add(d, to, 1, from);
                }
                poly_gather(to);
            }
    for (int r = 0; r < 4; r++)
        for (int s = 0; s < 4; s++)
            poly_free(&left[r][s]);
    for (int k = 0; k < CLOSED_P; k++) {
        poly_free(&P[k]);
        P[k] = out[k];
    }
}

static void set_gravity(builder_t *b, const double *gravity) {
    static const char *const axis[3] = {"gx", "gy", "gz"};
    int parts = 0;
    for (int k = 0; k < 3; k++)
        parts += gravity[k] != 0;
    for (int k = 0; k < 3; k++) {
        if (gravity[k] == 0)
            continue;
        symbolic_parameter_t *p = &b->s->parameter[b->s->parameters++];
        const double sign = parts == 1 && gravity[k] < 0 ? -1 : 1;
        *p = (symbolic_parameter_t){.joint = DYN_MAX_JOINTS + 1, .value = sign * gravity[k]};
        snprintf(p->name, sizeof p->name, "%s", parts == 1 ? "g" : axis[k]);
        p->kind = (symbolic_kind_t)k;
        poly_add_variable(b->d, &b->s->closed->gravity[k], sign, k);
    }
}

closed_t *symbolic_arm(symbolic_t *s, const dyn_source_t *source, symbolic_names_t names,
                       int32_t most) {
    closed_t *c = closed_new(source->n, most);
    builder_t b = {s, c->d, (const symbolic_names_t *)names, source->n};
    const bool distal = source->convention == DYN_CONVENTION_DH;
    s->closed = c;
    for (uint32_t i = 0; i < source->n; i++) {
        const dyn_source_joint_t *from = &source->joint[i];
        const dyn_source_joint_t *before = distal ? (i > 0 ? from - 1 : NULL) : from;
        const uint32_t at = distal ? i - 1 : i;
        closed_joint_t *j = &c->joint[i];
        j->prismatic = from->type == DYN_PRISMATIC;
        j->theta = quiet(from->theta);
        if (before) {
            set_alpha(&b, before, at, &j->ca, &j->sa);
            add_named(&b, &j->a, 1, at, SYMBOLIC_A, before->a);
        } else
            poly_add_number(b.d, &j->ca, 1);
        add_named(&b, &j->d, 1, i, SYMBOLIC_D, from->d);
        j->starts = i == 0 || j->sa.count > 0 || j->ca.count == 0 || j->ca.term[0].k < 0;
        add_body(&b, &from->link, i, j->P);
        if (i + 1 == source->n && source->payload.mass > 0)
            add_body(&b, &source->payload, source->n, j->P);
        if (distal) {
            poly_t ca = {0}, sa = {0}, a = {0};
            set_alpha(&b, from, i, &ca, &sa);
            add_named(&b, &a, 1, i, SYMBOLIC_A, from->a);
            to_proximal(b.d, &ca, &sa, &a, j->P);
            poly_free(&ca);
            poly_free(&sa);
            poly_free(&a);
        }
        const dyn_motor_t *motor = &from->drive.motor;
        add_named(&b, &j->rotor, 1, i, SYMBOLIC_ROTOR,
                  motor->rotor_inertia * motor->gear * motor->gear);
    }
    set_gravity(&b, source->gravity);
    return c;
}

int symbolic_variable(const symbolic_parameter_t *p) {
    return p->joint > DYN_MAX_JOINTS   ? (int)p->kind
           : p->kind == SYMBOLIC_ALPHA ? POLY_ANGLE + 2 * (POLY_RANGES + (int)p->joint)
                                       : variable_of(p->joint, p->kind);
}

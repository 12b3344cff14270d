/* Implements test/support/dyn/flex_reference.h. */
#include "test/support/dyn/flex_reference.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef double complex number;

typedef struct {
    number r[3][3], p[3];
} place_t;

enum { SIZE = DYN_FLEX_MAX };

/* Gauss quadrature with 8 points on each of 16 pieces of a beam is accurate to the last digits for
 * the first six modes. */
static const double point[4] = {0.18343464249564980494, 0.52553240991632898582,
                                0.79666647741362673959, 0.96028985649753623168};
static const double weight[4] = {0.36268378337836198297, 0.31370664587788728734,
                                 0.22238103445337447054, 0.10122853629037625915};
enum { PIECES = 16, POINTS = 8 * PIECES };

static void node(double length, int k, double *x, double *dx) {
    const double half = length / PIECES / 2;
    const int i = k % 8;
    const int middle = k / 8 * 2 + 1; /* middle of the piece, counted in half pieces */
    *x = middle * half + (i < 4 ? -1 : 1) * half * point[i % 4];
    *dx = half * weight[i % 4];
}

static place_t compose(place_t a, place_t b) {
    place_t out = a;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            out.r[i][k] = a.r[i][0] * b.r[0][k] + a.r[i][1] * b.r[1][k] + a.r[i][2] * b.r[2][k];
        out.p[i] = a.p[i] + a.r[i][0] * b.p[0] + a.r[i][1] * b.p[1] + a.r[i][2] * b.p[2];
    }
    return out;
}

static place_t turned(int axis, number angle) {
    place_t out = {{{0}}, {0}};
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    out.r[axis][axis] = 1;
    out.r[u][u] = out.r[v][v] = ccos(angle);
    out.r[v][u] = csin(angle);
    out.r[u][v] = -csin(angle);
    return out;
}

static place_t shifted(number x, number y, number z) {
    place_t out = turned(0, 0);
    out.p[0] = x;
    out.p[1] = y;
    out.p[2] = z;
    return out;
}

static place_t constant(const dyn_pose_t *pose) {
    place_t out;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            out.r[i][k] = pose->r[i][k];
        out.p[i] = pose->p[i];
    }
    return out;
}

/* Computes deflections v and w, slopes and torsion of a beam at x. */
static void bent(const flex_beam_t *b, const number *delta, double x, number out[5]) {
    for (int i = 0; i < 5; i++)
        out[i] = 0;
    for (uint32_t k = 0; k < b->xy; k++) {
        out[0] += delta[k] * flex_bending(k, b->length, x, 0);
        out[2] += delta[k] * flex_bending(k, b->length, x, 1);
    }
    for (uint32_t k = 0; k < b->xz; k++) {
        out[1] += delta[b->xy + k] * flex_bending(k, b->length, x, 0);
        out[3] += delta[b->xy + k] * flex_bending(k, b->length, x, 1);
    }
    for (uint32_t k = 0; k < b->torsion; k++)
        out[4] += delta[b->xy + b->xz + k] * flex_torsion(k, b->length, x, 0);
}

typedef struct {
    place_t link[DYN_FLEX_MAX_JOINTS]; /* frames of the joints */
    place_t end[DYN_FLEX_MAX_JOINTS];  /* ends of the beams; for a rigid link the joint frame */
} places_t;

static uint32_t modes_of(const flex_beam_t *b) {
    return b->xy + b->xz + b->torsion;
}

static void places(const flex_arm_t *arm, const number *theta, places_t *out) {
    place_t at = constant(&arm->model.base);
    for (uint32_t i = 0; i < arm->model.n; i++) {
        const dyn_model_joint_t *j = &arm->model.joint[i];
        const flex_beam_t *b = &arm->beam[i];
        const bool prismatic = j->type == DYN_PRISMATIC, on_beam = i > 0 && modes_of(b - 1) > 0;
        at = compose(at, turned(0, j->alpha));
        at = compose(at, shifted(on_beam ? 0 : j->a, 0, 0));
        at = compose(at, turned(2, j->theta + (prismatic ? 0 : *theta)));
        at = compose(at, shifted(0, 0, j->d + (prismatic ? *theta : 0)));
        theta++;
        out->link[i] = at;
        if (modes_of(b) > 0) {
            number u[5];
            bent(b, theta, b->length, u);
            at = compose(at, shifted(b->length, u[0], u[1]));
            at = compose(at, turned(2, u[2]));
            at = compose(at, turned(1, -u[3]));
            at = compose(at, turned(0, u[4]));
            theta += modes_of(b);
        }
        out->end[i] = at;
    }
}

/* Complex step: the imaginary part of a place at theta + i h, divided by h, is its derivative with
 * respect to coordinate c, without cancellation. */
static const double step = 1e-30;

static void places_step(const flex_arm_t *arm, const double *theta, uint32_t size, uint32_t c,
                        number *at, places_t *out) {
    for (uint32_t k = 0; k < size; k++)
        at[k] = theta[k] + (k == c ? step : 0) * (number)I;
    places(arm, at, out);
}

/* Velocity of a point that is fixed in a frame. */
static void point_rate(const place_t *f, const number p[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = cimag(f->p[i] + f->r[i][0] * p[0] + f->r[i][1] * p[1] + f->r[i][2] * p[2]) / step;
}

/* Angular velocity in the axes of the frame itself, from the skew matrix R^T R'. */
static void spin(const place_t *f, double out[3]) {
    double s[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            s[i][k] = 0;
            for (int m = 0; m < 3; m++)
                s[i][k] += creal(f->r[m][i]) * cimag(f->r[m][k]) / step;
        }
    out[0] = s[2][1];
    out[1] = s[0][2];
    out[2] = s[1][0];
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void add_outer(uint32_t size, double m, double v[][3], double *out) {
    for (uint32_t a = 0; a < size; a++)
        for (uint32_t b = 0; b < size; b++)
            out[a * size + b] += m * dot(v[a], v[b]);
}

static void add_body(const flex_arm_t *arm, const dyn_body_t *body, const double *theta,
                     uint32_t size, uint32_t i, bool at_end, double com_x, double *out) {
    static double v[SIZE][3], w[SIZE][3], Jw[SIZE][3];
    number at[SIZE];
    places_t p;
    const number com[3] = {body->com[0] - com_x, body->com[1], body->com[2]};
    const double *J = body->inertia;
    for (uint32_t c = 0; c < size; c++) {
        places_step(arm, theta, size, c, at, &p);
        const place_t *f = at_end ? &p.end[i] : &p.link[i];
        point_rate(f, com, v[c]);
        spin(f, w[c]);
        Jw[c][0] = J[0] * w[c][0] + J[3] * w[c][1] + J[5] * w[c][2];
        Jw[c][1] = J[3] * w[c][0] + J[1] * w[c][1] + J[4] * w[c][2];
        Jw[c][2] = J[5] * w[c][0] + J[4] * w[c][1] + J[2] * w[c][2];
    }
    add_outer(size, body->mass, v, out);
    for (uint32_t a = 0; a < size; a++)
        for (uint32_t b = 0; b < size; b++)
            out[a * size + b] += dot(w[a], Jw[b]);
}

static void add_beam(const flex_arm_t *arm, const double *theta, uint32_t size, uint32_t i,
                     double *out) {
    static double v[SIZE][3];
    static places_t p[SIZE];
    static number at[SIZE][SIZE];
    double section[SIZE]; /* angular rate of a section about x */
    const flex_beam_t *b = &arm->beam[i];
    const uint32_t from = dyn_flex_index(&arm->flex, i) + 1;
    for (uint32_t c = 0; c < size; c++)
        places_step(arm, theta, size, c, at[c], &p[c]);
    for (int k = 0; k < POINTS; k++) {
        double x, dx;
        node(b->length, k, &x, &dx);
        for (uint32_t c = 0; c < size; c++) {
            number u[5];
            double w[3];
            bent(b, at[c] + from, x, u);
            const number r[3] = {x, u[0], u[1]};
            point_rate(&p[c].link[i], r, v[c]);
            spin(&p[c].link[i], w);
            section[c] = w[0] + cimag(u[4]) / step;
        }
        add_outer(size, b->mu * dx, v, out);
        for (uint32_t c = 0; c < size; c++)
            for (uint32_t d = 0; d < size; d++)
                out[c * size + d] += b->polar * dx * section[c] * section[d];
    }
}

void flex_reference_mass(const flex_arm_t *arm, const double *theta, double *I_) {
    const uint32_t size = dyn_flex_size(&arm->model, &arm->flex), last = arm->model.n - 1;
    memset(I_, 0, size * size * sizeof *I_);
    for (uint32_t i = 0; i <= last; i++) {
        if (modes_of(&arm->beam[i]) > 0)
            add_beam(arm, theta, size, i, I_);
        else
            add_body(arm, &arm->model.joint[i].link, theta, size, i, false, 0, I_);
    }
    const flex_beam_t *b = &arm->beam[last];
    add_body(arm, &arm->model.payload, theta, size, last, true, modes_of(b) > 0 ? b->length : 0,
             I_);
}

/* ----------------------------------------------------------------------------- potential energy */

static number lifted(const double g[3], const place_t *f, const number p[3]) {
    number sum = 0;
    for (int i = 0; i < 3; i++)
        sum -= g[i] * (f->p[i] + f->r[i][0] * p[0] + f->r[i][1] * p[1] + f->r[i][2] * p[2]);
    return sum;
}

static number gravity_energy(const flex_arm_t *arm, const number *theta) {
    const dyn_model_t *m = &arm->model;
    const uint32_t last = m->n - 1;
    places_t at;
    number sum = 0;
    places(arm, theta, &at);
    for (uint32_t i = 0; i <= last; i++) {
        const flex_beam_t *b = &arm->beam[i];
        const dyn_body_t *body = &m->joint[i].link;
        const number com[3] = {body->com[0], body->com[1], body->com[2]};
        if (modes_of(b) == 0)
            sum += body->mass * lifted(m->gravity, &at.link[i], com);
        for (int k = 0; modes_of(b) > 0 && k < POINTS; k++) {
            double x, dx;
            number u[5];
            node(b->length, k, &x, &dx);
            bent(b, theta + dyn_flex_index(&arm->flex, i) + 1, x, u);
            const number r[3] = {x, u[0], u[1]};
            sum += b->mu * dx * lifted(m->gravity, &at.link[i], r);
        }
    }
    const flex_beam_t *b = &arm->beam[last];
    const number com[3] = {m->payload.com[0] - (modes_of(b) > 0 ? b->length : 0), m->payload.com[1],
                           m->payload.com[2]};
    return sum + m->payload.mass * lifted(m->gravity, &at.end[last], com);
}

static number strain_energy(const flex_arm_t *arm, const number *theta) {
    number sum = 0;
    for (uint32_t i = 0; i < arm->model.n; i++) {
        const flex_beam_t *b = &arm->beam[i];
        const number *delta = theta + dyn_flex_index(&arm->flex, i) + 1;
        for (int k = 0; modes_of(b) > 0 && k < POINTS; k++) {
            double x, dx;
            number v = 0, w = 0, t = 0;
            node(b->length, k, &x, &dx);
            for (uint32_t f = 0; f < b->xy; f++)
                v += delta[f] * flex_bending(f, b->length, x, 2);
            for (uint32_t f = 0; f < b->xz; f++)
                w += delta[b->xy + f] * flex_bending(f, b->length, x, 2);
            for (uint32_t f = 0; f < b->torsion; f++)
                t += delta[b->xy + b->xz + f] * flex_torsion(f, b->length, x, 1);
            sum += dx / 2 * (b->EI_z * v * v + b->EI_y * w * w + b->GJ * t * t);
        }
    }
    return sum;
}

double flex_reference_potential(const flex_arm_t *arm, const double *theta) {
    number at[SIZE];
    for (uint32_t k = 0; k < dyn_flex_size(&arm->model, &arm->flex); k++)
        at[k] = theta[k];
    return creal(gravity_energy(arm, at) + strain_energy(arm, at));
}

static void slope_of(number (*energy)(const flex_arm_t *, const number *), const flex_arm_t *arm,
                     const double *theta, double *force) {
    const uint32_t size = dyn_flex_size(&arm->model, &arm->flex);
    number at[SIZE];
    for (uint32_t c = 0; c < size; c++) {
        for (uint32_t k = 0; k < size; k++)
            at[k] = theta[k] + (k == c ? step : 0) * (number)I;
        force[c] = cimag(energy(arm, at)) / step;
    }
}

void flex_reference_gravity(const flex_arm_t *arm, const double *theta, double *force) {
    slope_of(gravity_energy, arm, theta, force);
}

void flex_reference_strain(const flex_arm_t *arm, const double *theta, double *force) {
    slope_of(strain_energy, arm, theta, force);
}

void flex_reference_coriolis(const flex_arm_t *arm, const double *theta, const double *thetad,
                             double *force) {
    const uint32_t size = dyn_flex_size(&arm->model, &arm->flex);
    static double M[SIZE * SIZE], dM[SIZE][SIZE * SIZE];
    const double h = 5e-4;
    for (uint32_t c = 0; c < size; c++) {
        /* The derivative is (8 (f1 - f-1) - (f2 - f-2)) / 12 h. */
        static const double at[4] = {1, -1, 2, -2}, part[4] = {8, -8, -1, 1};
        memset(dM[c], 0, sizeof dM[c]);
        for (int s = 0; s < 4; s++) {
            double moved[SIZE];
            memcpy(moved, theta, size * sizeof *moved);
            moved[c] += at[s] * h;
            flex_reference_mass(arm, moved, M);
            for (uint32_t k = 0; k < size * size; k++)
                dM[c][k] += part[s] * M[k] / (12 * h);
        }
    }
    for (uint32_t a = 0; a < size; a++) {
        force[a] = 0;
        for (uint32_t b = 0; b < size; b++)
            for (uint32_t c = 0; c < size; c++)
                force[a] += (dM[c][a * size + b] - dM[a][b * size + c] / 2) * thetad[b] * thetad[c];
    }
}

/* ----------------------------------------------------------------------------------- kinematics */

static place_t effector_of(const flex_arm_t *arm, const places_t *p) {
    const uint32_t last = arm->model.n - 1;
    const flex_beam_t *b = &arm->beam[last];
    place_t tool = constant(&arm->model.tool);
    tool.p[0] -= modes_of(b) > 0 ? b->length : 0;
    return compose(p->end[last], tool);
}

void flex_reference_pose(const flex_arm_t *arm, const double *theta, double *pose) {
    number at[SIZE];
    places_t p;
    for (uint32_t k = 0; k < dyn_flex_size(&arm->model, &arm->flex); k++)
        at[k] = theta[k];
    places(arm, at, &p);
    const place_t effector = effector_of(arm, &p);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            pose[4 * i + k] = creal(effector.r[i][k]);
        pose[4 * i + 3] = creal(effector.p[i]);
    }
}

void flex_reference_jacobian(const flex_arm_t *arm, const double *theta, double *J) {
    const uint32_t size = dyn_flex_size(&arm->model, &arm->flex);
    for (uint32_t c = 0; c < size; c++) {
        number at[SIZE];
        places_t p;
        double w[3];
        places_step(arm, theta, size, c, at, &p);
        const place_t effector = effector_of(arm, &p);
        spin(&effector, w);
        for (int i = 0; i < 3; i++) {
            J[(uint32_t)i * size + c] = cimag(effector.p[i]) / step;
            J[(uint32_t)(i + 3) * size + c] = creal(effector.r[i][0]) * w[0] +
                                              creal(effector.r[i][1]) * w[1] +
                                              creal(effector.r[i][2]) * w[2];
        }
    }
}

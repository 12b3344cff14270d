/*
 * Newton-Euler as in J. J. Craig, "Introduction to Robotics", section 6.5 (outward 6.45 to 6.50,
 * inward 6.51 to 6.53). The composite rigid body algorithm as in R. Featherstone, "Rigid Body
 * Dynamics Algorithms", table 6.2, with mass, centre and inertia instead of 6x6 matrices.
 * Cholesky's factorisation as in a textbook. This code is the yardstick: it computes known zeros
 * like other numbers and prepares nothing beforehand. It is compiled with -O3, which makes it twice
 * as fast but does not speed up our kernels.
 */
#include "test/bench/bench_textbook.h"

#include <math.h>

typedef textbook_v3_t v3_t;
typedef textbook_m3_t m3_t;

static v3_t cross(v3_t a, v3_t b) {
    return (v3_t){{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2],
                   a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}

static v3_t plus(v3_t a, v3_t b) {
    return (v3_t){{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}};
}

static v3_t scale(float k, v3_t a) {
    return (v3_t){{k * a.v[0], k * a.v[1], k * a.v[2]}};
}

static float dot(v3_t a, v3_t b) {
    return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2];
}

static v3_t times(const m3_t *m, v3_t a) {
    v3_t out;
    for (int i = 0; i < 3; i++)
        out.v[i] = m->m[i][0] * a.v[0] + m->m[i][1] * a.v[1] + m->m[i][2] * a.v[2];
    return out;
}

static m3_t product(const m3_t *a, const m3_t *b) {
    m3_t out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] =
                a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    return out;
}

static m3_t transpose(const m3_t *a) {
    m3_t out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out.m[i][j] = a->m[j][i];
    return out;
}

static m3_t inertia_of(const dyn_sym_f32_t *J) {
    return (m3_t){{{J->xx, J->xy, J->xz}, {J->xy, J->yy, J->yz}, {J->xz, J->yz, J->zz}}};
}

static v3_t from_vec(const dyn_vec_f32_t *a) {
    return (v3_t){{a->x, a->y, a->z}};
}

/* Craig, equation (3.6): pose of frame i in frame i-1. */
static void frame(const dyn_joint_f32_t *j, float q, m3_t *R, v3_t *p) {
    const float theta = q + j->offset, c = cosf(theta), s = sinf(theta);
    const float ca = j->x.c, sa = j->x.s;
    *R = (m3_t){{{c, -s, 0}, {s * ca, c * ca, -sa}, {s * sa, c * sa, ca}}};
    *p = (v3_t){{j->a, -sa * j->fixed_d, ca * j->fixed_d}};
}

void textbook_inverse(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                      const float qd[], const float qdd[], float tau[]) {
    m3_t *R = scratch->R;
    v3_t *P = scratch->P, *F = scratch->F, *N = scratch->N;
    v3_t w = {{0}}, wd = {{0}}, vd = from_vec(&arm->base_acceleration);
    for (uint32_t i = 0; i < arm->n; i++) {
        const dyn_joint_f32_t *j = &arm->joint[i];
        const v3_t qz = {{0, 0, qd[i]}}, qzz = {{0, 0, qdd[i]}}, s = from_vec(&j->s);
        const m3_t J = inertia_of(&j->J);
        frame(j, q[i], &R[i], &P[i]);
        const m3_t back = transpose(&R[i]);
        vd = times(&back, plus(plus(cross(wd, P[i]), cross(w, cross(w, P[i]))), vd));
        const v3_t carried = times(&back, w);
        wd = plus(plus(times(&back, wd), cross(carried, qz)), qzz);
        w = plus(carried, qz);
        const v3_t a = plus(plus(cross(wd, s), cross(w, cross(w, s))), vd);
        F[i] = scale(j->m, a);
        N[i] = plus(times(&J, wd), cross(w, times(&J, w)));
    }
    v3_t f = {{0}}, n = {{0}};
    for (uint32_t i = arm->n; i-- > 0;) {
        const v3_t s = from_vec(&arm->joint[i].s);
        v3_t passed = {{0}}, turned = {{0}};
        if (i + 1 < arm->n) {
            passed = times(&R[i + 1], f);
            turned = plus(times(&R[i + 1], n), cross(P[i + 1], passed));
        }
        n = plus(plus(N[i], turned), cross(s, F[i]));
        f = plus(passed, F[i]);
        tau[i] = n.v[2];
    }
}

void textbook_mass(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                   float M[]) {
    m3_t *R = scratch->R;
    v3_t *P = scratch->P;
    for (uint32_t i = 0; i < arm->n; i++)
        frame(&arm->joint[i], q[i], &R[i], &P[i]);
    /* The composite body has a mass, a first moment and an inertia about the origin of frame i. */
    float m = 0;
    v3_t h = {{0}};
    m3_t I = {{{0}}};
    for (uint32_t i = arm->n; i-- > 0;) {
        const dyn_joint_f32_t *j = &arm->joint[i];
        if (i + 1 < arm->n) {
            const m3_t back = transpose(&R[i + 1]), half = product(&R[i + 1], &I);
            const v3_t p = P[i + 1], g = times(&R[i + 1], h);
            I = product(&half, &back);
            const float two = 2 * dot(p, g), square = dot(p, p);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    I.m[r][c] += (r == c ? two + m * square : 0) - p.v[r] * g.v[c] -
                                 g.v[r] * p.v[c] - m * p.v[r] * p.v[c];
            h = plus(g, scale(m, p));
        }
        const m3_t J = inertia_of(&j->J);
        const v3_t s = from_vec(&j->s);
        const float square = dot(s, s);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                I.m[r][c] += J.m[r][c] + j->m * ((r == c ? square : 0) - s.v[r] * s.v[c]);
        h = plus(h, scale(j->m, s));
        m += j->m;
        const v3_t z = {{0, 0, 1}};
        v3_t n = times(&I, z), f = cross(z, h);
        M[i * (i + 1) / 2 + i] = n.v[2];
        for (uint32_t k = i; k > 0; k--) {
            f = times(&R[k], f);
            n = plus(times(&R[k], n), cross(P[k], f));
            M[i * (i + 1) / 2 + k - 1] = n.v[2];
        }
    }
}

int textbook_forward(const dyn_arm_f32_t *arm, textbook_scratch_t *scratch, const float q[],
                     const float qd[], const float tau[], float qdd[]) {
    float *M = scratch->M, *bias = scratch->bias;
    const uint32_t n = arm->n;
    for (uint32_t i = 0; i < n; i++)
        scratch->zero[i] = 0;
    textbook_inverse(arm, scratch, q, qd, scratch->zero, bias);
    textbook_mass(arm, scratch, q, M);
    for (uint32_t i = 0; i < n; i++) {
        M[i * (i + 1) / 2 + i] += arm->joint[i].rotor;
        qdd[i] = tau[i] - bias[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            float sum = M[i * (i + 1) / 2 + k];
            for (uint32_t l = 0; l < k; l++)
                sum -= M[i * (i + 1) / 2 + l] * M[k * (k + 1) / 2 + l];
            if (k < i)
                M[i * (i + 1) / 2 + k] = sum / M[k * (k + 1) / 2 + k];
            else if (sum > 0)
                M[i * (i + 1) / 2 + i] = sqrtf(sum);
            else
                return DYN_E_PIVOT;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t l = 0; l < i; l++)
            qdd[i] -= M[i * (i + 1) / 2 + l] * qdd[l];
        qdd[i] /= M[i * (i + 1) / 2 + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t l = i + 1; l < n; l++)
            qdd[i] -= M[l * (l + 1) / 2 + i] * qdd[l];
        qdd[i] /= M[i * (i + 1) / 2 + i];
    }
    return DYN_OK;
}

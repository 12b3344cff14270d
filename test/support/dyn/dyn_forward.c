/* Implements test/support/dyn/dyn_forward.h: eigenvalues, units for sums of bodies, error
 * bounds. */
#include "test/support/dyn/dyn_forward.h"

#include <math.h>
#include <stdbool.h>

static double full[DYN_MAX_JOINTS][DYN_MAX_JOINTS];

static void rotate(uint32_t n, uint32_t p, uint32_t q) {
    if (full[p][q] == 0)
        return;
    const double theta = (full[q][q] - full[p][p]) / (2 * full[p][q]);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (uint32_t k = 0; k < n; k++) {
        const double x = full[k][p], y = full[k][q];
        full[k][p] = c * x - s * y;
        full[k][q] = s * x + c * y;
    }
    for (uint32_t k = 0; k < n; k++) {
        const double x = full[p][k], y = full[q][k];
        full[p][k] = c * x - s * y;
        full[q][k] = s * x + c * y;
    }
}

void spd_eigenvalues(uint32_t n, const double *packed, double *smallest, double *largest) {
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++)
            full[r][c] = full[c][r] = packed[r * (r + 1) / 2 + c];
    for (int sweep = 0; sweep < 12; sweep++)
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++)
                rotate(n, p, q);
    *smallest = *largest = full[0][0];
    for (uint32_t k = 1; k < n; k++) {
        *smallest = fmin(*smallest, full[k][k]);
        *largest = fmax(*largest, full[k][k]);
    }
}

double spd_largest(uint32_t n, const double *packed) {
    double largest = 0;
    for (uint32_t k = 0; k < n * (n + 1) / 2; k++)
        largest = fmax(largest, fabs(packed[k]));
    return largest;
}

void spd_multiply(uint32_t n, const double *packed, const double *x, double *y) {
    for (uint32_t r = 0; r < n; r++) {
        y[r] = 0;
        for (uint32_t c = 0; c < n; c++)
            y[r] += packed[r > c ? r * (r + 1) / 2 + c : c * (c + 1) / 2 + r] * x[c];
    }
}

static double norm(double x, double y, double z) {
    return sqrt(x * x + y * y + z * z);
}

static int power_above(double x) {
    int exponent;
    const double mantissa = frexp(x, &exponent); /* a mantissa of 0.5: x is a power of two */
    return mantissa > 0.5 ? exponent : exponent - 1;
}

void forward_units(const dyn_model_t *model, dyn_units_t *units) {
    static double m[DYN_MAX_JOINTS], h[DYN_MAX_JOINTS], I[DYN_MAX_JOINTS];
    double reach = 0, speed = 0, gravity = 0, arm = 0;
    for (uint32_t i = model->n; i-- > 0;) {
        const dyn_body_t body =
            i + 1 == model->n ? dyn_model_last_link(model) : model->joint[i].link;
        const double s = norm(body.com[0], body.com[1], body.com[2]);
        double own = body.mass * s * s;
        for (int k = 0; k < 3; k++)
            own += fabs(body.inertia[k]) + 2 * fabs(body.inertia[k + 3]);
        m[i] = body.mass;
        h[i] = body.mass * s;
        I[i] = own;
        arm = s;
        if (i + 1 < model->n) {
            const dyn_model_joint_t *next = &model->joint[i + 1];
            const double travel = next->type == DYN_PRISMATIC
                                      ? fmax(fabs(next->drive.limits.position[0]),
                                             fabs(next->drive.limits.position[1]))
                                      : 0;
            const double p = norm(next->a, fabs(next->d) + travel, 0);
            arm = fmax(arm, p + reach);
            m[i] += m[i + 1];
            h[i] += h[i + 1] + m[i + 1] * p;
            I[i] += I[i + 1] + 2 * h[i + 1] * p + m[i + 1] * p * p;
        }
        reach = arm;
        speed += model->joint[i].drive.limits.velocity;
    }
    for (int k = 0; k < 3; k++)
        gravity = fmax(gravity, fabs(model->gravity[k]));
    units->length = (int8_t)power_above(reach / 2);
    const double L = ldexp(1, units->length);
    for (uint32_t i = model->n; i-- > 0;) {
        const bool prismatic = model->joint[i].type == DYN_PRISMATIC;
        const double rotor = dyn_model_rotor(&model->joint[i]) / (prismatic ? 1 : L * L);
        const double most = fmax(fmax(m[i], h[i] / L), fmax(I[i] / (L * L), rotor));
        const int mass = power_above(fmax(most / 2, 1e-6));
        const int behind = i + 1 < model->n ? units->mass[i + 1] : mass;
        units->mass[i] = (int8_t)(mass > behind ? mass : behind);
    }
    /* In these units the angular speed is at most 1 and the acceleration of the last link at most 2,
     * even if all joints turn in one plane, where their speeds add. */
    const double fastest = fmax(speed * speed, (gravity + 2 * reach * speed * speed) / (2 * L));
    units->time = (int8_t)-power_above(sqrt(fastest));
}

void forward_random(const dyn_model_t *model, dyn_arms_random_t *seed, forward_state_t *s) {
    for (uint32_t i = 0; i < model->n; i++) {
        s->q[i] = model->joint[i].drive.limits.position[1] * dyn_arms_uniform(seed);
        s->qd[i] = model->joint[i].drive.limits.velocity * dyn_arms_uniform(seed);
        s->tau[i] = 10 * dyn_arms_uniform(seed);
    }
}

void forward_to_f32(const dyn_model_t *model, forward_state_t *s, forward_f32_t *out) {
    for (uint32_t i = 0; i < model->n; i++) {
        s->q[i] = (double)(out->q[i] = (float)s->q[i]);
        s->qd[i] = (double)(out->qd[i] = (float)s->qd[i]);
        s->tau[i] = (double)(out->tau[i] = (float)s->tau[i]);
    }
}

void forward_to_q31(const dyn_model_t *model, const dyn_units_t *units, forward_state_t *s,
                    forward_q31_t *out) {
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(model, units, i);
        const bool prismatic = model->joint[i].type == DYN_PRISMATIC;
        out->q[i] = prismatic ? dyn_q31_from(s->q[i], e.position) : dyn_q31_angle(s->q[i]);
        out->qd[i] = dyn_q31_from(s->qd[i], e.velocity);
        out->tau[i] = dyn_q31_from(s->tau[i], e.torque);
        s->q[i] = prismatic ? dyn_q31_to(out->q[i], e.position) : dyn_q31_angle_rad(out->q[i]);
        s->qd[i] = dyn_q31_to(out->qd[i], e.velocity);
        s->tau[i] = dyn_q31_to(out->tau[i], e.torque);
    }
}

double forward_largest(uint32_t n, const double *x) {
    double largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

double forward_tolerance(uint32_t n, const double *M, const double *qdd) {
    double smallest, largest;
    spd_eigenvalues(n, M, &smallest, &largest);
    return fmax(1e-10, 1e-13 * largest / smallest) * (1 + forward_largest(n, qdd));
}

double forward_matrix_error_f32(uint32_t n, const double *M) {
    return 16 * (double)n * 0x1p-24 * spd_largest(n, M);
}

double forward_error_f32(uint32_t n, const double *M, double force, const double *qdd) {
    double smallest, largest, length = 0;
    spd_eigenvalues(n, M, &smallest, &largest);
    for (uint32_t i = 0; i < n; i++)
        length += qdd[i] * qdd[i];
    const double rhs = sqrt((double)n) * 16 * (double)n * 0x1p-24 * force;
    return (rhs + (double)n * forward_matrix_error_f32(n, M) * sqrt(length)) / smallest;
}

int forward_element_exponent(const dyn_model_t *model, const dyn_units_t *units, uint32_t r,
                             uint32_t c) {
    const int turns =
        (model->joint[r].type == DYN_REVOLUTE) + (model->joint[c].type == DYN_REVOLUTE);
    return units->mass[r < c ? r : c] + turns * units->length;
}

double forward_matrix_error_q31(uint32_t n, int exponent) {
    return 8 * 16 * (double)n * ldexp(1, exponent - DYN_Q31_BITS);
}

/* Gauss-Jordan elimination needs no pivoting, because M is positive definite. */
static void invert(uint32_t n, const double *packed) {
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++)
            full[r][c] = full[c][r] = packed[r * (r + 1) / 2 + c];
    for (uint32_t k = 0; k < n; k++) {
        const double d = 1 / full[k][k];
        full[k][k] = 1;
        for (uint32_t c = 0; c < n; c++)
            full[k][c] *= d;
        for (uint32_t r = 0; r < n; r++) {
            const double f = full[r][k];
            if (r == k)
                continue;
            full[r][k] = 0;
            for (uint32_t c = 0; c < n; c++)
                full[r][c] -= f * full[k][c];
        }
    }
}

void forward_error_q31(const dyn_model_t *model, const dyn_units_t *units, const double *M,
                       const double *qdd, double *error) {
    const uint32_t n = model->n;
    static double off[DYN_MAX_JOINTS];
    const double unit = forward_matrix_error_q31(n, 0);
    for (uint32_t j = 0; j < n; j++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(model, units, j);
        const double Mjj = M[j * (j + 3) / 2];
        off[j] = ldexp(unit, e.torque);
        for (uint32_t k = 0; k < n; k++) {
            const double Mkk = M[k * (k + 3) / 2];
            off[j] += fabs(qdd[k]) * (ldexp(unit, forward_element_exponent(model, units, j, k)) +
                                      unit * sqrt(Mjj * Mkk));
        }
        /* The solution itself is truncated in the units of the equilibrated matrix. */
        off[j] +=
            unit * sqrt(Mjj * ldexp(1, units->mass[0])) * ldexp(1, units->length - 2 * units->time);
    }
    invert(n, M);
    for (uint32_t i = 0; i < n; i++) {
        error[i] = ldexp(8, dyn_q31_exponents(model, units, i).acceleration - DYN_Q31_BITS);
        for (uint32_t j = 0; j < n; j++)
            error[i] += fabs(full[i][j]) * off[j];
    }
}

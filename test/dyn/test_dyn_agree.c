/*
 * Compares every method of every problem with all other methods and with the reference values, and
 * its f32 and q31 results with f64. The tables of test/support/dyn/dyn_methods.inc list the
 * methods.
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"
#include "test/support/harness.h"
#include "test/support/dyn/reference.h"
#include "tools/proof/range.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DYN_REAL f64
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL
#define DYN_REAL f32
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL
#define DYN_REAL q31
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL
#define DYN_REAL range
#include "test/support/dyn/dyn_methods.inc"
#undef DYN_REAL

enum { N = DYN_MAX_JOINTS, PACKED = N * (N + 1) / 2 };

static const reference_arm_t *arms;
static uint32_t arm_count;

static dyn_arm_f64_t arm;
static dyn_arm_f32_t arm_f32;
static dyn_arm_q31_t arm_q31;
static dyn_methods_scratch_f64_t scratch;
static dyn_methods_scratch_f32_t scratch_f32;
static dyn_methods_scratch_q31_t scratch_q31;
static dyn_methods_scratch_range_t scratch_range;

/* Fills a result and the scratch with junk, so that a result the kernel did not write cannot pass
 * by chance. */
static void spoil(double *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        x[i] = NAN;
    memset(&scratch, 0xA5, sizeof scratch);
}

static double largest_of(const double *x, uint32_t n) {
    double largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

static void expect(const char *problem, const char *method, const char *name, uint32_t state,
                   const double *expected, const double *got, uint32_t n, double tolerance) {
    char text[160];
    for (uint32_t i = 0; i < n; i++) {
        if (fabs(got[i] - expected[i]) <= tolerance)
            continue;
        snprintf(text, sizeof text, "%s %s, %s, state %u, element %u: %.3g off, %.3g allowed",
                 problem, method, name, state, i, fabs(got[i] - expected[i]), tolerance);
        TEST_FAIL_MESSAGE(text);
    }
}

/* The tolerance that the reference values state. */
static double allowed(const double *expected, uint32_t n) {
    return 1e-10 * (1 + largest_of(expected, n));
}

static uint32_t packed(uint32_t n) {
    return n * (n + 1) / 2;
}

static double element(const double *M, uint32_t r, uint32_t c) {
    return r >= c ? M[packed(r) + c] : M[packed(c) + r];
}

/* Returns the condition number of a packed symmetric matrix, by Jacobi's rotations. */
static double condition(const double *M, uint32_t n) {
    static double A[N][N];
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n; c++)
            A[r][c] = element(M, r, c);
    for (int sweep = 0; sweep < 30; sweep++)
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                if (fabs(A[p][q]) < 1e-300)
                    continue;
                const double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (uint32_t k = 0; k < n; k++) {
                    const double x = A[k][p], y = A[k][q];
                    A[k][p] = c * x - s * y;
                    A[k][q] = s * x + c * y;
                }
                for (uint32_t k = 0; k < n; k++) {
                    const double x = A[p][k], y = A[q][k];
                    A[p][k] = c * x - s * y;
                    A[q][k] = s * x + c * y;
                }
            }
    double least = DBL_MAX, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        least = fmin(least, A[i][i]);
        most = fmax(most, A[i][i]);
    }
    return most / least;
}

static bool prepare(uint32_t k) {
    if (arm_count == 0)
        arm_count = reference_read(&arms);
    if (k >= arm_count)
        return false;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&arms[k].model, NULL, &arm));
    return true;
}

/* Allows 1e-13 times the condition number of M, but at least 1e-10, times 1 + the largest
 * acceleration. */
static double allowed_forward(const double *q, const double *expected, uint32_t n) {
    static double M[PACKED];
    dyn_masses_f64[0].run(&arm, &scratch, q, M);
    dyn_rotor_mass_f64(&arm, M);
    return fmax(1e-10, 1e-13 * condition(M, n)) * (1 + largest_of(expected, n));
}

/* Skips the test if there are no reference values: its loops would check nothing, and it would
 * pass. */
static void need_reference_values(void) {
    if (!prepare(0))
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
}

static void test_there_are_reference_values(void) {
    uint32_t longest = 0;
    need_reference_values();
    for (uint32_t k = 0; k < arm_count; k++)
        longest = arms[k].model.n > longest ? arms[k].model.n : longest;
    TEST_ASSERT_EQUAL_UINT32(25, arm_count);
    TEST_ASSERT_EQUAL_UINT32(30, longest);
}

static void test_inverse_against_the_reference(void) {
    static double tau[N];
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *x = &arms[k].state[s];
            const uint32_t n = arm.n;
            if (!x->has_tau)
                continue;
            for (const dyn_inverse_row_f64_t *m = dyn_inverses_f64; m->name; m++) {
                spoil(tau, n);
                m->run(&arm, &scratch, x->q, x->qd, x->qdd, tau);
                dyn_rotor_inverse_f64(&arm, x->qdd, tau);
                expect("inverse", m->name, arms[k].name, s, x->tau, tau, n, allowed(x->tau, n));
            }
        }
}

static void test_bias_and_gravity_against_the_reference(void) {
    static double tau[N], C[N * N];
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *x = &arms[k].state[s];
            const uint32_t n = arm.n;
            if (!x->has_bias)
                continue;
            for (const dyn_bias_row_f64_t *m = dyn_biases_f64; m->name; m++) {
                spoil(tau, n);
                m->run(&arm, &scratch, x->q, x->qd, tau);
                expect("bias", m->name, arms[k].name, s, x->bias, tau, n, allowed(x->bias, n));
            }
            for (const dyn_mass_row_f64_t *m = dyn_gravities_f64; m->name; m++) {
                spoil(tau, n);
                m->run(&arm, &scratch, x->q, tau);
                expect("gravity", m->name, arms[k].name, s, x->gravity, tau, n,
                       allowed(x->gravity, n));
            }
            for (const dyn_bias_row_f64_t *m = dyn_corioles_f64; m->name; m++) {
                spoil(C, n * n);
                m->run(&arm, &scratch, x->q, x->qd, C);
                for (uint32_t r = 0; r < n; r++) {
                    tau[r] = x->gravity[r];
                    for (uint32_t c = 0; c < n; c++)
                        tau[r] += C[r * n + c] * x->qd[c];
                }
                expect("coriolis", m->name, arms[k].name, s, x->bias, tau, n, allowed(x->bias, n));
            }
        }
}

static void test_mass_against_the_reference(void) {
    static double M[PACKED];
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *x = &arms[k].state[s];
            const uint32_t n = arm.n;
            if (!x->has_M)
                continue;
            for (const dyn_mass_row_f64_t *m = dyn_masses_f64; m->name; m++) {
                spoil(M, packed(n));
                m->run(&arm, &scratch, x->q, M);
                dyn_rotor_mass_f64(&arm, M);
                expect("mass", m->name, arms[k].name, s, x->M, M, packed(n),
                       allowed(x->M, packed(n)));
            }
        }
}

static void test_forward_against_the_reference(void) {
    static double qdd[N];
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *x = &arms[k].state[s];
            const uint32_t n = arm.n;
            const double tolerance = allowed_forward(x->q, x->fd_qdd, n);
            for (const dyn_forward_row_f64_t *m = dyn_forwards_f64; m->name; m++) {
                spoil(qdd, n);
                TEST_ASSERT_EQUAL_INT_MESSAGE(
                    DYN_OK, m->run(&arm, &scratch, x->q, x->qd, x->fd_tau, qdd), m->name);
                expect("forward", m->name, arms[k].name, s, x->fd_qdd, qdd, n, tolerance);
            }
        }
}

/* The wrench on the end effector is applied after inverse dynamics and before forward dynamics. */
static void test_wrench_against_the_reference(void) {
    static double tau[N], drive[N], qdd[N];
    uint32_t seen = 0;
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++)
        for (uint32_t s = 0; s < arms[k].states; s++) {
            const reference_state_t *x = &arms[k].state[s];
            const uint32_t n = arm.n;
            double opposite[6];
            if (!x->has_tool)
                continue;
            for (const dyn_inverse_row_f64_t *m = dyn_inverses_f64; m->name; m++) {
                m->run(&arm, &scratch, x->q, x->qd, x->qdd, tau);
                dyn_rotor_inverse_f64(&arm, x->qdd, tau);
                dyn_wrench_torque_f64(&arm, x->q, x->wrench, tau);
                expect("inverse with wrench", m->name, arms[k].name, s, x->tau_wrench, tau, n,
                       allowed(x->tau_wrench, n));
            }
            for (int i = 0; i < 6; i++)
                opposite[i] = -x->wrench[i];
            memcpy(drive, x->fd_tau, sizeof drive);
            dyn_wrench_torque_f64(&arm, x->q, opposite, drive);
            const double tolerance = allowed_forward(x->q, x->fd_qdd_wrench, n);
            for (const dyn_forward_row_f64_t *m = dyn_forwards_f64; m->name; m++) {
                TEST_ASSERT_EQUAL_INT(DYN_OK, m->run(&arm, &scratch, x->q, x->qd, drive, qdd));
                expect("forward with wrench", m->name, arms[k].name, s, x->fd_qdd_wrench, qdd, n,
                       tolerance);
            }
            seen++;
        }
    TEST_ASSERT_TRUE(seen > 35);
}

/* ------------------------------------------------------ methods among each other, random states */
static dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};

typedef struct {
    double q[N], qd[N], qdd[N];
} state_t;

/* Makes a state within the limits of the model. Its numbers are exact in float, so that f32 and f64
 * start from the same numbers. */
static state_t random_state(const dyn_model_t *model) {
    state_t x = {{0}, {0}, {0}};
    for (uint32_t i = 0; i < model->n; i++) {
        const dyn_limits_t *l = &model->joint[i].drive.limits;
        x.q[i] = (double)(float)(l->position[1] * dyn_arms_uniform(&seed));
        x.qd[i] = (double)(float)(l->velocity * dyn_arms_uniform(&seed));
        x.qdd[i] = (double)(float)(l->acceleration * dyn_arms_uniform(&seed));
    }
    return x;
}

static dyn_model_t model;

/* Loads one of the compiled-in arms, which need no reference files. */
static void carried_arm(uint32_t k) {
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

/* Checks tau = M qdd + bias for every mass and every bias method, and fd(id(qdd)) = qdd for every
 * pair of methods. */
static void test_problems_agree_with_each_other(void) {
    static double tau[N], sum[N], bias[N], M[PACKED], qdd[N];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        carried_arm(k);
        const char *name = dyn_arms_name(k);
        const uint32_t n = model.n;
        for (uint32_t s = 0; s < 20; s++) {
            const state_t x = random_state(&model);
            for (const dyn_inverse_row_f64_t *m = dyn_inverses_f64; m->name; m++) {
                spoil(tau, n);
                m->run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
                dyn_rotor_inverse_f64(&arm, x.qdd, tau);
                for (const dyn_mass_row_f64_t *h = dyn_masses_f64; h->name; h++)
                    for (const dyn_bias_row_f64_t *b = dyn_biases_f64; b->name; b++) {
                        spoil(M, packed(n));
                        h->run(&arm, &scratch, x.q, M);
                        dyn_rotor_mass_f64(&arm, M);
                        spoil(bias, n);
                        b->run(&arm, &scratch, x.q, x.qd, bias);
                        for (uint32_t r = 0; r < n; r++) {
                            sum[r] = bias[r];
                            for (uint32_t c = 0; c < n; c++)
                                sum[r] += element(M, r, c) * x.qdd[c];
                        }
                        expect("M qdd + bias", h->name, name, s, tau, sum, n, allowed(tau, n));
                    }
                const double tolerance = allowed_forward(x.q, x.qdd, n);
                for (const dyn_forward_row_f64_t *f = dyn_forwards_f64; f->name; f++) {
                    spoil(qdd, n);
                    TEST_ASSERT_EQUAL_INT(DYN_OK, f->run(&arm, &scratch, x.q, x.qd, tau, qdd));
                    expect("forward of inverse", f->name, name, s, x.qdd, qdd, n, tolerance);
                }
            }
        }
    }
}

/* Gravity is the bias at rest, and C qd is the rest of the bias. */
static void test_gravity_and_coriolis_make_the_bias(void) {
    static double bias[N], rest[N], gravity[N], C[N * N];
    static const double zero[N];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        carried_arm(k);
        const uint32_t n = model.n;
        for (uint32_t s = 0; s < 20; s++) {
            const state_t x = random_state(&model);
            for (const dyn_bias_row_f64_t *b = dyn_biases_f64; b->name; b++) {
                b->run(&arm, &scratch, x.q, x.qd, bias);
                b->run(&arm, &scratch, x.q, zero, rest);
                for (const dyn_mass_row_f64_t *g = dyn_gravities_f64; g->name; g++) {
                    spoil(gravity, n);
                    g->run(&arm, &scratch, x.q, gravity);
                    expect("gravity", g->name, dyn_arms_name(k), s, rest, gravity, n,
                           allowed(rest, n));
                }
                for (const dyn_bias_row_f64_t *c = dyn_corioles_f64; c->name; c++) {
                    spoil(C, n * n);
                    c->run(&arm, &scratch, x.q, x.qd, C);
                    for (uint32_t r = 0; r < n; r++) {
                        gravity[r] = rest[r];
                        for (uint32_t i = 0; i < n; i++)
                            gravity[r] += C[r * n + i] * x.qd[i];
                    }
                    expect("C qd + gravity", c->name, dyn_arms_name(k), s, bias, gravity, n,
                           allowed(bias, n));
                }
            }
        }
    }
}

/*
 * Tests a wrench on the end effector in id and in fd, on arms with base and tool: id subtracts the
 * wrench in the inward recursion, fd takes it into account through the Jacobian.
 */
static void test_wrench_in_inverse_and_forward(void) {
    static double tau[N], qdd[N], J[6 * N];
    const double xyz[3] = {0.1, -0.05, 0.2}, rpy[3] = {0.3, -1.1, 2};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_model(k, &model);
        model.base = model.tool = dyn_pose_rpy(xyz, rpy);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        const uint32_t n = model.n;
        for (uint32_t s = 0; s < 5; s++) {
            const state_t x = random_state(&model);
            double wrench[6], world[6] = {0}, pose[12];
            dyn_pose_f64(&arm, x.q, pose);
            dyn_jacobian_f64(&arm, x.q, J);
            for (int i = 0; i < 6; i++)
                wrench[i] = 20 * dyn_arms_uniform(&seed);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) {
                    world[r] += pose[4 * r + c] * wrench[c];
                    world[3 + r] += pose[4 * r + c] * wrench[3 + c];
                }
            for (const dyn_inverse_row_f64_t *m = dyn_inverses_f64; m->name; m++)
                for (const dyn_forward_row_f64_t *f = dyn_forwards_f64; f->name; f++) {
                    m->run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
                    dyn_rotor_inverse_f64(&arm, x.qdd, tau);
                    dyn_wrench_torque_f64(&arm, x.q, wrench, tau);
                    for (uint32_t i = 0; i < n; i++)
                        for (uint32_t r = 0; r < 6; r++)
                            tau[i] += J[r * n + i] * world[r];
                    TEST_ASSERT_EQUAL_INT(DYN_OK, f->run(&arm, &scratch, x.q, x.qd, tau, qdd));
                    expect("forward with wrench", f->name, dyn_arms_name(k), s, x.qdd, qdd, n,
                           allowed_forward(x.q, x.qdd, n));
                }
        }
    }
}

/* -------------------------------------------------------------------------------------- payload */
static const dyn_body_t loads[3] = {
    {2.5, {0.1, -0.2, 0.3}, {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}},
    {0.3, {-0.05, 0.1, 0}, {0.001, 0.002, 0.002, 0, 0, 0}},
    {0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}},
};

/*
 * After each change of the payload, prepare_payload updates one arm and another arm is prepared
 * from the start. All methods must give the same bits on both, so prepare_payload must update every
 * constant of each method.
 */
#define PAYLOAD_TEST(REAL, REAL_T, MAKE)                                                           \
    static void payload_##REAL(const dyn_units_t *units) {                                         \
        static dyn_arm_##REAL##_t changed, fresh;                                                  \
        static dyn_methods_scratch_##REAL##_t work;                                                \
        static REAL_T in[3][N], tau[N], out[2][N * N];                                             \
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_##REAL(&model, units, &changed));                \
        for (int step = 0; step < 3; step++) {                                                     \
            const uint32_t n = model.n;                                                            \
            const state_t x = random_state(&model);                                                \
            model.payload = loads[step];                                                           \
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_##REAL(&model, units, &changed));    \
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_##REAL(&model, units, &fresh));              \
            for (uint32_t i = 0; i < n; i++)                                                       \
                MAKE(i);                                                                           \
            for (const dyn_inverse_row_##REAL##_t *m = dyn_inverses_##REAL; m->name; m++) {        \
                m->run(&changed, &work, in[0], in[1], in[2], out[0]);                              \
                m->run(&fresh, &work, in[0], in[1], in[2], out[1]);                                \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], n * sizeof(REAL_T), m->name);     \
            }                                                                                      \
            for (const dyn_bias_row_##REAL##_t *m = dyn_biases_##REAL; m->name; m++) {             \
                m->run(&changed, &work, in[0], in[1], out[0]);                                     \
                m->run(&fresh, &work, in[0], in[1], out[1]);                                       \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], n * sizeof(REAL_T), m->name);     \
            }                                                                                      \
            for (const dyn_mass_row_##REAL##_t *m = dyn_gravities_##REAL; m->name; m++) {          \
                m->run(&changed, &work, in[0], out[0]);                                            \
                m->run(&fresh, &work, in[0], out[1]);                                              \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], n * sizeof(REAL_T), m->name);     \
            }                                                                                      \
            for (const dyn_mass_row_##REAL##_t *m = dyn_masses_##REAL; m->name; m++) {             \
                m->run(&changed, &work, in[0], out[0]);                                            \
                m->run(&fresh, &work, in[0], out[1]);                                              \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], packed(n) * sizeof(REAL_T),       \
                                                 m->name);                                         \
            }                                                                                      \
            for (const dyn_bias_row_##REAL##_t *m = dyn_corioles_##REAL; m->name; m++) {           \
                m->run(&changed, &work, in[0], in[1], out[0]);                                     \
                m->run(&fresh, &work, in[0], in[1], out[1]);                                       \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], n *n * sizeof(REAL_T), m->name);  \
            }                                                                                      \
            dyn_inverses_##REAL[0].run(&fresh, &work, in[0], in[1], in[2], tau);                   \
            dyn_rotor_inverse_##REAL(&fresh, in[2], tau);                                          \
            for (const dyn_forward_row_##REAL##_t *m = dyn_forwards_##REAL; m->name; m++) {        \
                const int one = m->run(&changed, &work, in[0], in[1], tau, out[0]);                \
                const int two = m->run(&fresh, &work, in[0], in[1], tau, out[1]);                  \
                TEST_ASSERT_EQUAL_INT_MESSAGE(one, two, m->name);                                  \
                TEST_ASSERT_EQUAL_MEMORY_MESSAGE(out[0], out[1], n * sizeof(REAL_T), m->name);     \
            }                                                                                      \
        }                                                                                          \
    }

#define MAKE_F64(i) (in[0][i] = x.q[i], in[1][i] = x.qd[i], in[2][i] = x.qdd[i])
#define MAKE_F32(i)                                                                                \
    (in[0][i] = (float)x.q[i], in[1][i] = (float)x.qd[i], in[2][i] = (float)x.qdd[i])
#define MAKE_Q31(i)                                                                                \
    do {                                                                                           \
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, units, i);                         \
        in[0][i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(x.q[i], e.position)         \
                                                        : dyn_q31_angle(x.q[i]);                   \
        in[1][i] = dyn_q31_from(x.qd[i], e.velocity);                                              \
        in[2][i] = dyn_q31_from(x.qdd[i], e.acceleration);                                         \
    } while (0)

PAYLOAD_TEST(f64, double, MAKE_F64)
PAYLOAD_TEST(f32, float, MAKE_F32)
PAYLOAD_TEST(q31, int32_t, MAKE_Q31)

static void test_payload_alone_is_enough(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_model(k, &model);
        payload_f64(NULL);
        dyn_arms_model(k, &model);
        payload_f32(NULL);
        /* These units have room for every constant and torque; overflows in between do not matter
         * here. */
        dyn_units_t units = {.length = 0, .time = -4};
        memset(units.mass, 8, sizeof units.mass);
        dyn_arms_model(k, &model);
        payload_q31(&units);
    }
}

/* The payload changes the torques, and the methods agree. */
static void test_payload_in_all_methods(void) {
    static double tau[N], expected[N], M[PACKED], other[PACKED], qdd[N];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_model(k, &model);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        const state_t x = random_state(&model);
        dyn_inverses_f64[0].run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
        model.payload = loads[0];
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f64(&model, NULL, &arm));
        const uint32_t n = model.n;
        dyn_inverses_f64[0].run(&arm, &scratch, x.q, x.qd, x.qdd, expected);
        TEST_ASSERT_TRUE(fabs(expected[n - 1] - tau[n - 1]) > 1e-6);
        for (const dyn_inverse_row_f64_t *m = dyn_inverses_f64; m->name; m++) {
            m->run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
            expect("inverse with payload", m->name, dyn_arms_name(k), 0, expected, tau, n,
                   allowed(expected, n));
        }
        dyn_masses_f64[0].run(&arm, &scratch, x.q, M);
        for (const dyn_mass_row_f64_t *m = dyn_masses_f64; m->name; m++) {
            m->run(&arm, &scratch, x.q, other);
            expect("mass with payload", m->name, dyn_arms_name(k), 0, M, other, packed(n),
                   allowed(M, packed(n)));
        }
        dyn_rotor_inverse_f64(&arm, x.qdd, expected);
        for (const dyn_forward_row_f64_t *m = dyn_forwards_f64; m->name; m++) {
            TEST_ASSERT_EQUAL_INT(DYN_OK, m->run(&arm, &scratch, x.q, x.qd, expected, qdd));
            expect("forward with payload", m->name, dyn_arms_name(k), 0, x.qdd, qdd, n,
                   allowed_forward(x.q, x.qdd, n));
        }
    }
}

/* ---------------------------------------------------------------------------------- f32 and q31 */
static uint32_t range_method;

static void range_inverse(const dyn_arm_range_t *a, const dyn_real_range_t q[],
                          const dyn_real_range_t qd[], const dyn_real_range_t qdd[],
                          dyn_real_range_t tau[]) {
    dyn_inverses_range[range_method].run(a, &scratch_range, q, qd, qdd, tau);
}

/* Returns the kernel for the range analysis. Methods with their own constants have their own range
 * function; the others use the kernel of the table. */
static range_inverse_t range_kernel(uint32_t method) {
    static const struct {
        const char *name;
        range_inverse_t run;
    } own[] = {{"ga", range_ga}, {"fast", range_fast}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (!strcmp(own[i].name, dyn_inverses_range[method].name))
            return own[i].run;
    range_method = method;
    return range_inverse;
}

static void note_error(const char *what, const char *method, const char *name, double error) {
    char text[120];
    snprintf(text, sizeof text, "%s %s, %s, 1e-9", what, method, name);
    harness_note_number(text, (int64_t)ceil(error * 1e9));
}

enum { SET = 200 };

/*
 * Checks inverse dynamics in f32 against two limits. The first is derived: the same kernel runs on
 * intervals that carry the rounding error of each operation, which gives for every joint an error
 * that no state within the limits can exceed. The second is 5e-6 of the largest torque of the joint
 * in this set.
 */
static double f32_inverse_error(const char *name, uint32_t m) {
    static double tau[N], error[N], largest[N];
    static float in[3][N], out[N];
    static range_report_t report;
    const uint32_t n = model.n;
    double worst = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_kernel(m), &model, NULL, RANGE_F32, &report));
    memset(error, 0, sizeof error);
    memset(largest, 0, sizeof largest);
    for (uint32_t s = 0; s < SET; s++) {
        const state_t x = random_state(&model);
        for (uint32_t i = 0; i < n; i++) {
            in[0][i] = (float)x.q[i];
            in[1][i] = (float)x.qd[i];
            in[2][i] = (float)x.qdd[i];
        }
        dyn_inverses_f64[m].run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
        dyn_inverses_f32[m].run(&arm_f32, &scratch_f32, in[0], in[1], in[2], out);
        for (uint32_t i = 0; i < n; i++) {
            error[i] = fmax(error[i], fabs((double)out[i] - tau[i]));
            largest[i] = fmax(largest[i], fabs(tau[i]));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        char text[120];
        snprintf(text, sizeof text, "%s, %s, joint %u", dyn_inverses_f32[m].name, name, i);
        TEST_ASSERT_TRUE_MESSAGE(error[i] <= report.tau_error[i], text);
        TEST_ASSERT_TRUE_MESSAGE(error[i] <= 5e-6 * largest[i], text);
        worst = fmax(worst, error[i] / largest[i]);
    }
    return worst;
}

static void test_f32_inverse(void) {
    double worst[8] = {0}, worst_puma[8] = {0};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        carried_arm(k);
        for (uint32_t m = 0; dyn_inverses_f32[m].name; m++) {
            worst[m] = fmax(worst[m], f32_inverse_error(dyn_arms_name(k), m));
            if (k == DYN_ARMS_PUMA)
                worst_puma[m] = worst[m];
        }
    }
    for (uint32_t m = 0; dyn_inverses_f32[m].name; m++) {
        note_error("f32 inverse", dyn_inverses_f32[m].name, "puma560", worst_puma[m]);
        note_error("f32 inverse", dyn_inverses_f32[m].name, "all arms", worst[m]);
    }
}

/* The same limits for the arms of the reference files whose names are not those of compiled-in
 * arms: Stanford, planar and two-body arms, the PUMA without rotors, and the chains, which are
 * named differently there. */
static void test_f32_inverse_of_other_arms(void) {
    uint32_t seen = 0;
    need_reference_values();
    for (uint32_t k = 0; prepare(k); k++) {
        bool carried = false;
        for (uint32_t i = 0; i < dyn_arms_count(); i++)
            carried = carried || !strcmp(arms[k].name, dyn_arms_name(i));
        if (carried)
            continue;
        model = arms[k].model;
        double worst = 0;
        for (uint32_t m = 0; dyn_inverses_f32[m].name; m++)
            worst = fmax(worst, f32_inverse_error(arms[k].name, m));
        note_error("f32 inverse", "all methods", arms[k].name, worst);
        seen++;
    }
    TEST_ASSERT_TRUE(seen >= 4);
}

/* Returns a bound of the mass and inertia that joint i moves with the arm stretched; no element in
 * column i of M is larger. */
static double stretched(uint32_t i) {
    double reach = 0, sum = 0;
    for (uint32_t k = i; k < model.n; k++) {
        const dyn_model_joint_t *j = &model.joint[k];
        const dyn_body_t body = k == model.n - 1 ? dyn_model_last_link(&model) : j->link;
        reach += fabs(j->a) + fabs(j->d) + (j->type == DYN_PRISMATIC ? 0.5 : 0);
        const double far = reach + fabs(body.com[0]) + fabs(body.com[1]) + fabs(body.com[2]);
        sum += body.mass * fmax(1, far * far) + largest_of(body.inertia, 6);
    }
    return sum;
}

/*
 * Checks the inertia matrix in f32. An element is a sum over later links of mass times two levers,
 * or of inertias, each transformed by at most n frame changes. A frame change has an error of at
 * most 9e-7 of the length of a vector (derived in test_dyn_kinematics); a tensor is transformed
 * twice, with a few roundings of 2^-24. So the limit is 2e-6 (n + 1) times the composite inertia of
 * the joint with the arm stretched.
 */
static void test_f32_mass(void) {
    static double M[PACKED];
    static float in[N], out[PACKED];
    double worst[8] = {0};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        carried_arm(k);
        const uint32_t n = model.n;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (uint32_t s = 0; s < 20; s++) {
            const state_t x = random_state(&model);
            for (uint32_t i = 0; i < n; i++)
                in[i] = (float)x.q[i];
            for (uint32_t m = 0; dyn_masses_f32[m].name; m++) {
                dyn_masses_f64[m].run(&arm, &scratch, x.q, M);
                dyn_masses_f32[m].run(&arm_f32, &scratch_f32, in, out);
                for (uint32_t r = 0; r < n; r++)
                    for (uint32_t c = 0; c <= r; c++) {
                        const uint32_t e = packed(r) + c;
                        const double off = fabs((double)out[e] - M[e]);
                        TEST_ASSERT_TRUE_MESSAGE(off <= 2e-6 * (n + 1) * stretched(c),
                                                 dyn_masses_f32[m].name);
                        worst[m] = fmax(worst[m], off / sqrt(M[packed(r) + r] * M[packed(c) + c]));
                    }
            }
        }
    }
    for (uint32_t m = 0; dyn_masses_f32[m].name; m++)
        note_error("f32 mass, of sqrt(Mii Mjj),", dyn_masses_f32[m].name, "all arms", worst[m]);
}

/*
 * Checks forward dynamics in f32 against the bound of test/support/dyn/dyn_forward.h, where the
 * right-hand side consists of the torques and the bias. The limit for the PUMA 560 is 1e-6 of the
 * largest acceleration.
 */
static void test_f32_forward(void) {
    static double tau[N], bias[N], M[PACKED], qdd[N];
    static float in[3][N], out[N];
    double worst_puma[8] = {0};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        carried_arm(k);
        const uint32_t n = model.n;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (uint32_t s = 0; s < 20; s++) {
            const state_t x = random_state(&model);
            dyn_inverses_f64[0].run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
            dyn_rotor_inverse_f64(&arm, x.qdd, tau);
            dyn_biases_f64[0].run(&arm, &scratch, x.q, x.qd, bias);
            dyn_masses_f64[0].run(&arm, &scratch, x.q, M);
            dyn_rotor_mass_f64(&arm, M);
            for (uint32_t i = 0; i < n; i++) {
                in[0][i] = (float)x.q[i];
                in[1][i] = (float)x.qd[i];
                in[2][i] = (float)tau[i];
                tau[i] = (double)in[2][i];
            }
            const double force = fmax(largest_of(bias, n), largest_of(tau, n));
            for (uint32_t m = 0; dyn_forwards_f32[m].name; m++) {
                const int status =
                    dyn_forwards_f32[m].run(&arm_f32, &scratch_f32, in[0], in[1], in[2], out);
                TEST_ASSERT_EQUAL_INT(DYN_OK,
                                      dyn_forwards_f64[m].run(&arm, &scratch, x.q, x.qd, tau, qdd));
                TEST_ASSERT_EQUAL_INT_MESSAGE(DYN_OK, status, dyn_forwards_f32[m].name);
                const double bound = forward_error_f32(n, M, force, qdd);
                for (uint32_t i = 0; i < n; i++) {
                    const double off = fabs((double)out[i] - qdd[i]);
                    TEST_ASSERT_TRUE_MESSAGE(off <= bound, dyn_forwards_f32[m].name);
                    if (k == DYN_ARMS_PUMA)
                        worst_puma[m] = fmax(worst_puma[m], off / largest_of(qdd, n));
                }
            }
        }
    }
    for (uint32_t m = 0; dyn_forwards_f32[m].name; m++) {
        TEST_ASSERT_TRUE_MESSAGE(worst_puma[m] <= 1e-6, dyn_forwards_f32[m].name);
        note_error("f32 forward", dyn_forwards_f32[m].name, "puma560", worst_puma[m]);
    }
}

/* Inverse dynamics in q31 stays within the proved error, in the units that the range analysis
 * chooses for each method. */
static void test_q31_inverse(void) {
    static range_report_t report;
    static double tau[N], largest[N], error[N];
    static int32_t in[3][N], out[N];
    const char *const names[] = {"puma560", "chain14_urdf", "chain18_std_dh"};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        bool wanted = false;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            wanted = wanted || !strcmp(names[i], dyn_arms_name(k));
        if (!wanted)
            continue;
        carried_arm(k);
        const uint32_t n = model.n;
        for (uint32_t m = 0; dyn_inverses_q31[m].name; m++) {
            dyn_units_t units;
            TEST_ASSERT_EQUAL_INT_MESSAGE(
                DYN_OK, range_choose_units(range_kernel(m), &model, &units, &report),
                dyn_inverses_q31[m].name);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
            memset(largest, 0, sizeof largest);
            memset(error, 0, sizeof error);
            for (uint32_t s = 0; s < 2000; s++) {
                const state_t x = random_state(&model);
                for (uint32_t i = 0; i < n; i++) {
                    const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
                    in[0][i] = model.joint[i].type == DYN_PRISMATIC
                                   ? dyn_q31_from(x.q[i], e.position)
                                   : dyn_q31_angle(x.q[i]);
                    in[1][i] = dyn_q31_from(x.qd[i], e.velocity);
                    in[2][i] = dyn_q31_from(x.qdd[i], e.acceleration);
                }
                dyn_inverses_f64[m].run(&arm, &scratch, x.q, x.qd, x.qdd, tau);
                dyn_inverses_q31[m].run(&arm_q31, &scratch_q31, in[0], in[1], in[2], out);
                for (uint32_t i = 0; i < n; i++) {
                    const double got =
                        dyn_q31_to(out[i], dyn_q31_exponents(&model, &units, i).torque);
                    TEST_ASSERT_TRUE_MESSAGE(fabs(got - tau[i]) <= report.tau_error[i],
                                             dyn_inverses_q31[m].name);
                    largest[i] = fmax(largest[i], fabs(tau[i]));
                    error[i] = fmax(error[i], fabs(got - tau[i]));
                }
            }
            double worst = 0;
            for (uint32_t i = 0; i < n; i++)
                worst = fmax(worst, error[i] / largest[i]);
            note_error("q31 inverse", dyn_inverses_q31[m].name, dyn_arms_name(k), worst);
        }
    }
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_there_are_reference_values)
    TEST(test_inverse_against_the_reference)
    TEST(test_bias_and_gravity_against_the_reference)
    TEST(test_mass_against_the_reference)
    TEST(test_forward_against_the_reference)
    TEST(test_wrench_against_the_reference)
    TEST(test_problems_agree_with_each_other)
    TEST(test_gravity_and_coriolis_make_the_bias)
    TEST(test_wrench_in_inverse_and_forward)
    TEST(test_payload_alone_is_enough)
    TEST(test_payload_in_all_methods)
    TEST(test_f32_inverse)
    TEST(test_f32_inverse_of_other_arms)
    TEST(test_f32_mass)
    TEST(test_f32_forward)
    TEST(test_q31_inverse)
TEST_LIST_END
// clang-format on

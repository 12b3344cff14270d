/*
 * Tests the kernels `denoc`: in double against the reference values and `ne`, in float and fixed
 * point against double; the Coriolis matrix also against the equations of the paper, written out.
 * Checks their operation counts, their graph and their cost on the target.
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"
#include "test/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef __arm__
#include "test/support/cost.h"
#else
#include "test/support/dyn/reference.h"
#include "tools/proof/check.h"
#include "tools/proof/count.h"
#include "tools/proof/range.h"
#include "tools/gen/trace.h"
#endif

enum { N = DYN_MAX_JOINTS, SHORT = 8 };

static dyn_source_t source;
static dyn_model_t model;
static dyn_arm_f64_t arm;
/* The kernels share this memory, because only one runs at a time and the board has little
 * memory. */
static union {
    dyn_ne_scratch_f64_t ne;
    dyn_denoc_scratch_f64_t id;
    dyn_denoc_mass_scratch_f64_t mass;
    dyn_denoc_coriolis_scratch_f64_t coriolis;
    dyn_denoc_forward_scratch_f64_t fd;
} f64;
static struct {
    dyn_arm_f32_t arm;
    union {
        dyn_denoc_scratch_f32_t id;
        dyn_denoc_mass_scratch_f32_t mass;
        dyn_denoc_coriolis_scratch_f32_t coriolis;
        dyn_denoc_forward_scratch_f32_t fd;
    } use;
} f32;
static struct {
    dyn_arm_q31_t arm;
    union {
        dyn_denoc_scratch_q31_t id;
        dyn_denoc_mass_scratch_q31_t mass;
        dyn_denoc_coriolis_scratch_q31_t coriolis;
        dyn_denoc_forward_scratch_q31_t fd;
    } use;
} q31;
static double M[DYN_PACKED], C[N * N];
static union {
    float f32[N * N];
    int32_t q31[N * N];
} matrix;
static const double zero[N];

static uint32_t packed(uint32_t n) {
    return n * (n + 1) / 2;
}

static void prepare(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

static void load(uint32_t k) {
    dyn_arms_model(k, &model);
    prepare();
}

static void expect_near(const double *expected, const double *got, uint32_t n) {
    const double within = 1e-10 * (1 + forward_largest(n, expected));
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, expected[i], got[i]);
}

/* ------------------------------------------------------------------------------------ in double */
/* Checks all denoc kernels with `ne` alone: tau = M qdd + C qd + g, and forward dynamics inverts
 * inverse dynamics. */
static void check_all(const double *q, const double *qd, const double *qdd) {
    double tau[N], bias[N], gravity[N], got[N], sum[N];
    const uint32_t n = model.n;
    dyn_ne_inverse_f64(&arm, &f64.ne, q, qd, qdd, tau);
    dyn_denoc_inverse_f64(&arm, &f64.id, q, qd, qdd, got);
    expect_near(tau, got, n);
    dyn_ne_inverse_f64(&arm, &f64.ne, q, qd, zero, bias);
    dyn_denoc_bias_f64(&arm, &f64.id, q, qd, got);
    expect_near(bias, got, n);
    dyn_ne_inverse_f64(&arm, &f64.ne, q, zero, zero, gravity);
    dyn_denoc_gravity_f64(&arm, &f64.id, q, got);
    expect_near(gravity, got, n);

    dyn_denoc_mass_f64(&arm, &f64.mass, q, M);
    spd_multiply(n, M, qdd, sum);
    for (uint32_t i = 0; i < n; i++)
        sum[i] += bias[i];
    expect_near(tau, sum, n);
    dyn_denoc_coriolis_f64(&arm, &f64.coriolis, q, qd, C);
    for (uint32_t i = 0; i < n; i++) {
        sum[i] = gravity[i];
        for (uint32_t k = 0; k < n; k++)
            sum[i] += C[i * n + k] * qd[k];
    }
    expect_near(bias, sum, n);

    dyn_rotor_inverse_f64(&arm, qdd, tau);
    dyn_rotor_mass_f64(&arm, M);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_denoc_forward_f64(&arm, &f64.fd, q, qd, tau, got));
    const double within = forward_tolerance(n, M, qdd);
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, qdd[i], got[i]);
}

static void test_everything_agrees_with_ne(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        for (uint32_t s = 0; s < dyn_arms_states(k) && s < 5; s++) {
            const dyn_arms_state_t state = dyn_arms_state(k, s);
            check_all(state.q, state.qd, state.qdd);
        }
    }
}

/* Makes a chain whose joint i is prismatic if bit i of `prismatic` is set. */
static void random_chain(dyn_arms_random_t *seed, uint32_t n, uint32_t prismatic, bool geared) {
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = n};
    for (int k = 0; k < 3; k++)
        source.gravity[k] = 10 * dyn_arms_uniform(seed);
    for (uint32_t i = 0; i < n; i++) {
        dyn_source_joint_t *j = &source.joint[i];
        j->type = prismatic >> i & 1 ? DYN_PRISMATIC : DYN_REVOLUTE;
        j->alpha = 3 * dyn_arms_uniform(seed);
        j->theta = 3 * dyn_arms_uniform(seed);
        j->a = 0.3 * dyn_arms_uniform(seed);
        j->d = 0.3 * dyn_arms_uniform(seed);
        j->link.mass = 2 + dyn_arms_uniform(seed);
        for (int k = 0; k < 3; k++) {
            j->link.com[k] = 0.2 * dyn_arms_uniform(seed);
            /* The moments are between 0.03 and 0.05 kg m^2, so that any three satisfy the triangle
             * inequality; the products of inertia are smaller. */
            j->link.inertia[k] = 0.04 + 0.01 * dyn_arms_uniform(seed);
            j->link.inertia[3 + k] = 0.002 * dyn_arms_uniform(seed);
        }
        if (geared && i % 3 != 1) {
            j->drive.motor.gear = 50;
            j->drive.motor.rotor_inertia = 1e-4 * (1.5 + dyn_arms_uniform(seed));
        }
        j->drive.limits = (dyn_limits_t){{-3, 3}, 3, 10, 0};
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    prepare();
}

static void random_state(dyn_arms_random_t *seed, double *q, double *qd, double *qdd) {
    for (uint32_t i = 0; i < N; i++) {
        q[i] = dyn_arms_uniform(seed) * (model.joint[i].type == DYN_PRISMATIC ? 0.3 : 3);
        qd[i] = 2 * dyn_arms_uniform(seed);
        qdd[i] = 5 * dyn_arms_uniform(seed);
    }
}

/* Tests every mix of joint types on arms of 1 to 4 joints, where the first and last link are special
 * cases, and one random mix on each longer arm up to the largest n. */
static void test_every_length_and_mix_of_joints(void) {
    dyn_arms_random_t seed = {88172645463325252u};
    double q[N], qd[N], qdd[N];
    for (uint32_t n = 1; n <= 4; n++)
        for (uint32_t prismatic = 0; prismatic < 1u << n; prismatic++)
            for (int geared = 0; geared < 2; geared++) {
                random_chain(&seed, n, prismatic, geared);
                random_state(&seed, q, qd, qdd);
                check_all(q, qd, qdd);
            }
#ifdef __arm__
    const uint32_t step = 9;
#else
    const uint32_t step = 1;
#endif
    for (uint32_t n = 5; n <= N; n += step) {
        /* Long chains of random links reach extreme accelerations. Therefore about half of the
         * joints are prismatic and two in three have a rotor, which also keeps the condition number
         * of M as low as the tolerance assumes. */
        random_chain(&seed, n, (uint32_t)dyn_arms_random(&seed), true);
        random_state(&seed, q, qd, qdd);
        check_all(q, qd, qdd);
    }
}

/* prepare_payload gives the same arm as a full prepare. */
static void test_payload_can_change_alone(void) {
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t state = dyn_arms_state(DYN_ARMS_PUMA, 0);
    dyn_denoc_mass_f64(&arm, &f64.mass, state.q, M);
    const double before = M[0];
    model.payload = (dyn_body_t){2.5, {0.1, -0.2, 0.3}, {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f64(&model, NULL, &arm));
    check_all(state.q, state.qd, state.qdd);
    TEST_ASSERT_TRUE(fabs(before - M[0]) > 0.01);
}

static void test_a_failed_pivot_is_said(void) {
    double tau[6] = {0}, qdd[6];
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t state = dyn_arms_state(DYN_ARMS_PUMA, 0);
    /* Joint 6 has no inertia: its link is massless, and there are no rotors. */
    model.joint[5].link = (dyn_body_t){0};
    for (int i = 0; i < 6; i++)
        model.joint[i].drive.motor.gear = 0;
    prepare();
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT,
                          dyn_denoc_forward_f64(&arm, &f64.fd, state.q, state.qd, tau, qdd));
    /* A rotor gives joint 6 inertia. */
    model.joint[5].drive.motor = (dyn_motor_t){.gear = 50, .rotor_inertia = 1e-4};
    prepare();
    TEST_ASSERT_EQUAL_INT(DYN_OK,
                          dyn_denoc_forward_f64(&arm, &f64.fd, state.q, state.qd, tau, qdd));
}

/* -------------------------------------------------------------------------------- which C it is */
static void cross(const double a[3], const double b[3], double out[3]) {
    const double c[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                         a[0] * b[1] - a[1] * b[0]};
    memcpy(out, c, sizeof c);
}

static void add_to(double *a, double k, const double *b) {
    for (int i = 0; i < 3; i++)
        a[i] += k * b[i];
}

/* A link in base axes: axis, origin, centre of mass, inertia, angular velocity, and the velocities
 * of origin and centre of mass. */
typedef struct {
    double e[3], o[3], c[3], I[3][3], w[3], vo[3], vc[3];
} body_t;

static void in_base_axes(const double *q, const double *qd, body_t *body) {
    dyn_pose_t at = dyn_pose_identity();
    double w[3] = {0}, v[3] = {0}, o[3] = {0};
    for (uint32_t i = 0; i < model.n; i++) {
        body_t *b = &body[i];
        const dyn_pose_t step = dyn_pose_joint(&model.joint[i], q[i]);
        const dyn_body_t link =
            i + 1 == model.n ? dyn_model_last_link(&model) : model.joint[i].link;
        at = dyn_pose_compose(&at, &step);
        double arm_to[3], turn[3];
        for (int r = 0; r < 3; r++) {
            b->e[r] = at.r[r][2];
            b->o[r] = at.p[r];
            b->c[r] = at.p[r];
            for (int k = 0; k < 3; k++)
                b->c[r] += at.r[r][k] * link.com[k];
            arm_to[r] = at.p[r] - o[r];
        }
        cross(w, arm_to, turn);
        add_to(v, 1, turn);
        add_to(model.joint[i].type == DYN_PRISMATIC ? v : w, qd[i], b->e);
        memcpy(b->w, w, sizeof w);
        memcpy(b->vo, v, sizeof v);
        memcpy(o, b->o, sizeof o);
        for (int r = 0; r < 3; r++)
            arm_to[r] = b->c[r] - b->o[r];
        cross(w, arm_to, turn);
        memcpy(b->vc, v, sizeof v);
        add_to(b->vc, 1, turn);
        const double J[3][3] = {{link.inertia[0], link.inertia[3], link.inertia[5]},
                                {link.inertia[3], link.inertia[1], link.inertia[4]},
                                {link.inertia[5], link.inertia[4], link.inertia[2]}};
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                b->I[r][s] = 0;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++)
                        b->I[r][s] += at.r[r][k] * J[k][l] * at.r[s][l];
            }
    }
}

/* Column j of N and of its time derivative for link k: equation (16) and the derivative of B_kj
 * p_j. */
static void column_of_N(const body_t *body, uint32_t k, uint32_t j, double N6[6], double rate[6]) {
    const body_t *b = &body[j];
    double turned[3], reach[3], reach_rate[3], part[3];
    memset(N6, 0, 6 * sizeof N6[0]);
    memset(rate, 0, 6 * sizeof rate[0]);
    cross(b->w, b->e, turned);
    if (model.joint[j].type == DYN_PRISMATIC) {
        add_to(N6 + 3, 1, b->e);
        add_to(rate + 3, 1, turned);
        return;
    }
    for (int i = 0; i < 3; i++) {
        reach[i] = body[k].c[i] - b->o[i];
        reach_rate[i] = body[k].vc[i] - b->vo[i];
    }
    add_to(N6, 1, b->e);
    cross(b->e, reach, N6 + 3);
    add_to(rate, 1, turned);
    cross(turned, reach, part);
    add_to(rate + 3, 1, part);
    cross(b->e, reach_rate, part);
    add_to(rate + 3, 1, part);
}

/* Equation (25): C = N^T (M N' + M' N), where M' = w x I, or -w x E with Euler's tensor E. */
static void written_out(const double *q, const double *qd, bool euler, double *out) {
    static body_t body[SHORT];
    const uint32_t n = model.n;
    in_base_axes(q, qd, body);
    memset(out, 0, n * n * sizeof out[0]);
    for (uint32_t k = 0; k < n; k++) {
        const body_t *b = &body[k];
        const double m = k + 1 == n ? dyn_model_last_link(&model).mass : model.joint[k].link.mass;
        const double trace = b->I[0][0] + b->I[1][1] + b->I[2][2];
        for (uint32_t j = 0; j <= k; j++) {
            double Nj[6], rate[6], wrench[6] = {0}, Iw[3], part[3];
            column_of_N(body, k, j, Nj, rate);
            for (int r = 0; r < 3; r++) {
                Iw[r] = euler ? -trace / 2 * Nj[r] : 0;
                for (int s = 0; s < 3; s++) {
                    Iw[r] += b->I[r][s] * Nj[s];
                    wrench[r] += b->I[r][s] * rate[s];
                }
                wrench[3 + r] = m * rate[3 + r];
            }
            cross(b->w, Iw, part);
            add_to(wrench, 1, part);
            for (uint32_t i = 0; i <= k; i++) {
                double Ni[6], unused[6];
                column_of_N(body, k, i, Ni, unused);
                for (int r = 0; r < 6; r++)
                    out[i * n + j] += Ni[r] * wrench[r];
            }
        }
    }
}

static void test_coriolis_matrix_is_the_papers(void) {
    dyn_arms_random_t seed = {362436069u};
    static double expected[SHORT * SHORT];
    double q[N], qd[N], qdd[N];
    for (uint32_t n = 1; n <= SHORT; n++)
        for (int t = 0; t < 4; t++) {
            random_chain(&seed, n, t ? (uint32_t)dyn_arms_random(&seed) : 0, false);
            random_state(&seed, q, qd, qdd);
            dyn_denoc_coriolis_f64(&arm, &f64.coriolis, q, qd, C);
            written_out(q, qd, false, expected);
            expect_near(expected, C, n * n);
        }
}

/*
 * Computes dM/dt along q + t qd by differences of fourth order. With s the length of the path, M
 * contains angles up to 2 sqrt(n) s. The error h^4 / 30 times the fifth derivative is therefore
 * below 2e-11 |M| at h = 5e-4 and n = 8. Rounding of M by 8 ulp adds less, 2e-15 / h = 4e-12 |M|.
 * The sum is below 1e-10 |M| |qd|.
 */
static void matrix_rate(const double *q, const double *qd, double *rate) {
    const uint32_t n = model.n;
    const double step[4] = {-2, -1, 1, 2}, weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
    double length = 0, moved[N];
    for (uint32_t i = 0; i < n; i++)
        length += qd[i] * qd[i];
    length = sqrt(length);
    const double h = 5e-4 / length;
    memset(rate, 0, packed(n) * sizeof rate[0]);
    for (int k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < n; i++)
            moved[i] = q[i] + step[k] * h * qd[i];
        dyn_denoc_mass_f64(&arm, &f64.mass, moved, M);
        for (uint32_t i = 0; i < packed(n); i++)
            rate[i] += weight[k] / h * M[i];
    }
}

static void test_rate_of_M_less_2C_is_skew(void) {
    dyn_arms_random_t seed = {521288629u};
    static double rate[SHORT * (SHORT + 1) / 2];
    double q[N], qd[N], qdd[N], worst = 0;
    for (uint32_t n = 1; n <= SHORT; n++)
        for (int t = 0; t < 4; t++) {
            random_chain(&seed, n, t ? (uint32_t)dyn_arms_random(&seed) : 0, false);
            random_state(&seed, q, qd, qdd);
            matrix_rate(q, qd, rate);
            dyn_denoc_coriolis_f64(&arm, &f64.coriolis, q, qd, C);
            double length = 0;
            for (uint32_t i = 0; i < n; i++)
                length += qd[i] * qd[i];
            const double within = 1e-10 * spd_largest(n, M) * sqrt(length);
            /* dM/dt - 2C is skew-symmetric, so its symmetric part, dM/dt - C - C^T, vanishes. */
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = 0; c <= r; c++) {
                    const double left = rate[packed(r) + c] - C[r * n + c] - C[c * n + r];
                    TEST_ASSERT_TRUE(fabs(left) <= within);
                    worst = fmax(worst, fabs(left) / within);
                }
        }
    harness_note_number("skew part of the tolerance, percent", (int64_t)(worst * 100));
}

/* C(a) b = C(b) a is true only for the C of Christoffel's symbols. It is false for the C of the
 * kernel, and true for the C with Euler's tensor. */
static void test_it_is_not_christoffels(void) {
    dyn_arms_random_t seed = {123456789u};
    static double Ca[SHORT * SHORT], Cb[SHORT * SHORT];
    double q[N], a[N], b[N], differ[2] = {0, 0}, size = 0;
    random_chain(&seed, 5, 1u << 2, false);
    random_state(&seed, q, a, b);
    for (int euler = 0; euler < 2; euler++) {
        written_out(q, a, euler, Ca);
        written_out(q, b, euler, Cb);
        for (uint32_t r = 0; r < 5; r++) {
            double x = 0, y = 0;
            for (uint32_t c = 0; c < 5; c++) {
                x += Ca[r * 5 + c] * b[c];
                y += Cb[r * 5 + c] * a[c];
            }
            size = fmax(size, fabs(x));
            differ[euler] = fmax(differ[euler], fabs(x - y));
        }
    }
    TEST_ASSERT_TRUE(differ[0] > 1e-3 * size);
    TEST_ASSERT_TRUE(differ[1] < 1e-12 * (1 + size));
}

/* -------------------------------------------------------------------------- in single precision */
static void test_f32_against_f64(void) {
    dyn_arms_random_t seed = {88172645463325252u};
    static forward_state_t s;
    static forward_f32_t f;
    static float got[N];
    float *const Mf = matrix.f32, *const Cf = matrix.f32;
    static double qdd[N], bias[N];
    double worst_M = 0, worst_C = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &f32.arm));
        const uint32_t n = model.n;
        for (int t = 0; t < 20; t++) {
            double speed = 0;
            forward_random(&model, &seed, &s);
            forward_to_f32(&model, &s, &f);
            for (uint32_t i = 0; i < n; i++)
                speed += fabs(s.qd[i]);
            dyn_denoc_mass_f64(&arm, &f64.mass, s.q, M);
            dyn_denoc_mass_f32(&f32.arm, &f32.use.mass, f.q, Mf);
            const double within = forward_matrix_error_f32(n, M);
            for (uint32_t i = 0; i < packed(n); i++) {
                const double off = fabs((double)Mf[i] - M[i]);
                TEST_ASSERT_TRUE(off <= within);
                worst_M = fmax(worst_M, off / spd_largest(n, M));
            }
            /* C is computed like M, with as many roundings, from rates that are at most the sum of
             * the speeds. */
            dyn_denoc_coriolis_f64(&arm, &f64.coriolis, s.q, s.qd, C);
            dyn_denoc_coriolis_f32(&f32.arm, &f32.use.coriolis, f.q, f.qd, Cf);
            for (uint32_t i = 0; i < n * n; i++) {
                const double off = fabs((double)Cf[i] - C[i]);
                TEST_ASSERT_TRUE(off <= within * speed);
                worst_C = fmax(worst_C, off / spd_largest(n, M) / speed);
            }
            dyn_rotor_mass_f64(&arm, M);
            dyn_denoc_bias_f64(&arm, &f64.id, s.q, s.qd, bias);
            TEST_ASSERT_EQUAL_INT(DYN_OK,
                                  dyn_denoc_forward_f64(&arm, &f64.fd, s.q, s.qd, s.tau, qdd));
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, dyn_denoc_forward_f32(&f32.arm, &f32.use.fd, f.q, f.qd, f.tau, got));
            const double allowed = forward_error_f32(n, M, fmax(forward_largest(n, bias), 10), qdd);
            for (uint32_t i = 0; i < n; i++) {
                const double off = fabs((double)got[i] - qdd[i]);
                TEST_ASSERT_TRUE(off <= allowed);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(n, qdd));
            }
        }
    }
    harness_note_number("denoc f32: matrix, worst error of its largest element, 1e-9",
                        (int64_t)(worst_M * 1e9));
    harness_note_number("denoc f32: coriolis, of the same times the speeds, 1e-9",
                        (int64_t)(worst_C * 1e9));
    harness_note_number("denoc f32: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

/* In section 5.1 of paper 000 a short light link carries a long heavy one; the condition number of
 * M is up to 54,000. */
static void test_two_bodies_in_single_precision(void) {
    double most = 0, mean = 0;
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = 2, .gravity = {0, -9.81, 0}};
    /* The bars are 0.02 x 0.02 m thick, 0.02 m and 2 m long, and weigh 0.1 kg and 10 kg. */
    const double side = 0.02 * 0.02 / 12;
    source.joint[0].link = (dyn_body_t){
        0.1, {0.01, 0, 0}, {0.2 * side, 0.1 * (side + side), 0.1 * (side + side), 0, 0, 0}};
    source.joint[1].link = (dyn_body_t){
        10, {1, 0, 0}, {20 * side, 10 * (side + 4. / 12), 10 * (side + 4. / 12), 0, 0, 0}};
    source.joint[1].a = 0.02;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    prepare();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &f32.arm));
    for (int k = 0; k < 180; k++) {
        const double q[2] = {0, k * 3.14159265358979323846 / 90};
        const float qf[2] = {0, (float)q[1]}, rest[2] = {0, 0};
        double qdd[2];
        float got[2];
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_denoc_forward_f64(&arm, &f64.fd, q, zero, zero, qdd));
        TEST_ASSERT_EQUAL_INT(DYN_OK,
                              dyn_denoc_forward_f32(&f32.arm, &f32.use.fd, qf, rest, rest, got));
        const double off = fabs((double)got[0] - qdd[0]);
        most = fmax(most, off);
        mean += off / 180;
    }
    harness_note_number("two bodies, denoc f32, joint 1: largest error, 1e-6 rad/s^2",
                        (int64_t)(most * 1e6));
    harness_note_number("two bodies, denoc f32, joint 1: mean error, 1e-6 rad/s^2",
                        (int64_t)(mean * 1e6));
    TEST_ASSERT_TRUE(most <= 0.01);
}

/* ------------------------------------------------------------------------------- in fixed point */
static void test_q31_against_f64(void) {
    dyn_arms_random_t seed = {362436069u};
    static forward_state_t s;
    static forward_q31_t raw;
    static int32_t qdd_q[N];
    int32_t *const Mq = matrix.q31, *const Cq = matrix.q31;
    static double qdd[N], error[N];
    double worst = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &q31.arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, q31.arm.body_status);
        TEST_ASSERT_EQUAL_INT(DYN_OK, q31.arm.drive_status);
        const uint32_t n = model.n;
        for (int t = 0; t < 20; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            dyn_denoc_mass_f64(&arm, &f64.mass, s.q, M);
            dyn_denoc_mass_q31(&q31.arm, &q31.use.mass, raw.q, Mq);
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = 0; c <= r; c++) {
                    const int e = forward_element_exponent(&model, &units, r, c);
                    TEST_ASSERT_DOUBLE_WITHIN(forward_matrix_error_q31(n, e), M[packed(r) + c],
                                              dyn_q31_to(Mq[packed(r) + c], e));
                }
            /* C is computed like M, from rates below 8 instead of lengths below 8. */
            dyn_denoc_coriolis_f64(&arm, &f64.coriolis, s.q, s.qd, C);
            dyn_denoc_coriolis_q31(&q31.arm, &q31.use.coriolis, raw.q, raw.qd, Cq);
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = 0; c < n; c++) {
                    const int e = forward_element_exponent(&model, &units, r, c) - units.time;
                    TEST_ASSERT_DOUBLE_WITHIN(forward_matrix_error_q31(n, e), C[r * n + c],
                                              dyn_q31_to(Cq[r * n + c], e));
                }
            dyn_rotor_mass_f64(&arm, M);
            dyn_denoc_forward_f64(&arm, &f64.fd, s.q, s.qd, s.tau, qdd);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_denoc_forward_q31(&q31.arm, &q31.use.fd, raw.q,
                                                                raw.qd, raw.tau, qdd_q));
            forward_error_q31(&model, &units, M, qdd, error);
            for (uint32_t i = 0; i < n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).acceleration;
                const double off = fabs(dyn_q31_to(qdd_q[i], e) - qdd[i]);
                TEST_ASSERT_TRUE(off <= error[i]);
                worst = fmax(worst, off / error[i]);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(n, qdd));
            }
        }
    }
    harness_note_number("denoc q31: forward dynamics, worst part of the bound, 1e-6",
                        (int64_t)(worst * 1e6));
    harness_note_number("denoc q31: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

#ifndef __arm__
/* ----------------------------------------------------------------------------- reference values */
static void test_reference_values(void) {
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    double got[N];
    uint32_t torques = 0, matrices = 0, stanford = 0;
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        model = arms[k].model;
        prepare();
        const uint32_t n = model.n;
        for (uint32_t t = 0; t < arms[k].states; t++) {
            const reference_state_t *s = &arms[k].state[t];
            if (s->has_tau) {
                dyn_denoc_inverse_f64(&arm, &f64.id, s->q, s->qd, s->qdd, got);
                dyn_rotor_inverse_f64(&arm, s->qdd, got);
                expect_near(s->tau, got, n);
                torques++;
                stanford += strstr(arms[k].name, "stanford") != NULL;
            }
            if (s->has_bias) {
                dyn_denoc_bias_f64(&arm, &f64.id, s->q, s->qd, got);
                expect_near(s->bias, got, n);
                dyn_denoc_gravity_f64(&arm, &f64.id, s->q, got);
                expect_near(s->gravity, got, n);
                dyn_denoc_coriolis_f64(&arm, &f64.coriolis, s->q, s->qd, C);
                for (uint32_t i = 0; i < n; i++)
                    for (uint32_t c = 0; c < n; c++)
                        got[i] += C[i * n + c] * s->qd[c];
                expect_near(s->bias, got, n);
            }
            if (s->has_M) {
                dyn_denoc_mass_f64(&arm, &f64.mass, s->q, M);
                dyn_rotor_mass_f64(&arm, M);
                expect_near(s->M, M, packed(n));
                TEST_ASSERT_EQUAL_INT(
                    DYN_OK, dyn_denoc_forward_f64(&arm, &f64.fd, s->q, s->qd, s->fd_tau, got));
                const double within = forward_tolerance(n, M, s->fd_qdd);
                for (uint32_t i = 0; i < n; i++)
                    TEST_ASSERT_DOUBLE_WITHIN(within, s->fd_qdd[i], got[i]);
                matrices++;
            }
        }
    }
    TEST_ASSERT_EQUAL_UINT(21, stanford);
    TEST_ASSERT_TRUE(torques > 100 && matrices > 100);
}

/* ----------------------------------------------------------- guaranteed bounds, and no overflow */
static void range_denoc(const dyn_arm_range_t *a, const dyn_real_range_t q[],
                        const dyn_real_range_t qd[], const dyn_real_range_t qdd[],
                        dyn_real_range_t tau[]) {
    static dyn_denoc_scratch_range_t kept;
    dyn_denoc_inverse_range(a, &kept, q, qd, qdd, tau);
}

static void test_inverse_stays_within_its_bounds(void) {
    static range_report_t report, floats;
    static dyn_arm_check_t arm_check;
    static dyn_denoc_scratch_check_t kept;
    dyn_arms_random_t seed = {88172645463325252u};
    double worst_q31 = 0, worst_f32 = 0;
    char text[96];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        /* For more than twelve joints the bounds add up limits that no real arm of that length
         * would have. */
        if (dyn_arms_joints(k) > 12)
            continue;
        load(k);
        const uint32_t n = model.n;
        TEST_ASSERT_EQUAL_INT_MESSAGE(
            DYN_OK, range_choose_units(range_denoc, &model, &units, &report), dyn_arms_name(k));
        TEST_ASSERT_TRUE(report.fits);
        TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_denoc, &model, NULL, RANGE_F32, &floats));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &q31.arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &f32.arm));
        double largest[N] = {0}, off_q31[N] = {0}, off_f32[N] = {0};
        check_begin(true);
        for (long t = 0; t < 2000; t++) {
            double q[N], qd[N], qdd[N], exact[N];
            int32_t raw[3][N], checked[N], tau[N];
            float f[3][N], tau_f32[N];
            for (uint32_t i = 0; i < n; i++) {
                const dyn_limits_t *l = &model.joint[i].drive.limits;
                const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
                q[i] = l->position[1] * dyn_arms_uniform(&seed);
                qd[i] = dyn_arms_uniform(&seed);
                qdd[i] = dyn_arms_uniform(&seed);
                /* In every second state all speeds and accelerations are at their limits. */
                qd[i] = l->velocity * (t % 2 ? copysign(1, qd[i]) : qd[i]);
                qdd[i] = l->acceleration * (t % 2 ? copysign(1, qdd[i]) : qdd[i]);
                raw[0][i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(q[i], e.position)
                                                                 : dyn_q31_angle(q[i]);
                raw[1][i] = dyn_q31_from(qd[i], e.velocity);
                raw[2][i] = dyn_q31_from(qdd[i], e.acceleration);
                f[0][i] = (float)q[i];
                f[1][i] = (float)qd[i];
                f[2][i] = (float)qdd[i];
            }
            dyn_denoc_inverse_f64(&arm, &f64.id, q, qd, qdd, exact);
            dyn_denoc_inverse_check(&arm_check, &kept, raw[0], raw[1], raw[2], checked);
            dyn_denoc_inverse_q31(&q31.arm, &q31.use.id, raw[0], raw[1], raw[2], tau);
            TEST_ASSERT_EQUAL_INT32_ARRAY(checked, tau, n);
            for (uint32_t i = 0; i < n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).torque;
                largest[i] = fmax(largest[i], fabs(exact[i]));
                off_q31[i] = fmax(off_q31[i], fabs(dyn_q31_to(tau[i], e) - exact[i]));
                q[i] = (double)f[0][i];
                qd[i] = (double)f[1][i];
                qdd[i] = (double)f[2][i];
            }
            dyn_denoc_inverse_f64(&arm, &f64.id, q, qd, qdd, exact);
            dyn_denoc_inverse_f32(&f32.arm, &f32.use.id, f[0], f[1], f[2], tau_f32);
            for (uint32_t i = 0; i < n; i++)
                off_f32[i] = fmax(off_f32[i], fabs((double)tau_f32[i] - exact[i]));
        }
        for (uint32_t i = 0; i < n; i++) {
            TEST_ASSERT_TRUE_MESSAGE(off_q31[i] <= report.tau_error[i], dyn_arms_name(k));
            TEST_ASSERT_TRUE_MESSAGE(off_f32[i] <= floats.tau_error[i], dyn_arms_name(k));
            TEST_ASSERT_TRUE(largest[i] <= report.tau_bound[i]);
            worst_q31 = fmax(worst_q31, off_q31[i] / largest[i]);
            worst_f32 = fmax(worst_f32, off_f32[i] / largest[i]);
        }
    }
    snprintf(text, sizeof text,
             "denoc: worst error of the joint's largest torque: q31 %.1e, f32 %.1e", worst_q31,
             worst_f32);
    harness_note(text);
    /* The errors are relative to the largest torque of the joint in this set. */
    TEST_ASSERT_TRUE(worst_q31 < 1e-5);
    TEST_ASSERT_TRUE(worst_f32 < 5e-6);
}

/* With the checked q31 numbers no sum overflows in the units of forward_units, and the results are
 * the same bits. */
static void test_q31_does_not_overflow(void) {
    static dyn_arm_check_t arm_check;
    static dyn_denoc_forward_scratch_check_t kept;
    static dyn_denoc_mass_scratch_check_t kept_mass;
    static dyn_denoc_coriolis_scratch_check_t kept_coriolis;
    static int32_t Mq[2][DYN_PACKED], Cq[2][N * N], qdd[2][N];
    dyn_arms_random_t seed = {521288629u};
    forward_state_t s;
    forward_q31_t raw;
    check_begin(true);
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &q31.arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
        for (int t = 0; t < 200; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            dyn_denoc_mass_q31(&q31.arm, &q31.use.mass, raw.q, Mq[0]);
            dyn_denoc_mass_check(&arm_check, &kept_mass, raw.q, Mq[1]);
            TEST_ASSERT_EQUAL_INT32_ARRAY(Mq[1], Mq[0], packed(model.n));
            dyn_denoc_coriolis_q31(&q31.arm, &q31.use.coriolis, raw.q, raw.qd, Cq[0]);
            dyn_denoc_coriolis_check(&arm_check, &kept_coriolis, raw.q, raw.qd, Cq[1]);
            TEST_ASSERT_EQUAL_INT32_ARRAY(Cq[1], Cq[0], model.n * model.n);
            dyn_denoc_forward_q31(&q31.arm, &q31.use.fd, raw.q, raw.qd, raw.tau, qdd[0]);
            dyn_denoc_forward_check(&arm_check, &kept, raw.q, raw.qd, raw.tau, qdd[1]);
            TEST_ASSERT_EQUAL_INT32_ARRAY(qdd[1], qdd[0], model.n);
        }
    }
}

/* ----------------------------------------------------------------------------- operation counts */
static dyn_arm_count_t arm_count;
static dyn_real_count_t in_count[N], out_count[N * N];
static dyn_denoc_forward_scratch_count_t scratch_count;

static void count_chain(uint32_t n) {
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = n, .gravity = {0, 0, -9.81}};
    for (uint32_t i = 0; i < n; i++) {
        source.joint[i].alpha = 0.3;
        source.joint[i].a = 0.4;
        source.joint[i].d = 0.1;
        source.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0.1, 0.1, 0.1}};
        in_count[i] = count_input(0.1 * i + 0.3);
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm_count));
}

/* Counts a division as a multiplication. */
static void counted(long *mul, long *add) {
    const count_ops_t ops = count_all();
    TEST_ASSERT_EQUAL_INT(0, ops.sqrt);
    *mul = ops.mul + ops.div;
    *add = ops.add;
}

static void test_operation_counts(void) {
    static dyn_denoc_mass_scratch_count_t kept_mass;
    static dyn_denoc_coriolis_scratch_count_t kept_coriolis;
    for (uint32_t k = 3; k <= 30; k++) {
        const long n = (long)k;
        long mul, add, bias_mul, bias_add;
        count_chain(k);
        count_begin();
        dyn_denoc_inverse_count(&arm_count, &scratch_count.bias, in_count, in_count, in_count,
                                out_count);
        counted(&mul, &add);
        TEST_ASSERT_EQUAL_INT(105 * n - 79, mul);
        TEST_ASSERT_EQUAL_INT(87 * n - 73, add);
        TEST_ASSERT_TRUE(mul <= 120 * n - 44 && add <= 97 * n - 55);

        count_begin();
        dyn_denoc_bias_count(&arm_count, &scratch_count.bias, in_count, in_count, out_count);
        counted(&bias_mul, &bias_add);
        TEST_ASSERT_EQUAL_INT(105 * n - 84, bias_mul);
        TEST_ASSERT_EQUAL_INT(86 * n - 77, bias_add);
        count_begin();
        dyn_denoc_gravity_count(&arm_count, &scratch_count.bias, in_count, out_count);
        counted(&mul, &add);
        TEST_ASSERT_EQUAL_INT(39 * n - 26, mul);
        TEST_ASSERT_EQUAL_INT(27 * n - 22, add);

        count_begin();
        dyn_denoc_forward_count(&arm_count, &scratch_count, in_count, in_count, in_count,
                                out_count);
        counted(&mul, &add);
        TEST_ASSERT_EQUAL_INT(138 * n - 208, mul - bias_mul);
        TEST_ASSERT_EQUAL_INT(136 * n - 226, add - bias_add);
        TEST_ASSERT_TRUE(mul - bias_mul <= 201 * n - 335 && add - bias_add <= 193 * n - 361);
        if (k == 6) {
            harness_note_number("fd denoc n=6 multiplications, bias included", mul);
            harness_note_number("fd denoc n=6 additions, bias included", add);
        }

        count_begin();
        dyn_denoc_mass_count(&arm_count, &kept_mass, in_count, out_count);
        counted(&mul, &add);
        TEST_ASSERT_EQUAL_INT(12 * n * n + 39 * n - 57, mul);
        TEST_ASSERT_EQUAL_INT(8 * n * n + 51 * n - 70, add);
        count_begin();
        dyn_denoc_coriolis_count(&arm_count, &kept_coriolis, in_count, in_count, out_count);
        counted(&mul, &add);
        TEST_ASSERT_EQUAL_INT((59 * n * n + 317 * n) / 2 - 165, mul);
        TEST_ASSERT_EQUAL_INT((39 * n * n + 315 * n) / 2 - 168, add);
    }
}

/* ---------------------------------------------------------------------------------------- graph */
static double lookup(void *context, int32_t array, int32_t index) {
    const forward_state_t *s = context;
    return array == 0 ? s->q[index] : array == 1 ? s->qd[index] : s->tau[index];
}

static void expect_traced(const graph_t *graph, forward_state_t *s, const double *exact,
                          const dyn_real_trace_t *results, uint32_t n) {
    static double traced[N * N];
    trace_values(graph, lookup, s, results, (int)n, traced);
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + forward_largest(n, exact)), exact[i], traced[i]);
}

/* Uses the PUMA with rotors, and a random chain without rotors whose third joint is prismatic, as
 * in the Stanford arm. */
static void test_graph_evaluates_to_the_same(void) {
    static dyn_arm_trace_t arm_trace;
    static dyn_denoc_forward_scratch_trace_t kept;
    static dyn_denoc_mass_scratch_trace_t kept_mass;
    static dyn_denoc_coriolis_scratch_trace_t kept_coriolis;
    static dyn_real_trace_t tau[N], M_trace[DYN_PACKED], C_trace[N * N], qdd[N];
    dyn_arms_random_t seed = {2463534242u};
    forward_state_t s;
    for (int mixed = 0; mixed < 2; mixed++) {
        dyn_real_trace_t in[3][N];
        double exact[N];
        if (mixed)
            random_chain(&seed, 6, 1u << 2, false);
        else
            load(DYN_ARMS_PUMA);
        const uint32_t n = model.n;
        graph_t *graph = graph_new();
        trace_use(graph);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &arm_trace));
        for (uint32_t i = 0; i < n; i++) {
            in[0][i] = trace_input(0, (int32_t)i);
            in[1][i] = trace_input(1, (int32_t)i);
            in[2][i] = trace_input(2, (int32_t)i);
        }
        dyn_denoc_inverse_trace(&arm_trace, &kept.bias, in[0], in[1], in[2], tau);
        dyn_denoc_mass_trace(&arm_trace, &kept_mass, in[0], M_trace);
        dyn_denoc_coriolis_trace(&arm_trace, &kept_coriolis, in[0], in[1], C_trace);
        TEST_ASSERT_EQUAL_INT(DYN_OK,
                              dyn_denoc_forward_trace(&arm_trace, &kept, in[0], in[1], in[2], qdd));
        for (int t = 0; t < 10; t++) {
            forward_random(&model, &seed, &s);
            dyn_denoc_inverse_f64(&arm, &f64.id, s.q, s.qd, s.tau, exact);
            expect_traced(graph, &s, exact, tau, n);
            dyn_denoc_mass_f64(&arm, &f64.mass, s.q, M);
            expect_traced(graph, &s, M, M_trace, packed(n));
            dyn_denoc_coriolis_f64(&arm, &f64.coriolis, s.q, s.qd, C);
            expect_traced(graph, &s, C, C_trace, n * n);
            dyn_denoc_forward_f64(&arm, &f64.fd, s.q, s.qd, s.tau, exact);
            expect_traced(graph, &s, exact, qdd, n);
        }
        graph_free(graph);
    }
}

#else
/* ------------------------------------------------------------------- instructions on the target */
/* Loads the PUMA 560 with or without rotors. */
static void load_puma(bool geared) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    for (uint32_t i = 0; i < model.n && !geared; i++)
        model.joint[i].drive.motor.gear = 0;
}

#ifdef __ARM_FP
static void test_f32_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    static float Mf[21], Cf[36], out[6];
    forward_state_t s;
    forward_f32_t f;
    cost_t id = COST_NONE, bias = id, gravity = id, mass = id, coriolis = id, fd[2] = {id, id};
    for (int geared = 0; geared < 2; geared++) {
        load_puma(geared);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &f32.arm));
        for (int t = 0; t < 200; t++) {
            forward_random(&model, &seed, &s);
            forward_to_f32(&model, &s, &f);
            uint32_t start = cycles_now();
            dyn_denoc_inverse_f32(&f32.arm, &f32.use.id, f.q, f.qd, f.tau, out);
            cost_see(&id, start, cycles_now());
            start = cycles_now();
            dyn_denoc_bias_f32(&f32.arm, &f32.use.id, f.q, f.qd, out);
            cost_see(&bias, start, cycles_now());
            start = cycles_now();
            dyn_denoc_gravity_f32(&f32.arm, &f32.use.id, f.q, out);
            cost_see(&gravity, start, cycles_now());
            start = cycles_now();
            dyn_denoc_mass_f32(&f32.arm, &f32.use.mass, f.q, Mf);
            cost_see(&mass, start, cycles_now());
            start = cycles_now();
            dyn_denoc_coriolis_f32(&f32.arm, &f32.use.coriolis, f.q, f.qd, Cf);
            cost_see(&coriolis, start, cycles_now());
            start = cycles_now();
            (void)dyn_denoc_forward_f32(&f32.arm, &f32.use.fd, f.q, f.qd, f.tau, out);
            cost_see(&fd[geared], start, cycles_now());
        }
    }
    cost_print("instructions of id denoc f32, puma560", id);
    cost_print("instructions of bias denoc f32, puma560", bias);
    cost_print("instructions of gravity denoc f32, puma560", gravity);
    cost_print("instructions of mass denoc f32, puma560", mass);
    cost_print("instructions of coriolis denoc f32, puma560", coriolis);
    cost_print("instructions of fd denoc f32, puma560 without rotors", fd[0]);
    cost_print("instructions of fd denoc f32, puma560 with rotors", fd[1]);
}
#endif

static void test_q31_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    static int32_t Mq[21], Cq[36], out[6];
    forward_state_t s;
    forward_q31_t raw;
    dyn_units_t units = {0};
    cost_t id = COST_NONE, bias = id, gravity = id, mass = id, coriolis = id, fd[2] = {id, id};
    for (int geared = 0; geared < 2; geared++) {
        load_puma(geared);
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &q31.arm));
        for (int t = 0; t < 200; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            uint32_t start = cycles_now();
            dyn_denoc_inverse_q31(&q31.arm, &q31.use.id, raw.q, raw.qd, raw.qd, out);
            cost_see(&id, start, cycles_now());
            start = cycles_now();
            dyn_denoc_bias_q31(&q31.arm, &q31.use.id, raw.q, raw.qd, out);
            cost_see(&bias, start, cycles_now());
            start = cycles_now();
            dyn_denoc_gravity_q31(&q31.arm, &q31.use.id, raw.q, out);
            cost_see(&gravity, start, cycles_now());
            start = cycles_now();
            dyn_denoc_mass_q31(&q31.arm, &q31.use.mass, raw.q, Mq);
            cost_see(&mass, start, cycles_now());
            start = cycles_now();
            dyn_denoc_coriolis_q31(&q31.arm, &q31.use.coriolis, raw.q, raw.qd, Cq);
            cost_see(&coriolis, start, cycles_now());
            start = cycles_now();
            (void)dyn_denoc_forward_q31(&q31.arm, &q31.use.fd, raw.q, raw.qd, raw.tau, out);
            cost_see(&fd[geared], start, cycles_now());
        }
    }
    cost_print("instructions of id denoc q31, puma560", id);
    cost_print("instructions of bias denoc q31, puma560", bias);
    cost_print("instructions of gravity denoc q31, puma560", gravity);
    cost_print("instructions of mass denoc q31, puma560", mass);
    cost_print("instructions of coriolis denoc q31, puma560", coriolis);
    cost_print("instructions of fd denoc q31, puma560 without rotors", fd[0]);
    cost_print("instructions of fd denoc q31, puma560 with rotors", fd[1]);
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_everything_agrees_with_ne)
    TEST(test_every_length_and_mix_of_joints)
    TEST(test_payload_can_change_alone)
    TEST(test_a_failed_pivot_is_said)
    TEST(test_coriolis_matrix_is_the_papers)
    TEST(test_rate_of_M_less_2C_is_skew)
    TEST(test_it_is_not_christoffels)
    TEST(test_f32_against_f64)
    TEST(test_two_bodies_in_single_precision)
    TEST(test_q31_against_f64)
#ifndef __arm__
    TEST(test_reference_values)
    TEST(test_inverse_stays_within_its_bounds)
    TEST(test_q31_does_not_overflow)
    TEST(test_operation_counts)
    TEST(test_graph_evaluates_to_the_same)
#else
#ifdef __ARM_FP
    TEST(test_f32_takes_the_same_instructions_for_every_state)
#endif
    TEST(test_q31_takes_the_same_instructions_for_every_state)
#endif
TEST_LIST_END
// clang-format on

/*
 * The tests that the methods `ga` and `fast` have in common: a template for test_dyn_ga.c and
 * test_dyn_fast.c, which define METHOD and more such names, and list the tests.
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

#define PASTE_(method, what, real)   dyn_##method##_##what##_##real
#define PASTE_T_(method, what, real) dyn_##method##_##what##_##real##_t
#define PASTE(method, what, real)    PASTE_(method, what, real)
#define PASTE_T(method, what, real)  PASTE_T_(method, what, real)
/* KERNEL(inverse, f64) is dyn_ga_inverse_f64. */
#define KERNEL(what, real) PASTE(METHOD, what, real)
#define SCRATCH(real)                                                                              \
    union {                                                                                        \
        PASTE_T(METHOD, scratch, real) own; /* of all but forward dynamics */                      \
        PASTE_T(METHOD, forward_scratch, real) forward;                                            \
    }
#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define NAME     TEXT(METHOD)

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_ne_scratch_f64_t ne;
static SCRATCH(f64) scratch;
static dyn_arm_f32_t arm_f32;
static SCRATCH(f32) scratch_f32;
static dyn_arm_q31_t arm_q31;
static SCRATCH(q31) scratch_q31;
static double M[DYN_PACKED], expected_M[DYN_PACKED];
static double tau[DYN_MAX_JOINTS], expected[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
static const double zero[DYN_MAX_JOINTS];

static uint32_t packed(uint32_t n) {
    return n * (n + 1) / 2;
}

static void prepare(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm.ga_status);
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm.fast_status);
}

static void load(uint32_t k) {
    dyn_arms_model(k, &model);
    prepare();
}

/* The tolerance of the reference values: 1e-10 (1 + largest). */
static void expect_near(const double *reference, const double *x, uint32_t n) {
    const double within = 1e-10 * (1 + forward_largest(n, reference));
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, reference[i], x[i]);
}

/* Columns of the inertia matrix by `ne`, without gravity and speed. */
static void matrix_by_ne(const double *q, double *out) {
    static double unit[DYN_MAX_JOINTS], column[DYN_MAX_JOINTS];
    const dyn_vec_f64_t g = arm.base_acceleration;
    arm.base_acceleration = (dyn_vec_f64_t){0, 0, 0};
    for (uint32_t c = 0; c < model.n; c++) {
        unit[c] = 1;
        dyn_ne_inverse_f64(&arm, &ne, q, zero, unit, column);
        unit[c] = 0;
        for (uint32_t r = c; r < model.n; r++)
            out[packed(r) + c] = column[r];
    }
    arm.base_acceleration = g;
}

/* Every kernel of the method at one state against `ne`, which the reference values have tested. */
static void check_state(const double *q, const double *qd, const double *qdd_in) {
    const uint32_t n = model.n;
    dyn_ne_inverse_f64(&arm, &ne, q, qd, qdd_in, expected);
    KERNEL(inverse, f64)(&arm, &scratch.own, q, qd, qdd_in, tau);
    expect_near(expected, tau, n);
    matrix_by_ne(q, expected_M);
    KERNEL(mass, f64)(&arm, &scratch.own, q, M);
    expect_near(expected_M, M, packed(n));
    dyn_rotor_inverse_f64(&arm, qdd_in, expected);
    dyn_rotor_mass_f64(&arm, M);
    TEST_ASSERT_EQUAL_INT(DYN_OK,
                          KERNEL(forward, f64)(&arm, &scratch.forward, q, qd, expected, qdd));
    const double within = forward_tolerance(n, M, qdd_in);
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, qdd_in[i], qdd[i]);
    dyn_ne_inverse_f64(&arm, &ne, q, qd, zero, expected);
    KERNEL(bias, f64)(&arm, &scratch.own, q, qd, tau);
    expect_near(expected, tau, n);
}

static void test_carried_reference_values(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        for (uint32_t s = 0; s < dyn_arms_states(k) && s < 20; s++) {
            const dyn_arms_state_t state = dyn_arms_state(k, s);
            KERNEL(inverse, f64)(&arm, &scratch.own, state.q, state.qd, state.qdd, tau);
            expect_near(state.tau, tau, model.n);
            if (s < 2)
                check_state(state.q, state.qd, state.qdd);
        }
    }
}

static double uniform(dyn_arms_random_t *seed, double size) {
    return size * dyn_arms_uniform(seed);
}

static dyn_body_t random_body(dyn_arms_random_t *seed) {
    dyn_body_t b = {1 + uniform(seed, 0.5), {0}, {0.3, 0.4, 0.5, 0, 0, 0}};
    for (int i = 0; i < 3; i++) {
        b.com[i] = uniform(seed, 0.3);
        b.inertia[3 + i] = uniform(seed, 0.1);
    }
    return b;
}

static void random_arm(dyn_arms_random_t *seed, uint32_t n, uint32_t prismatic) {
    model = (dyn_model_t){.n = n, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
    for (int i = 0; i < 3; i++)
        model.gravity[i] = uniform(seed, 9.81);
    for (uint32_t i = 0; i < n; i++) {
        dyn_model_joint_t *j = &model.joint[i];
        j->type = prismatic >> i & 1 ? DYN_PRISMATIC : DYN_REVOLUTE;
        if (i > 0) {
            j->alpha = uniform(seed, 3);
            j->a = uniform(seed, 0.5);
            j->theta = uniform(seed, 3);
            j->d = uniform(seed, 0.5);
        }
        j->link = random_body(seed);
        j->drive.limits = (dyn_limits_t){{-1, 1}, 2, 5, 0};
    }
    model.payload = random_body(seed);
}

/* All types of the first five joints, from one joint on: the peeled links in every combination. */
static void test_every_mix_of_joints(void) {
    dyn_arms_random_t seed = {2463534242u};
    static double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], acceleration[DYN_MAX_JOINTS];
    for (uint32_t n = 1; n <= 5; n++)
        for (uint32_t mix = 0; mix < 1u << n; mix++) {
            random_arm(&seed, n, mix);
            prepare();
            for (uint32_t i = 0; i < n; i++) {
                q[i] = uniform(&seed, 3);
                qd[i] = uniform(&seed, 2);
                acceleration[i] = uniform(&seed, 5);
            }
            check_state(q, qd, acceleration);
        }
}

static void test_longest_arm(void) {
    dyn_arms_random_t seed = {88675123u};
    static double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], acceleration[DYN_MAX_JOINTS];
    random_arm(&seed, DYN_MAX_JOINTS, 0x20840821u);
    prepare();
    for (uint32_t i = 0; i < model.n; i++) {
        q[i] = uniform(&seed, 3);
        qd[i] = uniform(&seed, 0.2);
        acceleration[i] = uniform(&seed, 1);
    }
    check_state(q, qd, acceleration);
}

/* A payload that is prepared alone is bit for bit the one that is prepared with everything. */
static void test_payload_can_change_alone(void) {
    const dyn_body_t loads[3] = {{2.5, {0.1, -0.2, 0.3}, {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}},
                                 {0.5, {0, 0, 0.1}, {0.01, 0.01, 0.01, 0, 0, 0}},
                                 {0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}}};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        const dyn_arms_state_t state = dyn_arms_state(k, 0);
        load(k);
        for (int l = 0; l < 3; l++) {
            model.payload = loads[l];
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f64(&model, NULL, &arm));
            KERNEL(inverse, f64)(&arm, &scratch.own, state.q, state.qd, state.qdd, tau);
            KERNEL(mass, f64)(&arm, &scratch.own, state.q, M);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
            KERNEL(inverse, f64)(&arm, &scratch.own, state.q, state.qd, state.qdd, expected);
            KERNEL(mass, f64)(&arm, &scratch.own, state.q, expected_M);
            TEST_ASSERT_EQUAL_MEMORY(expected, tau, model.n * sizeof tau[0]);
            TEST_ASSERT_EQUAL_MEMORY(expected_M, M, packed(model.n) * sizeof M[0]);
            check_state(state.q, state.qd, state.qdd);
        }
    }
}

/* An arm whose last joint moves nothing: forward dynamics says so and does not pretend. */
static void test_failed_pivot_is_reported(void) {
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t state = dyn_arms_state(DYN_ARMS_PUMA, 0);
    for (uint32_t n = 5; n <= 6; n++) {
        dyn_arms_model(DYN_ARMS_PUMA, &model);
        model.n = n;
        model.joint[n - 1].link = (dyn_body_t){0};
        for (int i = 0; i < 6; i++)
            model.joint[i].drive.motor.gear = 0;
        prepare();
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, KERNEL(forward, f64)(&arm, &scratch.forward, state.q,
                                                                state.qd, zero, qdd));
    }
}

/*
 * A link without mass between two joints on one axis: in no state does the matrix have an inverse,
 * but no element of it is zero, and what is left of the pivot is rounding.
 */
static void test_singular_matrix_is_reported(void) {
    static forward_state_t s;
    static forward_f32_t f;
    static float out[DYN_MAX_JOINTS];
    dyn_arms_random_t seed = {602214076u};
    model = (dyn_model_t){.n = 3, .gravity = {0, -9.81, 0}};
    model.base = model.tool = dyn_pose_identity();
    model.joint[0].link = (dyn_body_t){1.3, {0.1, 0.2, 0}, {0.1, 0.1, 0.1, 0, 0, 0}};
    model.joint[1].alpha = 0.3;
    model.joint[1].a = 0.4;
    model.joint[2].d = 0.1;
    model.joint[2].link = (dyn_body_t){1.1, {0.13, 0.07, 0.05}, {0.011, 0.012, 0.013, 0.001, 0, 0}};
    prepare();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int t = 0; t < 200; t++) {
        forward_random(&model, &seed, &s);
        forward_to_f32(&model, &s, &f);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT,
                              KERNEL(forward, f64)(&arm, &scratch.forward, s.q, s.qd, s.tau, qdd));
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, KERNEL(forward, f32)(&arm_f32, &scratch_f32.forward, f.q,
                                                                f.qd, f.tau, out));
    }
    /* And a matrix that is not a number is none. */
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    forward_random(&model, &seed, &s);
    s.q[1] = (double)NAN;
    forward_to_f32(&model, &s, &f);
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT,
                          KERNEL(forward, f64)(&arm, &scratch.forward, s.q, s.qd, s.tau, qdd));
    TEST_ASSERT_EQUAL_INT(
        DYN_E_PIVOT, KERNEL(forward, f32)(&arm_f32, &scratch_f32.forward, f.q, f.qd, f.tau, out));
}

/*
 * Issue: no joint's torque off by more than 5e-6 of its largest over the set; matrix and
 * acceleration within the bounds of test/support/dyn/dyn_forward.h, and the PUMA's acceleration
 * within 1e-6 of its largest.
 */
static void test_f32_against_f64(void) {
    dyn_arms_random_t seed = {521288629u};
    static forward_state_t s;
    static forward_f32_t f;
    static float out[DYN_PACKED];
    double worst = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        double largest[DYN_MAX_JOINTS] = {0}, off[DYN_MAX_JOINTS] = {0};
        load(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (int t = 0; t < 20; t++) {
            forward_random(&model, &seed, &s);
            forward_to_f32(&model, &s, &f);
            KERNEL(inverse, f64)(&arm, &scratch.own, s.q, s.qd, s.tau, tau);
            KERNEL(inverse, f32)(&arm_f32, &scratch_f32.own, f.q, f.qd, f.tau, out);
            for (uint32_t i = 0; i < model.n; i++) {
                largest[i] = fmax(largest[i], fabs(tau[i]));
                off[i] = fmax(off[i], fabs((double)out[i] - tau[i]));
            }
            KERNEL(mass, f64)(&arm, &scratch.own, s.q, M);
            KERNEL(mass, f32)(&arm_f32, &scratch_f32.own, f.q, out);
            for (uint32_t i = 0; i < packed(model.n); i++)
                TEST_ASSERT_TRUE(fabs((double)out[i] - M[i]) <=
                                 forward_matrix_error_f32(model.n, M));
            dyn_rotor_mass_f64(&arm, M);
            KERNEL(bias, f64)(&arm, &scratch.own, s.q, s.qd, tau);
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, KERNEL(forward, f64)(&arm, &scratch.forward, s.q, s.qd, s.tau, qdd));
            TEST_ASSERT_EQUAL_INT(DYN_OK, KERNEL(forward, f32)(&arm_f32, &scratch_f32.forward, f.q,
                                                               f.qd, f.tau, out));
            const double force = fmax(forward_largest(model.n, tau), 10);
            const double within = forward_error_f32(model.n, M, force, qdd);
            for (uint32_t i = 0; i < model.n; i++) {
                const double error = fabs((double)out[i] - qdd[i]);
                TEST_ASSERT_TRUE(error <= within);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, error / forward_largest(model.n, qdd));
            }
        }
        for (uint32_t i = 0; i < model.n; i++)
            worst = fmax(worst, off[i] / largest[i]);
    }
    TEST_ASSERT_TRUE(worst <= 5e-6);
    TEST_ASSERT_TRUE(puma <= 1e-6);
    harness_note_number(NAME " f32: torque, worst part of the joint's largest, 1e-9",
                        (int64_t)(worst * 1e9));
    harness_note_number(NAME " f32: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

/*
 * A pivot of a matrix is never below its smallest eigenvalue, and the equilibrated matrix has a
 * diagonal of at least one: q31 may refuse a matrix only where, with a diagonal of ones, its
 * smallest eigenvalue is below what the solver of the method demands of a pivot. The part in a
 * hundred is for rounding.
 */
static bool may_be_refused(void) {
    static double scaled[DYN_PACKED];
    double smallest, largest;
    for (uint32_t r = 0; r < model.n; r++)
        for (uint32_t c = 0; c <= r; c++)
            scaled[packed(r) + c] = M[packed(r) + c] / sqrt(M[packed(r) + r] * M[packed(c) + c]);
    spd_eigenvalues(model.n, scaled, &smallest, &largest);
    return smallest < 1.01 * SMALLEST_PIVOT;
}

/* Bounds from the format, test/support/dyn/dyn_forward.h; units as there. */
static void test_q31_against_f64(void) {
    dyn_arms_random_t seed = {362436069u};
    static forward_state_t s;
    static forward_q31_t raw;
    static int32_t out[DYN_PACKED];
    static double error[DYN_MAX_JOINTS];
    double worst = 0, puma = 0;
    int refused = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.ga_status);
        TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.fast_status);
        for (int t = 0; t < 20; t++) {
            forward_random(&model, &seed, &s);
            forward_to_q31(&model, &units, &s, &raw);
            KERNEL(mass, f64)(&arm, &scratch.own, s.q, M);
            KERNEL(mass, q31)(&arm_q31, &scratch_q31.own, raw.q, out);
            for (uint32_t r = 0; r < model.n; r++)
                for (uint32_t c = 0; c <= r; c++) {
                    const int e = forward_element_exponent(&model, &units, r, c);
                    TEST_ASSERT_DOUBLE_WITHIN(forward_matrix_error_q31(model.n, e),
                                              M[packed(r) + c], dyn_q31_to(out[packed(r) + c], e));
                }
            dyn_rotor_mass_f64(&arm, M);
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, KERNEL(forward, f64)(&arm, &scratch.forward, s.q, s.qd, s.tau, qdd));
            if (KERNEL(forward, q31)(&arm_q31, &scratch_q31.forward, raw.q, raw.qd, raw.tau, out)) {
                TEST_ASSERT_TRUE(may_be_refused());
                refused++;
                continue;
            }
            forward_error_q31(&model, &units, M, qdd, error);
            for (uint32_t i = 0; i < model.n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).acceleration;
                const double off = fabs(dyn_q31_to(out[i], e) - qdd[i]);
                TEST_ASSERT_TRUE(off <= error[i]);
                worst = fmax(worst, off / error[i]);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(model.n, qdd));
            }
        }
    }
    harness_note_number(NAME " q31: states of 420 whose matrix is refused", refused);
    harness_note_number(NAME " q31: forward dynamics, worst part of the bound, 1e-6",
                        (int64_t)(worst * 1e6));
    harness_note_number(NAME " q31: forward dynamics of the puma560, relative, 1e-9",
                        (int64_t)(puma * 1e9));
}

/* -------------------------------------------------------------------------- the same on all
 * machines
 */
static uint32_t hash_word(uint32_t hash, uint32_t word) {
    /* FNV-1a, byte by byte. */
    for (int i = 0; i < 4; i++, word >>= 8)
        hash = (hash ^ (word & 0xFF)) * 16777619u;
    return hash;
}

static uint32_t hash_words(uint32_t hash, const void *words, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, (const char *)words + 4 * i, sizeof word);
        hash = hash_word(hash, word);
    }
    return hash;
}

static void random_f32(dyn_arms_random_t *seed, float q[3][DYN_MAX_JOINTS]) {
    for (uint32_t i = 0; i < model.n; i++) {
        /* Powers of two: every machine gets the same float. */
        q[0][i] = (float)dyn_arms_random(seed) / 536870912.0f;
        q[1][i] = (float)dyn_arms_random(seed) / 1073741824.0f;
        q[2][i] = (float)dyn_arms_random(seed) / 268435456.0f;
    }
}

static const dyn_units_t puma_units = {.length = -1, .time = -4, .mass = {5, 5, 3, 2, 2, 2}};

static void random_q31(dyn_arms_random_t *seed, int32_t q[3][DYN_MAX_JOINTS]) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &puma_units, i);
        q[0][i] = dyn_arms_random(seed);
        /* Within 3 rad/s and 10 rad/s^2 in integers: the limit times a random number below one. */
        q[1][i] = (int32_t)(((int64_t)dyn_q31_from(3, e.velocity) * dyn_arms_random(seed)) >> 31);
        q[2][i] =
            (int32_t)(((int64_t)dyn_q31_from(10, e.acceleration) * dyn_arms_random(seed)) >> 31);
    }
}

static void prepare_puma(void) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &puma_units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.ga_status);
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.fast_status);
    TEST_ASSERT_EQUAL_INT(DYN_OK, arm_q31.drive_status);
}

/*
 * A hash of torques, matrix and, where the solver is the method's own, accelerations over 100
 * states: host and target are held to one.
 */
static void test_bits_are_the_same_everywhere(void) {
    dyn_arms_random_t seed = {0x9E3779B97F4A7C15u};
    uint32_t hash_f32 = 2166136261u, hash_q31 = 2166136261u;
    float f[3][DYN_MAX_JOINTS], out_f[21];
    int32_t r[3][DYN_MAX_JOINTS], out_r[21];
    prepare_puma();
    for (int s = 0; s < 100; s++) {
        random_f32(&seed, f);
        KERNEL(inverse, f32)(&arm_f32, &scratch_f32.own, f[0], f[1], f[2], out_f);
        hash_f32 = hash_words(hash_f32, out_f, 6);
        KERNEL(mass, f32)(&arm_f32, &scratch_f32.own, f[0], out_f);
        hash_f32 = hash_words(hash_f32, out_f, 21);
        if (HASH_FORWARD) {
            KERNEL(forward, f32)(&arm_f32, &scratch_f32.forward, f[0], f[1], f[2], out_f);
            hash_f32 = hash_words(hash_f32, out_f, 6);
        }
        random_q31(&seed, r);
        KERNEL(inverse, q31)(&arm_q31, &scratch_q31.own, r[0], r[1], r[2], out_r);
        hash_q31 = hash_words(hash_q31, out_r, 6);
        KERNEL(mass, q31)(&arm_q31, &scratch_q31.own, r[0], out_r);
        hash_q31 = hash_words(hash_q31, out_r, 21);
        if (HASH_FORWARD) {
            KERNEL(forward, q31)(&arm_q31, &scratch_q31.forward, r[0], r[1], r[2], out_r);
            hash_q31 = hash_words(hash_q31, out_r, 6);
        }
    }
    TEST_ASSERT_EQUAL_HEX32(HASH_F32, hash_f32);
    TEST_ASSERT_EQUAL_HEX32(HASH_Q31, hash_q31);
}

#ifdef __arm__
/* -------------------------------------------------------------------------------------
 * instructions
 */
static void test_q31_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    int32_t r[3][DYN_MAX_JOINTS], out[21];
    cost_t cost[3] = {COST_NONE, COST_NONE, COST_NONE};
    prepare_puma();
    for (int s = 0; s < 200; s++) {
        random_q31(&seed, r);
        uint32_t start = cycles_now();
        KERNEL(inverse, q31)(&arm_q31, &scratch_q31.own, r[0], r[1], r[2], out);
        cost_see(&cost[0], start, cycles_now());
        start = cycles_now();
        KERNEL(mass, q31)(&arm_q31, &scratch_q31.own, r[0], out);
        cost_see(&cost[1], start, cycles_now());
        start = cycles_now();
        KERNEL(forward, q31)(&arm_q31, &scratch_q31.forward, r[0], r[1], r[2], out);
        cost_see(&cost[2], start, cycles_now());
    }
    cost_say("instructions of " NAME " q31 puma560: inverse", cost[0]);
    cost_say("instructions of " NAME " q31 puma560: mass", cost[1]);
    cost_say("instructions of " NAME " q31 puma560: forward", cost[2]);
}

#ifdef __ARM_FP
static void test_f32_takes_the_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    float f[3][DYN_MAX_JOINTS], out[21];
    cost_t cost[3] = {COST_NONE, COST_NONE, COST_NONE};
    prepare_puma();
    for (int s = 0; s < 200; s++) {
        random_f32(&seed, f);
        uint32_t start = cycles_now();
        KERNEL(inverse, f32)(&arm_f32, &scratch_f32.own, f[0], f[1], f[2], out);
        cost_see(&cost[0], start, cycles_now());
        start = cycles_now();
        KERNEL(mass, f32)(&arm_f32, &scratch_f32.own, f[0], out);
        cost_see(&cost[1], start, cycles_now());
        start = cycles_now();
        KERNEL(forward, f32)(&arm_f32, &scratch_f32.forward, f[0], f[1], f[2], out);
        cost_see(&cost[2], start, cycles_now());
    }
    cost_say("instructions of " NAME " f32 puma560: inverse", cost[0]);
    cost_say("instructions of " NAME " f32 puma560: mass", cost[1]);
    cost_say("instructions of " NAME " f32 puma560: forward", cost[2]);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_LESS_OR_EQUAL_UINT32(limit_f32[i], cost[i].most);
}
#endif
#else
/* ------------------------------------------------------------------- reference values, on the host
 */
static void without_rotors(void) {
    for (uint32_t i = 0; i < model.n; i++)
        model.joint[i].drive.motor.gear = 0;
}

static void test_all_reference_values(void) {
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    uint32_t torques = 0, matrices = 0;
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        model = arms[k].model;
        prepare();
        for (uint32_t t = 0; t < arms[k].states; t++) {
            const reference_state_t *s = &arms[k].state[t];
            if (s->has_tau) {
                KERNEL(inverse, f64)(&arm, &scratch.own, s->q, s->qd, s->qdd, tau);
                dyn_rotor_inverse_f64(&arm, s->qdd, tau);
                expect_near(s->tau, tau, model.n);
                torques++;
            }
            if (s->has_bias) {
                KERNEL(bias, f64)(&arm, &scratch.own, s->q, s->qd, tau);
                expect_near(s->bias, tau, model.n);
            }
            if (!s->has_M)
                continue;
            matrices++;
            KERNEL(mass, f64)(&arm, &scratch.own, s->q, M);
            dyn_rotor_mass_f64(&arm, M);
            expect_near(s->M, M, packed(model.n));
            if (s->has_tau) {
                TEST_ASSERT_EQUAL_INT(
                    DYN_OK, KERNEL(forward, f64)(&arm, &scratch.forward, s->q, s->qd, s->tau, qdd));
                const double within = forward_tolerance(model.n, s->M, s->qdd);
                for (uint32_t i = 0; i < model.n; i++)
                    TEST_ASSERT_DOUBLE_WITHIN(within, s->qdd[i], qdd[i]);
            }
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT(100, torques);
    TEST_ASSERT_GREATER_THAN_UINT(50, matrices);
}

/* ----------------------------------------------------------------------------------------- counts
 */
static dyn_arm_count_t arm_count;
static SCRATCH(count) scratch_count;
static dyn_real_count_t counted[DYN_PACKED];

static void revolute_chain(uint32_t n) {
    static dyn_source_t source;
    source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = n, .gravity = {0, 0, -9.81}};
    for (uint32_t i = 0; i < n; i++) {
        source.joint[i].alpha = 0.3;
        source.joint[i].a = 0.4;
        source.joint[i].d = 0.1;
        source.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0.1, 0.1, 0.1}};
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm_count));
}

typedef struct {
    dyn_real_count_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
} count_state_t;

static void count_state(const double *q, const double *qd, const double *acceleration,
                        count_state_t *s) {
    for (uint32_t i = 0; i < model.n; i++) {
        s->q[i] = count_input(q[i]);
        s->qd[i] = count_input(qd[i]);
        s->qdd[i] = count_input(acceleration[i]);
    }
}

static count_ops_t count_inverse(const count_state_t *s) {
    count_begin();
    KERNEL(inverse, count)(&arm_count, &scratch_count.own, s->q, s->qd, s->qdd, counted);
    return count_all();
}

static count_ops_t count_bias(const count_state_t *s) {
    count_begin();
    KERNEL(bias, count)(&arm_count, &scratch_count.own, s->q, s->qd, counted);
    return count_all();
}

static count_ops_t count_mass(const count_state_t *s) {
    count_begin();
    KERNEL(mass, count)(&arm_count, &scratch_count.own, s->q, counted);
    return count_all();
}

static count_ops_t count_forward(const count_state_t *s) {
    count_begin();
    TEST_ASSERT_EQUAL_INT(DYN_OK, KERNEL(forward, count)(&arm_count, &scratch_count.forward, s->q,
                                                         s->qd, s->qdd, counted));
    return count_all();
}

/* A kernel that counts still computes: nothing was left out. */
static void test_counting_computes_the_same(void) {
    count_state_t s;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        const dyn_arms_state_t state = dyn_arms_state(k, 0);
        double x[DYN_PACKED];
        load(k);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm_count));
        count_state(state.q, state.qd, state.qdd, &s);
        (void)count_inverse(&s);
        for (uint32_t i = 0; i < model.n; i++)
            x[i] = counted[i].v;
        expect_near(state.tau, x, model.n);
        (void)count_mass(&s);
        KERNEL(mass, f64)(&arm, &scratch.own, state.q, M);
        for (uint32_t i = 0; i < packed(model.n); i++)
            x[i] = counted[i].v;
        expect_near(M, x, packed(model.n));
    }
}

/* ------------------------------------------------------------------------------------------ trace
 */
static double trace_lookup(void *context, int32_t array, int32_t index) {
    const dyn_arms_state_t *s = context;
    return (array == 0 ? s->q : array == 1 ? s->qd : s->qdd)[index];
}

static void expect_traced(const double *reference, const dyn_real_trace_t *result, uint32_t n,
                          const graph_t *graph, dyn_arms_state_t *state, double within) {
    static double value[DYN_PACKED];
    trace_values(graph, trace_lookup, state, result, (int)n, value);
    for (uint32_t i = 0; i < n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within * (1 + forward_largest(n, reference)), reference[i],
                                  value[i]);
}

/* The graph of each kernel evaluates to what the kernel computes: PUMA and an arm that also slides.
 */
static void test_graph_evaluates_to_the_same(void) {
    static dyn_arm_trace_t traced;
    static SCRATCH(trace) scratch_trace;
    static dyn_real_trace_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], in[DYN_MAX_JOINTS],
        out[DYN_PACKED];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        if (dyn_arms_joints(k) > 7)
            continue;
        load(k);
        graph_t *graph = graph_new();
        trace_use(graph);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &traced));
        for (uint32_t i = 0; i < model.n; i++) {
            q[i] = trace_input(0, (int32_t)i);
            qd[i] = trace_input(1, (int32_t)i);
            in[i] = trace_input(2, (int32_t)i);
        }
        dyn_arms_state_t state = dyn_arms_state(k, 0);
        KERNEL(inverse, trace)(&traced, &scratch_trace.own, q, qd, in, out);
        expect_traced(state.tau, out, model.n, graph, &state, 1e-12);
        if (k == DYN_ARMS_PUMA) {
            trace_results(out, model.n);
            const graph_ops_t ops = graph_count(graph);
            harness_note_number("puma560, plain trace of " NAME ": multiplications", ops.mul);
            harness_note_number("puma560, plain trace of " NAME ": additions", ops.add);
        }
        KERNEL(mass, trace)(&traced, &scratch_trace.own, q, out);
        KERNEL(mass, f64)(&arm, &scratch.own, state.q, M);
        expect_traced(M, out, packed(model.n), graph, &state, 1e-12);
        KERNEL(forward, trace)(&traced, &scratch_trace.forward, q, qd, in, out);
        KERNEL(forward, f64)(&arm, &scratch.forward, state.q, state.qd, state.qdd, qdd);
        dyn_rotor_mass_f64(&arm, M);
        expect_traced(qdd, out, model.n, graph, &state,
                      forward_tolerance(model.n, M, qdd) / (1 + forward_largest(model.n, qdd)));
        graph_free(graph);
    }
}

/* ------------------------------------------------------------------------------------------ range
 */
static dyn_arm_check_t arm_check;
static SCRATCH(check) scratch_check;

static void random_state(long number, dyn_arms_random_t *seed, double s[3][DYN_MAX_JOINTS]) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_limits_t *l = &model.joint[i].drive.limits;
        s[0][i] = uniform(seed, l->position[1]);
        s[1][i] = uniform(seed, l->velocity);
        s[2][i] = uniform(seed, l->acceleration);
        /* Every other state with all speeds and accelerations at a corner of the limits. */
        if (number % 2) {
            s[1][i] = s[1][i] < 0 ? -l->velocity : l->velocity;
            s[2][i] = s[2][i] < 0 ? -l->acceleration : l->acceleration;
        }
    }
}

static void to_raw(const dyn_units_t *units, double s[3][DYN_MAX_JOINTS],
                   int32_t raw[3][DYN_MAX_JOINTS]) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, units, i);
        raw[0][i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(s[0][i], e.position)
                                                         : dyn_q31_angle(s[0][i]);
        raw[1][i] = dyn_q31_from(s[1][i], e.velocity);
        raw[2][i] = dyn_q31_from(s[2][i], e.acceleration);
    }
}

static void expect_peaks_within(const range_report_t *report) {
    char text[80];
    int seen = 0;
    for (uint32_t i = 0; i < report->entries; i++) {
        const range_entry_t *e = &report->entry[i];
        if (!strncmp(e->name, "const", 5))
            continue;
        for (int part = 0; part < e->parts; part++) {
            const double peak = check_peak(e->name, e->joint, part);
            snprintf(text, sizeof text, "%s of joint %u, part %d", e->name, e->joint + 1, part);
            TEST_ASSERT_TRUE_MESSAGE(peak >= 0 && peak <= e->bound[part], text);
            seen += peak > 0;
        }
    }
    TEST_ASSERT_GREATER_THAN(2 * (int)report->n, seen);
}

/*
 * q31 with the units that range chooses: no sum overflows (check would abort), no named value
 * leaves its bound, q31 and f32 are no further from f64 than guaranteed. All arms up to a dozen
 * joints.
 */
static void test_range_bounds_and_guarantees(void) {
    static range_report_t report, floats;
    dyn_arms_random_t seed = {88172645463325252u};
    double s[3][DYN_MAX_JOINTS];
    float f[3][DYN_MAX_JOINTS], out_f[DYN_MAX_JOINTS];
    int32_t raw[3][DYN_MAX_JOINTS], out[DYN_MAX_JOINTS], checked[DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units;
        double largest[DYN_MAX_JOINTS] = {0}, off[DYN_MAX_JOINTS] = {0}, worst = 0;
        if (dyn_arms_joints(k) > 12)
            continue;
        load(k);
        TEST_ASSERT_EQUAL_INT_MESSAGE(
            DYN_OK, range_choose_units(RANGE_KERNEL, &model, &units, &report), dyn_arms_name(k));
        TEST_ASSERT_TRUE(report.fits);
        TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(RANGE_KERNEL, &model, NULL, RANGE_F32, &floats));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        check_begin(true);
        for (long t = 0; t < (k == DYN_ARMS_PUMA ? 50000 : 2000); t++) {
            random_state(t, &seed, s);
            for (int i = 0; i < 3; i++)
                for (uint32_t j = 0; j < model.n; j++)
                    s[i][j] = (double)(f[i][j] = (float)s[i][j]);
            to_raw(&units, s, raw);
            KERNEL(inverse, f64)(&arm, &scratch.own, s[0], s[1], s[2], tau);
            KERNEL(inverse, f32)(&arm_f32, &scratch_f32.own, f[0], f[1], f[2], out_f);
            KERNEL(inverse, q31)(&arm_q31, &scratch_q31.own, raw[0], raw[1], raw[2], out);
            KERNEL(inverse, check)
            (&arm_check, &scratch_check.own, raw[0], raw[1], raw[2], checked);
            TEST_ASSERT_EQUAL_MEMORY(out, checked, model.n * sizeof out[0]);
            for (uint32_t i = 0; i < model.n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).torque;
                const double error = fabs(dyn_q31_to(out[i], e) - tau[i]);
                largest[i] = fmax(largest[i], fabs(tau[i]));
                off[i] = fmax(off[i], error);
                TEST_ASSERT_TRUE(error <= report.tau_error[i]);
                TEST_ASSERT_TRUE(fabs(tau[i]) <= report.tau_bound[i]);
                TEST_ASSERT_TRUE(fabs((double)out_f[i] - tau[i]) <= floats.tau_error[i]);
            }
        }
        expect_peaks_within(&report);
        for (uint32_t i = 0; i < model.n; i++)
            worst = fmax(worst, off[i] / largest[i]);
        if (k == DYN_ARMS_PUMA)
            harness_note_number(NAME " q31: torque of the puma560, part of the largest, 1e-9",
                                (int64_t)(worst * 1e9));
    }
}

/* Units too small for the regrouped constants: the arm is good for others, and says so. */
static void test_constants_that_do_not_fit_are_reported(void) {
    static range_report_t report;
    const dyn_units_t narrow = {.length = -4, .time = -4, .mass = {5, 5, 2, 0, 0, 0}};
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    model.joint[2].link.mass = 30;
    without_rotors();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &narrow, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, arm_q31.METHOD_STATUS);
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(RANGE_KERNEL, &model, &narrow, RANGE_Q31, &report));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, report.status);
    TEST_ASSERT_FALSE(report.fits);
}
#endif

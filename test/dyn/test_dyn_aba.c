/*
 * Tests forward dynamics `aba`: in double against the reference values, in float and fixed point
 * against double; also its operation counts, its graph and its cost on the target.
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_forward.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#ifdef __arm__
#include "test/support/cost.h"
#else
#include "test/support/dyn/reference.h"
#include "tools/proof/check.h"
#include "tools/proof/count.h"
#include "tools/gen/trace.h"
#endif

static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_aba_scratch_f64_t scratch;
static dyn_crba_scratch_f64_t mass_scratch;
static dyn_ne_scratch_f64_t ne_scratch;
static dyn_crba_forward_scratch_f64_t crba_scratch;
static dyn_arm_f32_t arm_f32;
static dyn_aba_scratch_f32_t scratch_f32;
static dyn_arm_q31_t arm_q31;
static dyn_aba_scratch_q31_t scratch_q31;
static double M[DYN_PACKED], qdd[DYN_MAX_JOINTS];
static forward_state_t state;

static void load(uint32_t k) {
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
}

/* Computes the inertia matrix with rotors, from which the tolerances follow. */
static void find_matrix(const double *q) {
    dyn_crba_mass_f64(&arm, &mass_scratch, q, M);
    dyn_rotor_mass_f64(&arm, M);
}

static void check_forward(const double *q, const double *qd, const double *tau,
                          const double *expected) {
    find_matrix(q);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_aba_forward_f64(&arm, &scratch, q, qd, tau, qdd));
    const double within = forward_tolerance(model.n, M, expected);
    for (uint32_t i = 0; i < model.n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(within, expected[i], qdd[i]);
}

/* The torques of the reference plus those of the rotors must give the accelerations of the
 * reference. */
static void test_forward_undoes_inverse(void) {
    static double tau[DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        for (uint32_t s = 0; s < dyn_arms_states(k) && s < FORWARD_STATES; s++) {
            const dyn_arms_state_t at = dyn_arms_state(k, s);
            memcpy(tau, at.tau, model.n * sizeof tau[0]);
            dyn_rotor_inverse_f64(&arm, at.qdd, tau);
            if (model.n <= FORWARD_JOINTS)
                check_forward(at.q, at.qd, tau, at.qdd);
        }
    }
}

/* Compares with `crba` for one, two and three joints in every mix of joint types. */
static void test_every_mix_of_joint_types(void) {
    static double expected[DYN_MAX_JOINTS];
    dyn_arms_random_t seed = {4711};
    for (uint32_t n = 1; n <= 3; n++)
        for (uint32_t mix = 0; mix < 1u << n; mix++) {
            load(DYN_ARMS_PUMA);
            model.n = n;
            for (uint32_t i = 0; i < n; i++) {
                model.joint[i] = model.joint[i + 1];
                model.joint[i].type = mix >> i & 1 ? DYN_PRISMATIC : DYN_REVOLUTE;
                model.joint[i].link.mass += 0.5;
            }
            model.joint[0].alpha = model.joint[0].a = model.joint[0].theta = model.joint[0].d = 0;
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
            forward_random(&model, &seed, &state);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_crba_forward_f64(&arm, &crba_scratch, state.q,
                                                               state.qd, state.tau, expected));
            check_forward(state.q, state.qd, state.tau, expected);
        }
}

/* The last link has no mass. Its rotor is enough for forward dynamics; without the rotor the
 * acceleration is undefined, and the status reports that. */
static void test_massless_end_is_reported(void) {
    load(DYN_ARMS_PUMA);
    const dyn_arms_state_t at = dyn_arms_state(DYN_ARMS_PUMA, 0);
    model.joint[5].link = (dyn_body_t){0};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_aba_forward_f64(&arm, &scratch, at.q, at.qd, at.tau, qdd));
    model.joint[5].drive.motor.gear = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT,
                          dyn_aba_forward_f64(&arm, &scratch, at.q, at.qd, at.tau, qdd));
}

static void test_f32_against_f64(void) {
    dyn_arms_random_t seed = {88172645463325252u};
    static forward_f32_t f;
    static float x[DYN_MAX_JOINTS];
    static double bias[DYN_MAX_JOINTS];
    double puma = 0, worst = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
        for (int t = 0; t < FORWARD_STATES; t++) {
            forward_random(&model, &seed, &state);
            forward_to_f32(&model, &state, &f);
            find_matrix(state.q);
            dyn_ne_bias_f64(&arm, &ne_scratch, state.q, state.qd, bias);
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, dyn_aba_forward_f64(&arm, &scratch, state.q, state.qd, state.tau, qdd));
            TEST_ASSERT_EQUAL_INT(DYN_OK,
                                  dyn_aba_forward_f32(&arm_f32, &scratch_f32, f.q, f.qd, f.tau, x));
            const double force = fmax(forward_largest(model.n, bias), 10);
            const double within = forward_error_f32(model.n, M, force, qdd);
            for (uint32_t i = 0; i < model.n; i++) {
                const double off = fabs((double)x[i] - qdd[i]);
                TEST_ASSERT_TRUE(off <= within);
                worst = fmax(worst, off / within);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(model.n, qdd));
            }
        }
    }
    harness_note_number("aba f32: worst part of the bound, 1e-6", (int64_t)(worst * 1e6));
    harness_note_number("aba f32: puma560, relative, 1e-9", (int64_t)(puma * 1e9));
}

/*
 * Units and bounds are those of the inertia matrix, see test/support/dyn/dyn_forward.h. In `aba`,
 * too, a frame change truncates a body or a load about 16 times, and projecting a joint takes the
 * place of a step of the factorisation.
 */
static void test_q31_against_f64(void) {
    dyn_arms_random_t seed = {362436069u};
    static forward_q31_t raw;
    static int32_t x[DYN_MAX_JOINTS];
    static double error[DYN_MAX_JOINTS];
    double worst = 0, puma = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        if (model.n > FORWARD_JOINTS)
            continue;
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        for (int t = 0; t < FORWARD_STATES; t++) {
            forward_random(&model, &seed, &state);
            forward_to_q31(&model, &units, &state, &raw);
            find_matrix(state.q);
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, dyn_aba_forward_f64(&arm, &scratch, state.q, state.qd, state.tau, qdd));
            TEST_ASSERT_EQUAL_INT(
                DYN_OK, dyn_aba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, x));
            forward_error_q31(&model, &units, M, qdd, error);
            for (uint32_t i = 0; i < model.n; i++) {
                const int e = dyn_q31_exponents(&model, &units, i).acceleration;
                const double off = fabs(dyn_q31_to(x[i], e) - qdd[i]);
                TEST_ASSERT_TRUE(off <= error[i]);
                worst = fmax(worst, off / error[i]);
                if (k == DYN_ARMS_PUMA)
                    puma = fmax(puma, off / forward_largest(model.n, qdd));
            }
        }
    }
    harness_note_number("aba q31: worst part of the bound, 1e-6", (int64_t)(worst * 1e6));
    harness_note_number("aba q31: puma560, relative, 1e-9", (int64_t)(puma * 1e9));
}

#ifndef __arm__
static void test_reference_values(void) {
    const reference_arm_t *arms;
    const uint32_t count = reference_read(&arms);
    uint32_t checked = 0;
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    for (uint32_t k = 0; k < count; k++) {
        model = arms[k].model;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
        for (uint32_t t = 0; t < arms[k].states; t++) {
            const reference_state_t *s = &arms[k].state[t];
            if (!s->has_tau)
                continue;
            check_forward(s->q, s->qd, s->fd_tau, s->fd_qdd);
            checked++;
        }
    }
    TEST_ASSERT_TRUE(checked > 300);
}

static void test_counts_for_revolute_arms(void) {
    static dyn_source_t source;
    static dyn_arm_count_t arm_count;
    static dyn_aba_scratch_count_t scratch_count;
    static dyn_real_count_t in[3][DYN_MAX_JOINTS], x[DYN_MAX_JOINTS];
    for (int n = 3; n <= 30; n++) {
        source = (dyn_source_t){.convention = DYN_CONVENTION_MDH, .n = (uint32_t)n};
        for (int i = 0; i < n; i++) {
            source.joint[i].alpha = 0.3;
            source.joint[i].a = 0.4;
            source.joint[i].d = 0.1;
            source.joint[i].link = (dyn_body_t){1, {0.1, 0.2, 0.3}, {1, 1, 1, 0.1, 0.1, 0.1}};
            for (int r = 0; r < 3; r++)
                in[r][i] = count_input(0.1);
        }
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm_count));
        count_begin();
        TEST_ASSERT_EQUAL_INT(
            DYN_OK, dyn_aba_forward_count(&arm_count, &scratch_count, in[0], in[1], in[2], x));
        const count_ops_t ops = count_all();
        TEST_ASSERT_EQUAL_INT(248 * n - 260, ops.mul);
        TEST_ASSERT_EQUAL_INT(222 * n - 231, ops.add);
        TEST_ASSERT_EQUAL_INT(n, ops.div);
        TEST_ASSERT_EQUAL_INT(0, ops.sqrt);
        /* Limits: the counts of Featherstone's method in table 4 of paper 000. */
        if (n == 6) {
            TEST_ASSERT_TRUE(ops.mul <= 1533 && ops.add <= 1415);
        }
    }
}

static double lookup(void *context, int32_t array, int32_t index) {
    const forward_state_t *s = context;
    return array == 0 ? s->q[index] : array == 1 ? s->qd[index] : s->tau[index];
}

static void test_graph_evaluates_to_the_same(void) {
    static dyn_arm_trace_t arm_trace;
    static dyn_aba_scratch_trace_t scratch_trace;
    static dyn_real_trace_t in[3][DYN_MAX_JOINTS], x[DYN_MAX_JOINTS];
    dyn_arms_random_t seed = {5};
    double traced[6];
    graph_t *graph = graph_new();
    trace_use(graph);
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &arm_trace));
    for (int32_t i = 0; i < 6; i++) {
        in[0][i] = trace_input(0, i);
        in[1][i] = trace_input(1, i);
        in[2][i] = trace_input(2, i);
    }
    TEST_ASSERT_EQUAL_INT(
        DYN_OK, dyn_aba_forward_trace(&arm_trace, &scratch_trace, in[0], in[1], in[2], x));
    for (int t = 0; t < 10; t++) {
        forward_random(&model, &seed, &state);
        TEST_ASSERT_EQUAL_INT(
            DYN_OK, dyn_aba_forward_f64(&arm, &scratch, state.q, state.qd, state.tau, qdd));
        trace_values(graph, lookup, &state, x, 6, traced);
        for (uint32_t i = 0; i < 6; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + forward_largest(6, qdd)), qdd[i], traced[i]);
    }
    graph_free(graph);
}

/* With the checked q31 numbers nothing overflows in these units, and the results are the same
 * bits. */
static void test_checked_q31(void) {
    static dyn_arm_check_t arm_check;
    static dyn_aba_scratch_check_t scratch_check;
    static int32_t checked[DYN_MAX_JOINTS], x[DYN_MAX_JOINTS];
    static forward_q31_t raw;
    dyn_arms_random_t seed = {17};
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_units_t units = {0};
        load(k);
        forward_units(&model, &units);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
        check_begin(false);
        for (int t = 0; t < 1000; t++) {
            forward_random(&model, &seed, &state);
            forward_to_q31(&model, &units, &state, &raw);
            dyn_aba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, x);
            dyn_aba_forward_check(&arm_check, &scratch_check, raw.q, raw.qd, raw.tau, checked);
            TEST_ASSERT_EQUAL_INT32_ARRAY(x, checked, model.n);
        }
        TEST_ASSERT_EQUAL_INT(0, check_overflows());
    }
}
#else
static void test_same_instructions_for_every_state(void) {
    dyn_arms_random_t seed = {12345};
    dyn_units_t units = {0};
    static forward_f32_t f;
    static forward_q31_t raw;
    int32_t x[6];
    float xf[6];
    cost_t q31 = COST_NONE, f32 = q31;
    load(DYN_ARMS_PUMA);
    forward_units(&model, &units);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    for (int t = 0; t < 100; t++) {
        forward_random(&model, &seed, &state);
        forward_to_q31(&model, &units, &state, &raw);
        forward_to_f32(&model, &state, &f);
        uint32_t start = cycles_now();
        dyn_aba_forward_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.tau, x);
        cost_see(&q31, start, cycles_now());
        start = cycles_now();
        dyn_aba_forward_f32(&arm_f32, &scratch_f32, f.q, f.qd, f.tau, xf);
        cost_see(&f32, start, cycles_now());
    }
    cost_print("instructions of aba_forward q31, puma560", q31);
#ifdef __ARM_FP
    cost_print("instructions of aba_forward f32, puma560", f32);
#endif
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_forward_undoes_inverse)
    TEST(test_every_mix_of_joint_types)
    TEST(test_massless_end_is_reported)
    TEST(test_f32_against_f64)
    TEST(test_q31_against_f64)
#ifndef __arm__
    TEST(test_reference_values)
    TEST(test_counts_for_revolute_arms)
    TEST(test_graph_evaluates_to_the_same)
    TEST(test_checked_q31)
#else
    TEST(test_same_instructions_for_every_state)
#endif
TEST_LIST_END
// clang-format on

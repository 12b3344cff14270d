/* Compares `ne` in double with the independent reference values, in all three input conventions. */
#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"

#include <math.h>

#ifndef __arm__
#include "test/support/dyn/golden.h"

#include <stdlib.h>
#include <string.h>
#endif

static dyn_source_t source;
static dyn_model_t model;
static dyn_arm_f64_t arm;
static dyn_ne_scratch_f64_t scratch;

/* The largest error so far, relative to 1 + largest torque. */
static double worst;

/* The reference values state this tolerance: 1e-10 (1 + largest torque). */
static void expect_torques(const double *expected, const double *tau, uint32_t n) {
    double largest = 0;
    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (uint32_t i = 0; i < n; i++) {
        worst = fmax(worst, fabs(tau[i] - expected[i]) / (1 + largest));
        TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), expected[i], tau[i]);
    }
}

static void check_arm(uint32_t k) {
    static double tau[DYN_MAX_JOINTS];
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm));
    for (uint32_t s = 0; s < dyn_arms_states(k); s++) {
        const dyn_arms_state_t state = dyn_arms_state(k, s);
        dyn_ne_inverse_f64(&arm, &scratch, state.q, state.qd, state.qdd, tau);
        expect_torques(state.tau, tau, model.n);
    }
}

static void test_puma560(void) {
    TEST_ASSERT_EQUAL_UINT(71, dyn_arms_states(DYN_ARMS_PUMA));
    check_arm(DYN_ARMS_PUMA);
}

static void test_random_chains_of_every_convention(void) {
    uint32_t of[3] = {0, 0, 0}, longest = 0;
    for (uint32_t k = 1; k < dyn_arms_count(); k++) {
        dyn_arms_source(k, &source);
        of[source.convention]++;
        if (source.n > longest)
            longest = source.n;
        check_arm(k);
    }
    TEST_ASSERT_EQUAL_UINT(30, longest);
    TEST_ASSERT_EQUAL_UINT(20, of[0] + of[1] + of[2]);
    for (int c = 0; c < 3; c++)
        TEST_ASSERT_GREATER_THAN_UINT(4, of[c]);
    harness_measured("dyn.golden_worst", "%.1e", worst);
}

/* A payload has the effect of a heavier last link in every convention, and prepare_payload can
 * change it without preparing the rest. */
static void test_payload_is_part_of_the_last_link(void) {
    static dyn_model_t heavy;
    static dyn_arm_f64_t changed;
    const dyn_body_t load = {2.5, {0.1, -0.2, 0.3}, {0.02, 0.03, 0.04, 0.001, -0.002, 0.003}};
    static double tau[2][DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        dyn_arms_source(k, &source);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &changed));
        source.payload = load;
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f64(&model, NULL, &changed));

        dyn_source_joint_t *last = &source.joint[source.n - 1];
        const double nowhere[3] = {0, 0, 0};
        dyn_pose_t axes = dyn_pose_rpy(nowhere, last->inertia_rpy);
        dyn_body_t body = last->link;
        for (int i = 0; i < 3; i++)
            body.com[i] = 0;
        body = dyn_body_move(&body, &axes);
        for (int i = 0; i < 3; i++) {
            body.com[i] = last->link.com[i];
            last->inertia_rpy[i] = 0;
        }
        last->link = dyn_body_join(&body, &load);
        source.payload = (dyn_body_t){0};
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_convert(&source, DYN_PARALLEL_DEFAULT, &heavy, NULL));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&heavy, NULL, &arm));

        const dyn_arms_state_t state = dyn_arms_state(k, 0);
        dyn_ne_inverse_f64(&arm, &scratch, state.q, state.qd, state.qdd, tau[0]);
        dyn_ne_inverse_f64(&changed, &scratch, state.q, state.qd, state.qdd, tau[1]);
        expect_torques(tau[0], tau[1], model.n);
    }
}

/* In tau = M qdd + c + g the torque is affine in the acceleration. The test finds M column by
 * column and checks that it is symmetric. */
static void test_torque_is_affine_in_the_acceleration(void) {
    static double bias[DYN_MAX_JOINTS], unit[DYN_MAX_JOINTS], M[8][8], tau[DYN_MAX_JOINTS], sum[8];
    static const double zero[DYN_MAX_JOINTS];
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        const uint32_t n = dyn_arms_joints(k);
        if (n > 8)
            continue;
        const dyn_arms_state_t state = dyn_arms_state(k, 0);
        dyn_arms_model(k, &model);
        dyn_prepare_f64(&model, NULL, &arm);
        dyn_ne_inverse_f64(&arm, &scratch, state.q, state.qd, zero, bias);
        for (uint32_t i = 0; i < n; i++)
            sum[i] = bias[i];
        for (uint32_t c = 0; c < n; c++) {
            unit[c] = 1;
            dyn_ne_inverse_f64(&arm, &scratch, state.q, state.qd, unit, tau);
            unit[c] = 0;
            for (uint32_t i = 0; i < n; i++) {
                M[i][c] = tau[i] - bias[i];
                sum[i] += M[i][c] * state.qdd[c];
            }
        }
        expect_torques(state.tau, sum, n);
        for (uint32_t r = 0; r < n; r++)
            for (uint32_t c = 0; c < r; c++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + fabs(bias[r]) + M[r][r]), M[r][c], M[c][r]);
    }
}

#ifndef __arm__
static bool near_zero(double x) {
    return fabs(x) < 1e-12;
}

/* The compiled-in data equal the reference files if these exist. */
static void test_carried_data_are_the_reference(void) {
    golden_arm_t *golden;
    const uint32_t count = golden_read(&golden);
    if (count == 0)
        TEST_IGNORE_MESSAGE("no ../shared/golden; set GOLDEN to its folder");
    TEST_ASSERT_EQUAL_UINT(count, dyn_arms_count());
    for (uint32_t k = 0; k < count; k++) {
        const golden_arm_t *g = &golden[k];
        dyn_arms_source(k, &source);
        TEST_ASSERT_EQUAL_STRING(g->name, dyn_arms_name(k));
        TEST_ASSERT_EQUAL_UINT(g->source.n, source.n);
        TEST_ASSERT_EQUAL_UINT(g->states, dyn_arms_states(k));
        dyn_convert(&source, DYN_PARALLEL_DEFAULT, &model, NULL);
        for (uint32_t i = 0; i < source.n; i++) {
            const dyn_source_joint_t *a = &g->source.joint[i], *b = &source.joint[i];
            TEST_ASSERT_EQUAL_MEMORY(&a->link, &b->link, sizeof a->link);
            TEST_ASSERT_EQUAL_MEMORY(&a->xyz, &b->xyz, sizeof a->xyz);
            TEST_ASSERT_TRUE(a->theta == b->theta && a->alpha == b->alpha && a->a == b->a);
            TEST_ASSERT_TRUE(near_zero(dyn_model_rotor(&model.joint[i]) - g->rotor[i]));
        }
        for (uint32_t s = 0; s < g->states; s++) {
            const dyn_arms_state_t state = dyn_arms_state(k, s);
            const size_t bytes = source.n * sizeof(double);
            TEST_ASSERT_EQUAL_MEMORY(g->state[s].q, state.q, bytes);
            TEST_ASSERT_EQUAL_MEMORY(g->state[s].qd, state.qd, bytes);
            TEST_ASSERT_EQUAL_MEMORY(g->state[s].qdd, state.qdd, bytes);
            TEST_ASSERT_EQUAL_MEMORY(g->state[s].tau, state.tau, bytes);
        }
    }
    free(golden);
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_puma560)
    TEST(test_random_chains_of_every_convention)
    TEST(test_payload_is_part_of_the_last_link)
    TEST(test_torque_is_affine_in_the_acceleration)
#ifndef __arm__
    TEST(test_carried_data_are_the_reference)
#endif
TEST_LIST_END
// clang-format on

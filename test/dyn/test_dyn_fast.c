/* Tests the kernels of the method `fast`, which use base inertial parameters. */
#define METHOD         fast
#define METHOD_STATUS  fast_status
#define RANGE_KERNEL   range_fast
#define SMALLEST_PIVOT 0x1p-20 /* as in dyn/kernel/fast_solve.inc, q31 */
#define HASH_FORWARD   1
#define HASH_F32       0xA8FFDB63u
#define HASH_Q31       0xD197B46Du
#ifdef __ARM_FP
#include <stdint.h>
/* Limits for inverse, mass and forward, in instructions on the Cortex-M4F. */
static const uint32_t limit_f32[3] = {1200, 1100, 2400};
#endif
#include "test/support/dyn/dyn_method.inc"

#include "dyn/model/pseudo_inertia.h"

/* `fast_gravity` is the bias at rest. */
static void test_gravity(void) {
    dyn_arms_random_t seed = {123456789u};
    double q[DYN_MAX_JOINTS];
    for (uint32_t n = 1; n <= 5; n++)
        for (uint32_t mix = 0; mix < 1u << n; mix++) {
            random_arm(&seed, n, mix);
            prepare();
            for (uint32_t i = 0; i < n; i++)
                q[i] = uniform(&seed, 3);
            dyn_ne_inverse_f64(&arm, &ne, q, zero, zero, expected);
            dyn_fast_gravity_f64(&arm, &scratch.own, q, tau);
            expect_near(expected, tau, n);
        }
}

/*
 * Regrouping removes mass, m z and Jzz of a revolute link and the tensor of a prismatic one. A
 * revolute link keeps 7 numbers, the first link 3 (l.x, l.y and Jxx + Jyy). All other tests show
 * that the torques stay the same.
 */
static void test_regrouped_links_have_base_parameters(void) {
    dyn_arms_random_t seed = {77777u};
    random_arm(&seed, 7, 0x24);
    prepare();
    for (uint32_t i = 0; i < 7; i++) {
        const dyn_fast_body_f64_t *b = &arm.joint[i].fast;
        if (model.joint[i].type == DYN_REVOLUTE) {
            TEST_ASSERT_TRUE(b->m == 0 && b->l.z == 0 && b->J.zz == 0);
            TEST_ASSERT_TRUE(b->J.xx != 0);
        } else {
            TEST_ASSERT_TRUE(b->m != 0 && b->l.z != 0);
            TEST_ASSERT_TRUE(b->J.xx == 0 && b->J.yy == 0 && b->J.zz == 0);
            TEST_ASSERT_TRUE(b->J.xy == 0 && b->J.yz == 0 && b->J.xz == 0);
        }
        TEST_ASSERT_EQUAL_INT(i <= 5, b->heavy);
    }
    TEST_ASSERT_EQUAL_UINT32(1, arm.mixed);
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_UINT32(0, arm.mixed);
}

/* Moving a 4x4 pseudo-inertia gives the same mass, first moment and inertia as moving the body. */
static void test_pseudo_inertia_moves_like_a_body(void) {
    dyn_arms_random_t seed = {424242u};
    for (int t = 0; t < 20; t++) {
        const dyn_body_t body = random_body(&seed);
        const double xyz[3] = {uniform(&seed, 1), uniform(&seed, 1), uniform(&seed, 1)};
        const double rpy[3] = {uniform(&seed, 3), uniform(&seed, 3), uniform(&seed, 3)};
        const dyn_pose_t pose = dyn_pose_rpy(xyz, rpy);
        const dyn_body_t moved = dyn_body_move(&body, &pose);
        const dyn_pseudo_t pseudo = dyn_pseudo_body(&body), other = dyn_pseudo_body(&moved);
        dyn_pseudo_t sum = {0};
        dyn_pseudo_add(&sum, &pseudo, &pose);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++)
                TEST_ASSERT_DOUBLE_WITHIN(1e-14, other.p[i][k], sum.p[i][k]);
    }
}

#ifndef __arm__
/* Multiplications and additions are limited to 84n - 85 and 72n - 84 for inverse dynamics, and at n
 * = 6 to 376 and 319 for the inertia matrix and 880 and 732 for forward dynamics. They must also
 * equal the counts that the headers state. */
static void test_operation_counts(void) {
    count_state_t s;
    for (uint32_t n = 3; n <= 30; n++) {
        const long k = (long)n;
        revolute_chain(n);
        count_state(zero, zero, zero, &s);
        count_ops_t ops = count_inverse(&s);
        TEST_ASSERT_EQUAL_INT(81 * k - 96, ops.mul);
        TEST_ASSERT_EQUAL_INT(69 * k - 89, ops.add);
        TEST_ASSERT_TRUE(ops.mul <= 84 * k - 85 && ops.add <= 72 * k - 84);
        TEST_ASSERT_EQUAL_INT(n, ops.sincos);
        TEST_ASSERT_EQUAL_INT(0, ops.div + ops.sqrt);
        ops = count_bias(&s);
        TEST_ASSERT_EQUAL_INT(81 * k - 102, ops.mul);
        TEST_ASSERT_EQUAL_INT(68 * k - 94, ops.add);
        count_begin();
        dyn_fast_gravity_count(&arm_count, &scratch_count.own, s.q, counted);
        ops = count_all();
        TEST_ASSERT_EQUAL_INT(20 * k - 18, ops.mul);
        TEST_ASSERT_EQUAL_INT(12 * k - 13, ops.add);
        ops = count_mass(&s);
        TEST_ASSERT_EQUAL_INT(10 * k * k + 5 * k - 32, ops.mul);
        TEST_ASSERT_EQUAL_INT(6 * k * k + 22 * k - 47, ops.add);
        TEST_ASSERT_EQUAL_INT(n - 1, ops.sincos);
        TEST_ASSERT_TRUE(n != 6 || (ops.mul <= 376 && ops.add <= 319));
        ops = count_forward(&s);
        TEST_ASSERT_EQUAL_INT((k * k * k + 69 * k * k + 518 * k) / 6 - 134, ops.mul);
        TEST_ASSERT_EQUAL_INT((k * k * k + 42 * k * k + 539 * k) / 6 - 141, ops.add);
        TEST_ASSERT_EQUAL_INT(n, ops.div);
        TEST_ASSERT_EQUAL_INT(0, ops.sqrt);
        TEST_ASSERT_EQUAL_INT(n, ops.sincos);
        if (n != 6)
            continue;
        harness_note_number("fast n=6 forward: multiplications", ops.mul);
        harness_note_number("fast n=6 forward: additions", ops.add);
        TEST_ASSERT_TRUE(ops.mul <= 880 && ops.add <= 732);
    }
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_carried_reference_values)
    TEST(test_every_mix_of_joints)
    TEST(test_longest_arm)
    TEST(test_gravity)
    TEST(test_regrouped_links_have_base_parameters)
    TEST(test_pseudo_inertia_moves_like_a_body)
    TEST(test_payload_can_change_alone)
    TEST(test_failed_pivot_is_reported)
    TEST(test_singular_matrix_is_reported)
    TEST(test_f32_against_f64)
    TEST(test_q31_against_f64)
    TEST(test_bits_are_the_same_everywhere)
#ifdef __arm__
    TEST(test_q31_takes_the_same_instructions_for_every_state)
#ifdef __ARM_FP
    TEST(test_f32_takes_the_same_instructions_for_every_state)
#endif
#else
    TEST(test_all_reference_values)
    TEST(test_operation_counts)
    TEST(test_counting_computes_the_same)
    TEST(test_graph_evaluates_to_the_same)
    TEST(test_range_bounds_and_guarantees)
    TEST(test_constants_that_do_not_fit_are_reported)
#endif
TEST_LIST_END
// clang-format on

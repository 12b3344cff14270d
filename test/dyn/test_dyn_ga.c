/* Tests the kernels of the method `ga`, which is that of paper 000. */
#define METHOD         ga
#define METHOD_STATUS  ga_status
#define RANGE_KERNEL   range_ga
#define SMALLEST_PIVOT (1.0 / 64) /* as in dyn/kernel/solve.c, Cholesky in q31 */
#define HASH_FORWARD   0
#define HASH_F32       0x2C32128Eu
#define HASH_Q31       0x913D96CAu
#ifdef __ARM_FP
#include <stdint.h>
/* Limits for inverse, mass and forward, in instructions: the measured counts plus a margin, so that
 * a slower kernel is noticed. */
static const uint32_t limit_f32[3] = {1650, 1650, 4400};
#endif
#include "test/support/dyn/dyn_method.inc"

#ifndef __arm__
/* Limits are the counts in tables 1, 2 and 3 of the paper. The counts must also equal those that
 * the headers of the kernels state. */
static void test_operation_counts(void) {
    count_state_t s;
    for (uint32_t n = 3; n <= 30; n++) {
        const long k = (long)n;
        revolute_chain(n);
        count_state(zero, zero, zero, &s);
        count_ops_t ops = count_inverse(&s);
        TEST_ASSERT_EQUAL_INT(94 * k - 101, ops.mul);
        TEST_ASSERT_EQUAL_INT(82 * k - 96, ops.add);
        TEST_ASSERT_TRUE(ops.mul <= 96 * k - 101 && ops.add <= 84 * k - 100);
        TEST_ASSERT_EQUAL_INT(n, ops.sincos);
        TEST_ASSERT_EQUAL_INT(0, ops.div + ops.sqrt);
        ops = count_bias(&s);
        TEST_ASSERT_EQUAL_INT(94 * k - 111, ops.mul);
        TEST_ASSERT_EQUAL_INT(81 * k - 105, ops.add);
        TEST_ASSERT_TRUE(ops.mul <= 96 * k - 108 && ops.add <= 83 * k - 105);
        ops = count_mass(&s);
        TEST_ASSERT_EQUAL_INT((23 * k * k + 13 * k - 64) / 2, ops.mul);
        TEST_ASSERT_EQUAL_INT(8 * k * k + 22 * k - 50, ops.add);
        TEST_ASSERT_TRUE(2 * ops.mul <= 23 * k * k + 39 * k - 98);
        TEST_ASSERT_TRUE(2 * ops.add <= 17 * k * k + 63 * k - 138);
        ops = count_forward(&s);
        TEST_ASSERT_EQUAL_INT((k * k * k + 72 * k * k + 737 * k) / 6 - 183, ops.mul);
        TEST_ASSERT_EQUAL_INT((k * k * k + 45 * k * k + 722 * k) / 6 - 190, ops.add);
        TEST_ASSERT_EQUAL_INT(n, ops.div);
        if (n != 6)
            continue;
        harness_note_number("ga n=6 forward: multiplications", ops.mul);
        harness_note_number("ga n=6 forward: additions", ops.add);
        TEST_ASSERT_TRUE(ops.mul <= 1042 && ops.add <= 905);
    }
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_carried_reference_values)
    TEST(test_every_mix_of_joints)
    TEST(test_longest_arm)
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

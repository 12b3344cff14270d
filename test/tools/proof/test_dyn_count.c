/* Tests the operation counts of `ne`: runs the kernel with the backend `count`, whose numbers
 * record every operation. */
#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"
#include "tools/proof/count.h"

#include <math.h>

static dyn_model_t model;
static dyn_arm_count_t arm;
static dyn_ne_scratch_count_t scratch;
static dyn_real_count_t tau[DYN_MAX_JOINTS];

static void run_ne(const double *q, const double *qd, const double *qdd) {
    dyn_real_count_t in[3][DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model.n; i++) {
        in[0][i] = count_input(q[i]);
        in[1][i] = count_input(qd[i]);
        in[2][i] = count_input(qdd[i]);
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&model, NULL, &arm));
    count_begin();
    dyn_ne_inverse_count(&arm, &scratch, in[0], in[1], in[2], tau);
}

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
}

/* Luh, Walker and Paul published 150n - 48 multiplications and 131n - 48 additions. The header of
 * dyn/paper/ne.c states our counts. */
static void test_ne_counts_for_revolute_arms(void) {
    const double one[DYN_MAX_JOINTS] = {0};
    for (uint32_t n = 2; n <= 30; n++) {
        revolute_chain(n);
        run_ne(one, one, one);
        const count_ops_t ops = count_all();
        TEST_ASSERT_EQUAL_INT(111 * (int)n - 96, ops.mul);
        TEST_ASSERT_EQUAL_INT(84 * (int)n - 87, ops.add);
        TEST_ASSERT_EQUAL_INT(n, ops.sincos);
        TEST_ASSERT_EQUAL_INT(0, ops.div + ops.sqrt);
        TEST_ASSERT_TRUE(ops.mul <= 150 * (int)n - 48 && ops.add <= 131 * (int)n - 48);
        if (n == 6) {
            harness_note_number("ne n=6 multiplications", ops.mul);
            harness_note_number("ne n=6 additions", ops.add);
        }
    }
}

/* The counting kernel still computes the torques of the reference, so it leaves nothing out. */
static void test_counting_computes_the_same(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        const dyn_arms_state_t state = dyn_arms_state(k, 0);
        double largest = 0;
        dyn_arms_model(k, &model);
        run_ne(state.q, state.qd, state.qdd);
        for (uint32_t i = 0; i < model.n; i++)
            largest = fmax(largest, fabs(state.tau[i]));
        for (uint32_t i = 0; i < model.n; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-10 * (1 + largest), state.tau[i], tau[i].v);
    }
}

/* The count does not depend on the numbers of the robot: a product with a zero counts, too. */
static void test_counts_are_for_any_robot(void) {
    const double zero[DYN_MAX_JOINTS] = {0};
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    run_ne(zero, zero, zero);
    TEST_ASSERT_EQUAL_INT(570, count_all().mul);
    TEST_ASSERT_EQUAL_INT(417, count_all().add);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_ne_counts_for_revolute_arms)
    TEST(test_counting_computes_the_same)
    TEST(test_counts_are_for_any_robot)
TEST_LIST_END
// clang-format on

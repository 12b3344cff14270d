/*
 * Tests the graph of the code generator: kernels traced into a graph, the expressions that become
 * one node, and the annealer, which may change everything except the values.
 * test/tools/gen/test_gen.py tests the generated C.
 */
#include "dyn/number/f64.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"
#include "tools/gen/trace.h"
#include "tools/gen/anneal.h"

#include <math.h>
#include <stdlib.h>

enum { ARRAY_Q, ARRAY_QD, ARRAY_QDD };

static dyn_model_t model;
static dyn_arm_trace_t arm;
static dyn_ne_scratch_trace_t scratch;
static dyn_arm_f64_t arm_f64;
static dyn_ne_scratch_f64_t scratch_f64;
static dyn_arms_random_t seed = {2463534242u};

static graph_t *trace_arm(uint32_t k) {
    static dyn_real_trace_t in[3][DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    graph_t *graph = graph_new();
    trace_use(graph);
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &arm));
    for (int array = 0; array < 3; array++)
        for (uint32_t i = 0; i < model.n; i++)
            in[array][i] = trace_input(array, (int32_t)i);
    dyn_ne_inverse_trace(&arm, &scratch, in[0], in[1], in[2], tau);
    trace_results(tau, model.n);
    graph_sweep(graph);
    return graph;
}

typedef struct {
    double x[3][DYN_MAX_JOINTS];
} state_t;

static void random_state(state_t *s) {
    static const double size[3] = {3, 3, 10};
    for (int array = 0; array < 3; array++)
        for (uint32_t i = 0; i < DYN_MAX_JOINTS; i++)
            s->x[array][i] = size[array] * dyn_arms_uniform(&seed);
}

static double lookup(void *context, int32_t array, int32_t index) {
    return ((const state_t *)context)->x[array][index];
}

static void results_of(const graph_t *g, state_t *s, uint32_t n, double *out) {
    TEST_ASSERT_EQUAL_INT(n, graph_outputs(g));
    double *value = malloc((size_t)graph_size(g) * sizeof *value);
    TEST_ASSERT_NOT_NULL(value);
    graph_eval(g, lookup, s, value);
    for (uint32_t i = 0; i < n; i++) {
        const ref_t r = graph_result(g, (int)i);
        out[i] = r & 1 ? -value[r >> 1] : value[r >> 1];
    }
    free(value);
}

/* The tolerance 1e-12 allows a few thousand roundings of 1.1e-16 in values up to a few times the
 * largest torque. */
static void expect_torques(const graph_t *g) {
    const uint32_t n = model.n;
    for (int t = 0; t < 10; t++) {
        static state_t s;
        double exact[DYN_MAX_JOINTS], traced[DYN_MAX_JOINTS], largest = 0;
        random_state(&s);
        dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.x[0], s.x[1], s.x[2], exact);
        results_of(g, &s, n, traced);
        for (uint32_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(exact[i]));
        for (uint32_t i = 0; i < n; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest), exact[i], traced[i]);
    }
}

static void test_graph_evaluates_to_the_same_torques(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        graph_t *graph = trace_arm(k);
        expect_torques(graph);
        graph_free(graph);
    }
}

/* Constants of the robot are folded and products with zero vanish, so the graph has fewer than half
 * of the operations of the general kernel. */
static void test_graph_is_smaller_than_the_kernel(void) {
    graph_t *graph = trace_arm(DYN_ARMS_PUMA);
    const graph_ops_t ops = graph_count(graph);
    harness_note_number("puma560, plain trace of ne: multiplications", ops.mul);
    harness_note_number("puma560, plain trace of ne: additions", ops.add);
    harness_measured("dyn.trace_ne", "%d + %d", (int)ops.mul, (int)ops.add);
    TEST_ASSERT_TRUE(ops.mul < 570 / 2 && ops.add < 417 / 2);
    /* The first axis is parallel to gravity, so no torque depends on the first angle. */
    TEST_ASSERT_EQUAL_INT(5, ops.sincos);
    graph_free(graph);
}

static void test_equal_expressions_are_one_node(void) {
    graph_t *g = graph_new();
    const ref_t a = graph_input(g, ARRAY_Q, 0), b = graph_input(g, ARRAY_Q, 1),
                zero = graph_const(g, 0);
    const ref_t ab = graph_mul(g, a, b), d = graph_sub(g, a, b), na = graph_neg(a);
    TEST_ASSERT_EQUAL_INT(ab, graph_mul(g, b, a));
    TEST_ASSERT_EQUAL_INT(graph_add(g, a, b), graph_add(g, b, a));
    TEST_ASSERT_EQUAL_INT(graph_neg(d), graph_sub(g, b, a));
    TEST_ASSERT_EQUAL_INT(zero, graph_sub(g, ab, ab));
    TEST_ASSERT_EQUAL_INT(zero, graph_mul(g, ab, zero));
    TEST_ASSERT_EQUAL_INT(a, graph_add(g, a, zero));
    TEST_ASSERT_EQUAL_INT(a, graph_mul(g, a, graph_const(g, 1)));
    TEST_ASSERT_EQUAL_INT(na, graph_mul(g, a, graph_const(g, -1)));
    TEST_ASSERT_EQUAL_INT(ab, graph_mul(g, na, graph_neg(b)));
    TEST_ASSERT_EQUAL_INT(a, graph_sub(g, graph_add(g, a, b), b));
    TEST_ASSERT_EQUAL_INT(graph_const(g, 6), graph_mul(g, graph_const(g, 2), graph_const(g, 3)));
    TEST_ASSERT_EQUAL_INT(
        graph_mul(g, graph_const(g, 5), a),
        graph_add(g, graph_mul(g, graph_const(g, 2), a), graph_mul(g, graph_const(g, 3), a)));
    TEST_ASSERT_EQUAL_INT(graph_mul(g, graph_const(g, 6), a),
                          graph_mul(g, graph_const(g, 2), graph_mul(g, a, graph_const(g, 3))));
    /* Constants that differ only by rounding become one node. */
    TEST_ASSERT_EQUAL_INT(graph_const(g, 0.3), graph_const(g, 0.1 + 0.2));
    TEST_ASSERT_TRUE(graph_const(g, 0.3) != graph_const(g, 0.3 + 1e-12));
    graph_free(g);
}

static void test_quarter_turns_and_sums_of_angles(void) {
    graph_t *g = graph_new();
    const ref_t a = graph_input(g, ARRAY_Q, 0), b = graph_input(g, ARRAY_Q, 1);
    const double quarter = 1.5707963267948966;
    ref_t c, s, c2, s2;
    graph_sincos(g, a, &c, &s);
    graph_sincos(g, graph_angle(g, a, GRAPH_NONE, quarter), &c2, &s2);
    TEST_ASSERT_EQUAL_INT(c, s2);
    TEST_ASSERT_EQUAL_INT(graph_neg(s), c2);
    graph_sincos(g, graph_angle(g, a, GRAPH_NONE, -2 * quarter), &c2, &s2);
    TEST_ASSERT_EQUAL_INT(graph_neg(c), c2);
    TEST_ASSERT_EQUAL_INT(graph_neg(s), s2);
    /* The offsets of the two angles are added into one offset. */
    const ref_t sum = graph_angle(g, graph_angle(g, a, GRAPH_NONE, 0.25), b, 0.5);
    TEST_ASSERT_EQUAL_INT(graph_angle(g, a, b, 0.75), sum);
    graph_output(g, sum);
    state_t state = {{{0.125, 1}}};
    double value;
    results_of(g, &state, 1, &value);
    TEST_ASSERT_TRUE(value == 0.125 + 1 + 0.75);
    graph_free(g);
}

/* 40000 terms make the table of the graph grow several times. */
static void test_a_large_graph_keeps_its_nodes(void) {
    graph_t *g = graph_new();
    const ref_t x = graph_input(g, ARRAY_Q, 0), y = graph_input(g, ARRAY_Q, 1);
    ref_t sum = 0, power = y;
    for (int i = 0; i < 40000; i++) {
        sum = graph_add(g, sum, graph_mul(g, graph_const(g, i + 2), i % 2 ? power : x));
        power = i % 1000 == 0 ? graph_mul(g, power, y) : power;
    }
    const int32_t size = graph_size(g);
    for (int i = 0; i < 40000; i += 2)
        graph_mul(g, x, graph_const(g, i + 2));
    TEST_ASSERT_EQUAL_INT(size, graph_size(g));
    graph_output(g, sum);
    state_t s = {{{0.5, 1}}};
    double value;
    results_of(g, &s, 1, &value);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.5 * (20000.0 * 19999 + 40000) + (20000.0 * 19999 + 60000),
                              value);
    graph_free(g);
}

/* Undo restores the graph after any replacement. */
static void test_undo_takes_everything_back(void) {
    graph_t *g = trace_arm(DYN_ARMS_PUMA);
    static state_t s;
    double before[DYN_MAX_JOINTS], after[DYN_MAX_JOINTS];
    random_state(&s);
    results_of(g, &s, model.n, before);
    const graph_ops_t ops = graph_count(g);
    graph_cost_set(g, &anneal_m4f, 4 * graph_size(g));
    const double cost = graph_cost(g);
    for (int32_t id = 2; id < graph_size(g); id++) {
        if (graph_at(g, id)->op != GRAPH_MUL)
            continue;
        graph_try(g);
        graph_replace(g, id, graph_neg(graph_const(g, 1.25)));
        graph_settle(g);
        TEST_ASSERT_TRUE(graph_cost(g) < cost);
        graph_undo(g);
        TEST_ASSERT_TRUE(graph_cost(g) == cost);
    }
    const graph_ops_t again = graph_count(g);
    TEST_ASSERT_EQUAL_INT(ops.mul, again.mul);
    TEST_ASSERT_EQUAL_INT(ops.add, again.add);
    results_of(g, &s, model.n, after);
    for (uint32_t i = 0; i < model.n; i++)
        TEST_ASSERT_TRUE(before[i] == after[i]);
    graph_free(g);
}

static void test_the_annealer_keeps_the_values_and_saves_operations(void) {
    const anneal_t how = {
        .cost = anneal_m4f, .moves = 60000, .seeds = 2, .hot = 0.28, .cold = 0.11};
    for (uint32_t k = 0; k < dyn_arms_count() && k < 6; k++) {
        graph_t *graph = trace_arm(k), *better = anneal_run(graph, &how),
                *again = anneal_run(graph, &how);
        expect_torques(better);
        const double part = k == DYN_ARMS_PUMA ? 0.95 : 1;
        TEST_ASSERT_TRUE(graph_total(better, &anneal_m4f) <=
                         part * graph_total(graph, &anneal_m4f));
        /* The same seed gives the same graph. */
        TEST_ASSERT_EQUAL_INT(graph_size(better), graph_size(again));
        for (int32_t id = 0; id < graph_size(better); id++) {
            TEST_ASSERT_EQUAL_INT(graph_at(better, id)->op, graph_at(again, id)->op);
            TEST_ASSERT_EQUAL_INT(graph_at(better, id)->a, graph_at(again, id)->a);
            TEST_ASSERT_EQUAL_INT(graph_at(better, id)->b, graph_at(again, id)->b);
        }
        graph_free(again);
        graph_free(better);
        graph_free(graph);
    }
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_equal_expressions_are_one_node)
    TEST(test_quarter_turns_and_sums_of_angles)
    TEST(test_a_large_graph_keeps_its_nodes)
    TEST(test_graph_evaluates_to_the_same_torques)
    TEST(test_graph_is_smaller_than_the_kernel)
    TEST(test_undo_takes_everything_back)
    TEST(test_the_annealer_keeps_the_values_and_saves_operations)
TEST_LIST_END
// clang-format on

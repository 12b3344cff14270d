/* The code generator's backend: the graph of `ne`, printed, compiled by the system's compiler, run.
 */
#include "dyn/f32.h"
#include "dyn/f64.h"
#include "test/dyn_arms.h"
#include "test/harness.h"
#include "tools/backend/range.h"
#include "tools/backend/trace.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static dyn_model_t model;
static dyn_arm_trace_t arm;
static dyn_ne_scratch_trace_t scratch;
static dyn_arm_f64_t arm_f64;
static dyn_ne_scratch_f64_t scratch_f64;
static dyn_real_trace_t tau[DYN_MAX_JOINTS];
static dyn_arms_random_t seed = {2463534242u};

static trace_graph_t *trace_arm(uint32_t k) {
    dyn_real_trace_t in[3][DYN_MAX_JOINTS];
    trace_graph_t *graph = trace_new();
    trace_use(graph);
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&model, NULL, &arm));
    for (uint32_t i = 0; i < model.n; i++) {
        in[0][i] = trace_input("q", (int32_t)i);
        in[1][i] = trace_input("qd", (int32_t)i);
        in[2][i] = trace_input("qdd", (int32_t)i);
    }
    dyn_ne_inverse_trace(&arm, &scratch, in[0], in[1], in[2], tau);
    return graph;
}

static const char *const arrays[] = {"q", "qd", "qdd", NULL};

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
} state_t;

static void random_state(state_t *s) {
    for (uint32_t i = 0; i < model.n; i++) {
        s->q[i] = model.joint[i].drive.limits.position[1] * dyn_arms_uniform(&seed);
        s->qd[i] = 3 * dyn_arms_uniform(&seed);
        s->qdd[i] = 10 * dyn_arms_uniform(&seed);
    }
}

static double lookup(void *context, const char *array, int32_t index) {
    const state_t *s = context;
    if (!strcmp(array, "q"))
        return s->q[index];
    return !strcmp(array, "qd") ? s->qd[index] : s->qdd[index];
}

static double largest_of(const double *x) {
    double largest = 0;
    for (uint32_t i = 0; i < model.n; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

static void expect_near(const double *exact, const double *traced) {
    for (uint32_t i = 0; i < model.n; i++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest_of(exact)), exact[i], traced[i]);
}

static void test_graph_evaluates_to_the_same_torques(void) {
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        trace_graph_t *graph = trace_arm(k);
        for (int t = 0; t < 10; t++) {
            static state_t s;
            double exact[DYN_MAX_JOINTS], traced[DYN_MAX_JOINTS];
            random_state(&s);
            dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.q, s.qd, s.qdd, exact);
            trace_eval(graph, lookup, &s, tau, (int)model.n, traced);
            expect_near(exact, traced);
        }
        trace_free(graph);
    }
}

/* Prints all graphs of one number type into a file, compiles it and opens it. */
static void *compile(const char *folder, trace_type_t type, const char *suffix) {
    char path[256], command[1024];
    snprintf(path, sizeof path, "%s/ne_%s.c", folder, suffix);
    FILE *out = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(out);
    fputs("#include <math.h>\n", out);
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        char name[64];
        trace_graph_t *graph = trace_arm(k);
        snprintf(name, sizeof name, "ne_%s", dyn_arms_name(k));
        fprintf(out, "void %s(const %s *, const %s *, const %s *, %s *);\n", name,
                type == TRACE_F32 ? "float" : "double", type == TRACE_F32 ? "float" : "double",
                type == TRACE_F32 ? "float" : "double", type == TRACE_F32 ? "float" : "double");
        trace_print(graph, out, type, name, arrays, "tau", tau, (int)model.n);
        trace_free(graph);
    }
    fclose(out);
    snprintf(
        command, sizeof command,
        "cc -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Wdouble-promotion -Werror -shared -fPIC "
        "%s -lm -o %s/ne_%s.so",
        path, folder, suffix);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), "the generated code does not compile");
    snprintf(path, sizeof path, "%s/ne_%s.so", folder, suffix);
    void *library = dlopen(path, RTLD_NOW);
    TEST_ASSERT_NOT_NULL(library);
    return library;
}

static void make_folder(char *folder, size_t size) {
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, size, "%s/dyn_trace_XXXXXX", tmp ? tmp : "/tmp");
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
}

static void remove_folder(const char *folder) {
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    TEST_ASSERT_EQUAL_INT(0, system(command));
}

static void test_printed_f64_gives_the_same_torques(void) {
    char folder[128], name[64];
    make_folder(folder, sizeof folder);
    void *library = compile(folder, TRACE_F64, "f64");
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        void (*generated)(const double *, const double *, const double *, double *);
        snprintf(name, sizeof name, "ne_%s", dyn_arms_name(k));
        *(void **)&generated = dlsym(library, name);
        TEST_ASSERT_NOT_NULL(generated);
        dyn_arms_model(k, &model);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
        for (int t = 0; t < 100; t++) {
            static state_t s;
            double exact[DYN_MAX_JOINTS], traced[DYN_MAX_JOINTS];
            random_state(&s);
            dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.q, s.qd, s.qdd, exact);
            generated(s.q, s.qd, s.qdd, traced);
            expect_near(exact, traced);
        }
    }
    dlclose(library);
    remove_folder(folder);
}

/*
 * In float each operation of the graph has its counterpart in the kernel, associated in the same
 * way, with constants rounded once instead of at every step, and sinf is better than our table: the
 * bound that range gives for the kernel holds.
 */
static void test_printed_f32_stays_below_the_guarantee(void) {
    static range_report_t report;
    char folder[128], name[64];
    make_folder(folder, sizeof folder);
    void *library = compile(folder, TRACE_F32, "f32");
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        void (*generated)(const float *, const float *, const float *, float *);
        snprintf(name, sizeof name, "ne_%s", dyn_arms_name(k));
        *(void **)&generated = dlsym(library, name);
        TEST_ASSERT_NOT_NULL(generated);
        dyn_arms_model(k, &model);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
        TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_ne, &model, NULL, RANGE_F32, &report));
        for (int t = 0; t < 100; t++) {
            static state_t s;
            double exact[DYN_MAX_JOINTS];
            float q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS],
                traced[DYN_MAX_JOINTS];
            random_state(&s);
            for (uint32_t i = 0; i < model.n; i++) {
                s.q[i] = (double)(q[i] = (float)s.q[i]);
                s.qd[i] = (double)(qd[i] = (float)s.qd[i]);
                s.qdd[i] = (double)(qdd[i] = (float)s.qdd[i]);
            }
            dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.q, s.qd, s.qdd, exact);
            generated(q, qd, qdd, traced);
            for (uint32_t i = 0; i < model.n; i++)
                TEST_ASSERT_TRUE(fabs((double)traced[i] - exact[i]) <= report.tau_error[i]);
        }
    }
    dlclose(library);
    remove_folder(folder);
}

/* Constants of the robot fold and zeros vanish: far fewer operations than the general kernel's. */
static void test_graph_is_smaller_than_the_kernel(void) {
    trace_graph_t *graph = trace_arm(DYN_ARMS_PUMA);
    const trace_ops_t ops = trace_count(graph, tau, (int)model.n);
    harness_note_number("puma560, plain trace of ne: multiplications", ops.mul);
    harness_note_number("puma560, plain trace of ne: additions", ops.add);
    TEST_ASSERT_TRUE(ops.mul < 570 / 2 && ops.add < 417 / 2);
    /* The first sine is of the turn about gravity: no torque depends on it. */
    TEST_ASSERT_EQUAL_INT(10, ops.sincos);
    trace_free(graph);
}

static void test_equal_expressions_are_one_node(void) {
    trace_graph_t *graph = trace_new();
    trace_use(graph);
    dyn_real_trace_t a = trace_input("q", 0), b = trace_input("q", 1), zero = trace_const(0);
    dyn_real_trace_t ab = trace_node(TRACE_MUL, a, b), d = trace_node(TRACE_SUB, a, b);
    dyn_real_trace_t na = trace_node(TRACE_NEG, a, a);
    TEST_ASSERT_EQUAL_INT(ab.id, trace_node(TRACE_MUL, b, a).id);
    TEST_ASSERT_EQUAL_INT(trace_node(TRACE_ADD, a, b).id, trace_node(TRACE_ADD, b, a).id);
    TEST_ASSERT_EQUAL_INT(trace_node(TRACE_NEG, d, d).id, trace_node(TRACE_SUB, b, a).id);
    TEST_ASSERT_EQUAL_INT(d.id, trace_node(TRACE_NEG, trace_node(TRACE_SUB, b, a), a).id);
    TEST_ASSERT_EQUAL_INT(zero.id, trace_node(TRACE_SUB, ab, ab).id);
    TEST_ASSERT_EQUAL_INT(zero.id, trace_node(TRACE_MUL, ab, zero).id);
    TEST_ASSERT_EQUAL_INT(a.id, trace_node(TRACE_ADD, a, zero).id);
    TEST_ASSERT_EQUAL_INT(a.id, trace_node(TRACE_MUL, a, trace_const(1)).id);
    TEST_ASSERT_EQUAL_INT(na.id, trace_node(TRACE_MUL, a, trace_const(-1)).id);
    TEST_ASSERT_EQUAL_INT(ab.id, trace_node(TRACE_MUL, na, trace_node(TRACE_NEG, b, b)).id);
    TEST_ASSERT_EQUAL_INT(d.id, trace_node(TRACE_ADD, a, trace_node(TRACE_NEG, b, b)).id);
    TEST_ASSERT_EQUAL_INT(trace_const(6).id,
                          trace_node(TRACE_MUL, trace_const(2), trace_const(3)).id);
    dyn_real_trace_t c, s, c2, s2;
    trace_sincos(a, zero, &c, &s);
    trace_sincos(a, trace_const(1.5707963267948966), &c2, &s2);
    TEST_ASSERT_EQUAL_INT(c.id, s2.id);
    TEST_ASSERT_EQUAL_INT(trace_node(TRACE_NEG, s, s).id, c2.id);
    trace_free(graph);
}

/* Many nodes, so that the table of the graph grows several times. */
static void test_a_large_graph_keeps_its_nodes(void) {
    trace_graph_t *graph = trace_new();
    trace_use(graph);
    dyn_real_trace_t x = trace_input("q", 0), sum = trace_const(0);
    for (int i = 0; i < 40000; i++)
        sum = trace_node(TRACE_ADD, sum, trace_node(TRACE_MUL, x, trace_const(i + 2)));
    const int32_t size = trace_size(graph);
    for (int i = 0; i < 40000; i++)
        trace_node(TRACE_MUL, x, trace_const(i + 2));
    TEST_ASSERT_EQUAL_INT(size, trace_size(graph));
    state_t s = {.q = {0.5}};
    double value;
    trace_eval(graph, lookup, &s, &sum, 1, &value);
    TEST_ASSERT_TRUE(value == 0.5 * (40000.0 * 39999 / 2 + 80000));
    trace_free(graph);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_equal_expressions_are_one_node)
    TEST(test_a_large_graph_keeps_its_nodes)
    TEST(test_graph_evaluates_to_the_same_torques)
    TEST(test_graph_is_smaller_than_the_kernel)
    TEST(test_printed_f64_gives_the_same_torques)
    TEST(test_printed_f32_stays_below_the_guarantee)
TEST_LIST_END
// clang-format on

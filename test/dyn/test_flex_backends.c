/*
 * Tests the kernels of elastic links with the other number types: operation counts compared with
 * paper 004, float, fixed point with its proof, and straight-line code.
 */
#include <math.h>
#include <stdlib.h>

#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/flex_arms.h"
#include "test/support/harness.h"
#include "tools/proof/check.h"
#include "tools/proof/count.h"
#include "tools/proof/range.h"
#include "tools/gen/trace.h"

enum { SIZE = DYN_FLEX_MAX, PACKED = DYN_FLEX_MAX * (DYN_FLEX_MAX + 1) / 2 };

static flex_arm_t made;

/* --------------------------------------------------------------------------------------- counts */

static struct {
    dyn_arm_count_t arm;
    dyn_flex_count_t flex;
    dyn_flex_scratch_count_t scratch;
    dyn_flex_static_scratch_count_t still;
    dyn_real_count_t in[3][SIZE], out[PACKED];
} counted;

static count_ops_t plus(count_ops_t a, count_ops_t b) {
    return (count_ops_t){a.mul + b.mul, a.add + b.add, a.div + b.div, a.sqrt + b.sqrt,
                         a.sincos + b.sincos};
}

/* Counts steps 1 to 10 of the paper: the right-hand side with the stiffness, and the matrix. */
static count_ops_t count_equations(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_count(&made.model, NULL, &counted.arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK,
                          dyn_prepare_flex_count(&made.model, &made.flex, NULL, &counted.flex));
    for (uint32_t k = 0; k < counted.flex.size; k++)
        for (int i = 0; i < 3; i++)
            counted.in[i][k] = count_input(0.1 * (i + 1));
    count_begin();
    dyn_flex_bias_count(&counted.arm, &counted.flex, &counted.scratch, counted.in[0], counted.in[1],
                        counted.out);
    dyn_flex_strain_count(&counted.flex, counted.in[0], counted.in[1], counted.out);
    const count_ops_t right = count_all();
    count_begin();
    dyn_flex_mass_placed_count(&counted.arm, &counted.flex, &counted.scratch, counted.out);
    return plus(right, count_all());
}

static void note_counts(const char *what, count_ops_t ops) {
    harness_note(what);
    harness_note_number("  multiplications", ops.mul);
    harness_note_number("  additions", ops.add);
}

/*
 * Compares with Table 2 of the paper, its second column corrected by the errata. The paper counts
 * both kinds of modes alike, so m = 2 can be two modes along y, or one along y and one along z.
 */
static void test_counts_are_below_the_papers(void) {
    static const struct {
        uint32_t n, elastic, xy, xz;
        long mul, add;
        const char *measured, *name;
    } cases[] = {
        {3, 2, 2, 0, 2706, 2134, "flex.ops_3_2_2_plane",
         "n = 3, two elastic links, two modes along y"},
        {3, 2, 1, 1, 2706, 2134, "flex.ops_3_2_2", "n = 3, two elastic links, modes along y and z"},
        {6, 6, 2, 0, 19557, 18332, "flex.ops_6_6_2_plane",
         "n = 6, six elastic links, two modes along y"},
        {6, 6, 1, 1, 19557, 18332, "flex.ops_6_6_2",
         "n = 6, six elastic links, modes along y and z"},
        {6, 6, 2, 1, 26508, 26966, "flex.ops_6_6_3", "n = 6, six elastic links, three modes"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        flex_chain(cases[i].n, cases[i].elastic, cases[i].xy, cases[i].xz, &made);
        const count_ops_t ops = count_equations();
        note_counts(cases[i].name, ops);
        harness_measured(cases[i].measured, "%d + %d", (int)ops.mul, (int)ops.add);
        TEST_ASSERT_TRUE_MESSAGE(ops.mul <= cases[i].mul && ops.add <= cases[i].add, cases[i].name);
        /* The kernels need less than a third of the operations of the paper. This limit notices
         * growth. */
        TEST_ASSERT_TRUE_MESSAGE(3 * ops.mul <= cases[i].mul && 3 * ops.add <= cases[i].add,
                                 cases[i].name);
        TEST_ASSERT_EQUAL_INT(0, ops.div + ops.sqrt);
    }
}

static void test_a_round_of_the_feedforward_is_one_inverse(void) {
    dyn_real_count_t tau[SIZE];
    flex_arm(FLEX_ARM_PLANAR, &made);
    (void)count_equations();
    count_begin();
    dyn_flex_static_count(&counted.arm, &counted.flex, &counted.still, counted.in[1], counted.in[2],
                          NULL, 1, counted.in[0], tau);
    note_counts("one round of the quasi-static feedforward, paper 004's arm", count_all());
    TEST_ASSERT_EQUAL_INT(4, count_all().sincos);
}

/* ------------------------------------------------------------------------------------------ f32 */

static struct {
    dyn_arm_f64_t arm;
    dyn_flex_f64_t flex;
    dyn_flex_scratch_f64_t scratch;
} wide;
static struct {
    dyn_arm_f32_t arm;
    dyn_flex_f32_t flex;
    dyn_flex_scratch_f32_t scratch;
} narrow;

static void prepare_wide(void) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&made.model, NULL, &wide.arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_f64(&made.model, &made.flex, NULL, &wide.flex));
}

/* Joint positions are up to 3 rad or 0.3 m, amplitudes of modes up to 0.03 m or rad, speeds up to
 * 1, accelerations up to 5. */
static void random_state(dyn_arms_random_t *seed, double x[3][SIZE]) {
    for (uint32_t k = 0; k < wide.flex.size; k++) {
        x[0][k] = 0.03 * dyn_arms_uniform(seed);
        x[1][k] = dyn_arms_uniform(seed);
        x[2][k] = 5 * dyn_arms_uniform(seed);
    }
    for (uint32_t i = 0; i < wide.flex.n; i++)
        x[0][wide.flex.link[i].at] =
            (wide.arm.joint[i].prismatic ? 0.3 : 3) * dyn_arms_uniform(seed);
}

static double largest(const double *x, uint32_t n) {
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void test_f32_is_f64_but_for_its_rounding(void) {
    dyn_arms_random_t seed = {7};
    for (int a = 0; a < FLEX_ARMS; a++) {
        flex_arm((flex_arm_name_t)a, &made);
        prepare_wide();
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&made.model, NULL, &narrow.arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK,
                              dyn_prepare_flex_f32(&made.model, &made.flex, NULL, &narrow.flex));
        const uint32_t n = wide.flex.size;
        for (int s = 0; s < 200; s++) {
            double x[3][SIZE], force[SIZE], I[PACKED];
            float y[3][SIZE], got[SIZE], J[PACKED];
            random_state(&seed, x);
            for (uint32_t k = 0; k < n; k++)
                for (int i = 0; i < 3; i++) {
                    y[i][k] = (float)x[i][k];
                    x[i][k] = (double)y[i][k];
                }
            dyn_flex_inverse_f64(&wide.arm, &wide.flex, &wide.scratch, x[0], x[1], x[2], force);
            dyn_flex_inverse_f32(&narrow.arm, &narrow.flex, &narrow.scratch, y[0], y[1], y[2], got);
            dyn_flex_mass_f64(&wide.arm, &wide.flex, &wide.scratch, x[0], I);
            dyn_flex_mass_f32(&narrow.arm, &narrow.flex, &narrow.scratch, y[0], J);
            /* Some hundred operations each have an error of 2^-24 of numbers that may be ten times
             * the result. If these errors are random, they add up to 6e-6 of the result; the limit
             * is 2e-5 (1 + largest result). */
            for (uint32_t k = 0; k < n; k++)
                TEST_ASSERT_DOUBLE_WITHIN(2e-5 * (1 + largest(force, n)), force[k], (double)got[k]);
            for (uint32_t k = 0; k < n * (n + 1) / 2; k++)
                TEST_ASSERT_DOUBLE_WITHIN(2e-5 * (1 + largest(I, n * (n + 1) / 2)), I[k],
                                          (double)J[k]);
        }
    }
}

/* ---------------------------------------------------------------------------------------- trace */

static double state_of(void *context, int32_t array, int32_t index) {
    double(*x)[SIZE] = context;
    return x[array][index];
}

/* Evaluates the graph at a state. A reference is twice the id of a node; it is odd if the sign is
 * inverted. */
static void graph_results(const graph_t *g, double x[3][SIZE], uint32_t n, double *out) {
    TEST_ASSERT_EQUAL_INT(n, graph_outputs(g));
    double *value = malloc((size_t)graph_size(g) * sizeof *value);
    TEST_ASSERT_NOT_NULL(value);
    graph_eval(g, state_of, x, value);
    for (uint32_t i = 0; i < n; i++) {
        const ref_t r = graph_result(g, (int)i);
        out[i] = r & 1 ? -value[r >> 1] : value[r >> 1];
    }
    free(value);
}

static void test_straight_line_code_is_the_same(void) {
    static dyn_arm_trace_t arm;
    static dyn_flex_trace_t flex;
    static dyn_flex_scratch_trace_t scratch;
    dyn_arms_random_t seed = {11};
    for (int a = 0; a < FLEX_ARMS; a++) {
        dyn_real_trace_t in[3][SIZE], out[SIZE];
        double x[3][SIZE], want[SIZE], got[SIZE];
        flex_arm((flex_arm_name_t)a, &made);
        prepare_wide();
        const uint32_t n = wide.flex.size;
        graph_t *graph = graph_new();
        trace_use(graph);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_trace(&made.model, NULL, &arm));
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_trace(&made.model, &made.flex, NULL, &flex));
        for (uint32_t k = 0; k < n; k++)
            for (int32_t i = 0; i < 3; i++)
                in[i][k] = trace_input(i, (int32_t)k);
        dyn_flex_inverse_trace(&arm, &flex, &scratch, in[0], in[1], in[2], out);
        trace_results(out, n);
        graph_sweep(graph);
        const graph_ops_t ops = graph_count(graph);
        harness_note(made.name);
        harness_note_number("  multiplications of the robot's own code", ops.mul);
        harness_note_number("  additions", ops.add);
        if (a == FLEX_ARM_PLANAR)
            harness_measured("flex.ops_trace", "%d + %d", (int)ops.mul, (int)ops.add);
        random_state(&seed, x);
        dyn_flex_inverse_f64(&wide.arm, &wide.flex, &wide.scratch, x[0], x[1], x[2], want);
        graph_results(graph, x, n, got);
        for (uint32_t k = 0; k < n; k++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + largest(want, n)), want[k], got[k]);
        graph_free(graph);
    }
}

/* ---------------------------------------------------------------------------------- fixed point */

/*
 * The proof of q31 for elastic links is like that for rigid ones, but needs limits of the
 * deflections and their rates, too. A robot file has no such limits, so the tool does not offer q31
 * for elastic arms. The arm is that of paper 004. Modes of torsion have no unit of length and would
 * need other limits.
 */
enum { POSITION, SPEED, ACCELERATION, KINDS };
static const double joint_limit[KINDS] = {3.14159, 1.5, 4}; /* rad, rad/s, rad/s^2 */
static const double mode_limit[KINDS] = {0.05, 0.4, 10};    /* m, m/s, m/s^2 */
static const dyn_units_t units = {.length = 0, .time = -3, .mass = {6, 5}};

static bool is_joint(uint32_t k) {
    return k == wide.flex.link[0].at || k == wide.flex.link[1].at;
}

/* Exponent of the unit of the position, speed or acceleration of coordinate k. */
static int exponent_of(uint32_t k, int kind) {
    return (is_joint(k) ? 0 : units.length) - kind * units.time;
}

/* Exponent of the unit of the generalised force of coordinate k. */
static int force_exponent(uint32_t k) {
    const int mass = units.mass[k < wide.flex.link[1].at ? 0 : 1];
    return mass + (is_joint(k) ? 2 : 1) * units.length - 2 * units.time;
}

static dyn_real_range_t force_range[SIZE];

/* Has the arguments of a rigid kernel, because range_run calls it as one. */
static void range_flex(const dyn_arm_range_t *arm, const dyn_real_range_t q[],
                       const dyn_real_range_t qd[], const dyn_real_range_t qdd[],
                       dyn_real_range_t tau[]) {
    static dyn_flex_range_t flex;
    static dyn_flex_scratch_range_t scratch;
    const dyn_real_range_t *given[KINDS] = {q, qd, qdd};
    dyn_real_range_t in[KINDS][SIZE];
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_range(&made.model, &made.flex, &units, &flex));
    for (uint32_t i = 0; i < flex.n; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const uint32_t at = flex.link[i].at;
            const double most = ldexp(mode_limit[kind], -exponent_of(at + 1, kind));
            in[kind][at] = given[kind][i];
            in[kind][at + 1] = (dyn_real_range_t){-most, most, 0};
        }
    dyn_flex_inverse_range(arm, &flex, &scratch, in[0], in[1], in[2], force_range);
    for (uint32_t i = 0; i < flex.n; i++)
        tau[i] = force_range[flex.link[i].at];
}

static void planar_with_limits(void) {
    flex_arm(FLEX_ARM_PLANAR, &made);
    for (uint32_t i = 0; i < 2; i++)
        made.model.joint[i].drive.limits =
            (dyn_limits_t){{-joint_limit[0], joint_limit[0]}, joint_limit[1], joint_limit[2], 0};
    prepare_wide();
}

/* Makes a state within the limits as raw numbers, and the values that they represent. */
static void raw_state(dyn_arms_random_t *seed, int32_t raw[KINDS][SIZE], double x[KINDS][SIZE]) {
    for (uint32_t k = 0; k < wide.flex.size; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            const double *limit = is_joint(k) ? joint_limit : mode_limit;
            const double value = limit[kind] * dyn_arms_uniform(seed);
            const int e = exponent_of(k, kind);
            const bool angle = is_joint(k) && kind == POSITION;
            raw[kind][k] = angle ? dyn_q31_angle(value) : dyn_q31_from(value, e);
            x[kind][k] = angle ? dyn_q31_angle_rad(raw[kind][k]) : dyn_q31_to(raw[kind][k], e);
        }
}

static void test_q31_is_proved_for_limits_of_deflections(void) {
    static dyn_arm_check_t arm;
    static dyn_flex_check_t flex;
    static dyn_flex_scratch_check_t scratch;
    static dyn_arm_q31_t arm_q31;
    static dyn_flex_q31_t flex_q31;
    static dyn_flex_scratch_q31_t scratch_q31;
    static range_report_t report;
    dyn_arms_random_t seed = {3};
    planar_with_limits();
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_flex, &made.model, &units, RANGE_Q31, &report));
    const range_entry_t *tight = &report.entry[report.tightest];
    harness_note(tight->name);
    harness_note_number("  is tightest, hundredths of a bit left",
                        (int64_t)(100 * tight->headroom));
    harness_measured("flex.q31_bits", "%.2f", tight->headroom);
    TEST_ASSERT_TRUE(report.fits);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&made.model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_check(&made.model, &made.flex, &units, &flex));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&made.model, &units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_q31(&made.model, &made.flex, &units, &flex_q31));
    check_begin(true);
    double worst[SIZE] = {0};
    for (int s = 0; s < 20000; s++) {
        int32_t raw[KINDS][SIZE], got[SIZE], same[SIZE];
        double x[KINDS][SIZE], want[SIZE];
        raw_state(&seed, raw, x);
        dyn_flex_inverse_check(&arm, &flex, &scratch, raw[0], raw[1], raw[2], got);
        dyn_flex_inverse_q31(&arm_q31, &flex_q31, &scratch_q31, raw[0], raw[1], raw[2], same);
        TEST_ASSERT_EQUAL_INT32_ARRAY(got, same, flex.size);
        dyn_flex_inverse_f64(&wide.arm, &wide.flex, &wide.scratch, x[0], x[1], x[2], want);
        for (uint32_t k = 0; k < flex.size; k++) {
            const int e = force_exponent(k);
            const double off = fabs(dyn_q31_to(got[k], e) - want[k]);
            worst[k] = fmax(worst[k], off);
            TEST_ASSERT_TRUE(off <= ldexp(force_range[k].err, e));
            TEST_ASSERT_TRUE(fabs(want[k]) <=
                             ldexp(fmax(-force_range[k].lo, force_range[k].hi), e));
        }
    }
    TEST_ASSERT_EQUAL_INT(0, check_overflows());
    harness_note_number("first torque off by at most, nN m", (int64_t)(worst[0] * 1e9));
    harness_note_number("  guaranteed, nN m",
                        (int64_t)(ldexp(force_range[0].err, force_exponent(0)) * 1e9));
    harness_measured("flex.q31_error", "%.3f", worst[0] * 1e3);
    harness_measured("flex.q31_bound", "%.3f", ldexp(force_range[0].err, force_exponent(0)) * 1e3);
}

/* With limits within which the arm could overflow, the proof fails. */
static void test_q31_that_could_overflow_is_not_proved(void) {
    static range_report_t report;
    planar_with_limits();
    for (uint32_t i = 0; i < 2; i++)
        made.model.joint[i].drive.limits.velocity = 30;
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_flex, &made.model, &units, RANGE_Q31, &report));
    TEST_ASSERT_FALSE(report.fits);
}

/* There is no proof for stiffness, matrix and forward dynamics. In these units they run and give
 * correct results. */
static void test_q31_runs_the_other_kernels(void) {
    static dyn_arm_check_t arm;
    static dyn_flex_check_t flex;
    static dyn_flex_forward_scratch_check_t forward;
    dyn_arms_random_t seed = {5};
    planar_with_limits();
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&made.model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_flex_check(&made.model, &made.flex, &units, &flex));
    check_begin(true);
    for (int s = 0; s < 200; s++) {
        int32_t raw[KINDS][SIZE] = {{0}}, I[PACKED], force[SIZE] = {0};
        double x[KINDS][SIZE] = {{0}}, want[PACKED], strain[SIZE] = {0};
        raw_state(&seed, raw, x);
        dyn_flex_mass_check(&arm, &flex, &forward.link, raw[0], I);
        dyn_flex_mass_f64(&wide.arm, &wide.flex, &wide.scratch, x[0], want);
        for (uint32_t i = 0; i < flex.size; i++)
            for (uint32_t k = 0; k <= i; k++) {
                const uint32_t at = i * (i + 1) / 2 + k;
                const int e = units.mass[k < wide.flex.link[1].at ? 0 : 1];
                /* Some fifty operations each lose up to 2^-28 of the unit; twice the sum is
                 * allowed. */
                TEST_ASSERT_DOUBLE_WITHIN(ldexp(100, e - 28), want[at], dyn_q31_to(I[at], e));
            }
        for (uint32_t k = 0; k < flex.size; k++)
            if (!is_joint(k))
                raw[0][k] /= 16; /* keeps the force of the 12 kN/m stiffness in range */
        for (uint32_t k = 0; k < flex.size; k++)
            x[0][k] = is_joint(k) ? x[0][k] : dyn_q31_to(raw[0][k], exponent_of(k, POSITION));
        dyn_flex_strain_check(&flex, raw[0], NULL, force);
        dyn_flex_strain_f64(&wide.flex, x[0], NULL, strain);
        for (uint32_t k = 0; k < flex.size; k++)
            TEST_ASSERT_DOUBLE_WITHIN(ldexp(2, force_exponent(k) - 28), strain[k],
                                      dyn_q31_to(force[k], force_exponent(k)));
    }
    TEST_ASSERT_EQUAL_INT(0, check_overflows());
}

TEST_LIST_BEGIN
TEST(test_counts_are_below_the_papers)
TEST(test_a_round_of_the_feedforward_is_one_inverse)
TEST(test_f32_is_f64_but_for_its_rounding)
TEST(test_straight_line_code_is_the_same)
TEST(test_q31_is_proved_for_limits_of_deflections)
TEST(test_q31_that_could_overflow_is_not_proved)
TEST(test_q31_runs_the_other_kernels)
TEST_LIST_END

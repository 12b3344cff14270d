/*
 * Reproduces Table 5 of paper 000 (Mata et al. 2002): forward dynamics of the two-body arm of its
 * section 5.1 in single precision, with the same bits on host and target. Body 1 is 0.02 m long and
 * weighs 0.1 kg, body 2 is 2 m long and weighs 10 kg; joint 2 makes a full turn in steps of two
 * degrees. The table shows the error of the acceleration of joint 1 compared with double, with the
 * numbers of the paper beside ours. The paper states a mean absolute error of 0.0088 for GA; no
 * method that rounds the inertia matrix to float can be that accurate (`floor` below).
 */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

enum { STEPS = 180 };

static dyn_model_t model;
static dyn_arm_f64_t arm_f64;
static dyn_arm_f32_t arm;
static double exact[STEPS];

/* Makes a square bar with its centre of mass in the middle. */
static dyn_body_t bar(double mass, double length) {
    const double w2 = 0.02 * 0.02, l2 = length * length;
    return (dyn_body_t){
        mass,
        {length / 2, 0, 0},
        {mass * (w2 + w2) / 12, mass * (l2 + w2) / 12, mass * (l2 + w2) / 12, 0, 0, 0}};
}

static double angle(int step) {
    return step * (3.14159265358979323846 / 90);
}

static void load(void) {
    static dyn_aba_scratch_f64_t scratch;
    model = (dyn_model_t){.n = 2, .gravity = {0, -9.81, 0}};
    model.base = model.tool = dyn_pose_identity();
    model.joint[0].link = bar(0.1, 0.02);
    model.joint[1].link = bar(10, 2);
    model.joint[1].a = 0.02;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm));
    for (int k = 0; k < STEPS; k++) {
        const double q[2] = {0, angle(k)}, zero[2] = {0, 0};
        double qdd[2];
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_aba_forward_f64(&arm_f64, &scratch, q, zero, zero, qdd));
        exact[k] = qdd[0];
    }
    /* Reference values at 0 and 90 degrees. */
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, -492.1080780955652, exact[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-8, -490.9070539419087, exact[45]);
}

typedef int (*forward_t)(const float q[], const float qd[], const float tau[], float qdd[]);

static int by_aba(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_aba_scratch_f32_t scratch;
    return dyn_aba_forward_f32(&arm, &scratch, q, qd, tau, qdd);
}

static int by_crba(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_crba_forward_scratch_f32_t scratch;
    return dyn_crba_forward_f32(&arm, &scratch, q, qd, tau, qdd);
}

/* Solves with the matrix and the bias, as the papers do. */
static int by_matrix(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_crba_scratch_f32_t mass;
    static dyn_ne_scratch_f32_t bias;
    float M[3];
    dyn_crba_mass_f32(&arm, &mass, q, M);
    dyn_ne_bias_f32(&arm, &bias, q, qd, qdd);
    for (int i = 0; i < 2; i++)
        qdd[i] = tau[i] - qdd[i];
    return dyn_cholesky_mass_f32(&arm, M, qdd);
}

static int by_ga(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_ga_forward_scratch_f32_t scratch;
    return dyn_ga_forward_f32(&arm, &scratch, q, qd, tau, qdd);
}

static int by_denoc(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_denoc_forward_scratch_f32_t scratch;
    return dyn_denoc_forward_f32(&arm, &scratch, q, qd, tau, qdd);
}

static int by_fast(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_fast_forward_scratch_f32_t scratch;
    return dyn_fast_forward_f32(&arm, &scratch, q, qd, tau, qdd);
}

/* Rounds the matrix once to float and computes everything else in double; shows the effect of this
 * rounding alone. */
static int by_rounded_matrix(const float q[], const float qd[], const float tau[], float qdd[]) {
    static dyn_crba_scratch_f64_t mass;
    static dyn_ne_scratch_f64_t bias;
    const double q64[2] = {0, (double)q[1]}, qd64[2] = {0, 0};
    double M[3], x[2];
    (void)qd;
    (void)tau;
    dyn_crba_mass_f64(&arm_f64, &mass, q64, M);
    dyn_ne_bias_f64(&arm_f64, &bias, q64, qd64, x);
    for (int i = 0; i < 3; i++)
        M[i] = (double)(float)M[i];
    for (int i = 0; i < 2; i++)
        x[i] = -x[i];
    const int status = dyn_cholesky_mass_f64(&arm_f64, M, x);
    for (int i = 0; i < 2; i++)
        qdd[i] = (float)x[i];
    return status;
}

/*
 * allowed() is the error that single precision allows a method that eliminates the second body
 * before anything large is added to the first. With x1 = qdd1 and x2 = qdd1 + qdd2, the
 * accelerations relative to the base,
 *     A11 x1 + A12 x2 = b1,  A12 x1 + A22 x2 = b2,
 *     x1 = (b1 - A12 b2 / A22) / (A11 - A12^2 / A22).
 * `crba` and `ga` (dyn/paper/across.h) solve exactly this; `aba` and `denoc` form the same two
 * differences body by body. Nothing cancels before these differences. Each of their four terms
 * therefore has a relative error of at most 2^-24 per rounding, and a difference enlarges it by the
 * ratio of the sum of its terms to the difference. A11 has the most roundings: 1 for constants; 8
 * for sine and cosine (2 each, dyn/number/trig.h), a product and a sum on either side of a tensor;
 * 6 for the shift by a; 1 for the sum with the first body; 3 along the axis; 8 for solving, with
 * the roots. CHAIN is their sum plus the quotient.
 */
enum { CHAIN = 28 };

static double allowed(void) {
    static dyn_crba_scratch_f64_t mass;
    static dyn_ne_scratch_f64_t bias;
    double worst = 0;
    for (int k = 0; k < STEPS; k++) {
        const double q[2] = {0, angle(k)}, zero[2] = {0, 0};
        double M[3], c[2];
        dyn_crba_mass_f64(&arm_f64, &mass, q, M);
        dyn_ne_bias_f64(&arm_f64, &bias, q, zero, c);
        const double A11 = M[0] - 2 * M[1] + M[2], A12 = M[1] - M[2], A22 = M[2];
        const double b1 = c[1] - c[0], b2 = -c[1];
        const double over = b1 - A12 * b2 / A22, under = A11 - A12 * A12 / A22;
        const double enlarged =
            (fabs(b1) + fabs(A12 * b2 / A22)) / fabs(over) + (A11 + A12 * A12 / A22) / under;
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, exact[k], over / under);
        worst = fmax(worst, enlarged * fabs(exact[k]));
    }
    return CHAIN * 0x1p-24 * worst;
}

typedef struct {
    double max, mean;
    uint32_t hash;
} error_t;

static error_t study(forward_t forward) {
    error_t e = {0, 0, 2166136261u};
    for (int k = 0; k < STEPS; k++) {
        const float q[2] = {0, (float)angle(k)}, zero[2] = {0, 0};
        float qdd[2];
        TEST_ASSERT_EQUAL_INT(DYN_OK, forward(q, zero, zero, qdd));
        const double off = fabs((double)qdd[0] - exact[k]);
        e.max = fmax(e.max, off);
        e.mean += off / STEPS;
        uint32_t words[2];
        memcpy(words, qdd, sizeof words);
        for (int i = 0; i < 2; i++)
            e.hash = (e.hash ^ words[i]) * 16777619u;
    }
    return e;
}

/* Writes six decimals without floating-point printing, right-aligned in ten columns. */
static char *put_number(char *text, double value) {
    uint32_t millionths = (uint32_t)(value * 1e6 + 0.5);
    char digits[10];
    int n = 0;
    for (; n < 7 || millionths > 0; n++, millionths /= 10) {
        if (n == 6)
            digits[n++] = '.';
        digits[n] = (char)('0' + millionths % 10);
    }
    for (int pad = n; pad < 10; pad++)
        *text++ = ' ';
    while (n > 0)
        *text++ = digits[--n];
    return text;
}

static void put_row(const char *name, const error_t *e, double paper_max, double paper_mean) {
    char line[96], *end = line;
    for (int i = 0; i < 22; i++)
        *end++ = *name ? *name++ : ' ';
    end = put_number(end, e->max);
    end = put_number(end, e->mean);
    if (paper_max > 0) {
        memcpy(end, "   paper", 8);
        end = put_number(end + 8, paper_max);
        end = put_number(end, paper_mean);
    }
    *end = 0;
    harness_note(line);
}

static error_t row(const char *name, forward_t forward, double paper_max, double paper_mean) {
    const error_t e = study(forward);
    char measured[48];
    put_row(name, &e, paper_max, paper_mean);
    if (strchr(name, ' ') == NULL) {
        strcat(strcat(strcpy(measured, "dyn.table5."), name), "_most");
        harness_measured(measured, "%.5f", e.max);
        strcpy(strrchr(measured, '_'), "_mean");
        harness_measured(measured, "%.5f", e.mean);
    }
    return e;
}

static void test_errors_in_single_precision(void) {
    load();
    harness_note("two-body arm, acceleration of joint 1 in float: max and mean error, rad/s^2");
    const error_t aba = row("aba", by_aba, 0.4976, 0.01324);
    const error_t crba = row("crba", by_crba, 1.2922, 0.275063);
    const error_t printed = row("crba, H itself", by_matrix, 1.2922, 0.275063);
    const error_t ga = row("ga", by_ga, 0.534002, 0.0087611);
    const error_t denoc = row("denoc", by_denoc, 0, 0);
    const error_t fast = row("fast", by_fast, 0, 0);
    const error_t floor = row("H rounded once", by_rounded_matrix, 0, 0);

    harness_measured("dyn.table5.h_most", "%.5f", floor.max);
    harness_measured("dyn.table5.h_mean", "%.5f", floor.mean);

    const error_t limit = {allowed(), 0, 0};
    harness_measured("dyn.table5.allowed", "%.5f", limit.max);
    put_row("allowed but with H", &limit, 0, 0);
    TEST_ASSERT_TRUE(aba.max <= limit.max);
    TEST_ASSERT_TRUE(crba.max <= limit.max);
    TEST_ASSERT_TRUE(ga.max <= limit.max);
    TEST_ASSERT_TRUE(denoc.max <= limit.max);
    /* aba and denoc never form H, so much smaller limits apply to them. */
    TEST_ASSERT_TRUE(aba.max <= 0.001);
    TEST_ASSERT_TRUE(denoc.max <= 0.01);
    /* Methods that avoid rounding H have far smaller errors than this rounding causes. */
    TEST_ASSERT_TRUE(10 * limit.max <= floor.max);
    /* Rounding an angle to float changes the exact value by far less than these errors. */
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.563, floor.max);
    TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.145, floor.mean);
    /* A method that forms H in float has this error from the last rounding and about as much again
     * from each of the earlier sums: I c^2 + m p^2 and two shifts. */
    TEST_ASSERT_TRUE(printed.max <= 4 * floor.max && printed.mean <= 4 * floor.mean);
    TEST_ASSERT_TRUE(fast.max <= 4 * floor.max && fast.mean <= 4 * floor.mean);
}

static void test_the_same_bits_everywhere(void) {
    load();
    TEST_ASSERT_EQUAL_HEX32(0xB01F6844, study(by_aba).hash);
    TEST_ASSERT_EQUAL_HEX32(0x87247F8C, study(by_crba).hash);
    TEST_ASSERT_EQUAL_HEX32(0xB4519131, study(by_matrix).hash);
    TEST_ASSERT_EQUAL_HEX32(0x73E9B991, study(by_ga).hash);
    TEST_ASSERT_EQUAL_HEX32(0xE79163D9, study(by_denoc).hash);
    TEST_ASSERT_EQUAL_HEX32(0xC50FC02F, study(by_fast).hash);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_errors_in_single_precision)
    TEST(test_the_same_bits_everywhere)
TEST_LIST_END
// clang-format on

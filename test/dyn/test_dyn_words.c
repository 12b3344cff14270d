/* Compares each basic operation of the kernels with plain 3x3 arithmetic in double. */
#include "test/support/dyn/dyn_arms.h"
#include "test/support/dyn/dyn_words_list.h"
#include "test/support/harness.h"

#include <math.h>

void dyn_words_f32(const double x[WORDS_IN], double c, double s, double out[WORDS_OUT]);
void dyn_words_f64(const double x[WORDS_IN], double c, double s, double out[WORDS_OUT]);
void dyn_words_q31(const double x[WORDS_IN], double c, double s, double out[WORDS_OUT]);

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void mul(double m[3][3], const double *a, double *out) {
    for (int i = 0; i < 3; i++)
        out[i] = m[i][0] * a[0] + m[i][1] * a[1] + m[i][2] * a[2];
}

static void put(double **out, const double *a, int n) {
    for (int i = 0; i < n; i++)
        *(*out)++ = a[i];
}

static void sum(const double *a, const double *b, double k, double *out) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] + k * b[i];
}

/* Uses Rx(alpha) Rz(theta) with cos alpha = c, sin alpha = s and theta = alpha minus a quarter
 * turn. */
static void reference(const double *x, double c, double s, double *out) {
    const double *a = x, *b = x + 3, *d = x + 6, *e = x + 9, *j = x + 12;
    const double ct = s, st = -c;
    double J[3][3] = {{j[0], j[3], j[5]}, {j[3], j[1], j[4]}, {j[5], j[4], j[2]}};
    double R[3][3] = {{ct, -st, 0}, {c * st, c * ct, -s}, {s * st, s * ct, c}}, T[3][3], RJ[3][3];
    double u[3], v[3], w[3];
    const double zero[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            T[i][k] = R[k][i];

    sum(a, b, 1, u);
    put(&out, u, 3);
    sum(a, b, -1, u);
    put(&out, u, 3);
    sum(zero, a, x[6], u);
    put(&out, u, 3);
    cross(a, b, u);
    put(&out, u, 3);
    cross(b, d, u);
    sum(a, u, 1, u);
    put(&out, u, 3);
    cross(b, d, u);
    cross(a, e, v);
    sum(u, v, 1, u);
    sum(a, u, 1, u);
    put(&out, u, 3);
    mul(J, a, u);
    put(&out, u, 3);
    cross(b, d, v);
    sum(u, v, 1, w);
    put(&out, w, 3);
    mul(J, b, v);
    cross(b, v, w);
    sum(u, w, 1, w);
    put(&out, w, 3);
    mul(T, a, u);
    put(&out, u, 3);
    mul(R, a, u);
    put(&out, u, 3);
    put(&out, a, 3);
    for (int i = 0; i < 6; i++)
        *out++ = 2 * j[i];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            RJ[i][k] = R[i][0] * J[0][k] + R[i][1] * J[1][k] + R[i][2] * J[2][k];
    static const int row[6] = {0, 1, 2, 0, 1, 0}, col[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++)
        *out++ = RJ[row[i]][0] * R[col[i]][0] + RJ[row[i]][1] * R[col[i]][1] +
                 RJ[row[i]][2] * R[col[i]][2];
    *out++ = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    *out++ = fmax(-x[18], fmin(x[18], x[0]));
    *out++ = 1 / x[18];
    *out++ = -1 / x[18];
    *out++ = sqrt(x[18]);
    *out++ = c;
    *out++ = 1;
    *out++ = 0;
}

/*
 * Inputs are below 1 and every result below 8. In float an operation rounds at most 20 times, each
 * time by at most 2^-24 of 8, and its inputs have an error of 2^-24: together 1e-5. In q31 a
 * truncation loses up to one unit of 2^-28, in a rotation four, and inputs have half a unit as
 * error. A tensor that is rotated twice is off by at most 27 units, 1e-7; the reciprocal multiplies
 * the error of its input by 1/x^2 = 16 at most. In double the tolerance is 1e-14.
 */
static void check(void (*words)(const double *, double, double, double *), double tolerance) {
    dyn_arms_random_t seed = {777};
    for (int k = 0; k < 200; k++) {
        static double x[WORDS_IN], exact[WORDS_OUT], out[WORDS_OUT];
        double angle = 3.2 * dyn_arms_uniform(&seed);
        for (int i = 0; i < WORDS_IN; i++)
            x[i] = dyn_arms_uniform(&seed);
        x[18] = 0.25 + fabs(x[18]);
        x[19] = 0.01 + fabs(x[19]);
        reference(x, cos(angle), sin(angle), exact);
        words(x, cos(angle), sin(angle), out);
        for (int i = 0; i < WORDS_OUT; i++)
            TEST_ASSERT_DOUBLE_WITHIN(tolerance, exact[i], out[i]);
    }
}

static void test_words_of_f64(void) {
    check(dyn_words_f64, 1e-14);
}

static void test_words_of_f32(void) {
    check(dyn_words_f32, 1e-5);
}

static void test_words_of_q31(void) {
    check(dyn_words_q31, 1e-7);
}

/* Tests reciprocal and root of q31 over their whole range, to units of the last place. */
static void test_q31_reciprocal_and_root(void) {
    static double x[WORDS_IN], out[WORDS_OUT];
    const int recip = WORDS_OUT - 6;
    x[19] = 1;
    for (int k = 0; k < 620; k++) {
        /* The values go from 2^-28 to nearly 8 and are rounded to numbers of q31. */
        x[18] = rint(exp2(k * 0.05)) / 0x1p28;
        dyn_words_q31(x, 1, 0, out);
        const double exact = fmin(1 / x[18], 8);
        /* The Newton iteration has a relative error of at most 2^-30. Results above 8, the end of
         * the number range, saturate. */
        TEST_ASSERT_DOUBLE_WITHIN(2 * 0x1p-28 + exact * 0x1p-29, exact, out[recip]);
        TEST_ASSERT_TRUE(out[recip + 1] == -out[recip]);
        TEST_ASSERT_DOUBLE_WITHIN(0x1p-28, sqrt(x[18]), out[recip + 2]);
    }
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_words_of_f64)
    TEST(test_words_of_f32)
    TEST(test_words_of_q31)
    TEST(test_q31_reciprocal_and_root)
TEST_LIST_END
// clang-format on

/*
 * Tests the packed solvers: residuals in double and float against the bounds of error analysis, the
 * refusal of matrices that are not positive definite, fixed point, operation counts, graph, and
 * cost on the target.
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
#include "tools/proof/count.h"
#include "tools/gen/trace.h"
#endif

#ifdef __arm__
enum { LARGEST = 12 };
#else
enum { LARGEST = DYN_MAX_JOINTS };
#endif

static double A[DYN_PACKED], F[DYN_PACKED], b[DYN_MAX_JOINTS], x[DYN_MAX_JOINTS];
static float Af[DYN_PACKED], xf[DYN_MAX_JOINTS];
static int32_t Aq[DYN_PACKED], xq[DYN_MAX_JOINTS];

static uint32_t at(uint32_t r, uint32_t c) {
    return r > c ? r * (r + 1) / 2 + c : c * (c + 1) / 2 + r;
}

/* Makes G G^T + `more` times the identity, with a random G, rounded to float so that every number
 * type gets the same matrix. */
static void random_spd(dyn_arms_random_t *seed, uint32_t n, double more) {
    static double G[DYN_MAX_JOINTS][DYN_MAX_JOINTS];
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n; c++)
            G[r][c] = dyn_arms_uniform(seed);
    for (uint32_t r = 0; r < n; r++) {
        for (uint32_t c = 0; c <= r; c++) {
            double sum = r == c ? more : 0;
            for (uint32_t k = 0; k < n; k++)
                sum += G[r][k] * G[c][k];
            A[at(r, c)] = (double)(float)sum;
        }
        b[r] = (double)(float)dyn_arms_uniform(seed);
    }
}

/*
 * Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.4: the computed x solves (A +
 * dA) x = b exactly with |dA| <= (3n + 1) u |L| |L^T|, where no element of |L| |L^T| exceeds
 * sqrt(a_ii a_jj). Multiplying by a reciprocal instead of dividing adds one rounding each for a
 * row, a column and the solution. The same is true for U D U^T.
 */
static void check_residual(uint32_t n, double u, const double *solution) {
    for (uint32_t r = 0; r < n; r++) {
        double residual = -b[r], bound = 0;
        for (uint32_t c = 0; c < n; c++) {
            residual += A[at(r, c)] * solution[c];
            bound += sqrt(A[at(r, r)] * A[at(c, c)]) * fabs(solution[c]);
        }
        TEST_ASSERT_TRUE(fabs(residual) <= (3 * (double)n + 4) * u * bound);
    }
}

static void test_residuals_in_f64(void) {
    dyn_arms_random_t seed = {2463534242u};
    for (uint32_t n = 1; n <= LARGEST; n++)
        for (int k = 0; k < 4; k++) {
            random_spd(&seed, n, k < 2 ? 1 : 1e-3);
            memcpy(F, A, sizeof F);
            memcpy(x, b, sizeof x);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_cholesky_factor_f64(n, F));
            dyn_cholesky_solve_f64(n, F, x);
            check_residual(n, 0x1p-53, x);
            memcpy(F, A, sizeof F);
            memcpy(x, b, sizeof x);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_udu_factor_f64(n, F));
            dyn_udu_solve_f64(n, F, x);
            check_residual(n, 0x1p-53, x);
        }
}

static void fill_f32(uint32_t n) {
    for (uint32_t i = 0; i < n * (n + 1) / 2; i++)
        Af[i] = (float)A[i];
    for (uint32_t i = 0; i < n; i++)
        xf[i] = (float)b[i];
}

static void check_f32(uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        x[i] = (double)xf[i];
    check_residual(n, 0x1p-24, x);
}

static void test_residuals_in_f32(void) {
    dyn_arms_random_t seed = {88172645463325252u};
    for (uint32_t n = 1; n <= LARGEST; n++)
        for (int k = 0; k < 4; k++) {
            random_spd(&seed, n, 1);
            fill_f32(n);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_cholesky_factor_f32(n, Af));
            dyn_cholesky_solve_f32(n, Af, xf);
            check_f32(n);
            fill_f32(n);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_udu_factor_f32(n, Af));
            dyn_udu_solve_f32(n, Af, xf);
            check_f32(n);
        }
}

/* The factors are as the header describes: A = L L^T and A = U D U^T, with reciprocals on the
 * diagonal. */
static void test_factors(void) {
    dyn_arms_random_t seed = {7};
    const uint32_t n = 7;
    random_spd(&seed, n, 1);
    memcpy(F, A, sizeof F);
    dyn_cholesky_factor_f64(n, F);
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++) {
            double sum = 0;
            for (uint32_t k = 0; k <= c; k++)
                sum += (k == r ? 1 / F[at(r, r)] : F[at(r, k)]) *
                       (k == c ? 1 / F[at(c, c)] : F[at(c, k)]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (double)n, A[at(r, c)], sum);
        }
    memcpy(F, A, sizeof F);
    dyn_udu_factor_f64(n, F);
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++) {
            double sum = 0;
            for (uint32_t k = r; k < n; k++)
                sum += (k == r ? 1 : F[at(k, r)]) * (k == c ? 1 : F[at(k, c)]) / F[at(k, k)];
            TEST_ASSERT_DOUBLE_WITHIN(1e-14 * (double)n, A[at(r, c)], sum);
        }
}

/* A zero or negative pivot in any place is reported, whatever pivots follow. */
static void test_failed_pivots_are_reported(void) {
    dyn_arms_random_t seed = {99};
    for (uint32_t n = 1; n <= 8; n++)
        for (uint32_t bad = 0; bad < n; bad++)
            for (int k = 0; k < 2; k++) {
                random_spd(&seed, n, 1);
                /* A positive definite matrix has no zero or negative element on its diagonal. */
                A[at(bad, bad)] = k ? -0.5 : 0;
                memcpy(F, A, sizeof F);
                TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f64(n, F));
                memcpy(F, A, sizeof F);
                TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f64(n, F));
                fill_f32(n);
                TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f32(n, Af));
                fill_f32(n);
                TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f32(n, Af));
            }
    /* This matrix has a negative eigenvalue although all elements on its diagonal are positive. */
    const double indefinite[6] = {1, 0.9, 1, 0.9, -0.9, 1};
    memcpy(F, indefinite, sizeof indefinite);
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f64(3, F));
    memcpy(F, indefinite, sizeof indefinite);
    TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f64(3, F));
}

static void singular(dyn_arms_random_t *seed, uint32_t n, uint32_t dependent) {
    double G[3][3];
    for (uint32_t c = 0; c < n; c++) {
        double sum = 0;
        for (uint32_t r = 0; r < n; r++)
            if (r != dependent)
                sum += G[r][c] = floor(8 + 8 * dyn_arms_uniform(seed)) + (r == c ? 32 : 0);
        G[dependent][c] = sum;
    }
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++) {
            A[at(r, c)] = 0;
            for (uint32_t k = 0; k < n; k++)
                A[at(r, c)] += G[r][k] * G[c][k];
        }
}

/*
 * These matrices are singular and exact in every number type: A = G G^T, where one row of G is the
 * sum of the others. No element of G is negative, so that row is the longest. The elimination
 * leaves only rounding error in the last pivot, often above zero. The solver must always refuse it.
 */
static void test_rounding_is_no_pivot(void) {
    dyn_arms_random_t seed = {314159};
    memset(b, 0, sizeof b);
    for (int k = 0; k < 1000; k++) {
        const uint32_t n = 2 + (uint32_t)k % 2;
        singular(&seed, n, n - 1);
        memcpy(F, A, sizeof F);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f64(n, F));
        fill_f32(n);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f32(n, Af));
        singular(&seed, n, 0);
        memcpy(F, A, sizeof F);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f64(n, F));
        fill_f32(n);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f32(n, Af));
    }
}

/* A NaN is refused as a pivot in any place, whatever good pivots follow. */
static void test_nan_is_no_pivot(void) {
    dyn_arms_random_t seed = {2718};
    const uint32_t n = 4;
    for (uint32_t bad = 0; bad < n; bad++) {
        random_spd(&seed, n, 1);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++)
                A[at(i, j)] = 0; /* keeps the NaN in one place */
        A[at(bad, bad)] = (double)NAN;
        memcpy(F, A, sizeof F);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f64(n, F));
        memcpy(F, A, sizeof F);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f64(n, F));
        fill_f32(n);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_cholesky_factor_f32(n, Af));
        fill_f32(n);
        TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, dyn_udu_factor_f32(n, Af));
    }
}

/*
 * Makes a matrix like that of an arm whose masses and mass units fall by `shift` bits from link to
 * link; joints 0 to k move link k. Its rows and columns have very different sizes, as in an arm
 * with a light wrist. The right-hand side belongs to a random solution.
 */
static void fill_q31(dyn_arms_random_t *seed, uint32_t n, int shift, dyn_arm_q31_t *arm) {
    static double lever[DYN_MAX_JOINTS];
    memset(arm, 0, sizeof *arm);
    memset(A, 0, sizeof A);
    arm->n = n;
    for (uint32_t k = 0; k < n; k++) {
        const double mass = ldexp(1, -(int)k * shift) / (double)n;
        arm->joint[k].mass_shift = (uint8_t)(k > 0 ? shift : 0);
        x[k] = dyn_arms_uniform(seed);
        for (uint32_t r = 0; r <= k; r++) {
            lever[r] = dyn_arms_uniform(seed);
            for (uint32_t c = 0; c <= r; c++)
                A[at(r, c)] += mass * lever[r] * lever[c];
        }
        A[at(k, k)] += mass;
    }
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c <= r; c++) {
            Aq[at(r, c)] = dyn_q31_from(A[at(r, c)], -(int)c * shift);
            A[at(r, c)] = dyn_q31_to(Aq[at(r, c)], -(int)c * shift);
        }
    spd_multiply(n, A, x, b);
    for (uint32_t r = 0; r < n; r++) {
        xq[r] = dyn_q31_from(b[r], -(int)r * shift);
        b[r] = dyn_q31_to(xq[r], -(int)r * shift);
    }
}

/*
 * The solver truncates each element of the factors of the equilibrated matrix about twice and
 * multiplies it by a reciprocal that is accurate to four units; all numbers are below 4. An element
 * of dA is therefore below 32 (n + 2) units, and the equilibration truncates once more. The unit of
 * element i, j is at most sqrt(a_ii a_jj). The solution is truncated in its own units, at most
 * sqrt(a_00 / a_ii) times the unit of the first joint.
 */
static void check_q31(uint32_t n) {
    const double unit = 0x1p-28 * 32 * ((double)n + 2);
    for (uint32_t r = 0; r < n; r++) {
        double residual = -b[r], bound = 0;
        for (uint32_t c = 0; c < n; c++) {
            const double scale = sqrt(A[at(r, r)] * A[at(c, c)]), own = dyn_q31_to(xq[c], 0);
            residual += A[at(r, c)] * own;
            bound += scale * (fabs(own) + sqrt(A[0] / A[at(c, c)]));
        }
        TEST_ASSERT_TRUE(fabs(residual) <= unit * bound);
    }
}

static void test_q31_equilibrates(void) {
    static dyn_arm_q31_t arm;
    dyn_arms_random_t seed = {521288629u};
    for (uint32_t n = 1; n <= 12; n++)
        for (int shift = 0; shift <= 3; shift++) {
            fill_q31(&seed, n, shift, &arm);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_cholesky_mass_q31(&arm, Aq, xq));
            check_q31(n);
            fill_q31(&seed, n, shift, &arm);
            TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_udu_mass_q31(&arm, Aq, xq));
            check_q31(n);
        }
}

static void test_q31_refuses_small_pivots(void) {
    static dyn_arm_q31_t arm;
    arm.n = 2;
    for (int k = 0; k < 3; k++)
        for (int method = 0; method < 2; method++) {
            /* The Schur complements are 1 - 0.9999^2, zero and negative. */
            const double off[3] = {0.9999, 1, 1.1};
            Aq[0] = Aq[2] = dyn_q31_from(1, 0);
            Aq[1] = dyn_q31_from(off[k], 0);
            xq[0] = xq[1] = 1000;
            TEST_ASSERT_EQUAL_INT(DYN_E_PIVOT, method ? dyn_udu_mass_q31(&arm, Aq, xq)
                                                      : dyn_cholesky_mass_q31(&arm, Aq, xq));
        }
}

#ifndef __arm__
static void test_counts(void) {
    static dyn_real_count_t C[DYN_PACKED], y[DYN_MAX_JOINTS];
    for (int n = 1; n <= 30; n++)
        for (int method = 0; method < 2; method++) {
            for (int i = 0; i < n * (n + 1) / 2; i++)
                C[i] = count_input(0);
            for (int i = 0; i < n; i++) {
                C[i * (i + 3) / 2] = count_input(1);
                y[i] = count_input(1);
            }
            count_begin();
            if (method)
                dyn_udu_factor_count((uint32_t)n, C);
            else
                dyn_cholesky_factor_count((uint32_t)n, C);
            count_ops_t ops = count_all();
            const int cube = n * (n - 1) * (n - 2) / 6;
            TEST_ASSERT_EQUAL_INT(cube + n * n, ops.mul);
            TEST_ASSERT_EQUAL_INT(cube + n * (n - 1) / 2, ops.add);
            TEST_ASSERT_EQUAL_INT(n, ops.div);
            TEST_ASSERT_EQUAL_INT(method ? 0 : n, ops.sqrt);
            count_begin();
            if (method)
                dyn_udu_solve_count((uint32_t)n, C, y);
            else
                dyn_cholesky_solve_count((uint32_t)n, C, y);
            ops = count_all();
            TEST_ASSERT_EQUAL_INT(method ? n * n : n * n + n, ops.mul);
            TEST_ASSERT_EQUAL_INT(n * n - n, ops.add);
        }
}

static double lookup(void *context, int32_t array, int32_t index) {
    (void)context;
    return array == 0 ? A[index] : b[index];
}

static void test_graph_evaluates_to_the_same(void) {
    static dyn_real_trace_t T[DYN_PACKED], y[DYN_MAX_JOINTS];
    dyn_arms_random_t seed = {3};
    const uint32_t n = 6;
    for (int method = 0; method < 2; method++) {
        double traced[6];
        graph_t *graph = graph_new();
        trace_use(graph);
        for (int32_t i = 0; i < 21; i++)
            T[i] = trace_input(0, i);
        for (int32_t i = 0; i < 6; i++)
            y[i] = trace_input(1, i);
        if (method) {
            dyn_udu_factor_trace(n, T);
            dyn_udu_solve_trace(n, T, y);
        } else {
            dyn_cholesky_factor_trace(n, T);
            dyn_cholesky_solve_trace(n, T, y);
        }
        random_spd(&seed, n, 1);
        memcpy(F, A, sizeof F);
        memcpy(x, b, sizeof x);
        dyn_cholesky_factor_f64(n, F);
        dyn_cholesky_solve_f64(n, F, x);
        trace_values(graph, lookup, NULL, y, 6, traced);
        for (uint32_t i = 0; i < n; i++)
            TEST_ASSERT_DOUBLE_WITHIN(1e-12 * (1 + forward_largest(n, x)), x[i], traced[i]);
        graph_free(graph);
    }
}
#else
static void test_same_instructions_for_every_matrix(void) {
    static dyn_arm_q31_t arm;
    dyn_arms_random_t seed = {12345};
    cost_t cost[4];
    for (int i = 0; i < 4; i++)
        cost[i] = (cost_t)COST_NONE;
    for (int k = 0; k < 100; k++) {
        uint32_t start;
        fill_q31(&seed, 6, k % 4, &arm);
        start = cycles_now();
        dyn_cholesky_mass_q31(&arm, Aq, xq);
        cost_see(&cost[0], start, cycles_now());
        fill_q31(&seed, 6, k % 4, &arm);
        start = cycles_now();
        dyn_udu_mass_q31(&arm, Aq, xq);
        cost_see(&cost[1], start, cycles_now());
#ifdef __ARM_FP
        fill_f32(6);
        start = cycles_now();
        dyn_cholesky_factor_f32(6, Af);
        dyn_cholesky_solve_f32(6, Af, xf);
        cost_see(&cost[2], start, cycles_now());
        fill_f32(6);
        start = cycles_now();
        dyn_udu_factor_f32(6, Af);
        dyn_udu_solve_f32(6, Af, xf);
        cost_see(&cost[3], start, cycles_now());
#endif
    }
    cost_print("instructions of cholesky_mass q31, n=6", cost[0]);
    cost_print("instructions of udu_mass q31, n=6", cost[1]);
#ifdef __ARM_FP
    cost_print("instructions of cholesky f32, n=6", cost[2]);
    cost_print("instructions of udu f32, n=6", cost[3]);
#endif
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_residuals_in_f64)
    TEST(test_residuals_in_f32)
    TEST(test_factors)
    TEST(test_failed_pivots_are_reported)
    TEST(test_rounding_is_no_pivot)
    TEST(test_nan_is_no_pivot)
    TEST(test_q31_equilibrates)
    TEST(test_q31_refuses_small_pivots)
#ifndef __arm__
    TEST(test_counts)
    TEST(test_graph_evaluates_to_the_same)
#else
    TEST(test_same_instructions_for_every_matrix)
#endif
TEST_LIST_END
// clang-format on

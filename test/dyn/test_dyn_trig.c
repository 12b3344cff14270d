/* Tests sine and cosine, which are computed together: accuracy over the whole range, tables, and
 * arguments that are not angles. */
#include "dyn/number/trig.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#ifdef __arm__
#include "hal/cycles.h"
enum { SAMPLES = 3000 }; /* few on the target, where the reference is double in software */
#elif defined TEST_LONG
enum { SAMPLES = 20000000 };
#else
enum { SAMPLES = 1000000 };
#endif

static const double two_pi = 6.28318530717958647692;
static dyn_arms_random_t seed = {88172645463325252u};

static double error_f32(float x) {
    float c, s;
    dyn_sincos_f32(x, &c, &s);
    return fmax(fabs((double)c - cos((double)x)), fabs((double)s - sin((double)x)));
}

static double worst_f32(double limit) {
    double worst = 0;
    for (int i = 0; i < SAMPLES; i++)
        worst = fmax(worst, error_f32((float)(limit * dyn_arms_uniform(&seed))));
    return worst;
}

/* The error must be below 1.2e-7 up to 1e4 rad, which the proof in tools/proof assumes. */
static void test_f32_is_accurate(void) {
    const double small = worst_f32(0.1), turn = worst_f32(7), hundred = worst_f32(100),
                 far = worst_f32(1e4);
    TEST_ASSERT_TRUE(fmax(fmax(small, turn), hundred) < 1.2e-7);
    TEST_ASSERT_TRUE(far < 1.2e-7);
    harness_note_number("f32 sincos worst error to 100 rad, 1e-9", (int64_t)(hundred * 1e9));
    harness_note_number("f32 sincos worst error to 1e4 rad, 1e-9", (int64_t)(far * 1e9));
    harness_measured("dyn.sincos_f32", "%.1e", far);
}

/* The remainder is largest halfway between two entries of the table. */
static void test_f32_between_the_entries(void) {
    double worst = 0;
    for (int k = -8148; k <= 8148; k++)
        for (int e = -2; e <= 2; e++)
            worst = fmax(worst, error_f32((float)((k + 0.5) * two_pi / 512 + e * 1e-6)));
    TEST_ASSERT_TRUE(worst < 1.2e-7);
}

static void test_f32_quarter_turns_and_zero(void) {
    float c, s;
    dyn_sincos_f32(0.0f, &c, &s);
    TEST_ASSERT_TRUE(c == 1.0f && s == 0.0f);
    for (int k = -60; k <= 60; k++)
        TEST_ASSERT_TRUE(error_f32((float)(k * two_pi / 4)) < 1.2e-7);
}

/* For any argument the function returns and reads no memory outside the table; the sanitizer checks
 * this. */
static void test_f32_of_no_angle(void) {
    const float strange[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e7f, 1e-40f, -0.0f};
    for (unsigned i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        float c, s;
        dyn_sincos_f32(strange[i], &c, &s);
        if (fabsf(strange[i]) < 1.0f) {
            TEST_ASSERT_TRUE(c == 1.0f && fabsf(s) < 1e-6f);
        }
    }
}

#ifndef __arm__
/* Absolute error, measured with long double. The limit of 2.5e-16 is slightly above two ulps of a
 * number just below 1. */
static double error_f64(double x) {
    double c, s;
    dyn_sincos_f64(x, &c, &s);
    const long double off_c = fabsl((long double)c - cosl((long double)x));
    const long double off_s = fabsl((long double)s - sinl((long double)x));
    return (double)(off_c > off_s ? off_c : off_s);
}

static double worst_f64(double limit) {
    double worst = 0;
    for (int i = 0; i < SAMPLES / 10; i++)
        worst = fmax(worst, error_f64(limit * dyn_arms_uniform(&seed)));
    return worst;
}

static void test_f64_is_accurate(void) {
    const double near = fmax(worst_f64(0.1), worst_f64(7)), far = worst_f64(2e5);
    double c, s;
    TEST_ASSERT_TRUE(near < 2.5e-16 && far < 2.5e-16);
    harness_note_number("f64 sincos worst error to 2e5 rad, 1e-18", (int64_t)(far * 1e18));
    for (int k = -2037; k <= 2037; k++)
        TEST_ASSERT_TRUE(error_f64((k + 0.5) * two_pi / 128) < 2.5e-16);
    /* For larger angles the error is as if the angle were off by one ulp. */
    for (int i = 0; i < 1000; i++) {
        const double x = 1e12 * dyn_arms_uniform(&seed);
        TEST_ASSERT_TRUE(error_f64(x) < 2.5e-16 + fabs(x) * 2.3e-16);
    }
    dyn_sincos_f64(0.0, &c, &s);
    TEST_ASSERT_TRUE(c == 1.0 && s == 0.0);
    /* At quarter turns the result is the remainder of the angle. 1920 times the second part of
     * 2pi/128, which is 2e-12, gives 4e-9. This part and the product are each rounded to 2^-53 of
     * that, 4e-25. */
    for (int k = -60; k <= 60; k++) {
        const double x = k * two_pi / 4;
        dyn_sincos_f64(x, &c, &s);
        TEST_ASSERT_TRUE(fabs(fabs(c) < 0.5 ? c - cos(x) : s - sin(x)) < 1e-24);
    }
    const double strange[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e300};
    for (unsigned i = 0; i < sizeof strange / sizeof strange[0]; i++)
        dyn_sincos_f64(strange[i], &c, &s);
}
#endif

static double error_q30(int32_t angle) {
    int32_t c, s;
    dyn_sincos_q30(angle, &c, &s);
    const double x = dyn_q31_angle_rad(angle);
    return fmax(fabs(ldexp(c, -30) - cos(x)), fabs(ldexp(s, -30) - sin(x)));
}

/* The error must be below 3e-9, which the proof in tools/proof assumes. */
static void test_q30_is_accurate(void) {
    double worst = 0;
    const uint32_t step = (uint32_t)(4294967296.0 / SAMPLES) | 1u;
    uint32_t angle = 0;
    for (int i = 0; i < SAMPLES; i++, angle += step)
        worst = fmax(worst, error_q30((int32_t)angle));
    /* Tests the ends of every interval of the table. */
    for (uint32_t k = 0; k < 256; k++)
        for (uint32_t e = 0; e < 4; e++)
            worst = fmax(worst, error_q30((int32_t)((k << 24) + 0x7FFFFEu + e)));
    TEST_ASSERT_TRUE(worst < 3e-9);
    harness_note_number("q30 sincos worst error, 1e-12", (int64_t)(worst * 1e12));
    harness_measured("dyn.sincos_q31", "%.1e", worst);
}

static void test_q30_fits_its_format(void) {
    for (uint32_t k = 0; k < 1024; k++)
        for (int e = -3; e <= 3; e++) {
            int32_t c, s;
            dyn_sincos_q30((int32_t)((k << 22) + (uint32_t)e), &c, &s);
            TEST_ASSERT_TRUE(c <= (1 << 30) + 4 && c >= -(1 << 30) - 4);
            TEST_ASSERT_TRUE(s <= (1 << 30) + 4 && s >= -(1 << 30) - 4);
        }
}

static void test_tables_are_the_nearest_values(void) {
    for (int k = 0; k < 160; k++) {
        double exact = sin(two_pi * k / 128);
        TEST_ASSERT_TRUE(fabs(dyn_sine_f64[k] - exact) <= 1e-15);
    }
    for (int k = 0; k < 640; k++)
        TEST_ASSERT_TRUE(fabs((double)dyn_sine_f32[k] - sin(two_pi * k / 512)) <= 0x1p-25 + 1e-15);
    for (int k = 0; k < 320; k++) {
        double exact = ldexp(sin(two_pi * k / 256), 30);
        TEST_ASSERT_TRUE(fabs((double)dyn_sine_q30[k] - exact) <= 0.5 + 1e-6);
    }
}

static void test_angles_become_binary_and_back(void) {
    for (int i = 0; i < 1000; i++) {
        double rad = 50 * dyn_arms_uniform(&seed);
        double back = dyn_q31_angle_rad(dyn_q31_angle(rad));
        TEST_ASSERT_TRUE(fabs(remainder(rad - back, two_pi)) <= 0x1p-33 * two_pi + 1e-14);
    }
    TEST_ASSERT_EQUAL_INT32(INT32_MIN, dyn_q31_angle(two_pi / 2));
    TEST_ASSERT_EQUAL_INT32(1 << 30, dyn_q31_angle(two_pi / 4));
}

#ifdef __arm__
/* Not inlined; arguments and results are in memory, so that the compiler cannot precompute them. */
__attribute__((noinline)) static void pair_f32(const float *x, float *c, float *s) {
    dyn_sincos_f32(*x, c, s);
    __asm volatile("" : : "r"(c), "r"(s) : "memory");
}

__attribute__((noinline)) static void pair_q30(const int32_t *x, int32_t *c, int32_t *s) {
    dyn_sincos_q30(*x, c, s);
    __asm volatile("" : : "r"(c), "r"(s) : "memory");
}

static void test_takes_the_same_instructions_for_every_angle(void) {
    uint32_t least[2] = {UINT32_MAX, UINT32_MAX}, most[2] = {0, 0};
    for (int i = 0; i < 500; i++) {
        const int32_t angle = dyn_arms_random(&seed);
        const float x = (float)(i < 250 ? 5.0 : 1e4) * (float)angle / 2147483648.0f;
        float c, s;
        int32_t ci, si;
        uint32_t t0 = cycles_now();
        pair_f32(&x, &c, &s);
        uint32_t t1 = cycles_now();
        pair_q30(&angle, &ci, &si);
        uint32_t t2 = cycles_now();
        const uint32_t cost[2] = {cycles_between(t0, t1), cycles_between(t1, t2)};
        for (int k = 0; k < 2; k++) {
            least[k] = cost[k] < least[k] ? cost[k] : least[k];
            most[k] = cost[k] > most[k] ? cost[k] : most[k];
        }
    }
    harness_note_number("instructions of a q30 pair, with call", most[1]);
    TEST_ASSERT_EQUAL_UINT32(least[1], most[1]);
    TEST_ASSERT_GREATER_THAN_UINT32(15, least[1]);
#ifdef __ARM_FP
    harness_note_number("instructions of a f32 pair, with call", most[0]);
    TEST_ASSERT_EQUAL_UINT32(least[0], most[0]);
    TEST_ASSERT_GREATER_THAN_UINT32(15, least[0]);
    TEST_ASSERT_LESS_OR_EQUAL_UINT32(45, most[0]);
#endif
}
#endif

// clang-format off
TEST_LIST_BEGIN
    TEST(test_f32_is_accurate)
    TEST(test_f32_between_the_entries)
    TEST(test_f32_quarter_turns_and_zero)
    TEST(test_f32_of_no_angle)
#ifndef __arm__
    TEST(test_f64_is_accurate)
#endif
    TEST(test_q30_is_accurate)
    TEST(test_q30_fits_its_format)
    TEST(test_tables_are_the_nearest_values)
    TEST(test_angles_become_binary_and_back)
#ifdef __arm__
    TEST(test_takes_the_same_instructions_for_every_angle)
#endif
TEST_LIST_END
// clang-format on

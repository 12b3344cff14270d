/* Tests the guaranteed bounds of tools/proof/range.h: a million states, and the errors of q31 and
 * f32 relative to f64, must stay within them, and no bound may be too loose. */
#include "dyn/number/f32.h"
#include "dyn/number/f64.h"
#include "dyn/number/q31.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"
#include "tools/proof/check.h"
#include "tools/proof/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef TEST_LONG
enum { MILLION = 10000000, STATES = 200000 };
#else
enum { MILLION = 1000000, STATES = 3000 };
#endif

static dyn_model_t model;
static dyn_units_t units;
static range_report_t report;
static dyn_arms_random_t seed = {88172645463325252u};

static dyn_arm_f64_t arm_f64;
static dyn_ne_scratch_f64_t scratch_f64;
static dyn_arm_f32_t arm_f32;
static dyn_ne_scratch_f32_t scratch_f32;
static dyn_arm_check_t arm_check;
static dyn_ne_scratch_check_t scratch_check;
static dyn_arm_q31_t arm_q31;
static dyn_ne_scratch_q31_t scratch_q31;

typedef struct {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
} state_t;

typedef struct {
    int32_t q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS];
} raw_t;

/* Makes a random state within the limits. In every second state all speeds and accelerations are at
 * their limits. */
static void random_state(long number, state_t *s) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_limits_t *l = &model.joint[i].drive.limits;
        s->q[i] = l->position[1] * dyn_arms_uniform(&seed);
        s->qd[i] = dyn_arms_uniform(&seed);
        s->qdd[i] = dyn_arms_uniform(&seed);
        if (number % 2) {
            s->qd[i] = s->qd[i] < 0 ? -1 : 1;
            s->qdd[i] = s->qdd[i] < 0 ? -1 : 1;
        }
        s->qd[i] *= l->velocity;
        s->qdd[i] *= l->acceleration;
    }
}

static dyn_q31_exponents_t exponents[DYN_MAX_JOINTS];

static void to_raw(const state_t *s, raw_t *raw) {
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t *e = &exponents[i];
        raw->q[i] = model.joint[i].type == DYN_PRISMATIC ? dyn_q31_from(s->q[i], e->position)
                                                         : dyn_q31_angle(s->q[i]);
        raw->qd[i] = dyn_q31_from(s->qd[i], e->velocity);
        raw->qdd[i] = dyn_q31_from(s->qdd[i], e->acceleration);
    }
}

static void load(uint32_t k) {
    dyn_arms_model(k, &model);
    TEST_ASSERT_EQUAL_INT_MESSAGE(DYN_OK, range_choose_units(range_ne, &model, &units, &report),
                                  dyn_arms_name(k));
    TEST_ASSERT_TRUE(report.fits);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &arm_f64));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm_q31));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &arm_check));
    for (uint32_t i = 0; i < model.n; i++)
        exponents[i] = dyn_q31_exponents(&model, &units, i);
}

static void expect_peaks_within_bounds(void) {
    char text[80];
    for (uint32_t i = 0; i < report.entries; i++) {
        const range_entry_t *e = &report.entry[i];
        for (int part = 0; part < e->parts; part++) {
            double peak = check_peak(e->name, e->joint, part);
            snprintf(text, sizeof text, "%s of joint %u, part %d", e->name, e->joint + 1, part);
            TEST_ASSERT_TRUE_MESSAGE(peak >= 0, text);
            TEST_ASSERT_TRUE_MESSAGE(peak <= e->bound[part], text);
        }
    }
}

/*
 * Runs a million states of the PUMA with checked q31 numbers. No sum overflows (it would abort), no
 * named value exceeds its bound, and no bound is more than 3 bits above the largest value that
 * occurred.
 */
static void test_a_million_states_stay_within_the_bounds(void) {
    int32_t tau[DYN_MAX_JOINTS];
    double loosest = 0;
    char text[96];
    load(DYN_ARMS_PUMA);
    check_begin(true);
    for (long k = 0; k < MILLION; k++) {
        static state_t s;
        static raw_t raw;
        random_state(k, &s);
        to_raw(&s, &raw);
        dyn_ne_inverse_check(&arm_check, &scratch_check, raw.q, raw.qd, raw.qdd, tau);
    }
    expect_peaks_within_bounds();
    for (uint32_t i = 0; i < report.entries; i++) {
        const range_entry_t *e = &report.entry[i];
        double peak = 0, bound = 0;
        for (int part = 0; part < e->parts; part++) {
            peak = fmax(peak, check_peak(e->name, e->joint, part));
            bound = fmax(bound, e->bound[part]);
        }
        snprintf(text, sizeof text, "%s of joint %u: bound %g, seen %g", e->name, e->joint + 1,
                 bound, peak);
        TEST_ASSERT_TRUE_MESSAGE(bound <= 8 * peak || bound == 0, text);
        if (peak > 0)
            loosest = fmax(loosest, log2(bound / peak));
    }
    snprintf(text, sizeof text, "puma560: tightest %s of joint %u, %.2f bits of headroom",
             report.entry[report.tightest].name, report.entry[report.tightest].joint + 1,
             report.entry[report.tightest].headroom);
    harness_note(text);
    snprintf(text, sizeof text, "puma560: loosest bound %.2f bits above the largest seen", loosest);
    harness_note(text);
    harness_measured("dyn.range_loosest", "%.2f", loosest);
}

/* On every chain the errors of q31 and f32 relative to f64 stay below the guaranteed ones. */
static void test_errors_stay_below_the_guarantee(void) {
    static range_report_t floats;
    double worst_q31 = 0, worst_f32 = 0;
    char text[96];
    uint32_t fitted = 0;
    for (uint32_t k = 0; k < dyn_arms_count(); k++) {
        /* For more than twelve joints the bounds add up limits that no real arm of that length
         * would have. */
        if (dyn_arms_joints(k) > 12)
            continue;
        load(k);
        fitted++;
        TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_ne, &model, NULL, RANGE_F32, &floats));
        double largest[DYN_MAX_JOINTS] = {0}, off_q31[DYN_MAX_JOINTS] = {0},
               off_f32[DYN_MAX_JOINTS] = {0};
        check_begin(true);
        for (long t = 0; t < STATES; t++) {
            static state_t s;
            static raw_t raw;
            double exact[DYN_MAX_JOINTS];
            int32_t tau[DYN_MAX_JOINTS], checked[DYN_MAX_JOINTS];
            float q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS],
                tau_f32[DYN_MAX_JOINTS];
            random_state(t, &s);
            to_raw(&s, &raw);
            dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.q, s.qd, s.qdd, exact);
            dyn_ne_inverse_q31(&arm_q31, &scratch_q31, raw.q, raw.qd, raw.qdd, tau);
            dyn_ne_inverse_check(&arm_check, &scratch_check, raw.q, raw.qd, raw.qdd, checked);
            TEST_ASSERT_EQUAL_INT32_ARRAY(tau, checked, model.n);
            for (uint32_t i = 0; i < model.n; i++) {
                largest[i] = fmax(largest[i], fabs(exact[i]));
                off_q31[i] =
                    fmax(off_q31[i], fabs(dyn_q31_to(tau[i], exponents[i].torque) - exact[i]));
                q[i] = (float)s.q[i];
                qd[i] = (float)s.qd[i];
                qdd[i] = (float)s.qdd[i];
                s.q[i] = (double)q[i];
                s.qd[i] = (double)qd[i];
                s.qdd[i] = (double)qdd[i];
            }
            dyn_ne_inverse_f64(&arm_f64, &scratch_f64, s.q, s.qd, s.qdd, exact);
            dyn_ne_inverse_f32(&arm_f32, &scratch_f32, q, qd, qdd, tau_f32);
            for (uint32_t i = 0; i < model.n; i++)
                off_f32[i] = fmax(off_f32[i], fabs((double)tau_f32[i] - exact[i]));
        }
        expect_peaks_within_bounds();
        for (uint32_t i = 0; i < model.n; i++) {
            TEST_ASSERT_TRUE_MESSAGE(off_q31[i] <= report.tau_error[i], dyn_arms_name(k));
            TEST_ASSERT_TRUE_MESSAGE(off_f32[i] <= floats.tau_error[i], dyn_arms_name(k));
            TEST_ASSERT_TRUE(largest[i] <= report.tau_bound[i]);
            worst_q31 = fmax(worst_q31, off_q31[i] / largest[i]);
            worst_f32 = fmax(worst_f32, off_f32[i] / largest[i]);
        }
    }
    TEST_ASSERT_EQUAL_UINT(19, fitted);
    /* The errors are relative to the largest torque of the joint. */
    TEST_ASSERT_TRUE(worst_q31 < 1e-5);
    TEST_ASSERT_TRUE(worst_f32 < 5e-6);
    snprintf(text, sizeof text, "worst error of the joint's largest torque: q31 %.1e, f32 %.1e",
             worst_q31, worst_f32);
    harness_note(text);
    harness_measured("dyn.error_q31", "%.1e", worst_q31);
    harness_measured("dyn.error_f32", "%.1e", worst_f32);
}

/* test_dyn_same uses fixed units on the targets; they must equal the units that are chosen here. */
static void test_units_of_the_puma(void) {
    const dyn_units_t frozen = {.length = -2, .time = -3, .mass = {4, 4, 2, 0, -1, -4}};
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(frozen.length, units.length);
    TEST_ASSERT_EQUAL_INT(frozen.time, units.time);
    TEST_ASSERT_EQUAL_INT8_ARRAY(frozen.mass, units.mass, 6);
}

/* Shows that the limits matter: with speeds beyond them the checked q31 numbers overflow. */
static void test_a_broken_limit_is_caught(void) {
    int32_t tau[DYN_MAX_JOINTS];
    load(DYN_ARMS_PUMA);
    check_begin(false);
    for (long k = 0; k < 1000; k++) {
        static state_t s;
        static raw_t raw;
        random_state(k, &s);
        for (uint32_t i = 0; i < model.n; i++)
            s.qd[i] *= 4;
        to_raw(&s, &raw);
        dyn_ne_inverse_check(&arm_check, &scratch_check, raw.q, raw.qd, raw.qdd, tau);
    }
    TEST_ASSERT_TRUE(check_overflows() > 0);
    for (uint32_t i = 0; i < model.n; i++)
        model.joint[i].drive.limits.velocity *= 4;
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_ne, &model, &units, RANGE_Q31, &report));
    TEST_ASSERT_FALSE(report.fits);
    TEST_ASSERT_TRUE(report.entry[report.tightest].headroom < 0);
}

static void test_an_arm_that_cannot_fit_is_refused(void) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    model.joint[5].drive.limits.acceleration = 1e12;
    model.joint[0].drive.limits.velocity = 1e-3;
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, range_choose_units(range_ne, &model, &units, &report));
    TEST_ASSERT_FALSE(report.fits);
    TEST_ASSERT_EQUAL_STRING("wd", report.entry[report.tightest].name);
    TEST_ASSERT_EQUAL_UINT(5, report.entry[report.tightest].joint);
    model.joint[2].drive.limits.velocity = 0;
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, range_run(range_ne, &model, &units, RANGE_Q31, &report));
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, range_choose_units(range_ne, &model, &units, &report));
}

/* Checks bounds that can be computed by hand. The first link only turns about its own axis. */
static void test_bounds_that_are_known(void) {
    load(DYN_ARMS_PUMA);
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_run(range_ne, &model, NULL, RANGE_EXACT, &report));
    const range_entry_t *w = range_find(&report, NULL, "w", 0),
                        *vd = range_find(&report, NULL, "vd", 0);
    TEST_ASSERT_NOT_NULL(w);
    TEST_ASSERT_NOT_NULL(vd);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3, w->bound[2]);
    TEST_ASSERT_TRUE(w->bound[0] == 0 && w->bound[1] == 0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 9.81, vd->bound[2]);
    TEST_ASSERT_NULL(range_find(&report, NULL, "w", 6));
    /* Axes 2 and 3 of the PUMA are parallel to each other and perpendicular to axis 1.
     * Perpendicular to axis 3 the angular velocity w_3 is qd_1, at most 3 rad/s. The bound derives
     * the length of a vector in that plane from the bounds of its components, so it may be sqrt(2)
     * times larger. */
    const range_entry_t *w3 = range_find(&report, NULL, "w", 2);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 6, w3->bound[2]);
    TEST_ASSERT_TRUE(w3->bound[0] >= 3 && w3->bound[0] <= 3 * sqrt(2) + 1e-9);
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_bounds_that_are_known)
    TEST(test_units_of_the_puma)
    TEST(test_a_million_states_stay_within_the_bounds)
    TEST(test_errors_stay_below_the_guarantee)
    TEST(test_a_broken_limit_is_caught)
    TEST(test_an_arm_that_cannot_fit_is_refused)
TEST_LIST_END
// clang-format on

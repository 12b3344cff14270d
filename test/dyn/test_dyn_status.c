/* Tests dyn/model/status.h: every status has its texts, and dyn_ready reports which kernels an arm
 * can run. */
#include "dyn/number/f32.h"
#include "dyn/number/q31.h"
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

static dyn_model_t model;
static dyn_arm_q31_t arm;
static dyn_arm_f32_t arm_f32;

static const dyn_units_t units = {.length = -4, .time = -4, .mass = {2, 2}};

static const int statuses[] = {
#define NUMBER(name, number, cause, cure) number,
    DYN_STATUS_TABLE(NUMBER)
#undef NUMBER
};
enum { STATUSES = sizeof statuses / sizeof statuses[0] };

static void test_every_status_has_its_own_texts(void) {
    for (int i = 0; i < STATUSES; i++) {
        TEST_ASSERT_EQUAL_INT(-i, statuses[i]);
        TEST_ASSERT_EQUAL_STRING_LEN("DYN_", dyn_status_name(statuses[i]), 4);
        TEST_ASSERT_TRUE(strlen(dyn_status_cause(statuses[i])) > 0);
        TEST_ASSERT_EQUAL_INT(statuses[i] != DYN_OK, strlen(dyn_status_cure(statuses[i])) > 0);
        for (int k = 0; k < i; k++) {
            TEST_ASSERT_TRUE(strcmp(dyn_status_name(statuses[i]), dyn_status_name(statuses[k])) !=
                             0);
            TEST_ASSERT_TRUE(strcmp(dyn_status_cause(statuses[i]), dyn_status_cause(statuses[k])) !=
                             0);
        }
    }
    TEST_ASSERT_EQUAL_STRING("DYN_E_PIVOT", dyn_status_name(DYN_E_PIVOT));
    TEST_ASSERT_EQUAL_STRING("unknown", dyn_status_name(-STATUSES));
    TEST_ASSERT_EQUAL_STRING("unknown", dyn_status_name(1));
}

/*
 * Makes an arm with units of 1/16 m and 4 kg. Q28 represents up to 8 units, so a mass may be 32 kg,
 * a first moment 2 kg m and an inertia 1/8 kg m^2.
 */
static void two_links(double load) {
    model = (dyn_model_t){.n = 2, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
    model.joint[0].link = (dyn_body_t){1, {0, 0, 0}, {0.01, 0.01, 0.01, 0, 0, 0}};
    model.joint[1].link = (dyn_body_t){1, {0.1, 0, 0}, {0.01, 0.01, 0.01, 0, 0, 0}};
    model.payload = (dyn_body_t){load, {0.1, 0, 0}, {0, 0, 0, 0, 0, 0}};
}

static void expect_ready(int bodies, int ga, int fast, int drives) {
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_ready_q31(&arm, DYN_NEEDS_ne));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_ready_q31(&arm, DYN_NEEDS_wo1));
    TEST_ASSERT_EQUAL_INT(bodies, dyn_ready_q31(&arm, DYN_NEEDS_crba));
    TEST_ASSERT_EQUAL_INT(bodies, dyn_ready_q31(&arm, DYN_NEEDS_aba));
    TEST_ASSERT_EQUAL_INT(bodies, dyn_ready_q31(&arm, DYN_NEEDS_denoc));
    TEST_ASSERT_EQUAL_INT(ga, dyn_ready_q31(&arm, DYN_NEEDS_ga));
    TEST_ASSERT_EQUAL_INT(fast, dyn_ready_q31(&arm, DYN_NEEDS_fast));
    TEST_ASSERT_EQUAL_INT(drives, dyn_ready_q31(&arm, DYN_NEEDS_ne | DYN_NEEDS_DRIVES));
    TEST_ASSERT_EQUAL_INT(drives != DYN_OK ? drives : fast,
                          dyn_ready_q31(&arm, DYN_NEEDS_fast | DYN_NEEDS_DRIVES));
}

static void test_what_fits_is_ready(void) {
    two_links(1);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    expect_ready(DYN_OK, DYN_OK, DYN_OK, DYN_OK);
}

/* With a load of 25 kg the last link has 26 kg at 0.1 m: 2.6 kg m and 0.27 kg m^2 about the origin,
 * which do not fit. Mass and centre of mass fit. */
static void test_a_load_forbids_kernels_and_a_smaller_one_allows_them(void) {
    two_links(25);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    expect_ready(DYN_E_UNITS, DYN_E_UNITS, DYN_E_UNITS, DYN_OK);
    two_links(1);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_q31(&model, &units, &arm));
    expect_ready(DYN_OK, DYN_OK, DYN_OK, DYN_OK);
    two_links(25);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_q31(&model, &units, &arm));
    expect_ready(DYN_E_UNITS, DYN_E_UNITS, DYN_E_UNITS, DYN_OK);
}

/* If the body of another link than the last does not fit, this is still reported after a change of
 * the payload. */
static void test_a_load_does_not_hide_another_link(void) {
    two_links(1);
    model.joint[0].link.mass = 25;
    model.joint[0].link.com[0] = 0.1;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, dyn_ready_q31(&arm, DYN_NEEDS_crba));
    model.payload.mass = 0;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_q31(&model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, dyn_ready_q31(&arm, DYN_NEEDS_crba));
}

static void test_a_rotor_forbids_what_has_drives(void) {
    two_links(1);
    model.joint[0].drive.motor = (dyn_motor_t){.gear = 100, .rotor_inertia = 1};
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    expect_ready(DYN_OK, DYN_OK, DYN_OK, DYN_E_UNITS);
}

/* A last link of 40 kg does not fit at all, so no kernel may run until the payload is smaller. */
static void test_a_mass_that_does_not_fit_forbids_everything(void) {
    two_links(39);
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, dyn_prepare_q31(&model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, dyn_ready_q31(&arm, DYN_NEEDS_ne));
    TEST_ASSERT_EQUAL_INT(DYN_E_UNITS, dyn_ready_q31(&arm, DYN_NEEDS_DRIVES));
    two_links(1);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_q31(&model, &units, &arm));
    expect_ready(DYN_OK, DYN_OK, DYN_OK, DYN_OK);
    model.n = 0;
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_prepare_q31(&model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_ready_q31(&arm, DYN_NEEDS_ne));
}

static void expect_payload_keeps(int status, const dyn_units_t *in_units) {
    TEST_ASSERT_EQUAL_INT(status, dyn_prepare_q31(&model, in_units, &arm));
    model.payload.mass = 0;
    TEST_ASSERT_EQUAL_INT(status, dyn_prepare_payload_q31(&model, in_units, &arm));
    TEST_ASSERT_EQUAL_INT(status, dyn_ready_q31(&arm, DYN_NEEDS_ne));
    TEST_ASSERT_EQUAL_INT(status, dyn_ready_q31(&arm, DYN_NEEDS_fast));
}

/* prepare_payload only prepares the payload anew; other defects of the arm stay. */
static void test_a_load_does_not_mend_an_arm(void) {
    const dyn_units_t growing = {.length = -4, .time = -4, .mass = {2, 3}};
    two_links(1);
    model.joint[0].link.com[0] = 9; /* m, but at most 0.5 m fit */
    expect_payload_keeps(DYN_E_UNITS, &units);
    two_links(1);
    model.joint[1].a = 100;
    expect_payload_keeps(DYN_E_UNITS, &units);
    two_links(1);
    expect_payload_keeps(DYN_E_UNITS, &growing);
    two_links(1);
    model.joint[0].alpha = 0.2;
    expect_payload_keeps(DYN_E_BASE, &units);
    two_links(1);
    model.n = 0;
    expect_payload_keeps(DYN_E_JOINTS, &units);
    /* prepare_payload cannot add a joint either. */
    two_links(1);
    model.n = 1;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    model.n = 2;
    TEST_ASSERT_EQUAL_INT(DYN_E_JOINTS, dyn_prepare_payload_q31(&model, &units, &arm));
    /* Preparing a correct arm clears all errors. */
    two_links(1);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    expect_ready(DYN_OK, DYN_OK, DYN_OK, DYN_OK);
}

static void test_a_load_that_is_no_number_is_refused(void) {
    two_links(1);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm_f32));
    model.payload.mass = (double)NAN;
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_prepare_payload_f32(&model, NULL, &arm_f32));
    TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_ready_f32(&arm_f32, DYN_NEEDS_fast));
    model.payload.mass = 1;
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_payload_f32(&model, NULL, &arm_f32));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_ready_f32(&arm_f32, DYN_NEEDS_fast));
}

static void test_every_number_of_a_model_is_looked_at(void) {
    dyn_drive_t *drive = &model.joint[1].drive;
    double *const number[] = {&drive->motor.resistance,    &drive->motor.torque_constant,
                              &drive->motor.gear,          &drive->motor.rotor_inertia,
                              &drive->motor.voltage,       &drive->friction.viscous,
                              &drive->friction.coulomb[0], &drive->friction.coulomb[1],
                              &drive->friction.width,      &model.base.p[1],
                              &model.base.r[2][2],         &model.tool.p[2],
                              &model.tool.r[1][0]};
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++) {
        two_links(1);
        TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_model_check(&model));
        *number[i] = (double)NAN;
        TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_model_check(&model));
        TEST_ASSERT_EQUAL_INT(DYN_E_NUMBER, dyn_prepare_f32(&model, NULL, &arm_f32));
    }
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_every_status_has_its_own_texts)
    TEST(test_what_fits_is_ready)
    TEST(test_a_load_forbids_kernels_and_a_smaller_one_allows_them)
    TEST(test_a_load_does_not_hide_another_link)
    TEST(test_a_rotor_forbids_what_has_drives)
    TEST(test_a_mass_that_does_not_fit_forbids_everything)
    TEST(test_a_load_does_not_mend_an_arm)
    TEST(test_a_load_that_is_no_number_is_refused)
    TEST(test_every_number_of_a_model_is_looked_at)
TEST_LIST_END
// clang-format on

/*
 * Tests the application in fixed point at the limits of its proof. Within the limits nothing
 * saturates. An image whose limits were raised without a new proof saturates; this is counted and
 * reported, and the torques stay those at the proved limits, so nothing wraps around.
 */
#include "dyn/number/f64.h"
#include "firmware/app/app.h"
#include "firmware/params/bytes.h"
#include "test/support/dyn/dyn_arms.h"
#include "test/support/harness.h"
#include "tools/proof/check.h"
#include "tools/proof/range.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dyn_model_t model;
static dyn_units_t units;
static range_report_t report;
static image_t image;
static dyn_arm_q31_t arm;
static dyn_arm_f64_t exact;
static dyn_arm_check_t checked;
static app_t app;
static app_inputs_t in;
static app_outputs_t out;
static _Alignas(4) uint8_t section[IMAGE_Q31_HEAD + sizeof(dyn_arm_q31_t)], bytes[IMAGE_SIZE_MAX];
static size_t size;
static char names[6][8];

static void copy(const double *from, float *to, int count) {
    for (int i = 0; i < count; i++)
        to[i] = (float)from[i];
}

/* Converts a joint of the PUMA with the limits of dyn_arms_model and with position limits, so that
 * a motion fits the number range. */
static void joint_from(const dyn_model_joint_t *j, image_joint_t *to) {
    image_joint_t *f = to;
    to->type = j->type;
    f->alpha[0] = (float)j->alpha;
    f->a[0] = (float)j->a;
    f->theta[0] = (float)j->theta;
    f->d[0] = (float)j->d;
    f->mass[0] = (float)j->link.mass;
    copy(j->link.com, f->com, 3);
    copy(j->link.inertia, f->inertia, 6);
    f->position[0] = -3;
    f->position[1] = 3;
    f->velocity[0] = 3;
    f->acceleration[0] = 10;
    f->torque[0] = 1000;
    f->gear[0] = (float)j->drive.motor.gear;
    f->rotor_inertia[0] = (float)j->drive.motor.rotor_inertia;
    f->sign[0] = 1;
    f->ratio[0] = 1;
    f->kp[0] = 100;
    f->kd[0] = 10;
}

static void write_image(void) {
    image_where_t where;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, &where));
}

static void prove(void) {
    dyn_arms_model(DYN_ARMS_PUMA, &model);
    memset(&image, 0, sizeof image);
    image.n = model.n;
    image.name = "puma560";
    image.arm.rate_hz[0] = 1000;
    image.has = IMAGE_HAS_RATE;
    copy(model.gravity, image.arm.gravity, 3);
    for (uint32_t i = 0; i < model.n; i++) {
        joint_from(&model.joint[i], &image.joint[i]);
        names[i][0] = (char)('a' + i);
        image.joint_name[i] = names[i];
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, image_model(&image, &model));
    TEST_ASSERT_EQUAL_INT(DYN_OK, range_choose_units(range_all, &model, &units, &report));
    memset(&arm, 0, sizeof arm);
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_q31(&model, &units, &arm));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f64(&model, NULL, &exact));
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_check(&model, &units, &checked));
    image.proved = true;
    image.q31_length = units.length;
    image.q31_time = units.time;
    for (uint32_t i = 0; i < model.n; i++)
        image.joint[i].q31_mass = units.mass[i];
    image_put_q31(&arm, section);
    image.section[IMAGE_SECTION_Q31A] = (image_section_t){section, image_q31_size(model.n)};
    write_image();
}

static int load(void) {
    app_init(&app);
    return app_load(&app, bytes, size);
}

static void raise_limits(void) {
    for (uint32_t i = 0; i < model.n; i++) {
        image.joint[i].velocity[0] *= 8;
        image.joint[i].acceleration[0] *= 8;
    }
    write_image();
}

/* Returns the angle that the kernel gets. The kernel's own copy is not available, because the
 * simulated arm uses the same memory later. */
static int32_t angle_of(uint32_t i) {
    const dyn_gain_q31_t angle = app.control[app.now].joint[i].angle;
    return (int32_t)(uint32_t)(((int64_t)angle.k * app.loop.q_mid[i]) >> angle.cut);
}

static double si(int32_t raw, int exponent) {
    return dyn_q31_to(raw, exponent);
}

/* Compares the torques of the model with those in double at the same state, clamped to the limits
 * of the proof. */
static void expect_proved_torques(double *largest) {
    double q[DYN_MAX_JOINTS], qd[DYN_MAX_JOINTS], qdd[DYN_MAX_JOINTS], tau[DYN_MAX_JOINTS];
    static dyn_fast_scratch_f64_t scratch;
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
        q[i] = dyn_q31_angle_rad(angle_of(i));
        qd[i] = fmax(-3, fmin(3, si(app.loop.qd_mid[i], e.velocity)));
        qdd[i] = fmax(-10, fmin(10, si(app.loop.qdd_ref[i], e.acceleration)));
    }
    dyn_fast_inverse_f64(&exact, &scratch, q, qd, qdd, tau);
    dyn_rotor_inverse_f64(&exact, qdd, tau);
    for (uint32_t i = 0; i < model.n; i++) {
        const dyn_q31_exponents_t e = dyn_q31_exponents(&model, &units, i);
        const double got = si(app.loop.tau_model[i], e.torque);
        TEST_ASSERT_DOUBLE_WITHIN(report.tau_error[i], tau[i], got);
        *largest = fmax(*largest, fabs(got));
    }
}

/* Computes the same states with checked numbers and without clamping, to count the overflows that
 * clamping prevents. */
static void compute_unheld(void) {
    static dyn_fast_scratch_check_t scratch;
    int32_t tau[DYN_MAX_JOINTS], q[DYN_MAX_JOINTS];
    for (uint32_t i = 0; i < model.n; i++)
        q[i] = angle_of(i);
    dyn_fast_inverse_check(&checked, &scratch, q, app.loop.qd_mid, app.loop.qdd_ref, tau);
}

/* Moves all joints there and back as fast as the limits of the image allow. Returns the number of
 * ticks in which a number saturated. */
static uint32_t swing(double *largest) {
    motion_t motion = {.kind = MOTION_QUINTIC};
    const sample_t *sample;
    uint32_t reported = 0;
    for (int way = 0; way < 4; way++) {
        for (uint32_t i = 0; i < model.n; i++)
            motion.value[i] = way % 2 ? -2.5F : 2.5F;
        TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
        do {
            app_tick(&app, &in, &out);
            TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, app.safety.fault);
            if (app.safety.state == APP_STATE_RUNNING) {
                expect_proved_torques(largest);
                compute_unheld();
            }
            for (; (sample = app_sample_peek(&app)); app_sample_release(&app))
                reported += sample->unproved != 0;
        } while (app.motion.kind != MOTION_HOLD);
    }
    return reported;
}

static void test_within_the_limits_nothing_saturates(void) {
    app_status_t status;
    double largest = 0;
    prove();
    TEST_ASSERT_EQUAL_INT(APP_OK, load());
    check_begin(true);
    TEST_ASSERT_EQUAL_UINT32(0, swing(&largest));
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_UINT32(0, status.unproved);
    TEST_ASSERT_TRUE(largest > 50); /* the arm moved fast */
}

/* Opens the guards. With the clamped model the arm cannot follow, and a guard would end the motion
 * before many numbers exceed the proof. */
static void unguard(void) {
    static const uint32_t guards[] = {PARAMETER_guard_tracking, PARAMETER_guard_position,
                                      PARAMETER_guard_limit_s};
    for (uint32_t i = 0; i < sizeof guards / sizeof guards[0]; i++) {
        const float most = parameter_table[guards[i]].most;
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, guards[i], 0, most));
    }
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_guard_direction, 0, 0));
}

static void test_a_raised_limit_saturates_counts_and_reports(void) {
    app_status_t status;
    double largest = 0;
    prove();
    raise_limits();
    TEST_ASSERT_EQUAL_INT(APP_OK, load());
    unguard();
    check_begin(false);
    const uint32_t reported = swing(&largest);
    app_status(&app, &status);
    TEST_ASSERT_TRUE(reported > 50);
    TEST_ASSERT_EQUAL_UINT32(reported, status.unproved);
    TEST_ASSERT_TRUE(check_overflows() > 0); /* without clamping, numbers wrap around */
    for (uint32_t i = 0; i < model.n; i++)
        TEST_ASSERT_TRUE(largest <= fmax(report.tau_bound[0], report.tau_bound[1]));
    printf("measured fixed.saturated %u\nmeasured fixed.wrapped %ld\n", (unsigned)reported,
           check_overflows());
    harness_note_number("ticks that saturated", reported);
    harness_note_number("sums that would have wrapped", check_overflows());
}

/* With the guards in place, the arm is stopped when it lags too far behind. */
static void test_a_raised_limit_ends_in_a_stop(void) {
    motion_t motion = {.kind = MOTION_QUINTIC};
    app_status_t status;
    prove();
    raise_limits();
    TEST_ASSERT_EQUAL_INT(APP_OK, load());
    for (uint32_t i = 0; i < model.n; i++)
        motion.value[i] = 2.5F;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    for (int i = 0; i < 1000 && app.safety.fault == APP_FAULT_NONE; i++)
        app_tick(&app, &in, &out);
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_TRACKING, status.fault);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, status.state);
    TEST_ASSERT_TRUE(status.unproved > 0);
}

/* Fixed point is refused without the constants of a proof, or with those of another build. */
static void test_without_a_proof_nothing_is_loaded(void) {
    prove();
    image.section[IMAGE_SECTION_Q31A].bytes = NULL;
    write_image();
    TEST_ASSERT_EQUAL_INT(APP_E_IMAGE + IMAGE_E_UNPROVED, load());
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_UNCONFIGURED, app.safety.state);
    prove();
    section[0] ^= 1;
    write_image();
    TEST_ASSERT_EQUAL_INT(APP_E_IMAGE + IMAGE_E_BUILD, load());
    prove();
    image.proved = false;
    for (uint32_t i = 0; i < model.n; i++)
        image.joint[i].q31_mass = 0;
    write_image();
    TEST_ASSERT_EQUAL_INT(APP_E_UNPROVED, load());
}

/* A writer that changes a constant, or a number without preparing its constants again, is found,
 * although the checksum of the image is right: each word, in five ways. */
static void test_constants_that_do_not_belong_are_refused(void) {
    uint32_t tried = 0;
    prove();
    TEST_ASSERT_EQUAL_INT(APP_OK, load());
    const uint32_t from = (uint32_t)size - image_q31_size(model.n);
    for (uint32_t at = from; at < size; at += 4) {
        const uint32_t word = get_u32(bytes + at);
        const uint32_t other[] = {word + 1, word ^ 0x80000000, word ^ 0x00010000, ~word,
                                  word == 0 ? 0x12345678 : 0};
        for (size_t k = 0; k < sizeof other / sizeof other[0]; k++, tried++) {
            put_u32(bytes + at, other[k]);
            put_u32(bytes + 4, crc32_add(0, bytes + 8, size - 8));
            TEST_ASSERT_EQUAL_INT(APP_E_IMAGE + IMAGE_E_CONSTANTS, load());
        }
        put_u32(bytes + at, word);
    }
    put_f32(bytes + IMAGE_HEAD_SIZE + offsetof(image_joint_t, mass), 18);
    put_u32(bytes + 4, crc32_add(0, bytes + 8, size - 8));
    TEST_ASSERT_EQUAL_INT(APP_E_IMAGE + IMAGE_E_CONSTANTS, load());
    harness_note_number("altered constants, all refused:", (int64_t)tried);
}

/* The proof is valid only for the payload of the image, so another payload is refused. */
static void test_another_payload_is_refused(void) {
    prove();
    TEST_ASSERT_EQUAL_INT(APP_OK, load());
    TEST_ASSERT_EQUAL_INT(APP_E_UNITS, app_set(&app, PARAMETER_payload_mass, 0, 1));
}

// clang-format off
TEST_LIST_BEGIN
    TEST(test_within_the_limits_nothing_saturates)
    TEST(test_a_raised_limit_saturates_counts_and_reports)
    TEST(test_a_raised_limit_ends_in_a_stop)
    TEST(test_without_a_proof_nothing_is_loaded)
    TEST(test_constants_that_do_not_belong_are_refused)
    TEST(test_another_payload_is_refused)
TEST_LIST_END
// clang-format on

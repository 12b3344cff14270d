/*
 * Requests to a board that holds an arm without brakes. None of them but a release takes torque or a
 * guard from the arm: neither at once, nor when an override or a lease ends, nor by being repeated in
 * every tick.
 */
#include "test/support/harness.h"

#include <math.h>

#include "firmware/app/app.h"
#include "test/support/planar_image.h"

/* Two links of 1 kg and 0.5 m in a vertical plane; stretched, gravity takes 9.81 N m of the 50 N m
 * of joint 0. The nominal supply is 40 V. */
enum { ME = 7, OTHER = 8 };

static app_t app;
static uint8_t bytes[8192];
static size_t size;
static app_outputs_t out;
static app_inputs_t in;
static uint32_t ticks_in_lock; /* ticks that come before the next lock */

/* The tick that came just before the interrupts were locked. */
uint32_t app_clock_lock(void) {
    for (; ticks_in_lock > 0; ticks_in_lock--)
        app_tick(&app, &in, &out);
    return 0;
}

static void write_image(void) {
    static image_t image;
    planar_image_motors(&image);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
}

static void load(void) {
    write_image();
    in = (app_inputs_t){.counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    ticks_in_lock = 0;
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_brakes, 0, 0));
}

/* The background has its turn after every tick. */
static void tick(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        app_tick(&app, &in, &out);
        app.tail = app.head;
        app_poll(&app);
    }
}

static int set(uint32_t parameter, float value) {
    return app_set(&app, parameter, 0, value);
}

static void must_set(uint32_t parameter, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, set(parameter, value));
}

static void must_override(uint32_t parameter, uint32_t at, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_override(&app, ME, parameter, at, value));
}

static float value_of(uint32_t parameter) {
    float value = NAN;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_get(&app, parameter, 0, &value));
    return value;
}

static void lease(uint32_t ms) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, ms));
}

static int start(uint32_t kind, float to0, float to1) {
    const motion_t motion = {.kind = kind, .value = {to0, to1}};
    return app_motion_start(&app, &motion);
}

/* Puts the arm at the angle q of joint 0, elbow straight, and holds it there. */
static void hold_at(float q) {
    const float at[DYN_MAX_JOINTS] = {q};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, at));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(300);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* The arm is where it was, and the loop still holds it. */
static void expect_held(float q) {
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    TEST_ASSERT_FLOAT_WITHIN(0.02f, q, (float)app.sim_arm.q[0]);
}

/* ------------------------------------------------------------------------------- the other arm */

/* What a command overrides, and how long its lease lasts, is for the simulated arm. */
static void test_the_arm_is_not_exchanged_under_a_command(void) {
    load();
    lease(60000);
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, set(PARAMETER_arm, ARM_REAL));
    must_override(PARAMETER_guard_speed, 0, 10);
    TEST_ASSERT_EQUAL_INT(APP_E_OVERRIDE, set(PARAMETER_arm, ARM_REAL));
    TEST_ASSERT_EQUAL_FLOAT(ARM_SIMULATED, value_of(PARAMETER_arm));
    lease(0);
    tick(1);
    must_set(PARAMETER_arm, ARM_REAL);
    lease(60000);
    TEST_ASSERT_EQUAL_INT(APP_E_OVERRIDE, app_override(&app, ME, PARAMETER_guard_speed, 0, 10));
    TEST_ASSERT_EQUAL_UINT32(LEASE_MS + 1, app.lease.left);
}

/* ------------------------------------------------------------------------------------- overrides */

/* The values beneath hold the arm less, or not at all: they return when the outputs are off. */
static void test_the_end_of_a_lease_drops_nothing(void) {
    static const struct {
        uint32_t parameter;
        float beneath, during;
    } change[] = {{PARAMETER_feedback, FEEDBACK_OFF, FEEDBACK_PD},
                  {PARAMETER_feedforward, FEEDFORWARD_OFF, FEEDFORWARD_FULL},
                  {PARAMETER_kp, 0, 900},
                  {PARAMETER_kp, 1e-6f, 900},
                  {PARAMETER_kd, 0, 60},
                  {PARAMETER_guard_tracking, 1, 0.2f}};
    for (unsigned k = 0; k < sizeof change / sizeof change[0]; k++) {
        load();
        must_set(change[k].parameter, change[k].beneath);
        lease(500);
        must_override(change[k].parameter, 0, change[k].during);
        hold_at(0);
        tick(1000);
        TEST_ASSERT_EQUAL_FLOAT(change[k].during, value_of(change[k].parameter));
        expect_held(0);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
        tick(2);
        TEST_ASSERT_EQUAL_FLOAT(change[k].beneath, value_of(change[k].parameter));
        TEST_ASSERT_EQUAL_UINT32(0, app.overrides.count);
    }
}

/* The payload beneath is too heavy in this pose, so it waits, and the loop goes on as if nobody had
 * tried. */
static void test_a_value_that_cannot_return_waits(void) {
    load();
    must_set(PARAMETER_payload_x, 0.5f);
    must_set(PARAMETER_payload_mass, 5); /* 49 N m more if stretched */
    lease(500);
    must_override(PARAMETER_payload_mass, 0, 0);
    hold_at(0);
    tick(1000);
    TEST_ASSERT_EQUAL_FLOAT(0, value_of(PARAMETER_payload_mass));
    TEST_ASSERT_EQUAL_UINT32(1, app.overrides.count);
    for (int k = 0; k < 5; k++) { /* somebody pushes */
        app.sim_arm.qd[0] += 0.2f;
        tick(200);
    }
    expect_held(0);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(2);
    TEST_ASSERT_EQUAL_FLOAT(5, value_of(PARAMETER_payload_mass));
}

/* CLEAR comes before the background has had its turn after the fault. */
static void test_guards_do_not_survive_a_fault(void) {
    load();
    must_set(PARAMETER_guard_speed, 1.2f);
    lease(5000);
    must_override(PARAMETER_guard_speed, 0, 10);
    hold_at(0);
    in.lost = 1;
    app_tick(&app, &in, &out);
    in.lost = 0;
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
    while (app_clear(&app) != APP_OK)
        app_tick(&app, &in, &out);
    tick(1);
    TEST_ASSERT_EQUAL_FLOAT(1.2f, value_of(PARAMETER_guard_speed));
    expect_held(0);
}

/* A robot that is loaded gets nothing that was meant for the one before. */
static void test_loading_forgets_overrides(void) {
    load();
    hold_at(0);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    lease(1000);
    must_override(PARAMETER_kp, 1, 5);
    must_override(PARAMETER_position_upper, 1, 1);
    must_override(PARAMETER_guard_speed, 0, 10);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
    TEST_ASSERT_EQUAL_UINT32(0, app.overrides.count);
    TEST_ASSERT_EQUAL_FLOAT(1.5f, value_of(PARAMETER_guard_speed));
    TEST_ASSERT_EQUAL_FLOAT(900, app.joint[1].kp);
    TEST_ASSERT_EQUAL_FLOAT(3, app.joint[1].position[1]);
    TEST_ASSERT_EQUAL_UINT32(0, app.notice);
}

/* ------------------------------------------------------------------------------------ parameters */

/* The feedback may become weaker, but it must be stiffer than gravity: 50 N m/rad. Without
 * feedforward it gives the whole torque within guard_tracking: 50 N m / 0.25 rad = 200 N m/rad. */
static void test_feedback_stays_strong(void) {
    load();
    must_set(PARAMETER_feedforward, FEEDFORWARD_OFF); /* kp alone holds the arm */
    hold_at(0);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kp, 1e-6f));
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kp, 199));
    must_set(PARAMETER_kp, 201);
    tick(500);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kp, 199));
    TEST_ASSERT_FLOAT_WITHIN(0.06f, 0, (float)app.sim_arm.q[0]); /* 9.81 / 201 */
    must_set(PARAMETER_feedforward, FEEDFORWARD_GRAVITY);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kp, 49));
    must_set(PARAMETER_kp, 51);
    tick(6000); /* kd / kp: 1.2 s */
    expect_held(0);
    must_set(PARAMETER_feedback, FEEDBACK_COMPUTED_TORQUE);
    tick(1000);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_torque_hz, 0.01f));
    must_set(PARAMETER_kp, 1); /* not in use now */
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_feedback, FEEDBACK_PD));
    must_set(PARAMETER_kp, 900);
    must_set(PARAMETER_feedback, FEEDBACK_PD);
    tick(1000);
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
}

/* Nothing uses the gains while the arm is damped: then even the cure of `unstable` is possible. */
static void test_gains_are_lowered_while_damped(void) {
    load();
    hold_at(0);
    in.overrun = 1;
    tick(3);
    in.overrun = 0;
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    must_set(PARAMETER_kp, 100);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_DAMPING, app.safety.state);
    must_set(PARAMETER_kp, 50);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_guard_speed, 10));
}

/* A supply guard that becomes stricter would fire at once: supply low releases the arm. */
static void test_supply_guards_wait(void) {
    load();
    in.supply_mV = 39000;
    hold_at(0);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, set(PARAMETER_guard_supply_low, 1));
    in.supply_mV = 41000;
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, set(PARAMETER_guard_supply_high, 1));
    tick(10);
    expect_held(0);
}

/* Somebody changes a parameter in every tick: the loop goes on all the same. */
static void test_a_storm_of_changes(void) {
    static const uint32_t parameter[] = {PARAMETER_sample_every, PARAMETER_kp, PARAMETER_payload_x};
    static const float value[][2] = {{1, 2}, {900, 901}, {0, 0.01f}};
    for (unsigned k = 0; k < sizeof parameter / sizeof parameter[0]; k++) {
        load();
        hold_at(0);
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_QUINTIC, 1, -0.5f));
        float worst = 0;
        for (int t = 0; t < 3000; t++) {
            must_set(parameter[k], value[k][t % 2]);
            tick(1);
            worst = fmaxf(worst, fabsf((float)(app.loop.q_ref[0] - app.loop.q[0])));
        }
        harness_note_number("largest tracking error with a change in every tick, urad:",
                            (int64_t)((double)worst * 1e6));
        TEST_ASSERT_TRUE(worst < 0.02f);
        expect_held(1);
    }
}

/* With the outputs off, a change is there in the next tick, whenever the last one was. */
static void test_changes_at_rest_are_taken_at_once(void) {
    load();
    must_set(PARAMETER_feedforward, FEEDFORWARD_OFF);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    app_tick(&app, &in, &out);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_EQUAL_UINT32(FEEDFORWARD_OFF, app.control[app.now].feedforward);
    TEST_ASSERT_EQUAL_FLOAT(0, (float)app.loop.tau_model[0]);
}

/* ----------------------------------------------------------------------------------------- lease */

/* The lease lapses while the background prepares the motion: it must not begin. */
static void test_a_lease_that_lapses_during_preparation(void) {
    load();
    lease(1);
    ticks_in_lock = 5;
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, start(MOTION_QUINTIC, 0.2f, 0));
    tick(100);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
    hold_at(0);
    lease(1);
    ticks_in_lock = 5; /* in begin(): a motion of an arm that is held has no earlier lock */
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, start(MOTION_QUINTIC, 0.2f, 0));
    tick(500);
    expect_held(0);
}

TEST_LIST_BEGIN
TEST(test_the_arm_is_not_exchanged_under_a_command)
TEST(test_the_end_of_a_lease_drops_nothing)
TEST(test_a_value_that_cannot_return_waits)
TEST(test_guards_do_not_survive_a_fault)
TEST(test_loading_forgets_overrides)
TEST(test_feedback_stays_strong)
TEST(test_gains_are_lowered_while_damped)
TEST(test_supply_guards_wait)
TEST(test_a_storm_of_changes)
TEST(test_changes_at_rest_are_taken_at_once)
TEST(test_a_lease_that_lapses_during_preparation)
TEST_LIST_END

/*
 * Torque, brakes and stops at the pins (findings H3 and H4), and an arm with more joints than the
 * board has outputs (S5). The arm of MuJoCo stands in the pose of test/support/seam_board.c, where
 * gravity pulls at shoulder and elbow.
 */
#include <math.h>
#include <stdio.h>

#include "test/support/seam_board.h"

static double before[SEAM_JOINTS];

static void remember(void) {
    for (unsigned i = 0; i < SEAM_JOINTS; i++)
        before[i] = rig_position(i);
}

/* Returns how far the joint that has moved farthest has moved, rad. */
static double moved(void) {
    double most = 0;
    for (unsigned i = 0; i < SEAM_JOINTS; i++)
        most = fmax(most, fabs(rig_position(i) - before[i]));
    return most;
}

/* Torque is there before the brake opens, and the brake has closed before torque goes: the arm does
 * not sink, neither at the start nor at the end. */
static void start_and_stop(void) {
    enum { MOST_MS = 1000 };
    bool on = false, open = false;
    double on_ms = 0, open_ms = 0;
    remember();
    TEST_ASSERT_EQUAL(0, hold());
    for (double ms = 0; ms < 300; ms += 0.5) {
        chip_run(CHIP_US(500));
        on_ms = !on && chip_outputs_on() ? ms : on_ms;
        on = on || chip_outputs_on();
        open_ms = !open && chip_brake_open() ? ms : open_ms;
        open = open || chip_brake_open();
        TEST_ASSERT_TRUE_MESSAGE(!chip_brake_open() || chip_outputs_on(), "open without torque");
    }
    TEST_ASSERT_TRUE(on && open);
    TEST_ASSERT_DOUBLE_WITHIN(2, 10, open_ms - on_ms);
    harness_note_number("start with brakes: the arm moved, urad:", (int64_t)(1e6 * moved()));
    TEST_ASSERT_TRUE(moved() < 2e-3);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_stop(client, false), client->error.what);
    double closed_ms = -1, off_ms = -1;
    for (double ms = 0; ms < MOST_MS && off_ms < 0; ms += 0.5) {
        chip_run(CHIP_US(500));
        closed_ms = closed_ms < 0 && !chip_brake_open() ? ms : closed_ms;
        off_ms = !chip_outputs_on() ? ms : off_ms;
    }
    TEST_ASSERT_DOUBLE_WITHIN(2, 60, off_ms - closed_ms);
    chip_run(CHIP_MS(300));
    harness_note_number("stop with brakes: the arm moved, urad:", (int64_t)(1e6 * moved()));
    TEST_ASSERT_TRUE(moved() < 2e-3);
    expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
    fail_if_wrong();
}

static void test_h3_brakes_take_over_without_a_drop(void) {
    in_copy(start_and_stop);
}

/* On an e-stop both go at once: the arm drops while the brake engages. */
static void estop_with_brakes(void) {
    must_hold();
    chip_run(CHIP_MS(200));
    remember();
    chip_estop(true);
    chip_run(CHIP_US(20));
    TEST_ASSERT_FALSE(chip_outputs_on());
    TEST_ASSERT_FALSE(chip_brake_open());
    chip_run(CHIP_MS(100));
    harness_note_number("e-stop with brakes of 60 ms: the arm dropped, urad:",
                        (int64_t)(1e6 * moved()));
    TEST_ASSERT_TRUE(moved() > 1e-4 && moved() < 0.1);
    remember();
    chip_run(CHIP_MS(300));
    TEST_ASSERT_TRUE(moved() < 1e-3); /* the brakes hold it */
    fail_if_wrong();
}

static void test_estop_drops_the_arm_until_the_brake_holds(void) {
    in_copy(estop_with_brakes);
}

/* Without brakes the loop goes on holding after a stop. An e-stop lets the arm fall: nothing is left
 * to brake with. */
static void without_brakes(void) {
    rig.braked = false;
    must_set("brakes", 0);
    remember();
    must_hold();
    TEST_ASSERT_EQUAL(0, client_stop(client, false));
    chip_run(CHIP_MS(1000));
    TEST_ASSERT_TRUE(chip_outputs_on());
    expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
    remember();
    chip_run(CHIP_MS(500));
    TEST_ASSERT_TRUE(moved() < 2e-3);
    chip_estop(true);
    chip_run(CHIP_MS(400));
    harness_note_number("e-stop without brakes: fall in 0.4 s, urad:", (int64_t)(1e6 * moved()));
    TEST_ASSERT_TRUE(moved() > 0.1);
    fail_if_wrong();
}

static void test_without_brakes_a_stop_holds_and_an_estop_drops(void) {
    in_copy(without_brakes);
}

/* Damp and release differ at the pins of a board with an enable output: damped, the drivers short
 * their motors, and the arm sinks slowly. */
static double sink(void) {
    remember();
    chip_run(CHIP_MS(400));
    return moved();
}

static void damp(void) {
    rig.braked = false;
    must_set("brakes", 0);
    must_hold();
    chip_run(CHIP_MS(100));
    chip_world.encoder[1].powered = false; /* nothing is left but shorted windings */
    expect_stopped(APP_FAULT_ENCODER, CHIP_MS(50));
    TEST_ASSERT_FALSE(chip_motor(1).coasts);
    const double damped = sink();
    harness_note_number("damped without brakes: sank in 0.4 s, urad:", (int64_t)(1e6 * damped));
    TEST_ASSERT_EQUAL(0, client_stop(client, true)); /* release, on purpose */
    chip_run(CHIP_MS(5));
    TEST_ASSERT_TRUE(chip_motor(1).coasts);
    const double released = sink();
    harness_note_number("released without brakes: fell in 0.4 s, urad:", (int64_t)(1e6 * released));
    TEST_ASSERT_TRUE(released > 5 * damped);
    fail_if_wrong();
}

static void test_h4_damp_is_not_release(void) {
    in_copy(damp);
}

/* S5: the list of a robot with eight joints and without gains on a board with six outputs. */
static void eight_joints(void) {
    device_hardware_t h;
    must_set("arm", ARM_SIMULATED);
    for (unsigned i = SEAM_JOINTS; i < SEAM_JOINTS + 2; i++) {
        robot->joint[i] = robot->joint[SEAM_JOINTS - 1];
        snprintf(robot->joint[i].name, sizeof robot->joint[i].name, "extra%u", i);
        robot->joint[i].kp = 0;
        robot->model.joint[i] = robot->model.joint[SEAM_JOINTS - 1];
    }
    robot->n = robot->model.n = SEAM_JOINTS + 2;
    send_robot();
    TEST_ASSERT_EQUAL(0, client_discover(client));
    must_set("brakes", 0);
    TEST_ASSERT_EQUAL(-1, set("arm", ARM_REAL));
    TEST_ASSERT_EQUAL(APP_E_FIT, client->reason);
    TEST_ASSERT_EQUAL(0, client_hardware(client, &h));
    TEST_ASSERT_EQUAL_HEX32(1u << FIT_MOTOR | 1u << FIT_ENCODER | 1u << FIT_GAINS, h.misfits);
    TEST_ASSERT_EQUAL_HEX32(0xc0, h.joints[FIT_MOTOR]);
    TEST_ASSERT_EQUAL_HEX32(0xc0, h.joints[FIT_ENCODER]);
    TEST_ASSERT_EQUAL_HEX32(0xc0, h.joints[FIT_GAINS]);
}

static void test_s5_eight_joints_on_six_outputs(void) {
    in_copy(eight_joints);
}

TEST_LIST_BEGIN
TEST(test_h3_brakes_take_over_without_a_drop)
TEST(test_estop_drops_the_arm_until_the_brake_holds)
TEST(test_without_brakes_a_stop_holds_and_an_estop_drops)
TEST(test_h4_damp_is_not_release)
TEST(test_s5_eight_joints_on_six_outputs)
TEST_LIST_END

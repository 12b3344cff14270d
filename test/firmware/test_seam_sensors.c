/* The whole firmware with an arm at its pins (test/support/seam_board.h): sensors that fail, homing,
 * and robots that do not fit the board. */
#include "test/support/seam_board.h"

#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = SEAM_JOINTS };

/* -------------------------------------------------------------------------------------- sensors */

/* H10: guards that lose their measurement must not fall silent. */
static void supply_wire_breaks(void) {
    must_hold();
    chip_world.supply_broken = true;
    expect_stopped(APP_FAULT_SUPPLY_LOW, CHIP_MS(500));
}

static void test_h10_broken_supply_wire(void) {
    in_copy(supply_wire_breaks);
}

/* The filter never sees a voltage: 0 mV is too low, not unmeasured. */
static void supply_is_not_wired(void) {
    chip_world.supply_broken = true;
    chip_run(CHIP_MS(200));
    TEST_ASSERT_EQUAL(0, hold());
    expect_stopped(APP_FAULT_SUPPLY_LOW, CHIP_MS(5));
}

static void test_h10_supply_is_not_wired(void) {
    in_copy(supply_is_not_wired);
}

static void converter_dies(void) {
    must_hold();
    chip_world.adc_dead = true;
    expect_stopped(APP_FAULT_SUPPLY_SENSOR, CHIP_MS(1500));
}

static void test_h10_dead_converter(void) {
    in_copy(converter_dies);
}

/* The motor supply changes while the arm is simulated: the first ticks of the real arm know it. */
static void supply_changes(void) {
    must_set("arm", ARM_SIMULATED);
    chip_world.supply_mV = 30000;
    chip_run(CHIP_MS(100));
    must_set("arm", ARM_REAL);
    chip_run(CHIP_MS(3));
    TEST_ASSERT_INT32_WITHIN(100, 30000, tick_app()->safety.guard.supply_mV);
    must_hold();
}

static void test_supply_changes_while_simulated(void) {
    in_copy(supply_changes);
}

/* H13: the chip reports a weak field before its angle goes wrong. */
static void magnet_moves_away(void) {
    must_hold();
    chip_world.encoder[2].magnet = CHIP_MAGNET_FAR;
    expect_stopped(APP_FAULT_MAGNET, CHIP_MS(500));
}

static void test_weak_magnet(void) {
    in_copy(magnet_moves_away);
}

/* The angle becomes noise: the arm must not follow it. A motor that gets its full torque for some ms
 * moves a joint by less than this. */
static void magnet_falls_off(void) {
    double before[N];
    must_hold();
    for (unsigned i = 0; i < N; i++)
        before[i] = rig_position(i);
    chip_world.encoder[2].magnet = CHIP_MAGNET_GONE;
    chip_run(CHIP_MS(100));
    TEST_ASSERT_EQUAL(APP_STATE_FAULT, status_now().state);
    for (unsigned i = 0; i < N; i++)
        TEST_ASSERT_TRUE(fabs(rig_position(i) - before[i]) < 0.05);
}

static void test_magnet_gone(void) {
    in_copy(magnet_falls_off);
}

static void encoder_loses_power(void) {
    must_hold();
    chip_world.encoder[4].powered = false;
    expect_stopped(APP_FAULT_ENCODER, CHIP_MS(50));
}

static void test_encoder_without_power(void) {
    in_copy(encoder_loses_power);
}

/* H12: no motion before every encoder has said where it is. */
static void encoder_is_silent(void) {
    must_set("arm", ARM_SIMULATED);
    chip_run(CHIP_MS(3)); /* no encoder is read any more */
    chip_world.encoder[4].powered = false;
    must_set("arm", ARM_REAL);
    chip_run(CHIP_MS(10));
    TEST_ASSERT_EQUAL(-1, hold());
    TEST_ASSERT_EQUAL(APP_E_UNREAD, client->reason);
    chip_world.encoder[4].powered = true;
    chip_run(CHIP_MS(10));
    must_hold();
}

static void test_h12_no_motion_before_the_first_reading(void) {
    in_copy(encoder_is_silent);
}

/* H12: six encoders need twelve interrupts, each with a pause of 350 ns or two; the rate check counts
 * them. */
static void encoders_take_time(void) {
    device_hardware_t h;
    TEST_ASSERT_EQUAL(0, client_hardware(client, &h));
    TEST_ASSERT_GREATER_THAN_UINT32(2 * N * 350, h.is.busy_ns);
    TEST_ASSERT_LESS_THAN_UINT32(100000, h.is.busy_ns);
}

static void test_h12_the_board_tells_the_time_of_its_encoders(void) {
    in_copy(encoders_take_time);
}

/* Single disturbed frames are noticed and not used. */
static void encoder_noise(void) {
    must_hold();
    for (unsigned k = 0; k < 200; k++) {
        chip_world.encoder[k % N].noise = (uint16_t)(1u << k % 16);
        chip_run(CHIP_MS(3));
    }
    expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
    double error = 0;
    for (unsigned i = 0; i < N; i++)
        error = fmax(error, fabs((double)tick_app()->loop.q[i] - rig_position(i)));
    TEST_ASSERT_TRUE(error < 0.002);
}

static void test_disturbed_frames(void) {
    in_copy(encoder_noise);
}

/* --------------------------------------------------------------------------------------- homing */

static void glitch_end(void *joint) {
    rig.glitches &= ~(1u << *(unsigned *)joint);
}

static void glitch_begin(void *joint) {
    rig.glitches |= 1u << *(unsigned *)joint;
    chip_at(chip_now() + CHIP_MS(3), glitch_end, joint);
}

/* Homes a joint at a switch `way` above its position. */
static void home(unsigned joint, double way) {
    motion_t motion = {.kind = MOTION_HOME};
    char name[40];
    rig.switches = 1u << joint;
    rig.switch_side[joint] = 1;
    rig.switch_at[joint] = rig_position(joint) + way;
    snprintf(name, sizeof name, "home[%u]", joint + 1);
    must_set(name, HOME_SWITCH);
    snprintf(name, sizeof name, "home_position[%u]", joint + 1);
    must_set(name, rig.switch_at[joint]);
    chip_run(CHIP_MS(5));
    motion.value[joint] = 1;
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    chip_run(CHIP_MS(5));
    for (unsigned k = 0; k < 200 && tick_app()->safety.state == APP_STATE_HOMING; k++)
        live(50);
}

/* H8: glitches of 3 ms on the wire of a switch do not change the position that homing finds. */
static void glitches(void) {
    static unsigned waist = 0;
    must_set("encoder_offset[1]", 0.4); /* wrong: homing must find it */
    /* one while the joint seeks the switch, one while it touches it, far away from it */
    chip_at(chip_now() + CHIP_MS(300), glitch_begin, &waist);
    chip_at(chip_now() + CHIP_MS(800), glitch_begin, &waist);
    home(waist, 0.15);
    expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
    const double error = fabs((double)tick_app()->loop.q[waist] - rig_position(waist));
    harness_note_number("homing with glitches: error, urad:", (int64_t)(error * 1e6));
    TEST_ASSERT_EQUAL_UINT32(0, tick_app()->loop.unhomed);
    TEST_ASSERT_TRUE(error < 0.002);
}

static void test_h8_glitches_during_homing(void) {
    in_copy(glitches);
}

/* Gives the last two joints the quadrature encoders that the board's file describes. The table is
 * constant for the program; here the pages that contain it are made writable before it starts. */
static void solder_quadrature(void) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)&board & ~(page - 1);
    board_encoders_t *table = (board_encoders_t *)(uintptr_t)&board.encoder;
    TEST_ASSERT_EQUAL(
        0, mprotect((void *)first, (uintptr_t)(&board + 1) - first, PROT_READ | PROT_WRITE));
    table->quadrature[4] =
        (board_quadrature_t){TIM5, RCC_TIM5, .a = PIN(A, 0), .b = PIN(A, 1), .af = 2};
    table->quadrature[5] =
        (board_quadrature_t){TIM4, RCC_TIM4, .a = PIN(B, 6), .b = PIN(B, 7), .af = 2};
    table->select[4] = table->select[5] = 0;
}

/* Gear motors with quadrature encoders at the motors: the joints are not homed at power-up, home at
 * their switches, and follow a motion during which the counters of 16 bits wrap. */
static void gear_motors(void) {
    enum { COUNTS = 2000 }; /* no power of two: the counter wraps within a turn */
    const double ratio[] = {-60, 60}, target[] = {1.4, -1.4};
    motion_t motion = {.kind = MOTION_QUINTIC, .duration_s = 3};
    solder_quadrature();
    seam_power_up();
    for (unsigned i = 4; i < N; i++) {
        rig.quadrature[i] = i == 4 ? 5 : 4;
        robot->joint[i].encoder = (robot_encoder_t){.counts = COUNTS,
                                                    .sign = ratio[i - 4] < 0 ? -1 : 1,
                                                    .offset = 0.2,
                                                    .ratio = fabs(ratio[i - 4])};
    }
    seam_connect();
    must_set("brakes", 1);
    press_once();
    TEST_ASSERT_EQUAL_MESSAGE(-1, set("arm", ARM_REAL), "nothing says how the joints are homed");
    TEST_ASSERT_EQUAL(APP_E_FIT, client->reason);
    robot->joint[4].homing = robot->joint[5].homing = (robot_homing_t){HOME_SWITCH, 0};
    send_robot();
    must_set("brakes", 1);
    must_set("home_torque", 0.5); /* the pose is not known yet, nor is the torque of gravity */
    must_set("arm", ARM_REAL);
    chip_run(CHIP_MS(10));
    TEST_ASSERT_EQUAL_MESSAGE(0, client_clear(client), client->error.what); /* the press */
    chip_run(CHIP_MS(10));
    TEST_ASSERT_EQUAL_HEX32(3u << 4, tick_app()->loop.unhomed);
    TEST_ASSERT_EQUAL(-1, client_motion(client, &motion));
    TEST_ASSERT_EQUAL(APP_E_HOME, client->reason);
    for (unsigned i = 4; i < N; i++) {
        home(i, 0.1);
        expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
    }
    TEST_ASSERT_EQUAL_UINT32(0, tick_app()->loop.unhomed);
    must_hold();
    for (unsigned pass = 0; pass < 2; pass++) {
        double off = 0;
        for (unsigned i = 0; i < N; i++)
            motion.value[i] = (float)(i < 4 ? rig_position(i) : target[i % 2 ^ pass]);
        TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
        live(3500);
        expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
        for (unsigned i = 4; i < N; i++)
            off = fmax(off, fabs(rig_position(i) - (double)motion.value[i]));
        harness_note_number("quadrature: largest distance, urad:", (int64_t)(off * 1e6));
        TEST_ASSERT_TRUE(off < 0.01); /* as in test_holds_and_moves */
    }
    TEST_ASSERT_TRUE((target[0] - target[1]) * ratio[1] * COUNTS / 6.283185307179586 > 0x8000);
    fail_if_wrong();
}

static void test_quadrature_encoders_at_the_motors(void) {
    in_new_copy(gear_motors);
}

/* H9: an encoder at the motor makes more than half a turn while the flash is erased and no tick
 * counts its turns. Then its position is not known, and no motion may use it. */
static void erase_while_sinking(void) {
    enum { SHOULDER = 1 };
    const double ratio = robot->model.joint[SHOULDER].drive.motor.gear;
    bool persistent;
    must_set("arm", ARM_SIMULATED);
    robot->joint[SHOULDER].encoder.ratio = ratio;
    robot->joint[SHOULDER].homing = (robot_homing_t){HOME_SWITCH, 0};
    send_robot();
    must_set("brakes", 1);
    must_set("home_torque", 0.5); /* the pose is not known yet, nor is the torque of gravity */
    must_set("arm", ARM_REAL);
    chip_run(CHIP_MS(5));
    home(SHOULDER, 0.08);
    expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
    TEST_ASSERT_EQUAL_UINT32(0, tick_app()->loop.unhomed);
    rig.braked = false; /* a brake that slips */
    const double before = rig_position(SHOULDER);
    chip_world.erase_ns = CHIP_MS(2000); /* the worst case of the data sheet */
    TEST_ASSERT_EQUAL_MESSAGE(0, client_save(client, &persistent), client->error.what);
    TEST_ASSERT_TRUE(persistent);
    const double sunk = fabs(rig_position(SHOULDER) - before) * ratio / 6.283185307179586;
    harness_note_number("turns of the motor during the save, 1e-3:", (int64_t)(sunk * 1000));
    TEST_ASSERT_TRUE(sunk > 0.5);
    TEST_ASSERT_GREATER_THAN_UINT(0, chip_report.erases);
    motion_t motion = {.kind = MOTION_QUINTIC};
    for (unsigned i = 0; i < N; i++)
        motion.value[i] = (float)(i == SHOULDER ? before : rig_position(i));
    chip_run(CHIP_MS(5));
    TEST_ASSERT_EQUAL_HEX32_MESSAGE(1u << SHOULDER, tick_app()->loop.unhomed,
                                    "the position is still taken for known");
    /* refused for this reason, not because the arm has fallen out of its limits */
    TEST_ASSERT_EQUAL_MESSAGE(-1, client_motion(client, &motion), "a motion from a wrong position");
    TEST_ASSERT_EQUAL(APP_E_HOME, client->reason);
}

static void test_h9_erase_while_a_joint_sinks(void) {
    in_copy(erase_while_sinking);
}

/* ------------------------------------------------------------------------------------------ fit */

static int choose_real_arm(void) {
    must_set("arm", ARM_SIMULATED);
    send_robot();
    must_set("brakes", 1);
    return set("arm", ARM_REAL);
}

/* H6: an encoder of the board has 16384 counts, whatever the robot file says. */
static void wrong_counts(void) {
    robot->joint[3].encoder.counts = 1000;
    TEST_ASSERT_EQUAL_MESSAGE(-1, choose_real_arm(), "the wrong counts were accepted");
    TEST_ASSERT_EQUAL(APP_E_FIT, client->reason);
}

static void test_h6_wrong_counts_are_refused(void) {
    in_copy(wrong_counts);
}

/* H7: an absolute encoder at the motor knows its joint's position only modulo a turn of the motor. */
static void motor_side_without_homing(void) {
    robot->joint[0].encoder.ratio = 62.6111;
    TEST_ASSERT_EQUAL_MESSAGE(-1, choose_real_arm(), "an unknown position was accepted");
    TEST_ASSERT_EQUAL(APP_E_FIT, client->reason);
}

static void test_h7_motor_side_encoder_is_not_homed(void) {
    in_copy(motor_side_without_homing);
}

/* The limits of the shoulder lie within one turn, but not around zero: beyond half a turn the encoder
 * reads the same as on the other side. The board must find the position inside the limits, or refuse
 * to move. */
static void beyond_half_a_turn(void) {
    enum { SHOULDER = 1 };
    motion_t motion = {.kind = MOTION_QUINTIC};
    robot->joint[SHOULDER].source.drive.limits.position[1] = 3.9;
    messages_t messages = MESSAGES_INIT;
    TEST_ASSERT_EQUAL(0, robot_settle(robot, 0, &messages));
    rig.arm.model->jnt_range[2 * SHOULDER + 1] = 4.0; /* its mechanical stop */
    rig.arm.data->qpos[SHOULDER] = 3.5;
    if (choose_real_arm() != 0)
        return;
    chip_run(CHIP_MS(10));
    const double error = fabs((double)tick_app()->loop.q[SHOULDER] - rig_position(SHOULDER));
    for (unsigned i = 0; i < N; i++)
        motion.value[i] = (float)rig_position(i);
    harness_note_number("beyond half a turn: error, urad:", (int64_t)(error * 1e6));
    TEST_ASSERT_TRUE_MESSAGE(error < 0.002 || client_motion(client, &motion) != 0,
                             "a motion from a position that is wrong by a turn");
}

static void test_position_beyond_half_a_turn(void) {
    in_copy(beyond_half_a_turn);
}

TEST_LIST_BEGIN
TEST(test_quadrature_encoders_at_the_motors)
TEST(test_h10_broken_supply_wire)
TEST(test_h10_supply_is_not_wired)
TEST(test_h10_dead_converter)
TEST(test_supply_changes_while_simulated)
TEST(test_weak_magnet)
TEST(test_magnet_gone)
TEST(test_encoder_without_power)
TEST(test_h12_no_motion_before_the_first_reading)
TEST(test_h12_the_board_tells_the_time_of_its_encoders)
TEST(test_disturbed_frames)
TEST(test_h8_glitches_during_homing)
TEST(test_h9_erase_while_a_joint_sinks)
TEST(test_h6_wrong_counts_are_refused)
TEST(test_h7_motor_side_encoder_is_not_homed)
TEST(test_position_beyond_half_a_turn)
TEST_LIST_END

/*
 * Robot and hardware (firmware/app/fit.c), and what the application does with the hardware that it
 * was told about: brakes, encoders that lose their turns, switches that bounce. The test plays the
 * hardware and a real arm that follows its reference.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "firmware/app/app.h"
#include "firmware/app/fit.h"
#include "firmware/app/handover.h"
#include "firmware/app/setup.h"
#include "test/support/harness.h"
#include "test/support/planar_image.h"

enum { RATE = 1000, N = 2, ALL = (1 << N) - 1, COUNTS = 16384 };

static app_t app;
static image_t image;
static app_inputs_t in;
static app_outputs_t out;
static hardware_t board;

void app_hardware(hardware_t *hardware) {
    *hardware = board;
}

static uint32_t stays; /* causes that cannot be cleared */
uint32_t app_unlatch(void) {
    in.latched &= (uint8_t)stays;
    return in.latched;
}

/* A planar arm with absolute encoders at its joints, on a board where everything fits. */
static void begin(void) {
    planar_image(&image);
    image.has |= IMAGE_HAS_BRAKES;
    board = (hardware_t){.motors = ALL,
                         .encoders = ALL,
                         .absolute = ALL,
                         .switches = ALL,
                         .counts = {COUNTS, COUNTS},
                         .flags = HARDWARE_ESTOP | HARDWARE_ESTOP_SEEN | HARDWARE_BRAKE |
                                  HARDWARE_SUPPLY | HARDWARE_WATCHDOG | HARDWARE_CLOCK,
                         .brake_open_ms = 30,
                         .brake_close_ms = 40};
    in = (app_inputs_t){.counts_valid = ALL, .supply_mV = 24000};
    stays = 0;
}

static void load_image(void) {
    static uint8_t bytes[4096];
    size_t size = 0;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
}

static void load(void) {
    app_init(&app);
    app.ticks = 1; /* a person chooses the arm; nothing is restored from the store */
    load_image();
}

/* The encoder of the shoulder sits at the motor, and the joint homes at its upper stop. */
static void begin_turning(void) {
    begin();
    image.joint[0].ratio[0] = 50;
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, 0, 1));
}

static int choose(void) {
    return app_set(&app, PARAMETER_arm, 0, ARM_REAL);
}

static void tick(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        app_tick(&app, &in, &out);
        in.ready = out.enable && out.hardware;
        app.tail = app.head;
    }
}

static void load_real(void) {
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(2);
}

static int start(uint32_t kind, float shoulder) {
    const motion_t motion = {.kind = kind, .duration_s = 0, .value = {shoulder, 0}};
    return app_motion_start(&app, &motion);
}

/* ------------------------------------------------------------------------------------------ fit */

static void expect(uint32_t part, uint32_t joints) {
    fit_t fit;
    char text[40];
    fit_check(&app, true, &fit);
    snprintf(text, sizeof text, "part %u", (unsigned)part);
    TEST_ASSERT_EQUAL_HEX32_MESSAGE(1u << part, fit.bits, text);
    if (part < FITS_JOINT)
        TEST_ASSERT_EQUAL_HEX32_MESSAGE(joints, fit.joints[part], text);
    TEST_ASSERT_EQUAL_INT_MESSAGE(APP_E_FIT, choose(), text);
    float arm;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_get(&app, PARAMETER_arm, 0, &arm));
    TEST_ASSERT_EQUAL_FLOAT(ARM_SIMULATED, arm);
}

static void home(uint32_t joint, float how) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, joint, how));
}

/* Everything else fits, so that each misfit stands alone. */
static void test_each_part_that_does_not_fit(void) {
    begin();
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    begin(), load(), board.motors = 1, expect(FIT_MOTOR, 2);
    begin(), load(), board.encoders = 2, expect(FIT_ENCODER, 1);
    begin(), image.joint[1].counts[0] = 1000, load(), expect(FIT_COUNTS, 2);
    begin(), image.joint[0].ratio[0] = 50, load(), expect(FIT_TURNS, 1);
    begin(), image.joint[0].position[1] = 4, load(), expect(FIT_TURNS, 1);
    /* within a turn, but an arm that stands a little beyond a limit would be read a turn away */
    begin(), image.joint[0].position[1] = 3.2f, load(), expect(FIT_TURNS, 1);
    begin(), load(), board.absolute = 2, board.counts[0] = 65536, expect(FIT_TURNS, 1);
    begin(), image.joint[0].position[0] = image.joint[0].position[1] = 0, load(),
             expect(FIT_TURNS, 1);
    begin(), image.joint[0].kp[0] = 0, load(), expect(FIT_GAINS, 1);
    begin(), image.joint[1].kd[0] = 0, load(), expect(FIT_GAINS, 2);
    begin(), image.joint[1].velocity[0] = 0, load(), expect(FIT_VELOCITY, 2);
    begin(), image.joint[1].torque[0] = 0, load(), expect(FIT_TORQUE, 2);
    begin(), image.joint[0].ratio[0] = 100, image.joint[0].velocity[0] = 8, load(), home(0, 1),
             expect(FIT_SPEED, 1);
    begin(), load(), board.switches = 1, home(1, -2), expect(FIT_SWITCH, 2);
    begin(), image.feedback = FEEDBACK_OFF, load(), expect(FIT_FEEDBACK, 0);
    begin(), image.has &= ~(uint32_t)IMAGE_HAS_BRAKES, load(), expect(FIT_BRAKES, 0);
    begin(), image.has |= IMAGE_BRAKES, load(), board.flags &= (uint16_t)~HARDWARE_BRAKE,
        expect(FIT_BRAKE_OUTPUT, 0);
    begin(), load(), board.flags &= (uint16_t)~HARDWARE_ESTOP, expect(FIT_ESTOP_INPUT, 0);
    begin(), load(), board.flags &= (uint16_t)~HARDWARE_WATCHDOG, expect(FIT_WATCHDOG, 0);
    begin(), load(), board.flags &= (uint16_t)~HARDWARE_CLOCK, expect(FIT_CLOCK, 0);
    begin(), load(), board.active = CAUSE_ESTOP, expect(FIT_ESTOP_OPEN, 0);
    begin(), load(), board.flags &= (uint16_t)~HARDWARE_ESTOP_SEEN, expect(FIT_ESTOP_UNSEEN, 0);
}

/* The real arm is chosen for a robot, not before there is one. */
static void test_no_real_arm_without_a_robot(void) {
    begin();
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, choose());
}

/* Under the real arm only a person switches the feedback off. A robot that is loaded has it on,
 * whatever its file says, and whatever was set for the robot before: then its gains are asked for. */
static void test_a_robot_that_is_loaded_has_feedback(void) {
    for (int file = 0; file < 2; file++) {
        float feedback;
        begin();
        load_real();
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_feedback, 0, FEEDBACK_OFF));
        image.feedback = FEEDBACK_OFF;
        image.joint[1].kp[0] = 0;
        if (!file)
            image.has &= ~(uint32_t)IMAGE_HAS_FEEDBACK;
        load_image();
        TEST_ASSERT_EQUAL_INT(APP_OK, app_get(&app, PARAMETER_feedback, 0, &feedback));
        TEST_ASSERT_EQUAL_FLOAT(FEEDBACK_PD, feedback);
        tick(3);
        TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
    }
}

/* A streamed motion closes the loop later than it was accepted. Robot and hardware must fit then,
 * too. */
static void test_points_ask_again(void) {
    const float here[N] = {0};
    const motion_t points = {.kind = MOTION_POINTS, .duration_s = 0.02f};
    begin();
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &points));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, here));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_brakes, 0, -1));
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, app_points_end(&app));
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_brakes, 0, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &points));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, here));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_points_end(&app));
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* The encoder of a joint that is homed may have any number of turns and, if it counts from
 * power-up, any number of counts per turn. */
static void test_homing_makes_turns_fit(void) {
    begin();
    load();
    board.absolute = 2;
    board.counts[0] = 65536;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, 0, -2));
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    TEST_ASSERT_EQUAL_INT32(65536, app.control[app.now].joint[0].wrap);
    TEST_ASSERT_EQUAL_INT32(COUNTS, app.control[app.now].joint[1].wrap);
    TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
}

/* The whole list comes in one answer. */
static void test_all_that_does_not_fit(void) {
    fit_t fit;
    begin();
    image.has &= ~(uint32_t)IMAGE_HAS_BRAKES;
    image.joint[0].kp[0] = image.joint[1].torque[0] = 0;
    load();
    board.motors = 1;
    fit_check(&app, true, &fit);
    TEST_ASSERT_EQUAL_HEX32(1u << FIT_MOTOR | 1u << FIT_GAINS | 1u << FIT_TORQUE | 1u << FIT_BRAKES,
                            fit.bits);
}

/* A stored choice is restored before the first tick; what a person must do is asked for before each
 * motion. A robot that is loaded under the real arm is checked then, too. */
static void test_every_motion_asks_again(void) {
    begin();
    board.flags &= (uint16_t)~HARDWARE_ESTOP_SEEN;
    load();
    app.ticks = 0;
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(3);
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
    board.flags |= HARDWARE_ESTOP_SEEN;
    board.active = CAUSE_ESTOP;
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
    board.active = 0;
    board.flags &= (uint16_t)~HARDWARE_WATCHDOG;
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
    board.flags |= HARDWARE_WATCHDOG;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_feedback, 0, FEEDBACK_OFF));
    tick(2);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0)); /* off on purpose */
}

/* A robot with more joints than the board has encoders, loaded while the real arm is chosen. */
static void test_a_robot_with_more_joints_than_encoders(void) {
    begin();
    load_real();
    board.motors = board.encoders = board.absolute = 1;
    board.counts[1] = 0;
    in.counts_valid = 1;
    load_image();
    tick(5);
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
}

/* A robot file that does not say whether the arm has brakes does not inherit the answer of the
 * robot before it. */
static void test_brakes_are_a_fact_of_this_robot(void) {
    begin();
    image.has |= IMAGE_BRAKES;
    load_real();
    image.has &= ~(uint32_t)(IMAGE_HAS_BRAKES | IMAGE_BRAKES);
    load_image();
    tick(3);
    TEST_ASSERT_EQUAL_INT(APP_E_FIT, start(MOTION_HOLD, 0));
}

/* What the hardware takes is a part of the tick. */
static void test_the_rate_counts_the_hardware(void) {
    begin();
    board.busy_ns = 905000;
    load();
    TEST_ASSERT_EQUAL_INT(APP_E_RATE, choose());
    board.busy_ns = 800000;
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
}

uint32_t app_clock_hz(void) {
    return 1000000;
}

/* --------------------------------------------------------------------------------------- latch */

/* While the cause stays, clear is refused and changes nothing. */
static void test_clear_while_the_cause_stays(void) {
    begin();
    load_real();
    in.latched = CAUSE_ESTOP;
    stays = CAUSE_ESTOP;
    tick(1);
    TEST_ASSERT_EQUAL_STRING("e-stop", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_INT(APP_E_LATCHED, app_clear(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
    stays = 0;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
}

/* -------------------------------------------------------------------------------------- brakes */

/* Torque first, then the brakes open; the motion waits for that. At the end they close before the
 * torque goes. The outputs come on some ticks after they were asked for, as on a board whose
 * watchdog changes its time-out. */
static void test_order_of_torque_and_brakes(void) {
    begin();
    image.has |= IMAGE_BRAKES;
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_QUINTIC, 0.01f));
    for (int i = 0; i < 25; i++) { /* the outputs are not on yet */
        app_tick(&app, &in, &out);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
    }
    uint32_t torque = 0, opening = 0;
    in.ready = 1;
    for (; !out.brake_open && torque < 1000; torque++)
        tick(1);
    TEST_ASSERT_UINT32_WITHIN(1, 10, torque);
    for (; app.loop.qd_ref[0] == 0 && opening < 1000; opening++)
        tick(1);
    TEST_ASSERT_UINT32_WITHIN(2, 30, opening);
    /* The arm follows exactly. */
    for (int i = 0; i < 5000 && app.motion.kind != MOTION_HOLD; i++) {
        for (int k = 0; k < N; k++)
            in.counts[k] =
                ((int32_t)lroundf(app.loop.q_ref[k] / 6.2831853f * COUNTS) + COUNTS) % COUNTS;
        tick(1);
        TEST_ASSERT_EQUAL_UINT8(1, out.brake_open);
    }
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_stop(&app));
    uint32_t closing = 0;
    for (tick(1); out.enable && closing < 1000; closing++) {
        TEST_ASSERT_EQUAL_UINT8(closing == 0, out.brake_open && closing == 0);
        tick(1);
    }
    TEST_ASSERT_UINT32_WITHIN(2, 40, closing);
    TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
}

/* On an e-stop, and on release, both go at once. A held fault closes the brakes first. */
static void test_brakes_in_a_fault(void) {
    for (int how = 0; how < 3; how++) {
        begin();
        image.has |= IMAGE_BRAKES;
        load_real();
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
        tick(100);
        TEST_ASSERT_EQUAL_UINT8(1, out.brake_open);
        uint32_t closing = 0;
        if (how == 0)
            in.latched = CAUSE_ESTOP;
        else if (how == 1)
            TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
        else
            in.lost = 1;
        tick(1);
        in.lost = 0;
        for (; out.enable && closing < 1000; closing++)
            tick(1);
        TEST_ASSERT_UINT32_WITHIN(how < 2 ? 0 : 3, how < 2 ? 0 : 40, closing);
        TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
    }
}

/* Nothing but the brakes holds an arm whose loop gives no torque: they stay closed, and close when
 * the loop is told to give none. */
static void test_brakes_stay_closed_without_torque(void) {
    begin();
    image.has |= IMAGE_BRAKES;
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_feedback, 0, FEEDBACK_OFF));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_feedforward, 0, FEEDFORWARD_OFF));
    tick(2);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    for (int i = 0; i < 100; i++) {
        tick(1);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
    }
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_feedforward, 0, FEEDFORWARD_GRAVITY));
    tick(2);
    TEST_ASSERT_EQUAL_UINT8(1, out.brake_open);
    /* what holds the arm cannot be taken away again */
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, app_set(&app, PARAMETER_feedforward, 0, FEEDFORWARD_OFF));
    tick(2);
    TEST_ASSERT_EQUAL_UINT8(1, out.brake_open);
}

/* A stop, or a fault whose stop holds, before the brakes have opened: they stay closed, and the
 * outputs go off at once. */
static void test_stop_before_the_brakes_open(void) {
    for (int fault = 0; fault < 2; fault++) {
        begin();
        image.has |= IMAGE_BRAKES;
        load_real();
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
        tick(5);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
        if (fault)
            in.lost = 1;
        else
            TEST_ASSERT_EQUAL_INT(APP_OK, app_stop(&app));
        for (int i = 0; i < 100; i++) {
            tick(1);
            in.lost = 0;
            TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
        }
        TEST_ASSERT_EQUAL_UINT8(0, out.enable);
        TEST_ASSERT_EQUAL_UINT32(fault ? APP_STATE_FAULT : APP_STATE_IDLE, app.safety.state);
    }
}

/* A fault that is cleared while the brakes close: the loop must not go on against closed brakes. */
static void test_clear_while_the_brakes_close(void) {
    begin();
    image.has |= IMAGE_BRAKES;
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    tick(100);
    in.lost = 1;
    tick(1);
    in.lost = 0;
    tick(10);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_EQUAL_UINT8(0, out.brake_open); /* they close */
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_clear(&app));
    tick(50);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    tick(100);
    TEST_ASSERT_EQUAL_UINT8(1, out.brake_open);
}

/* An arm without brakes that is held: nobody can make the next stop a drop by saying that it has. */
static void test_brakes_cannot_change_while_the_arm_is_held(void) {
    begin();
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    tick(100);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_set(&app, PARAMETER_brakes, 0, 1));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_set(&app, PARAMETER_brakes, 0, -1));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_stop(&app));
    tick(500);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
}

/* While the brakes open, a full buffer of points waits; its sender is not late. */
static void test_points_wait_for_the_brakes(void) {
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.02f};
    const float q[N] = {0};
    begin();
    image.has |= IMAGE_BRAKES;
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_guard_setpoint, 0, 30));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    while (app_point_credits(&app) > 0)
        TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, q));
    tick(45);
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    tick(60); /* and now it is */
    TEST_ASSERT_EQUAL_STRING("setpoint", app_fault_name(app.safety.fault));
}

/* ------------------------------------------------------------------------------------- encoders */

/* The zero of an absolute encoder may lie anywhere in the range of its joint. Wherever the arm
 * stands at power-up, the reading is the position within the limits, not one a turn away. */
static void test_the_zero_of_the_encoder_is_anywhere(void) {
    for (int sign = -1; sign <= 1; sign += 2)
        for (float zero = -7; zero < 7; zero += 0.5f)
            for (float at = -2.9f; at < 3; at += 0.29f) {
                begin();
                image.joint[0].offset[0] = zero;
                image.joint[0].sign[0] = (float)sign;
                const int32_t counts =
                    (int32_t)lroundf((at - zero) * (float)sign / 6.2831853f * COUNTS);
                in.counts[0] = (counts % COUNTS + COUNTS) % COUNTS;
                load_real();
                TEST_ASSERT_FLOAT_WITHIN(1e-3f, at, setup_position_si(&app, 0, app.loop.q[0]));
            }
}

/* The way to the target was planned from where the arm stood. If somebody has moved it before the
 * outputs came on, the reference must not jump back. */
static void test_no_jump_to_the_start_of_a_motion(void) {
    for (int kind = 0; kind < 2; kind++) {
        begin();
        load_real();
        TEST_ASSERT_EQUAL_INT(APP_OK, start(kind == 0 ? MOTION_QUINTIC : MOTION_CYCLOID, 0.5f));
        for (int i = 0; i < 30; i++) {
            in.counts[0] += 20;
            app_tick(&app, &in, &out);
            app.tail = app.head;
        }
        in.ready = 1;
        for (int i = 0; i < 5; i++) {
            tick(1);
            TEST_ASSERT_FLOAT_WITHIN(1e-3f, 600 * 6.2831853f / COUNTS, app.loop.q_ref[0]);
        }
        TEST_ASSERT_EQUAL_STRING("tracking", app_fault_name(app.safety.fault));
        TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
    }
}

/* Where the joint was found to be holds for the scale of its encoder at that time. */
static void test_a_new_scale_is_not_homed(void) {
    begin_turning();
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    for (uint32_t p = 0; p < 2; p++) {
        tick(3);
        app.loop.unhomed = 0; /* homed */
        TEST_ASSERT_EQUAL_INT(APP_OK, p == 0 ? app_set(&app, PARAMETER_encoder_ratio, 0, 60)
                                             : app_set(&app, PARAMETER_encoder_sign, 0, -1));
        TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
    }
}

/* A joint that runs and whose turns are lost is a fault at once: its limits are not watched any
 * more. */
static void test_lost_turns_while_running(void) {
    begin_turning();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_guard_encoder_ticks, 0, 20));
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(3);
    app.loop.unhomed = 0;
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    tick(20);
    in.counts_valid = 2;
    for (int i = 0; i < 15; i++) {
        tick(1);
        TEST_ASSERT_EQUAL(app.loop.unhomed != 0, app.safety.fault != APP_FAULT_NONE);
    }
    TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
}

/* Ticks that are lost while the background has the tick's data count, too. */
static void test_lost_ticks_of_a_detached_tick(void) {
    begin_turning();
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(3);
    app.loop.unhomed = 0;
    app.detached = 1;
    in.lost = 1500;
    tick(1);
    in.lost = 0;
    app.detached = 0;
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
    TEST_ASSERT_EQUAL_UINT32(1500, app.lost);
}

/* The position of the arm when the outputs come on is the reference: there is no jump, even if a
 * person has moved the arm meanwhile. */
static void test_no_jump_when_the_outputs_come_late(void) {
    begin();
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    for (int i = 0; i < 30; i++) {
        in.counts[0] += 20;
        app_tick(&app, &in, &out);
        app.tail = app.head;
    }
    in.ready = 1;
    tick(5);
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_FLOAT_WITHIN(1e-4f, 600 * 6.2831853f / COUNTS, app.loop.q_ref[0]);
}

/* A motor-side encoder of 50 turns: half a turn at four times the velocity limit takes 7.8 ticks.
 * An erase of the flash stops the ticks for longer. */
static void test_lost_ticks_lose_the_turns(void) {
    for (uint32_t lost = 6; lost <= 1500; lost += 1494) {
        begin_turning();
        TEST_ASSERT_EQUAL_INT(APP_OK, choose());
        tick(3);
        app.loop.unhomed = 0; /* homed */
        in.lost = lost;
        tick(1);
        in.lost = 0;
        tick(1);
        TEST_ASSERT_EQUAL_UINT32(lost > 6, app.loop.unhomed); /* never the encoder at the joint */
        TEST_ASSERT_EQUAL_UINT32(lost, app.lost);
        TEST_ASSERT_EQUAL_INT(lost > 6 ? APP_E_HOME : APP_OK, start(MOTION_QUINTIC, 0.01f));
    }
}

/* Encoders that do not answer for long lose their turns as well. */
static void test_unread_encoders_lose_the_turns(void) {
    begin_turning();
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(3);
    app.loop.unhomed = 0;
    in.counts_valid = 1;
    tick(7);
    TEST_ASSERT_EQUAL_UINT32(0, app.loop.unhomed);
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
    in.counts_valid = ALL;
    tick(1);
    app.loop.unhomed = 0;
    tick_detach(&app); /* the background has the data of the tick */
    tick(8);
    tick_attach(&app);
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(1, app.loop.unhomed);
}

/* No motion begins before every encoder has given a position. */
static void test_no_motion_before_all_encoders_answer(void) {
    begin();
    in.counts_valid = 1;
    load_real();
    tick(10);
    TEST_ASSERT_EQUAL_INT(APP_E_UNREAD, start(MOTION_HOLD, 0));
    in.counts_valid = ALL;
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
}

/* Every fault of the inputs while the real arm is held. */
static void test_faults_of_the_inputs(void) {
    static const struct {
        const char *fault;
        uint32_t stop;
        app_inputs_t in;
    } row[] = {
        {"magnet", APP_STOP_RELEASE, {.counts_valid = 1, .unwell = 2, .supply_mV = 24000}},
        {"encoder", APP_STOP_RELEASE, {.counts_valid = 1, .supply_mV = 24000}},
        {"lost ticks", APP_STOP_HOLD, {.counts_valid = ALL, .lost = 1, .supply_mV = 24000}},
        {"background", APP_STOP_HOLD, {.counts_valid = ALL, .stalled = 1, .supply_mV = 24000}},
        {"supply sensor", APP_STOP_HOLD, {.counts_valid = ALL, .supply_mV = SUPPLY_FAILED}},
        {"supply low", APP_STOP_RELEASE, {.counts_valid = ALL, .supply_mV = 0}},
        {"none", APP_STOP_RELEASE, {.counts_valid = ALL, .supply_mV = SUPPLY_UNMEASURED}},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        begin();
        load_real();
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
        tick(5);
        in = row[i].in;
        in.ready = 1;
        tick(1);
        for (int k = 0; k < 8 && app.safety.fault == APP_FAULT_NONE; k++)
            tick(1);
        TEST_ASSERT_EQUAL_STRING(row[i].fault, app_fault_name(app.safety.fault));
        if (app.safety.fault != APP_FAULT_NONE)
            TEST_ASSERT_EQUAL_UINT32(row[i].stop, app.safety.stop);
        TEST_ASSERT_EQUAL_UINT8(
            app.safety.fault == APP_FAULT_NONE || row[i].stop != APP_STOP_RELEASE, out.enable);
    }
}

/* A sensor whose range ends below guard_supply_high (30 V): its end may stand for any higher voltage. */
static void test_the_end_of_the_supply_sensors_range(void) {
    begin();
    board.supply_full_mV = 27000;
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    in.supply_mV = 26999;
    tick(5);
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    in.supply_mV = 27000;
    tick(1);
    TEST_ASSERT_EQUAL_STRING("supply high", app_fault_name(app.safety.fault));
}

/* ------------------------------------------------------------------------------------- switches */

/*
 * Homing at a switch at 1 rad, with an encoder that is 0.3 rad off. Glitches of the switch, shorter
 * than 5 ms, come all the time; its contact bounces when it closes and opens. The zero is found as
 * without them.
 */
static void test_a_switch_that_bounces(void) {
    uint32_t glitches = 0, last = 0, bounce = 0;
    double x = 0;
    begin();
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, 0, 2));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home_position, 0, 1));
    TEST_ASSERT_EQUAL_INT(APP_OK, choose());
    tick(2);
    const motion_t home = {.kind = MOTION_HOME, .value = {1, 0}};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &home));
    for (uint32_t t = 0; t < 100000 && (t < 5 || app.safety.state == APP_STATE_HOMING); t++) {
        x += (double)app.loop.qd_ref[0] / RATE;
        in.counts[0] = ((int32_t)lround((x - 0.3) / 6.283185307 * COUNTS) + COUNTS) % COUNTS;
        uint32_t closed = x >= 1;
        bounce = closed != last ? 4 : bounce - (bounce > 0);
        last = closed;
        if (bounce > 0)
            closed = t & 1; /* the contact bounces for 4 ms */
        if (t % 97 < 4 && t % 2 == 0) {
            closed = !closed;
            glitches++;
        }
        in.switches = closed;
        tick(1);
    }
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_TRUE(glitches > 100);
    TEST_ASSERT_EQUAL_UINT32(0, app.loop.unhomed);
    /* One count, a tick at 0.05 rad/s, and the 4 ms of a contact that bounces. */
    TEST_ASSERT_DOUBLE_WITHIN(6.2832 / COUNTS + 5 * 0.05 / RATE, x, (double)app.loop.q[0]);
}

/* Outputs that never come on are a fault after half a second. */
static void test_outputs_that_never_come_on(void) {
    begin();
    load_real();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0));
    uint32_t ticks = 0;
    for (; app.safety.fault == APP_FAULT_NONE && ticks < 2000; ticks++)
        app_tick(&app, &in, &out);
    TEST_ASSERT_UINT32_WITHIN(3, 500, ticks);
    TEST_ASSERT_EQUAL_STRING("driver", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

TEST_LIST_BEGIN
TEST(test_outputs_that_never_come_on)
TEST(test_each_part_that_does_not_fit)
TEST(test_no_real_arm_without_a_robot)
TEST(test_a_robot_that_is_loaded_has_feedback)
TEST(test_points_ask_again)
TEST(test_homing_makes_turns_fit)
TEST(test_all_that_does_not_fit)
TEST(test_every_motion_asks_again)
TEST(test_a_robot_with_more_joints_than_encoders)
TEST(test_brakes_are_a_fact_of_this_robot)
TEST(test_the_rate_counts_the_hardware)
TEST(test_clear_while_the_cause_stays)
TEST(test_order_of_torque_and_brakes)
TEST(test_brakes_in_a_fault)
TEST(test_brakes_stay_closed_without_torque)
TEST(test_stop_before_the_brakes_open)
TEST(test_clear_while_the_brakes_close)
TEST(test_points_wait_for_the_brakes)
TEST(test_brakes_cannot_change_while_the_arm_is_held)
TEST(test_the_zero_of_the_encoder_is_anywhere)
TEST(test_no_jump_when_the_outputs_come_late)
TEST(test_no_jump_to_the_start_of_a_motion)
TEST(test_a_new_scale_is_not_homed)
TEST(test_lost_turns_while_running)
TEST(test_lost_ticks_of_a_detached_tick)
TEST(test_lost_ticks_lose_the_turns)
TEST(test_unread_encoders_lose_the_turns)
TEST(test_no_motion_before_all_encoders_answer)
TEST(test_faults_of_the_inputs)
TEST(test_the_end_of_the_supply_sensors_range)
TEST(test_a_switch_that_bounces)
TEST_LIST_END

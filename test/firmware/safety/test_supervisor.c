/*
 * Tests guards and stops on the simulated arm of the application: every fault that a defect of the
 * arm, its sensors or its settings can cause, what is latched, and how the arm moves afterwards.
 */
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#include "firmware/app/app.h"
#include "test/support/planar_image.h"

/*
 * An arm of two links of 1 kg and 0.5 m in a vertical plane. Its motors have a gear of 100 and give
 * 10 N m per volt at rest. Shorted, they damp with 100 N m s/rad. Their rotors have 1 kg m^2 at the
 * joint.
 */
#define DAMPING  100.0
#define GRAVITY0 (9.81 * (0.25 + 0.75)) /* joint 0, arm stretched: the largest */
#define GRAVITY1 (9.81 * 0.25)
enum { RATE = 1000 };

static app_t app;
static uint8_t bytes[8192];
static app_outputs_t out;

static void load(void) {
    static image_t image;
    size_t size = 0;
    planar_image_motors(&image);
    for (unsigned i = 0; i < image.n; i++)
        image.joint[i].counts[0] = 1000;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
}

static void set(uint32_t parameter, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, parameter, 0, value));
}

static void tick(uint32_t ticks) {
    static const app_inputs_t in = {
        .counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    for (uint32_t i = 0; i < ticks; i++) {
        app_tick(&app, &in, &out);
        app.tail = app.head;
    }
}

static void hold(void) {
    const motion_t motion = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    tick(50);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

static void move(float to0, float to1) {
    const motion_t motion = {.kind = MOTION_QUINTIC, .value = {to0, to1}};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
}

/* Returns the number of ticks until this fault is latched; no other fault may come. */
static uint32_t until(uint32_t fault, uint32_t joint, uint32_t most) {
    uint32_t ticks = 0;
    while (app.safety.state != APP_STATE_FAULT && ticks < most) {
        tick(1);
        ticks++;
    }
    TEST_ASSERT_EQUAL_STRING(app_fault_name(fault), app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(joint, app.safety.fault_joint);
    return ticks;
}

/* Returns the largest speed of a joint during this many ticks. */
static double fastest(uint32_t ticks) {
    double most = 0;
    for (uint32_t i = 0; i < ticks; i++) {
        tick(1);
        for (int k = 0; k < 2; k++)
            most = fmax(most, fabs((double)app.sim_arm.qd[k]));
    }
    return most;
}

/* --------------------------------------------------------------------------------------- states */

static void test_transitions(void) {
    TEST_ASSERT_EQUAL_UINT(APP_STATE_IDLE,
                           app_state_next(APP_STATE_UNCONFIGURED, APP_EVENT_LOADED));
    TEST_ASSERT_EQUAL_UINT(APP_STATE_RUNNING, app_state_next(APP_STATE_IDLE, APP_EVENT_CLOSE));
    /* Only clearing leaves the fault state. */
    for (unsigned event = 0; event < APP_EVENTS; event++) {
        const bool clears = event == APP_EVENT_CLEAR || event == APP_EVENT_DAMPED ||
                            event == APP_EVENT_HELD || event == APP_EVENT_FORGET;
        TEST_ASSERT_EQUAL(clears, app_state_next(APP_STATE_FAULT, event) != APP_STATE_FAULT);
    }
    /* A fault is possible in every state; without an arm the loop cannot be closed. */
    for (unsigned state = 0; state < APP_STATES; state++)
        TEST_ASSERT_EQUAL_UINT(APP_STATE_FAULT, app_state_next(state, APP_EVENT_FAULT));
    TEST_ASSERT_EQUAL_UINT(APP_STATE_UNCONFIGURED,
                           app_state_next(APP_STATE_UNCONFIGURED, APP_EVENT_CLOSE));
    TEST_ASSERT_EQUAL_UINT(APP_STATES, app_state_next(APP_STATES, APP_EVENT_FAULT));
}

static void test_every_fault_has_its_words(void) {
    for (unsigned f = 1; f < APP_FAULTS; f++) {
        TEST_ASSERT_TRUE(strlen(app_fault_name(f)) > 3);
        TEST_ASSERT_TRUE(strlen(app_fault_cause(f)) > 10);
        TEST_ASSERT_TRUE(strlen(app_fault_cure(f)) > 10);
        TEST_ASSERT_TRUE(app_fault_stop(f) < APP_STOPS);
        for (unsigned g = 1; g < f; g++)
            TEST_ASSERT_TRUE(strcmp(app_fault_name(f), app_fault_name(g)) != 0);
    }
}

/* A fault that is latched before an arm is loaded lasts until it is cleared; then the board is
 * unconfigured. */
static void test_fault_before_an_arm(void) {
    app_init(&app);
    app_fault(&app, APP_FAULT_CRASH);
    app_fault(&app, APP_FAULT_WATCHDOG); /* the first fault stays */
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_CRASH, app.safety.fault);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_UNCONFIGURED, app.safety.state);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_clear(&app));
}

/* --------------------------------------------------------------------------------------- faults */

static void test_inputs(void) {
    static const struct {
        uint32_t defect, joint, fault, at, stop;
    } row[] = {{DEFECT_LOST, 1, APP_FAULT_ENCODER, 1, APP_STOP_DAMP},
               {DEFECT_PARITY, 1, APP_FAULT_PARITY, 1, APP_STOP_DAMP},
               {DEFECT_LOW, 0, APP_FAULT_SUPPLY_LOW, APP_NO_JOINT, APP_STOP_RELEASE},
               {DEFECT_HIGH, 0, APP_FAULT_SUPPLY_HIGH, APP_NO_JOINT, APP_STOP_DAMP},
               {DEFECT_ESTOP, 0, APP_FAULT_ESTOP, APP_NO_JOINT, APP_STOP_RELEASE},
               {DEFECT_LATE, 0, APP_FAULT_OVERRUN, APP_NO_JOINT, APP_STOP_DAMP},
               {DEFECT_NUMBER, 1, APP_FAULT_NUMBER, 1, APP_STOP_DAMP}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        load();
        hold();
        set(PARAMETER_sim_defect_joint, (float)row[r].joint);
        set(PARAMETER_sim_defect, (float)row[r].defect);
        const uint32_t took = until(row[r].fault, row[r].at, 20);
        TEST_ASSERT_TRUE(took <= 6); /* encoders may fail for five ticks */
        TEST_ASSERT_EQUAL_UINT32(row[r].stop, app.safety.stop);
        /* The duty of a control step that cannot be trusted never reaches the output. */
        TEST_ASSERT_EQUAL_INT32(0, out.duty_q15[0]);
        TEST_ASSERT_EQUAL_INT32(0, out.duty_q15[1]);
        TEST_ASSERT_EQUAL_UINT8(row[r].stop == APP_STOP_DAMP, out.enable);
        /*
         * The fault stays until it is cleared, even if the defect is gone. By then the brakes hold
         * the arm.
         */
        set(PARAMETER_sim_defect, 0);
        tick(600);
        TEST_ASSERT_EQUAL_UINT32(row[r].fault, app.safety.fault);
        TEST_ASSERT_EQUAL_UINT8(0, out.enable);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
        hold();
    }
}

/* A defect that lasts no longer than the allowed ticks is no fault. */
static void test_short_dropout_is_no_fault(void) {
    load();
    hold();
    for (int k = 0; k < 10; k++) {
        set(PARAMETER_sim_defect, DEFECT_LOST);
        tick(5);
        set(PARAMETER_sim_defect, DEFECT_NONE);
        tick(1);
    }
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

static void test_jammed_joint(void) {
    load();
    hold();
    set(PARAMETER_sim_defect_joint, 1);
    set(PARAMETER_sim_defect, DEFECT_JAMMED);
    set(PARAMETER_guard_tracking, 0.02f);
    move(0, 1);
    (void)until(APP_FAULT_TRACKING, 1, 2000);
    app_status_t status;
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_FLOAT(0.02f, status.fault_limit);
    TEST_ASSERT_TRUE(fabsf(status.fault_value) > 0.02f && fabsf(status.fault_value) < 0.03f);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
    /* 900 N m/rad times 0.06 rad exceed 50 N m, so with a wide tracking guard the torque guard
     * trips. */
    load();
    set(PARAMETER_guard_tracking, 10);
    hold();
    set(PARAMETER_sim_defect_joint, 1);
    set(PARAMETER_sim_defect, DEFECT_JAMMED);
    move(0, 1);
    (void)until(APP_FAULT_TORQUE, 1, 3000);
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_FLOAT(50, status.fault_limit);
    TEST_ASSERT_TRUE(status.limited >= 70); /* at the limit for guard_limit_s, 0.07 s */
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_TRUE(fabsf(app.loop.tau[i]) <= 50);
}

/* The report of a voltage fault gives its value and its limit in volts. */
static void test_voltages_are_told(void) {
    static const struct {
        float defect, value, limit; /* value and limit in V; limits: 0.7 and 1.25 x 40 V */
    } row[] = {{DEFECT_LOW, 14, 28}, {DEFECT_HIGH, 100, 50}};
    app_status_t status;
    for (int r = 0; r < 2; r++) {
        load();
        hold();
        set(PARAMETER_sim_defect, row[r].defect);
        (void)until(r == 0 ? APP_FAULT_SUPPLY_LOW : APP_FAULT_SUPPLY_HIGH, APP_NO_JOINT, 20);
        app_status(&app, &status);
        TEST_ASSERT_FLOAT_WITHIN(1e-3f, row[r].value, status.fault_value);
        TEST_ASSERT_FLOAT_WITHIN(1e-3f, row[r].limit, status.fault_limit);
        TEST_ASSERT_EQUAL_STRING("V", quantity_unit(app_fault_quantity(app.safety.fault), 0));
    }
    /*
     * Only 5 % of the supply, 2 V, is left, which equals the back-EMF at 0.2 rad/s. A motion of
     * 0.04 rad is faster than that, and too short for an error that reaches the torque limit.
     */
    load();
    set(PARAMETER_guard_supply_low, 0.01f);
    set(PARAMETER_guard_limit_s, 0.02f);
    hold();
    set(PARAMETER_sim_defect, DEFECT_WEAK);
    move(0.04f, 0);
    (void)until(APP_FAULT_VOLTAGE, 0, 3000);
    app_status(&app, &status);
    TEST_ASSERT_FLOAT_WITHIN(1e-3f, 2, status.fault_limit);
    TEST_ASSERT_TRUE(fabsf(status.fault_value) > 2);
}

/* Nothing drives the joints. Gravity makes joint 0 too fast (k = 0) or pulls it beyond its position
 * limit (k = 1). */
static void test_speed_and_position(void) {
    for (int k = 0; k < 2; k++) {
        load();
        set(PARAMETER_guard_tracking, 10);
        set(PARAMETER_guard_speed, k == 0 ? 1 : 10);
        set(PARAMETER_feedback, FEEDBACK_OFF);
        set(PARAMETER_feedforward, FEEDFORWARD_OFF);
        tick(1);
        const float start[2] = {k == 0 ? 0 : 2.9f, 0};
        TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, start));
        const motion_t motion = {.kind = MOTION_HOLD};
        TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
        (void)until(k == 0 ? APP_FAULT_VELOCITY : APP_FAULT_POSITION, 0, 3000);
        app_status_t status;
        app_status(&app, &status);
        TEST_ASSERT_EQUAL_FLOAT(k == 0 ? 2 : 3, status.fault_limit);
    }
}

static void test_stream_runs_dry(void) {
    load();
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.01f};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    for (int k = 0; k < 20; k++) {
        const float point[2] = {0.0005f * (float)(k * k) / 2, 0};
        TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, point));
    }
    (void)until(APP_FAULT_SETPOINT, APP_NO_JOINT, 400);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
    const float fast = fabsf(app.loop.qd_ref[0]);
    TEST_ASSERT_TRUE(fast > 0.3f); /* the arm was moving */
    /* The reference brakes at 10 rad/s^2; it comes to rest after the time qd/a and the distance
     * qd^2/2a. */
    const float from = app.sim_arm.q[0];
    tick((uint32_t)(fast / 10 * RATE) + 20);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_RELEASE, app.safety.stop); /* the brakes hold the arm */
    TEST_ASSERT_FLOAT_WITHIN(0.002f, fast * fast / 20, app.sim_arm.q[0] - from);
}

/* A motor or an encoder with the wrong direction causes a fault within 50 ms after the joint has
 * begun to move. */
static void test_direction(void) {
    static const uint32_t defect[] = {DEFECT_MOTOR, DEFECT_REVERSED};
    for (uint32_t joint = 0; joint < 2; joint++)
        for (int d = 0; d < 2; d++) {
            load();
            set(PARAMETER_sim_defect_joint, (float)joint);
            set(PARAMETER_sim_defect, (float)defect[d]);
            tick(1);
            move(joint == 0 ? 1 : 0, joint == 0 ? 0 : 1);
            tick(1);
            /* Waits until the joint moves noticeably. */
            uint32_t waited = 0;
            while (fabsf(app.sim_arm.qd[joint]) < 0.02f && waited++ < 200 &&
                   app.safety.state != APP_STATE_FAULT)
                tick(1);
            const uint32_t took = until(APP_FAULT_DIRECTION, joint, 100);
            TEST_ASSERT_TRUE(took <= 50);
            TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
        }
}

/*
 * Makes motions near all limits with noise and an arm that is twice or half as heavy as its model.
 * They may be clipped, but the guard must not take that for a motor with the wrong direction.
 */
static void test_wrong_masses_are_no_wrong_direction(void) {
    static const float mass[] = {0.5f, 1, 2};
    for (int m = 0; m < 3; m++)
        for (int noise = 0; noise < 2; noise++) {
            load();
            set(PARAMETER_sim_mass, mass[m]);
            set(PARAMETER_sim_noise, (float)(3 * noise));
            set(PARAMETER_guard_tracking, 10);
            tick(1);
            for (int k = 0; k < 12; k++) {
                move(k % 2 ? -1.5f : 1.5f, k % 3 ? 2.0f : -2.0f);
                for (uint32_t t = 0; t < 4000 && (t < 5 || app.motion.kind != MOTION_HOLD); t++)
                    tick(1);
                TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
            }
        }
}

/* ---------------------------------------------------------------------------------------- stops */

static void stretched(void) {
    const float start[2] = {0, 0};
    load();
    set(PARAMETER_brakes, 0);
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, start));
    const motion_t motion = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    tick(50);
}

/* Hold without brakes: the arm stays within a few counts, and clearing leaves the loop closed. */
static void test_hold_without_brakes(void) {
    stretched();
    app.motion.starved = 10;
    (void)until(APP_FAULT_SETPOINT, APP_NO_JOINT, 2);
    TEST_ASSERT_TRUE(fastest(1000) < 0.01);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    tick(100);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_FLOAT_WITHIN(0.01f, 0, app.sim_arm.q[0]);
}

/*
 * If holding takes more than the fraction of the torque that is allowed permanently, the arm is
 * lowered at a tenth of 2 rad/s until no joint carries weight.
 */
static void test_lower_without_brakes(void) {
    stretched();
    set(PARAMETER_hold_fraction, (float)(GRAVITY0 / 50 / 2));
    tick(1);
    app.motion.starved = 10;
    (void)until(APP_FAULT_SETPOINT, APP_NO_JOINT, 2);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_LOWER, app.safety.stop);
    const double most = fastest(12000);
    TEST_ASSERT_TRUE(most > 0.15 && most < 0.22); /* 0.2 rad/s and a little overshoot */
    /* Torques below 50 N m / 256 are ignored. This is 0.08 rad of the elbow, less of the
     * shoulder. */
    TEST_ASSERT_FLOAT_WITHIN(0.08f, -1.5708f, app.sim_arm.q[0]);
}

/* Shorted windings damp the fall. */
static void test_damp_without_brakes(void) {
    stretched();
    set(PARAMETER_sim_defect, DEFECT_LOST);
    (void)until(APP_FAULT_ENCODER, 0, 10);
    const double most = fastest(3000);
    TEST_ASSERT_TRUE(most > 0.5 * GRAVITY0 / DAMPING);
    TEST_ASSERT_TRUE(most < (GRAVITY0 + GRAVITY1) / DAMPING);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
}

/* In a released arm each rotor of 1 kg m^2 gets at most the energy of the whole fall. */
static void test_release_without_brakes(void) {
    stretched();
    set(PARAMETER_sim_defect, DEFECT_ESTOP);
    (void)until(APP_FAULT_ESTOP, APP_NO_JOINT, 2);
    const double most = fastest(1000);
    TEST_ASSERT_TRUE(most > 2 && most < sqrt(2 * 9.81 * (0.25 + 0.75)));
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

/* An encoder fails while the loop holds the arm, which ends the hold at once. */
static void test_second_fault_makes_the_stop_worse(void) {
    stretched();
    app.motion.starved = 10;
    (void)until(APP_FAULT_SETPOINT, APP_NO_JOINT, 2);
    set(PARAMETER_sim_defect, DEFECT_LOST);
    tick(7);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_SETPOINT, app.safety.fault); /* the first fault stays */
    TEST_ASSERT_EQUAL_INT32(0, out.duty_q15[0]);
}

/* Gravity takes more than the torque limit, so the loop is not closed. */
static void test_too_weak_to_arm(void) {
    load();
    set(PARAMETER_limits_scale, (float)(GRAVITY0 / 50 * 0.9));
    tick(1);
    const motion_t motion = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL_INT(APP_E_WEAK, app_motion_start(&app, &motion));
    TEST_ASSERT_EQUAL_UINT32(0, app_where(&app));
    tick(5);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
}

/* Commissioning: torque and speed are limited to fractions of their limits. */
static void test_part_of_the_limits(void) {
    load();
    set(PARAMETER_limits_scale, 0.25f);
    tick(1);
    const motion_t fast = {.kind = MOTION_QUINTIC, .duration_s = 1, .value = {0.5f, 0}};
    TEST_ASSERT_EQUAL_INT(APP_E_VELOCITY, app_motion_start(&app, &fast));
    move(0.5f, 0);
    double most = 0;
    for (int t = 0; t < 4000; t++) {
        tick(1);
        most = fmax(most, fabs((double)app.loop.qd_ref[0]));
        TEST_ASSERT_TRUE(fabsf(app.loop.tau[0]) <= 12.5f);
    }
    TEST_ASSERT_TRUE(most > 0.45 && most <= 0.5001);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* Commissioning: sign, ratio and offset of the encoders, and position limits set by parameters. */
static void test_encoders_and_soft_limits(void) {
    load();
    set(PARAMETER_arm, ARM_REAL); /* a real arm is attached */
    app_inputs_t in = {
        .counts = {100, 0}, .counts_valid = 3, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    app_tick(&app, &in, &out);
    const float turned = 100 * 6.2831853f / (1000 * 100);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, turned, app.loop.q[0]);
    TEST_ASSERT_EQUAL_INT(APP_E_RANGE, app_set(&app, PARAMETER_encoder_sign, 0, 0));
    set(PARAMETER_encoder_sign, -1);
    app_tick(&app, &in, &out);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, -turned, app.loop.q[0]);
    set(PARAMETER_encoder_ratio, 50);
    app_tick(&app, &in, &out);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, -2 * turned, app.loop.q[0]);
    set(PARAMETER_encoder_offset, 0.5f);
    app_tick(&app, &in, &out);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0.5f - 2 * turned, app.loop.q[0]);
    set(PARAMETER_position_upper, 0.6f);
    app_tick(&app, &in, &out);
    const motion_t beyond = {.kind = MOTION_QUINTIC, .value = {0.7f, 0}};
    TEST_ASSERT_EQUAL_INT(APP_E_POSITION, app_motion_start(&app, &beyond));
    const motion_t within = {.kind = MOTION_QUINTIC, .value = {0.55f, 0}};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &within));
    app_tick(&app, &in, &out);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_set(&app, PARAMETER_encoder_offset, 0,
                                               0)); /* refused while the loop is closed */
}

/* --------------------------------------------------------------------------------------- homing */

#define COUNT 6.2831853e-5f /* one count of the test arm, rad */
#define STOP  0.02f         /* rad from a limit to the joint stop: STOP_MARGIN in control/setup.h */

static void home_by(uint32_t joint, float how, float position) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, joint, how));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home_position, joint, position));
}

/* Returns the number of ticks until homing has ended, with or without a fault. */
static uint32_t home_joint(uint32_t joint) {
    motion_t motion = {.kind = MOTION_HOME};
    uint32_t ticks = 0;
    motion.value[joint] = 1;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_HOMING, app.safety.state);
    while (app.safety.state == APP_STATE_HOMING && ticks++ < 100000)
        tick(1);
    return ticks;
}

/*
 * Homing at both stops and both switches: before it the encoders are off by 3000 counts, 0.19 rad;
 * afterwards they are right. A stop is found to one count. A switch is found after at most one tick
 * at a quarter of 0.1 times 2 rad/s, which is 5e-5 rad.
 */
static void test_homing_finds_the_position(void) {
    static const struct {
        float how, position;
    } row[] = {{-1, -3 - STOP}, {1, 3 + STOP}, {-2, -2.5f}, {2, 2.9f}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        load();
        set(PARAMETER_sim_shift, 3000);
        home_by(0, row[r].how, row[r].position);
        tick(1);
        TEST_ASSERT_FLOAT_WITHIN(COUNT, 3000 * COUNT, app.loop.q[0] - app.sim_arm.q[0]);
        /* Before homing is done, other motions are refused. */
        const motion_t motion = {.kind = MOTION_QUINTIC, .value = {0.5f, 0}};
        TEST_ASSERT_EQUAL_INT(APP_E_HOME, app_motion_start(&app, &motion));
        TEST_ASSERT_EQUAL_UINT32(0, app_where(&app));
        (void)home_joint(0);
        TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
        TEST_ASSERT_FLOAT_WITHIN(2 * COUNT + 5e-5f, 0, app.loop.q[0] - app.sim_arm.q[0]);
        /* The joint ends within its limits, which apply from now on. */
        TEST_ASSERT_TRUE(app.sim_arm.q[0] > -3 && app.sim_arm.q[0] < 3);
        move(0.5f, 0);
        tick(5);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
        const motion_t beyond = {.kind = MOTION_QUINTIC, .value = {3.1f, 0}};
        tick(8000);
        TEST_ASSERT_EQUAL_INT(APP_E_POSITION, app_motion_start(&app, &beyond));
        TEST_ASSERT_FLOAT_WITHIN(2 * COUNT + 1e-3f, 0.5f, app.sim_arm.q[0]);
    }
}

/* The torque against the stop is that of the model plus a tenth of the torque limit. */
static void test_homing_presses_with_its_torque(void) {
    load();
    home_by(1, 1, 3 + STOP);
    tick(1);
    motion_t motion = {.kind = MOTION_HOME, .value = {0, 1}};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    double most = 0, fast = 0;
    do {
        tick(1);
        most = fmax(most, fabs((double)(app.loop.tau[1] - app.loop.tau_model[1])));
        fast = fmax(fast, fabs((double)app.sim_arm.qd[1]));
    } while (app.safety.state == APP_STATE_HOMING);
    TEST_ASSERT_DOUBLE_WITHIN(1e-4, 5, most); /* a tenth of 50 N m */
    TEST_ASSERT_TRUE(fast < 0.22);            /* a tenth of 2 rad/s, with overshoot */
}

/* Without brakes the loop keeps holding the arm from one joint to the next. */
static void test_homing_without_brakes(void) {
    load();
    set(PARAMETER_brakes, 0);
    home_by(0, -2, -0.3f);
    home_by(1, 2, 0.4f);
    tick(1);
    for (uint32_t joint = 2; joint-- > 0;) {
        (void)home_joint(joint);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    }
    app_status_t status;
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_UINT32(0, status.unhomed);
}

/*
 * The switch never closes, so the joint reaches its stop, 3.02 rad away at 0.2 rad/s, presses for
 * 50 ms and gives up. At 900 N m/rad it takes 28 ms to reach 5 N m; the ramp of the speed takes 20
 * ms.
 */
static void test_homing_finds_nothing(void) {
    load();
    home_by(0, -2, -3.5f); /* the switch would be beyond the stop */
    tick(1);
    const uint32_t ticks = home_joint(0);
    TEST_ASSERT_EQUAL_STRING("homing", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(0, app.safety.fault_joint);
    TEST_ASSERT_UINT32_WITHIN(50, (uint32_t)(3.02 / 0.2 * RATE) + 98, ticks);
    TEST_ASSERT_TRUE(app.loop.unhomed == 1);
}

/* Bit 0: the board has an input for the home switch of the first joint. */
static uint32_t board_switches;
void app_hardware(hardware_t *hardware) {
    *hardware = (hardware_t){.flags = HARDWARE_UNKNOWN, .switches = board_switches};
}

/*
 * The test plays a real arm that follows the reference exactly. The encoder is 0.3 rad off at the
 * start and correct once the arm is homed, as in the tests with the simulated arm.
 */
static void test_homing_at_a_switch_of_the_board(void) {
    app_inputs_t in = {.counts_valid = 3, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    const motion_t motion = {.kind = MOTION_HOME, .value = {1, 0}};
    double x = 0.3;
    load();
    home_by(0, 2, 1);
    set(PARAMETER_arm, ARM_REAL);
    board_switches = 1;
    for (uint32_t ticks = 0; ticks < 100000 && (ticks < 6 || app.safety.state == APP_STATE_HOMING);
         ticks++) {
        if (ticks == 5)
            TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
        x += (double)app.loop.qd_ref[0] / RATE;
        in.counts[0] = (int32_t)lround((x - 0.3) / (double)COUNT + 1e6) % 1000;
        in.switches = x >= 1;
        app_tick(&app, &in, &out);
        app.tail = app.head;
        if (ticks >= 6)
            TEST_ASSERT_EQUAL_UINT8(app.safety.state == APP_STATE_HOMING,
                                    out.hardware && out.enable);
    }
    board_switches = 0;
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT32(0, app.loop.unhomed);
    TEST_ASSERT_DOUBLE_WITHIN(2 * (double)COUNT + 5e-5, x, (double)app.loop.q[0]);
    TEST_ASSERT_TRUE(x < 1 && !in.switches);
}

static void test_homing_is_refused(void) {
    load();
    motion_t motion = {.kind = MOTION_HOME, .value = {1, 0}};
    TEST_ASSERT_EQUAL_INT(APP_E_SEEK,
                          app_motion_start(&app, &motion)); /* the encoder is absolute */
    home_by(0, 1, 3);
    motion.value[1] = 1;
    TEST_ASSERT_EQUAL_INT(APP_E_NUMBER,
                          app_motion_start(&app, &motion)); /* only one joint at a time */
    TEST_ASSERT_EQUAL_INT(APP_E_RANGE, app_set(&app, PARAMETER_home, 0, 0.5f));
    motion.value[1] = 0;
    home_by(0, 2, 3);
    set(PARAMETER_arm, ARM_REAL); /* this board has no inputs for switches */
    tick(2);
    TEST_ASSERT_EQUAL_INT(APP_E_SEEK, app_motion_start(&app, &motion));
    set(PARAMETER_arm, ARM_SIMULATED);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_home, 0, 0));
    tick(1);
    move(0.1f, 0); /* an absolute encoder needs no homing */
}

/* The offset of an absolute encoder is set so that it shows a known position. */
static void test_absolute_offset(void) {
    load();
    set(PARAMETER_sim_shift, -2000);
    tick(1);
    const float wrong = app.loop.q[0] - app.sim_arm.q[0];
    TEST_ASSERT_FLOAT_WITHIN(COUNT, -2000 * COUNT, wrong);
    set(PARAMETER_encoder_offset, -wrong);
    tick(1);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, 0, app.loop.q[0] - app.sim_arm.q[0]);
}

/* With guard_setpoint set, missing points are noticed before the buffer runs empty. */
static void test_setpoint_timeout(void) {
    load();
    set(PARAMETER_guard_setpoint, 25);
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.01f};
    const float point[2] = {0, 0};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
    for (int k = 0; k < 20; k++)
        TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, point));
    TEST_ASSERT_EQUAL_UINT32(26, until(APP_FAULT_SETPOINT, APP_NO_JOINT, 400));
    app_status_t status;
    app_status(&app, &status);
    TEST_ASSERT_EQUAL_FLOAT(25, status.fault_limit);
}

TEST_LIST_BEGIN
TEST(test_homing_finds_the_position)
TEST(test_homing_presses_with_its_torque)
TEST(test_homing_without_brakes)
TEST(test_homing_finds_nothing)
TEST(test_homing_at_a_switch_of_the_board)
TEST(test_homing_is_refused)
TEST(test_absolute_offset)
TEST(test_setpoint_timeout)
TEST(test_encoders_and_soft_limits)
TEST(test_transitions)
TEST(test_every_fault_has_its_words)
TEST(test_fault_before_an_arm)
TEST(test_inputs)
TEST(test_short_dropout_is_no_fault)
TEST(test_jammed_joint)
TEST(test_voltages_are_told)
TEST(test_speed_and_position)
TEST(test_stream_runs_dry)
TEST(test_direction)
TEST(test_wrong_masses_are_no_wrong_direction)
TEST(test_hold_without_brakes)
TEST(test_lower_without_brakes)
TEST(test_damp_without_brakes)
TEST(test_release_without_brakes)
TEST(test_second_fault_makes_the_stop_worse)
TEST(test_too_weak_to_arm)
TEST(test_part_of_the_limits)
TEST_LIST_END

/*
 * Tests who may move the arm and what changes under it: the lease, the overrides, guards that may
 * not be weakened, torques that may not jump, a damped arm that may not be dropped, and the speed of
 * the tool.
 */
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#include "firmware/app/app.h"
#include "test/support/planar_image.h"

/* Two links of 1 kg and 0.5 m in a vertical plane; stretched, gravity takes 9.81 N m of the 50 N m
 * of joint 0. */
enum { RATE = 1000, ME = 7, OTHER = 8 };

static app_t app;
static uint8_t bytes[8192];
static app_outputs_t out;
static app_inputs_t in;

static void load(void) {
    static image_t image;
    size_t size = 0;
    planar_image_motors(&image);
    in = (app_inputs_t){.counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
}

static int set(uint32_t parameter, float value) {
    return app_set(&app, parameter, 0, value);
}

static void must_set(uint32_t parameter, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, set(parameter, value));
}

static float value_of(uint32_t parameter, uint32_t at) {
    float value = NAN;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_get(&app, parameter, at, &value));
    return value;
}

/* The background has its turn after every tick. */
static void tick(uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; i++) {
        app_tick(&app, &in, &out);
        app.tail = app.head;
        app_poll(&app);
    }
}

static int start(uint32_t kind, float to0, float to1) {
    const motion_t motion = {.kind = kind, .value = {to0, to1}};
    return app_motion_start(&app, &motion);
}

/* Holds the arm stretched out, without brakes. */
static void hold(void) {
    const float level[DYN_MAX_JOINTS] = {0};
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, level));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(300);
    must_set(PARAMETER_brakes, 0);
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* ---------------------------------------------------------------------------------------- lease */

static void test_one_client_leads(void) {
    load();
    TEST_ASSERT_EQUAL_INT(APP_E_NUMBER, app_lease(&app, 0, 1000));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_lease(&app, OTHER, 1000));
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_lease(&app, OTHER, 0));
    tick(RATE); /* the last of its ticks is still its own */
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_lease(&app, OTHER, 1000));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, OTHER, 1000));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, OTHER, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 10));
    for (int i = 0; i < 100; i++) {
        tick(10);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 10));
    }
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, app.safety.fault);
}

/* Its time is that of the rate and of the arm that are in use, whatever they were when it was taken. */
static void test_lease_is_never_longer(void) {
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    must_set(PARAMETER_rate_hz, 200);
    tick(200);
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_lease(&app, OTHER, 1000));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, OTHER, 1000));
    app_init(&app); /* no robot */
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    must_set(PARAMETER_rate_hz, 200);
    tick(201);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, OTHER, 60000));
    app.parameter[PARAMETER_arm] = ARM_REAL; /* as after SET, without a board that fits */
    must_set(PARAMETER_rate_hz, 100);
    tick(101);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
}

/* A client that forgets to end its lease has it for a minute of the simulated arm, and for a second of a
 * real one. Who had it and lost it has it no more. */
static void test_longest_lease(void) {
    static const struct {
        float arm;
        uint32_t ticks;
    } row[] = {{ARM_SIMULATED, 60 * RATE}, {ARM_REAL, RATE}};
    for (unsigned k = 0; k < 2; k++) {
        load();
        app.parameter[PARAMETER_arm] = row[k].arm;
        TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 65535));
        app.parameter[PARAMETER_arm] = ARM_SIMULATED; /* there is no real one */
        tick(row[k].ticks);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_override(&app, ME, PARAMETER_guard_tracking, 0, 1));
        tick(1);
        TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_override(&app, ME, PARAMETER_guard_tracking, 0, 1));
        TEST_ASSERT_FALSE(lease_mine(&app.lease, ME));
    }
}

/* The client dies: a motion stops with a fault, and never later than a second after its last word. */
static void test_lost_host_stops_a_motion(void) {
    static const uint32_t kind[] = {MOTION_QUINTIC, MOTION_JOG, MOTION_POINTS};
    for (unsigned k = 0; k < 3; k++) {
        hold();
        TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 300));
        motion_t motion = {.kind = kind[k], .value = {0.2f, 0.1f}, .duration_s = k == 2 ? 0.1f : 3};
        TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &motion));
        for (int p = 0; k == 2 && p < 16; p++) {
            const float q[DYN_MAX_JOINTS] = {0};
            TEST_ASSERT_EQUAL_INT(APP_OK, app_point_push(&app, q));
        }
        tick(300);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
        tick(1);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_HOST, app.safety.fault);
        TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
        tick(2000);
        TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, app.motion.kind);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
        tick(1);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    }
}

/* An arm that is held goes on being held; a motion that has not begun never begins. */
static void test_lost_host_while_nothing_moves(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 100));
    tick(2000);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, app.safety.fault);
    load();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 100));
    const motion_t stream = {.kind = MOTION_POINTS, .duration_s = 0.1f};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &stream));
    tick(101);
    TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, app.motion.kind);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, app.safety.fault);
    /* the request has not been taken up when the lease lapses */
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_QUINTIC, 0.2f, 0));
    tick(50);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

/* A client that says goodbye while its motion runs: the arm brakes, and there is no fault. */
static void test_goodbye_brakes(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_QUINTIC, 1, 0));
    tick(200);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 0));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_STOPPING, app.safety.state);
    tick(2000);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    TEST_ASSERT_TRUE(app.sim_arm.q[0] < 0.9f);
}

/* ------------------------------------------------------------------------------------- overrides */

static int override(uint32_t parameter, uint32_t at, float value) {
    return app_override(&app, ME, parameter, at, value);
}

static void must_override(uint32_t parameter, uint32_t at, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, override(parameter, at, value));
    TEST_ASSERT_EQUAL_FLOAT(value, value_of(parameter, at));
}

static void override_three(void) {
    load();
    must_set(PARAMETER_guard_speed, 1.2f);
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, override(PARAMETER_guard_speed, 0, 10));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    TEST_ASSERT_EQUAL_INT(APP_E_LEASE, app_override(&app, OTHER, PARAMETER_guard_speed, 0, 10));
    must_override(PARAMETER_guard_speed, 0, 5);
    must_override(PARAMETER_guard_speed, 0, 10);
    must_override(PARAMETER_kp, 1, 50);
    must_override(PARAMETER_sim_mass, 0, 1.1f);
}

static void expect_lasting(void) {
    TEST_ASSERT_EQUAL_FLOAT(1.2f, value_of(PARAMETER_guard_speed, 0));
    TEST_ASSERT_EQUAL_FLOAT(900, value_of(PARAMETER_kp, 1));
    TEST_ASSERT_EQUAL_FLOAT(1, value_of(PARAMETER_sim_mass, 0));
    TEST_ASSERT_EQUAL_UINT32(0, app.overrides.count);
    TEST_ASSERT_EQUAL_UINT32(0, app.notice);
}

static void test_overrides_end_with_the_lease(void) {
    float lasting;
    override_three();
    TEST_ASSERT_EQUAL_UINT32(NOTICE_WEAKER | NOTICE_OVERRIDDEN, app.notice);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lasting(&app, PARAMETER_guard_speed, 0, &lasting));
    TEST_ASSERT_EQUAL_FLOAT(1.2f, lasting);
    TEST_ASSERT_EQUAL_INT(APP_E_OVERRIDE, set(PARAMETER_guard_speed, 2));
    tick(500);
    TEST_ASSERT_EQUAL_UINT32(3, app.overrides.count);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 0));
    tick(1);
    expect_lasting();
    override_three();
    tick(RATE + 1); /* it dies */
    expect_lasting();
    /* after that they are parameters like others */
    must_set(PARAMETER_guard_speed, 1.3f);
}

/* At a fault the guards return, also while the lease goes on; the rest belongs to the lease. */
static void test_guards_return_at_a_fault(void) {
    override_three();
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(20);
    in.lost = 1;
    tick(1);
    in.lost = 0;
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
    TEST_ASSERT_EQUAL_FLOAT(1.2f, value_of(PARAMETER_guard_speed, 0));
    TEST_ASSERT_EQUAL_FLOAT(50, value_of(PARAMETER_kp, 1));
    tick(RATE);
    expect_lasting();
}

/* The same if it is cleared before the background has had its turn. */
static void test_guards_return_at_a_short_fault(void) {
    override_three();
    must_set(PARAMETER_brakes, 0);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(20);
    in.lost = 1;
    app_tick(&app, &in, &out);
    in.lost = 0;
    for (int k = 0; k < 9; k++)
        app_tick(&app, &in, &out);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_FLOAT(1.2f, value_of(PARAMETER_guard_speed, 0));
}

/* What changes only while the outputs are off returns as soon as they are. */
static void test_idle_only_overrides_wait(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    must_override(PARAMETER_position_upper, 1, 1);
    must_set(PARAMETER_brakes, 1);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 0));
    tick(100);
    TEST_ASSERT_EQUAL_FLOAT(1, value_of(PARAMETER_position_upper, 1));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(2);
    TEST_ASSERT_EQUAL_FLOAT(3, value_of(PARAMETER_position_upper, 1));
}

/* The end of a command does not take the torque from an arm that it holds with its own values. */
static void test_overrides_that_hold_the_arm_wait(void) {
    static const struct {
        uint32_t parameter, at;
        float held;
    } row[] = {{PARAMETER_feedback, 0, FEEDBACK_PD},
               {PARAMETER_feedforward, 0, FEEDFORWARD_GRAVITY},
               {PARAMETER_kp, 1, 50},
               {PARAMETER_kd, 1, 5}};
    for (unsigned r = 0; r < sizeof row / sizeof row[0]; r++) {
        hold();
        TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
        tick(1);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, row[r].parameter, row[r].at, 0));
        TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
        must_override(row[r].parameter, row[r].at, row[r].held);
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
        tick(RATE + 100); /* the client dies */
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
        TEST_ASSERT_EQUAL_FLOAT(row[r].held, value_of(row[r].parameter, row[r].at));
        TEST_ASSERT_TRUE(app.notice & NOTICE_OVERRIDDEN);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
        tick(2);
        TEST_ASSERT_EQUAL_FLOAT(0, value_of(row[r].parameter, row[r].at));
        TEST_ASSERT_EQUAL_UINT32(0, app.overrides.count);
    }
}

/* What the next client overrides does not end with the lease of the one before, even if the
 * background had no turn between the two. */
static void test_overrides_of_the_next_client(void) {
    override_three();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, OTHER, 1000));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_override(&app, OTHER, PARAMETER_guard_speed, 0, 2));
    tick(10);
    TEST_ASSERT_EQUAL_FLOAT(2, value_of(PARAMETER_guard_speed, 0));
    TEST_ASSERT_EQUAL_FLOAT(900, value_of(PARAMETER_kp, 1));
    TEST_ASSERT_EQUAL_UINT32(1, app.overrides.count);
}

/* The simulated arm allows overrides that the real one does not: none is carried over. */
static void test_real_arm_inherits_no_override(void) {
    override_three();
    TEST_ASSERT_EQUAL_INT(APP_E_OVERRIDE, set(PARAMETER_arm, ARM_REAL));
    TEST_ASSERT_EQUAL_FLOAT(ARM_SIMULATED, value_of(PARAMETER_arm, 0));
}

/* A robot that is loaded does not inherit what a command has overridden. */
static void test_loading_ends_overrides(void) {
    size_t size = 0;
    static image_t image;
    override_three();
    planar_image(&image);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
    TEST_ASSERT_EQUAL_UINT32(0, app.overrides.count);
    TEST_ASSERT_EQUAL_FLOAT(1.2f, value_of(PARAMETER_guard_speed, 0));
}

/* ------------------------------------------------------------------------------------ loosening */

static void test_guards_are_weakened_only_at_rest(void) {
    static const struct {
        uint32_t parameter;
        float weaker, stronger;
    } guard[] = {
        {PARAMETER_guard_tracking, 0.3f, 0.2f}, {PARAMETER_guard_speed, 2, 1.1f},
        {PARAMETER_guard_reversals, 30, 10},    {PARAMETER_guard_direction, 0, 1},
        {PARAMETER_hold_fraction, 0.9f, 0.7f},  {PARAMETER_tool_speed, 0.3f, 0.2f},
    };
    for (unsigned k = 0; k < sizeof guard / sizeof guard[0]; k++) {
        hold();
        const float before = value_of(guard[k].parameter, 0);
        TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(guard[k].parameter, guard[k].weaker));
        TEST_ASSERT_EQUAL_FLOAT(before, value_of(guard[k].parameter, 0));
        must_set(guard[k].parameter, guard[k].stronger);
        TEST_ASSERT_EQUAL_UINT32(0, app.notice);
        TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
        tick(1);
        must_set(guard[k].parameter, guard[k].weaker);
        TEST_ASSERT_EQUAL_UINT32(NOTICE_WEAKER, app.notice);
        must_set(guard[k].parameter, before);
        TEST_ASSERT_EQUAL_UINT32(0, app.notice);
    }
    /* 0 switches the guard of streams off */
    load();
    must_set(PARAMETER_guard_setpoint, 100);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(2);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_guard_setpoint, 200));
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_guard_setpoint, 0));
    must_set(PARAMETER_guard_setpoint, 50);
}

/* The words of NOTICE_... are in every sample. */
static void test_samples_tell(void) {
    load();
    must_set(PARAMETER_guard_speed, 2);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_lease(&app, ME, 1000));
    must_override(PARAMETER_kp, 0, 90);
    app_tick(&app, &in, &out);
    const sample_t *sample = app_sample_peek(&app);
    TEST_ASSERT_NOT_NULL(sample);
    TEST_ASSERT_EQUAL_HEX32(7u << 17, sample->state & 0xffff0000u);
}

static void test_torque_is_not_taken_away(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_feedback, FEEDBACK_OFF));
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_feedforward, FEEDFORWARD_GRAVITY));
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kp, 0));
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_kd, 0));
    /* 1 kg at the end takes 9.81 N m more; 10 kg more than the motor has */
    must_set(PARAMETER_payload_x, 0.5f);
    TEST_ASSERT_EQUAL_INT(APP_E_WEAK, set(PARAMETER_payload_mass, 10));
    TEST_ASSERT_EQUAL_FLOAT(0, value_of(PARAMETER_payload_mass, 0));
    must_set(PARAMETER_payload_mass, 1);
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* Computed torque holds the arm without kp and kd; PD would not. */
static void test_feedback_without_gains(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    must_set(PARAMETER_feedback, FEEDBACK_COMPUTED_TORQUE);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kp, 1, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(10);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_feedback, FEEDBACK_PD));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kp, 1, 900));
    must_set(PARAMETER_feedback, FEEDBACK_PD);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kd, 1, 0));
    must_set(PARAMETER_feedback, FEEDBACK_COMPUTED_TORQUE);
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    tick(10);
    TEST_ASSERT_EQUAL_INT(APP_E_LOOSE, set(PARAMETER_feedback, FEEDBACK_PD));
}

/* Gains, payload and feedforward: the commanded torque never jumps, and the change is there at the
 * end. The largest step in a tick belongs to a change of the whole torque with 0.1 s. */
static void test_torques_do_not_jump(void) {
    static const struct {
        uint32_t parameter;
        float value;
    } change[] = {{PARAMETER_payload_mass, 0.5f},
                  {PARAMETER_kp, 400},
                  {PARAMETER_kp, 60},
                  {PARAMETER_kd, 60},
                  {PARAMETER_feedback, FEEDBACK_COMPUTED_TORQUE}};
    for (unsigned k = 0; k < sizeof change / sizeof change[0]; k++) {
        hold();
        must_set(PARAMETER_payload_x, 0.5f);
        must_set(PARAMETER_sim_mass, 1.2f); /* the feedback has something to do */
        tick(1000);
        const double before = (double)app.loop.tau[0];
        must_set(change[k].parameter, change[k].value);
        double last = before, step = 0;
        for (int t = 0; t < 100; t++) {
            tick(1);
            step = fmax(step, fabs((double)app.loop.tau[0] - last));
            last = (double)app.loop.tau[0];
        }
        TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
        /* 0.5 kg at 1 m: 4.9 N m e^(-t / 0.1 s), 0.05 N m in a tick */
        TEST_ASSERT_TRUE(step < 0.1);
    }
    hold();
    must_set(PARAMETER_payload_x, 0.5f);
    const double before = (double)app.loop.tau_model[0];
    must_set(PARAMETER_payload_mass, 0.5f);
    tick(900);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, before + 0.5 * 9.81, (double)app.loop.tau_model[0]);
    TEST_ASSERT_EQUAL_UINT32(0, app.loop.fading);
}

/* --------------------------------------------------------------------------------------- damping */

/* Returns how far joint 0 sinks within 1 s after an encoder is lost; `act` comes after 0.1 s. */
static double sink(int (*act)(app_t *)) {
    hold();
    const double from = (double)app.sim_arm.q[0];
    in.lost = 0;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_sim_defect, 0, 3)); /* encoder lost */
    tick(10);
    TEST_ASSERT_EQUAL_STRING("encoder", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    tick(90);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_sim_defect, 0, 0));
    if (act)
        TEST_ASSERT_EQUAL_INT(APP_OK, act(&app));
    tick(900);
    return fabs((double)app.sim_arm.q[0] - from);
}

/* A2: clear drops nothing. */
static void test_clear_drops_nothing(void) {
    const double damped = sink(NULL), cleared = sink(app_clear);
    harness_note_number("damped for 1 s, urad:", (int64_t)(damped * 1e6));
    harness_note_number("the same, cleared after 0.1 s, urad:", (int64_t)(cleared * 1e6));
    TEST_ASSERT_EQUAL_DOUBLE(damped, cleared);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_DAMPING, app.safety.state);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, app.safety.fault);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_QUINTIC, 0, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_HOLD, 0, 0));
    const double here = (double)app.sim_arm.q[0];
    tick(500);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, here, (double)app.sim_arm.q[0]);
    const double released = sink(app_off);
    harness_note_number("released instead, urad:", (int64_t)(released * 1e6));
    TEST_ASSERT_TRUE(released > 10 * damped);
}

static void test_faults_while_damping(void) {
    (void)sink(app_clear);
    in.overrun = 1;
    tick(3);
    in.overrun = 0;
    TEST_ASSERT_EQUAL_STRING("overrun", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_stop(&app)); /* changes nothing */
    tick(10);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_DAMPING, app.safety.state);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

/* With brakes they close at once, and hold the arm after half a second. */
static void test_brakes_end_damping(void) {
    hold();
    must_set(PARAMETER_brakes, 1);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_sim_defect, 0, 3));
    tick(10);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_sim_defect, 0, 0));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    tick(400);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_DAMPING, app.safety.state);
    TEST_ASSERT_EQUAL_UINT8(0, out.brake_open);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    tick(110);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

/* ------------------------------------------------------------------------------------ tool speed */

/* The tool can be 1 m from axis 0 and 0.5 m from axis 1. */
static void test_tool_speed(void) {
    hold();
    TEST_ASSERT_EQUAL_INT(APP_E_TOOL_SPEED, start(MOTION_JOG, 0.26f, 0));
    TEST_ASSERT_EQUAL_INT(APP_E_TOOL_SPEED, start(MOTION_JOG, 0, -0.52f));
    TEST_ASSERT_EQUAL_INT(APP_E_TOOL_SPEED, start(MOTION_JOG, 0.2f, -0.12f));
    for (int k = 0; k < 8; k++) { /* to and fro within the limit, without a fault */
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_JOG, k % 2 ? 0 : 0.249f, k % 2 ? -0.498f : 0));
        tick(300);
        TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    }
    /* somebody pushes: an encoder that counts twice as fast looks the same */
    TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_JOG, 0.2f, 0));
    tick(200);
    app.sim_arm.qd[0] = 0.6f;
    for (int t = 0; t < 60 && app.safety.state == APP_STATE_RUNNING; t++) {
        app.sim_arm.qd[0] = 0.6f;
        tick(1);
    }
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_TOOL_SPEED, app.safety.fault);
    app_status_t status;
    app_status(&app, &status);
    TEST_ASSERT_FLOAT_WITHIN(0.02f, 0.375f, status.fault_limit);
    TEST_ASSERT_TRUE(status.fault_value > 0.37f && status.fault_value < 0.7f);
}

TEST_LIST_BEGIN
TEST(test_one_client_leads)
TEST(test_lease_is_never_longer)
TEST(test_longest_lease)
TEST(test_lost_host_stops_a_motion)
TEST(test_lost_host_while_nothing_moves)
TEST(test_goodbye_brakes)
TEST(test_overrides_end_with_the_lease)
TEST(test_guards_return_at_a_fault)
TEST(test_guards_return_at_a_short_fault)
TEST(test_idle_only_overrides_wait)
TEST(test_overrides_that_hold_the_arm_wait)
TEST(test_overrides_of_the_next_client)
TEST(test_real_arm_inherits_no_override)
TEST(test_loading_ends_overrides)
TEST(test_guards_are_weakened_only_at_rest)
TEST(test_samples_tell)
TEST(test_torque_is_not_taken_away)
TEST(test_feedback_without_gains)
TEST(test_torques_do_not_jump)
TEST(test_clear_drops_nothing)
TEST(test_faults_while_damping)
TEST(test_brakes_end_damping)
TEST(test_tool_speed)
TEST_LIST_END

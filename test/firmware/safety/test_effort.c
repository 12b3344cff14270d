/*
 * Tests the effort guard on the simulated PUMA 560: unstable gains and a jam at the default guards,
 * random motions of a correct arm, which must cause no fault, and the counts themselves with
 * torques that the test writes.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "firmware/control/number.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef TEST_LONG
enum { MINUTES = 60 };
#else
enum { MINUTES = 2 };
#endif
enum { N = CONTROL_ARM_JOINTS, RATE = 1000 };
static const float pose[N] = {0, 1, -2.3f, 0, 0, 0};

static app_t app;
static app_outputs_t out;

static void set(uint32_t parameter, uint32_t at, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, parameter, at, value));
}

static void tick(void) {
    static const app_inputs_t in = {
        .counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    app_tick(&app, &in, &out);
    app.tail = app.head;
}

/* Loads the arm with the gains of a joint multiplied. The board refuses some of them, so they are
 * written behind its back. */
static void load(uint32_t at, float kp, float kd) {
    size_t size;
    const uint8_t *made = control_arm_image(&size, 1);
    TEST_ASSERT_NOT_NULL(made);
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, made, size));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, pose));
    app.joint[at].kp *= kp;
    app.joint[at].kd *= kd;
    set(PARAMETER_stages, 0, 0); /* makes the constants of the loop anew */
}

static void move(float by) {
    motion_t m = {.kind = MOTION_QUINTIC};
    for (uint32_t i = 0; i < N; i++)
        m.value[i] = pose[i] + by;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &m));
}

static real torque_limit(uint32_t at) {
    return app.control[app.now].joint[at].tau_max;
}

/* Runs the loop with these gains for half a second, of which the arm moves for the first part; by
 * then the guards must have taken the torque away and the arm must stand. */
static void becomes_unstable(uint32_t at, float kp, float kd) {
    uint32_t found = 0;
    char text[80];
    load(at, kp, kd);
    move(0.05f);
    for (uint32_t t = 1; t <= RATE / 2; t++) {
        tick();
        if (found == 0 && app.safety.state == APP_STATE_FAULT)
            found = t;
    }
    (void)snprintf(text, sizeof text, "kp x %g, kd x %g at joint %u: fault after ms", (double)kp,
                   (double)kd, (unsigned)at);
    harness_note_number(text, found);
    TEST_ASSERT_TRUE(found > 0);
    TEST_ASSERT_EQUAL_STRING("unstable", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(at, app.safety.fault_joint);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, app.safety.stop);
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_EQUAL_INT32(0, out.duty_q15[i]);
        /* Shorted, the shoulder sinks: 50 N m of gravity, 265 N m s/rad of its motor. That is a
         * fifth of its velocity limit; the guard is at 1.5 times the limit. */
        TEST_ASSERT_TRUE(real_size(app.sim_arm.qd[i]) < app.control[app.now].joint[i].fast / 6);
    }
}

static void test_unstable_gains(void) {
    for (uint32_t at = 0; at < N; at++) {
        becomes_unstable(at, 1000, 1);
        becomes_unstable(at, 1, 100);
    }
}

/* A at that is blocked, and not watched by the tracking guard: the time with full torque, until
 * the stop has ended. A at under load is blocked a second time, while the arm is lowered. */
static void test_jam(void) {
    uint32_t worst = 0;
    for (uint32_t at = 0; at < N; at++) {
        uint32_t full = 0;
        load(at, 1, 1);
        set(PARAMETER_guard_tracking, 0, 1);
        set(PARAMETER_sim_defect_joint, 0, (float)at);
        set(PARAMETER_sim_defect, 0, DEFECT_JAMMED);
        move(0.7f);
        for (uint32_t t = 0; t < 4 * RATE; t++) {
            tick();
            full += real_size(app.loop.tau[at]) >= torque_limit(at);
        }
        TEST_ASSERT_EQUAL_STRING("torque", app_fault_name(app.safety.fault));
        TEST_ASSERT_EQUAL_UINT32(at, app.safety.fault_joint);
        worst = full > worst ? full : worst;
    }
    harness_note_number("jam: full torque for ms, at most", worst);
    TEST_ASSERT_TRUE(worst <= 150);
}

/* The counts alone. The torque of joint 0 is `part` of its limit; all others are zero. Returns the
 * fault. */
static uint32_t guarded(float part) {
    const control_t *c = &app.control[app.now];
    effort_t *e = &app.safety.guard.effort;
    loop_t *s = &app.loop;
    real factor;
    (void)real_from_model((double)part, 0, &factor);
    s->tau[0] = real_mul(factor, c->joint[0].tau_max);
    s->limited = s->clipped = fabsf(part) >= 1;
    return effort_guard(c, e, s, SUPPLY_UNMEASURED).fault;
}

/* Starts the counts with no torque anywhere. */
static void start_counts(void) {
    load(0, 1, 1);
    effort_start(&app.safety.guard.effort);
    for (uint32_t i = 0; i < N; i++)
        app.loop.tau[i] = real_known(0);
}

/* 70 ms in a row; every other tick takes 2 - 1 half ticks, so 140 of them in 280 ticks; one tick of
 * three is for ever. */
static void test_share_of_time_at_a_limit(void) {
    static const struct { uint32_t period, ticks; } row[] = {{1, 71}, {2, 281}, {3, 0}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t fault = APP_FAULT_NONE, t;
        start_counts();
        for (t = 0; t < 20 * RATE && fault == APP_FAULT_NONE; t++)
            fault = guarded(t % row[r].period == 0 ? 1 : 0.4f);
        TEST_ASSERT_EQUAL_UINT32(row[r].ticks > 0 ? APP_FAULT_TORQUE : APP_FAULT_NONE, fault);
        if (row[r].ticks > 0) {
            TEST_ASSERT_EQUAL_UINT32(row[r].ticks, t);
        }
    }
}

/* With 20 reversals forgotten in a second and more than 8 of them a fault: 40 per second leave one
 * in 50 ms, so the ninth is left after 0.4 to 0.45 s. Weaker torques do not count. */
static void test_rate_of_reversals(void) {
    static const struct {
        uint32_t half_period;
        float part;
        uint32_t fault, least, most;
    } row[] = {{25, 0.6f, APP_FAULT_UNSTABLE, 400, 450},
               {25, 0.49f, APP_FAULT_NONE, 0, 0},
               {55, 0.9f, APP_FAULT_NONE, 0, 0}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t fault = APP_FAULT_NONE, t;
        start_counts();
        for (t = 0; t < 20 * RATE && fault == APP_FAULT_NONE; t++)
            fault = guarded(t / row[r].half_period % 2 ? row[r].part : -row[r].part);
        TEST_ASSERT_EQUAL_UINT32(row[r].fault, fault);
        if (row[r].fault != APP_FAULT_NONE) {
            TEST_ASSERT_TRUE(t >= row[r].least && t <= row[r].most);
        }
    }
}

/* A joint that trips at its limit is blocked if its torque had one direction, and unstable if it
 * had both. */
static void test_blocked_or_unstable(void) {
    for (int k = 0; k < 2; k++) {
        uint32_t fault = APP_FAULT_NONE;
        start_counts();
        for (uint32_t t = 0; t < RATE && fault == APP_FAULT_NONE; t++)
            fault = guarded(k == 1 && t / 30 % 2 ? -1 : 1);
        TEST_ASSERT_EQUAL_UINT32(k == 0 ? APP_FAULT_TORQUE : APP_FAULT_UNSTABLE, fault);
    }
}

static uint64_t chance;

static float between(float low, float high) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (float)((double)(chance >> 11) / 9007199254740992.0);
}

/* Random motions, some of them stopped on the way, with masses up to 10 % and friction up to 50 %
 * off and up to 2 counts of noise, at the default guards. */
static void moves_without_fault(uint32_t feedback, uint32_t feedforward) {
    uint32_t motions = 0;
    load(0, 1, 1);
    set(PARAMETER_feedback, 0, (float)feedback);
    set(PARAMETER_feedforward, 0, (float)feedforward);
    chance = 5;
    for (uint32_t t = 0; t < MINUTES * 60 * RATE; t++) {
        tick();
        if (app.safety.state == APP_STATE_FAULT)
            TEST_FAIL_MESSAGE(app_fault_name(app.safety.fault));
        if (app.motion.kind != MOTION_HOLD) {
            if (between(0, 2000) < 1)
                (void)app_stop(&app);
            continue;
        }
        set(PARAMETER_sim_mass, 0, between(0.9f, 1.1f));
        set(PARAMETER_sim_friction, 0, between(0.5f, 1.5f));
        set(PARAMETER_sim_noise, 0, floorf(between(0, 2.999f)));
        motion_t m = {.kind = between(0, 1) < 0.5f ? MOTION_QUINTIC : MOTION_TRAPEZOID};
        for (uint32_t i = 0; i < N; i++)
            m.value[i] =
                between(app.joint[i].position[0] + 0.02f, app.joint[i].position[1] - 0.02f);
        motions += app_motion_start(&app, &m) == APP_OK;
    }
    TEST_ASSERT_TRUE(motions > MINUTES * 10);
    harness_note_number("random motions without a fault", motions);
}

static void test_no_false_alarm(void) {
    if (!strcmp(app_real_name(), "q31"))
        TEST_IGNORE_MESSAGE("the simulated arm is not proved in fixed point");
    moves_without_fault(FEEDBACK_PD, FEEDFORWARD_FULL);
    moves_without_fault(FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_FULL);
    moves_without_fault(FEEDBACK_PD, FEEDFORWARD_GRAVITY);
}

TEST_LIST_BEGIN
TEST(test_unstable_gains)
TEST(test_jam)
TEST(test_share_of_time_at_a_limit)
TEST(test_rate_of_reversals)
TEST(test_blocked_or_unstable)
TEST(test_no_false_alarm)
TEST_LIST_END

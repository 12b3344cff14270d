/*
 * Tests the guards alone: which finding an input or a state of the loop gives, at which number it
 * begins, and which one is reported if there are several. The limits here are exact in floats, so
 * that "at the limit" and "beyond it" differ. The tests of the arm as a whole are in
 * test_supervisor.c and test_direction.c.
 */
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#include "firmware/app/app.h"

enum { N = 2, UNREAD = 5, LATE = 3, LEAST_MV = 28000, MOST_MV = 50000 };
#define UPPER   1.0f
#define LOWER   -2.0f
#define BEYOND  0.25f
#define TRACK   0.5f
#define FAST    4.0f
#define TAU_MAX 50.0f
#define LITTLE  0x1p-10f

static arm_t arm;
static control_t control;
static guard_t guard;
static loop_t loop;
static const app_inputs_t sound = {.counts_valid = UINT32_MAX, .supply_mV = 40000, .ready = 1};

/* Makes an arm of two joints at rest at zero. What is behind the last joint is not a number, so that
 * a guard that looks there has a finding. */
void setUp(void) {
    arm = (arm_t){.n = N};
    control = (control_t){.arm = &arm,
                          .supply_least_mV = LEAST_MV,
                          .supply_most_mV = MOST_MV,
                          .limit_half_ticks = 8,
                          .leak_ticks = 1000,
                          .unread = UNREAD,
                          .late = LATE};
    guard = (guard_t){0};
    memset(&loop, 0xff, sizeof loop);
    loop.fading = 0;
    loop.limited = loop.unproved = loop.clipped = loop.unhomed = loop.pressing = 0;
    for (uint32_t i = 0; i < N; i++) {
        control.joint[i] = (control_joint_t){.tau_max = TAU_MAX,
                                             .lower = LOWER,
                                             .upper = UPPER,
                                             .track = TRACK,
                                             .beyond = BEYOND,
                                             .fast = FAST,
                                             .jump = UINT16_MAX,
                                             .noise = UINT16_MAX,
                                             .stuck = INFINITY,
                                             .motor = 1,
                                             .bounded = 1};
        loop.counts[i] = 0;
        loop.q[i] = loop.q_hat[i] = loop.qd_hat[i] = loop.q_ref[i] = loop.qd_ref[i] = 0;
        loop.tau_model[i] = loop.tau[i] = loop.volt[i] = 0;
    }
}

static void expect(uint32_t fault, uint32_t joint, float value, float limit, finding_t found) {
    TEST_ASSERT_EQUAL_STRING(app_fault_name(fault), app_fault_name(found.fault));
    TEST_ASSERT_EQUAL_UINT32(joint, found.joint);
    TEST_ASSERT_EQUAL_FLOAT(value, found.value);
    TEST_ASSERT_EQUAL_FLOAT(limit, found.limit);
}

static void expect_nothing(finding_t found) {
    expect(APP_FAULT_NONE, APP_NO_JOINT, 0, 0, found);
}

static finding_t inputs(const app_inputs_t *in) {
    return guard_inputs(&control, &guard, in, APP_FAULT_NONE);
}

static finding_t joints(void) {
    return guard_loop(&control, &guard, &loop, APP_NO_JOINT);
}

/* ---- inputs ---- */

/* The deepest of several causes is reported: a failed oscillator also sets the e-stop's flag. */
static void test_causes_of_the_latch(void) {
    static const struct {
        uint8_t latched;
        uint32_t fault;
    } row[] = {{CAUSE_CLOCK, APP_FAULT_CLOCK},
               {CAUSE_POWER, APP_FAULT_POWER},
               {CAUSE_ESTOP, APP_FAULT_ESTOP},
               {CAUSE_DRIVER, APP_FAULT_DRIVER},
               {CAUSE_TICK, APP_FAULT_TICK_STOPPED},
               {CAUSE_DRIVER | CAUSE_TICK, APP_FAULT_DRIVER},
               {CAUSE_ESTOP | CAUSE_DRIVER | CAUSE_TICK, APP_FAULT_ESTOP},
               {CAUSE_POWER | CAUSE_ESTOP | CAUSE_DRIVER | CAUSE_TICK, APP_FAULT_POWER},
               {0x1f, APP_FAULT_CLOCK}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        app_inputs_t in = sound;
        in.latched = row[r].latched;
        expect(row[r].fault, APP_NO_JOINT, 1, 0, inputs(&in));
    }
    expect_nothing(inputs(&sound));
}

/* An encoder may be silent for UNREAD ticks in a row. The reason that it gives itself comes before a
 * wrong parity, and that before silence; each names its own joint. */
static void test_silent_encoders(void) {
    static const struct {
        uint32_t valid, parity, unwell, fault, joint;
    } row[] = {{1, 0, 0, APP_FAULT_ENCODER, 1}, {2, 0, 0, APP_FAULT_ENCODER, 0},
               {0, 0, 0, APP_FAULT_ENCODER, 0}, {0, 2, 0, APP_FAULT_PARITY, 1},
               {0, 3, 2, APP_FAULT_MAGNET, 1},  {0, 0, 3, APP_FAULT_MAGNET, 0},
               {2, 2, 2, APP_FAULT_ENCODER, 0}}; /* joint 1 has been read all the same */
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        app_inputs_t in = sound;
        in.counts_valid = row[r].valid;
        in.parity = row[r].parity;
        in.unwell = row[r].unwell;
        for (int k = 0; k < UNREAD; k++)
            expect_nothing(inputs(&in));
        expect(row[r].fault, row[r].joint, UNREAD + 1, UNREAD, inputs(&in));
        expect(row[r].fault, row[r].joint, UNREAD + 2, UNREAD, inputs(&in));
        expect_nothing(inputs(&sound)); /* one reading, and the count begins again */
        expect_nothing(inputs(&in));
        expect_nothing(inputs(&sound));
    }
    app_inputs_t in = sound;
    in.counts_valid = 3; /* there are no more joints */
    for (int k = 0; k < UNREAD + 2; k++)
        expect_nothing(inputs(&in));
}

static void test_overruns_and_lost_ticks(void) {
    app_inputs_t in = sound;
    in.overrun = 1;
    for (int k = 0; k < LATE; k++)
        expect_nothing(inputs(&in));
    expect(APP_FAULT_OVERRUN, APP_NO_JOINT, LATE + 1, LATE, inputs(&in));
    expect_nothing(inputs(&sound));
    expect_nothing(inputs(&in));
    in.lost = 1; /* ticks are lost because one took too long */
    expect(APP_FAULT_OVERRUN, APP_NO_JOINT, 1, 0, inputs(&in));
    in.overrun = 0;
    in.lost = 7;
    expect(APP_FAULT_LOST, APP_NO_JOINT, 7, 0, inputs(&in));
}

/* A defect that lasts for hours stays a fault: the counts end at their largest number. */
static void test_counts_do_not_wrap(void) {
    app_inputs_t in = sound;
    in.counts_valid = 0;
    in.overrun = 1;
    guard.unread = guard.late = UINT16_MAX - 1;
    expect(APP_FAULT_ENCODER, 0, UINT16_MAX, UNREAD, inputs(&in));
    expect(APP_FAULT_ENCODER, 0, UINT16_MAX, UNREAD, inputs(&in));
    in.counts_valid = UINT32_MAX;
    expect(APP_FAULT_OVERRUN, APP_NO_JOINT, UINT16_MAX, LATE, inputs(&in));
}

static void test_supply(void) {
    static const struct {
        int32_t mV;
        uint32_t fault;
        int32_t value, limit;
    } row[] = {{SUPPLY_UNMEASURED, APP_FAULT_NONE, 0, 0},
               {SUPPLY_FAILED, APP_FAULT_SUPPLY_SENSOR, 1, 0},
               {0, APP_FAULT_SUPPLY_LOW, 0, LEAST_MV},
               {LEAST_MV - 1, APP_FAULT_SUPPLY_LOW, LEAST_MV - 1, LEAST_MV},
               {LEAST_MV, APP_FAULT_NONE, 0, 0},
               {MOST_MV, APP_FAULT_NONE, 0, 0},
               {MOST_MV + 1, APP_FAULT_SUPPLY_HIGH, MOST_MV + 1, MOST_MV}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        app_inputs_t in = sound;
        in.supply_mV = row[r].mV;
        expect(row[r].fault, APP_NO_JOINT, (float)row[r].value, (float)row[r].limit, inputs(&in));
        TEST_ASSERT_EQUAL_INT32(row[r].mV, guard.supply_mV); /* for the other guards */
    }
}

/* All at once: the finding with the worst stop, or the deepest cause, comes first. Each is then taken
 * away. */
static void test_order_of_the_inputs(void) {
    app_inputs_t in = {
        .supply_mV = 0, .lost = 2, .overrun = 1, .latched = CAUSE_ESTOP, .stalled = 1};
    guard.unread = UNREAD;
    guard.late = LATE;
    expect(APP_FAULT_ESTOP, APP_NO_JOINT, 1, 0, inputs(&in));
    in.latched = 0;
    expect(APP_FAULT_SUPPLY_LOW, APP_NO_JOINT, 0, LEAST_MV, inputs(&in));
    in.supply_mV = MOST_MV + 1;
    expect(APP_FAULT_ENCODER, 0, UNREAD + 3, UNREAD, inputs(&in));
    in.counts_valid = UINT32_MAX;
    expect(APP_FAULT_SUPPLY_HIGH, APP_NO_JOINT, MOST_MV + 1, MOST_MV, inputs(&in));
    in.supply_mV = SUPPLY_FAILED;
    expect(APP_FAULT_OVERRUN, APP_NO_JOINT, LATE + 5, LATE, inputs(&in));
    guard.late = 0;
    expect(APP_FAULT_OVERRUN, APP_NO_JOINT, 2, 0, inputs(&in));
    in.overrun = 0;
    expect(APP_FAULT_LOST, APP_NO_JOINT, 2, 0, inputs(&in));
    in.lost = 0;
    expect(APP_FAULT_BACKGROUND, APP_NO_JOINT, 1, 0, inputs(&in));
    in.stalled = 0;
    expect(APP_FAULT_SUPPLY_SENSOR, APP_NO_JOINT, 1, 0, inputs(&in));
}

/* A fault that lasts and lets the arm be held is not found again, and hides no other one. */
static void test_fault_that_lasts(void) {
    const app_inputs_t in = {
        .counts_valid = UINT32_MAX, .supply_mV = SUPPLY_FAILED, .lost = 2, .stalled = 1};
    app_inputs_t one = sound;
    expect(APP_FAULT_BACKGROUND, APP_NO_JOINT, 1, 0,
           guard_inputs(&control, &guard, &in, APP_FAULT_LOST));
    one.lost = 2;
    expect_nothing(guard_inputs(&control, &guard, &one, APP_FAULT_LOST));
    one = sound;
    one.stalled = 1;
    expect_nothing(guard_inputs(&control, &guard, &one, APP_FAULT_BACKGROUND));
    one.supply_mV = SUPPLY_FAILED;
    expect(APP_FAULT_SUPPLY_SENSOR, APP_NO_JOINT, 1, 0,
           guard_inputs(&control, &guard, &one, APP_FAULT_BACKGROUND));
    one.stalled = 0;
    expect_nothing(guard_inputs(&control, &guard, &one, APP_FAULT_SUPPLY_SENSOR));
}

/* ---- joints ---- */

static void test_not_a_number(void) {
    real_t *const place[] = {loop.tau_model, loop.q_hat, loop.tau, loop.volt};
    for (uint32_t i = 0; i < N; i++)
        for (int k = 0; k < 4; k++) {
            expect_nothing(joints());
            place[k][i] = NAN;
            const finding_t found = joints();
            TEST_ASSERT_EQUAL_STRING("number", app_fault_name(found.fault));
            TEST_ASSERT_EQUAL_UINT32(i, found.joint);
            TEST_ASSERT_EQUAL_FLOAT(TAU_MAX, found.limit);
            place[k][i] = 0;
        }
}

/* The limit itself is too fast: fixed point cannot show more than its largest number. */
static void test_speed(void) {
    for (uint32_t i = 0; i < N; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            loop.qd_hat[i] = (float)sign * (FAST - LITTLE);
            expect_nothing(joints());
            loop.qd_hat[i] = (float)sign * FAST;
            expect(APP_FAULT_VELOCITY, i, (float)sign * FAST, FAST, joints());
            loop.qd_hat[i] = 0;
        }
}

static void place(uint32_t i, float q) {
    loop.q[i] = loop.q_hat[i] = loop.q_ref[i] = q;
}

static void test_position(void) {
    for (uint32_t i = 0; i < N; i++) {
        place(i, UPPER + BEYOND);
        expect_nothing(joints());
        place(i, UPPER + BEYOND + LITTLE);
        expect(APP_FAULT_POSITION, i, UPPER + BEYOND + LITTLE, UPPER, joints());
        place(i, LOWER - BEYOND);
        expect_nothing(joints());
        place(i, LOWER - BEYOND - LITTLE);
        expect(APP_FAULT_POSITION, i, LOWER - BEYOND - LITTLE, LOWER, joints());
        loop.unhomed = 2u >> i; /* the position of the other joint is unknown */
        expect(APP_FAULT_POSITION, i, LOWER - BEYOND - LITTLE, LOWER, joints());
        loop.unhomed = 1u << i;
        expect_nothing(joints());
        loop.unhomed = 0;
        control.joint[i].bounded = 0;
        expect_nothing(joints());
        control.joint[i].bounded = 1;
        place(i, 0);
    }
}

/* A joint that starts beyond its limits may move back, and farther out. Once it has been inside, the
 * limits hold. A joint that starts at its limit is inside. */
static void test_start_beyond_a_limit(void) {
    static const float from[] = {LOWER - 1, UPPER + 1}, edge[] = {LOWER, UPPER},
                       far[] = {LOWER - 2, UPPER + 2};
    for (uint32_t i = 0; i < N; i++)
        for (int k = 0; k < 2; k++) {
            const uint32_t other = 1 - i;
            place(i, from[k]);
            guard_start(&control, &guard, &loop);
            expect_nothing(joints());
            place(i, far[k]);
            expect_nothing(joints());
            place(other, far[k]); /* started inside */
            expect(APP_FAULT_POSITION, other, far[k], edge[k], joints());
            place(other, 0);
            place(i, edge[k]);
            expect_nothing(joints());
            place(i, far[k]);
            expect(APP_FAULT_POSITION, i, far[k], edge[k], joints());
            place(i, edge[k]);
            guard_start(&control, &guard, &loop);
            place(i, far[k]);
            expect(APP_FAULT_POSITION, i, far[k], edge[k], joints());
            place(i, 0);
        }
    control.joint[1].bounded = 0; /* has no limits to begin beyond of */
    place(1, 100);
    guard_start(&control, &guard, &loop);
    TEST_ASSERT_EQUAL_UINT32(0, guard.outside);
}

/* Closing the loop again starts all guards anew, but forgets neither the ticks at a limit, which
 * STATUS tells, nor a series of bad inputs. */
static void test_start_keeps_the_counts(void) {
    memset(&guard, 0x55, sizeof guard);
    const guard_t before = guard;
    guard_start(&control, &guard, &loop);
    TEST_ASSERT_EQUAL_UINT32(before.effort.limited, guard.effort.limited);
    TEST_ASSERT_EQUAL_UINT16(before.late, guard.late);
    TEST_ASSERT_EQUAL_UINT16(before.unread, guard.unread);
    TEST_ASSERT_EQUAL_UINT32(0, guard.outside);
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_EQUAL_UINT16(0, guard.effort.at_limit[i]);
        TEST_ASSERT_EQUAL_UINT8(0, guard.effort.reversals[i]);
    }
    TEST_ASSERT_EQUAL_UINT16(0, guard.phase);
    TEST_ASSERT_EQUAL_UINT16(0, guard.stopped);
    TEST_ASSERT_EQUAL_UINT8(0, guard.wrong[0] | guard.wrong[1]);
    TEST_ASSERT_TRUE(guard.missing == 0);
}

static void test_tracking(void) {
    for (uint32_t i = 0; i < N; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            loop.q_ref[i] = (float)sign * TRACK;
            expect_nothing(joints());
            loop.q_ref[i] = (float)sign * (TRACK + LITTLE);
            expect(APP_FAULT_TRACKING, i, (float)sign * (TRACK + LITTLE), TRACK, joints());
            loop.pressing = 2u >> i; /* homing presses the other joint against its stop */
            expect(APP_FAULT_TRACKING, i, (float)sign * (TRACK + LITTLE), TRACK, joints());
            loop.pressing = 1u << i;
            expect_nothing(joints());
            loop.pressing = 0;
            loop.q[i] = loop.q_ref[i]; /* only the difference counts */
            loop.q_ref[i] -= (float)sign;
            expect(APP_FAULT_TRACKING, i, (float)-sign, TRACK, joints());
            loop.q[i] = loop.q_ref[i] = 0;
        }
}

/* The bound of the tool's speed adds what every joint contributes, in whatever direction. */
static void test_tool_speed(void) {
    control.tool_fast = 2;
    control.joint[0].reach.k = 1;
    control.joint[1].reach.k = 0.5f;
    control.joint[N].reach.k = 1;
    loop.qd_hat[0] = -1;
    loop.qd_hat[1] = 2;
    loop.qd_hat[N] = 1;
    expect_nothing(guard_tool(&control, &loop));
    loop.qd_hat[1] = -2 - LITTLE;
    expect(APP_FAULT_TOOL_SPEED, APP_NO_JOINT, 2 + LITTLE / 2, 2, guard_tool(&control, &loop));
    loop.qd_hat[0] = 1;
    expect(APP_FAULT_TOOL_SPEED, APP_NO_JOINT, 2 + LITTLE / 2, 2, guard_tool(&control, &loop));
}

/* The first joint is reported, and of one joint the worst finding. A finding of a joint comes before
 * a wrong direction. */
static void test_order_of_the_joints(void) {
    loop.qd_hat[0] = 1;
    loop.qd_ref[0] = -2;
    loop.qd_ref[1] = 3;
    expect(APP_FAULT_DIRECTION, 0, 1, -2, guard_loop(&control, &guard, &loop, 0));
    expect(APP_FAULT_DIRECTION, 1, 0, 3, guard_loop(&control, &guard, &loop, 1));
    loop.q_ref[1] = 1;
    expect(APP_FAULT_TRACKING, 1, 1, TRACK, guard_loop(&control, &guard, &loop, 0));
    loop.q[1] = 2;
    expect(APP_FAULT_POSITION, 1, 2, UPPER, joints());
    loop.qd_hat[1] = FAST;
    expect(APP_FAULT_VELOCITY, 1, FAST, FAST, joints());
    loop.tau[1] = NAN;
    expect(APP_FAULT_NUMBER, 1, 0, TAU_MAX, joints());
    loop.q_ref[0] = 1;
    expect(APP_FAULT_TRACKING, 0, 1, TRACK, joints());
}

/* ---- limits from parameters ---- */

static float parameter[PARAMETERS_ONE];
static settings_t settings[N];

static void set_limits(void) {
    static const dyn_units_t units;
    const setup_t from = {.n = N,
                          .arm = &arm,
                          .units = &units,
                          .joint = settings,
                          .parameter = parameter,
                          .tool_m = 0.5f,
                          .volts = 40};
    guard_setup(&from, &control);
}

/* Limits of an arm whose joint 1 has twice the speed of joint 0. */
static void make_limits(void) {
    parameter[PARAMETER_rate_hz] = 1000;
    parameter[PARAMETER_observer_hz] = 50;
    parameter[PARAMETER_limits_scale] = 0.5f;
    parameter[PARAMETER_guard_tracking] = 0.25f;
    parameter[PARAMETER_guard_position] = 0.125f;
    parameter[PARAMETER_guard_speed] = 1.5f;
    for (uint32_t i = 0; i < N; i++)
        settings[i] = (settings_t){.velocity = (float)(2 + 2 * i),
                                   .counts = 1000,
                                   .sign = -1,
                                   .ratio = 100,
                                   .kd = 60,
                                   .motor = 1};
    set_limits();
}

static void test_limits_of_the_arm(void) {
    memset(parameter, 0, sizeof parameter);
    parameter[PARAMETER_guard_supply_low] = 0.5f;
    parameter[PARAMETER_guard_supply_high] = 1.25f;
    parameter[PARAMETER_guard_limit_s] = 0.0625f; /* 62.5 ticks */
    parameter[PARAMETER_guard_reversals] = 20;
    parameter[PARAMETER_guard_direction] = 1;
    parameter[PARAMETER_guard_setpoint] = 25;
    parameter[PARAMETER_guard_encoder_ticks] = 7;
    parameter[PARAMETER_guard_overruns] = 2;
    parameter[PARAMETER_brakes] = 1;
    make_limits();
    TEST_ASSERT_EQUAL_INT32(20000, control.supply_least_mV);
    TEST_ASSERT_EQUAL_INT32(50000, control.supply_most_mV);
    TEST_ASSERT_EQUAL_UINT16(125, control.limit_half_ticks);
    TEST_ASSERT_EQUAL_UINT16(50, control.leak_ticks);
    TEST_ASSERT_EQUAL_UINT16(6, control.segment);
    TEST_ASSERT_EQUAL_FLOAT(1 / 6.0f, control.per_segment);
    TEST_ASSERT_EQUAL_UINT16(500, control.damp);
    TEST_ASSERT_EQUAL_UINT32(25, control.setpoint);
    TEST_ASSERT_EQUAL_UINT16(7, control.unread);
    TEST_ASSERT_EQUAL_UINT16(2, control.late);
    TEST_ASSERT_EQUAL_UINT8(1, control.brakes);
    TEST_ASSERT_EQUAL_UINT8(1, control.damping);
    parameter[PARAMETER_guard_limit_s] = 100; /* more than the counter holds */
    parameter[PARAMETER_guard_direction] = 0;
    parameter[PARAMETER_brakes] = 0;
    make_limits();
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX - 2, control.limit_half_ticks);
    TEST_ASSERT_EQUAL_UINT16(0, control.segment);
    TEST_ASSERT_EQUAL_FLOAT(0, control.per_segment);
    TEST_ASSERT_EQUAL_UINT8(0, control.brakes);
    parameter[PARAMETER_rate_hz] = 100; /* 6 ms are less than a tick: a check in every tick */
    parameter[PARAMETER_guard_direction] = 1;
    set_limits();
    TEST_ASSERT_EQUAL_UINT16(1, control.segment);
    TEST_ASSERT_EQUAL_FLOAT(1, control.per_segment);
}

/* The smallest suspicious speed is 2 % of the limit, or twice what noise and one count seem to be
 * in the estimate: with a double pole p of the observer, each count of error changes the speed by
 * (1 - p)^2 / h. */
static void test_limits_of_a_joint(void) {
    const double p = exp(-2 * 3.14159265358979 * 50 / 1000);
    const double count = 2 * 3.14159265358979 / (1000 * 100),
                 step = count * (1 - p) * (1 - p) * 1000;
    memset(parameter, 0, sizeof parameter);
    parameter[PARAMETER_tool_speed] = 0.25f;
    arm.joint[1].drive.coulomb = 2; /* half of the friction: 4 N m */
    make_limits();
    /* Each joint may feign twice its step, at a distance of 0.5 m from the tool. */
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, (float)(0.25 * 1.5 + 2 * 2 * step * 0.5), control.tool_fast);
    for (uint32_t i = 0; i < N; i++) {
        const double v = 2 + 2 * i;
        TEST_ASSERT_EQUAL_FLOAT(0.25f, control.joint[i].track);
        TEST_ASSERT_EQUAL_FLOAT(0.125f, control.joint[i].beyond);
        TEST_ASSERT_EQUAL_FLOAT((float)(1.5 * v * 0.5), control.joint[i].fast);
        TEST_ASSERT_EQUAL_FLOAT((float)(v * 0.02 / 16), control.joint[i].wrong);
        TEST_ASSERT_EQUAL_FLOAT((float)(v * 0.1), control.joint[i].sink);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f, (float)(5.5 * 60 * step + (i == 1 ? 3 : 0)),
                                 control.joint[i].firm);
    }
    parameter[PARAMETER_sim_noise] = 30;
    make_limits();
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, (float)(2 * 31 * step / 16), control.joint[0].wrong);
    TEST_ASSERT_FLOAT_WITHIN(1e-4f, (float)(5.5 * 60 * 31 * step), control.joint[0].firm);
}

/* Shorted windings stop the arm only if every joint has a motor. */
static void test_every_joint_must_damp(void) {
    make_limits();
    for (uint32_t i = 0; i < N; i++) {
        settings[i].motor = 0;
        set_limits();
        TEST_ASSERT_EQUAL_UINT8(0, control.damping);
        settings[i].motor = 1;
        set_limits();
        TEST_ASSERT_EQUAL_UINT8(1, control.damping);
    }
}

TEST_LIST_BEGIN
TEST(test_order_of_the_joints)
TEST(test_causes_of_the_latch)
TEST(test_silent_encoders)
TEST(test_overruns_and_lost_ticks)
TEST(test_counts_do_not_wrap)
TEST(test_supply)
TEST(test_order_of_the_inputs)
TEST(test_fault_that_lasts)
TEST(test_not_a_number)
TEST(test_speed)
TEST(test_position)
TEST(test_start_beyond_a_limit)
TEST(test_start_keeps_the_counts)
TEST(test_tracking)
TEST(test_tool_speed)
TEST(test_limits_of_the_arm)
TEST(test_limits_of_a_joint)
TEST(test_every_joint_must_damp)
TEST_LIST_END

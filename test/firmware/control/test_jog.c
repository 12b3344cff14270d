/*
 * Tests the reference of a jog, and of braking, on joints whose limits are given here: what it may do
 * between two jogs, at a position limit, and at speeds near the end of a number format.
 */
#include "test/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "firmware/control/number.h"
#include "firmware/control/reference.h"

enum { N = 3, RATE = 1000 };

static arm_t chain;
static control_t control;
static motion_state_t motion;
static loop_t loop;

static real made(double value) {
    real out;
    TEST_ASSERT_TRUE(real_from_model(value, 0, &out));
    return out;
}

static double si(real value) {
    return real_to_model(value, 0);
}

/* Limits of a joint as firmware/control/setup.c prepares them, in units of 1. */
static void limit(uint32_t i, double v, double a, double end) {
    control_joint_t *j = &control.joint[i];
    const double h = 1.0 / RATE;
    TEST_ASSERT_TRUE(gain_from_model(h / 2, 0, &j->half.q_qd));
    TEST_ASSERT_TRUE(gain_from_model(h / 2, 0, &j->half.qd_qdd));
    TEST_ASSERT_TRUE(gain_from_model(h * h / 8, 0, &j->half.q_qdd));
    TEST_ASSERT_TRUE(gain_from_model(RATE, 0, &j->qdd_qd));
    TEST_ASSERT_TRUE(gain_from_model(v / (2 * a), 0, &j->brake_q));
    TEST_ASSERT_TRUE(gain_from_model(1 / v, 0, &j->brake_part));
    j->qd_change = made(a * h);
    j->bounded = end > 0;
    j->upper = made(end);
    j->lower = made(-end);
}

void setUp(void) {
    memset(&control, 0, sizeof control);
    memset(&motion, 0, sizeof motion);
    memset(&loop, 0, sizeof loop);
    chain.n = N;
    control.arm = &chain;
    for (uint32_t i = 0; i < N; i++)
        limit(i, 1, 1, 0);
}

static void jog(const double target[N]) {
    motion.kind = MOTION_JOG;
    motion.count = 0;
    motion.last = UINT32_MAX;
    motion.slows = true;
    for (uint32_t i = 0; i < N; i++)
        motion.as.jog.target[i] = made(target[i]);
}

static void step(uint32_t ticks) {
    while (ticks-- > 0)
        reference_step(&control, &motion, &loop);
}

static double sum(const double reach[N], const double speed[N]) {
    double out = 0;
    for (uint32_t i = 0; i < N; i++)
        out += reach[i] * fabs(speed[i]);
    return out;
}

static uint32_t seed = 1;

static double between(double least, double most) {
    seed = seed * 1664525u + 1013904223u;
    return least + (most - least) * (double)(seed >> 8) / (1 << 24);
}

/* The sum of reach times speed, by which tool_speed is judged, is never above that of the jog before
 * or after. A joint that has changed its speed to the target's is there to a rounding of 2^-24. */
static void test_tool_between_two_jogs(void) {
    const double reach[N] = {1.2, 0.7, 0.3}, room = 3 * 1.2 * 0x1p-24 * 2;
    double before[N] = {0}, most = 0;
    for (uint32_t i = 0; i < N; i++)
        limit(i, 2, i == 0 ? 5 : 0.5, 0);
    for (uint32_t k = 0; k < 500; k++) {
        double after[N], speed[N] = {0};
        for (uint32_t i = 0; i < N; i++)
            after[i] = between(0, 1) < 0.3 ? 0 : between(-1.9, 1.9);
        jog(after);
        const double bound = fmax(sum(reach, before), sum(reach, after));
        for (uint32_t t = (uint32_t)between(1, 9000); t > 0; t--) {
            step(1);
            for (uint32_t i = 0; i < N; i++)
                speed[i] = si(loop.qd_mid[i]);
            most = fmax(most, sum(reach, speed) - bound);
        }
        memcpy(before, speed, sizeof before);
    }
    TEST_ASSERT_TRUE(most <= room);
}

/* Each jog is reached, in at most the time in which all joints brake and then all accelerate. */
static void test_a_jog_is_reached(void) {
    const double target[][N] = {{0.9, -0.9, 0}, {-0.9, 0, 0.9}, {0, 0.9, -0.9}, {0.1, 0.2, 0.3}};
    for (size_t k = 0; k < sizeof target / sizeof target[0]; k++) {
        jog(target[k]);
        step(2 * RATE + 4);
        for (uint32_t i = 0; i < N; i++)
            TEST_ASSERT_FLOAT_WITHIN(1e-6f, (float)target[k][i], (float)si(loop.qd_mid[i]));
    }
    reference_brake(&motion);
    step(RATE);
    TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, motion.kind);
}

/* A joint that creeps to its limit and is told to turn round does so, while another one still brakes. */
static void test_turns_round_at_a_limit(void) {
    for (int part = 1; part < 20; part++) {
        setUp();
        const double creep = 5.0 / RATE * part / 20; /* less than the change of a tick */
        const double towards[N] = {creep, 0.9, 0}, away[N] = {-0.5, 0, 0};
        limit(0, 1, 5, 1);
        jog(towards);
        loop.q_mid[0] = made(1 - 3 * creep / RATE);
        loop.qd_mid[0] = made(creep);
        loop.qd_mid[1] = made(0.9);
        jog(away);
        double most = -1;
        for (uint32_t t = 0; t < RATE + 4; t++) { /* 0.9 s to brake, 0.1 s to turn round */
            step(1);
            most = fmax(most, si(loop.q_mid[0]));
        }
        TEST_ASSERT_TRUE(most <= 1 + 0x1p-23);
        TEST_ASSERT_FLOAT_WITHIN(1e-6f, -0.5f, (float)si(loop.qd_mid[0]));
    }
}

/* A stop from 7 of 8 units goes forward, by v^2 / 2 a and at most the way of a tick more; from -7 back.
 * Then from 7 to -7: the speed passes through zero and never exceeds 7. */
static void test_speeds_near_the_end_of_the_format(void) {
    const double v = 7, a = 70;
    for (int side = -1; side <= 1; side += 2) {
        setUp();
        limit(0, v, a, 0);
        loop.qd_mid[0] = made(side * v);
        reference_brake(&motion);
        double last = 0;
        while (motion.kind != MOTION_HOLD) {
            step(1);
            const double q = side * si(loop.q_mid[0]);
            TEST_ASSERT_TRUE(q >= last && q <= v * v / (2 * a) + v / RATE);
            last = q;
        }
        TEST_ASSERT_DOUBLE_WITHIN(v / RATE, v * v / (2 * a), last);
    }
    const double back[N] = {-7, 0, 0};
    setUp();
    limit(0, v, a, 0);
    loop.qd_mid[0] = made(v);
    jog(back);
    for (uint32_t t = 0; t < 205; t++) {
        const double before = si(loop.qd_mid[0]);
        step(1);
        TEST_ASSERT_TRUE(si(loop.qd_mid[0]) <= before && si(loop.qd_mid[0]) >= -v - 0x1p-21);
    }
    TEST_ASSERT_FLOAT_WITHIN(1e-5f, (float)-v, (float)si(loop.qd_mid[0]));
}

TEST_LIST_BEGIN
TEST(test_tool_between_two_jogs)
TEST(test_a_jog_is_reached)
TEST(test_turns_round_at_a_limit)
TEST(test_speeds_near_the_end_of_the_format)
TEST_LIST_END

/*
 * Tests the effort guard alone: how long a joint may be at a limit, how often its torque may reverse, and
 * what is reported. The tests with an arm are in test_effort.c.
 */
#include "test/support/harness.h"

#include <string.h>

#include "firmware/safety/guard.h"

enum { N = 2, LIMIT_TICKS = 4 };
#define TAU_MAX 50.0f
#define LITTLE  0x1p-10f

static arm_t arm;
static control_t control;
static effort_t effort;
static loop_t loop;
static int32_t supply_mV;

/* Makes an arm of two joints; there are a limit and a torque for a third one, which it does not have. */
void setUp(void) {
    arm = (arm_t){.n = N};
    control = (control_t){.arm = &arm, .limit_half_ticks = 2 * LIMIT_TICKS, .leak_ticks = 1000};
    memset(&effort, 0, sizeof effort);
    memset(&loop, 0, sizeof loop);
    supply_mV = SUPPLY_UNMEASURED;
    for (uint32_t i = 0; i <= N; i++)
        control.joint[i].tau_max = TAU_MAX;
    loop.tau[N] = TAU_MAX;
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

static finding_t efforts(void) {
    return effort_guard(&control, &effort, &loop, supply_mV);
}

/* A joint may be at a limit for LIMIT_TICKS in a row; two ticks off it make up for one. */
static void test_time_at_a_limit(void) {
    for (uint32_t i = 0; i < N; i++) {
        loop.limited = loop.clipped = 1u << i;
        loop.tau[i] = -TAU_MAX;
        const uint32_t before = effort.limited;
        for (int k = 0; k < LIMIT_TICKS; k++)
            expect_nothing(efforts());
        expect(APP_FAULT_TORQUE, i, -TAU_MAX, TAU_MAX, efforts());
        TEST_ASSERT_EQUAL_UINT32(before + LIMIT_TICKS + 1, effort.limited);
        effort_start(&effort); /* counts from the beginning */
        for (int k = 0; k < LIMIT_TICKS; k++)
            expect_nothing(efforts());
        loop.limited = loop.clipped = 0;
        expect_nothing(efforts());
        expect_nothing(efforts());
        loop.limited = 1u << i; /* now the limit of voltage, which counts as the same */
        expect_nothing(efforts());
        TEST_ASSERT_EQUAL_STRING("voltage", app_fault_name(efforts().fault));
        loop.limited = 0;
        effort_start(&effort);
        TEST_ASSERT_EQUAL_UINT8(0, effort.strained);
        expect_nothing(efforts());
    }
}

/* What a joint collected at its limit it loses to the last half tick, also if all joints collected some,
 * and nothing is collected for a joint that the arm does not have. */
static void test_time_off_a_limit(void) {
    loop.limited = loop.clipped = 7;
    expect_nothing(efforts());
    TEST_ASSERT_EQUAL_UINT16(0, effort.at_limit[N]);
    loop.limited = loop.clipped = 0;
    expect_nothing(efforts());
    TEST_ASSERT_EQUAL_UINT8(1, effort.strained);
    expect_nothing(efforts());
    TEST_ASSERT_EQUAL_UINT8(0, effort.strained);
    for (uint32_t i = 0; i < N; i++) {
        loop.limited = loop.clipped = 1u << i;
        for (int k = 0; k < LIMIT_TICKS; k++)
            expect_nothing(efforts());
        TEST_ASSERT_EQUAL_STRING("torque", app_fault_name(efforts().fault));
        effort_start(&effort);
    }
}

/* Lets the torque of a joint change its direction so often, beyond half of its limit. */
static void reverse(uint32_t i, int times) {
    for (int k = 0; k < times; k++) {
        loop.tau[i] = (TAU_MAX / 2 + LITTLE) * (effort.pushes >> i & 1 ? -1 : 1);
        expect_nothing(efforts());
    }
}

/* The ninth reversal is one too many, however small the torque limit of the joint is. */
static void test_ninth_reversal(void) {
    static const float limit[] = {TAU_MAX, 0.5f};
    for (size_t r = 0; r < sizeof limit / sizeof limit[0]; r++)
        for (uint32_t i = 0; i < N; i++) {
            setUp();
            control.joint[i].tau_max = limit[r];
            loop.tau[i] = limit[r];
            effort.reversals[i] = 8;
            expect(APP_FAULT_UNSTABLE, i, 9, 8, efforts());
        }
}

/* At half of its limit a torque is not strong. */
static void test_reversals(void) {
    for (uint32_t i = 0; i < N; i++) {
        reverse(i, 8);
        effort_start(&effort); /* forgets them */
        for (int k = 0; k < 20; k++) {
            loop.tau[i] = k % 2 ? TAU_MAX / 2 : -TAU_MAX / 2;
            expect_nothing(efforts());
        }
        reverse(i, 8);
        loop.tau[i] = -loop.tau[i];
        expect(APP_FAULT_UNSTABLE, i, 9, 8, efforts());
        TEST_ASSERT_EQUAL_UINT8(0, effort.reversals[N]);
        loop.tau[i] = 0;
        effort_start(&effort);
    }
}

/* One reversal of every joint is forgotten each leak_ticks, and none of a joint at a limit. */
static void test_reversals_are_forgotten(void) {
    control.leak_ticks = 20;
    effort.since_leak = 0;
    effort.reversals[N] = 3;
    for (uint32_t i = 0; i < N; i++)
        reverse(i, 3);
    for (int k = 2 * 3; k < 20 - 1; k++)
        expect_nothing(efforts());
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_EQUAL_UINT8(3, effort.reversals[i]);
    for (uint8_t left = 3; left-- > 0;) {
        expect_nothing(efforts());
        for (uint32_t i = 0; i < N; i++)
            TEST_ASSERT_EQUAL_UINT8(left, effort.reversals[i]);
        for (int k = 0; k < 20 - 1; k++)
            expect_nothing(efforts());
        TEST_ASSERT_EQUAL_UINT8(left, effort.reversals[0]);
    }
    expect_nothing(efforts());
    TEST_ASSERT_EQUAL_UINT8(0, effort.reversals[0]);
    TEST_ASSERT_EQUAL_UINT8(3, effort.reversals[N]);
    control.leak_ticks = 1;
    control.limit_half_ticks = 2 * 10;
    loop.limited = loop.clipped = 1;
    expect_nothing(efforts());
    reverse(0, 2);
    reverse(1, 1);
    TEST_ASSERT_EQUAL_UINT8(2, effort.reversals[0]);
    TEST_ASSERT_EQUAL_UINT8(0, effort.reversals[1]);
}

/* A joint that trips at its limit is blocked, unless its torque reversed twice meanwhile. */
static void test_unstable_at_a_limit(void) {
    for (int reversals = 1; reversals <= 2; reversals++) {
        effort_start(&effort);
        loop.limited = loop.clipped = 2;
        reverse(1, reversals);
        for (int k = reversals; k < LIMIT_TICKS; k++)
            expect_nothing(efforts());
        if (reversals == 1)
            expect(APP_FAULT_TORQUE, 1, loop.tau[1], TAU_MAX, efforts());
        else
            expect(APP_FAULT_UNSTABLE, 1, 2, 8, efforts());
    }
}

/* The voltage that a motor needs for its torque and its speed, and what it can have: its own limit of
 * 32 V, or the supply if that is less. The nominal supply is 40 V. */
static void test_voltage_that_is_missing(void) {
    static const struct {
        int32_t mV;
        float volt, limit;
    } row[] = {{SUPPLY_UNMEASURED, 32, 32},
               {40000, 32, 32},
               {20000, 32, 20},
               {20000, -32, 20},
               {0, 32, 32},
               {1, 32, 0.001f},
               {20000, 20, 32},
               {5000, 8, 5}};
    drive_t *drive = &arm.joint[1].drive;
    drive->volt_tau.k = 0.125f;
    drive->volt_qd.k = 2;
    drive->volt_max = 32;
    control.joint[1].duty.k = 1 / 40.0f;
    control.supply_per_mV.k = 1 / 40000.0f;
    control.limit_half_ticks = 0;
    loop.limited = 2;
    loop.tau[1] = 240;
    loop.qd_hat[1] = 2;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        supply_mV = row[r].mV;
        loop.volt[1] = row[r].volt;
        const finding_t found = efforts();
        TEST_ASSERT_EQUAL_STRING("voltage", app_fault_name(found.fault));
        TEST_ASSERT_EQUAL_UINT32(1, found.joint);
        TEST_ASSERT_EQUAL_FLOAT(34, found.value);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f, row[r].limit, found.limit);
    }
}

TEST_LIST_BEGIN
TEST(test_ninth_reversal)
TEST(test_voltage_that_is_missing)
TEST(test_time_at_a_limit)
TEST(test_time_off_a_limit)
TEST(test_reversals)
TEST(test_reversals_are_forgotten)
TEST(test_unstable_at_a_limit)
TEST_LIST_END

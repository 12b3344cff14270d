/*
 * Tests the phases of homing alone: the test says in each tick where the joint is, how fast it is,
 * whether it presses and what its switch reads. The tests with an arm are in test_supervisor.c.
 */
#include "test/support/harness.h"

#include <string.h>

#include "firmware/safety/homing.h"
#include "firmware/params/parameters.h"

enum { N = 2, JOINT = 1, OTHER = 0, STILL = 3, AWAY = 4, SURE = 3, MOST = 50 };
#define ALL      UINT32_MAX
#define SPEED    0.5f
#define TORQUE   5.0f
#define TAU_MAX  20.0f
#define POSITION 1.25f
#define UPPER    1.0f
#define LOWER    -1.0f
#define FROM     -0.5f

static arm_t arm;
static control_t control;
static motion_state_t motion;
static loop_t loop;

/* The joint seeks towards positive positions. */
static void begin(uint32_t kind) {
    arm.n = N;
    memset(&control, 0, sizeof control);
    memset(&motion, 0, sizeof motion);
    memset(&loop, 0, sizeof loop);
    control.arm = &arm;
    for (uint32_t i = 0; i < N; i++) {
        control.joint[i].bounded = 1;
        control.joint[i].lower = LOWER;
        control.joint[i].upper = UPPER;
        control.joint[i].tau_max = TAU_MAX;
    }
    motion.kind = MOTION_HOME;
    motion.last = MOST;
    motion.as.home.joint = JOINT;
    motion.as.home.kind = kind;
    motion.as.home.phase = HOMING_SEEK;
    motion.as.home.speed = motion.as.home.target[JOINT] = SPEED;
    motion.as.home.torque = TORQUE;
    motion.as.home.position = POSITION;
    motion.as.home.from = FROM;
    motion.as.home.still = STILL;
    motion.as.home.away = AWAY;
    motion.as.home.sure = SURE;
    loop.unhomed = ALL;
}

/* Runs ticks without a finding, at most until the phase changes. Returns how many. */
static uint32_t ticks(uint32_t most, uint32_t switches) {
    const uint32_t phase = motion.as.home.phase;
    uint32_t k = 0;
    while (k < most && motion.as.home.phase == phase) {
        const finding_t f = homing_step(&control, &motion, &loop, switches);
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, f.fault);
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, f.joint);
        TEST_ASSERT_TRUE(f.value == 0 && f.limit == 0);
        k++;
    }
    return k;
}

static void expect_phase(uint32_t phase, float target) {
    TEST_ASSERT_EQUAL_UINT32(phase, motion.as.home.phase);
    TEST_ASSERT_EQUAL_FLOAT(target, motion.as.home.target[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(0, motion.as.home.target[OTHER]);
}

static void at(float q, float qd, uint32_t pressing) {
    loop.q[JOINT] = loop.q_hat[JOINT] = loop.q_mid[JOINT] = q;
    loop.qd_hat[JOINT] = loop.qd_mid[JOINT] = qd;
    loop.pressing = pressing;
}

/* The joint is at its stop when it presses and is slower than half of its target, for STILL ticks in
 * a row. */
static void test_stop_is_found(void) {
    begin(HOME_STOP);
    at(0.5f, SPEED, 0);
    ticks(STILL + 1, 0);
    at(0.5f, SPEED / 2, ALL); /* presses, but moves */
    ticks(STILL + 1, 0);
    at(0.5f, -SPEED / 2, ALL);
    ticks(STILL + 1, 0);
    at(0.5f, 0, 1u << OTHER); /* another joint presses */
    ticks(STILL + 1, 0);
    at(0.5f, 0, ALL);
    ticks(STILL - 1, 0);
    at(0.5f, 0, 0); /* lets go, and the count begins again */
    ticks(1, 0);
    at(0.5f, SPEED / 4, 1u << JOINT);
    expect_phase(HOMING_SEEK, SPEED);
    TEST_ASSERT_EQUAL_UINT32(STILL, ticks(10, 0));
    expect_phase(HOMING_BACK, -SPEED);
    TEST_ASSERT_EQUAL_UINT32(0, motion.count);
}

/* The second time it moves at a quarter of the speed, and half of that is no rest. */
static void test_stop_is_touched(void) {
    begin(HOME_STOP);
    motion.as.home.phase = HOMING_TOUCH;
    motion.as.home.target[JOINT] = SPEED / 4;
    at(0.5f, SPEED / 8, ALL);
    ticks(STILL + 1, 0);
    expect_phase(HOMING_TOUCH, SPEED / 4);
    at(0.5f, SPEED / 16, ALL);
    TEST_ASSERT_EQUAL_UINT32(STILL, ticks(10, 0));
}

/* A phase begins from rest, at the place where the joint is. */
static void test_phase_begins_at_rest(void) {
    begin(HOME_STOP);
    at(0.5f, 0, ALL);
    loop.q_hat[JOINT] = 0.5625f;
    loop.q_mid[JOINT] = 0.75f;
    loop.q_mid[OTHER] = 3;
    loop.qd_mid[OTHER] = 4;
    loop.qd_mid[JOINT] = 0.125f;
    ticks(10, 0);
    expect_phase(HOMING_BACK, -SPEED);
    TEST_ASSERT_EQUAL_FLOAT(0.5625f, loop.q_mid[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(0, loop.qd_mid[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(3, loop.q_mid[OTHER]); /* the loop holds the others */
    TEST_ASSERT_EQUAL_FLOAT(4, loop.qd_mid[OTHER]);
}

/* From the stop, all phases in their order. The position becomes known on contact at a quarter of the
 * speed. */
static void test_phases_at_a_stop(void) {
    begin(HOME_STOP);
    at(0.75f, 0, ALL);
    ticks(10, 0);
    expect_phase(HOMING_BACK, -SPEED);
    TEST_ASSERT_EQUAL_UINT32(AWAY + 1, ticks(20, ALL)); /* a switch that it does not have */
    expect_phase(HOMING_TOUCH, SPEED / 4);
    at(0.5f, SPEED / 16, ALL); /* at once; the ticks at the stop count from here all the same */
    loop.q_hat[JOINT] = 0.625f;
    loop.zero[JOINT] = 2;
    loop.zero[OTHER] = 3;
    TEST_ASSERT_EQUAL_UINT32(STILL, ticks(10, 0));
    expect_phase(HOMING_AWAY, -SPEED);
    TEST_ASSERT_EQUAL_FLOAT(2 + POSITION - 0.5f, loop.zero[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(POSITION, loop.q[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(0.625f + POSITION - 0.5f, loop.q_hat[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(0.625f + POSITION - 0.5f, loop.q_mid[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(3, loop.zero[OTHER]);
    TEST_ASSERT_EQUAL_HEX32(ALL, loop.unhomed);
    at(UPPER, 0, ALL); /* at the limit is not within */
    ticks(AWAY + 3, 0);
    at(LOWER, 0, ALL);
    ticks(2, 0);
    expect_phase(HOMING_AWAY, -SPEED);
    at(0.875f, 0, ALL);
    TEST_ASSERT_EQUAL_UINT32(1, ticks(10, 0));
    expect_phase(HOMING_DONE, 0);
    TEST_ASSERT_EQUAL_HEX32(~(1u << JOINT), loop.unhomed);
    at(0.875f, 0, 0);
    ticks(2 * MOST, 0); /* stays for as long as it likes */
    expect_phase(HOMING_DONE, 0);
    TEST_ASSERT_EQUAL_UINT32(MOTION_HOME, motion.kind);
}

/* Even within its limits the joint moves away for some ticks. A joint without limits is within. */
static void test_way_from_the_stop(void) {
    for (uint8_t bounded = 0; bounded < 2; bounded++) {
        begin(HOME_STOP);
        control.joint[JOINT].bounded = bounded;
        motion.as.home.phase = HOMING_AWAY;
        at(bounded ? 0 : 100, 0, 0);
        TEST_ASSERT_EQUAL_UINT32(AWAY + 1, ticks(20, 0));
        expect_phase(HOMING_DONE, 0);
    }
}

/* Each phase has MOST ticks. The fault tells how far the joint went and where the stop should be. */
static void test_search_ends(void) {
    static const uint32_t phase[] = {HOMING_SEEK, HOMING_BACK, HOMING_TOUCH, HOMING_AWAY};
    for (size_t p = 0; p < sizeof phase / sizeof phase[0]; p++) {
        begin(HOME_STOP);
        motion.as.home.phase = phase[p];
        motion.as.home.away = 2 * MOST;
        at(0.75f, SPEED, 0);
        TEST_ASSERT_EQUAL_UINT32(MOST, ticks(MOST, 0));
        TEST_ASSERT_EQUAL_UINT32(MOTION_HOME, motion.kind);
        const finding_t f = homing_step(&control, &motion, &loop, 0);
        TEST_ASSERT_EQUAL_STRING("homing", app_fault_name(f.fault));
        TEST_ASSERT_EQUAL_UINT32(JOINT, f.joint);
        TEST_ASSERT_EQUAL_FLOAT(0.75f - FROM, f.value);
        TEST_ASSERT_EQUAL_FLOAT(POSITION, f.limit);
        TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, motion.kind);
    }
}

/* A joint that reaches its stop while it looks for a switch has passed it. */
static void test_stop_before_the_switch(void) {
    begin(HOME_SWITCH);
    at(0.75f, 0, ALL);
    ticks(STILL - 1, 0);
    const finding_t f = homing_step(&control, &motion, &loop, 0);
    TEST_ASSERT_EQUAL_STRING("homing", app_fault_name(f.fault));
    begin(HOME_SWITCH); /* with a closed switch it is there */
    at(0.75f, 0, ALL);
    motion.as.home.still = SURE;
    TEST_ASSERT_EQUAL_UINT32(SURE, ticks(10, 1u << JOINT));
    expect_phase(HOMING_BACK, -SPEED);
    ticks(SURE, 1u << JOINT); /* moving away, it may press against anything */
    expect_phase(HOMING_BACK, -SPEED);
}

/* A switch counts when it has read the same for SURE ticks. Its place is where its reading changed
 * first, not where the joint is then. */
static void test_switch_is_debounced(void) {
    begin(HOME_SWITCH);
    at(0.25f, SPEED, 0);
    for (int k = 0; k < 4; k++) { /* glitches, one tick too short */
        ticks(SURE - 1, 1u << JOINT);
        ticks(1, 0);
    }
    ticks(2 * SURE, ~(1u << JOINT)); /* switches of other joints */
    expect_phase(HOMING_SEEK, SPEED);
    TEST_ASSERT_EQUAL_UINT32(SURE, ticks(10, 1u << JOINT));
    expect_phase(HOMING_BACK, -SPEED);
    ticks(2 * AWAY, 1u << JOINT); /* until it opens */
    expect_phase(HOMING_BACK, -SPEED);
    /* Opens surely after SURE ticks, of which the last is the first of AWAY + 1 ticks. */
    TEST_ASSERT_EQUAL_UINT32(SURE + AWAY, ticks(30, 0));
    expect_phase(HOMING_TOUCH, SPEED / 4);
    at(0.5f, SPEED, 0);
    ticks(1, 1u << JOINT);
    at(0.625f, SPEED, 0);
    TEST_ASSERT_EQUAL_UINT32(SURE - 1, ticks(10, 1u << JOINT));
    expect_phase(HOMING_AWAY, -SPEED);
    TEST_ASSERT_EQUAL_FLOAT(POSITION - 0.5f, loop.zero[JOINT]);
    TEST_ASSERT_EQUAL_FLOAT(POSITION + 0.125f, loop.q[JOINT]);
}

/* A switch that closes for a moment on the way back does not count, and one that closes surely
 * begins the way back again. */
static void test_switch_on_the_way_back(void) {
    begin(HOME_SWITCH);
    motion.as.home.phase = HOMING_BACK;
    ticks(AWAY, 0);
    ticks(SURE - 1, 1u << JOINT);
    expect_phase(HOMING_TOUCH, SPEED / 4);
    begin(HOME_SWITCH);
    motion.as.home.phase = HOMING_BACK;
    motion.as.home.away = 10;
    motion.as.home.target[JOINT] = -SPEED;
    ticks(5, 0);
    ticks(SURE, 1u << JOINT);
    TEST_ASSERT_EQUAL_UINT32(SURE + 10, ticks(30, 0));
    expect_phase(HOMING_TOUCH, SPEED / 4);
}

/* The feedback may add TORQUE to the model in either direction, and the sum is limited as always.
 * A joint that is limited this way presses; that is no fault of its torque. */
static void test_limit_of_the_push(void) {
    static const struct {
        float model, tau, limited;
        uint32_t presses;
    } row[] = {{2, 4, 4, 0},    {2, 7, 7, 0},       {2, 7.5f, 7, 1},  {2, -3, -3, 0},
               {2, -4, -3, 1},  {17, 22, 20, 1},    {17, 30, 20, 1},  {17, 20, 20, 0},
               {17, 19, 19, 0}, {-17, -21, -20, 1}, {-17, -2, -12, 1}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        begin(HOME_STOP);
        loop.tau_model[JOINT] = row[r].model;
        loop.tau[JOINT] = row[r].tau;
        loop.tau[OTHER] = 100;
        loop.clipped = loop.limited = loop.pressing = ALL;
        homing_limit(&control, &motion, &loop);
        TEST_ASSERT_EQUAL_FLOAT(row[r].limited, loop.tau[JOINT]);
        TEST_ASSERT_EQUAL_FLOAT(100, loop.tau[OTHER]);
        TEST_ASSERT_EQUAL_HEX32(row[r].presses << JOINT, loop.pressing);
        TEST_ASSERT_EQUAL_HEX32(~(1u << JOINT), loop.clipped);
        TEST_ASSERT_EQUAL_HEX32(~(1u << JOINT), loop.limited);
    }
}

TEST_LIST_BEGIN
TEST(test_stop_is_found)
TEST(test_stop_is_touched)
TEST(test_phase_begins_at_rest)
TEST(test_phases_at_a_stop)
TEST(test_way_from_the_stop)
TEST(test_search_ends)
TEST(test_stop_before_the_switch)
TEST(test_switch_is_debounced)
TEST(test_switch_on_the_way_back)
TEST(test_limit_of_the_push)
TEST_LIST_END

/*
 * Tests the sensor guard alone, on numbers that can be computed by hand: each check with the numbers
 * at which it begins, the limits that follow from the robot (firmware/safety/SENSORS.md derives
 * them), and the load that is told. The tests with an arm are in test_sensors.c.
 */
#include "test/support/harness.h"

#include <math.h>
#include <string.h>

#include "firmware/params/parameters.h"
#include "firmware/safety/guard.h"

enum { N = 2, JUMP = 10, TURNS = 3 };
#define STUCK  1.0f
#define LITTLE 0x1p-10f

static arm_t arm;
static control_t control;
static sensors_t sensors;
static loop_t loop;

/* Makes an arm of two joints at rest; of a third one, which it does not have, every reading would be
 * a finding. */
void setUp(void) {
    arm = (arm_t){.n = N};
    control = (control_t){.arm = &arm, .feedback = FEEDBACK_PD, .stuck_turns = TURNS};
    memset(&sensors, 0, sizeof sensors);
    memset(&loop, 0, sizeof loop);
    for (uint32_t i = 0; i < N; i++)
        control.joint[i] =
            (control_joint_t){.jump = JUMP, .noise = UINT16_MAX, .low_bits = 7, .stuck = STUCK};
    loop.counts[N] = 1000;
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

static finding_t guarded(void) {
    return sensors_guard(&control, &sensors, &loop);
}

/* Gives joint i a step after the step before; its reading goes over the end of the counter. */
static void step(uint32_t i, int32_t before, int32_t now) {
    sensors.counts[i] = UINT16_MAX - 2;
    sensors.step[i] = (int16_t)before;
    loop.counts[i] = UINT16_MAX - 2 + now;
}

/* A joint may gain JUMP counts in a tick, in both directions, and lose any speed. */
static void test_jump(void) {
    static const struct {
        int32_t before, now, gained; /* 0: no fault */
    } row[] = {{0, 11, 11},  {0, 10, 0},   {0, -10, 0},  {0, -11, 11}, {5, 15, 0},
               {5, 16, 11},  {5, -15, 0},  {5, -16, 11}, {-5, 16, 11}, {-300, -310, 0},
               {300, 10, 0}, {-300, 0, 0}, {20, -9, 0},  {-20, 31, 11}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++)
        for (uint32_t i = 0; i < N; i++) {
            setUp();
            control.joint[1 - i].jump = UINT16_MAX;
            sensors.turn = (uint8_t)(1 - i); /* jumps are found in every tick */
            step(i, row[r].before, row[r].now);
            if (row[r].gained > 0)
                expect(APP_FAULT_ENCODER_NOISE, i, (float)row[r].gained, JUMP, guarded());
            else
                expect_nothing(guarded());
            TEST_ASSERT_EQUAL_INT16(row[r].now, sensors.step[i]);
            TEST_ASSERT_EQUAL_UINT16((uint16_t)loop.counts[i], sensors.counts[i]);
            TEST_ASSERT_EQUAL_UINT16(0, sensors.counts[N]);
        }
}

/* After a start two readings pass before anything is compared, and nothing old counts. */
static void test_start(void) {
    memset(&sensors, 0x55, sizeof sensors);
    sensors.turn = 0;
    sensors_start(&sensors);
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_EQUAL_UINT16(0, sensors.noise[i]);
        TEST_ASSERT_EQUAL_UINT8(0, sensors.coarse[i]);
        TEST_ASSERT_EQUAL_UINT8(0, sensors.frozen[i]);
    }
    for (int32_t k = 0; k < 3; k++) {
        loop.counts[0] += 100 * k;
        if (k < 2)
            expect_nothing(guarded());
    }
    expect(APP_FAULT_ENCODER_NOISE, 0, 100, JUMP, guarded());
}

/* One joint has its turn in a tick; only its step is judged, against its own step before. */
static void test_turns(void) {
    for (uint32_t i = 0; i < N; i++)
        control.joint[i].jump = UINT16_MAX;
    for (uint32_t k = 0; k < 2 * N; k++) {
        const uint32_t i = k % N;
        TEST_ASSERT_EQUAL_UINT8(i, sensors.turn);
        for (uint32_t j = 0; j < N; j++) {
            step(j, 4, j == i ? 7 : 40);
            sensors.noise[j] = 0;
        }
        expect_nothing(guarded());
        TEST_ASSERT_EQUAL_UINT16(3, sensors.noise[i]);
        TEST_ASSERT_EQUAL_UINT16(0, sensors.noise[1 - i]);
    }
}

/* The mean over 16 turns of how much the step changes, of which a jump counts as 4095 at most. */
static void test_noise(void) {
    static const struct {
        int32_t before, now;
        uint16_t mean, after;
    } row[] = {{0, 5, 160, 155},   {5, 0, 160, 155},   {5, 12, 160, 157},  {12, 5, 160, 157},
               {0, 4095, 0, 4095}, {0, 5000, 0, 4095}, {5000, 0, 0, 4095}, {0, 5000, 65520, 65520}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++)
        for (int beyond = 0; beyond < 2; beyond++) {
            setUp();
            control.joint[1].jump = UINT16_MAX;
            sensors.turn = 1;
            sensors.noise[1] = row[r].mean;
            step(1, row[r].before, row[r].now);
            control.joint[1].noise = (uint16_t)(row[r].after - beyond);
            if (beyond)
                expect(APP_FAULT_ENCODER_NOISE, 1, (float)(row[r].after >> 4),
                       (float)((row[r].after - 1) >> 4), guarded());
            else
                expect_nothing(guarded());
            TEST_ASSERT_EQUAL_UINT16(row[r].after, sensors.noise[1]);
        }
}

/* After 32 turns with different steps, all without the low bits, they are stuck. */
static void test_low_bits(void) {
    static const struct {
        int32_t before, now;
        uint8_t count, after;
    } row[] = {{0, 8, 31, 32}, {0, 8, 32, 33}, {8, 0, 32, 33}, {0, -8, 32, 33}, {16, 8, 32, 33},
               {8, 8, 32, 32}, {0, 0, 32, 32}, {8, 1, 32, 0},  {1, 8, 32, 0},   {12, 12, 32, 0}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        setUp();
        sensors.turn = 1;
        sensors.coarse[1] = row[r].count;
        step(1, row[r].before, row[r].now);
        if (row[r].after > 32)
            expect(APP_FAULT_STUCK, 1, 33, 32, guarded());
        else
            expect_nothing(guarded());
        TEST_ASSERT_EQUAL_UINT8(row[r].after, sensors.coarse[1]);
    }
}

/* The feedback, over 16, is farther than STUCK from its value when the reading last changed, for more
 * than TURNS turns. A new reading, homing that presses, and a torque that fades begin anew. */
static void test_stuck(void) {
    static const struct {
        float push; /* its value before is 4 */
        uint8_t frozen, after;
        bool moved, fades;
        uint32_t pressing, clipped;
    } row[] = {{4, 2, 0, 0, 0, 0, 0},          {5, 2, 0, 0, 0, 0, 0},
               {5 + LITTLE, 0, 1, 0, 0, 0, 0}, {5 + LITTLE, 2, 3, 0, 0, 0, 0},
               {5 + LITTLE, 3, 4, 0, 0, 0, 0}, {3, 2, 0, 0, 0, 0, 0},
               {3 - LITTLE, 3, 4, 0, 0, 0, 0}, {-4, 3, 4, 0, 0, 0, 0},
               {9, 3, 0, 1, 0, 0, 0},          {9, 3, 0, 0, 1, 0, 0},
               {9, 3, 0, 0, 0, 2, 0},          {9, 3, 4, 0, 0, 1, 0}, /* another joint */
               {9, 3, 4, 0, 0, 0, 2},          {4, 3, 0, 0, 0, 0, 2}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        setUp();
        sensors.turn = 1;
        sensors.push[1] = 4;
        sensors.frozen[1] = row[r].frozen;
        sensors.counts[1] = sensors.place[1] = 500;
        loop.counts[1] = 500 + row[r].moved;
        loop.fading = row[r].fades;
        loop.pressing = row[r].pressing;
        loop.clipped = row[r].clipped;
        loop.tau_model[1] = 32;
        loop.tau[1] = 32 + 16 * row[r].push;
        if (row[r].after > TURNS)
            expect(APP_FAULT_STUCK, 1, TURNS + 1, TURNS, guarded());
        else
            expect_nothing(guarded());
        TEST_ASSERT_EQUAL_UINT8(row[r].after, sensors.frozen[1]);
        const bool anew = row[r].moved || row[r].fades || row[r].pressing == 2;
        TEST_ASSERT_EQUAL_FLOAT(anew ? row[r].push : 4, sensors.push[1]);
        TEST_ASSERT_EQUAL_UINT16(500 + row[r].moved, sensors.place[1]);
    }
}

/* At the torque limit the feedback of computed torque says nothing: the judgement before goes on,
 * until a new reading. */
static void test_stuck_in_computed_torque(void) {
    static const struct {
        float push;
        uint32_t clipped;
        bool moved;
        uint8_t frozen, after;
    } row[] = {{9, 0, 0, 3, 4}, {4, 0, 0, 3, 0}, {9, 2, 0, 3, 4}, {4, 2, 0, 3, 4}, {4, 2, 0, 1, 2},
               {9, 2, 0, 0, 0}, {9, 1, 0, 0, 1}, {4, 1, 0, 3, 0}, {9, 2, 1, 3, 0}, {9, 2, 1, 0, 0}};
    control.feedback = FEEDBACK_COMPUTED_TORQUE;
    control.joint[1].kp.k = 16;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        sensors.turn = 1;
        sensors.push[1] = 4;
        sensors.frozen[1] = row[r].frozen;
        loop.counts[1] += row[r].moved;
        loop.clipped = row[r].clipped;
        loop.q_ref[1] = row[r].push;
        if (row[r].after > TURNS)
            expect(APP_FAULT_STUCK, 1, TURNS + 1, TURNS, guarded());
        else
            expect_nothing(guarded());
        TEST_ASSERT_EQUAL_UINT8(row[r].after, sensors.frozen[1]);
    }
}

/* ---- limits from the robot ---- */

static float parameter[PARAMETERS_ONE];
static settings_t settings[N + 1];
static const dyn_units_t units;

static setup_t made_from(void) {
    return (setup_t){.n = N,
                     .arm = &arm,
                     .units = &units,
                     .joint = settings,
                     .parameter = parameter,
                     .tool_m = 0.5f};
}

/* Joint 1 has an encoder of 1000 counts that turns backwards, a limit of 6 turns/s and one of 5500
 * turns/s^2: a quarter of the speed is 1.5 counts in a tick of 1 ms, and four times the acceleration
 * changes the step by 22. */
#define BEND 22.0
static void make_robot(void) {
    static const settings_t plain = {.velocity = 6 * 6.2831853f,
                                     .acceleration = 5500 * 6.2831853f,
                                     .counts = 1000,
                                     .sign = -1,
                                     .ratio = 1,
                                     .torque = 64,
                                     .kp = 300,
                                     .kd = 5};
    memset(parameter, 0, sizeof parameter);
    parameter[PARAMETER_rate_hz] = 1000;
    parameter[PARAMETER_observer_hz] = 50;
    parameter[PARAMETER_limits_scale] = 0.5f;
    parameter[PARAMETER_feedback] = FEEDBACK_PD;
    parameter[PARAMETER_feedforward] = FEEDFORWARD_FULL;
    parameter[PARAMETER_torque_hz] = 4;
    settings[0] = settings[1] = settings[N] = plain;
    arm.joint[1].rotor = 0x1p-7f;
    arm.joint[1].drive.coulomb = 1;
    arm.joint[1].drive.uneven = -0.25f;
}

static const control_joint_t *limits(void) {
    const setup_t from = made_from();
    control.joint[N].jump = 7;
    sensors_setup(&from, &control);
    TEST_ASSERT_EQUAL_UINT16(7, control.joint[N].jump);
    return &control.joint[1];
}

/* 1.5 and 22 counts, four times two counts of noise, and two of quantisation: 33.5. */
static void test_limit_of_a_jump(void) {
    make_robot();
    TEST_ASSERT_EQUAL_UINT16(34, limits()->jump);
    settings[1].counts = 1e9f;
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, limits()->jump);
}

/* The amplitude, in counts, that costs a quarter of the torque limit of 32 N m: that of an error of
 * the reading in one step of the observer, with its pole p. In computed torque the least inertia, the
 * rotor's, makes torques of the gains w^2 and 2 w. */
static double amplitude(double kp, double kd) {
    const double p = exp(-2 * 3.14159265358979 * 50 / 1000), count = 2 * 3.14159265358979 / 1000;
    return 0.25 * 32 / (count * (kp * (1 - p * p) + kd * (1 - p) * (1 - p) * 1000));
}

static void test_limit_of_noise(void) {
    const double w = 2 * 3.14159265358979 * 4, rotor = 0x1p-7;
    const struct {
        float kp, kd, feedback;
        double amplitude;
    } row[] = {{300, 5, FEEDBACK_PD, 4}, /* no less than twice the noise of a good encoder */
               {30, 0.5f, FEEDBACK_PD, amplitude(30, 0.5)},
               {30, 0, FEEDBACK_PD, amplitude(30, 0)},
               {0, 0.5f, FEEDBACK_PD, amplitude(0, 0.5)},
               {3, 0, FEEDBACK_PD, amplitude(3, 0)},
               {300, 5, FEEDBACK_COMPUTED_TORQUE, amplitude(rotor * w * w, rotor * 2 * w)}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t bits = 7;
        make_robot();
        settings[1].kp = row[r].kp;
        settings[1].kd = row[r].kd;
        parameter[PARAMETER_feedback] = row[r].feedback;
        while (bits < row[r].amplitude && bits < UINT8_MAX)
            bits = 2 * bits + 1;
        /* 1: the settings are floats, and the limit is rounded up */
        TEST_ASSERT_UINT32_WITHIN(1, (uint32_t)ceil(16 * (1.25 * row[r].amplitude + BEND)),
                                  limits()->noise);
        TEST_ASSERT_EQUAL_UINT8(bits, limits()->low_bits);
    }
    make_robot();
    settings[1].kp = settings[1].kd = 0; /* no reading causes torque */
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, limits()->noise);
    TEST_ASSERT_EQUAL_UINT8(UINT8_MAX, limits()->low_bits);
    make_robot();
    settings[1].torque = 0;
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, limits()->noise);
    settings[1].torque = 0.5f; /* a small motor: at least 4 counts of it */
    TEST_ASSERT_UINT32_WITHIN(1, (uint32_t)(16 * (1.25 * 4 + BEND)), limits()->noise);
}

/* The Coulomb friction is 2 N m and 1 N m more in its worse direction. It counts three times, or once
 * if the model is fed forward; an eighth of the torque limit of 32 N m comes on top, all over 16. */
static void test_limit_of_a_stuck_joint(void) {
    static const struct {
        float feedback, feedforward, rotor, torque, stuck; /* stuck 0: no limit */
    } row[] = {{FEEDBACK_PD, FEEDFORWARD_FULL, 0.25f, 64, (3 + 4) / 16.0f},
               {FEEDBACK_PD, FEEDFORWARD_GRAVITY, 0.25f, 64, (9 + 4) / 16.0f},
               {FEEDBACK_PD, FEEDFORWARD_FULL, 0, 64, (3 + 4) / 16.0f},
               {FEEDBACK_PD, FEEDFORWARD_FULL, 0.25f, 1, (3 + 0.0625f) / 16.0f},
               {FEEDBACK_PD, FEEDFORWARD_FULL, 0.25f, 0, 0},
               {FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_OFF, 0.25f, 64, (3 + 4) / 0.25f / 16.0f},
               {FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_OFF, 0.25f, 0, 0},
               {FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_OFF, 0, 64, 0}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_robot();
        parameter[PARAMETER_feedback] = row[r].feedback;
        parameter[PARAMETER_feedforward] = row[r].feedforward;
        arm.joint[1].rotor = row[r].rotor;
        settings[1].torque = row[r].torque;
        if (row[r].stuck > 0)
            TEST_ASSERT_EQUAL_FLOAT(row[r].stuck, limits()->stuck);
        else
            TEST_ASSERT_TRUE(limits()->stuck > 1e20f);
    }
}

/* 20 ms are 10 turns of two joints at 1 kHz; the counter of the turns has to end beyond its limit. */
static void test_time_of_a_stuck_joint(void) {
    static const struct {
        float rate;
        uint8_t turns;
    } row[] = {{1000, 10}, {1010, 11}, {25300, 253}, {26000, 254}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_robot();
        parameter[PARAMETER_rate_hz] = row[r].rate;
        (void)limits();
        TEST_ASSERT_EQUAL_UINT8(row[r].turns, control.stuck_turns);
    }
}

/* ---- load ---- */

/* A torque beside the model is told beyond the friction of 3 N m and 1/32 of the limit of 64 N m, as
 * the mass at the tool, half a metre from the axis, that weighs so much. */
static void test_load(void) {
    static const struct {
        float tau[2], torque, tool_m;
        bool prismatic;
        uint32_t joint;
        double mass;
    } row[] = {{{0, 5}, 64, 0.5f, 0, APP_NO_JOINT, 0},
               {{0, 5 + LITTLE}, 64, 0.5f, 0, 1, (5 + 0x1p-10) / (9.81 * 0.5)},
               {{0, -5 - LITTLE}, 64, 0.5f, 0, 1, (5 + 0x1p-10) / (9.81 * 0.5)},
               {{0, 8}, 64, 0.04f, 0, 1, 8 / (9.81 * 0.05)}, /* at least 5 cm */
               {{0, 8}, 64, 0.06f, 0, 1, 8 / (9.81 * 0.06)},
               {{0, 8}, 64, 0.5f, 1, 1, 8 / 9.81},
               {{0, 8}, 0, 0.5f, 0, APP_NO_JOINT, 0}, /* without a limit nothing is known */
               {{0, 8}, 0.5f, 0.5f, 0, 1, 8 / (9.81 * 0.5)},
               {{7, 8}, 64, 0.5f, 0, 1, 8 / (9.81 * 0.5)}, /* the larger mass */
               {{9, -8}, 64, 0.5f, 0, 0, 9 / (9.81 * 0.5)},
               {{8, 8}, 64, 0.5f, 0, 0, 8 / (9.81 * 0.5)}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_robot();
        setup_t from = made_from();
        from.tool_m = row[r].tool_m;
        settings[1].torque = row[r].torque;
        settings[1].prismatic = row[r].prismatic;
        for (uint32_t i = 0; i < N; i++) {
            loop.tau_model[i] = 16;
            loop.tau[i] = 16 + row[r].tau[i];
        }
        loop.tau[N] = 1e6f;
        const residual_t told = sensors_residual(&from, &loop);
        TEST_ASSERT_EQUAL_UINT32(row[r].joint, told.joint);
        TEST_ASSERT_FLOAT_WITHIN(1e-6f * told.mass, (float)row[r].mass, told.mass);
        TEST_ASSERT_EQUAL_FLOAT(told.joint < N ? row[r].tau[told.joint] : 0, told.torque);
        parameter[PARAMETER_feedforward] = FEEDFORWARD_OFF;
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, sensors_residual(&from, &loop).joint);
        parameter[PARAMETER_feedforward] = FEEDFORWARD_GRAVITY;
        TEST_ASSERT_EQUAL_UINT32(row[r].joint, sensors_residual(&from, &loop).joint);
        parameter[PARAMETER_feedback] = FEEDBACK_COMPUTED_TORQUE;
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, sensors_residual(&from, &loop).joint);
    }
}

TEST_LIST_BEGIN
TEST(test_jump)
TEST(test_start)
TEST(test_turns)
TEST(test_noise)
TEST(test_low_bits)
TEST(test_stuck)
TEST(test_stuck_in_computed_torque)
TEST(test_limit_of_noise)
TEST(test_limit_of_a_jump)
TEST(test_limit_of_a_stuck_joint)
TEST(test_time_of_a_stuck_joint)
TEST(test_load)
TEST_LIST_END

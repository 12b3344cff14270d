/*
 * Tests single checks of the direction guard on numbers that can be computed by hand: which motions
 * are suspicious, which are judged right, wrong or doubtful, and what follows a doubt. The times until
 * a reversed joint of an arm is found are in test_direction.c.
 *
 * The arm has one joint with an inertia of 1 kg m^2, and gravity pulls with `weight` N m. A check comes
 * in every tick, and a tick lasts one second, so that the speed gained since the last check is the
 * acceleration: the motion takes gained + weight.
 */
#include "test/support/harness.h"

#include <stdio.h>
#include <string.h>

#include "firmware/params/parameters.h"
#include "firmware/safety/guard.h"

enum { RIGHT, WRONG, DOUBTFUL };
enum { LOOKS = 3 }; /* wrong checks more than right ones until the fault */

static arm_t arm;
static control_t control;
static scratch_t scratch;
static guard_t guard;
static loop_t loop;

/* The values of a check, and of the check before it. */
typedef struct {
    float qd, qd_ref, tau, model, volt;
    float qd_before, off_before, push_before;
    float wrong, firm; /* thresholds: suspicious speed, torque for a conclusion */
} check_t;

/* The feedback pushes with 8 N m and has grown. The joint moves the other way, faster and faster. */
static const check_t against = {
    .qd = -2, .tau = 8, .qd_before = -1, .off_before = -1, .push_before = 4, .wrong = 1, .firm = 1};

/* Coulomb friction is none, so that nothing depends on its smooth edge. */
static void make_heavy_arm(uint32_t n, double weight, double viscous, double rotor) {
    dyn_model_t model = {.n = n,
                         .gravity = {0, -2 * weight, 0},
                         .base = dyn_pose_identity(),
                         .tool = dyn_pose_identity()};
    for (uint32_t i = 0; i < n; i++) {
        model.joint[i].link = (dyn_body_t){1, {0.5, 0, 0}, {0.75, 0.75, 0.75, 0, 0, 0}};
        model.joint[i].drive.friction.viscous = viscous;
        model.joint[i].drive.motor = (dyn_motor_t){.gear = 1, .rotor_inertia = rotor};
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm));
    memset(&scratch, 0xff, sizeof scratch);
    memset(&loop, 0, sizeof loop);
    memset(&guard, 0, sizeof guard);
    control = (control_t){.arm = &arm, .feedback = FEEDBACK_PD, .segment = 1, .per_segment = 1};
    control.supply_per_mV.k = 1 / 40000.0f;
    for (uint32_t i = 0; i < n; i++) {
        drive_t *d = &arm.joint[i].drive;
        d->tau_volt.k = 1;
        d->tau_qd.k = -1;
        d->volt_max = 40;
        control.joint[i].qdd_qd.k = 1;
        control.joint[i].duty.k = 1 / 40.0f;
        control.joint[i].motor = 1;
    }
}

static void make_arm(uint32_t n, double weight) {
    make_heavy_arm(n, weight, 0, 0);
}

void setUp(void) {
    make_arm(1, 0);
}

/* The guard keeps its values divided by 16. */
static void give(uint32_t i, const check_t *c, float side) {
    loop.qd_hat[i] = side * c->qd;
    loop.qd_ref[i] = side * c->qd_ref;
    loop.tau[i] = side * c->tau;
    loop.tau_model[i] = side * c->model;
    loop.volt[i] = side * c->volt;
    guard.step[i].qd = side * c->qd_before / 16;
    guard.step[i].gained = side * (c->qd - c->qd_before) / 16;
    guard.step[i].off = side * c->off_before / 16;
    guard.step[i].push = side * c->push_before / 16;
    control.joint[i].wrong = c->wrong / 16;
    control.joint[i].firm = c->firm;
}

/* Returns how the check was judged: one more wrong check is the fault, a right one takes one away. */
static uint32_t judged(const check_t *c, float side) {
    guard.wrong[0] = LOOKS - 1;
    guard.missing = 0;
    give(0, c, side);
    const uint32_t joint = direction_guard(&control, &scratch, &guard, &loop);
    TEST_ASSERT_EQUAL(guard.wrong[0] == 0, joint == 0);
    TEST_ASSERT_EQUAL(guard.wrong[0] == LOOKS - 1, guard.missing != 0);
    return joint == 0 ? WRONG : guard.missing != 0 ? DOUBTFUL : RIGHT;
}

/* Expects it in both directions: the second time everything is mirrored, gravity too. */
static void expect(uint32_t as, check_t c, int line) {
    static const char *const name[] = {"right", "wrong", "doubtful"};
    char text[40];
    for (int side = 1; side >= -1; side -= 2) {
        (void)snprintf(text, sizeof text, "line %d, side %d", line, side);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(name[as], name[judged(&c, (float)side)], text);
        arm.base_acceleration.y = -arm.base_acceleration.y;
    }
}
#define EXPECT(as, c) expect(as, c, __LINE__)

#define WITH(field, value)                                                                         \
    check_t c = against;                                                                           \
    c.field = value

static void test_motion_against_the_feedback(void) {
    EXPECT(WRONG, against);
    { /* 2 is no more than the threshold */
        WITH(wrong, 2);
        EXPECT(RIGHT, c);
        c.wrong = 1.9375f;
        EXPECT(WRONG, c);
    }
    { /* the joint itself is slower than half of the threshold; only the reference moves */
        WITH(wrong, 2);
        c.qd = -1;
        c.qd_before = 0;
        c.qd_ref = 3;
        EXPECT(RIGHT, c);
        c.wrong = 1.9375f;
        EXPECT(WRONG, c);
    }
    { /* the reference is faster in the same direction: the feedback brakes */
        WITH(qd_ref, -4);
        EXPECT(RIGHT, c);
    }
    { /* the error does not grow, or shrinks */
        WITH(off_before, -2);
        EXPECT(RIGHT, c);
        c.off_before = -3;
        EXPECT(RIGHT, c);
    }
    { /* the joint moves with the feedback and is slower than the reference */
        WITH(qd, 2);
        c.qd_before = 4;
        c.qd_ref = 8;
        EXPECT(RIGHT, c);
    }
    { /* it gains no speed; only the reference does */
        WITH(qd_before, -2);
        EXPECT(RIGHT, c);
        c.qd_before = -3;
        EXPECT(RIGHT, c);
    }
    { /* the feedback had another direction at the last check, or none */
        WITH(push_before, -4);
        EXPECT(RIGHT, c);
        c.push_before = 0;
        EXPECT(WRONG, c);
    }
    WITH(tau, 0); /* there is no feedback */
    EXPECT(RIGHT, c);
}

/* The feedback has to grow, unless it is at its limit. What the model adds is no feedback. */
static void test_feedback_that_grows(void) {
    WITH(push_before, 8);
    EXPECT(RIGHT, c);
    loop.clipped = 2; /* of another joint */
    EXPECT(RIGHT, c);
    loop.clipped = 1;
    EXPECT(WRONG, c);
    loop.clipped = 0;
    c.tau = 16;
    c.model = 8;
    EXPECT(RIGHT, c);
    c.model = 7;
    EXPECT(WRONG, c);
}

/* In computed torque the acceleration that the feedback commands counts: kp times the error of the
 * position plus kd times that of the speed. */
static void test_feedback_of_computed_torque(void) {
    static const struct {
        float q_hat, q_ref, push_before;
        uint32_t as;
    } row[] = {{0, 0, 5.9375f, WRONG}, {0, 0, 6, RIGHT},       {0, 1, 7.9375f, WRONG},
               {0, 1, 8, RIGHT},       {1, 0, 3.9375f, WRONG}, {1, 0, 4, RIGHT}};
    control.feedback = FEEDBACK_COMPUTED_TORQUE;
    control.joint[0].kp.k = 2;
    control.joint[0].kd.k = 3;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        check_t c = against;
        c.push_before = row[r].push_before;
        c.model = 8;
        loop.q_hat[0] = row[r].q_hat;
        loop.q_ref[0] = row[r].q_ref;
        guard.wrong[0] = LOOKS - 1;
        give(0, &c, 1);
        const uint32_t joint = direction_guard(&control, &scratch, &guard, &loop);
        TEST_ASSERT_EQUAL_UINT32(row[r].as == WRONG ? 0 : APP_NO_JOINT, joint);
    }
}

/* The motion takes less than a quarter of the commanded torque, or the opposite, whatever the voltage
 * of the motor is. */
static void test_denied(void) {
    WITH(firm, 8); /* too small a torque for a conclusion */
    c.volt = 40;
    EXPECT(RIGHT, c);
    c.firm = 7.9375f;
    EXPECT(WRONG, c);
    c.firm = 1;
    make_arm(1, 4); /* takes 3 */
    c.tau = 12.0625f;
    EXPECT(WRONG, c);
    c.tau = 12;
    EXPECT(RIGHT, c);
}

/* What the motion takes is inverse dynamics at the pose, with rotor and friction, at the speed and
 * acceleration that are proved at most. Each row takes 3: 12 N m are right, a little more is not. */
static void test_torque_of_the_motion(void) {
    static const struct {
        double weight, viscous, rotor;
        float q, qd_most, qdd_most;
    } row[] = {{4, 0, 0, 0, 1e30f, 1e30f},   {-4, 0, 0, 3.14159265f, 1e30f, 1e30f},
               {6, 1, 0, 0, 1e30f, 1e30f},   {5, 1, 0, 0, 1, 1e30f},
               {5, 0, 1, 0, 1e30f, 1e30f},   {3.5, 0, 0, 0, 1e30f, 0.5f},
               {3.5, 0.5, 0, 0, 0.5f, 0.25f}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_heavy_arm(1, row[r].weight, row[r].viscous, row[r].rotor);
        arm.joint[0].proved.qd = row[r].qd_most;
        arm.joint[0].proved.qdd = row[r].qdd_most;
        loop.q_hat[0] = row[r].q;
        WITH(volt, 40);
        c.tau = 12.0625f;
        EXPECT(WRONG, c);
        c.tau = 11.9375f;
        EXPECT(RIGHT, c);
    }
}

/* One torque is at most 1.6 times the other, or the difference is noise and friction. */
static void test_explained(void) {
    static const struct {
        double weight;
        float tau, firm;
        uint32_t as;
    } row[] = {{6, 8, 0.5f, RIGHT},        {6, 8.125f, 0.5f, DOUBTFUL}, /* takes 5 */
               {6, 8.125f, 3.125f, RIGHT}, {6, 8.125f, 3, DOUBTFUL},
               {9, 5, 0.5f, RIGHT},        {9, 4.9375f, 0.5f, DOUBTFUL}}; /* takes 8 */
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_arm(1, row[r].weight);
        WITH(tau, row[r].tau);
        c.firm = row[r].firm;
        c.push_before = 1;
        c.volt = 20;
        EXPECT(row[r].as, c);
    }
}

/* Takes 5 instead of 13. A motor at the opposite voltage gives -(volt + qd) there; it is wrong if that
 * is at most half as far away from 5 as 13 is. */
static const check_t heavy = {.qd = -2,
                              .tau = 13,
                              .volt = 1,
                              .qd_before = -1,
                              .off_before = -1,
                              .push_before = 4,
                              .wrong = 1,
                              .firm = 1};

static void test_motor_at_the_opposite_voltage(void) {
    static const struct {
        float given;
        uint32_t as;
    } row[] = {{-0.9375f, DOUBTFUL}, {-1, WRONG}, {-5, WRONG}, {-9, WRONG}, {-9.0625f, DOUBTFUL}};
    make_arm(1, 6);
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        check_t c = heavy;
        c.volt = row[r].given - c.qd;
        EXPECT(row[r].as, c);
    }
    control.joint[0].motor = 0; /* without a rotor the links of others could do this */
    EXPECT(RIGHT, heavy);
}

/* At a limit of its voltage the torque of the motor is not known. */
static void test_limits_of_the_voltage(void) {
    static const struct {
        float volt;
        int32_t mV;
        uint32_t as;
    } row[] = {{39.9375f, SUPPLY_UNMEASURED, DOUBTFUL},
               {40, SUPPLY_UNMEASURED, RIGHT},
               {-40, SUPPLY_UNMEASURED, RIGHT},
               {20, 0, DOUBTFUL},
               {20, 20000, DOUBTFUL},
               {20, 19999, RIGHT},
               {-21, 20000, RIGHT},
               {20, 1, RIGHT}};
    make_arm(1, 6);
    arm.joint[0].drive.tau_volt.k = 0;
    arm.joint[0].drive.tau_qd.k = 0;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        check_t c = heavy;
        c.volt = row[r].volt;
        guard.supply_mV = row[r].mV;
        EXPECT(row[r].as, c);
    }
}

/* Checks come every fourth tick; the next tick of the guard has one. */
static void every_fourth_tick(void) {
    control.segment = 4;
    control.per_segment = 0.25f;
    for (uint32_t i = 0; i < arm.n; i++)
        control.joint[i].qdd_qd.k = 4;
    guard.phase = 3;
}

static uint32_t tick(void) {
    return direction_guard(&control, &scratch, &guard, &loop);
}

/* A joint that turns opposite to its encoder moves its weight the other way: that takes 7 instead of 5,
 * and its motor gives volt + qd. The doubt was that 5 are not 13; half of that is allowed. */
static void test_mirrored_encoder(void) {
    static const struct {
        float given;
        bool wrong;
    } row[] = {{2.9375f, false}, {3, true}, {7, true}, {11, true}, {11.0625f, false}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++)
        for (int friction = 0; friction < 2; friction++) {
            /* With friction the speed of 2 takes 2 more against the motion, or 2 less. */
            make_heavy_arm(1, friction ? 8 : 6, friction, 0);
            every_fourth_tick();
            check_t c = heavy;
            c.volt = row[r].given - c.qd + (friction ? 4 : 0);
            give(0, &c, 1);
            guard.wrong[0] = LOOKS - 1;
            TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
            TEST_ASSERT_EQUAL_FLOAT(4, guard.missing);
            TEST_ASSERT_EQUAL_UINT32(row[r].wrong ? 0 : APP_NO_JOINT, tick());
            TEST_ASSERT_EQUAL_UINT8(row[r].wrong ? 0 : LOOKS - 2, guard.wrong[0]);
            TEST_ASSERT_TRUE(guard.missing == 0); /* answered once */
            for (int k = 0; k < 2; k++)
                TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
            TEST_ASSERT_EQUAL_UINT8(row[r].wrong ? 0 : LOOKS - 2, guard.wrong[0]);
        }
}

/* The tick after a doubt asks about the mirrored joint: 10 is near the 7 that its motion takes, not
 * near 5. A check that finds a doubt leaves half of the difference to 13. */
static void test_doubt_of_the_last_tick(void) {
    check_t c = heavy;
    c.volt = 10 - c.qd;
    make_arm(1, 6);
    every_fourth_tick();
    guard.phase = 0;
    give(0, &c, 1);
    guard.wrong[0] = LOOKS - 1;
    guard.missing = 4;
    TEST_ASSERT_EQUAL_UINT32(0, tick());
    guard.phase = 3;
    give(0, &c, 1);
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
    TEST_ASSERT_EQUAL_FLOAT(4, guard.missing);
}

/* A fault takes three more wrong checks than right ones, and the next one three more again. */
static void test_count_of_the_checks(void) {
    static const struct {
        bool wrong, fault;
    } row[] = {{1, 0}, {1, 0}, {1, 1}, {1, 0}, {1, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0},
               {1, 0}, {1, 0}, {0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 0}, {1, 0}, {1, 1}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        give(0, &against, 1);
        if (!row[r].wrong)
            loop.qd_hat[0] = 0;
        TEST_ASSERT_EQUAL_UINT32(row[r].fault ? 0 : APP_NO_JOINT, tick());
    }
}

/* Between two checks nothing happens, and the values of the last check are kept. */
static void test_checks_are_apart(void) {
    every_fourth_tick();
    give(0, &against, 1);
    guard.wrong[0] = LOOKS - 1;
    TEST_ASSERT_EQUAL_UINT32(0, tick());
    for (int k = 0; k < 3; k++) {
        loop.qd_hat[0] = 100;
        guard.wrong[0] = LOOKS - 1;
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
        TEST_ASSERT_EQUAL_UINT8(LOOKS - 1, guard.wrong[0]);
    }
    TEST_ASSERT_EQUAL_FLOAT(-2 / 16.0f, guard.step[0].qd);
    TEST_ASSERT_EQUAL_FLOAT(-1 / 16.0f, guard.step[0].gained);
    TEST_ASSERT_EQUAL_FLOAT(-2 / 16.0f, guard.step[0].off);
    TEST_ASSERT_EQUAL_FLOAT(8 / 16.0f, guard.step[0].push);
    loop.qd_hat[0] = -4;
    loop.tau[0] = 9;
    TEST_ASSERT_EQUAL_UINT32(0, tick());
    control.segment = 0; /* the guard is switched off */
    for (int k = 0; k < 9; k++) {
        give(0, &against, 1);
        guard.wrong[0] = LOOKS - 1;
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
    }
}

/* Gives every joint, and one behind the last, a motion that is wrong by far. */
static void all_wrong(void) {
    for (uint32_t i = 0; i <= arm.n; i++) {
        check_t c = against;
        c.tau = 1000;
        give(i, &c, 1);
        guard.wrong[i] = LOOKS - 1;
    }
}

/* One half of the joints is checked two ticks after the other. If checks come too often for that, all
 * are checked at once. */
static void test_halves_of_the_joints(void) {
    static const struct {
        uint16_t segment;
        uint32_t n, joint[6];
    } row[] = {{1, 3, {2, 2, 2, 2, 2, 2}},
               {2, 3, {APP_NO_JOINT, 2, APP_NO_JOINT, 2, APP_NO_JOINT, 2}},
               {3, 3, {APP_NO_JOINT, 2, 1, APP_NO_JOINT, 2, 1}},
               {4, 3, {APP_NO_JOINT, 2, APP_NO_JOINT, 1, APP_NO_JOINT, 2}},
               {4, 2, {APP_NO_JOINT, 1, APP_NO_JOINT, 0, APP_NO_JOINT, 1}}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        make_arm(row[r].n, 0);
        control.segment = row[r].segment;
        for (int k = 0; k < 6; k++) {
            all_wrong();
            TEST_ASSERT_EQUAL_UINT32(row[r].joint[k], tick());
            TEST_ASSERT_EQUAL_UINT8(LOOKS - 1, guard.wrong[row[r].n]);
        }
    }
}

/* Gives the joints torques that are 2.6 times as large as their motions take, which is doubtful. */
static void doubts(uint32_t which) {
    all_wrong();
    guard.missing = 0;
    (void)tick(); /* the scratch now has what the motions take */
    for (uint32_t i = 0; i < arm.n; i++) {
        check_t c = against;
        c.tau = (which >> i & 1) ? 2.6f * scratch.tau[i] : -1;
        c.push_before = 1;
        give(i, &c, 1);
        guard.wrong[i] = LOOKS - 1;
    }
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, tick());
    TEST_ASSERT_TRUE(guard.missing > 0);
}

/* Only one doubt is followed up. Of several joints it is another one than the last time; the others
 * count neither as right nor as wrong. */
static void test_several_doubts(void) {
    make_arm(3, 100);
    uint32_t before = 0;
    for (int k = 0; k < 4; k++) {
        doubts(7);
        TEST_ASSERT_NOT_EQUAL(before, guard.doubted);
        before = guard.doubted;
        TEST_ASSERT_EQUAL_FLOAT((loop.tau[before] - loop.tau[before] / 2.6f) / 2, guard.missing);
        for (uint32_t i = 0; i < 3; i++)
            TEST_ASSERT_EQUAL_UINT8(LOOKS - 1, guard.wrong[i]);
    }
    for (uint32_t only = 0; only < 3; only++)
        for (int k = 0; k < 2; k++) { /* again and again, if there is no other */
            doubts(1u << only);
            TEST_ASSERT_EQUAL_UINT8(only, guard.doubted);
        }
}

/* Nothing is noted of a joint that the arm does not have. */
static void test_joints_of_the_arm_only(void) {
    const guard_t none = guard;
    loop.qd_hat[1] = 5;
    EXPECT(WRONG, against);
    TEST_ASSERT_EQUAL_MEMORY(&none.step[1], &guard.step[1], sizeof guard.step[1]);
}

TEST_LIST_BEGIN
TEST(test_doubt_of_the_last_tick)
TEST(test_motion_against_the_feedback)
TEST(test_feedback_that_grows)
TEST(test_feedback_of_computed_torque)
TEST(test_denied)
TEST(test_torque_of_the_motion)
TEST(test_explained)
TEST(test_motor_at_the_opposite_voltage)
TEST(test_limits_of_the_voltage)
TEST(test_mirrored_encoder)
TEST(test_count_of_the_checks)
TEST(test_checks_are_apart)
TEST(test_halves_of_the_joints)
TEST(test_several_doubts)
TEST(test_joints_of_the_arm_only)
TEST_LIST_END

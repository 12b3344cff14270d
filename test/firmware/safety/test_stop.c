/*
 * Tests how a stop is chosen and how the arm is lowered, on arms whose gravity torques are known: two
 * links of 1 kg and 0.5 m in a vertical plane, and one whose second joint is prismatic.
 */
#include "test/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "firmware/params/parameters.h"
#include "firmware/safety/stop.h"

#define G     9.81
#define RIGHT 1.5707963267948966
enum { N = 2 };

static arm_t arm;
static control_t control;
static scratch_t scratch;
static loop_t loop;

/* Sets the torque limit of a joint; its motor can give that for ever, and control.scale halves it. */
static void limit(uint32_t i, float torque) {
    control.joint[i].tau_max = control.joint[i].lasting = torque;
}

/* Behind the last joint a torque would be too large for its limit, and no position may be written. */
static void make_arm(dyn_model_t *model) {
    model->n = N;
    model->base = model->tool = dyn_pose_identity();
    model->gravity[1] = -G;
    for (uint32_t i = 0; i < N; i++) {
        model->joint[i].a = i == 0 ? 0 : 0.5;
        model->joint[i].link.mass = 1;
        for (int k = 0; k < 3; k++)
            model->joint[i].link.inertia[k] = 0.02;
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(model, NULL, &arm));
    memset(&scratch, 0xff, sizeof scratch); /* no value of an earlier tick may be used */
    scratch.tau[N] = 1;
    memset(&loop, 0, sizeof loop);
    memset(&control, 0, sizeof control);
    control.arm = &arm;
    control.feedback = FEEDBACK_PD;
    control.scale = 0.5f;
    control.damping = 1;
    for (uint32_t i = 0; i < N; i++)
        limit(i, 100);
    limit(N, -1);
}

void setUp(void) {
    dyn_model_t model = {0};
    model.joint[0].link.com[0] = model.joint[1].link.com[0] = 0.25;
    make_arm(&model);
}

static void pose(double q0, double q1) {
    loop.q_hat[0] = (float)q0;
    loop.q_hat[1] = (float)q1;
}

/* Torque that holds joint 0 and joint 1 of the planar arm. */
static double hold1(double q0, double q1) {
    return G * 0.25 * cos(q0 + q1);
}
static double hold0(double q0, double q1) {
    return G * 0.75 * cos(q0) + hold1(q0, q1);
}

/* In each pose a torque limit a little above the torque that holds the joint is enough, one a little
 * below is not, and the fraction counts. */
static void test_weak_joint(void) {
    static const double at[][2] = {{0, 0}, {3, 0.1}, {RIGHT, -1}, {0.5, RIGHT}, {-2, 3}};
    for (size_t r = 0; r < sizeof at / sizeof at[0]; r++) {
        const double tau[N] = {hold0(at[r][0], at[r][1]), hold1(at[r][0], at[r][1])};
        pose(at[r][0], at[r][1]);
        for (uint32_t i = 0; i < N; i++) {
            const double need = fabs(tau[i]) / 0.5;
            limit(i, (float)(need * 1.001));
            TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, stop_weak(&control, &scratch, loop.q_hat, true));
            limit(i, (float)(need * 0.999));
            TEST_ASSERT_EQUAL_UINT32(i, stop_weak(&control, &scratch, loop.q_hat, true));
            limit(i, 100);
        }
    }
    pose(0, 0); /* both are too weak: the first is named; with exactly enough torque, none */
    control.joint[0].tau_max = control.joint[1].tau_max = 1;
    TEST_ASSERT_EQUAL_UINT32(0, stop_weak(&control, &scratch, loop.q_hat, false));
    for (uint32_t i = 0; i < N; i++)
        control.joint[i].tau_max = scratch.tau[i];
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, stop_weak(&control, &scratch, loop.q_hat, false));
    TEST_ASSERT_TRUE(isnan(scratch.q[N]));
}

/* The arm stretched out needs 9.81 N m, and may give half of its limit for ever. */
static void test_choice(void) {
    static const struct {
        double q0;
        float limit;
        uint32_t feedback, damping, best, stop;
    } row[] = {
        {0, 20, FEEDBACK_PD, 1, APP_STOP_HOLD, APP_STOP_HOLD},
        {0, 19, FEEDBACK_PD, 1, APP_STOP_HOLD, APP_STOP_LOWER},
        {0, 10, FEEDBACK_PD, 1, APP_STOP_HOLD, APP_STOP_LOWER},
        {0, 9, FEEDBACK_PD, 1, APP_STOP_HOLD, APP_STOP_DAMP},
        {0, 9, FEEDBACK_PD, 0, APP_STOP_HOLD, APP_STOP_RELEASE},
        {-RIGHT, 9, FEEDBACK_PD, 1, APP_STOP_HOLD, APP_STOP_HOLD}, /* hangs */
        {0, 20, FEEDBACK_PD, 1, APP_STOP_LOWER, APP_STOP_LOWER},
        {0, 9, FEEDBACK_PD, 1, APP_STOP_LOWER, APP_STOP_DAMP},
        {0, 20, FEEDBACK_PD, 1, APP_STOP_DAMP, APP_STOP_DAMP},
        {0, 20, FEEDBACK_PD, 0, APP_STOP_DAMP, APP_STOP_RELEASE},
        {0, 20, FEEDBACK_PD, 1, APP_STOP_RELEASE, APP_STOP_RELEASE},
        {0, 20, FEEDBACK_COMPUTED_TORQUE, 1, APP_STOP_HOLD, APP_STOP_HOLD},
        {0, 20, FEEDBACK_OFF, 1, APP_STOP_HOLD, APP_STOP_DAMP},
        {0, 20, FEEDBACK_OFF, 1, APP_STOP_LOWER, APP_STOP_DAMP},
        {0, 20, FEEDBACK_OFF, 0, APP_STOP_HOLD, APP_STOP_RELEASE},
        {0, 20, FEEDBACK_OFF, 1, APP_STOP_RELEASE, APP_STOP_RELEASE},
    };
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        char text[20];
        (void)snprintf(text, sizeof text, "row %u", (unsigned)r);
        pose(row[r].q0, 0);
        limit(0, row[r].limit);
        control.feedback = row[r].feedback;
        control.damping = (uint8_t)row[r].damping;
        TEST_ASSERT_EQUAL_UINT32_MESSAGE(row[r].stop,
                                         stop_choose(&control, &scratch, &loop, row[r].best), text);
    }
}

/* The pose counts as it is estimated, not as it was commanded. */
static void test_choice_takes_the_estimated_pose(void) {
    pose(-RIGHT, 0);
    loop.q[0] = loop.q_ref[0] = loop.q_mid[0] = 0;
    limit(0, 9);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, stop_choose(&control, &scratch, &loop, APP_STOP_HOLD));
}

/* Each joint sinks in the direction in which gravity pulls it; one that carries next to nothing
 * stands still. */
static void test_lowering(void) {
    static const struct {
        double q0, q1;
        float to0, to1;
    } row[] = {{0, 0, -0.25f, -0.5f}, {3, 0, 0.25f, 0.5f},       {-RIGHT, 0, 0, 0},
               {0, RIGHT, -0.25f, 0}, {-RIGHT, -1, 0.25f, 0.5f}, {-RIGHT, 1, -0.25f, -0.5f}};
    static motion_state_t motion;
    control.joint[0].sink = 0.25f;
    control.joint[1].sink = 0.5f;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        memset(&motion, 0x55, sizeof motion);
        motion.as.jog.target[N] = 7;
        pose(row[r].q0, row[r].q1);
        stop_lower(&control, &scratch, &loop, &motion);
        TEST_ASSERT_EQUAL_UINT32(MOTION_JOG, motion.kind);
        TEST_ASSERT_EQUAL_UINT32(0, motion.count);
        TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, motion.last); /* never times out */
        TEST_ASSERT_EQUAL_FLOAT(row[r].to0, motion.as.jog.target[0]);
        TEST_ASSERT_EQUAL_FLOAT(row[r].to1, motion.as.jog.target[1]);
        TEST_ASSERT_EQUAL_FLOAT(7, motion.as.jog.target[N]);
    }
    /* A 256th of the torque limit is next to nothing, in either direction. */
    for (int side = 0; side < 2; side++) {
        pose(side == 0 ? 0 : 3, 0);
        stop_lower(&control, &scratch, &loop, &motion);
        control.joint[0].tau_max = 256 * fabsf(scratch.tau[0]);
        stop_lower(&control, &scratch, &loop, &motion);
        TEST_ASSERT_EQUAL_FLOAT(0, motion.as.jog.target[0]);
        control.joint[0].tau_max *= 0.999f;
        stop_lower(&control, &scratch, &loop, &motion);
        TEST_ASSERT_EQUAL_FLOAT(side == 0 ? -0.25f : 0.25f, motion.as.jog.target[0]);
    }
}

/* A prismatic joint is taken at the end of its proved range if it is beyond: the model is not proved
 * there. It carries 1 kg, q1 from the axis of joint 0, horizontally. */
static void test_prismatic_joint_within_its_range(void) {
    static const double q[] = {-5, -1, -0.5, 0.5, 2, 5}, counts[] = {-1, -1, -0.5, 0.5, 2, 2};
    dyn_model_t model = {0};
    model.joint[1].type = DYN_PRISMATIC;
    model.joint[1].alpha = -RIGHT;
    make_arm(&model);
    arm.joint[1].proved.low = -1;
    arm.joint[1].proved.high = 2;
    for (size_t r = 0; r < sizeof q / sizeof q[0]; r++) {
        pose(RIGHT, q[r]);
        (void)stop_weak(&control, &scratch, loop.q_hat, false);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f, (float)(-G * counts[r]), scratch.tau[0]);
    }
    /* A revolute joint turns as far as it likes. */
    dyn_model_t turns = {0};
    turns.joint[0].link.com[0] = 0.25;
    make_arm(&turns);
    arm.joint[0].proved.low = -1;
    arm.joint[0].proved.high = 1;
    for (double q0 = -2; q0 < 3; q0 += 4) {
        pose(q0, 0);
        (void)stop_weak(&control, &scratch, loop.q_hat, false);
        TEST_ASSERT_FLOAT_WITHIN(1e-5f, (float)(G * 0.75 * cos(q0)), scratch.tau[0]);
    }
}

TEST_LIST_BEGIN
TEST(test_weak_joint)
TEST(test_choice)
TEST(test_choice_takes_the_estimated_pose)
TEST(test_lowering)
TEST(test_prismatic_joint_within_its_range)
TEST_LIST_END

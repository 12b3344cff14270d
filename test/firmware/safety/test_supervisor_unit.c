/*
 * Tests the supervisor alone, without a tick: what a finding does in each state, how a stop goes on,
 * and when the brakes open and close. The tests with an arm are in test_supervisor.c.
 */
#include "test/support/harness.h"

#include <string.h>

#include "firmware/params/parameters.h"
#include "firmware/safety/supervisor.h"

enum { N = 2, DAMP = 5, OPEN = 3, CLOSE = 4 };

static arm_t arm;
static control_t control;
static scratch_t scratch;
static loop_t loop;
static motion_state_t motion;
static supervisor_t v;
static const supervised_t all = {&control, &scratch, &loop, &motion};

static const finding_t tracking = {APP_FAULT_TRACKING, 1, 0.5f, 0.25f};     /* hold */
static const finding_t torque = {APP_FAULT_TORQUE, 0, 60, 50};              /* lower */
static const finding_t encoder = {APP_FAULT_ENCODER, 0, 6, 5};              /* damp */
static const finding_t estop = {APP_FAULT_ESTOP, APP_NO_JOINT, 1, 0};       /* release */
static const finding_t setpoint = {APP_FAULT_SETPOINT, APP_NO_JOINT, 3, 2}; /* hold */

/* An arm in a horizontal plane, which can always be held; a motion runs. */
void setUp(void) {
    dyn_model_t model = {
        .n = N, .gravity = {0, 0, -9.81}, .base = dyn_pose_identity(), .tool = dyn_pose_identity()};
    for (uint32_t i = 0; i < N; i++) {
        model.joint[i].a = i == 0 ? 0 : 0.5;
        model.joint[i].link.mass = 1;
        for (int k = 0; k < 3; k++)
            model.joint[i].link.inertia[k] = 0.02;
    }
    TEST_ASSERT_EQUAL_INT(DYN_OK, dyn_prepare_f32(&model, NULL, &arm));
    memset(&loop, 0, sizeof loop);
    memset(&v, 0, sizeof v);
    control = (control_t){.arm = &arm,
                          .feedback = FEEDBACK_PD,
                          .scale = 1,
                          .damp = DAMP,
                          .brake_open = OPEN,
                          .brake_close = CLOSE,
                          .damping = 1};
    for (uint32_t i = 0; i < DYN_MAX_JOINTS; i++)
        control.joint[i] =
            (control_joint_t){.tau_max = 50, .lasting = 50, .lower = -1, .upper = 1, .bounded = 1};
    motion = (motion_state_t){.kind = MOTION_QUINTIC};
    v.state = APP_STATE_RUNNING;
}

static void expect(uint32_t fault, uint32_t stop) {
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, v.state);
    TEST_ASSERT_EQUAL_STRING(app_fault_name(fault), app_fault_name(v.fault));
    TEST_ASSERT_EQUAL_STRING(app_stop_name(stop), app_stop_name(v.stop));
}

/* ---- findings ---- */

/* The first fault is kept with its joint, its value and its limit. */
static void test_first_fault_latches(void) {
    static const uint32_t closed[] = {APP_STATE_RUNNING, APP_STATE_STOPPING, APP_STATE_HOMING};
    for (size_t k = 0; k < sizeof closed / sizeof closed[0]; k++) {
        setUp();
        v.state = closed[k];
        supervisor_take(&v, &all, tracking);
        expect(APP_FAULT_TRACKING, APP_STOP_HOLD);
        TEST_ASSERT_EQUAL_UINT32(1, v.fault_joint);
        TEST_ASSERT_EQUAL_FLOAT(0.5f, v.fault_value);
        TEST_ASSERT_EQUAL_FLOAT(0.25f, v.fault_limit);
        TEST_ASSERT_EQUAL_UINT32(MOTION_BRAKE, motion.kind);
        supervisor_take(&v, &all, encoder);
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_TRACKING, v.fault);
        TEST_ASSERT_EQUAL_UINT32(1, v.fault_joint);
        TEST_ASSERT_EQUAL_FLOAT(0.5f, v.fault_value);
    }
    for (uint32_t state = APP_STATE_UNCONFIGURED; state <= APP_STATE_IDLE; state++) {
        setUp(); /* with the outputs off there is nothing to stop */
        v.state = state;
        supervisor_take(&v, &all, encoder);
        TEST_ASSERT_EQUAL_UINT32(state, v.state);
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, v.fault);
        TEST_ASSERT_EQUAL_UINT32(MOTION_QUINTIC, motion.kind);
    }
}

/* A latched fault of the hardware, or of an earlier run, has no stop left to make. */
static void test_latch_alone_releases(void) {
    for (uint32_t state = 0; state < APP_STATES; state++) {
        setUp();
        v.state = state;
        supervisor_latch(&v, encoder);
        expect(APP_FAULT_ENCODER, APP_STOP_RELEASE);
        TEST_ASSERT_EQUAL_UINT32(0, v.fault_joint);
        TEST_ASSERT_EQUAL_FLOAT(6, v.fault_value);
        TEST_ASSERT_EQUAL_FLOAT(5, v.fault_limit);
    }
}

/* Holding and lowering begin where the arm is and with the speed that it has, as far as the model is
 * proved. What the guards have counted is forgotten, because the loop starts anew. */
static void test_stop_begins_at_the_arm(void) {
    static const finding_t caught[] = {{APP_FAULT_TRACKING, 1, 0.5f, 0.25f},
                                       {APP_FAULT_TORQUE, 0, 60, 50}};
    for (int k = 0; k < 2; k++) {
        setUp();
        for (uint32_t i = 0; i < DYN_MAX_JOINTS; i++) {
            loop.q[i] = loop.q_hat[i] = 0.25f + (float)i;
            loop.qd_hat[i] = i == 0 ? 1.5f : -1.5f;
            loop.q_mid[i] = loop.qd_mid[i] = 7;
        }
        arm.joint[1].proved.qd = 1;
        v.guard.phase = 3;
        v.guard.stopped = 9;
        supervisor_take(&v, &all, caught[k]);
        TEST_ASSERT_EQUAL_FLOAT(0.25f, loop.q_mid[0]);
        TEST_ASSERT_EQUAL_FLOAT(1.25f, loop.q_mid[1]);
        TEST_ASSERT_EQUAL_FLOAT(7, loop.q_mid[2]);
        TEST_ASSERT_EQUAL_FLOAT(1.5f, loop.qd_mid[0]);
        TEST_ASSERT_EQUAL_FLOAT(-1, loop.qd_mid[1]);
        TEST_ASSERT_EQUAL_FLOAT(7, loop.qd_mid[2]);
        TEST_ASSERT_EQUAL_UINT16(0, v.guard.phase);
        TEST_ASSERT_EQUAL_UINT16(0, v.guard.stopped);
        TEST_ASSERT_EQUAL_HEX32(2, v.guard.outside); /* joint 1 is beyond its limit and may be */
    }
    /* Where only the points are missing, the arm is at its reference, which brakes smoothly. Where
     * the loop opens, there is no reference. */
    for (int k = 0; k < 2; k++) {
        setUp();
        loop.q_mid[0] = loop.qd_mid[0] = 7;
        v.guard.phase = 3;
        v.guard.stopped = 9;
        supervisor_take(&v, &all, k == 0 ? setpoint : encoder);
        TEST_ASSERT_EQUAL_FLOAT(7, loop.q_mid[0]);
        TEST_ASSERT_EQUAL_FLOAT(7, loop.qd_mid[0]);
        TEST_ASSERT_EQUAL_UINT16(3, v.guard.phase);
        TEST_ASSERT_EQUAL_UINT16(0, v.guard.stopped);
        TEST_ASSERT_EQUAL_UINT32(k == 0 ? MOTION_BRAKE : MOTION_HOLD, motion.kind);
    }
}

/* The stop is the best that the fault allows; a further finding can only make it worse, and what has
 * failed once is not used again. */
static void test_further_findings(void) {
    static const struct {
        const finding_t *first, *second;
        uint32_t stop, then;
    } row[] = {{&tracking, &tracking, APP_STOP_HOLD, APP_STOP_DAMP},
               {&torque, &tracking, APP_STOP_LOWER, APP_STOP_DAMP},
               {&torque, &estop, APP_STOP_LOWER, APP_STOP_RELEASE},
               {&encoder, &tracking, APP_STOP_DAMP, APP_STOP_DAMP},
               {&encoder, &encoder, APP_STOP_DAMP, APP_STOP_DAMP},
               {&encoder, &estop, APP_STOP_DAMP, APP_STOP_RELEASE},
               {&estop, &tracking, APP_STOP_RELEASE, APP_STOP_RELEASE}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        setUp();
        supervisor_take(&v, &all, *row[r].first);
        expect(row[r].first->fault, row[r].stop);
        v.guard.stopped = 4;
        supervisor_take(&v, &all, *row[r].second);
        expect(row[r].first->fault, row[r].then);
        TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, motion.kind);
        /* The time of damping begins with a new stop, and not with a finding that changes none. */
        TEST_ASSERT_EQUAL_UINT16(row[r].then == row[r].stop ? 4 : 0, v.guard.stopped);
    }
}

/* ---- stops ---- */

static void stop(uint32_t ticks) {
    for (uint32_t k = 0; k < ticks; k++)
        supervisor_stop(&v, &all);
}

/* After a cleared fault the arm may still be damped. A finding latches then, and the arm stays damped,
 * or is released where the fault allows nothing else: never held, because nothing holds it now. */
static void test_findings_while_damped(void) {
    static const struct {
        const finding_t *found;
        uint32_t stop;
    } row[] = {{&tracking, APP_STOP_DAMP}, {&encoder, APP_STOP_DAMP}, {&estop, APP_STOP_RELEASE}};
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        setUp();
        v.state = APP_STATE_DAMPING;
        v.stop = APP_STOP_DAMP;
        TEST_ASSERT_TRUE(supervisor_damps(&v) && !supervisor_drives(&v));
        supervisor_take(&v, &all, *row[k].found);
        expect(row[k].found->fault, row[k].stop);
        TEST_ASSERT_EQUAL(row[k].stop == APP_STOP_DAMP, supervisor_damps(&v));
        TEST_ASSERT_FALSE(supervisor_drives(&v));
    }
}

/* Brakes close at once when the arm is damped, and take over after DAMP ticks. Without brakes it is
 * damped for ever. */
static void test_damping_ends_with_brakes(void) {
    for (uint8_t brakes = 0; brakes < 2; brakes++) {
        setUp();
        control.brakes = brakes;
        supervisor_take(&v, &all, encoder);
        stop(DAMP);
        expect(APP_FAULT_ENCODER, APP_STOP_DAMP);
        stop(1);
        expect(APP_FAULT_ENCODER, brakes ? APP_STOP_RELEASE : APP_STOP_DAMP);
        TEST_ASSERT_EQUAL_UINT16(0, v.closing);
    }
    v.guard.stopped = UINT16_MAX - 1; /* damped for more than a minute: the count ends there */
    stop(2);
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, v.guard.stopped);
}

/* A held arm is held until it rests and its brakes hold. Without brakes it is held for ever. */
static void test_holding_ends_with_brakes(void) {
    for (uint8_t brakes = 0; brakes < 2; brakes++) {
        setUp();
        control.brakes = brakes;
        supervisor_take(&v, &all, tracking);
        stop(3 * DAMP); /* still moves */
        expect(APP_FAULT_TRACKING, APP_STOP_HOLD);
        TEST_ASSERT_EQUAL_UINT16(0, v.closing);
        TEST_ASSERT_EQUAL_UINT32(MOTION_BRAKE, motion.kind);
        motion.kind = MOTION_HOLD;
        stop(CLOSE);
        expect(APP_FAULT_TRACKING, APP_STOP_HOLD);
        stop(1);
        expect(APP_FAULT_TRACKING, brakes ? APP_STOP_RELEASE : APP_STOP_HOLD);
    }
}

/* Lowering is written anew in every tick; an arm with brakes that has come to rest is left to them. */
static void test_lowering_ends_with_brakes(void) {
    for (uint8_t brakes = 0; brakes < 2; brakes++) {
        setUp();
        control.brakes = brakes;
        supervisor_take(&v, &all, torque);
        stop(1);
        TEST_ASSERT_EQUAL_UINT32(MOTION_JOG, motion.kind);
        motion.kind = MOTION_HOLD; /* as the reference does at rest */
        stop(1);
        TEST_ASSERT_EQUAL_UINT32(brakes ? MOTION_HOLD : MOTION_JOG, motion.kind);
        motion.kind = MOTION_HOLD;
        stop(CLOSE);
        expect(APP_FAULT_TORQUE, brakes ? APP_STOP_RELEASE : APP_STOP_LOWER);
    }
}

/* ---- brakes ---- */

/* The loop gives torque for some ticks, then the brakes open and take OPEN ticks for it. Ticks count
 * only while the outputs are on. */
static void test_brakes_open(void) {
    control.brakes = 1;
    v.opening = OPEN + 2;
    TEST_ASSERT_FALSE(supervisor_opens(&v, &control, false));
    TEST_ASSERT_EQUAL_UINT16(OPEN + 2, v.opening);
    TEST_ASSERT_FALSE(supervisor_opens(&v, &control, true));
    TEST_ASSERT_TRUE(supervisor_shut(&v, &control));
    for (uint32_t left = OPEN; left > 0; left--) {
        TEST_ASSERT_TRUE(supervisor_opens(&v, &control, true));
        TEST_ASSERT_EQUAL_UINT16(left, v.opening);
        TEST_ASSERT_FALSE(supervisor_shut(&v, &control));
    }
    TEST_ASSERT_TRUE(supervisor_opens(&v, &control, true));
    TEST_ASSERT_TRUE(supervisor_opens(&v, &control, true));
    TEST_ASSERT_EQUAL_UINT16(0, v.opening);
    v.closing = 1; /* they close again */
    TEST_ASSERT_FALSE(supervisor_opens(&v, &control, true));
    v.closing = 0;
    control.feedback = FEEDBACK_OFF; /* nothing holds the arm then */
    control.feedforward = FEEDFORWARD_OFF;
    TEST_ASSERT_FALSE(supervisor_opens(&v, &control, true));
    control.feedforward = FEEDFORWARD_GRAVITY;
    TEST_ASSERT_TRUE(supervisor_opens(&v, &control, true));
    control.feedforward = FEEDFORWARD_OFF;
    control.brakes = 0; /* none to close */
    v.opening = OPEN + 2;
    TEST_ASSERT_TRUE(supervisor_opens(&v, &control, true));
    TEST_ASSERT_FALSE(supervisor_shut(&v, &control));
}

/* Before the brakes have opened they hold the arm, so a fault needs no torque. */
static void test_fault_before_the_brakes_open(void) {
    for (uint32_t opening = OPEN; opening < OPEN + 2; opening++) {
        setUp();
        control.brakes = 1;
        v.opening = (uint16_t)opening;
        supervisor_take(&v, &all, tracking);
        expect(APP_FAULT_TRACKING, opening > OPEN ? APP_STOP_RELEASE : APP_STOP_HOLD);
    }
}

static void test_brakes_close(void) {
    TEST_ASSERT_TRUE(supervisor_braked(&v, &control)); /* there are none */
    TEST_ASSERT_EQUAL_UINT16(0, v.closing);
    control.brakes = 1;
    for (uint32_t k = 1; k <= CLOSE; k++) {
        TEST_ASSERT_FALSE(supervisor_braked(&v, &control));
        TEST_ASSERT_EQUAL_UINT16(k, v.closing);
    }
    TEST_ASSERT_TRUE(supervisor_braked(&v, &control));
    TEST_ASSERT_EQUAL_UINT16(CLOSE, v.closing);
}

TEST_LIST_BEGIN
TEST(test_first_fault_latches)
TEST(test_latch_alone_releases)
TEST(test_stop_begins_at_the_arm)
TEST(test_further_findings)
TEST(test_findings_while_damped)
TEST(test_damping_ends_with_brakes)
TEST(test_holding_ends_with_brakes)
TEST(test_lowering_ends_with_brakes)
TEST(test_brakes_open)
TEST(test_fault_before_the_brakes_open)
TEST(test_brakes_close)
TEST_LIST_END

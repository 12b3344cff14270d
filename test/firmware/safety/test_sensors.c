/*
 * Tests the sensor guard on the simulated PUMA 560: encoders that lie in motion and at rest, random
 * motions of an arm whose encoders do not, and the checks themselves with readings that the test
 * writes.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "firmware/app/setup.h"
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

static void load(uint32_t feedback, uint32_t feedforward) {
    size_t size;
    const uint8_t *made = control_arm_image(&size, 1);
    TEST_ASSERT_NOT_NULL(made);
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, made, size));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, pose));
    set(PARAMETER_feedback, 0, (float)feedback);
    set(PARAMETER_feedforward, 0, (float)feedforward);
    tick();
}

static void move(uint32_t kind, float by) {
    motion_t m = {.kind = kind};
    for (uint32_t i = 0; i < N; i++)
        m.value[i] = pose[i] + by;
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &m));
}

typedef struct {
    uint32_t ticks, fault, joint, stop; /* ticks until the fault; 0: there was none */
    double torque, travel;              /* feedback's largest share of the torque limit; rad of the
                                         * true joint from the defect to the fault */
} seen_t;

/* Injects a defect and watches for so many ticks. */
static seen_t watch(uint32_t defect, uint32_t at, uint32_t ticks) {
    seen_t seen = {0};
    const double from = (double)setup_position_si(&app, at, app.sim_arm.q[at]);
    set(PARAMETER_sim_defect_joint, 0, (float)at);
    set(PARAMETER_sim_defect, 0, (float)defect);
    for (uint32_t t = 1; t <= ticks && seen.ticks == 0; t++) {
        tick();
        const double push = fabs(((double)app.loop.tau[at] - (double)app.loop.tau_model[at]) /
                                 (double)app.control[app.now].joint[at].tau_max);
        seen.torque = push > seen.torque ? push : seen.torque;
        if (app.safety.state == APP_STATE_FAULT)
            seen.ticks = t;
    }
    seen.travel = fabs((double)setup_position_si(&app, at, app.sim_arm.q[at]) - from);
    seen.fault = app.safety.fault;
    seen.joint = app.safety.fault_joint;
    seen.stop = app.safety.stop;
    return seen;
}

/* ------------------------------------------------------------------------------- simulated arm */

enum { REST, MOTION, START }; /* when the defect comes: while the arm is held, on the way, before */

static seen_t injected(uint32_t when, uint32_t defect, uint32_t at) {
    load(FEEDBACK_PD, FEEDFORWARD_FULL);
    move(when == REST ? MOTION_HOLD : MOTION_QUINTIC, when == REST ? 0 : 0.5f);
    for (uint32_t t = 0; t < (when == START ? 4 : 300); t++)
        tick();
    return watch(defect, at, 1500);
}

/* The worst joint of each defect: times in ticks of 1 ms, and the feedback's share of the torque
 * limit until then. */
static void test_encoders_that_lie(void) {
    static const struct {
        uint32_t when, defect;
        const char *fault; /* NULL: not findable, and harmless */
        uint32_t most;
    } row[] = {
        {REST, DEFECT_STUCK, NULL, 0},
        {MOTION, DEFECT_STUCK, "stuck", 60},
        {START, DEFECT_STUCK, "stuck", 200},
        {REST, DEFECT_JUMP, "encoder noise", 1},
        {MOTION, DEFECT_JUMP, "encoder noise", 1},
        {REST, DEFECT_NOISE_15, "encoder noise", 200},
        {MOTION, DEFECT_NOISE_15, "encoder noise", 200},
        {REST, DEFECT_NOISE_30, "encoder noise", 20},
        {MOTION, DEFECT_NOISE_30, "encoder noise", 20},
        {REST, DEFECT_NOISE_60, "encoder noise", 5},
        {MOTION, DEFECT_NOISE_60, "encoder noise", 5},
        {REST, DEFECT_BITS, NULL, 0},
        {MOTION, DEFECT_BITS, "encoder noise", 20},
        {START, DEFECT_BITS, "encoder noise", 120},
    };
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t late = 0;
        double torque = 0, travel = 0;
        char text[120];
        for (uint32_t at = 0; at < N; at++) {
            const seen_t s = injected(row[r].when, row[r].defect, at);
            TEST_ASSERT_EQUAL_STRING(row[r].fault ? row[r].fault : "none", app_fault_name(s.fault));
            if (row[r].fault) {
                TEST_ASSERT_EQUAL_UINT32(at, s.joint);
                TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, s.stop);
                TEST_ASSERT_TRUE(s.ticks <= row[r].most);
            } else {
                TEST_ASSERT_TRUE(s.torque < 0.25);
            }
            late = s.ticks > late ? s.ticks : late;
            torque = fmax(torque, s.torque);
            travel = fmax(travel, s.travel);
        }
        (void)snprintf(text, sizeof text, "%s, %s: push %.2f, travel %.3f rad, ms",
                       defect_name(row[r].defect),
                       row[r].when == REST     ? "at rest"
                       : row[r].when == MOTION ? "in motion"
                                               : "at the start",
                       torque, travel);
        harness_note_number(text, late);
    }
}

/* Whatever the controller is, a stuck encoder does not go unseen. */
static void test_stuck_with_other_controllers(void) {
    static const uint32_t row[][2] = {{FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_FULL},
                                      {FEEDBACK_PD, FEEDFORWARD_GRAVITY},
                                      {FEEDBACK_PD, FEEDFORWARD_OFF}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++)
        for (uint32_t at = 0; at < N; at++) {
            load(row[r][0], row[r][1]);
            move(MOTION_QUINTIC, 0.5f);
            for (uint32_t t = 0; t < 300; t++)
                tick();
            const seen_t s = watch(DEFECT_STUCK, at, 100);
            TEST_ASSERT_TRUE(s.ticks > 0);
            TEST_ASSERT_EQUAL_UINT32(at, s.joint);
            if (s.fault != APP_FAULT_TORQUE) {
                TEST_ASSERT_EQUAL_STRING("stuck", app_fault_name(s.fault));
            }
        }
}

static uint64_t chance;

static float between(float low, float high) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (float)((double)(chance >> 11) / 9007199254740992.0);
}

/* Random motions, long and short, some of them stopped on the way, with masses up to 10 % and
 * friction up to 50 % off and up to 2 counts of noise. */
static void moves_without_fault(uint32_t feedback, uint32_t feedforward) {
    uint32_t motions = 0;
    load(feedback, feedforward);
    chance = 7;
    for (uint32_t t = 0; t < MINUTES * 60 * RATE; t++) {
        tick();
        if (app.safety.state == APP_STATE_FAULT)
            TEST_FAIL_MESSAGE(app_fault_name(app.safety.fault));
        if (app.motion.kind != MOTION_HOLD) {
            if (between(0, 2000) < 1)
                (void)app_stop(&app);
            continue;
        }
        if (between(0, 200) > 1)
            continue; /* a pause */
        set(PARAMETER_sim_mass, 0, between(0.9f, 1.1f));
        set(PARAMETER_sim_friction, 0, between(0.5f, 1.5f));
        set(PARAMETER_sim_noise, 0, floorf(between(0, 2.999f)));
        motion_t m = {.kind = between(0, 1) < 0.5f ? MOTION_QUINTIC : MOTION_TRAPEZOID};
        const float part = between(0, 1) < 0.5f ? 1 : 0.02f;
        for (uint32_t i = 0; i < N; i++) {
            const float here = setup_position_si(&app, i, app.loop.q_ref[i]);
            const float there =
                between(app.joint[i].position[0] + 0.02f, app.joint[i].position[1] - 0.02f);
            m.value[i] = here + part * (there - here);
        }
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

/* ------------------------------------------------------------------------------------- readings */

static sensors_t *sensors(void) {
    return &app.safety.guard.sensors;
}

/* Calls the guard with a reading of joint 0; all others stay. */
static uint32_t guarded(int32_t counts) {
    app.loop.counts[0] = counts;
    return sensors_guard(&app.control[app.now], sensors(), &app.loop).fault;
}

/* Starts with a joint that has no feedback and is not moving. */
static void start_readings(void) {
    load(FEEDBACK_PD, FEEDFORWARD_FULL);
    for (uint32_t i = 0; i < N; i++)
        app.loop.tau[i] = app.loop.tau_model[i] = real_known(0);
    sensors_start(sensors());
    for (uint32_t k = 0; k < 2 * N; k++)
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, guarded(0));
}

/* The waist may gain a quarter of 1.4 rad/s, 3.5 counts in a tick, 24 rad/s^2, 0.24 counts, and ten
 * counts of noise: 14. It may lose any speed, and after a gap nothing is known. */
static void test_jump(void) {
    static const struct {
        int32_t reading[3];
        uint32_t fault;
    } row[] = {{{14, 28, 42}, APP_FAULT_NONE},         {{15, 0, 0}, APP_FAULT_ENCODER_NOISE},
               {{-15, 0, 0}, APP_FAULT_ENCODER_NOISE}, {{14, 42, 42}, APP_FAULT_NONE},
               {{14, 43, 0}, APP_FAULT_ENCODER_NOISE}, {{14, 0, -14}, APP_FAULT_NONE}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t fault = APP_FAULT_NONE;
        start_readings();
        for (uint32_t k = 0; k < 3 && fault == APP_FAULT_NONE; k++)
            fault = guarded(row[r].reading[k]);
        TEST_ASSERT_EQUAL_UINT32(row[r].fault, fault);
    }
    static const app_inputs_t gap[] = {
        {.counts_valid = UINT32_MAX - 1, .supply_mV = SUPPLY_UNMEASURED},
        {.counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .overrun = 1},
        {.counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .lost = 1}};
    for (size_t r = 0; r < sizeof gap / sizeof gap[0]; r++) {
        start_readings();
        (void)guard_inputs(&app.control[app.now], &app.safety.guard, &gap[r], APP_FAULT_LOST);
        for (int32_t k = 1; k <= 2; k++)
            TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, guarded(100 * k));
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_ENCODER_NOISE, guarded(400));
    }
}

/* A reading that goes to and fro by a counts has steps that change by 2 a. The limit of the mean is
 * 1.25 times the amplitude that costs a quarter of the torque limit, and no less than 5. */
static void test_noise(void) {
    for (int32_t a = 1; a <= 2; a++) {
        uint32_t fault = APP_FAULT_NONE;
        start_readings();
        app.control[app.now].joint[0].noise = 16 * 3;
        for (int32_t k = 0; k < 1000 && fault == APP_FAULT_NONE; k++)
            fault = guarded(k % 2 ? a : 0);
        TEST_ASSERT_EQUAL_UINT32(a == 1 ? APP_FAULT_NONE : APP_FAULT_ENCODER_NOISE, fault);
    }
    load(FEEDBACK_PD, FEEDFORWARD_FULL);
    set(PARAMETER_observer_hz, 0, 200);
    tick();
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_TRUE(app.control[app.now].joint[i].noise >= 16 * 5);
}

/* Steps of 0 and 8 counts: a bit below the eighth never changes. Steps that are multiples of 8 but
 * all the same, and steps with other bits, are those of a good encoder. */
static void test_low_bits(void) {
    static const struct {
        int32_t step[4];
        uint32_t fault;
    } row[] = {{{0, 8, 0, 8}, APP_FAULT_STUCK},
               {{8, 8, 8, 8}, APP_FAULT_NONE},
               {{0, 8, 1, 8}, APP_FAULT_NONE}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        uint32_t fault = APP_FAULT_NONE;
        int32_t counts = 0;
        start_readings();
        app.control[app.now].joint[0].noise = UINT16_MAX;
        app.control[app.now].joint[0].low_bits = 7;
        for (uint32_t k = 0; k < 1000 && fault == APP_FAULT_NONE; k++)
            fault = guarded(counts += row[r].step[(k + k / N) % 4]);
        TEST_ASSERT_EQUAL_UINT32(row[r].fault, fault);
    }
}

/* The feedback of the waist rises to a part of the torque limit while the reading stays: friction
 * of 27.2 N m and an eighth of 97.6 N m may hold the joint, 39.4 N m or 0.40 of the limit. */
static uint32_t pushed(float part, uint32_t pressing, int32_t each) {
    uint32_t fault = APP_FAULT_NONE;
    real factor;
    start_readings();
    (void)real_from_model((double)part, 0, &factor);
    app.loop.tau[0] = real_mul(factor, app.control[app.now].joint[0].tau_max);
    app.loop.pressing = pressing;
    for (int32_t k = 0; k < 60 && fault == APP_FAULT_NONE; k++)
        fault = guarded(k * each / N);
    app.loop.pressing = 0;
    return fault;
}

static void test_stuck(void) {
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, pushed(0.39f, 0, 0));
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_STUCK, pushed(0.42f, 0, 0));
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_STUCK, pushed(-0.42f, 0, 0));
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, pushed(0.42f, 1, 0)); /* homing */
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, pushed(0.42f, 0, 1)); /* a count now and then */
}

/* Nothing is known about the feedback of a joint without a torque limit, or in computed torque of
 * one without a rotor; readings that jump are found all the same. */
static void test_joints_that_say_little(void) {
    static image_t image;
    static _Alignas(4) uint8_t bytes[CONTROL_ARM_ROOM];
    size_t size;
    if (!strcmp(app_real_name(), "q31"))
        TEST_IGNORE_MESSAGE("the image contains the constants of another arm");
    const uint8_t *made = control_arm_image(&size, 1);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(made, size, &image, NULL));
    image.joint[0].torque[0] = 0;
    image.joint[1].rotor_inertia[0] = 0;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
    const control_joint_t *j = app.control[app.now].joint;
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, j[0].noise);
    TEST_ASSERT_EQUAL_UINT8(UINT8_MAX, j[0].low_bits);
    TEST_ASSERT_TRUE(j[0].stuck > 1e6f && j[1].stuck < 100);
    TEST_ASSERT_EQUAL_UINT16(14, j[0].jump);
    set(PARAMETER_feedback, 0, FEEDBACK_COMPUTED_TORQUE);
    tick();
    j = app.control[app.now].joint;
    TEST_ASSERT_EQUAL_UINT16(UINT16_MAX, j[1].noise);
    TEST_ASSERT_TRUE(j[1].stuck > 1e6f && j[2].stuck < 100);
    app.loop.tau[2] = 80; /* the share of the feedback is not known */
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, app_residual(&app).joint);
    set(PARAMETER_feedback, 0, FEEDBACK_PD);
    TEST_ASSERT_EQUAL_UINT32(2, app_residual(&app).joint);
    set(PARAMETER_feedforward, 0, FEEDFORWARD_OFF);
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT, app_residual(&app).joint);
}

/* ------------------------------------------------------------------------------------------ load */

/* The held arm carries `there` at its stretched end, and the model knows it; then the payload of the
 * model goes to `said`, a kilogram in 0.2 s: faster, the direction guard takes the sinking arm for a
 * reversed motor. The difference is told until the outputs go off. */
static void carries(float there, float said, bool told) {
    static image_t image;
    static _Alignas(4) uint8_t bytes[CONTROL_ARM_ROOM];
    static const float stretched[N] = {0, 0, -1.5707963f, 0, 0, 0};
    size_t size;
    const uint8_t *made = control_arm_image(&size, 1);
    char text[80];
    float now = there;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(made, size, &image, NULL));
    image.arm.payload_mass[0] = there;
    image.has |= IMAGE_HAS_PAYLOAD;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_load(&app, bytes, size));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, stretched));
    motion_t m = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &m));
    for (uint32_t t = 0; t < 5 * RATE; t++) {
        tick();
        app_poll(&app);
        TEST_ASSERT_TRUE(t >= RATE || (app.notice & NOTICE_LOAD) == 0);
        if (t < RATE || t % 200 != 0 || now == said)
            continue;
        now = said > now ? fminf(now + 1, said) : fmaxf(now - 1, said);
        set(PARAMETER_payload_mass, 0, now);
    }
    const residual_t r = app_residual(&app);
    TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(told ? NOTICE_LOAD : 0, app.notice & NOTICE_LOAD);
    TEST_ASSERT_EQUAL(told, r.joint != APP_NO_JOINT);
    (void)snprintf(text, sizeof text, "load %g kg, model %g kg: joint %d, %.1f N m, at least g",
                   (double)there, (double)said, (int)r.joint, (double)r.torque);
    harness_note_number(text, (uint32_t)(1000 * r.mass));
    if (told) {
        TEST_ASSERT_TRUE((there > said) == ((r.torque > 0) == (app.loop.tau_model[r.joint] > 0)));
        TEST_ASSERT_TRUE(r.mass <= fabsf(there - said) * 1.1f);
        TEST_ASSERT_TRUE(r.mass >= fabsf(there - said) * 0.5f);
    }
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick();
    app_poll(&app);
    TEST_ASSERT_EQUAL_UINT32(0, app.notice & NOTICE_LOAD);
}

static void test_load_at_rest(void) {
    if (!strcmp(app_real_name(), "q31"))
        TEST_IGNORE_MESSAGE("in fixed point the payload is that of the image");
    carries(0, 0, false);
    carries(3, 3, false);
    carries(1, 0, false);
    carries(3, 0, true);
    carries(10, 0, true);
    carries(0, 3, true);
}

TEST_LIST_BEGIN
TEST(test_jump)
TEST(test_noise)
TEST(test_low_bits)
TEST(test_stuck)
TEST(test_joints_that_say_little)
TEST(test_encoders_that_lie)
TEST(test_stuck_with_other_controllers)
TEST(test_no_false_alarm)
TEST(test_load_at_rest)
TEST_LIST_END

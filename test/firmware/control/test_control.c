/*
 * Tests the application on host and target: references, limits, stops, streamed points, faults, and
 * the benefit of feedforward. On the target each stage must take constant time; every machine must
 * compute the same bits.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = CONTROL_ARM_JOINTS };

/* FNV-1a hashes of all torques and voltages of the motion below. */
#define HASH_F32 0x444DDD31u
#define HASH_Q31 0xF8C85CD0u

static app_t app;
static app_inputs_t in;
static app_outputs_t out;

/* The clock of the tests: instructions on the target, a simulated count on the host. */
#ifdef __arm__
#include "hal/cycles.h"
uint32_t app_clock(void) {
    return cycles_now();
}
uint32_t app_clock_steps(uint32_t start, uint32_t end) {
    return cycles_steps(start, end);
}
uint32_t app_clock_cost(uint32_t steps) {
    return cycles_of_steps(steps);
}
uint32_t app_clock_hz(void) {
    return cycles_steps_hz();
}
#else
static uint32_t clock_now, clock_step, clock_hz;
uint32_t app_clock(void) {
    return clock_now += clock_step;
}
uint32_t app_clock_hz(void) {
    return clock_hz;
}
#endif

static int load(int motors) {
    size_t size;
    const uint8_t *image = control_arm_image(&size, motors);
    TEST_ASSERT_NOT_NULL(image);
    memset(&in, 0, sizeof in);
    app_init(&app);
    /* The rate check is off, because the test calls the ticks itself and counting slows the clock
     * of the emulator on some machines. */
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_rate_check, 0, 0));
    return app_load(&app, image, size);
}

static void tick(uint32_t count) {
    while (count-- > 0)
        app_tick(&app, &in, &out);
}

static app_status_t status_now(void) {
    app_status_t status;
    app_status(&app, &status);
    return status;
}

static double si(uint32_t quantity, uint32_t joint, uint32_t word) {
    const int exponent = app_exponent(&app, quantity, joint);
    if (!strcmp(app_real_name(), "q31"))
        return ldexp((double)(int32_t)word, exponent - 28);
    float single;
    memcpy(&single, &word, sizeof single);
    return (double)single;
}

static double field(const sample_t *s, uint32_t field_of, uint32_t joint) {
    return si(sample_table[field_of].quantity, joint, app_sample_word(s, field_of, joint));
}

static const float from[N] = {-0.5f, 1.25f, -2.3f, -0.9f, -1.4f, -1.4f};
static const float to[N] = {0.5f, 1.9f, -0.8f, 1.9f, 1.4f, 1.4f};

static motion_t motion_to(uint32_t kind, float seconds, const float target[]) {
    motion_t m = {.kind = kind, .duration_s = seconds};
    memcpy(m.value, target, N * sizeof *target);
    return m;
}

/* Statistics of a motion, collected in every tick. */
typedef struct {
    double rms;
    uint32_t ticks, hash;
    double speed[N], bend[N];                /* largest speed and acceleration of the reference */
    double first[N], last[N], last_speed[N]; /* reference at both ends */
    double rough;                            /* largest difference between a step of q_ref and
                                              * the integral of qd_ref over that tick */
    double speed_error;                      /* RMS error of the speed estimate, joint 0 */
} course_t;

static uint32_t mix(uint32_t hash, uint32_t word) {
    for (int k = 0; k < 4; k++)
        hash = (hash ^ (word >> (8 * k) & 0xff)) * 16777619u;
    return hash;
}

static void follow_sample(const sample_t *s, course_t *c, double before[2][N]) {
    const double h = 0.001;
    for (uint32_t i = 0; i < N; i++) {
        const double q = field(s, SAMPLE_q_ref, i), qd = field(s, SAMPLE_qd_ref, i);
        const double off = q - field(s, SAMPLE_q_arm, i);
        c->rms += off * off / N;
        c->speed[i] = fmax(c->speed[i], fabs(qd));
        c->bend[i] = fmax(c->bend[i], fabs(field(s, SAMPLE_qdd_ref, i)));
        if (c->ticks == 0)
            c->first[i] = q;
        else
            c->rough = fmax(c->rough, fabs(q - before[0][i] - h / 2 * (qd + before[1][i])));
        before[0][i] = q;
        before[1][i] = qd;
        c->hash = mix(mix(c->hash, app_sample_word(s, SAMPLE_tau, i)),
                      app_sample_word(s, SAMPLE_volt, i));
    }
    const double off = field(s, SAMPLE_qd, 0) - before[1][0];
    c->speed_error += off * off;
    c->ticks++;
}

static course_t follow(void) {
    course_t c = {.hash = 2166136261u};
    double before[2][N] = {{0}};
    app_status_t status;
    do {
        const sample_t *s;
        tick(1);
        while ((s = app_sample_peek(&app)) != NULL) {
            if ((app_sample_word(s, SAMPLE_state, 0) & 0xff) == APP_STATE_RUNNING)
                follow_sample(s, &c, before);
            app_sample_release(&app);
        }
        status = status_now();
    } while (status.moving && c.ticks < 20000);
    for (uint32_t i = 0; i < N; i++) {
        c.last[i] = before[0][i];
        c.last_speed[i] = before[1][i];
    }
    c.rms = sqrt(c.rms / c.ticks);
    c.speed_error = sqrt(c.speed_error / c.ticks);
    return c;
}

static course_t run(uint32_t feedback, uint32_t feedforward, float mass) {
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_feedback, 0, (float)feedback));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_feedforward, 0, (float)feedforward));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_sim_mass, 0, mass));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_stages, 0, 1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(MOTION_CYCLOID, 1.5f, to);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    return follow();
}

/* ------------------------------------------------------------------------------- what it is for */

static void test_feedforward_pays(void) {
    const course_t pd = run(FEEDBACK_PD, FEEDFORWARD_OFF, 1);
    const course_t gravity = run(FEEDBACK_PD, FEEDFORWARD_GRAVITY, 1);
    const course_t full = run(FEEDBACK_PD, FEEDFORWARD_FULL, 1);
    const course_t torque = run(FEEDBACK_COMPUTED_TORQUE, FEEDFORWARD_FULL, 1);
    const course_t wrong = run(FEEDBACK_PD, FEEDFORWARD_FULL, 1.1f);
    harness_note_number("PD, microradian RMS", (int64_t)(pd.rms * 1e6));
    harness_note_number("PD + gravity", (int64_t)(gravity.rms * 1e6));
    harness_note_number("full feedforward", (int64_t)(full.rms * 1e6));
    harness_note_number("computed torque", (int64_t)(torque.rms * 1e6));
    harness_note_number("full feedforward, masses 10 % wrong", (int64_t)(wrong.rms * 1e6));
    TEST_ASSERT_EQUAL_UINT32(1501, full.ticks); /* the last tick is at rest */
    TEST_ASSERT_TRUE(pd.rms > 20 * full.rms);
    TEST_ASSERT_TRUE(gravity.rms > 5 * full.rms);
    TEST_ASSERT_TRUE(pd.rms > 20 * torque.rms);
    /* With wrong masses the feedback has to correct the error of the model. */
    TEST_ASSERT_TRUE(wrong.rms > 2 * full.rms && pd.rms > 5 * wrong.rms);
}

/* The hash of torques and voltages of every tick is the same on every machine with the same number
 * type. */
static void test_every_machine_has_the_same_bits(void) {
    const course_t full = run(FEEDBACK_PD, FEEDFORWARD_FULL, 1);
    const uint32_t expected = !strcmp(app_real_name(), "q31") ? HASH_Q31 : HASH_F32;
    TEST_ASSERT_EQUAL_HEX32(expected, full.hash);
}

#ifdef __arm__
static void test_stages_take_constant_time(void) {
    app_stages_t stages;
    (void)run(FEEDBACK_PD, FEEDFORWARD_FULL, 1);
    app_stages(&app, &stages);
    TEST_ASSERT_EQUAL_UINT32(1501, stages.ticks);
    for (uint32_t k = 0; k <= STAGES; k++)
        harness_note_number(stage_name(k), stages.most[k]);
    TEST_ASSERT_TRUE(stages.least[STAGE_DYNAMICS] > 500);
    TEST_ASSERT_EQUAL_UINT32(stages.least[STAGE_DYNAMICS], stages.most[STAGE_DYNAMICS]);
    TEST_ASSERT_EQUAL_UINT32(stages.least[STAGE_ESTIMATE], stages.most[STAGE_ESTIMATE]);
}
#endif

/* ----------------------------------------------------------------------------------- references */

static void check_course(uint32_t kind, float seconds) {
    static const float speed[N] = {1.4f, 0.9f, 2.1f, 3.9f, 4.2f, 3.9f};
    static const float bend[N] = {6, 6, 10, 20, 20, 20};
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(kind, seconds, to);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    const course_t c = follow();
    bool near = false;
    for (uint32_t i = 0; i < N; i++) {
        /* The motion starts at the measured position; one encoder count is 1e-4 rad. */
        TEST_ASSERT_DOUBLE_WITHIN(1e-4, (double)from[i], c.first[i]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, (double)to[i], c.last[i]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, c.last_speed[i]);
        TEST_ASSERT_TRUE(c.speed[i] <= (double)speed[i] * 1.001);
        TEST_ASSERT_TRUE(c.bend[i] <= (double)bend[i] * 1.001);
        near = near || c.speed[i] > 0.98 * (double)speed[i] || c.bend[i] > 0.98 * (double)bend[i];
    }
    /* Only without a given duration is the motion as fast as the limits allow. */
    TEST_ASSERT_EQUAL(seconds == 0, near);
    /* q is the integral of qd. The trapezoid rule has an error of h^2/12 times the change of
     * acceleration in a step, or h^2/8 at the corners of the trapezoid, where the acceleration
     * jumps by 20 rad/s^2. Rounding positions of some rad adds two steps of 2^-22. */
    TEST_ASSERT_TRUE(c.rough < 1e-6 * 40 / 8 + 5e-7);
}

static void test_quintic(void) {
    check_course(MOTION_QUINTIC, 3);
    check_course(MOTION_QUINTIC, 0);
}

static void test_cycloid(void) {
    check_course(MOTION_CYCLOID, 3);
    check_course(MOTION_CYCLOID, 0);
}

static void test_trapezoid(void) {
    check_course(MOTION_TRAPEZOID, 3);
    check_course(MOTION_TRAPEZOID, 0);
}

static void test_motions_beyond_the_limits_are_refused(void) {
    float far[N];
    motion_t m;
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    memcpy(far, to, sizeof far);
    far[4] = 1.8f;
    m = motion_to(MOTION_QUINTIC, 3, far);
    TEST_ASSERT_EQUAL(APP_E_POSITION, app_motion_start(&app, &m));
    TEST_ASSERT_EQUAL_UINT32(4, app_where(&app));
    m = motion_to(MOTION_QUINTIC, 1, to); /* the waist would need 1.875 rad/s; limit 1.4 */
    TEST_ASSERT_EQUAL(APP_E_VELOCITY, app_motion_start(&app, &m));
    TEST_ASSERT_EQUAL_UINT32(0, app_where(&app));
    float little[N];
    memcpy(little, from, sizeof little);
    little[1] += 0.08f; /* needs 1.5 rad/s; limit 0.9 */
    m = motion_to(MOTION_QUINTIC, 0.1f, little);
    little[0] = from[0];
    TEST_ASSERT_EQUAL(APP_E_VELOCITY, app_motion_start(&app, &m));
    little[1] = from[1] + 0.02f; /* needs 0.375 rad/s, limit 0.9, and 11.5 rad/s^2, limit 6 */
    m = motion_to(MOTION_QUINTIC, 0.1f, little);
    TEST_ASSERT_EQUAL(APP_E_ACCELERATION, app_motion_start(&app, &m));
    TEST_ASSERT_EQUAL_UINT32(1, app_where(&app));
    m.kind = MOTIONS;
    TEST_ASSERT_EQUAL(APP_E_KIND, app_motion_start(&app, &m));
    m = motion_to(MOTION_CYCLOID, NAN, to);
    TEST_ASSERT_EQUAL(APP_E_NUMBER, app_motion_start(&app, &m));
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
}

static void test_jog_ends_at_the_limit_and_without_repetition(void) {
    float speed[N] = {1.2f, 0, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_tool_speed, 0, 100));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(MOTION_JOG, 0, speed);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    tick(300);
    TEST_ASSERT_TRUE(status_now().moving);
    tick(700); /* times out after 0.5 s; braking from 1.2 rad/s at 6 rad/s^2 takes 0.2 s */
    TEST_ASSERT_FALSE(status_now().moving);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
    for (int k = 0; k < 20; k++) {
        TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
        tick(200);
    }
    const float end = status_now().q_ref[0];
    TEST_ASSERT_TRUE(end <= 2.7926f && end > 2.7f);
    speed[0] = 1.5f;
    const motion_t fast = motion_to(MOTION_JOG, 0, speed);
    TEST_ASSERT_EQUAL(APP_E_VELOCITY, app_motion_start(&app, &fast));
}

static void test_stop_brakes_within_the_limits(void) {
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(MOTION_CYCLOID, 1.5f, to);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    tick(750);
    TEST_ASSERT_EQUAL(APP_OK, app_stop(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_STOPPING, status_now().state);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
    const float before = status_now().q_ref[0];
    uint32_t ticks = 1;
    while (status_now().state == APP_STATE_STOPPING && ticks < 1000) {
        tick(1);
        ticks++;
    }
    /* The waist moves at 2 x 1 rad / 1.5 s = 1.33 rad/s and brakes at 6 rad/s^2, for 0.22 s and
     * 0.148 rad. The elbow brakes from 2 rad/s at 10 rad/s^2 for 0.2 s. */
    TEST_ASSERT_UINT32_WITHIN(4, 223, ticks);
    TEST_ASSERT_FLOAT_WITHIN(0.003f, 0.148f, status_now().q_ref[0] - before);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
    TEST_ASSERT_EQUAL_UINT8(0, out.enable);
}

/* ------------------------------------------------------------------------------- control points */

static void point_at(float part, float q[]) {
    for (uint32_t i = 0; i < N; i++)
        q[i] = from[i] + 0.2f * part * (to[i] - from[i]);
}

/* Starts slowly, so that the accelerations stay small. */
static float smooth(float u) {
    return u * u * (3 - 2 * u);
}

static void test_streamed_points(void) {
    enum { POINTS = 60 };
    float q[N];
    motion_t m = {.kind = MOTION_POINTS, .duration_s = 0.04f};
    uint32_t sent = 0, ended = 0;
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    tick(50);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state); /* the board waits for points */
    TEST_ASSERT_EQUAL_UINT32(APP_POINTS - 4, app_point_credits(&app));
    point_at(1, q);
    TEST_ASSERT_EQUAL(APP_E_START, app_point_push(&app, q));
    for (int k = 0; k < 3000 && !(ended && !status_now().moving); k++) {
        while (sent < POINTS && app_point_credits(&app) > 0) {
            point_at(smooth((float)sent++ / (POINTS - 1)), q);
            TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, q));
        }
        if (sent == POINTS && !ended++)
            TEST_ASSERT_EQUAL(APP_OK, app_points_end(&app));
        tick(1);
    }
    point_at(1, q);
    const app_status_t status = status_now();
    TEST_ASSERT_EQUAL_UINT32(0, status.underruns);
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_FLOAT_WITHIN(1e-6f, q[i], status.q_ref[i]);
        TEST_ASSERT_FLOAT_WITHIN(2e-4f, q[i], status.q[i]);
    }
}

static void test_points_that_do_not_come_stop_the_arm(void) {
    float q[N];
    motion_t m = {.kind = MOTION_POINTS, .duration_s = 0.04f};
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    const uint32_t points = app_point_credits(&app);
    for (uint32_t k = 0; k < points; k++) {
        point_at(smooth((float)k / 59), q);
        TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, q));
    }
    TEST_ASSERT_EQUAL(APP_E_ROOM, app_point_push(&app, q));
    tick(40 * points / 2);
    TEST_ASSERT_TRUE(status_now().moving);
    TEST_ASSERT_EQUAL_UINT32(0, status_now().underruns);
    tick(40 * points);
    TEST_ASSERT_FALSE(status_now().moving);
    TEST_ASSERT_EQUAL_UINT32(1, status_now().underruns);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, status_now().state);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_SETPOINT, status_now().fault);
    TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
    /* The limits of speed and acceleration are checked with the differences of the points. */
    m.duration_s = 0.004f;
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    tick(2);
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, from));
    point_at(0.1f, q);
    TEST_ASSERT_EQUAL(APP_E_VELOCITY, app_point_push(&app, q));
    point_at(0.01f, q); /* moves the waist by 0.002 rad in 4 ms from rest */
    TEST_ASSERT_EQUAL(APP_E_ACCELERATION, app_point_push(&app, q));
}

/* The end brakes the arm from its last step within one interval. If that exceeds the acceleration
 * limit, the end is refused, and further points can still brake the arm. */
static void test_points_that_end_too_fast(void) {
    float q[N];
    motion_t m = {.kind = MOTION_POINTS, .duration_s = 0.02f};
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, from));
    const float step = 0.9f * app.joint[0].acceleration * m.duration_s * m.duration_s;
    for (uint32_t i = 0; i < N; i++)
        q[i] = from[i];
    for (int k = 1; k <= 2; k++) { /* speeds up: one step, then two */
        q[0] += (float)k * step;
        TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, q));
    }
    const uint32_t credits = app_point_credits(&app);
    TEST_ASSERT_EQUAL(APP_E_ACCELERATION, app_points_end(&app));
    TEST_ASSERT_EQUAL_UINT32(0, app_where(&app));
    TEST_ASSERT_EQUAL_UINT32(credits, app_point_credits(&app));
    q[0] += step;
    TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, q));
    TEST_ASSERT_EQUAL(APP_OK, app_points_end(&app));
    tick(200); /* eight points: 5 intervals of 20 ms */
    TEST_ASSERT_FALSE(status_now().moving);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, q[0], status_now().q_ref[0]);
}

/* ------------------------------------------------------------------------------ guards, changes */

static void start_moving(void) {
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(MOTION_CYCLOID, 1.5f, to);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    tick(300);
    TEST_ASSERT_EQUAL_UINT8(1, out.enable);
}

static void test_overruns_stop_the_arm(void) {
    start_moving();
    in.overrun = 1;
    tick(1);
    in.overrun = 0;
    tick(1); /* a single overrun is only counted */
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
    in.overrun = 1;
    tick(2);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, status_now().state);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_OVERRUN, status_now().fault);
    TEST_ASSERT_EQUAL_UINT32(3, status_now().overruns);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_DAMP, status_now().stop); /* the windings are shorted */
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_EQUAL_INT32(0, out.duty_q15[i]);
    in.overrun = 0;
    in.latched = CAUSE_ESTOP;
    tick(5); /* the first fault stays */
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_OVERRUN, status_now().fault);
    const motion_t m = motion_to(MOTION_CYCLOID, 3, to);
    TEST_ASSERT_EQUAL(APP_E_STATE, app_motion_start(&app, &m));
    in.latched = 0;
    TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_DAMPING, status_now().state);
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
}

/* Loads the real arm, which stands still. */
static void load_real(void) {
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_arm, 0, ARM_REAL));
    in.counts_valid = (1u << N) - 1;
    in.supply_mV = SUPPLY_UNMEASURED;
    in.ready = 1;
    tick(2);
}

/* Every cause that the hardware latches releases the real arm, whether it moves or is idle, and
 * none does anything to the simulated arm. */
static void test_causes_of_the_hardware(void) {
    static const struct {
        uint8_t cause;
        uint32_t fault;
    } table[] = {
        {CAUSE_ESTOP, APP_FAULT_ESTOP},       {CAUSE_DRIVER, APP_FAULT_DRIVER},
        {CAUSE_TICK, APP_FAULT_TICK_STOPPED}, {CAUSE_CLOCK, APP_FAULT_CLOCK},
        {CAUSE_POWER, APP_FAULT_POWER},       {CAUSE_CLOCK | CAUSE_ESTOP, APP_FAULT_CLOCK}};
    const motion_t hold = {.kind = MOTION_HOLD};
    start_moving();
    in.latched = CAUSE_ESTOP;
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_NONE, status_now().fault);
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++) {
        in = (app_inputs_t){0};
        load_real();
        TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
        tick(1);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        in.latched = table[i].cause;
        tick(1);
        TEST_ASSERT_EQUAL_UINT32(table[i].fault, status_now().fault);
        TEST_ASSERT_EQUAL_UINT8(0, out.enable | out.brake_open);
        TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
        tick(1); /* the cause is still there */
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, status_now().state);
        TEST_ASSERT_EQUAL(APP_E_STATE, app_motion_start(&app, &hold));
        in.latched = 0;
        TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
        tick(5);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, status_now().state);
        TEST_ASSERT_EQUAL_UINT8(0, out.enable); /* nothing starts by itself */
        TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
        tick(1);
        TEST_ASSERT_EQUAL_UINT8(1, out.enable);
        TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
        tick(1);
    }
}

/* On a real arm the counts wrap after one turn, and an encoder may stop answering. */
static void test_encoders_of_the_hardware(void) {
    load_real();
    TEST_ASSERT_EQUAL_UINT8(1, out.hardware);
    for (int32_t k = 1; k <= 25; k++) { /* turns the shoulder forwards by 2,500 counts */
        in.counts[1] = (100 * k) % 1000;
        tick(1);
    }
    const float turn = 6.2831853f;
    TEST_ASSERT_FLOAT_WITHIN(1e-5f, 2.5f * turn / 107.815f, status_now().q[1]);
    for (int32_t k = 24; k >= -10; k--) {
        in.counts[1] = ((100 * k) % 1000 + 1000) % 1000;
        tick(1);
    }
    TEST_ASSERT_FLOAT_WITHIN(1e-5f, -1.0f * turn / 107.815f, status_now().q[1]);
    const motion_t hold = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
    in.counts_valid &= ~2u;
    tick(3);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, status_now().state);
    tick(5);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_ENCODER, status_now().fault);
}

/* With half the nominal supply the duty doubles. */
static void test_duty_follows_the_supply(void) {
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_arm, 0, ARM_REAL));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_feedforward, 0, FEEDFORWARD_GRAVITY));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_guard_supply_low, 0, 0.4f));
    const motion_t hold = {.kind = MOTION_HOLD};
    in.counts_valid = (1u << N) - 1;
    in.supply_mV = 40000;
    tick(2);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
    tick(3);
    const int32_t nominal = out.duty_q15[1];
    in.supply_mV = 20000;
    tick(1);
    TEST_ASSERT_TRUE(nominal > 300);
    TEST_ASSERT_INT32_WITHIN(2, 2 * nominal, out.duty_q15[1]);
}

static void test_without_motors_torques_are_the_output(void) {
    TEST_ASSERT_EQUAL(APP_OK, load(0));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
    const motion_t m = motion_to(MOTION_CYCLOID, 1.5f, to);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &m));
    const course_t c = follow();
    TEST_ASSERT_TRUE(c.rms < 1e-4);
    TEST_ASSERT_EQUAL_UINT32(1501, c.ticks);
}

/*
 * Differences of positions at 1 kHz have steps of 0.1 rad/s, because an encoder has 1,000 x 62.6
 * counts per turn of the joint. The observer is an alpha-beta filter with both poles at 50 Hz,
 * p = exp(-0.314): alpha = 1 - p^2 = 0.467 and beta = (1 - p)^2 = 0.0727. White noise of one count,
 * 1e-4 / sqrt(12) = 2.9e-5 rad RMS, reaches the speed with the gain
 * sqrt(2 beta^2 / (alpha (4 - 2 alpha - beta))) / h = 87/s, which gives 2.5e-3 rad/s. The test
 * allows twice that, because quantisation is not quite white.
 */
static void test_observer_is_quieter_than_differences(void) {
    const course_t c = run(FEEDBACK_PD, FEEDFORWARD_FULL, 1);
    harness_note_number("speed estimate, 1e-6 rad/s RMS", (int64_t)(c.speed_error * 1e6));
#if !defined __arm__ && !defined CONTROL_Q31
    printf("measured control.observer_rms %.4f\n", c.speed_error);
#endif
    TEST_ASSERT_TRUE(c.speed_error < 2 * 2.5e-3);
}

#ifndef __arm__
/* Statistics of the errors of the simulated encoders, in counts, while the brakes hold the arm. */
enum { NOISE = 7, NOISES = 2 * NOISE + 1, NOISE_TICKS = 2000 };
typedef struct {
    uint32_t seen[NOISES];
    double sum, squares, beside,
        after; /* products with the error of the previous joint; of the previous tick */
} noise_t;

static noise_t noise_of(const int32_t rest[N]) {
    noise_t s = {0};
    int32_t last[N] = {0};
    for (uint32_t k = 0; k < NOISE_TICKS; k++) {
        int32_t before = 0;
        tick(1);
        for (uint32_t i = 0; i < N; i++) {
            const int32_t e = app.loop.counts[i] - rest[i];
            TEST_ASSERT_TRUE_MESSAGE(e >= -NOISE && e <= NOISE, "beyond what was asked for");
            s.seen[e + NOISE]++;
            s.sum += e;
            s.squares += (double)e * e;
            s.beside += (double)e * before;
            s.after += (double)e * last[i];
            before = last[i] = e;
        }
    }
    return s;
}

/*
 * The noise must be uniform on -NOISE .. NOISE and independent for each joint and tick. M values
 * have the variance v = NOISE (NOISE + 1) / 3. Their sum has the deviation sqrt(M v), the sum of
 * products of two of them v sqrt(M). Chi square of NOISES cells has the mean NOISES - 1 and the
 * deviation sqrt(2 (NOISES - 1)). Each limit is five deviations. The generator starts with the same
 * state in every run, so the result is always the same.
 */
static void test_noise_is_as_large_as_asked_for_and_nothing_more(void) {
    const double M = (double)NOISE_TICKS * N, v = NOISE * (NOISE + 1) / 3.0;
    int32_t rest[N];
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_brakes, 0, 1));
    tick(1);
    memcpy(rest, app.loop.counts, sizeof rest);
    tick(100);
    TEST_ASSERT_EQUAL_MEMORY(rest, app.loop.counts, sizeof rest); /* there is no noise by default */
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_sim_noise, 0, NOISE));
    const noise_t s = noise_of(rest);
    double chi = 0;
    for (uint32_t k = 0; k < NOISES; k++)
        chi += pow(s.seen[k] - M / NOISES, 2) / (M / NOISES);
    TEST_ASSERT_TRUE_MESSAGE(chi < NOISES - 1 + 5 * sqrt(2.0 * (NOISES - 1)), "not uniform");
    TEST_ASSERT_TRUE_MESSAGE(fabs(s.sum) < 5 * sqrt(M * v), "its mean is not zero");
    TEST_ASSERT_TRUE_MESSAGE(fabs(s.beside) < 5 * v * sqrt(M), "joints depend on each other");
    TEST_ASSERT_TRUE_MESSAGE(fabs(s.after) < 5 * v * sqrt(M), "ticks depend on each other");
    /* Checks the mean of the squares; the fourth moment is v (3 NOISE^2 + 3 NOISE - 1) / 5. */
    const double fourth = v * (3.0 * NOISE * NOISE + 3.0 * NOISE - 1) / 5;
    TEST_ASSERT_TRUE(fabs(s.squares / M - v) < 5 * sqrt((fourth - v * v) / M));
}

/* The reference starts at the position of the encoders, which is off by the noise at most. From
 * then on the loop, critically damped at 5 Hz, is a low-pass filter and reduces the noise. The
 * guards take the noise into account and cause no fault. */
static void test_a_loop_with_noise_holds_the_arm(void) {
    const motion_t hold = {.kind = MOTION_HOLD};
    uint32_t samples = 0;
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_feedback, 0, FEEDBACK_PD));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_sim_noise, 0, NOISE));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_sample_every, 0, 1));
    tick(1);
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
    for (uint32_t k = 0; k < NOISE_TICKS; k++) {
        tick(1);
        TEST_ASSERT_EQUAL(APP_STATE_RUNNING, status_now().state);
        for (const sample_t *s; (s = app_sample_peek(&app)) != NULL; samples++) {
            for (uint32_t i = 0; i < N; i++) {
                const double off = field(s, SAMPLE_q_arm, i) - field(s, SAMPLE_q_ref, i);
                const double turn = (double)app.joint[i].counts * (double)app.joint[i].ratio;
                TEST_ASSERT_TRUE(fabs(off) * turn < 2 * NOISE * 6.283185307179586);
            }
            app_sample_release(&app);
        }
    }
    TEST_ASSERT_TRUE(samples >= NOISE_TICKS);
}
#endif

static void test_parameters_are_checked(void) {
    float value;
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_E_PARAMETER, app_set(&app, PARAMETERS, 0, 1));
    TEST_ASSERT_EQUAL(APP_E_PARAMETER, app_set(&app, PARAMETER_kp, N, 1));
    TEST_ASSERT_EQUAL(APP_E_PARAMETER, app_set(&app, PARAMETER_feedback, 1, 1));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_feedback, 0, 3));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_rate_hz, 0, 50));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_kp, 0, NAN));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_feedback, 0, 1.5f));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_arm, 0, 0.4f));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_rate_hz, 0, 150.7f));
    TEST_ASSERT_EQUAL(APP_E_RANGE, app_set(&app, PARAMETER_home, 0, -0.5f));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_guard_speed, 0, 1.5f));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_kp, 2, 123));
    TEST_ASSERT_EQUAL(APP_OK, app_get(&app, PARAMETER_kp, 2, &value));
    TEST_ASSERT_EQUAL_FLOAT(123, value);
    TEST_ASSERT_EQUAL(APP_OK, app_get(&app, PARAMETER_kp, 1, &value));
    TEST_ASSERT_EQUAL_FLOAT(control_arm_kp[1], value);
    start_moving();
    TEST_ASSERT_EQUAL(APP_E_STATE, app_set(&app, PARAMETER_rate_hz, 0, 500));
    TEST_ASSERT_EQUAL(APP_E_STATE, app_place(&app, from));
}

#ifndef __arm__
/* A tick takes 1,000 steps of the counter. BUDGET allows 1,800 ticks per second at two million
 * steps per second, and 900 at one million. */
static void test_rate_above_the_budget_is_refused(void) {
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    app_init(&app);
    clock_step = 1000;
    clock_hz = 2000000;
    TEST_ASSERT_EQUAL(APP_OK, app_load(&app, image, size));
    TEST_ASSERT_EQUAL_UINT32(1000, status_now().tick_steps);
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_rate_hz, 0, 1790));
    TEST_ASSERT_EQUAL(APP_E_RATE, app_set(&app, PARAMETER_rate_hz, 0, 1810));
    TEST_ASSERT_EQUAL_UINT32(1790, status_now().rate_hz);
    clock_hz = 1000000;
    app_init(&app);
    TEST_ASSERT_EQUAL(APP_E_RATE, app_load(&app, image, size));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_UNCONFIGURED, status_now().state);
    clock_step = clock_hz = 0;
}

/* A payload of 1 kg on the end effector changes the torques between two ticks by its weight. */
static void test_payload_changes_between_two_ticks(void) {
    if (strcmp(app_real_name(), "f32") != 0)
        TEST_IGNORE_MESSAGE("fixed point is proved for the payload of the image");
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    static const float level[N] = {0, 0, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, level));
    const motion_t hold = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &hold));
    tick(2);
    const float before = (float)app.loop.tau_model[1];
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_payload_mass, 0, 1));
    TEST_ASSERT_EQUAL_FLOAT(before, (float)app.loop.tau_model[1]);
    tick(1);
    /* At zero the forearm points up, so the flange is 0.4318 + 0.0203 m in front of the
     * shoulder. */
    TEST_ASSERT_FLOAT_WITHIN(1e-3f, 9.81f * (0.4318f + 0.0203f),
                             (float)app.loop.tau_model[1] - before);
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_payload_mass, 0, 0));
    tick(17); /* a closed loop takes over a change at most every 16 ticks */
    TEST_ASSERT_FLOAT_WITHIN(1e-4f, before, (float)app.loop.tau_model[1]);
}

#ifdef TEST_LONG
enum { RANDOM_S = 3600 };
#else
enum { RANDOM_S = 20 };
#endif

static uint64_t chance = 1;
static float between(float low, float high) {
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (float)((double)(chance >> 11) / 9007199254740992.0);
}

/* Changes one error of the simulated arm: masses differ by up to 10 % or friction by up to 30 %
 * from the model, or the encoders have up to two counts of noise. */
static void disturb(void) {
    static const struct {
        uint32_t parameter;
        float low, high;
    } row[] = {{PARAMETER_sim_mass, 0.9f, 1.1f},
               {PARAMETER_sim_friction, 0.7f, 1.3f},
               {PARAMETER_sim_noise, 0, 3}}; /* an integer below 3 */
    const uint32_t k = (uint32_t)between(0, 3);
    const float value = between(row[k].low, row[k].high);
    TEST_ASSERT_EQUAL(APP_OK,
                      app_set(&app, row[k].parameter, 0,
                              parameter_table[row[k].parameter].whole ? floorf(value) : value));
}

/* Random motions at all limits, some of them stopped, cause no fault. */
static void test_random_motions_are_no_fault(void) {
    static const uint32_t kind[] = {MOTION_QUINTIC, MOTION_CYCLOID, MOTION_TRAPEZOID, MOTION_JOG};
    if (!strcmp(app_real_name(), "q31"))
        TEST_IGNORE_MESSAGE("the simulated arm is not proved in fixed point; test_soak.py runs it");
    TEST_ASSERT_EQUAL(APP_OK, load(1));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_tool_speed, 0, 100));
    tick(1);
    for (uint32_t t = 0; t < RANDOM_S * 1000u; t++) {
        tick(1);
        app.tail = app.head;
        TEST_ASSERT_EQUAL_STRING("none", app_fault_name(app.safety.fault));
        const bool free =
            app.safety.state == APP_STATE_IDLE || app.safety.state == APP_STATE_RUNNING;
        if (!free || app.motion.kind != MOTION_HOLD) {
            if (between(0, 1) < 0.0005f)
                TEST_ASSERT_EQUAL(APP_OK, app_stop(&app));
            continue;
        }
        if (between(0, 1) < 0.3f)
            disturb();
        motion_t motion = {.kind = kind[(uint32_t)between(0, 4)]};
        for (uint32_t i = 0; i < N; i++) {
            const float fast = 0.9f * app.joint[i].velocity, *limit = app.joint[i].position;
            motion.value[i] =
                motion.kind == MOTION_JOG ? between(-fast, fast) : between(limit[0], limit[1]);
        }
        TEST_ASSERT_EQUAL(APP_OK, app_motion_start(&app, &motion));
    }
}
#endif

TEST_LIST_BEGIN
TEST(test_feedforward_pays)
TEST(test_every_machine_has_the_same_bits)
TEST(test_quintic)
TEST(test_cycloid)
TEST(test_trapezoid)
TEST(test_motions_beyond_the_limits_are_refused)
TEST(test_jog_ends_at_the_limit_and_without_repetition)
TEST(test_stop_brakes_within_the_limits)
TEST(test_streamed_points)
TEST(test_points_that_do_not_come_stop_the_arm)
TEST(test_points_that_end_too_fast)
TEST(test_overruns_stop_the_arm)
TEST(test_causes_of_the_hardware)
TEST(test_encoders_of_the_hardware)
TEST(test_duty_follows_the_supply)
TEST(test_without_motors_torques_are_the_output)
TEST(test_observer_is_quieter_than_differences)
TEST(test_parameters_are_checked)
#ifdef __arm__
TEST(test_stages_take_constant_time)
#else
TEST(test_noise_is_as_large_as_asked_for_and_nothing_more)
TEST(test_a_loop_with_noise_holds_the_arm)
TEST(test_random_motions_are_no_fault)
TEST(test_rate_above_the_budget_is_refused)
TEST(test_payload_changes_between_two_ticks)
#endif
TEST_LIST_END

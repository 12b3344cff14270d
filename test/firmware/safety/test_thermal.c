/*
 * Tests the thermal guard on the PUMA 560: when it trips, against the closed form of the model; that
 * it starts hot, and that neither faults, motions nor parameters cool a motor; the stop that
 * follows; and the largest gains.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "firmware/app/setup.h"
#include "firmware/control/number.h"
#include "firmware/params/bytes.h"
#include "firmware/safety/stop.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <string.h>

enum { N = CONTROL_ARM_JOINTS, RATE = 1000 };
static const float pose[N] = {0, 1, -2.3f, 0, 0, 0};

static app_t app;
static app_outputs_t out;
static uint32_t told; /* the joint about which the image says something, and which gives torque */

static int load_with(const float *thermal, float torque) {
    static image_t image;
    static _Alignas(4) uint8_t bytes[CONTROL_ARM_ROOM];
    static uint8_t section[N * IMAGE_THERMAL_SIZE];
    size_t size;
    const uint8_t *made = control_arm_image(&size, 1);
    TEST_ASSERT_NOT_NULL(made);
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(made, size, &image, NULL));
    memset(section, 0, sizeof section);
    if (thermal) {
        put_f32(put_f32(section + told * IMAGE_THERMAL_SIZE, thermal[0]), thermal[1]);
        image.section[IMAGE_SECTION_THRM] = (image_section_t){section, sizeof section};
    }
    if (torque >= 0)
        image.joint[told].torque[0] = torque;
    TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
    return app_load(&app, bytes, size);
}

static void start_with(const float *thermal) {
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with(thermal, -1));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_place(&app, pose));
}

static void set(uint32_t parameter, float value) {
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, parameter, 0, value));
}

static void tick(uint32_t ticks) {
    static const app_inputs_t in = {
        .counts_valid = UINT32_MAX, .supply_mV = SUPPLY_UNMEASURED, .ready = 1};
    for (uint32_t t = 0; t < ticks; t++) {
        app_tick(&app, &in, &out);
        app.tail = app.head;
    }
}

static void hold(void) {
    const motion_t m = {.kind = MOTION_HOLD};
    TEST_ASSERT_EQUAL_INT(APP_OK, app_motion_start(&app, &m));
    tick(1);
}

static const control_t *control(void) {
    return &app.control[app.now];
}

/* Gives joint `told` this part of its limit until it trips; returns the seconds, or 0 after `most`.
 * While nothing is found, no joint and no number is. */
static double trips_after(double part, double most) {
    real factor;
    memset(app.loop.tau, 0, sizeof app.loop.tau);
    (void)real_from_model(part, 0, &factor);
    app.loop.tau[told] = real_mul(factor, control()->joint[told].tau_max);
    for (uint32_t t = 1; t <= most * RATE; t++) {
        const finding_t f = thermal_guard(control(), &app.safety.thermal, &app.loop);
        if (f.fault == APP_FAULT_NONE) {
            if (f.joint != APP_NO_JOINT || f.value != 0 || f.limit != 0)
                TEST_FAIL_MESSAGE("no fault, but a number");
            continue;
        }
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_THERMAL, f.fault);
        TEST_ASSERT_EQUAL_UINT32(told, f.joint);
        TEST_ASSERT_TRUE(f.limit == control()->joint[told].lasting);
        /* RMS torque of the window; a square in fixed point has 28 bits, less 8 */
        TEST_ASSERT_FLOAT_WITHIN(1e-5f, (float)part,
                                 (float)f.value / (float)control()->joint[told].tau_max);
        return (double)t / RATE;
    }
    return 0;
}

static void cool_down(void) {
    memset(&app.safety.thermal, 0, sizeof app.safety.thermal);
}

void setUp(void) {
    told = 0;
}

static bool fixed(void) {
    return !strcmp(app_real_name(), "q31");
}

/*
 * h(t) = x^2 + (h0 - x^2) exp(-t / T) reaches f^2 after T ln((x^2 - h0) / (x^2 - f^2)). The guard
 * trips a thousandth of f^2 later, that is after another T f^2 / 1024 / (x^2 - f^2), and up to two
 * windows later: it looks once in a window, and the first one has begun without torque. The time in
 * the image is rounded down to 1/64 s, x to 28 bits.
 */
static void trips_near(double T, double x2, double h0, double f2) {
    const double expected = T * log((x2 - h0) / (x2 - f2));
    const double late = T * f2 / 1024 / (x2 - f2) + 2.0 * THERMAL_WINDOW / RATE;
    const double found = trips_after(sqrt(x2), 2 * expected + 1);
    harness_note_number("trips after ms", (uint32_t)(found * 1000));
    TEST_ASSERT_TRUE(found > expected - 1.0 / 64);
    TEST_ASSERT_TRUE(found < expected + late);
}

static void test_trips_when_the_model_does(void) {
    static const struct {
        float continuous, time;
        double x;
    } row[] = {{0.8f, 30, 1},   {0.8f, 30, 0.9}, {0.5f, 10, 1},
               {0.3f, 60, 0.6}, {0.2f, 30, 1},   {0.8f, 1.0f / 64, 1}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        told =
            fixed() ? 0 : (uint32_t)r % N; /* in fixed point some limits are those of the format */
        start_with(NULL);
        const float limit = app.joint[told].torque;
        const double f2 = (double)row[r].continuous * (double)row[r].continuous,
                     x2 = row[r].x * row[r].x;
        const double T = (double)row[r].time / -log(1 - f2);
        start_with((const float[]){row[r].continuous * limit, row[r].time});
        cool_down();
        trips_near(T, x2, 0, f2);
    }
}

/* Nothing is said: 0.8 of the limit for ever, the limit for 30 s. */
static void test_default(void) {
    start_with(NULL);
    cool_down();
    TEST_ASSERT_DOUBLE_WITHIN(0.15, 30, trips_after(1, 60));
    cool_down();
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(0.8, 600));
}

/* The part of a window, with 31 fractional bits: 1 - exp(-32 ticks / T), or 32 / f^2 where that is
 * more. The part is cut to an integer, and exp here and there may differ in its last bit: 1. */
static void test_part_of_a_window(void) {
    static const struct {
        float continuous, time;
        bool least;
    } row[] = {{1, 1, 0}, {0.8f, 30, 0}, {0.2f, 1, 0}, {0.07f, 30, 0}, {0.05f, 30, 1}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        start_with((const float[]){row[r].continuous * 97.6f, row[r].time});
        const double f = app.joint[0].lasting / 65535.0, f2 = fmin(f * f, 0.99);
        const double part = 1 - exp(log(1 - f2) * 32 / RATE / (double)row[r].time);
        TEST_ASSERT_INT32_WITHIN(1, (int32_t)(row[r].least ? 32 / f2 : part * 0x1p31),
                                 control()->joint[0].cool);
        TEST_ASSERT_EQUAL_INT32(0, control()->joint[N].cool);
        TEST_ASSERT_TRUE(control()->joint[N].lasting == 0);
    }
}

/* A motor that can give its limit for ever cools as one that can give the root of 0.99 of it. */
static void test_limit_for_ever(void) {
    start_with((const float[]){97.6f, 30});
    app.safety.thermal.heat[0] = 1u << 29;
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(0, 30 / log(100)));
    /* a window of 6.5 s, and the steps of the windows */
    TEST_ASSERT_DOUBLE_WITHIN(5e-3, exp(-1), app.safety.thermal.heat[0] / 536870912.0);
    /* its heat follows within one window where 1/64 s are less than that */
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with((const float[]){97.6f, 1.0f / 64}, -1));
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kp, i, 1));
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kd, i, 0.1f));
    }
    set(PARAMETER_rate_hz, 100);
    tick(1);
    cool_down();
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(1, 1));
    TEST_ASSERT_DOUBLE_WITHIN(1e-5, 1, app.safety.thermal.heat[0] / 1073741824.0);
}

/* A tenth more torque than for ever, 1.21 of its heat, trips, however little torque that is: rounding
 * may hide 1/32 of the heat, not more. The last fraction is the least that the settings hold. */
static void test_almost_nothing_for_ever(void) {
    static const struct {
        float part, time;
        double x;
    } row[] = {{0.05f, 1000, 0.055}, {0.02f, 1000, 0.022}, {0.01f, 1000, 0.011},
               {1e-8f, 1000, 0.01},  {1e-8f, 0, 0.01},     {1e-8f, 1.0f / 64, 0.01}};
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        start_with((const float[]){row[r].part * 97.6f, row[r].time});
        TEST_ASSERT_TRUE(app_heat(&app, 0) <= 100);
        thermal_start(control(), &app.safety.thermal);
        app.safety.thermal.tick = 1; /* joint 0 has its turn after a whole window */
        TEST_ASSERT_TRUE(trips_after(row[r].x, 1500) > 0);
    }
}

/* A window moves the heat by the part a = 32 ticks / T of the way, rounded to the nearest: not at
 * all from less than half of 1 / a away, and by one from more. T is 29.363 s, 1 / a is 917.6. */
static void test_rounding_of_a_window(void) {
    static const struct {
        double away; /* of 1 / a */
        int32_t step;
    } row[] = {{0.4, 0}, {0.6, -1}, {-0.4, 0}, {-0.6, 1}, {1.4, -1}, {-1.4, 1}};
    if (fixed())
        TEST_IGNORE_MESSAGE("a square is rounded to more than that");
    start_with(NULL);
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        cool_down();
        (void)trips_after(0.5, 33.0 / RATE); /* up to joint 0 of the second window */
        const uint32_t before = (uint32_t)((1 << 28) + row[r].away * 917.6);
        app.safety.thermal.heat[0] = before;
        (void)trips_after(0.5, 32.0 / RATE);
        TEST_ASSERT_EQUAL_INT32(row[r].step, (int32_t)(app.safety.thermal.heat[0] - before));
    }
}

/* The heat trips that is more than f^2, a thousandth of it and one. The torque of that heat keeps it
 * where it is: 0.4 of 1 / a, 367, is more than what floats round, 64 of 2^30. */
static void test_heat_that_trips(void) {
    if (fixed())
        TEST_IGNORE_MESSAGE("a square is rounded to more than that");
    start_with(NULL);
    const control_joint_t *j = &control()->joint[0];
    const uint32_t hot =
        (uint32_t)gain_whole(j->warm, real_square(j->lasting) * (real)THERMAL_WINDOW);
    const uint32_t trips = hot + hot / 1024 + 1;
    const double x = sqrt(trips / 1073741824.0);
    for (uint32_t more = 0; more < 2; more++) {
        cool_down();
        (void)trips_after(x, 33.0 / RATE);
        app.safety.thermal.heat[0] = trips + more;
        TEST_ASSERT_EQUAL(more > 0, trips_after(x, 32.0 / RATE) > 0);
        TEST_ASSERT_EQUAL_UINT32(trips + more, app.safety.thermal.heat[0]);
    }
}

/* No tick updates more than one joint, and in a window each joint of the arm is updated once. */
static void test_joints_take_turns(void) {
    start_with(NULL);
    cool_down();
    memset(app.loop.tau, 0, sizeof app.loop.tau);
    app.loop.tau[N] = control()->joint[0].tau_max;
    for (uint32_t i = 0; i <= N; i++)
        app.safety.thermal.heat[i] = 1u << 29;
    for (uint32_t t = 0; t < THERMAL_WINDOW; t++) {
        (void)thermal_guard(control(), &app.safety.thermal, &app.loop);
        for (uint32_t i = 0; i <= N; i++)
            TEST_ASSERT_EQUAL(i <= t && i < N, app.safety.thermal.heat[i] < 1u << 29);
    }
    TEST_ASSERT_TRUE(app.safety.thermal.power[N] == 0);
}

/* After a reset the limit is allowed for a tenth of the time, and the lasting torque for ever. */
static void test_starts_hot(void) {
    static const float thermal[][2] = {{0.8f * 97.6f, 30}, {0.3f * 97.6f, 60}, {97.6f, 30}};
    for (int k = 0; k < 3; k++) {
        const double f = k == 0 ? (double)0.8f : (double)0.3f;
        start_with(thermal[k]);
        TEST_ASSERT_EQUAL_UINT32(96, app_heat(&app, 0)); /* 31/32, rounded down */
        thermal_start(control(), &app.safety.thermal);
        TEST_ASSERT_EQUAL_UINT32(96, app_heat(&app, 0));
        TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(k < 2 ? f : 1, 300));
        cool_down();
        thermal_start(control(), &app.safety.thermal);
        if (k < 2) {
            const double f2 = f * f, T = (double)thermal[k][1] / -log(1 - f2);
            trips_near(T, 1, f2 * 31 / 32, f2);
            cool_down();
            thermal_start(control(), &app.safety.thermal);
            TEST_ASSERT_TRUE(trips_after(1, 60) < (double)thermal[k][1] / 10);
        }
    }
}

/* It starts hot once for a robot; then only time and torque change the heat. */
static void test_starts_once(void) {
    start_with(NULL);
    app.safety.thermal.started = 1;
    thermal_start(control(), &app.safety.thermal);
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_EQUAL_UINT32(0, app.safety.thermal.heat[i]);
    app.safety.thermal.started = 0;
    thermal_start(control(), &app.safety.thermal);
    /* 31/32 of what trips, f^2 and a thousandth of it; floats round f, its square and two gains */
    const double f2 = (double)0.8f * (double)0.8f, trips = f2 * 1073741824 * 1025 / 1024;
    for (uint32_t i = 0; i < N; i++) {
        TEST_ASSERT_EQUAL_UINT32(96, app_heat(&app, i));
        if (!fixed())
            TEST_ASSERT_DOUBLE_WITHIN(trips * 4e-7, trips * 31 / 32, app.safety.thermal.heat[i]);
    }
    start_with(NULL);
    hold();
    const uint32_t hot = app.safety.thermal.heat[0];
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(RATE);
    TEST_ASSERT_TRUE(app.safety.thermal.heat[0] < hot);
    hold();
    TEST_ASSERT_TRUE(app.safety.thermal.heat[0] < hot);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with(NULL, -1));
    hold();
    /* a window more or less: 32 ms of 29 s */
    TEST_ASSERT_UINT32_WITHIN(hot / 900, hot, app.safety.thermal.heat[0]);
}

/* Each of these requests runs the stages once, to measure their time. The torques of that are given to
 * nobody, and those of another robot are not this one's. */
static void test_requests_neither_warm_nor_cool(void) {
    start_with(NULL);
    hold();
    tick(5);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    const thermal_t before = app.safety.thermal;
    TEST_ASSERT_TRUE(before.power[0] != 0 || before.power[1] != 0);
    for (uint32_t k = 0; k < 2 * THERMAL_WINDOW; k++)
        set(PARAMETER_rate_hz, k % 2 ? RATE : RATE / 2);
    TEST_ASSERT_EQUAL_MEMORY(&before, &app.safety.thermal, sizeof before);
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with(NULL, -1));
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_TRUE(app.safety.thermal.power[i] == 0);
    TEST_ASSERT_EQUAL_MEMORY(before.heat, app.safety.thermal.heat, sizeof before.heat);
}

/* Makes joint 0 too hot in a closed loop. */
static void overheat(void) {
    app.safety.thermal.heat[0] = 1u << 30;
    tick(THERMAL_WINDOW);
    TEST_ASSERT_EQUAL_STRING("thermal", app_fault_name(app.safety.fault));
}

/* The arm is held, however long the motor stays hot. A motion after `clear` trips again. */
static void test_nothing_cools_but_time(void) {
    start_with(NULL);
    set(PARAMETER_brakes, 0);
    hold();
    overheat();
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
    tick(2 * RATE);
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
    const uint32_t before = app.safety.thermal.heat[0];
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_UINT32(before, app.safety.thermal.heat[0]);
    tick(THERMAL_WINDOW);
    TEST_ASSERT_EQUAL_STRING("thermal", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_clear(&app));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_off(&app));
    tick(1);
    const uint32_t heat = app.safety.thermal.heat[0];
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with(NULL, -1));
    set(PARAMETER_limits_scale, 0.5f);
    set(PARAMETER_limits_scale, 1);
    set(PARAMETER_hold_fraction, 1);
    set(PARAMETER_hold_fraction, 0.8f);
    set(PARAMETER_rate_hz, 500);
    set(PARAMETER_rate_hz, 1000);
    TEST_ASSERT_TRUE(app.safety.thermal.heat[0] >= heat);
    /* Half of the limit is no more heat if limits_scale makes it the limit. */
    set(PARAMETER_limits_scale, 0.5f);
    tick(1);
    cool_down();
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(1, 60));
    /* Off, it cools with T = 29.36 s. */
    app.safety.thermal.heat[0] = 1u << 29;
    tick(29363);
    TEST_ASSERT_DOUBLE_WITHIN(2e-3, exp(-1), app.safety.thermal.heat[0] / 536870912.0);
}

/* Gravity at the shoulder takes more than its motor can give for ever: it is lowered. A damped arm
 * does not cool. */
static void test_lowers_what_cannot_be_held(void) {
    start_with(NULL);
    set(PARAMETER_brakes, 0);
    set(PARAMETER_hold_fraction, 0.05f);
    hold();
    app.safety.thermal.heat[1] = 1u << 30;
    tick(THERMAL_WINDOW);
    TEST_ASSERT_EQUAL_STRING("thermal", app_fault_name(app.safety.fault));
    TEST_ASSERT_EQUAL_UINT32(APP_STOP_LOWER, app.safety.stop);
    app.safety.stop = APP_STOP_DAMP;
    const uint32_t heat = app.safety.thermal.heat[1];
    tick(10 * THERMAL_WINDOW);
    TEST_ASSERT_EQUAL_UINT32(heat, app.safety.thermal.heat[1]);
}

/* One fact: a stop holds what the motor can give for ever; limits_scale lowers that, too. */
static void test_hold_uses_the_lasting_torque(void) {
    start_with(NULL);
    TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT,
                             stop_weak(control(), &app.memory.scratch, app.loop.q, true));
    const float gravity = fabsf(
        (float)real_to_model(app.memory.scratch.tau[1], app_exponent(&app, QUANTITY_TORQUE, 1)));
    static const struct {
        float part, scale;
        uint32_t weak;
    } row[] = {
        {1.01f, 1, APP_NO_JOINT}, {0.99f, 1, 1}, {1.4f, 0.7f, 1}, {1.5f, 0.7f, APP_NO_JOINT}};
    told = 1;
    for (size_t r = 0; r < sizeof row / sizeof row[0]; r++) {
        start_with((const float[]){row[r].part * gravity, 30});
        set(PARAMETER_limits_scale, row[r].scale);
        tick(1);
        TEST_ASSERT_EQUAL_UINT32(row[r].weak,
                                 stop_weak(control(), &app.memory.scratch, app.loop.q, true));
        TEST_ASSERT_EQUAL_UINT32(APP_NO_JOINT,
                                 stop_weak(control(), &app.memory.scratch, app.loop.q, false));
    }
}

/* The robot before had a limit. Without one a stop takes the motor for strong enough. */
static void test_no_torque_limit_no_guard(void) {
    start_with(NULL);
    tick(1);
    for (int k = 0; k < 2; k++)
        TEST_ASSERT_EQUAL_INT(APP_OK, load_with(NULL, 0));
    TEST_ASSERT_EQUAL_UINT32(255, app_heat(&app, 0)); /* as STATUS carries it */
    TEST_ASSERT_TRUE(control()->joint[0].lasting == control()->joint[0].tau_max);
    app.safety.thermal.heat[0] = UINT32_MAX;
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(0, 1));
    cool_down();
    TEST_ASSERT_TRUE(app_heat(&app, 1) < 100);
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(0.9, 60));
    app.safety.thermal.started = 0;
    thermal_start(&app.control[app.now], &app.safety.thermal);
    TEST_ASSERT_EQUAL_UINT32(0, app.safety.thermal.heat[0]);
    TEST_ASSERT_TRUE(app.safety.thermal.heat[1] > 0);
    app.safety.thermal.heat[1] = UINT32_MAX;
    TEST_ASSERT_EQUAL_UINT32(THERMAL_NONE - 1, app_heat(&app, 1));
    app.safety.thermal.heat[1] = (uint32_t)(2.555 * 0.64 * 1025 / 1024 * 1073741824); /* 255 % */
    TEST_ASSERT_EQUAL_UINT32(THERMAL_NONE - 1, app_heat(&app, 1));
}

/* A small motor heats and cools as a large one does. */
static void test_small_torque_limit(void) {
    app_init(&app);
    told = N - 1;
    TEST_ASSERT_EQUAL_INT(APP_OK, load_with(NULL, 0.5f));
    cool_down();
    TEST_ASSERT_DOUBLE_WITHIN(0.15, 30, trips_after(1, 60));
    const uint32_t hot = app.safety.thermal.heat[told];
    TEST_ASSERT_EQUAL_DOUBLE(0, trips_after(0, 29.363));
    TEST_ASSERT_DOUBLE_WITHIN(4e-3, exp(-1), app.safety.thermal.heat[told] / (double)hot);
}

/* Nobody knows how hot a motor is after a reset, but one that is known to be hotter stays so. */
static void test_start_does_not_cool(void) {
    start_with(NULL);
    app.safety.thermal.heat[1] = UINT32_MAX;
    app.safety.thermal.started = 0;
    thermal_start(&app.control[app.now], &app.safety.thermal);
    TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, app.safety.thermal.heat[1]);
}

/* The inertia of a joint is at least that of its rotor and at most that of the stretched arm. Gains
 * up to the bound are accepted, larger and negative ones refused. */
static void test_largest_gains(void) {
    static const float rotor[N] = {0.784f, 2.325f, 0.577f, 0.191f, 0.171f, 0.194f};
    start_with(NULL);
    for (uint32_t i = 0; i < N; i++) {
        const gains_t most = setup_gains_most(&app, i, RATE);
        harness_note_number("largest kd", (uint32_t)most.kd);
        TEST_ASSERT_TRUE(most.kd > 2 * RATE * rotor[i] && most.kd < 2 * RATE * 40);
        TEST_ASSERT_FLOAT_WITHIN(most.kp * 1e-5f, 2 * RATE * most.kd, most.kp);
        TEST_ASSERT_EQUAL_INT(APP_E_GAIN, app_set(&app, PARAMETER_kd, i, most.kd * 1.001f));
        TEST_ASSERT_EQUAL_UINT32(i, app_where(&app));
        TEST_ASSERT_EQUAL_INT(APP_E_GAIN, app_set(&app, PARAMETER_kp, i, most.kp * 1.001f));
        TEST_ASSERT_EQUAL_INT(APP_E_RANGE, app_set(&app, PARAMETER_kp, i, -1));
        TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_kp, i, most.kp * 0.1f));
    }
    TEST_ASSERT_EQUAL_INT(APP_E_GAIN, app_set(&app, PARAMETER_rate_hz, 0, 100));
    TEST_ASSERT_EQUAL_UINT32(0, app_where(&app));
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_rate_hz, 0, 900));
}

/* The same bound for a robot image. */
static void test_image_with_impossible_gains(void) {
    static image_t image;
    static _Alignas(4) uint8_t bytes[CONTROL_ARM_ROOM];
    static const float factor[][2] = {{1e6f, 1}, {1, 1e4f}, {1, 1}};
    for (int k = 0; k < 3; k++) {
        size_t size;
        const uint8_t *made = control_arm_image(&size, 1);
        TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_read(made, size, &image, NULL));
        image.joint[3].kp[0] *= factor[k][0];
        image.joint[3].kd[0] *= factor[k][1];
        TEST_ASSERT_EQUAL_INT(IMAGE_OK, image_write(&image, bytes, sizeof bytes, &size, NULL));
        app_init(&app);
        TEST_ASSERT_EQUAL_INT(k < 2 ? APP_E_GAIN : APP_OK, app_load(&app, bytes, size));
        if (k < 2) {
            TEST_ASSERT_EQUAL_UINT32(3, app_where(&app));
        }
    }
}

TEST_LIST_BEGIN
TEST(test_starts_once)
TEST(test_requests_neither_warm_nor_cool)
TEST(test_heat_that_trips)
TEST(test_trips_when_the_model_does)
TEST(test_default)
TEST(test_part_of_a_window)
TEST(test_limit_for_ever)
TEST(test_almost_nothing_for_ever)
TEST(test_rounding_of_a_window)
TEST(test_joints_take_turns)
TEST(test_starts_hot)
TEST(test_nothing_cools_but_time)
TEST(test_lowers_what_cannot_be_held)
TEST(test_hold_uses_the_lasting_torque)
TEST(test_no_torque_limit_no_guard)
TEST(test_small_torque_limit)
TEST(test_start_does_not_cool)
TEST(test_largest_gains)
TEST(test_image_with_impossible_gains)
TEST_LIST_END

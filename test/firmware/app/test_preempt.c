/*
 * Runs the tick like an interrupt between any two basic blocks of the background. The core is
 * compiled with -fsanitize-coverage (test/list.mk), which calls a function in every block. Random
 * numbers, the same in every run, decide when the tick runs.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef TEST_LONG
enum { N = CONTROL_ARM_JOINTS, REQUESTS = 3000, RUNS = 200 };
#else
enum { N = CONTROL_ARM_JOINTS, REQUESTS = 3000, RUNS = 10 };
#endif

static app_t app;
static app_outputs_t out;
static const uint8_t *image;
static size_t image_size;

static uint64_t dice;
static uint32_t draw(uint32_t below) {
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(dice >> 33) % below;
}

static float between(float low, float high) {
    return low + (high - low) * (float)draw(10001) / 10000;
}

/* -------------------------------------------------------------------------------- the interrupt */

static struct {
    bool on, inside;
    uint32_t left, spread; /* blocks until the next tick; largest value of left */
    uint32_t ticks, preempting;
    bool clearing; /* the background is about to clear a fault */
    const char *broken;
    uint32_t fault, joint; /* the latched fault */
    uint32_t closed;       /* number of successive ticks with the loop closed */
    double before[N];      /* reference of the previous tick */
    double jump;           /* largest step of the reference relative to a step at full speed */
} irq;

static double si(uint32_t quantity, uint32_t joint, const void *value) {
    const int exponent = app_exponent(&app, quantity, joint);
    if (!strcmp(app_real_name(), "q31")) {
        int32_t word;
        memcpy(&word, value, sizeof word);
        return ldexp((double)word, exponent - 28);
    }
    float single;
    memcpy(&single, value, sizeof single);
    return (double)single;
}

static void expect(bool true_now, const char *what) {
    if (!true_now && !irq.broken)
        irq.broken = what;
}

static void check_reference(void) {
    static const float fastest[N] = {1.4f, 0.9f, 2.1f, 3.9f,
                                     4.2f, 3.9f}; /* the limits in test/support/control_arm.c */
    const bool closed =
        app.safety.state == APP_STATE_RUNNING || app.safety.state == APP_STATE_STOPPING;
    irq.closed = closed ? irq.closed + 1 : 0;
    for (uint32_t i = 0; i < N; i++) {
        const double now = si(QUANTITY_POSITION, i, &app.loop.q_ref[i]);
        if (irq.closed > 1)
            irq.jump = fmax(irq.jump, fabs(now - irq.before[i]) * 1000 / (double)fastest[i]);
        irq.before[i] = now;
    }
}

static void tick(void) {
    static const app_inputs_t in;
    irq.inside = true;
    out = (app_outputs_t){0};
    app_tick(&app, &in, &out);
    irq.ticks++;
    const bool failed = app.safety.state == APP_STATE_FAULT;
    if (!irq.clearing && !app.detached) {
        expect(failed == (app.safety.fault != APP_FAULT_NONE), "a fault is latched, or it is not");
        expect(irq.fault == APP_FAULT_NONE ||
                   (app.safety.fault == irq.fault && app.safety.fault_joint == irq.joint),
               "the first fault stays");
        irq.fault = app.safety.fault;
        irq.joint = app.safety.fault_joint;
    }
    expect(!out.enable ||
               (app.safety.state != APP_STATE_UNCONFIGURED && app.safety.state != APP_STATE_IDLE),
           "outputs are on at rest");
    expect(!out.enable || !failed || app.safety.stop < APP_STOP_RELEASE,
           "outputs are on, released");
    for (uint32_t i = 0; i < N; i++)
        expect(out.duty_q15[i] >= -32768 && out.duty_q15[i] <= 32768, "a duty is above one");
    if (app.loaded && !app.detached)
        check_reference();
    irq.inside = false;
}

/* The compiler calls this in every block of the core; the function itself is not instrumented. */
#ifdef __clang__
#define NOT_TRACED __attribute__((no_sanitize("coverage")))
#else
#define NOT_TRACED __attribute__((no_sanitize_coverage))
#endif
void __sanitizer_cov_trace_pc(void);
NOT_TRACED void __sanitizer_cov_trace_pc(void) {
    if (!irq.on || irq.inside || --irq.left > 0)
        return;
    irq.inside = true; /* draw() has basic blocks too */
    irq.left = 1 + draw(irq.spread);
    irq.preempting++;
    tick();
}

/* The firmware locks its interrupts here. */
uint32_t app_clock_lock(void) {
    const uint32_t state = irq.on;
    irq.on = false;
    return state;
}

void app_clock_unlock(uint32_t state) {
    irq.on = state != 0;
}

/* ------------------------------------------------------------------------------- the background */

static void begin(uint64_t seed) {
    dice = seed;
    memset(&irq, 0, sizeof irq);
    image = control_arm_image(&image_size, 1);
    app_init(&app);
    TEST_ASSERT_EQUAL_INT(APP_OK, app_set(&app, PARAMETER_rate_check, 0, 0));
}

/* Executes one request while ticks come, sometimes many. */
static void preempted(void (*request)(void)) {
    static const uint32_t spread[] = {4, 30, 300, 4000, 4000};
    irq.spread = spread[draw(5)];
    irq.left = 1 + draw(irq.spread);
    irq.on = true;
    request();
    irq.on = false;
    if (irq.broken)
        TEST_FAIL_MESSAGE(irq.broken);
    const bool failed = app.safety.state == APP_STATE_FAULT;
    TEST_ASSERT_EQUAL(failed, app.safety.fault != APP_FAULT_NONE);
    if (failed) { /* lowering uses a jog */
        TEST_ASSERT_TRUE_MESSAGE(
            app.motion.kind == MOTION_HOLD || app.motion.kind == MOTION_BRAKE ||
                (app.motion.kind == MOTION_JOG && app.safety.stop == APP_STOP_LOWER),
            "an arm with a fault moves on");
    }
}

static void ask_load(void) {
    const int status = app_load(&app, image, image_size);
    expect(status == APP_OK || status == APP_E_STATE, "a good image is refused");
    expect(status != APP_OK || !app.closing, "a new arm is about to move");
}

static void ask_profile(void) {
    motion_t motion = {.kind = draw(2) ? MOTION_QUINTIC : MOTION_TRAPEZOID};
    for (uint32_t i = 0; i < N; i++)
        motion.value[i] = between(-0.5f, 0.5f);
    (void)app_motion_start(&app, &motion);
}

static void ask_hold(void) {
    const motion_t motion = {.kind = MOTION_HOLD};
    (void)app_motion_start(&app, &motion);
}

static void ask_jog(void) {
    motion_t motion = {.kind = MOTION_JOG};
    for (uint32_t i = 0; i < N; i++)
        motion.value[i] = between(-0.3f, 0.3f);
    (void)app_motion_start(&app, &motion);
}

static void ask_points(void) {
    const motion_t motion = {.kind = MOTION_POINTS, .duration_s = 0.02f};
    float q[N];
    app_status_t status;
    if (app_motion_start(&app, &motion) != APP_OK)
        return;
    irq.spread = 4000; /* rare ticks, because late points would rightly be a fault */
    irq.left = 1 + draw(irq.spread);
    app_status(&app, &status);
    memcpy(q, app.safety.state == APP_STATE_IDLE ? status.q : status.q_ref, sizeof q);
    for (uint32_t k = 0; k < 20; k++) {
        (void)app_point_push(&app, q);
        for (uint32_t i = 0; i < N; i++)
            q[i] += k < 3 ? 0 : 0.002f;
    }
    (void)app_points_end(&app);
}

static void ask_stop(void) {
    (void)app_stop(&app);
}

static void ask_off(void) {
    (void)app_off(&app);
}

static void ask_place(void) {
    float q[N];
    for (uint32_t i = 0; i < N; i++)
        q[i] = between(-0.5f, 0.5f);
    (void)app_place(&app, q);
}

static void ask_samples(void) {
    for (uint32_t k = 0; k < APP_SAMPLES && app_sample_peek(&app); k++)
        app_sample_release(&app);
}

/* Sets values with which the arm still moves without a fault. */
static void ask_gentle(void) {
    static const struct {
        uint32_t parameter;
        float low, high;
    } gentle[] = {{PARAMETER_observer_hz, 40, 80},
                  {PARAMETER_torque_hz, 4, 6},
                  {PARAMETER_payload_mass, 0, 0.2f},
                  {PARAMETER_sample_every, 1, 4},
                  {PARAMETER_sim_mass, 0.95f, 1.05f},
                  {PARAMETER_sim_friction, 0.9f, 1.1f},
                  {PARAMETER_guard_tracking, 0.2f, 1},
                  {PARAMETER_guard_limit_s, 0.3f, 1},
                  {PARAMETER_stages, 0, 1},
                  {PARAMETER_home_speed, 0.1f, 0.2f},
                  {PARAMETER_encoder_offset, 0, 0},
                  {PARAMETER_position_lower, -0.8f, -0.7f},
                  {PARAMETER_rate_hz, 1000, 1000},
                  {PARAMETER_home, 0, 0}};
    const uint32_t k = draw(sizeof gentle / sizeof gentle[0]);
    (void)app_set(&app, gentle[k].parameter,
                  parameter_table[gentle[k].parameter].per_joint ? draw(N) : 0,
                  between(gentle[k].low, gentle[k].high));
}

static void ask_gain(void) {
    const uint32_t i = draw(N);
    (void)app_set(&app, PARAMETER_kp, i, control_arm_kp[i] * between(0.9f, 1.1f));
    (void)app_set(&app, PARAMETER_kd, i, control_arm_kd[i] * between(0.9f, 1.1f));
    (void)app_set(&app, PARAMETER_feedback, 0, (float)(1 + draw(2)));
}

static void ask_anything(void) {
    const uint32_t t = draw(PARAMETERS);
    const parameter_info_t *info = &parameter_table[t];
    if (t == PARAMETER_arm)
        return; /* the simulated board has no encoders for a real arm */
    const float value = draw(2)        ? info->fallback
                        : draw(4) == 0 ? between(info->least, info->most)
                                       : between(fmaxf(info->least, info->fallback - 2),
                                                 fminf(info->most, info->fallback + 2));
    (void)app_set(&app, t, info->per_joint ? draw(N) : 0, draw(2) ? roundf(value) : value);
}

static void ask_home(void) {
    motion_t motion = {.kind = MOTION_HOME};
    motion.value[draw(N)] = 1;
    (void)app_motion_start(&app, &motion);
}

static void ask_defect(void) {
    (void)app_set(&app, PARAMETER_sim_defect_joint, 0, (float)draw(N));
    (void)app_set(&app, PARAMETER_sim_defect, 0, (float)draw(DEFECTS));
}

static void ask_mend(void) {
    (void)app_set(&app, PARAMETER_sim_defect, 0, DEFECT_NONE);
}

static void ask_fault(void) {
    app_fault(&app, APP_FAULT_ESTOP);
}

static void ask_clear(void) {
    irq.clearing = true;
    (void)app_clear(&app);
    irq.clearing = false;
    irq.fault = app.safety.fault;
    irq.joint = app.safety.fault_joint;
}

typedef void (*request_t)(void);

static void run(const request_t *request, uint32_t requests) {
    for (uint32_t k = 0; k < REQUESTS; k++) {
        preempted(request[draw(requests)]);
        for (uint32_t more = draw(2) ? 0 : draw(4) ? draw(3) : draw(300); more > 0; more--)
            tick();
        if (irq.broken)
            TEST_FAIL_MESSAGE(irq.broken);
        ask_samples();
    }
    TEST_ASSERT_TRUE_MESSAGE(irq.preempting > REQUESTS / 2, "hardly a request was interrupted");
}

/* ------------------------------------------------------------------------------------ the tests */

static void note(uint32_t ticks, uint32_t preempting) {
    char text[100];
    snprintf(text, sizeof text, "%u ticks, %u of them within a request", (unsigned)ticks,
             (unsigned)preempting);
    harness_note(text);
}

/* Makes several runs, each with its own seed; in none may a check fail. */
static void run_all(const request_t *request, uint32_t requests, uint64_t seed, bool well) {
    uint32_t ticks = 0, preempting = 0;
    for (uint32_t k = 0; k < RUNS; k++) {
        for (uint32_t first = 0; first < 20;
             first++) { /* changes a setting right after the first load */
            begin(20 * (seed + k) + first);
            preempted(ask_load);
            preempted(ask_gain);
        }
        run(request, requests);
        if (well) {
            TEST_ASSERT_EQUAL_STRING(app_fault_name(APP_FAULT_NONE),
                                     app_fault_name(app.safety.fault));
            /* The margin allows for float: the largest step is a velocity limit times a
             * millisecond, and positions are rounded. */
            TEST_ASSERT_TRUE_MESSAGE(irq.jump < 1.001, "a reference jumped");
        }
        ticks += irq.ticks;
        preempting += irq.preempting;
    }
    note(ticks, preempting);
}

/* Whenever the ticks come, there is no fault and the reference never jumps. */
static void test_an_arm_that_moves_well(void) {
    static const request_t request[] = {ask_load, ask_profile, ask_profile, ask_hold,   ask_jog,
                                        ask_jog,  ask_points,  ask_place,   ask_gentle, ask_gain,
                                        ask_stop, ask_off,     ask_samples};
    run_all(request, sizeof request / sizeof request[0], 1, true);
}

/* Settings and defects that cause faults: each fault latches, the first one stays, and no check
 * fails. */
static void test_an_arm_that_does_not(void) {
    static const request_t request[] = {
        ask_load,   ask_profile, ask_profile, ask_hold,  ask_jog,     ask_points,   ask_place,
        ask_gentle, ask_gain,    ask_stop,    ask_off,   ask_samples, ask_anything, ask_home,
        ask_defect, ask_mend,    ask_mend,    ask_fault, ask_clear,   ask_clear,    ask_clear};
    if (!strcmp(app_real_name(), "q31"))
        TEST_IGNORE_MESSAGE(
            "the simulated arm is not proved in fixed point for how this one moves");
    run_all(request, sizeof request / sizeof request[0], 1001, false);
}

TEST_LIST_BEGIN
TEST(test_an_arm_that_moves_well)
TEST(test_an_arm_that_does_not)
TEST_LIST_END

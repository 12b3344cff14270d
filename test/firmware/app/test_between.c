/*
 * Runs the tick between the steps of the background. On a board the tick is an interrupt and can
 * come anywhere. Here it comes from the functions that the background calls (wrapped by the linker
 * option --wrap), at each call in turn, and from the signal of a timer where there is no such call.
 * Also tests requests that follow each other without a tick between them.
 */
#include "test/support/harness.h"

#include "firmware/app/app.h"
#include "test/support/control_arm.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { N = CONTROL_ARM_JOINTS };

static app_t app;
static app_inputs_t in;
static app_outputs_t out;

static const float from[N] = {-0.5f, 1.25f, -2.3f, -0.9f, -1.4f, -1.4f};
static const float to[N] = {0.5f, 1.9f, -0.8f, 1.9f, 1.4f, 1.4f};

/* ------------------------------------------------------------------------------- where it comes */

static struct {
    uint32_t at, passed; /* at: number of the call at which the tick comes, 0: none */
    bool inside, locked;
    void (*before)(void); /* called before that tick, to prepare its inputs */
} between;

static void tick(uint32_t count) {
    between.inside = true;
    while (count-- > 0)
        app_tick(&app, &in, &out);
    between.inside = false;
}

static void step(void) {
    if (between.inside || between.locked || between.at == 0 || ++between.passed != between.at)
        return;
    if (between.before)
        between.before();
    tick(1);
}

static void come_at(uint32_t at, void (*before)(void)) {
    between.at = at;
    between.passed = 0;
    between.before = before;
}

/* True if the call was reached, so that the tick came. */
static bool came(void) {
    const bool it_did = between.passed >= between.at;
    between.at = 0;
    return it_did;
}

#define WRAP(type, name, arguments, call)                                                          \
    type __real_##name arguments;                                                                  \
    type __wrap_##name arguments;                                                                  \
    type __wrap_##name arguments {                                                                 \
        step();                                                                                    \
        return __real_##name call;                                                                 \
    }
WRAP(bool, setup_position, (const app_t *a, uint32_t i, float q, float *to_), (a, i, q, to_))
WRAP(int, app_exponent, (const app_t *a, uint32_t quantity, uint32_t i), (a, quantity, i))
WRAP(unsigned, app_state_next, (unsigned state, unsigned event), (state, event))

uint32_t app_clock_lock(void) {
    step();
    const bool before = between.locked;
    between.locked = true;
    return before;
}

void app_clock_unlock(uint32_t before) {
    between.locked = before != 0;
}

/* -------------------------------------------------------------------------------------- the arm */

static void load(void) {
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    between.at = 0;
    memset(&in, 0, sizeof in);
    app_init(&app);
    TEST_ASSERT_EQUAL(APP_OK, app_load(&app, image, size));
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_tool_speed, 0, 100));
    TEST_ASSERT_EQUAL(APP_OK, app_place(&app, from));
}

static int set(uint32_t parameter, float value) {
    return app_set(&app, parameter, 0, value);
}

static int start(uint32_t kind, float seconds, const float value[]) {
    motion_t m = {.kind = kind, .duration_s = seconds};
    memcpy(m.value, value, sizeof from);
    return app_motion_start(&app, &m);
}

static const float nowhere[N];

static void hold(void) {
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
    tick(20);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* Causes a fault that stops the arm by holding it. */
static void setpoint_fault(void) {
    app.motion.starved = 10;
}

static double fastest_reference(void) {
    double most = 0;
    for (uint32_t i = 0; i < N; i++)
        most = fmax(most, fabs((double)app.loop.qd_mid[i]));
    return most;
}

/* Checks that the reference is at the target, apart from rounding start and distance to float. */
static void arrived(void) {
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    for (uint32_t i = 0; i < N; i++)
        TEST_ASSERT_FLOAT_WITHIN(1e-6f, to[i], app.loop.q_ref[i]);
}

/* -------------------------------------------------------------------- a motion that is prepared */

/*
 * The loop holds the arm while a motion is prepared, which takes longer than a tick. A fault is
 * latched meanwhile; then nothing may move.
 */
static void test_fault_while_a_motion_is_prepared(void) {
    static const uint32_t kind[] = {MOTION_QUINTIC, MOTION_CYCLOID, MOTION_TRAPEZOID, MOTION_POINTS,
                                    MOTION_JOG,     MOTION_HOLD,    MOTION_HOME};
    static const float joint[N] = {1};
    static const float speed[N] = {0.5f, 0.3f, -0.3f, 0.5f, 0.5f, 0.5f};
    uint32_t faults = 0;
    for (size_t r = 0; r < sizeof kind / sizeof kind[0]; r++) {
        for (uint32_t at = 1;; at++) {
            load();
            if (kind[r] == MOTION_HOME) {
                TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_home, 2));
                app.loop.unhomed = 0;
            }
            TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 0));
            hold();
            come_at(at, setpoint_fault);
            const int status = start(kind[r], kind[r] == MOTION_POINTS ? 0.1f : 0,
                                     kind[r] == MOTION_JOG    ? speed
                                     : kind[r] == MOTION_HOME ? joint
                                                              : to);
            if (!came())
                break;
            TEST_ASSERT_EQUAL_INT(APP_E_STATE, status);
            TEST_ASSERT_EQUAL_UINT32(APP_STATE_FAULT, app.safety.state);
            TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
            for (uint32_t t = 0; t < 100; t++) {
                tick(1);
                TEST_ASSERT_EQUAL_DOUBLE(0, fastest_reference());
            }
            TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, app.motion.kind);
            TEST_ASSERT_EQUAL_UINT32(0, app.loop.unhomed);
            faults++;
        }
    }
    harness_note_number("faults latched while a motion was made", faults);
    TEST_ASSERT_GREATER_THAN_UINT32(50, faults);
}

/* The same fault while a running jog is repeated: the arm brakes and takes no speed from the new
 * jog. */
static void test_fault_while_a_jog_is_repeated(void) {
    static const float slow[N] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    static const float fast[N] = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f};
    uint32_t faults = 0;
    for (uint32_t at = 1;; at++) {
        load();
        TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 0));
        hold();
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_JOG, 0, slow));
        tick(300);
        come_at(at, setpoint_fault);
        const int status = start(MOTION_JOG, 0, fast);
        if (!came())
            break;
        TEST_ASSERT_EQUAL_INT(APP_E_STATE, status);
        double before = fastest_reference();
        for (uint32_t t = 0; t < 100; t++) {
            tick(1);
            TEST_ASSERT_TRUE(fastest_reference() <= before);
            before = fastest_reference();
        }
        TEST_ASSERT_EQUAL_DOUBLE(0, before);
        faults++;
    }
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(N, faults);
}

/* A jog is repeated in the very tick in which it would time out. All joints keep moving. */
static void test_jog_repeated_at_its_end(void) {
    static const float speed[N] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    for (uint32_t at = 1;; at++) {
        load();
        hold();
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_JOG, 0, speed));
        tick(500); /* the jog times out now (jog_timeout_s) */
        TEST_ASSERT_EQUAL_UINT32(MOTION_JOG, app.motion.kind);
        come_at(at, NULL);
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_JOG, 0, speed));
        if (!came())
            break;
        tick(100);
        for (uint32_t i = 0; i < N; i++)
            TEST_ASSERT_EQUAL_FLOAT(speed[i], app.loop.qd_mid[i]);
    }
}

/*
 * A point arrives when the buffer has just run empty. It is stored in the first place of the
 * buffer, which is also the memory of jog speeds. The arm must not take it for a speed while it
 * brakes.
 */
static void test_a_point_too_late(void) {
    uint32_t late = 0;
    for (uint32_t at = 1;; at++) {
        float q[N];
        load();
        memcpy(q, from, sizeof q);
        TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 0));
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_POINTS, 0.02f, nowhere));
        for (int k = 0; k < APP_POINTS - 2; k++) { /* the first point is stored three times */
            q[0] += 0.0001f * (float)k;            /* speed up to 0.145 rad/s */
            tick(app_point_credits(&app) == 0 ? 40 : 0);
            TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, q));
        }
        TEST_ASSERT_EQUAL_UINT32(APP_POINTS, app.motion.as.points.head);
        static app_t next; /* copy of the state one tick ahead */
        for (int t = 0; t < 1000 && next.safety.state != APP_STATE_FAULT; t++) {
            if (t > 0)
                tick(1);
            next = app;
            app_tick(&next, &in, &out);
        }
        next.safety.state = APP_STATE_IDLE;
        come_at(at, NULL);
        q[0] += 0.0029f;
        (void)app_point_push(&app, q);
        if (!came())
            break;
        late++;
        TEST_ASSERT_EQUAL_UINT32(APP_FAULT_SETPOINT, app.safety.fault);
        double before = fastest_reference();
        TEST_ASSERT_TRUE(before > 0.05); /* the arm was moving */
        for (uint32_t t = 0; t < 200; t++) {
            tick(1);
            TEST_ASSERT_TRUE(fastest_reference() <= before);
            before = fastest_reference();
        }
        TEST_ASSERT_EQUAL_DOUBLE(0, before);
    }
    TEST_ASSERT_GREATER_OR_EQUAL_UINT32(N, late);
}

/* ----------------------------------------------------------- requests with no tick between them */

/*
 * Requests two motions. The first one starts while the second is prepared, and reaches its target.
 */
static void test_two_motions(void) {
    for (uint32_t at = 1; at < 30; at++) {
        load();
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_QUINTIC, 3, to));
        come_at(at, NULL);
        TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_CYCLOID, 0.1f, from));
        (void)came();
        tick(3001);
        arrived();
    }
}

/* A motion may replace a hold, whether or not a tick has closed the loop yet. */
static void test_hold_and_motion(void) {
    static const float speed[N] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    for (uint32_t at = 1;; at++) {
        load();
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
        come_at(at, NULL);
        TEST_ASSERT_EQUAL_INT(APP_OK, start(MOTION_QUINTIC, 3, to));
        const bool it_did = came();
        tick(3001);
        arrived();
        if (!it_did)
            break;
    }
    load();
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_JOG, 0, speed));
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_JOG, 0, speed));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_QUINTIC, 3, to));
    tick(100);
    TEST_ASSERT_EQUAL_FLOAT(speed[0], app.loop.qd_mid[0]);
    load();
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_QUINTIC, 3, to));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
}

/* Requests take effect in their order; a stop discards a motion that has not begun. */
static void test_stop_and_motion(void) {
    load();
    hold();
    TEST_ASSERT_EQUAL(APP_OK, app_stop(&app));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_QUINTIC, 3, to));
    tick(5);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    hold();
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, start(MOTION_QUINTIC, 3, to));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    /* The outputs are off already. */
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_QUINTIC, 3, to));
    tick(3001);
    arrived();
    /* A motion that is stopped before its first tick does not begin. */
    load();
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_QUINTIC, 3, to));
    TEST_ASSERT_EQUAL(APP_OK, app_stop(&app));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
    TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, app.motion.kind);
    /* An `off` without an arm does not apply to the arm that is loaded later. */
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    app_init(&app);
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    tick(1);
    TEST_ASSERT_EQUAL(APP_OK, app_load(&app, image, size));
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
}

/* A motion that the next tick will start was prepared for the present settings, arm and position,
 * so these may not change any more. */
static void test_changes_behind_a_motion(void) {
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    load();
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_QUINTIC, 3, to));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, set(PARAMETER_rate_hz, 500));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, set(PARAMETER_home, 2));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_place(&app, to));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_load(&app, image, size));
    TEST_ASSERT_FALSE(app_lend(&app));
    TEST_ASSERT_FALSE(app_rests(&app));
    tick(3001);
    arrived();
}

/*
 * When the arm becomes a real one, nothing starts before its encoders were read, and positions and
 * homing of the simulated arm are forgotten. firmware/tick.c reads the encoders in the second tick.
 */
static void test_motion_behind_the_change_to_hardware(void) {
    enum { COUNTS = 100 };
    load();
    TEST_ASSERT_EQUAL(APP_OK, app_set(&app, PARAMETER_home, 1, 1));
    app.loop.unhomed = 0; /* homed */
    app.loop.zero[1] = 0.1f;
    tick(1);
    TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_arm, ARM_REAL));
    TEST_ASSERT_EQUAL_UINT32(1 << 1, app.loop.unhomed);
    TEST_ASSERT_EQUAL_INT(APP_E_UNREAD, start(MOTION_HOLD, 0, nowhere));
    tick(1);
    TEST_ASSERT_EQUAL_INT(APP_E_UNREAD, start(MOTION_HOLD, 0, nowhere));
    in.counts_valid = (1u << N) - 1;
    in.counts[0] = in.counts[1] = COUNTS;
    tick(1);
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_INT32(COUNTS, app.loop.counts[i]);
    TEST_ASSERT_EQUAL_FLOAT(0, app.loop.zero[1]);
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
    /* Sending the same request again changes nothing. */
    TEST_ASSERT_EQUAL(APP_OK, app_off(&app));
    tick(1);
    app.loop.unhomed = 0;
    in.counts[0] = 700;
    tick(1);
    TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_arm, ARM_REAL));
    TEST_ASSERT_EQUAL_INT32(-300, app.loop.counts[0]);
    TEST_ASSERT_EQUAL_UINT32(0, app.loop.unhomed);
}

static void two_more(void) {
    tick(2);
}

/*
 * Ticks that run while the constants are prepared (app.detached) do not read the encoders, however
 * many there are. An arm that is loaded again counts as not read.
 */
static void test_ticks_that_read_no_hardware(void) {
    enum { LOADS, SWITCHES, SETS, WAYS };
    size_t size;
    const uint8_t *image = control_arm_image(&size, 1);
    for (int way = 0; way < WAYS; way++) {
        uint32_t at = 0;
        do {
            load();
            in.counts_valid = (1u << N) - 1;
            if (way != SWITCHES)
                TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_arm, ARM_REAL));
            if (way == LOADS)
                tick(5);
            come_at(++at, two_more);
            TEST_ASSERT_EQUAL(APP_OK, way == LOADS      ? app_load(&app, image, size)
                                      : way == SWITCHES ? set(PARAMETER_arm, ARM_REAL)
                                                        : set(PARAMETER_encoder_offset, 0));
            for (int ticks = 0; ticks < 2; ticks++) {
                TEST_ASSERT_EQUAL_INT(APP_E_UNREAD, start(MOTION_HOLD, 0, nowhere));
                tick(1);
            }
            TEST_ASSERT_EQUAL(APP_OK, start(MOTION_HOLD, 0, nowhere));
        } while (came());
        TEST_ASSERT_GREATER_THAN_UINT32(N, at);
    }
}

/* Points that arrive after a stop do not close the loop. */
static void test_points_behind_a_stop(void) {
    for (int ends = 0; ends < 2; ends++) {
        uint32_t at = 0;
        do {
            load();
            TEST_ASSERT_EQUAL(APP_OK, start(MOTION_POINTS, 0.02f, nowhere));
            while (app.motion.as.points.head < APP_POINTS / 2 - 1)
                TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, from));
            TEST_ASSERT_EQUAL(APP_OK, app_stop(&app));
            come_at(++at, NULL);
            (void)(ends ? app_points_end(&app) : app_point_push(&app, from));
            tick(2);
            TEST_ASSERT_EQUAL_UINT32(APP_STATE_IDLE, app.safety.state);
        } while (came());
        TEST_ASSERT_GREATER_THAN_UINT32(N, at);
    }
}

/* A stream that still waits for points is dropped if a change would give them another meaning. */
static void test_changes_behind_a_stream(void) {
    for (int k = 0; k < 3; k++) {
        load();
        TEST_ASSERT_EQUAL(APP_OK, start(MOTION_POINTS, 0.02f, nowhere));
        TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, from));
        TEST_ASSERT_EQUAL(APP_OK, k == 0   ? set(PARAMETER_rate_hz, 500)
                                  : k == 1 ? set(PARAMETER_home_position, 1)
                                           : app_place(&app, to));
        TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_point_push(&app, from));
        TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_points_end(&app));
    }
    /* A refused motion also ends the stream; no part of it remains. */
    load();
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_POINTS, 0.02f, nowhere));
    TEST_ASSERT_EQUAL(APP_OK, app_point_push(&app, from));
    const float here[N] = {app.loop.q[0], app.loop.q[1], app.loop.q[2],
                           app.loop.q[3], app.loop.q[4], app.loop.q[5]};
    TEST_ASSERT_EQUAL_INT(APP_E_TIME, start(MOTION_QUINTIC, 0, here));
    TEST_ASSERT_EQUAL_INT(APP_E_STATE, app_points_end(&app));
}

/* The time-out for points starts with each stream; time before the stream does not count. */
static void test_the_time_for_points_begins_with_the_stream(void) {
    load();
    TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_guard_setpoint, 25));
    hold();
    tick(100);
    TEST_ASSERT_EQUAL(APP_OK, start(MOTION_POINTS, 0.02f, nowhere));
    tick(25);
    TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
    tick(1);
    TEST_ASSERT_EQUAL_UINT32(APP_FAULT_SETPOINT, app.safety.fault);
}

/* ------------------------------------------------------------------------------------- clearing */

/* If the fault is cleared while the arm is lowered, the arm comes to rest, wherever the tick
 * comes. */
static void test_clearing_while_lowered(void) {
    for (uint32_t at = 0;; at++) {
        load();
        TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 0));
        TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_hold_fraction, 0.08f));
        hold();
        setpoint_fault();
        tick(200);
        TEST_ASSERT_EQUAL_UINT32(APP_STOP_LOWER, app.safety.stop);
        TEST_ASSERT_TRUE(fastest_reference() > 0.01);
        come_at(at, NULL);
        TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
        if (!came())
            break;
        tick(500);
        TEST_ASSERT_EQUAL_UINT32(APP_STATE_RUNNING, app.safety.state);
        TEST_ASSERT_EQUAL_DOUBLE(0, fastest_reference());
    }
}

static void lose_encoder(void) {
    TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_sim_defect, DEFECT_LOST));
    tick(app.control[app.now].unread);
}

static void nothing_more(void) {}

/*
 * In the tick that comes during clearing, the stop becomes a worse one or the brakes engage.
 * Clearing acts on the state after this tick and never closes the loop on an arm that was released.
 */
static void test_clearing_while_the_stop_changes(void) {
    static void (*const before[])(void) = {lose_encoder, nothing_more};
    for (int k = 0; k < 2; k++) {
        for (uint32_t at = 1;; at++) {
            load();
            TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 0));
            hold();
            setpoint_fault();
            tick(3);
            TEST_ASSERT_EQUAL_UINT32(APP_STOP_HOLD, app.safety.stop);
            TEST_ASSERT_EQUAL_UINT32(MOTION_HOLD, app.motion.kind);
            if (k == 1)
                TEST_ASSERT_EQUAL(APP_OK, set(PARAMETER_brakes, 1));
            come_at(at, before[k]);
            TEST_ASSERT_EQUAL(APP_OK, app_clear(&app));
            if (!came())
                break;
            TEST_ASSERT_EQUAL_UINT32(k == 0 ? APP_STOP_DAMP : APP_STOP_RELEASE, app.safety.stop);
            /* an arm that is damped stays so */
            TEST_ASSERT_EQUAL_UINT32(k == 0 ? APP_STATE_DAMPING : APP_STATE_IDLE, app.safety.state);
            tick(1);
            TEST_ASSERT_EQUAL_UINT8(k == 0, out.enable);
        }
    }
}

/* -------------------------------------------------------------------------- records of one tick */

static volatile sig_atomic_t signals;

/* Changes the records as a tick does; every word is derived from the number of the tick. */
static void numbered_tick(int signal_number) {
    (void)signal_number;
    const uint32_t number = app.ticks + 1;
    app.ticks = number;
    app.safety.state = number % APP_STATES;
    app.safety.fault = number % APP_FAULTS;
    app.safety.fault_joint = number;
    app.safety.fault_value = (float)(number % 1024);
    app.safety.fault_limit = (float)(number % 1024);
    app.safety.stop = number % APP_STOPS;
    app.stages.ticks += 1;
    for (int k = 0; k <= STAGES; k++)
        app.stages.sum[k] += 0xffffffffu; /* changes both halves of the 64-bit sum */
    signals++;
}

static void timer(long microseconds) {
    const struct itimerval every = {{0, microseconds}, {0, microseconds}};
    TEST_ASSERT_EQUAL_INT(0, setitimer(ITIMER_REAL, &every, NULL));
}

static void check_records(void) {
    app_status_t s;
    app_status(&app, &s);
    TEST_ASSERT_EQUAL_UINT32(s.ticks % APP_STATES, s.state);
    TEST_ASSERT_EQUAL_UINT32(s.ticks % APP_FAULTS, s.fault);
    TEST_ASSERT_EQUAL_UINT32(s.ticks, s.fault_joint);
    TEST_ASSERT_EQUAL_UINT32(s.ticks % APP_STOPS, s.stop);
    const float unit =
        app_fault_quantity(s.fault) == QUANTITY_SUPPLY ? 0.001f : 1; /* the supply is in mV */
    TEST_ASSERT_EQUAL_FLOAT((float)(s.ticks % 1024) * unit, s.fault_value);
    TEST_ASSERT_EQUAL_FLOAT((float)(s.ticks % 1024) * unit, s.fault_limit);
    app_stages_t stages;
    app_stages(&app, &stages);
    for (int k = 0; k <= STAGES; k++)
        TEST_ASSERT_EQUAL_UINT64(0xffffffffull * stages.ticks, stages.sum[k]);
}

static void test_records_of_one_tick(void) {
    enum { SIGNALS = 5000 };
    load();
    between.inside = true; /* only the signal runs ticks here */
    app.ticks = 0;
    numbered_tick(0);
    app_stages_clear(&app);
    TEST_ASSERT_TRUE(signal(SIGALRM, numbered_tick) != SIG_ERR);
    timer(20);
    signals = 0;
    for (uint32_t round = 0; signals < SIGNALS; round++) {
        check_records();
        if (round % 8 == 0)
            app_stages_clear(&app);
    }
    timer(0);
    between.inside = false;
}

TEST_LIST_BEGIN
TEST(test_fault_while_a_motion_is_prepared)
TEST(test_fault_while_a_jog_is_repeated)
TEST(test_jog_repeated_at_its_end)
TEST(test_a_point_too_late)
TEST(test_two_motions)
TEST(test_hold_and_motion)
TEST(test_stop_and_motion)
TEST(test_changes_behind_a_motion)
TEST(test_motion_behind_the_change_to_hardware)
TEST(test_ticks_that_read_no_hardware)
TEST(test_points_behind_a_stop)
TEST(test_changes_behind_a_stream)
TEST(test_the_time_for_points_begins_with_the_stream)
TEST(test_clearing_while_lowered)
TEST(test_clearing_while_the_stop_changes)
TEST(test_records_of_one_tick)
TEST_LIST_END

/* The whole firmware with an arm at its pins (test/support/seam_board.h): motion, and the emergency
 * stop at every moment. */
#include "test/support/seam_board.h"

#include <math.h>

enum { N = SEAM_JOINTS };

static void close_stop(void *unused) {
    (void)unused;
    chip_estop(false);
}

/* ---------------------------------------------------------------------------------------- motion */

static void holds_and_moves(void) {
    const double target[N] = {-0.4, 1.5, -1.0, 0.8, -0.3, 0.5};
    motion_t motion = {.kind = MOTION_QUINTIC, .duration_s = 2};
    double held[N], off = 0;
    must_hold();
    for (unsigned i = 0; i < N; i++)
        held[i] = rig_position(i); /* the arm has sunk a little with its outputs off */
    chip_run(CHIP_MS(300));
    for (unsigned i = 0; i < N; i++) {
        off = fmax(off, fabs(rig_position(i) - held[i]));
        motion.value[i] = (float)target[i];
    }
    harness_note_number("hold: largest distance, urad:", (int64_t)(off * 1e6));
    TEST_ASSERT_TRUE(off < 0.01);
    TEST_ASSERT_EQUAL_MESSAGE(0, client_motion(client, &motion), client->error.what);
    double worst = 0;
    for (unsigned k = 0; k < 2500; k++) {
        live(1);
        const app_t *app = tick_app();
        for (unsigned i = 0; i < N; i++)
            worst = fmax(worst, fabs((double)app->loop.q_ref[i] - rig_position(i)));
    }
    expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
    off = 0;
    for (unsigned i = 0; i < N; i++)
        off = fmax(off, fabs(rig_position(i) - target[i]));
    harness_note_number("motion: largest distance from the reference, urad:",
                        (int64_t)(worst * 1e6));
    harness_note_number("end of motion: largest distance, urad:", (int64_t)(off * 1e6));
    TEST_ASSERT_TRUE(worst < 0.05);
    TEST_ASSERT_TRUE(off < 0.01);
    fail_if_wrong();
}

static void test_holds_and_moves(void) {
    in_copy(holds_and_moves);
}

/* ---------------------------------------------------------------------------------------- e-stop */

/* H1: the arm can be used again after the emergency stop was pressed and released. */
static void press_release_clear_hold(void) {
    must_hold();
    chip_estop(true);
    TEST_ASSERT_FALSE(chip_outputs_on());
    chip_run(CHIP_MS(20));
    expect_state(APP_STATE_FAULT, APP_FAULT_ESTOP);
    chip_estop(false);
    chip_run(CHIP_MS(20));
    TEST_ASSERT_FALSE(chip_outputs_on());
    expect_state(APP_STATE_FAULT, APP_FAULT_ESTOP);
    for (unsigned turn = 0; turn < 3; turn++) {
        TEST_ASSERT_EQUAL_MESSAGE(0, client_clear(client), client->error.what);
        chip_run(CHIP_MS(5));
        TEST_ASSERT_FALSE(chip_outputs_on());
        expect_state(APP_STATE_IDLE, APP_FAULT_NONE);
        must_hold();
        chip_run(CHIP_MS(50));
        chip_estop(true);
        chip_run(CHIP_US(1700));
        chip_estop(false);
        chip_run(CHIP_MS(5));
        expect_state(APP_STATE_FAULT, APP_FAULT_ESTOP);
    }
    fail_if_wrong();
}

static void test_h1_usable_again_after_release_and_clear(void) {
    in_copy(press_release_clear_hold);
}

/* H2: a pulse of 1 us at any place of the tick stops the motors until a person clears it. */
static void pulse_in_tick(void *unused) {
    chip_estop(true);
    chip_at(chip_now() + CHIP_US(1), close_stop, unused);
}

static void pulses(void) {
    enum { PULSES = 60 };
    rig.frozen = true;
    must_hold();
    for (unsigned k = 0; k < PULSES; k++) {
        const unsigned access = (unsigned)(random_part() * chip_accesses_in_tick());
        chip_in_tick(access, pulse_in_tick, NULL);
        chip_run(CHIP_MS(4));
        TEST_ASSERT_FALSE_MESSAGE(chip_outputs_on(), "the outputs came back after a pulse");
        expect_state(APP_STATE_FAULT, APP_FAULT_ESTOP);
        TEST_ASSERT_EQUAL(0, client_clear(client));
        chip_run(CHIP_MS(2));
        must_hold();
    }
    fail_if_wrong();
}

static void test_h2_a_pulse_within_a_tick_stays_latched(void) {
    in_copy(pulses);
}

/* One wire of two breaks: its timer stops at once, the other by the interrupt, some accesses later. */
static void one_contact(void) {
    enum { INTERRUPT_NS = 2000 };
    rig.frozen = true;
    for (unsigned k = 0; k < 2 * CHIP_BREAKS; k++) {
        must_hold();
        chip_run((uint64_t)(random_part() * CHIP_MS(1)));
        chip_estop_contact(k % CHIP_BREAKS, true);
        chip_run(INTERRUPT_NS);
        TEST_ASSERT_FALSE(chip_outputs_on());
        chip_run(CHIP_MS(3));
        expect_state(APP_STATE_FAULT, APP_FAULT_ESTOP);
        chip_estop(false);
        chip_run(CHIP_MS(1));
        TEST_ASSERT_EQUAL(0, client_clear(client));
        chip_run(CHIP_MS(2));
    }
    fail_if_wrong();
}

static void test_one_broken_wire_stops_all(void) {
    in_copy(one_contact);
}

/* An e-stop that was never wired: the contact is open from power-up on. */
static void never_wired(void) {
    chip_estop(true);
    chip_run(CHIP_MS(5));
    (void)hold(); /* refused, or a fault in the next tick */
    chip_run(CHIP_MS(5));
    TEST_ASSERT_FALSE(chip_outputs_on());
    TEST_ASSERT_NOT_EQUAL(APP_STATE_RUNNING, status_now().state);
    (void)client_clear(client);
    (void)hold();
    chip_run(CHIP_MS(5));
    TEST_ASSERT_FALSE(chip_outputs_on());
    TEST_ASSERT_NOT_EQUAL(APP_STATE_RUNNING, status_now().state);
}

static void test_open_contact_keeps_the_outputs_off(void) {
    in_copy(never_wired);
}

/* Random sequences: presses, bounces and pulses at random phases, some during clear and start. The
 * background of the board clears and starts, as a request would. */
static struct {
    bool open, on, drives; /* the input is active; an output is on; with a duty that is not zero */
    bool cleared;          /* a person has cleared since the last press */
    uint64_t opened_at, on_at;
    uint64_t on_while_open, on_without_clear; /* the longest times, ns */
    unsigned pressed, drove_without_clear;
} seen;

static void longest(uint64_t *most, uint64_t since) {
    *most = chip_now() - since > *most ? chip_now() - since : *most;
}

static void watch_outputs(void *unused) {
    const bool open = chip_estop_open(), on = chip_outputs_on();
    (void)unused;
    if (seen.open && seen.on)
        longest(&seen.on_while_open, seen.opened_at);
    if (seen.on && !seen.cleared)
        longest(&seen.on_without_clear, seen.open ? seen.opened_at : seen.on_at);
    if (open && !seen.open)
        seen.opened_at = chip_now();
    if (on && !seen.on)
        seen.on_at = chip_now();
    seen.cleared = seen.cleared && !open;
    seen.drives = false;
    for (unsigned i = 0; on && i < N; i++)
        seen.drives = seen.drives || chip_motor(i).level != 0;
    seen.drove_without_clear += seen.drives && !seen.cleared && !open;
    seen.open = open;
    seen.on = on;
}

static void clear_and_hold(void *unused) {
    const motion_t motion = {.kind = MOTION_HOLD};
    (void)unused;
    const int cleared = app_clear(tick_app());
    if (cleared == APP_OK && !chip_estop_open()) /* a clear counts only while the input is quiet */
        seen.cleared = true;
    (void)app_motion_start(tick_app(), &motion);
}

static void press(void *open) {
    seen.pressed += open != NULL;
    chip_estop(open != NULL);
}

static uint64_t short_time(uint64_t most) { /* more often short than long */
    return 50 + (uint64_t)(pow(random_part(), 4) * (double)most);
}

static uint64_t sequence_end;

/* Presses that bounce, pulses, and pauses between them. */
static void begin_sequence(void *unused) {
    static char pressed;
    const unsigned edges = 1 + (unsigned)(random_part() * 4);
    uint64_t at = chip_now();
    (void)unused;
    for (unsigned e = 0; e < edges; e++) {
        chip_at(at, press, &pressed);
        at += short_time(CHIP_MS(3));
        chip_at(at, press, NULL);
        at += short_time(CHIP_MS(3));
    }
    sequence_end = at;
}

/* The background asks until the outputs are on: the watchdog takes up to 40 ms. */
static bool usable_again(void) {
    enum { TRIES = 25 };
    for (unsigned k = 0; k < TRIES && !chip_outputs_on(); k++) {
        chip_in_background(clear_and_hold, NULL);
        chip_run(CHIP_MS(4));
    }
    return chip_outputs_on();
}

static void random_sequences(void) {
    /* ENABLE_NS: a pulse between the last look at the input and the write of MOE is found by the
     * next look: the timers cannot refuse the write after the pulse. The duty is zero meanwhile. */
    enum { SEQUENCES = 10000, HARDWARE_NS = 100, ENABLE_NS = 2000, PERIOD_MS = 10 };
    rig.frozen = true;
    must_set("sample_every", 0);
    /* few ticks, because most of the time is spent waiting for the watchdog */
    must_set("rate_hz", 1000.0 / PERIOD_MS);
    chip_world.lsi_hz = 47000;
    must_hold();
    seen.cleared = true;
    chip_watch(watch_outputs, NULL);
    unsigned started = 0;
    do {
        sequence_end = 0;
        if (random_part() < 0.5)
            chip_in_tick((unsigned)(random_part() * chip_accesses_in_tick()), begin_sequence, NULL);
        else
            chip_at(chip_now() + (uint64_t)(random_part() * CHIP_MS(PERIOD_MS)), begin_sequence,
                    NULL);
        for (unsigned k = 0; k < 6 * PERIOD_MS && sequence_end == 0; k++) {
            chip_run(CHIP_US(500));
            if (k == 4 * PERIOD_MS) /* the ticks were shorter than the one before */
                chip_in_tick(0, begin_sequence, NULL);
        }
        /* sometimes somebody clears and starts in the middle of it */
        if (random_part() < 0.3)
            chip_in_background(clear_and_hold, NULL);
        chip_run_until(sequence_end + CHIP_MS(PERIOD_MS));
    } while (usable_again() && ++started < SEQUENCES && seen.drove_without_clear == 0 &&
             seen.on_without_clear <= ENABLE_NS);
    chip_watch(NULL, NULL);
    harness_note_number("e-stop: presses", seen.pressed);
    harness_note_number("e-stop: longest time on while open, ns:", (int64_t)seen.on_while_open);
    harness_note_number("e-stop: longest time on without a clear, ns:",
                        (int64_t)seen.on_without_clear);
    TEST_ASSERT_TRUE_MESSAGE(seen.on_while_open <= HARDWARE_NS, "on while the input is active");
    TEST_ASSERT_TRUE_MESSAGE(seen.on_without_clear <= ENABLE_NS, "on without a clear");
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, seen.drove_without_clear, "a voltage without a clear");
    TEST_ASSERT_EQUAL_UINT_MESSAGE(SEQUENCES, started, "usable again after release and clear");
    fail_if_wrong();
}

static void test_random_presses_bounces_and_pulses(void) {
    in_copy(random_sequences);
}

static double farthest(const double *from) {
    double far = 0;
    for (unsigned i = 0; i < N; i++)
        far = fmax(far, fabs(rig_position(i) - from[i]));
    return far;
}

static void here(double *q) {
    for (unsigned i = 0; i < N; i++)
        q[i] = rig_position(i);
}

/* An arm without brakes lies where it fell. It is held from there, without a jerk, although the outputs
 * come on some time after the request. */
static void lying_arm(void) {
    double at[N];
    must_set("brakes", 0);
    rig.braked = false;
    chip_run(CHIP_MS(4000));
    for (unsigned i = 0; i < N; i++)
        TEST_ASSERT_TRUE(fabs(rig_speed(i)) < 0.01);
    here(at);
    must_hold();
    chip_run(CHIP_MS(300));
    expect_state(APP_STATE_RUNNING, APP_FAULT_NONE);
    harness_note_number("an arm without brakes: held within urad:", (int64_t)(farthest(at) * 1e6));
    TEST_ASSERT_TRUE(farthest(at) < 0.01);
    fail_if_wrong();
}

static void test_arm_without_brakes(void) {
    in_copy(lying_arm);
}

TEST_LIST_BEGIN
TEST(test_holds_and_moves)
TEST(test_h1_usable_again_after_release_and_clear)
TEST(test_h2_a_pulse_within_a_tick_stays_latched)
TEST(test_one_broken_wire_stops_all)
TEST(test_open_contact_keeps_the_outputs_off)
TEST(test_random_presses_bounces_and_pulses)
TEST(test_arm_without_brakes)
TEST_LIST_END

/* The whole firmware with an arm at its pins (test/support/seam_board.h): what must switch the motors
 * off when the program, the clock, the supply or a driver fails. */
#include "test/support/seam_board.h"

#include "firmware/app/fit.h"
#include "hal/irq.h"
#include "hal/motor.h"
#include "hal/stm32/chip.h"

#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = SEAM_JOINTS };

/* -------------------------------------------------------------------------------------- power-up */

/* H13: the pins of the stages are driven before the clocks, which take up to 0.1 s. */
static void pins_at_power_up(void) {
    enum { FIRST_US = 20 };
    seam_power_up();
    TEST_ASSERT_FALSE(chip_stages_low());
    chip_run(CHIP_US(FIRST_US));
    TEST_ASSERT_TRUE_MESSAGE(chip_stages_low(), "the pins of the stages float");
}

static void test_h13_pins_are_driven_first(void) {
    in_new_copy(pins_at_power_up);
}

/* Chooses the real arm, which the board refuses for these parts. */
static void expect_misfits(uint32_t misfits) {
    device_hardware_t h;
    TEST_ASSERT_EQUAL(-1, set("arm", ARM_REAL));
    TEST_ASSERT_EQUAL(APP_E_FIT, client->reason);
    TEST_ASSERT_EQUAL(0, client_hardware(client, &h));
    TEST_ASSERT_EQUAL_HEX32(misfits, h.misfits);
}

/* H3: nobody has said whether there are brakes. And nobody has tried the emergency stop: it could be
 * a bridge. */
static void first_start(void) {
    seam_power_up();
    seam_connect();
    expect_misfits(1u << FIT_BRAKES | 1u << FIT_ESTOP_UNSEEN);
    must_set("brakes", 1);
    expect_misfits(1u << FIT_ESTOP_UNSEEN);
    press_once();
    must_set("arm", ARM_REAL);
}

static void test_h3_brakes_and_estop_have_no_default(void) {
    in_new_copy(first_start);
}

/* H5: the update of the watchdog's registers never ends. */
static void watchdog_hangs(void) {
    seam_power_up();
    chip_world.iwdg_cycles = 1000000;
    seam_connect();
    must_set("brakes", 1);
    press_once();
    expect_misfits(1u << FIT_WATCHDOG);
}

static void test_h5_no_real_arm_without_a_watchdog(void) {
    in_new_copy(watchdog_hangs);
}

/* ------------------------------------------------------------------------------- other e-stops */

/* The fault pin of the drivers: off at once or at the next tick, and until a person clears it. */
static void driver_fails(void) {
    must_hold();
    chip_driver_fault(true);
    chip_run(CHIP_MS(3));
    TEST_ASSERT_FALSE(chip_outputs_on());
    expect_state(APP_STATE_FAULT, APP_FAULT_DRIVER);
    chip_driver_fault(false);
    chip_run(CHIP_MS(3));
    TEST_ASSERT_FALSE(chip_outputs_on());
    TEST_ASSERT_EQUAL(0, client_clear(client));
    must_hold();
    fail_if_wrong();
}

static void test_driver_fault_stops(void) {
    in_copy(driver_fails);
}

/* H12: the stages are gone when their outputs are to come on. That is no emergency stop. */
static void forget_stages(void *unused) {
    (void)unused;
    (void)motor_init(0);
}

static void stages_vanish(void) {
    TEST_ASSERT_EQUAL(0, hold());
    chip_in_background(forget_stages, NULL);
    expect_stopped(APP_FAULT_DRIVER, CHIP_MS(60));
}

static void test_h12_absent_stages_are_no_estop(void) {
    in_copy(stages_vanish);
}

/* The external oscillator stops: the outputs are off at once, and the line still answers, at the
 * speed of the internal oscillator, or the watchdog resets the chip. */
static void oscillator_fails(void) {
    must_hold();
    chip_hse_fail();
    chip_run(CHIP_US(1));
    TEST_ASSERT_FALSE(chip_outputs_on());
    chip_run(CHIP_MS(100));
    TEST_ASSERT_FALSE(chip_outputs_on());
    TEST_ASSERT_TRUE(chip_report.reset != CHIP_RESET_NONE ||
                     tick_app()->safety.state == APP_STATE_FAULT);
}

static void test_oscillator_failure_stops(void) {
    in_copy(oscillator_fails);
}

static void supply_of_the_chip_falls(void) {
    must_hold();
    chip_power_low(true);
    chip_run(CHIP_US(5));
    TEST_ASSERT_FALSE(chip_outputs_on());
    chip_power_low(false);
    chip_run(CHIP_MS(5));
    TEST_ASSERT_FALSE(chip_outputs_on());
    expect_state(APP_STATE_FAULT, APP_FAULT_POWER);
}

static void test_low_supply_of_the_chip_stops(void) {
    in_copy(supply_of_the_chip_falls);
}

/* --------------------------------------------------------------------------------- a dead tick */

/* H11: the background locks interrupts for more than three periods. */
static void lock_long(void *unused) {
    const uint64_t end = chip_now() + CHIP_US(3500);
    const uint32_t state = irq_lock();
    (void)unused;
    while (chip_now() < end)
        (void)reg_read(&RCC->CR);
    irq_unlock(state);
}

static void ticks_are_lost(void) {
    must_hold();
    must_set("sample_every", 0);
    chip_in_background(lock_long, NULL);
    expect_stopped(APP_FAULT_LOST, CHIP_MS(10));
    TEST_ASSERT_UINT32_WITHIN(1, 3, tick_app()->lost);
}

static void test_h11_lost_ticks_are_a_fault(void) {
    in_copy(ticks_are_lost);
}

static uint64_t off_at;
static void watch_off(void *unused) {
    (void)unused;
    if (off_at == 0 && chip_report.stopped_at != 0 && !chip_outputs_on())
        off_at = chip_now();
}

/* The tick stops at a random access. Returns the time after which the outputs were off, ms, rounded
 * up, or a large number. */
static unsigned dead_tick(chip_stop_t how) {
    enum { MOST_MS = 90 };
    chip_run((uint64_t)(random_part() * CHIP_MS(3)));
    chip_watch(watch_off, NULL);
    chip_stop_tick((unsigned)(random_part() * chip_accesses_in_tick()), how);
    for (unsigned ms = 0; ms < MOST_MS && off_at == 0; ms++) {
        chip_run(CHIP_MS(1));
        watch_off(NULL); /* a reset switches off, too */
    }
    return off_at == 0
               ? MOST_MS
               : (unsigned)((off_at - chip_report.stopped_at + CHIP_MS(1) - 1) / CHIP_MS(1));
}

/* At 1,000 random accesses, in three ways, at three frequencies of the watchdog's oscillator. */
static void dead_ticks(void) {
    enum { TIMES = 1000, LIMIT_MS = 50 };
    static const double lsi_hz[] = {17000, 32000, 47000};
    static const chip_stop_t kinds[] = {CHIP_STOP_LOOP, CHIP_STOP_LOCKED, CHIP_STOP_LEFT};
    unsigned worst[3] = {0};
    rig.frozen = true;
    must_set("sample_every", 0);
    must_hold();
    for (unsigned lsi = 0; lsi < 3; lsi++) {
        chip_world.lsi_hz = lsi_hz[lsi];
        chip_run(CHIP_MS(100));
        TEST_ASSERT_TRUE(chip_outputs_on());
        for (unsigned k = 0; k < TIMES / 3 + 1; k++) {
            fflush(stdout);
            const pid_t child = fork();
            if (child == 0) {
                random_from(1000 * lsi + k);
                _exit((int)dead_tick(kinds[k % 3]));
            }
            int result;
            waitpid(child, &result, 0);
            TEST_ASSERT_TRUE(WIFEXITED(result));
            const unsigned ms = (unsigned)WEXITSTATUS(result);
            worst[k % 3] = ms > worst[k % 3] ? ms : worst[k % 3];
            if (ms > LIMIT_MS)
                break;
        }
    }
    harness_note_number("dead tick, looping: off after ms:", worst[0]);
    harness_note_number("dead tick, interrupts locked: off after ms:", worst[1]);
    harness_note_number("dead tick, left: off after ms:", worst[2]);
    for (unsigned i = 0; i < 3; i++)
        TEST_ASSERT_LESS_OR_EQUAL_UINT(LIMIT_MS, worst[i]);
}

static void test_dead_tick_is_a_dead_motor(void) {
    in_copy(dead_ticks);
}

/* The tick stops as soon as the outputs are on: they come on only when the watchdog's time is short.
 * Only the watchdog helps here, because interrupts are locked. */
static void dead_at_the_start(void) {
    enum { LIMIT_MS = 50, MOST_MS = 60 };
    chip_world.lsi_hz = 17000;
    TEST_ASSERT_EQUAL(0, hold());
    for (unsigned k = 0; k < 10 * MOST_MS && !chip_outputs_on(); k++)
        chip_run(CHIP_US(100));
    TEST_ASSERT_TRUE(chip_outputs_on());
    TEST_ASSERT_LESS_OR_EQUAL_UINT(LIMIT_MS, dead_tick(CHIP_STOP_LOCKED));
}

static void test_h5_dead_tick_at_the_start(void) {
    in_copy(dead_at_the_start);
}

TEST_LIST_BEGIN
TEST(test_h13_pins_are_driven_first)
TEST(test_h3_brakes_and_estop_have_no_default)
TEST(test_h5_no_real_arm_without_a_watchdog)
TEST(test_h12_absent_stages_are_no_estop)
TEST(test_driver_fault_stops)
TEST(test_oscillator_failure_stops)
TEST(test_low_supply_of_the_chip_stops)
TEST(test_h11_lost_ticks_are_a_fault)
TEST(test_dead_tick_is_a_dead_motor)
TEST(test_h5_dead_tick_at_the_start)
TEST_LIST_END

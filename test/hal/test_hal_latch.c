/*
 * Tests the latch together with the motor driver on the model of the motor timers. Most tests repeat
 * a call and let a press, a pulse or an NMI come before each of its accesses to a register. A chip
 * forgets the oscillator and the seen e-stop only at a reset, which a test cannot do: the first test
 * and the last one stand where they must.
 */
#include "test/support/harness.h"

#include "hal/latch.h"
#include "hal/motor.h"
#include "test/support/hal/motor_model.h"
#include "test/support/hal/regmodel.h"

#define BRAKE PIN(C, 4)

/* ---------------------------------------------------------------------------------- what can come */
static void press_0(void) {
    model_press(0, true);
}
static void press_1(void) {
    model_press(1, true);
}
static void press_both(void) {
    press_0();
    press_1();
}
static void pulse_0(void) {
    model_pulse(0);
}
static void pulse_1(void) {
    model_pulse(1);
}
/* What an interrupt does that irq_lock cannot hold back. */
static void nmi(void) {
    latch_set(LATCH_TICK);
}

typedef struct {
    void (*happens)(void);
    uint32_t cause;
    bool lasts;
} event_t;
static const event_t events[] = {
    {press_0, LATCH_ESTOP, true},  {press_1, LATCH_ESTOP, true},  {press_both, LATCH_ESTOP, true},
    {pulse_0, LATCH_ESTOP, false}, {pulse_1, LATCH_ESTOP, false}, {nmi, LATCH_TICK, false},
};
enum { EVENTS = sizeof events / sizeof events[0] };

static void release(void) {
    model_press(0, false);
    model_press(1, false);
}

static void init(void) {
    setUp();
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
}

static void start(void) {
    init();
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    motor_brake_open(true);
    TEST_ASSERT_TRUE(motor_enabled() && model_level(BRAKE));
}

/* Off, the cause latched, not to be enabled; and usable again after release and clear. */
static void expect_latched(const event_t *event) {
    model_settle();
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_FALSE(motor_enabled());
    TEST_ASSERT_EQUAL_HEX32(event->cause, latch_read() & event->cause);
    if (event->lasts) {
        TEST_ASSERT_EQUAL_HEX32(event->cause, latch_clear());
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
    }
    release();
    TEST_ASSERT_EQUAL_HEX32(event->cause, latch_read()); /* nobody but latch_clear clears */
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_TRUE(model_off()); /* clearing switches nothing on */
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_TRUE(motor_enabled());
    TEST_ASSERT_EQUAL_HEX32(TIM_DIER_BIE, regmodel_get(&TIMER_A->DIER));
    TEST_ASSERT_EQUAL_HEX32(TIM_DIER_BIE, regmodel_get(&TIMER_B->DIER));
    TEST_ASSERT_EQUAL_UINT(0, model_wrong);
}

/* Calls `call` after `prepare`, with the event before each access in turn, and once after the last
 * one. Returns the number of accesses. */
static unsigned sweep(void (*prepare)(void), void (*call)(void), const event_t *event) {
    for (unsigned at = 0;; at++) {
        prepare();
        model_at(at, event->happens);
        call();
        unsigned accesses = model_accesses();
        if (accesses <= at) {
            model_at(0, NULL);
            event->happens();
        }
        expect_latched(event);
        if (accesses <= at) {
            return at;
        }
    }
}

/* ---------------------------------------------------------------------------------------- tests */
/* Only the level of the wire shows that it works; a flag may have been set by noise. */
static void test_the_estop_has_not_been_seen_until_it_opens(void) {
    init();
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    nmi();
    TEST_ASSERT_FALSE(latch_estop_seen());
    model_pulse(1);
    TEST_ASSERT_TRUE(latch_read() & LATCH_ESTOP);
    TEST_ASSERT_FALSE(latch_estop_seen());
    for (unsigned timer = 2; timer-- > 0;) { /* every wire, not one of them */
        TEST_ASSERT_FALSE(latch_estop_seen());
        model_press(timer, true);
        (void)latch_read();
        model_press(timer, false);
    }
    TEST_ASSERT_TRUE(latch_estop_seen());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_TRUE(latch_estop_seen());
}

/* Finding H1: after one e-stop the arm never moved again until reset. */
static void test_pressed_released_cleared_enabled(void) {
    start();
    model_press(0, true);
    model_settle();
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_active());
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_clear()); /* still pressed */
    model_press(0, false);
    TEST_ASSERT_EQUAL_HEX32(0, latch_active());
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    /* What the tick does: it enables only if nothing is latched. */
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
}

/* Finding H2: a pulse between the start of a tick, which reads the latch, and its end, which enables,
 * was undone. */
static void test_a_pulse_within_a_tick_stays(void) {
    for (unsigned timer = 0; timer < 2; timer++) {
        start();
        TEST_ASSERT_EQUAL_HEX32(0, latch_read());
        model_pulse(timer);
        model_settle();
        TEST_ASSERT_FALSE(motor_enabled());
        model_timer[0].was_on = model_timer[1].was_on = false;
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
        TEST_ASSERT_FALSE(model_timer[0].was_on || model_timer[1].was_on); /* not for a moment */
        TEST_ASSERT_TRUE(model_off());
        TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
    }
}

/* The break interrupt may wait, or MOE may be gone without a flag. */
static void test_a_pulse_too_short_for_the_flag_stays(void) {
    for (unsigned timer = 0; timer < 2; timer++) {
        start();
        model_glitch(timer);
        TEST_ASSERT_FALSE(motor_enabled());
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
        TEST_ASSERT_TRUE(model_off());
        TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
        TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    }
}

static void enable(void) {
    (void)motor_enable();
}

static void init_and_read(void) {
    init();
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
}

static void test_anything_at_any_access_of_enable(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        TEST_ASSERT_GREATER_THAN_UINT(30, sweep(init_and_read, enable, &events[i]));
        TEST_ASSERT_GREATER_THAN_UINT(30, sweep(start, enable, &events[i])); /* enabled already */
    }
}

/* The drivers are not enabled for a moment if the e-stop comes before or after MOE is set. */
static void (*comes)(void);
static bool after_moe, enable_rose;
static void watch_enable(void) {
    enable_rose = enable_rose || model_level(PIN(C, 3));
    bool due = after_moe ? model_moe(0) : regmodel_write_count(&TIMER_B->EGR) > 1;
    void (*event)(void) = comes;
    if (due && event != NULL) {
        comes = NULL;
        event();
    }
}

static void test_the_drivers_stay_off_if_the_estop_comes_while_enabling(void) {
    for (unsigned i = 0; i < 2 * EVENTS; i++) {
        init_and_read(); /* has written EGR once */
        after_moe = i % 2 != 0;
        comes = events[i / 2].happens;
        enable_rose = false;
        model_each(watch_enable);
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
        model_each(NULL);
        TEST_ASSERT_NULL(comes);
        TEST_ASSERT_FALSE(enable_rose);
        expect_latched(&events[i / 2]);
    }
}

static void open_brake(void) {
    motor_brake_open(true);
}

static void close_brake(void) {
    motor_brake_open(false);
}

static void enabled_with_the_brake_closed(void) {
    start();
    motor_brake_open(false);
}

static void test_anything_at_any_access_of_the_brake(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        TEST_ASSERT_GREATER_THAN_UINT(4,
                                      sweep(enabled_with_the_brake_closed, open_brake, &events[i]));
        (void)sweep(start, close_brake, &events[i]);
    }
}

static void waiting_reversal(void) {
    start();
    motor_set(0, 20000);
    model_period_ends(0);
    motor_set(0, -20000);
    model_period_ends(0);
}

static void reverse(void) {
    motor_set(0, -20000);
}

static void test_a_break_at_any_access_of_a_reversal(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        if (events[i].happens != nmi) { /* after an NMI the direction may be high, with PWM off */
            TEST_ASSERT_EQUAL_UINT(3, sweep(waiting_reversal, reverse, &events[i]));
        }
    }
}

static void init_again(void) {
    (void)motor_init(PWM_HZ);
}

/* An e-stop that is open at the start, or never wired, is latched. (A pulse before the timers look at
 * their inputs cannot be.) */
static void test_a_press_at_any_access_of_init(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        if (events[i].lasts) {
            TEST_ASSERT_GREATER_THAN_UINT(100, sweep(setUp, init_again, &events[i]));
        }
        (void)sweep(start, init_again, &events[i]);
    }
}

static void clear(void) {
    (void)latch_clear();
}

/* A clear while nothing is latched and the outputs are on: what comes meanwhile stays. */
static void test_anything_at_any_access_of_clear_while_running(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        TEST_ASSERT_GREATER_THAN_UINT(4, sweep(start, clear, &events[i]));
    }
}

static void pressed_and_released(void) {
    start();
    model_pulse(0);
    model_settle();
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
}

/* A clear of an e-stop that is pressed again: a press that lasts is never lost. */
static void test_a_press_at_any_access_of_clear(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        if (events[i].lasts) {
            TEST_ASSERT_GREATER_THAN_UINT(10, sweep(pressed_and_released, clear, &events[i]));
        }
    }
}

/* A pulse at that time may be cleared with it: the outputs were off before and are off after. */
static void test_a_pulse_at_any_access_of_clear_switches_nothing_on(void) {
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned at = 0;
        for (bool more = !events[i].lasts; more; at++) {
            pressed_and_released();
            model_at(at, events[i].happens);
            clear();
            more = model_accesses() > at;
            model_at(0, NULL);
            model_settle();
            TEST_ASSERT_TRUE(model_off());
            (void)latch_read();
            TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
            TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
            TEST_ASSERT_TRUE(motor_enabled());
            model_pulse(1); /* armed again */
            model_settle();
            TEST_ASSERT_TRUE(model_off());
        }
    }
}

/* Ticks with a person who presses, bounces and clears at random accesses, and wants to move. */
static uint32_t seed;
static uint32_t draw(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static bool held[2], broken; /* broken: a break since the last clear that succeeded */
static unsigned bounces;
static void person(void) {
    unsigned timer = draw(2);
    switch (draw(3)) {
    case 0:
        held[timer] = !held[timer];
        model_press(timer, held[timer]);
        break;
    case 1:
        for (bounces = draw(5) + 1; bounces > 0; bounces--) {
            model_pulse(timer);
        }
        model_press(timer, held[timer]);
        break;
    default:
        held[0] = held[1] = false;
        release();
        return;
    }
    broken = true;
}

static void test_random_presses_and_clears(void) {
    unsigned moved = 0, cleared = 0;
    seed = 1;
    init();
    held[0] = held[1] = broken = false;
    for (unsigned i = 0; i < 100000; i++) {
        unsigned at = draw(60);
        bool someone = draw(3) == 0;
        model_at(at, someone ? person : NULL);
        bool latched = latch_read() != 0; /* the tick */
        if (latched && draw(4) == 0) {
            bool before = broken;
            broken = false; /* person() sets it again if it comes during the clear */
            bool still = latch_clear() != 0;
            cleared += !still;
            broken = still ? before || broken : broken && latch_read() != 0;
        } else if (!latched) {
            if (!motor_enabled()) {
                (void)motor_enable();
            }
            motor_set(0, (int32_t)draw(65535) - 32767);
            motor_brake_open(true);
        }
        someone = someone && model_accesses() <= at;
        model_at(0, NULL);
        if (someone) { /* between two ticks */
            person();
        }
        model_settle();
        if (broken || held[0] || held[1]) {
            TEST_ASSERT_TRUE(model_off());
            TEST_ASSERT_NOT_EQUAL(0, latch_read());
        }
        moved += motor_enabled();
        TEST_ASSERT_EQUAL(motor_enabled(), model_level(PIN(C, 3)));
        model_period_ends(0);
    }
    TEST_ASSERT_GREATER_THAN_UINT(10000, moved);
    TEST_ASSERT_GREATER_THAN_UINT(1000, cleared);
}

static void test_the_fault_pin_of_the_drivers(void) {
    start();
    model_driver_fault(true);
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_active());
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_read());
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_clear());
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
    model_driver_fault(false);
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
}

static void test_the_supply_of_the_chip(void) {
    start();
    model_power_low = true;
    TEST_ASSERT_EQUAL_HEX32(LATCH_POWER, latch_read());
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_EQUAL_HEX32(LATCH_POWER, latch_clear());
    model_power_low = false;
    TEST_ASSERT_EQUAL_HEX32(LATCH_POWER, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
}

/* An e-stop that is released can be cleared while the drivers still report a fault. */
static void test_each_cause_is_cleared_apart(void) {
    start();
    model_press(0, true);
    model_driver_fault(true);
    nmi();
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP | LATCH_DRIVER | LATCH_TICK, latch_read());
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP | LATCH_DRIVER, latch_active());
    model_press(0, false);
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_clear());
    model_driver_fault(false);
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
}

/* A cause that came after the tick has read the latch is not cleared behind its back. */
static void test_a_cause_that_nobody_has_read_stays(void) {
    start();
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    model_pulse(0);
    model_settle();
    nmi();
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP | LATCH_TICK, latch_clear());
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP | LATCH_TICK, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    model_pulse(1); /* the same cause again */
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_clear());
}

/* Nor is one that motor_enable has found: the tick has not told it to anybody yet. */
static void test_a_cause_that_only_enable_has_seen_stays(void) {
    start();
    TEST_ASSERT_EQUAL_HEX32(0, latch_read()); /* the tick begins */
    model_pulse(0);
    model_settle();
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable()); /* the tick ends */
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_clear());      /* of another fault, by a person */
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
}

/* A reversal that waits for the end of a period needs the update flag. */
static void test_clear_leaves_the_other_flags(void) {
    start();
    model_pulse(0);
    TEST_ASSERT_EQUAL_HEX32(LATCH_ESTOP, latch_read());
    model_period_ends(0);
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_EQUAL_HEX32(TIM_SR_UIF, regmodel_get(&TIMER_A->SR));
}

static void test_a_board_without_inputs(void) {
    model_board.motor.timers[0].break_pin = model_board.motor.timers[1].break_pin = 0;
    model_board.motor.stage.fault = 0;
    model_driver_fault(true);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIMER_A->BDTR) & BDTR_BKE);
    TEST_ASSERT_FALSE(motor_info().estop || motor_info().fault);
    model_press(0, true);
    model_press(1, true);
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
    TEST_ASSERT_EQUAL_HEX32(0, latch_active());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    latch_set(LATCH_TICK);
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_EQUAL_HEX32(LATCH_TICK, latch_read());
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
    TEST_ASSERT_EQUAL_HEX32(0, latch_clear());
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
}

/* The clock security also breaks the timers, which is not an e-stop. Last, because nothing takes this
 * cause back. */
static void test_a_lost_oscillator_stays_until_reset(void) {
    start();
    latch_set(LATCH_CLOCK); /* the NMI comes before the break interrupt */
    model_pulse(0);
    model_pulse(1);
    model_settle();
    TEST_ASSERT_TRUE(model_off());
    TEST_ASSERT_EQUAL_HEX32(LATCH_CLOCK, latch_read());
    TEST_ASSERT_EQUAL_HEX32(LATCH_CLOCK, latch_active());
    TEST_ASSERT_EQUAL_HEX32(LATCH_CLOCK, latch_clear());
    TEST_ASSERT_EQUAL_HEX32(LATCH_CLOCK, latch_read());
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
}

TEST_LIST_BEGIN
TEST(test_the_estop_has_not_been_seen_until_it_opens)
TEST(test_pressed_released_cleared_enabled)
TEST(test_a_pulse_within_a_tick_stays)
TEST(test_a_pulse_too_short_for_the_flag_stays)
TEST(test_anything_at_any_access_of_enable)
TEST(test_the_drivers_stay_off_if_the_estop_comes_while_enabling)
TEST(test_anything_at_any_access_of_the_brake)
TEST(test_a_break_at_any_access_of_a_reversal)
TEST(test_a_press_at_any_access_of_init)
TEST(test_anything_at_any_access_of_clear_while_running)
TEST(test_a_press_at_any_access_of_clear)
TEST(test_a_pulse_at_any_access_of_clear_switches_nothing_on)
TEST(test_random_presses_and_clears)
TEST(test_the_fault_pin_of_the_drivers)
TEST(test_the_supply_of_the_chip)
TEST(test_each_cause_is_cleared_apart)
TEST(test_a_cause_that_nobody_has_read_stays)
TEST(test_a_cause_that_only_enable_has_seen_stays)
TEST(test_clear_leaves_the_other_flags)
TEST(test_a_board_without_inputs)
TEST(test_a_lost_oscillator_stays_until_reset)
TEST_LIST_END

/*
 * Tests the motor driver on the model of two timers with break input
 * (test/support/hal/motor_model.h). Compiled for both families.
 */
#include "test/support/harness.h"

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/stm32/handlers.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/motor_model.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
enum { FREEZE_A = 1 << 10, FREEZE_B = 1 << 22, IRQ_A = 24, IRQ_B = 24 };
#define FREEZE_REG (&DBGMCU->CR)
#define CLOCKS     (1 << 11 | 1 << 16)
#else
enum { FREEZE_A = 1 << 0, FREEZE_B = 1 << 1, IRQ_A = 24, IRQ_B = 43 };
#define FREEZE_REG (&DBGMCU->APB2_FZ)
#define CLOCKS     (1 << 0 | 1 << 1)
#endif
#define ENABLE PIN(C, 3)
#define BRAKE  PIN(C, 4)

static bool pin_high(unsigned direction) {
    return model_level(PIN(C, direction));
}

static uint32_t compare(unsigned timer, unsigned channel) {
    return regmodel_get(&(timer == 0 ? TIMER_A : TIMER_B)->CCR[channel - 1]);
}

static void start(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
}

/* ---------------------------------------------------------------------------------------- tests */
static void test_init_is_the_manuals_sequence(void) {
    regmodel_log(REGMODEL_ADDRESS(TIMER_A),
                 REGMODEL_ADDRESS(&TIMER_A->ARR)); /* the configuration registers CR1 to ARR */
    regmodel_log(REGMODEL_ADDRESS(&TIMER_A->BDTR), REGMODEL_ADDRESS(&TIMER_A->BDTR));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    /* 500 ns at 168 MHz are 84 counts. */
    const uint32_t bdtr = 84 | BDTR_LOCK | BDTR_OSSI | BDTR_OSSR | BDTR_BKE | BDTR_BKP;
    EXPECT_WRITES({&TIMER_A->ARR, PERIOD - 1}, /* does the timer answer? */
                  {&TIMER_A->CR1, 0}, {&TIMER_A->DIER, 0}, {&TIMER_A->CR2, 0}, {&TIMER_A->PSC, 0},
                  {&TIMER_A->ARR, PERIOD - 1},
                  {&TIMER_A->CCMR[0], 0x6868},                /* channels 1 and 2: PWM 1, preload */
                  {&TIMER_A->CCMR[1], 0x0068},                /* channel 3 */
                  {&TIMER_A->CCER, 1 << 0 | 5 << 4 | 4 << 8}, /* CH1; CH2 with CH2N; CH3N alone */
                  {&TIMER_A->BDTR, bdtr},                     /* last: locks the rest */
                  {&TIMER_A->DIER, 1 << 7},                   /* BIE */
                  {&TIMER_A->CR1, 1 << 7 | 1 << 2 | 1 << 0},  /* ARPE, URS, CEN */
                  {&TIMER_A->EGR, 1});
    TEST_ASSERT_EQUAL_HEX32(84 | BDTR_LOCK | BDTR_OSSI | BDTR_OSSR | BDTR_BKE, /* active low */
                            regmodel_get(&TIMER_B->BDTR));
    /* Channel 2; channels 3 and 4 for the stage with two inputs. */
    TEST_ASSERT_EQUAL_HEX32(0x6800, regmodel_get(&TIMER_B->CCMR[0]));
    TEST_ASSERT_EQUAL_HEX32(0x6868, regmodel_get(&TIMER_B->CCMR[1]));
    TEST_ASSERT_EQUAL_HEX32(0x1110, regmodel_get(&TIMER_B->CCER));
    TEST_ASSERT_EQUAL_HEX32(FREEZE_A | FREEZE_B, regmodel_get(FREEZE_REG));
    TEST_ASSERT_EQUAL_HEX32(CLOCKS, regmodel_get(&RCC->APB2ENR) & CLOCKS);
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[IRQ_A]);
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[IRQ_B]);
}

static void test_outputs_stay_off_until_enabled(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_FALSE(model_moe(0) || model_moe(1));
    TEST_ASSERT_FALSE(motor_enabled());
    motor_set(0, MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_TRUE(model_moe(0) && model_moe(1));
    TEST_ASSERT_TRUE(motor_enabled());
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    /* A complementary output at half duty gives zero voltage. */
    TEST_ASSERT_EQUAL_UINT32(PERIOD / 2, model_timer[0].active_compare[1]);
}

static const pin_t stage_pins[] = {PIN(A, 8),  PIN(B, 15), PIN(C, 7), PIN(A, 9),
                                   PIN(B, 14), PIN(C, 8),  PIN(C, 9), PIN(C, 0),
                                   PIN(C, 1),  PIN(C, 2),  ENABLE,    BRAKE};
enum { STAGE_PINS = sizeof stage_pins };
static unsigned not_low;

static void count_high_pins(void) {
    for (unsigned i = 0; i < STAGE_PINS; i++) {
        not_low += !model_holds_low(stage_pins[i]);
    }
}

/* Finding H13: the pins floated while the clocks started. */
static void test_safe_drives_every_pin_low_and_needs_no_clock_but_the_ports(void) {
    fake_timer_hz = fake_bus_hz = 0;
    motor_safe();
    count_high_pins();
    TEST_ASSERT_EQUAL_UINT(0, not_low);
#ifdef HAL_STM32F1
    TEST_ASSERT_EQUAL_HEX32(1 | 7 << 2, regmodel_get(&RCC->APB2ENR)); /* AFIO, ports A to C */
#else
    TEST_ASSERT_EQUAL_HEX32(7, regmodel_get(&RCC->AHB1ENR));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->APB2ENR));
#endif
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->APB1ENR));
    TEST_ASSERT_EQUAL_UINT(0, regmodel_read_count(&TIMER_A->BDTR));
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIMER_A->BDTR));
}

/* From motor_safe on no pin floats or goes high before any access of motor_init, for the first time
 * and again. */
static void test_init_hands_the_pins_over_without_a_gap(void) {
    not_low = 0;
    motor_safe();
    model_each(count_high_pins);
    for (unsigned i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    }
    count_high_pins();
    model_each(NULL);
    TEST_ASSERT_EQUAL_UINT(0, not_low);
#ifndef HAL_STM32F1
    /*
     * PA8 and PA9 are alternate functions with pull-down. PB12 is one with pull-up, so that an open
     * wire is an e-stop.
     */
    TEST_ASSERT_EQUAL_HEX32(2u << 16 | 2u << 18, regmodel_get(&GPIO(PORT_A)->MODER) & 0xF0000);
    TEST_ASSERT_EQUAL_HEX32(2u << 16 | 2u << 18, regmodel_get(&GPIO(PORT_A)->PUPDR) & 0xF0000);
    TEST_ASSERT_EQUAL_HEX32(1u << 24, regmodel_get(&GPIO(PORT_B)->PUPDR) & 3u << 24);
    /* This input is active low. */
    TEST_ASSERT_EQUAL_HEX32(2u << 12, regmodel_get(&GPIO(PORT_A)->PUPDR) & 3u << 12);
    /* The fault pin is an input with pull-up. */
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&GPIO(PORT_B)->MODER) & 3u << 2);
    TEST_ASSERT_EQUAL_HEX32(1u << 2, regmodel_get(&GPIO(PORT_B)->PUPDR) & 3u << 2);
#else
    TEST_ASSERT_EQUAL_HEX32(0x99, regmodel_get(&GPIO(PORT_A)->CR[1]) & 0xFF);
    TEST_ASSERT_EQUAL_HEX32(8u << 16, regmodel_get(&GPIO(PORT_B)->CR[1]) & 15u << 16);
    TEST_ASSERT_EQUAL_HEX32(8u << 24, regmodel_get(&GPIO(PORT_A)->CR[0]) & 15u << 24);
    TEST_ASSERT_EQUAL_HEX32(8u << 4, regmodel_get(&GPIO(PORT_B)->CR[0]) & 15u << 4);
    TEST_ASSERT_TRUE(model_level(PIN(B, 1)) && model_level(PIN(B, 12)) && !model_level(PIN(A, 6)));
#endif
}

/* If the timers looked at their break inputs before the pins are connected, a floating pin would
 * count as an e-stop that has been seen. */
static void test_the_break_pins_are_inputs_before_the_timers_look(void) {
#ifdef HAL_STM32F1
    const volatile void *mode = &GPIO(PORT_B)->CR[1];
#else
    const volatile void *mode = &GPIO(PORT_B)->MODER;
#endif
    motor_safe();
    regmodel_log(REGMODEL_ADDRESS(&TIMER_A->BDTR), REGMODEL_ADDRESS(&TIMER_A->BDTR));
    regmodel_log(REGMODEL_ADDRESS(mode), REGMODEL_ADDRESS(mode));
    motor_init(PWM_HZ);
    unsigned connected = 0, looks = 0;
    for (unsigned i = regmodel_log_count(); i-- > 0;) {
        regmodel_write_log_t entry = regmodel_log_at(i);
        if (entry.address == REGMODEL_ADDRESS(&TIMER_A->BDTR)) {
            looks = i;
#ifdef HAL_STM32F1
        } else if ((entry.value >> 16 & 15) == 8) {
#else
        } else if ((entry.value >> 24 & 3) == 2) {
#endif
            connected = i;
        }
    }
    TEST_ASSERT_LESS_THAN_UINT(looks, connected);
}

static void test_rates(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_RATE, motor_init(0));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_RATE, motor_init(2500)); /* 67,200 counts do not fit */
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_RATE, motor_init(1000000));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_enable()); /* because it is not configured */
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(2600));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(600000)); /* 280 counts fit */
}

static void test_dead_time_is_never_too_short(void) {
    /* DTG in the manual: steps of 1, 2, 8 and 16 counts. */
    static const struct {
        uint32_t hz, field;
    } cases[] = {{2000000, 1},            /* 500 ns are 1 count */
                 {254000000, 127},        /* 127 */
                 {256000000, 0x80 | 0},   /* 128 = (64 + 0) * 2 */
                 {258000000, 0x80 | 1},   /* 129 -> 130 */
                 {508000000, 0x80 | 63},  /* 254 */
                 {510000000, 0xC0 | 0},   /* 255 -> 256 = (32 + 0) * 8 */
                 {1008000000, 0xC0 | 31}, /* 504 */
                 {1010000000, 0xE0 | 0},  /* 505 -> 512 = (32 + 0) * 16 */
                 {2016000000, 0xE0 | 31}, /* 1,008 is the largest */
                 {2100000000, 0xFF}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setUp();
        fake_timer_hz = cases[i].hz;
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(cases[i].hz / 4000));
        TEST_ASSERT_EQUAL_HEX32(cases[i].field, regmodel_get(&TIMER_A->BDTR) & BDTR_DTG);
    }
}

static void test_duty_and_direction(void) {
    start();
    motor_set(0, MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(PERIOD, compare(0, 1)); /* above ARR, so there is no low phase */
    motor_set(0, 2 * MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(PERIOD, compare(0, 1));
    motor_set(0, 16384); /* 0.50002 */
    TEST_ASSERT_EQUAL_UINT32(4200, compare(0, 1));
    motor_set(2, 1); /* 0.26 counts */
    TEST_ASSERT_EQUAL_UINT32(0, compare(1, 2));
    motor_set(2, 3277);
    TEST_ASSERT_EQUAL_UINT32(840, compare(1, 2));
    TEST_ASSERT_FALSE(pin_high(0) || pin_high(1) || pin_high(2));
}

static void test_complementary_duty_is_symmetric(void) {
    start();
    motor_set(3, 0);
    TEST_ASSERT_EQUAL_UINT32(4200, compare(0, 2));
    motor_set(3, MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(8400, compare(0, 2));
    motor_set(3, -2 * MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 2));
    motor_set(3, 8192);
    uint32_t plus = compare(0, 2);
    motor_set(3, -8192);
    TEST_ASSERT_EQUAL_UINT32(8400, plus + compare(0, 2));
}

static void test_a_reversal_passes_through_a_period_of_zero(void) {
    start();
    motor_set(1, 20000);
    model_period_ends(0);
    motor_set(1, -20000);
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 3));
    TEST_ASSERT_FALSE(pin_high(1));
    motor_set(1, -20000); /* the period with the old duty still runs */
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 3));
    TEST_ASSERT_FALSE(pin_high(1));
    model_period_ends(0);
    motor_set(1, -20000);
    TEST_ASSERT_TRUE(pin_high(1));
    TEST_ASSERT_EQUAL_UINT32(5127, compare(0, 3)); /* 20000 / 32767 * 8400 = 5127.1 */
    model_period_ends(0);
    motor_set(1, -30000);
    TEST_ASSERT_EQUAL_UINT32(7691, compare(0, 3)); /* same sign: takes effect at once */
}

static void test_a_reversal_that_is_taken_back_moves_no_pin(void) {
    start();
    motor_set(0, 20000);
    model_period_ends(0);
    motor_set(0, -20000);
    motor_set(0, 10000);
    TEST_ASSERT_FALSE(pin_high(0));
    TEST_ASSERT_EQUAL_UINT32(2564, compare(0, 1));
    model_period_ends(0);
    motor_set(0, -20000); /* waits again: that period ended before this reversal began */
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    TEST_ASSERT_FALSE(pin_high(0));
}

static void test_random_commands_never_reverse_under_load(void) {
    start();
    uint32_t seed = 1;
    unsigned reversals = 0;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned motor = (seed >> 28) % 5;
        int32_t duty = (int32_t)(seed >> 8 & 0xFFFF) - 32768;
        bool before = pin_high(0);
        motor_set(motor, seed & 64 ? duty : duty / 32768);
        reversals += pin_high(0) != before;
        if (seed & 128) {
            model_period_ends(seed >> 29 & 1);
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT(100, reversals); /* so the check of the model was used */
}

static void test_off_is_immediate_and_safe_twice(void) {
    start();
    motor_set(0, 20000);
    model_period_ends(0);
    motor_off();
    TEST_ASSERT_FALSE(model_moe(0) || model_moe(1));
    TEST_ASSERT_FALSE(motor_enabled());
    motor_off();
    motor_set(0, 20000);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    /* The duty is zero, not the previous one. */
    TEST_ASSERT_EQUAL_UINT32(0, model_timer[0].active_compare[0]);
}

static void test_off_drives_the_direction_pins_low(void) {
    start();
    motor_set(0, -20000);
    model_period_ends(0);
    motor_set(0, -20000);
    TEST_ASSERT_TRUE(pin_high(0));
    motor_off();
    TEST_ASSERT_FALSE(pin_high(0));
}

static void test_off_before_init_keeps_the_lock_bits_free(void) {
    motor_off();
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIMER_A->BDTR));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_EQUAL_HEX32(BDTR_LOCK, regmodel_get(&TIMER_A->BDTR) & BDTR_LOCK);
}

static void test_init_again_changes_the_rate_only(void) {
    start();
    uint32_t bdtr = regmodel_get(&TIMER_A->BDTR);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(10000));
    TEST_ASSERT_FALSE(model_moe(0));
    TEST_ASSERT_EQUAL_UINT32(16799, regmodel_get(&TIMER_A->ARR));
    TEST_ASSERT_EQUAL_HEX32(bdtr & ~(uint32_t)BDTR_MOE, regmodel_get(&TIMER_A->BDTR));
}

static void test_two_inputs_drive_and_short(void) {
    static const struct {
        int32_t duty;
        uint32_t in1, in2;
    } cases[] = {
        {0, PERIOD, PERIOD}, /* both high: shorted */
        {MOTOR_DUTY_ONE, PERIOD, 0},
        {-MOTOR_DUTY_ONE, 0, PERIOD},
        {2 * MOTOR_DUTY_ONE, PERIOD, 0},
        {-2 * MOTOR_DUTY_ONE, 0, PERIOD},
        {16384, PERIOD, 4200},
        {-16384, 4200, PERIOD},
        {20000, PERIOD, PERIOD - 5127},
        {1, PERIOD, PERIOD},
        {-3277, PERIOD - 840, PERIOD},
    };
    start();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        motor_set(4, cases[i].duty);
        TEST_ASSERT_EQUAL_UINT32(cases[i].in1, compare(1, 3));
        TEST_ASSERT_EQUAL_UINT32(cases[i].in2, compare(1, 4));
    }
}

/* A reversal does not wait. If a period begins between the writes of the two compare registers, the
 * voltage of that period lies between the old and the new one. */
static int32_t between[2];
static void period_begins(void) {
    model_period_ends(1);
    between[0] = (int32_t)model_timer[1].active_compare[2];
    between[1] = (int32_t)model_timer[1].active_compare[3];
}

static void test_two_inputs_reverse_within_a_period(void) {
    static const int32_t duties[] = {-MOTOR_DUTY_ONE, -20000, 0, 7000, MOTOR_DUTY_ONE};
    start();
    for (unsigned from = 0; from < 5; from++) {
        for (unsigned to = 0; to < 5; to++) {
            motor_set(4, duties[from]);
            int32_t old = (int32_t)compare(1, 3) - (int32_t)compare(1, 4);
            model_at(1, period_begins); /* after the first of two writes */
            motor_set(4, duties[to]);
            int32_t new = (int32_t)compare(1, 3) - (int32_t)compare(1, 4);
            TEST_ASSERT_EQUAL_UINT(2, model_accesses());
            int32_t mixed = between[0] - between[1];
            TEST_ASSERT_TRUE(mixed >= (old < new ? old : new) && mixed <= (old < new ? new : old));
        }
    }
}

/* Finding H4: zero duty and off are different levels: both inputs high, both low. */
static uint32_t compare_at_moe[2];
static void note_compare(void) {
    if (model_moe(1) && compare_at_moe[0] == UINT32_MAX) {
        compare_at_moe[0] = model_timer[1].active_compare[2];
        compare_at_moe[1] = model_timer[1].active_compare[3];
    }
}

static void test_two_inputs_are_high_from_the_moment_of_enabling(void) {
    start();
    motor_set(4, 20000);
    model_period_ends(1);
    motor_off();
    TEST_ASSERT_TRUE(model_holds_low(PIN(C, 8)) && model_holds_low(PIN(C, 9)));
    compare_at_moe[0] = UINT32_MAX;
    model_each(note_compare);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    model_each(NULL);
    TEST_ASSERT_EQUAL_UINT32(PERIOD, compare_at_moe[0]);
    TEST_ASSERT_EQUAL_UINT32(PERIOD, compare_at_moe[1]);
    TEST_ASSERT_FALSE(model_holds_low(PIN(C, 8)) || model_holds_low(PIN(C, 9)));
}

static unsigned early;
static void count_early(void) {
    early += model_level(ENABLE) && !(model_moe(0) && model_moe(1));
    early += model_level(BRAKE) && !model_level(ENABLE);
}

static void test_enable_rises_after_the_outputs_and_falls_with_them(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    early = 0;
    model_each(count_early);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_TRUE(model_level(ENABLE));
    model_each(NULL);
    TEST_ASSERT_EQUAL_UINT(0, early);
    motor_off();
    TEST_ASSERT_FALSE(model_level(ENABLE));
}

static void test_the_brake_opens_only_while_the_outputs_are_on(void) {
    motor_brake_open(true); /* before motor_init */
    TEST_ASSERT_FALSE(model_level(BRAKE));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    motor_brake_open(true);
    TEST_ASSERT_FALSE(model_level(BRAKE));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_FALSE(model_level(BRAKE)); /* enabling does not open it */
    motor_brake_open(true);
    TEST_ASSERT_TRUE(model_level(BRAKE));
    motor_brake_open(false);
    TEST_ASSERT_FALSE(model_level(BRAKE));
    TEST_ASSERT_TRUE(motor_enabled());
    motor_brake_open(true);
    motor_off();
    TEST_ASSERT_FALSE(model_level(BRAKE));
}

/* Pins of the other polarity: off is high, from the first instruction on. */
static void test_pins_that_are_on_when_low(void) {
    model_board.motor.stage.enable_low = model_board.motor.stage.brake_low = true;
    model_board.motor.stage.fault_high = true;
    motor_safe();
    TEST_ASSERT_TRUE(model_level(ENABLE) && model_level(BRAKE));
    model_driver_fault(true); /* low */
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_TRUE(model_level(ENABLE) && model_level(BRAKE));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_FALSE(model_level(ENABLE));
    TEST_ASSERT_TRUE(model_level(BRAKE));
    motor_brake_open(true);
    TEST_ASSERT_FALSE(model_level(BRAKE));
    model_driver_fault(false); /* high: a fault */
    TEST_ASSERT_EQUAL_HEX32(LATCH_DRIVER, latch_read());
    TEST_ASSERT_TRUE(model_level(ENABLE) && model_level(BRAKE));
}

static void test_a_break_while_running(void) {
    start();
    TEST_ASSERT_EQUAL_HEX32(TIM_DIER_BIE, regmodel_get(&TIMER_A->DIER));
    motor_set(0, -20000);
    model_period_ends(0);
    motor_set(0, -20000);
    motor_brake_open(true);
    model_press(0, true);
    TEST_ASSERT_FALSE(model_moe(0)); /* switched off by hardware */
    TEST_ASSERT_TRUE(model_moe(1) && model_level(BRAKE));
    model_settle();
    TEST_ASSERT_TRUE(model_off()); /* the interrupt switched off the rest */
    TEST_ASSERT_FALSE(motor_enabled());
    /*
     * While the input is active the flag cannot be cleared, so the interrupt must be disabled or it
     * would never end.
     */
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIMER_A->DIER));
    motor_set(0, 30000);
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_LATCHED, motor_enable());
}

static void test_an_interrupt_without_a_break_changes_nothing(void) {
    start();
    motor_break_irq();
    TEST_ASSERT_TRUE(motor_enabled());
    TEST_ASSERT_EQUAL_HEX32(0, latch_read());
}

static void test_what_the_board_can_do(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_RATE, motor_init(0));
    TEST_ASSERT_EQUAL_UINT(0, motor_info().count);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    motor_info_t info = motor_info();
    TEST_ASSERT_EQUAL_UINT(5, info.count);
    TEST_ASSERT_TRUE(info.estop && info.enable && info.brake && info.fault && info.damps);
    TEST_ASSERT_EQUAL_UINT16(40, info.brake_open_ms);
    TEST_ASSERT_EQUAL_UINT16(30, info.brake_close_ms);
    /* Without enable pin, a motor with direction cannot tell zero duty from off. */
    model_board.motor.stage = (board_stage_t){0};
    info = motor_info();
    TEST_ASSERT_FALSE(info.enable || info.brake || info.fault || info.damps);
    model_board.motor.motor_count = 2;
    model_board.motor.motors[0] = model_board.motor.motors[3];
    model_board.motor.motors[1] = model_board.motor.motors[4];
    TEST_ASSERT_TRUE(motor_info().damps); /* complementary and IN/IN */
}

static void test_the_emulator_has_no_motor_timers(void) {
    regmodel_absent(REGMODEL_ADDRESS(TIMER_A), REGMODEL_ADDRESS(&TIMER_A->BDTR));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_init(PWM_HZ));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_enable());
    motor_off();
    motor_set(0, 1000);
    motor_brake_open(true);
    TEST_ASSERT_FALSE(motor_enabled());
    TEST_ASSERT_FALSE(model_level(BRAKE));
    TEST_ASSERT_EQUAL_UINT(0, motor_info().count);
    TEST_ASSERT_FALSE(motor_info().estop);
}

static void test_a_motor_that_is_not_there_is_ignored(void) {
    start();
    motor_set(5, 1000);
    motor_set(UINT32_MAX, 1000);
}

TEST_LIST_BEGIN
TEST(test_init_is_the_manuals_sequence)
TEST(test_outputs_stay_off_until_enabled)
TEST(test_safe_drives_every_pin_low_and_needs_no_clock_but_the_ports)
TEST(test_init_hands_the_pins_over_without_a_gap)
TEST(test_the_break_pins_are_inputs_before_the_timers_look)
TEST(test_rates)
TEST(test_dead_time_is_never_too_short)
TEST(test_duty_and_direction)
TEST(test_complementary_duty_is_symmetric)
TEST(test_a_reversal_passes_through_a_period_of_zero)
TEST(test_a_reversal_that_is_taken_back_moves_no_pin)
TEST(test_random_commands_never_reverse_under_load)
TEST(test_off_is_immediate_and_safe_twice)
TEST(test_off_drives_the_direction_pins_low)
TEST(test_off_before_init_keeps_the_lock_bits_free)
TEST(test_init_again_changes_the_rate_only)
TEST(test_two_inputs_drive_and_short)
TEST(test_two_inputs_reverse_within_a_period)
TEST(test_two_inputs_are_high_from_the_moment_of_enabling)
TEST(test_enable_rises_after_the_outputs_and_falls_with_them)
TEST(test_pins_that_are_on_when_low)
TEST(test_the_brake_opens_only_while_the_outputs_are_on)
TEST(test_a_break_while_running)
TEST(test_an_interrupt_without_a_break_changes_nothing)
TEST(test_what_the_board_can_do)
TEST(test_the_emulator_has_no_motor_timers)
TEST(test_a_motor_that_is_not_there_is_ignored)
TEST_LIST_END

/*
 * Tests the motor driver with a model of two timers with break input (RM0090, TIM1 and TIM8). BDTR
 * locks itself; while the input is active MOE cannot be set and the break flag cannot be cleared;
 * compare registers are preloaded. Compiled for both families.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/motor.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
#define TIMER_B TIM15
enum { FREEZE_A = 1 << 10, FREEZE_B = 1 << 22, IRQ_A = 24, IRQ_B = 24 };
#define CLOCK_B    RCC_TIM15
#define FREEZE_REG (&DBGMCU->CR)
#define CLOCKS     (1 << 11 | 1 << 16)
#else
#define TIMER_B    TIM8
enum { FREEZE_A = 1 << 0, FREEZE_B = 1 << 1, IRQ_A = 24, IRQ_B = 43 };
#define CLOCK_B    RCC_TIM8
#define FREEZE_REG (&DBGMCU->APB2_FZ)
#define CLOCKS     (1 << 0 | 1 << 1)
#endif
#define TIMER_A TIM1

enum { HZ = 168000000, PWM_HZ = 20000, PERIOD = 8400 };

/* Motors: one on CHx with direction, one on CHxN with direction, one on the other timer, one
 * complementary. */
const board_t board = {
    .motor = {.timer_count = 2,
              .timers = {{TIMER_A, RCC_TIM1, FREEZE_A, .break_pin = PIN(B, 12), .break_af = 1,
                          .break_irq = IRQ_A},
                         {TIMER_B, CLOCK_B, FREEZE_B, .break_pin = PIN(A, 6), .break_af = 3,
                          .break_active_low = true, .break_irq = IRQ_B}},
              .motor_count = 4,
              .motors = {{0, 1, .af = 1, .pwm = PIN(A, 8), .direction = PIN(C, 0)},
                         {0, 3, .af = 1, .pwm_n = PIN(B, 15), .direction = PIN(C, 1)},
                         {1, 2, .af = 3, .pwm = PIN(C, 7), .direction = PIN(C, 2)},
                         {0, 2, .af = 1, .pwm = PIN(A, 9), .pwm_n = PIN(B, 14)}},
              .dead_time_ns = 500},
};

/* -------------------------------------------------------------------------- model of the timers */
enum {
    BDTR_DTG = 0xFF,
    BDTR_LOCK = 3 << 8,
    BDTR_OSSI = 1 << 10,
    BDTR_OSSR = 1 << 11,
    BDTR_BKE = 1 << 12,
    BDTR_BKP = 1 << 13,
    BDTR_AOE = 1 << 14,
    BDTR_MOE = 1 << 15,
};

typedef struct {
    tim_t *regs;
    bool break_active;
    bool bdtr_written;
    bool break_with_moe; /* the input becomes active at the moment when MOE is set */
    bool was_on;
    uint32_t active_compare[4]; /* CCR of the last update event, which the output uses */
} timer_model_t;

static timer_model_t model[2];
static unsigned wrong;       /* number of accesses that the manual or our safety rules forbid */
static unsigned break_calls; /* calls of the firmware's break function */
static bool outputs_off_in_break; /* state at the time of that call */
static bool pin_high[3];          /* direction pins PC0 to PC2 */

static timer_model_t *model_at(uint32_t address) {
    return address >= REGMODEL_ADDRESS(TIMER_A) && address <= REGMODEL_ADDRESS(&TIMER_A->BDTR)
               ? &model[0]
               : &model[1];
}

static bool on(unsigned timer) {
    return (regmodel_get(&model[timer].regs->BDTR) & BDTR_MOE) != 0;
}

static void update_event(timer_model_t *m) {
    for (unsigned c = 0; c < 4; c++) {
        m->active_compare[c] = regmodel_get(&m->regs->CCR[c]);
    }
}

static void period_ends(unsigned timer) {
    update_event(&model[timer]);
    regmodel_set(&model[timer].regs->SR, regmodel_get(&model[timer].regs->SR) | TIM_SR_UIF);
}

static void break_input(unsigned timer, bool active) {
    tim_t *regs = model[timer].regs;
    model[timer].break_active = active;
    if (active && (regmodel_get(&regs->BDTR) & BDTR_BKE)) {
        regmodel_set(&regs->BDTR, regmodel_get(&regs->BDTR) & ~(uint32_t)BDTR_MOE);
        regmodel_set(&regs->SR, regmodel_get(&regs->SR) | TIM_SR_BIF);
    }
}

static uint32_t timer_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    timer_model_t *m = model_at(address);
    tim_t *regs = m->regs;
    bool lock3 = (regmodel_get(&regs->BDTR) & BDTR_LOCK) == BDTR_LOCK;
    (void)width;
    if (address == REGMODEL_ADDRESS(&regs->BDTR)) {
        uint32_t frozen = m->bdtr_written ? BDTR_LOCK : 0;
        if (lock3) {
            frozen |= BDTR_DTG | BDTR_OSSI | BDTR_OSSR | BDTR_BKE | BDTR_BKP | BDTR_AOE;
        }
        m->bdtr_written = true;
        value = (stored & frozen) | (value & ~frozen);
        m->break_active = m->break_active || (m->break_with_moe && (value & BDTR_MOE));
        if (m->break_active && (value & BDTR_BKE)) {
            value &= ~(uint32_t)BDTR_MOE;
            regmodel_set(&regs->SR, regmodel_get(&regs->SR) | TIM_SR_BIF);
        }
        m->was_on = m->was_on || (value & BDTR_MOE);
        return value;
    }
    if (address == REGMODEL_ADDRESS(&regs->SR)) {
        value &= stored;
        bool stuck = m->break_active && (regmodel_get(&regs->BDTR) & BDTR_BKE);
        return stuck ? value | TIM_SR_BIF : value;
    }
    if (address == REGMODEL_ADDRESS(&regs->EGR)) {
        if (value & TIM_EGR_UG) {
            update_event(m);
        }
        return 0;
    }
    if (lock3 &&
        (address == REGMODEL_ADDRESS(&regs->CCMR[0]) ||
         address == REGMODEL_ADDRESS(&regs->CCMR[1]) || address == REGMODEL_ADDRESS(&regs->CR2))) {
        return stored;
    }
    return value;
}

/* Counts an error if a direction pin changes while its output is on with nonzero duty. */
static uint32_t direction_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    static const struct { unsigned timer, channel; } output[3] = {{0, 0}, {0, 2}, {1, 1}};
    (void)address;
    (void)width;
    (void)stored;
    for (unsigned i = 0; i < 3; i++) {
        bool set = value >> i & 1, clear = value >> (i + 16) & 1;
        if ((set && !pin_high[i]) || (clear && pin_high[i])) {
            wrong += on(output[i].timer) &&
                     model[output[i].timer].active_compare[output[i].channel] != 0;
        }
        pin_high[i] = (pin_high[i] && !clear) || set;
    }
    return value;
}

void motor_estop_interrupt(void) {
    break_calls++;
    outputs_off_in_break = !on(0) && !on(1);
}

static void model_timers(void) {
    regmodel_device(REGMODEL_ADDRESS(TIMER_A), REGMODEL_ADDRESS(&TIMER_A->BDTR), NULL, timer_write);
    regmodel_device(REGMODEL_ADDRESS(TIMER_B), REGMODEL_ADDRESS(&TIMER_B->BDTR), NULL, timer_write);
    regmodel_device(REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR), REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR),
                    NULL, direction_write);
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    motor_off(); /* resets the state that the previous test left in the driver */
    regmodel_reset();
    memset(model, 0, sizeof model);
    memset(pin_high, 0, sizeof pin_high);
    model[0].regs = TIMER_A;
    model[1].regs = TIMER_B;
    wrong = break_calls = 0;
    fake_clock = (clock_info_t){.core_hz = HZ};
    fake_bus_hz = HZ / 2;
    fake_timer_hz = HZ;
    model_timers();
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, wrong, "a direction changed under load");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.lock_depth);
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

static uint32_t compare(unsigned timer, unsigned channel) {
    return regmodel_get(&model[timer].regs->CCR[channel - 1]);
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
    EXPECT_WRITES({&TIMER_A->CR1, 0}, {&TIMER_A->DIER, 0}, {&TIMER_A->CR2, 0}, {&TIMER_A->PSC, 0},
                  {&TIMER_A->ARR, PERIOD - 1},
                  {&TIMER_A->CCMR[0], 0x6868},                /* channels 1 and 2: PWM 1, preload */
                  {&TIMER_A->CCMR[1], 0x0068},                /* channel 3 */
                  {&TIMER_A->CCER, 1 << 0 | 5 << 4 | 4 << 8}, /* CH1; CH2 with CH2N; CH3N alone */
                  {&TIMER_A->BDTR, bdtr},                     /* last: locks the rest */
                  {&TIMER_A->CR1, 1 << 7 | 1 << 2 | 1 << 0},  /* ARPE, URS, CEN */
                  {&TIMER_A->EGR, 1});
    TEST_ASSERT_EQUAL_HEX32(84 | BDTR_LOCK | BDTR_OSSI | BDTR_OSSR | BDTR_BKE, /* active low */
                            regmodel_get(&TIMER_B->BDTR));
    TEST_ASSERT_EQUAL_HEX32(FREEZE_A | FREEZE_B, regmodel_get(FREEZE_REG));
    TEST_ASSERT_EQUAL_HEX32(CLOCKS, regmodel_get(&RCC->APB2ENR) & CLOCKS);
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[IRQ_A]);
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[IRQ_B]);
}

static void test_outputs_stay_off_until_enabled(void) {
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
    TEST_ASSERT_FALSE(on(0) || on(1));
    TEST_ASSERT_FALSE(motor_enabled());
    motor_set(0, MOTOR_DUTY_ONE);
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_TRUE(on(0) && on(1));
    TEST_ASSERT_TRUE(motor_enabled());
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    /* A complementary output at half duty gives zero voltage. */
    TEST_ASSERT_EQUAL_UINT32(PERIOD / 2, model[0].active_compare[1]);
}

static void test_pins_are_connected_when_the_timer_holds_them_low(void) {
    regmodel_log(REGMODEL_ADDRESS(&TIMER_B->BDTR), REGMODEL_ADDRESS(&TIMER_B->BDTR));
    for (unsigned port = 0; port < 3; port++) {
        regmodel_log(REGMODEL_ADDRESS(GPIO(port)), REGMODEL_ADDRESS(GPIO(port)) + 4);
    }
    motor_init(PWM_HZ);
    TEST_ASSERT_EQUAL_HEX32(REGMODEL_ADDRESS(&TIMER_B->BDTR), regmodel_log_at(0).address);
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
#else
    TEST_ASSERT_EQUAL_HEX32(0x99, regmodel_get(&GPIO(PORT_A)->CR[1]) & 0xFF);
    TEST_ASSERT_EQUAL_HEX32(8u << 16, regmodel_get(&GPIO(PORT_B)->CR[1]) & 15u << 16);
    TEST_ASSERT_EQUAL_HEX32(8u << 24, regmodel_get(&GPIO(PORT_A)->CR[0]) & 15u << 24);
#endif
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
    TEST_ASSERT_FALSE(pin_high[0] || pin_high[1] || pin_high[2]);
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
    period_ends(0);
    motor_set(1, -20000);
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 3));
    TEST_ASSERT_FALSE(pin_high[1]);
    motor_set(1, -20000); /* the period with the old duty still runs */
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 3));
    TEST_ASSERT_FALSE(pin_high[1]);
    period_ends(0);
    motor_set(1, -20000);
    TEST_ASSERT_TRUE(pin_high[1]);
    TEST_ASSERT_EQUAL_UINT32(5127, compare(0, 3)); /* 20000 / 32767 * 8400 = 5127.1 */
    period_ends(0);
    motor_set(1, -30000);
    TEST_ASSERT_EQUAL_UINT32(7691, compare(0, 3)); /* same sign: takes effect at once */
}

static void test_a_reversal_that_is_taken_back_moves_no_pin(void) {
    start();
    motor_set(0, 20000);
    period_ends(0);
    motor_set(0, -20000);
    motor_set(0, 10000);
    TEST_ASSERT_FALSE(pin_high[0]);
    TEST_ASSERT_EQUAL_UINT32(2564, compare(0, 1));
    period_ends(0);
    motor_set(0, -20000); /* waits again: that period ended before this reversal began */
    TEST_ASSERT_EQUAL_UINT32(0, compare(0, 1));
    TEST_ASSERT_FALSE(pin_high[0]);
}

static void test_random_commands_never_reverse_under_load(void) {
    start();
    uint32_t seed = 1;
    unsigned reversals = 0;
    for (unsigned i = 0; i < 20000; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned motor = seed >> 30;
        int32_t duty = (int32_t)(seed >> 8 & 0xFFFF) - 32768;
        bool before = pin_high[0];
        motor_set(motor, seed & 64 ? duty : duty / 32768);
        reversals += pin_high[0] != before;
        if (seed & 128) {
            period_ends(seed >> 29 & 1);
        }
    }
    TEST_ASSERT_GREATER_THAN_UINT(100, reversals); /* so direction_write was tested */
}

static void test_off_is_immediate_and_safe_twice(void) {
    start();
    motor_set(0, 20000);
    period_ends(0);
    motor_off();
    TEST_ASSERT_FALSE(on(0) || on(1));
    TEST_ASSERT_FALSE(motor_enabled());
    motor_off();
    motor_set(0, 20000);
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    /* The duty is zero, not the previous one. */
    TEST_ASSERT_EQUAL_UINT32(0, model[0].active_compare[0]);
}

static void test_off_drives_the_direction_pins_low(void) {
    start();
    motor_set(0, -20000);
    period_ends(0);
    motor_set(0, -20000);
    TEST_ASSERT_TRUE(pin_high[0]);
    motor_off();
    TEST_ASSERT_FALSE(pin_high[0]);
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
    TEST_ASSERT_FALSE(on(0));
    TEST_ASSERT_EQUAL_UINT32(16799, regmodel_get(&TIMER_A->ARR));
    TEST_ASSERT_EQUAL_HEX32(bdtr & ~(uint32_t)BDTR_MOE, regmodel_get(&TIMER_A->BDTR));
}

static void test_a_break_at_enable_refuses(void) {
    for (unsigned timer = 0; timer < 2; timer++) {
        setUp();
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
        break_input(timer, true);
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ESTOP, motor_enable());
        TEST_ASSERT_FALSE(model[0].was_on || model[1].was_on); /* the other timer was never on */
        TEST_ASSERT_FALSE(motor_enabled());
        TEST_ASSERT_TRUE(motor_estop_latched());
        break_input(timer, false);
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
        TEST_ASSERT_FALSE(motor_estop_latched());
    }
}

static void test_a_break_in_the_moment_of_enabling_refuses(void) {
    for (unsigned timer = 0; timer < 2; timer++) {
        setUp();
        TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_init(PWM_HZ));
        model[timer].break_with_moe = true;
        TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ESTOP, motor_enable());
        TEST_ASSERT_FALSE(on(0) || on(1));
        TEST_ASSERT_FALSE(motor_enabled());
        TEST_ASSERT_TRUE(motor_estop_latched());
    }
}

static void test_a_break_while_running(void) {
    start();
    TEST_ASSERT_EQUAL_HEX32(TIM_DIER_BIE, regmodel_get(&TIMER_A->DIER));
    motor_set(0, 20000);
    break_input(0, true);
    TEST_ASSERT_FALSE(on(0)); /* switched off by hardware */
    TEST_ASSERT_TRUE(on(1));
    motor_break_irq();
    TEST_ASSERT_FALSE(on(1)); /* switched off by software */
    TEST_ASSERT_EQUAL_UINT(1, break_calls);
    TEST_ASSERT_TRUE(outputs_off_in_break);
    TEST_ASSERT_TRUE(motor_estop_latched());
    TEST_ASSERT_FALSE(motor_enabled());
    /*
     * While the input is active the flag cannot be cleared, so the interrupt must be disabled or it
     * would never end.
     */
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIMER_A->DIER));
    motor_set(0, 30000);
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ESTOP, motor_enable());
    break_input(0, false);
    TEST_ASSERT_TRUE(motor_estop_latched()); /* latched until motor_enable, although the input is
                                              * inactive */
    TEST_ASSERT_EQUAL_INT(MOTOR_OK, motor_enable());
    TEST_ASSERT_EQUAL_HEX32(TIM_DIER_BIE, regmodel_get(&TIMER_A->DIER));
}

static void test_a_break_that_was_short_still_stays(void) {
    start();
    break_input(1, true);
    break_input(1, false);
    TEST_ASSERT_FALSE(motor_enabled()); /* also before the interrupt ran */
    motor_break_irq();
    TEST_ASSERT_FALSE(on(0) || on(1));
    TEST_ASSERT_TRUE(motor_estop_latched());
}

static void test_an_interrupt_without_a_break_changes_nothing(void) {
    start();
    motor_break_irq();
    TEST_ASSERT_TRUE(motor_enabled());
    TEST_ASSERT_EQUAL_UINT(0, break_calls);
}

static void test_the_emulator_has_no_motor_timers(void) {
    regmodel_absent(REGMODEL_ADDRESS(TIMER_A), REGMODEL_ADDRESS(&TIMER_A->BDTR));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_init(PWM_HZ));
    TEST_ASSERT_EQUAL_INT(MOTOR_ERR_ABSENT, motor_enable());
    motor_off();
    motor_set(0, 1000);
    TEST_ASSERT_FALSE(motor_enabled());
}

static void test_a_motor_that_is_not_there_is_ignored(void) {
    start();
    TEST_ASSERT_EQUAL_UINT(4, motor_count());
    motor_set(4, 1000);
    motor_set(UINT32_MAX, 1000);
}

TEST_LIST_BEGIN
TEST(test_init_is_the_manuals_sequence)
TEST(test_outputs_stay_off_until_enabled)
TEST(test_pins_are_connected_when_the_timer_holds_them_low)
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
TEST(test_a_break_at_enable_refuses)
TEST(test_a_break_in_the_moment_of_enabling_refuses)
TEST(test_a_break_while_running)
TEST(test_a_break_that_was_short_still_stays)
TEST(test_an_interrupt_without_a_break_changes_nothing)
TEST(test_the_emulator_has_no_motor_timers)
TEST(test_a_motor_that_is_not_there_is_ignored)
TEST_LIST_END

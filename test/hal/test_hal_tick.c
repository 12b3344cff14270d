/*
 * Tests the tick on TIM2 and the counter of hal/cycles.h, as on silicon and as in the emulator.
 */
#include "test/support/harness.h"

#include "hal/cortexm/counter.h"
#include "hal/flash.h"
#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "hal/tick.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

const uint32_t flash_kept = 0;
const board_t board = {.tick = {.regs = TIM2, .clock = RCC_TIM2, .irq = 28}};

static unsigned ticks;
static bool flag_at_entry, overrun_seen, late;

void tick_interrupt(void) {
    ticks++;
    flag_at_entry = (regmodel_get(&TIM2->SR) & TIM_SR_UIF) != 0;
    if (late) {
        regmodel_set(&TIM2->SR, TIM_SR_UIF); /* the next period ends during this interrupt */
    }
    overrun_seen = tick_overrun();
}

/* Writing zeros clears the flags of a timer; ones keep them. */
static uint32_t sr_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    return stored & value;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    ticks = 0;
    late = false;
    fake_clock = (clock_info_t){.core_hz = 168000000, .tick_timer_hz = 84000000};
    regmodel_device(REGMODEL_ADDRESS(&TIM2->SR), REGMODEL_ADDRESS(&TIM2->SR), NULL, sr_write);
    regmodel_log(REGMODEL_ADDRESS(TIM2), REGMODEL_ADDRESS(&TIM2->BDTR));
}

static void test_start_on_silicon(void) {
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(1000));
    EXPECT_WRITES({&TIM2->CR1, 0}, {&TIM2->ARR, 84000 - 1}, {&TIM2->CNT, 0}, {&TIM2->SR, 0},
                  {&TIM2->DIER, TIM_DIER_UIE}, {&TIM2->CR1, TIM_CR1_CEN});
    TEST_ASSERT_EQUAL_HEX32(1 << 0, regmodel_get(&RCC->APB1ENR));
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_TICK, host_irq.priority[28]);
    TEST_ASSERT_EQUAL_UINT(0,
                           /* TIM2 keeps running while the core is halted */
                           regmodel_write_count(&DBGMCU->APB1_FZ));
}

static void test_start_in_the_emulator(void) {
    fake_clock.emulated = true;
    fake_clock.tick_timer_hz = 1000000000;
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(1000));
    TEST_ASSERT_EQUAL_UINT32(1000000, regmodel_get(&TIM2->ARR));
    /* Writing any of these registers would give the emulated timer a wrong period. */
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIM2->EGR));
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIM2->CNT));
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIM2->PSC));
}

static void test_rates(void) {
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(0));
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(99));
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(20001));
    TEST_ASSERT_EQUAL_INT(TICK_ERR_RATE, tick_start(UINT32_MAX));
    EXPECT_NO_WRITES();
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(100));
    TEST_ASSERT_EQUAL_UINT32(839999, regmodel_get(&TIM2->ARR));
    TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(20000));
    TEST_ASSERT_EQUAL_UINT32(4199, regmodel_get(&TIM2->ARR));
}

static void test_the_flag_is_cleared_before_the_work(void) {
    tick_start(1000);
    regmodel_set(&TIM2->SR, TIM_SR_UIF | 1 << 1); /* 1 << 1: not the tick's flag */
    tick_irq();
    TEST_ASSERT_EQUAL_UINT(1, ticks);
    TEST_ASSERT_FALSE(flag_at_entry);
    TEST_ASSERT_FALSE(overrun_seen);
    TEST_ASSERT_EQUAL_HEX32(1 << 1, regmodel_get(&TIM2->SR));
}

static void test_an_overrun_shows(void) {
    tick_start(1000);
    late = true;
    regmodel_set(&TIM2->SR, TIM_SR_UIF);
    tick_irq();
    TEST_ASSERT_TRUE(overrun_seen);
    TEST_ASSERT_TRUE(tick_overrun()); /* the flag stays for the next interrupt */
}

static void test_stop(void) {
    tick_start(1000);
    tick_stop();
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIM2->CR1));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIM2->DIER));
    TEST_ASSERT_EQUAL_UINT8(HOST_IRQ_OFF, host_irq.priority[28]);
}

#define DWT_CTRL   ((void *)(uintptr_t)0xE0001000)
#define DWT_CYCCNT ((void *)(uintptr_t)0xE0001004)
#define DEMCR      ((void *)(uintptr_t)0xE000EDFC)

static void test_the_counter_on_silicon_is_the_cores(void) {
    regmodel_set(DWT_CTRL, 0x40000000);
    regmodel_log(0xE0001000, 0xE000EDFC);
    TEST_ASSERT_FALSE(counter_start());
    EXPECT_WRITES({DEMCR, 1 << 24}, {DWT_CYCCNT, 0},
                  {DWT_CTRL, 0x40000001});                 /* TRCENA must be first */
    TEST_ASSERT_EQUAL_HEX32(1, regmodel_get(&DBGMCU->CR)); /* it counts while the core sleeps */
    regmodel_set(DWT_CYCCNT, 12345);
    TEST_ASSERT_EQUAL_UINT32(12345, counter_now());
    TEST_ASSERT_EQUAL_UINT32(32, counter_elapsed(0xFFFFFFF0, 16));
}

static void test_the_counter_in_the_emulator_is_tim5(void) {
    fake_clock.emulated = true;
    TEST_ASSERT_TRUE(counter_start());
    regmodel_set(&TIM5->CNT, 777);
    TEST_ASSERT_EQUAL_UINT32(777, counter_now());
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&TIM5->CNT));
}

/* Returns what a tick reports that comes this many cycles after the last one. */
static uint32_t lost_after(uint64_t steps) {
    regmodel_set(DWT_CYCCNT, regmodel_get(DWT_CYCCNT) + (uint32_t)steps);
    return tick_lost();
}

static void test_lost_ticks_at_all_rates(void) {
    static const uint32_t rates[] = {100, 101, 250, 999, 1000, 3333, 7777, 20000};
    counter_start();
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        uint32_t period = 168000000 / rates[i];
        regmodel_set(DWT_CYCCNT, 0xFFFFFFFF - period / 3); /* it wraps soon */
        TEST_ASSERT_EQUAL_INT(TICK_OK, tick_start(rates[i]));
        TEST_ASSERT_EQUAL_UINT32(0, lost_after(period)); /* the first tick */
        /* A tick that came up to half a period late, and the next one. */
        TEST_ASSERT_EQUAL_UINT32(0, lost_after(period + period * 4 / 10));
        TEST_ASSERT_EQUAL_UINT32(0, lost_after(period - period * 4 / 10));
        for (uint32_t lost = 1; lost <= 2000000000 / period; lost = lost * 3 + 1) {
            TEST_ASSERT_EQUAL_UINT32(lost, lost_after((uint64_t)(lost + 1) * period));
            TEST_ASSERT_EQUAL_UINT32(lost, lost_after((uint64_t)(lost + 1) * period + period / 3));
            TEST_ASSERT_EQUAL_UINT32(lost, lost_after((uint64_t)(lost + 1) * period - period / 3));
            TEST_ASSERT_EQUAL_UINT32(0, lost_after(period));
        }
        /* Near the wrap of the counter, 25.6 s. */
        TEST_ASSERT_EQUAL_UINT32((0xFFFFFFFF - period - period / 2) / period + 1,
                                 lost_after(0xFFFFFFFF));
        TEST_ASSERT_GREATER_THAN_UINT32(0, lost_after(period + period / 2 + 1));
    }
}

static void test_a_new_start_forgets_the_pause(void) {
    counter_start();
    tick_start(1000);
    TEST_ASSERT_EQUAL_UINT32(0, lost_after(168000));
    tick_stop();
    regmodel_set(DWT_CYCCNT, 100000000);
    tick_start(500);
    TEST_ASSERT_EQUAL_UINT32(0, lost_after(336000));
    TEST_ASSERT_EQUAL_UINT32(1, lost_after(672000));
}

static void test_lost_ticks_in_the_emulator(void) {
    fake_clock.emulated = true;
    fake_clock.tick_timer_hz = 1000000000;
    counter_start();
    tick_start(1000);
    for (uint32_t ms = 1; ms < 10; ms++) {
        regmodel_set(&TIM5->CNT, ms * 1000000);
        TEST_ASSERT_EQUAL_UINT32(0, tick_lost());
    }
    regmodel_set(&TIM5->CNT, 13 * 1000000);
    TEST_ASSERT_EQUAL_UINT32(3, tick_lost());
}

TEST_LIST_BEGIN
TEST(test_start_on_silicon)
TEST(test_start_in_the_emulator)
TEST(test_rates)
TEST(test_the_flag_is_cleared_before_the_work)
TEST(test_an_overrun_shows)
TEST(test_stop)
TEST(test_the_counter_on_silicon_is_the_cores)
TEST(test_the_counter_in_the_emulator_is_tim5)
TEST(test_lost_ticks_at_all_rates)
TEST(test_a_new_start_forgets_the_pause)
TEST(test_lost_ticks_in_the_emulator)
TEST_LIST_END

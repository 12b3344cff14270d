/*
 * Tests the clock tree of the F2 and F4 with a model of RCC whose flags come late or never.
 * Crystal, PLL and switch may each fail; nothing may hang, and the driver reports the clocks that
 * it reached.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/clock.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "test/support/hal/regmodel.h"

const board_t board = {
    .clock = {.hse_hz = 25000000,
              .pll = {.m = 25, .n = 336, .p = 2, .q = 7},
              .pll_internal = {.m = 16, .n = 320, .p = 2, .q = 7},
              .wait_states = 5,
              .apb1_div = 4,
              .apb2_div = 2,
              .pwr_vos = 1 << 14},
    .uart = {.clock = RCC_USART1},
    .tick = {.clock = RCC_TIM2},
};

static bool flash_takes_latency;

/* TIM11 captures each eighth edge of HSE / 31 if every register is set for that. */
static double hse_hz, hsi_hz, capture_phase;
static unsigned captures;

static uint32_t tim11_read(uint32_t address, uint32_t stored) {
    bool captures_hse = regmodel_get(&TIM11->OR) == 2 && regmodel_get(&TIM11->ARR) == 0xFFFF &&
                        regmodel_get(&TIM11->CCMR[0]) == (1 | 3 << 2) &&
                        regmodel_get(&TIM11->CCER) == 1 && regmodel_get(&TIM11->CR1) == 1 &&
                        (regmodel_get(&RCC->CFGR) >> 16 & 31) == 31 &&
                        (regmodel_get(&RCC->APB2ENR) >> 18 & 1) == 1 && hse_hz > 0;
    if (address == REGMODEL_ADDRESS(&TIM11->SR))
        return captures_hse ? 1 << 1 : 0;
    if (address != REGMODEL_ADDRESS(&TIM11->CCR[0]))
        return stored;
    captures += captures_hse;
    return (uint32_t)(65000 + capture_phase + captures * 31 * 8 * hsi_hz / hse_hz) & 0xFFFF;
}

static uint32_t acr_read(uint32_t address, uint32_t stored) {
    (void)address;
    return flash_takes_latency ? stored : stored & ~(uint32_t)FLASH_ACR_LATENCY;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    regmodel_rcc_start();
    regmodel_rcc = (regmodel_rcc_t){.hse_polls = 1000, .pll_polls = 100, .switch_polls = 2};
    flash_takes_latency = true;
    captures = 0;
    hse_hz = 25e6;
    hsi_hz = 16e6;
    capture_phase = 0;
    regmodel_device(REGMODEL_ADDRESS(TIM11), REGMODEL_ADDRESS(&TIM11->OR), tim11_read, NULL);
    regmodel_device(REGMODEL_ADDRESS(&FLASH->ACR), REGMODEL_ADDRESS(&FLASH->ACR), acr_read, NULL);
    regmodel_log(REGMODEL_ADDRESS(&RCC->CR), REGMODEL_ADDRESS(&RCC->CFGR));
    regmodel_log(REGMODEL_ADDRESS(&FLASH->ACR), REGMODEL_ADDRESS(&FLASH->ACR));
    regmodel_log(REGMODEL_ADDRESS(&PWR->CR), REGMODEL_ADDRESS(&PWR->CR));
}

enum {
    ACR = 5 | FLASH_ACR_PRFTEN | FLASH_ACR_ICEN | FLASH_ACR_DCEN,
    PLL_EXTERNAL = 25 | 336 << 6 | 0 << 16 | 1 << 22 | 7 << 24,
    PLL_INTERNAL = 16 | 320 << 6 | 0 << 16 | 7 << 24,
    DIVIDERS = 5 << 10 | 4 << 13, /* APB1 / 4, APB2 / 2 */
    HSI = RCC_CR_HSION,
    HSI_UP = RCC_CR_HSION | RCC_CR_HSIRDY,
    HSE_UP = RCC_CR_HSEON | RCC_CR_HSERDY,
    PLL_UP = RCC_CR_PLLON | RCC_CR_PLLRDY,
};

static void test_the_planned_clock_in_the_manuals_order(void) {
    const clock_info_t *info = clock_init();
    EXPECT_WRITES({&RCC->CR, HSI_UP},                         /* HSION */
                  {&RCC->CFGR, 0},                            /* SW = HSI */
                  {&RCC->CR, HSI_UP},                         /* PLL off */
                  {&RCC->CR, HSI_UP}, {&RCC->CR, HSI_UP},     /* HSE off, no bypass */
                  {&RCC->CR, HSI_UP | RCC_CR_HSEON},          /* HSE on, waits for its flag */
                  {&RCC->CFGR, 31 << 16}, {&RCC->CFGR, 0},    /* HSE / 31 for the measurement */
                  {&FLASH->ACR, ACR},                         /* wait states first */
                  {&PWR->CR, 1 << 14},                        /* voltage scale 1 */
                  {&RCC->PLLCFGR, PLL_EXTERNAL},              /* while the PLL is off */
                  {&RCC->CR, HSI_UP | HSE_UP | RCC_CR_PLLON}, /* PLL on, waits for its flag */
                  {&RCC->CFGR, DIVIDERS}, {&RCC->CFGR, DIVIDERS | 2},   /* buses, then the switch */
                  {&RCC->CR, HSI_UP | HSE_UP | PLL_UP | RCC_CR_CSSON}); /* clock security */
    TEST_ASSERT_EQUAL_INT(CLOCK_CRYSTAL_PLL, info->source);
    TEST_ASSERT_EQUAL_UINT32(168000000, info->core_hz);
    TEST_ASSERT_EQUAL_UINT32(84000000, info->tick_timer_hz);
    TEST_ASSERT_EQUAL_UINT32(84000000, info->uart_hz);
    TEST_ASSERT_EQUAL_UINT32(42000000, clock_bus_hz(RCC_SPI2));
    TEST_ASSERT_EQUAL_UINT32(168000000, clock_timer_hz(RCC_TIM1));
    TEST_ASSERT_FALSE(info->emulated);
    TEST_ASSERT_NULL(info->note);
    TEST_ASSERT_EQUAL_PTR(info, clock_info());
}

static void test_no_crystal_runs_the_pll_from_the_internal_oscillator(void) {
    regmodel_rcc.hse_polls = REGMODEL_NEVER;
    const clock_info_t *info = clock_init();
    TEST_ASSERT_EQUAL_INT(CLOCK_INTERNAL_PLL, info->source);
    TEST_ASSERT_EQUAL_UINT32(160000000, info->core_hz);
    TEST_ASSERT_EQUAL_UINT32(80000000, info->uart_hz);
    TEST_ASSERT_EQUAL_HEX32(PLL_INTERNAL, regmodel_get(&RCC->PLLCFGR));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CR) & (RCC_CR_HSEON | RCC_CR_CSSON));
    TEST_ASSERT_NOT_NULL(strstr(info->note, "external oscillator did not start"));
    /* The driver waited for 100 ms at 16 MHz with four cycles per poll. */
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(16000 * 100 / 4, regmodel_read_count(&RCC->CR));
}

static void test_a_wrong_crystal_is_not_used(void) {
    static const struct {
        double hz;
        const char *note;
    } wrong[] = {{0, "at 00 MHz"},    {4e6, "at 04 MHz"},    {8e6, "at 08 MHz"},
                 {12e6, "at 12 MHz"}, {22.3e6, "at 22 MHz"}, {27.7e6, "at 28 MHz"},
                 {50e6, "at 50 MHz"}};
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setUp();
        hse_hz = wrong[i].hz;
        const clock_info_t *info = clock_init();
        TEST_ASSERT_EQUAL_INT(CLOCK_INTERNAL_PLL, info->source);
        TEST_ASSERT_EQUAL_UINT32(160000000, info->core_hz);
        TEST_ASSERT_EQUAL_HEX32(PLL_INTERNAL, regmodel_get(&RCC->PLLCFGR));
        TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CR) & (RCC_CR_HSEON | RCC_CR_CSSON));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(info->note, wrong[i].note), info->note);
    }
}

/* The internal oscillator is 8 % slow to 4.5 % fast over the temperature (data sheets). */
static void test_the_right_crystal_is_always_used(void) {
    for (double error = -0.08; error <= 0.0451; error += 0.005) {
        for (capture_phase = 0; capture_phase < 2000; capture_phase += 7.3) {
            hsi_hz = 16e6 * (1 + error);
            captures = 0;
            TEST_ASSERT_EQUAL_INT(CLOCK_CRYSTAL_PLL, clock_init()->source);
            regmodel_log_clear();
        }
    }
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&TIM11->CR1)); /* the timer is off again */
}

static void expect_internal(const clock_info_t *info, const char *note) {
    TEST_ASSERT_EQUAL_INT(CLOCK_INTERNAL, info->source);
    TEST_ASSERT_EQUAL_UINT32(16000000, info->core_hz);
    TEST_ASSERT_EQUAL_UINT32(16000000, info->tick_timer_hz);
    TEST_ASSERT_EQUAL_UINT32(16000000, info->uart_hz);
    TEST_ASSERT_EQUAL_UINT32(16000000, clock_timer_hz(RCC_TIM1));
    TEST_ASSERT_NOT_NULL(strstr(info->note, note));
    /* The registers agree with the report: source HSI, no bus divided, PLL off. */
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CFGR) & ~(uint32_t)RCC_CFGR_SWS);
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CR) & RCC_CR_PLLON);
}

static void test_no_lock_leaves_the_internal_oscillator(void) {
    regmodel_rcc.pll_polls = REGMODEL_NEVER;
    expect_internal(clock_init(), "PLL did not lock");
}

static void test_neither_crystal_nor_lock(void) {
    regmodel_rcc.hse_polls = regmodel_rcc.pll_polls = REGMODEL_NEVER;
    expect_internal(clock_init(), "PLL did not lock");
}

static void test_no_switch_goes_back(void) {
    regmodel_rcc.switch_polls = REGMODEL_NEVER;
    expect_internal(clock_init(), "did not switch");
}

static void test_wait_states_that_do_not_take_keep_the_core_slow(void) {
    flash_takes_latency = false;
    expect_internal(clock_init(), "wait states");
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&RCC->PLLCFGR));
}

static void test_a_running_pll_is_left_before_it_is_changed(void) {
    regmodel_set(&RCC->CR, HSI | RCC_CR_HSEON | RCC_CR_PLLON);
    regmodel_set(&RCC->CFGR, 2 | 2 << 2);
    TEST_ASSERT_EQUAL_INT(CLOCK_CRYSTAL_PLL, clock_init()->source);
    unsigned off = 0, configured = 0;
    for (unsigned i = 0; i < regmodel_log_count(); i++) {
        regmodel_write_log_t w = regmodel_log_at(i);
        if (w.address == REGMODEL_ADDRESS(&RCC->CR) && (w.value & RCC_CR_PLLON) == 0 && off == 0) {
            off = i + 1;
        }
        if (w.address == REGMODEL_ADDRESS(&RCC->PLLCFGR)) {
            configured = i + 1;
        }
    }
    TEST_ASSERT_TRUE(off > 0 && off < configured);
}

static void test_the_emulator_is_recognised(void) {
    regmodel_reset();
    regmodel_absent(REGMODEL_ADDRESS(RCC), REGMODEL_ADDRESS(&RCC->CSR));
    const clock_info_t *info = clock_init();
    TEST_ASSERT_TRUE(info->emulated);
    TEST_ASSERT_EQUAL_UINT32(1000000000, info->tick_timer_hz);
    TEST_ASSERT_EQUAL_UINT32(168000000, info->core_hz);
    TEST_ASSERT_NOT_NULL(strstr(info->note, "emulator"));
    TEST_ASSERT_EQUAL_UINT(1, regmodel_read_count(&RCC->CR)); /* the driver waits for nothing */
}

TEST_LIST_BEGIN
TEST(test_the_planned_clock_in_the_manuals_order)
TEST(test_no_crystal_runs_the_pll_from_the_internal_oscillator)
TEST(test_no_lock_leaves_the_internal_oscillator)
TEST(test_neither_crystal_nor_lock)
TEST(test_no_switch_goes_back)
TEST(test_wait_states_that_do_not_take_keep_the_core_slow)
TEST(test_a_running_pll_is_left_before_it_is_changed)
TEST(test_a_wrong_crystal_is_not_used)
TEST(test_the_right_crystal_is_always_used)
TEST(test_the_emulator_is_recognised)
TEST_LIST_END

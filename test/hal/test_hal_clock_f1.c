/* Tests the clock tree of the F100 with a model of RCC whose flags come late or never. */
#include "test/support/harness.h"

#include <string.h>

#include "hal/clock.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "test/support/hal/regmodel.h"

const board_t board = {
    .clock = {.hse_hz = 8000000,
              .pll = {.m = 1, .n = 3, .p = 1},
              .pll_internal = {.m = 2, .n = 5, .p = 1},
              .apb1_div = 1,
              .apb2_div = 1},
    .uart = {.clock = RCC_USART1},
};

void setUp(void);
void setUp(void) {
    regmodel_reset();
    regmodel_rcc_start();
    regmodel_rcc = (regmodel_rcc_t){.hse_polls = 1000, .pll_polls = 100, .switch_polls = 2};
    regmodel_log(REGMODEL_ADDRESS(&RCC->CR), REGMODEL_ADDRESS(&RCC->CFGR));
    regmodel_log(REGMODEL_ADDRESS(&RCC->CFGR2), REGMODEL_ADDRESS(&RCC->CFGR2));
}

enum {
    HSI_UP = RCC_CR_HSION | RCC_CR_HSIRDY,
    HSE_UP = RCC_CR_HSEON | RCC_CR_HSERDY,
    PLL_UP = RCC_CR_PLLON | RCC_CR_PLLRDY,
    FROM_HSE = 1 << 16 | (3 - 2) << 18, /* PREDIV1, x3 */
    FROM_HSI = (5 - 2) << 18,           /* HSI / 2, x5 */
};

static void test_the_planned_clock_in_the_manuals_order(void) {
    const clock_info_t *info = clock_init();
    EXPECT_WRITES({&RCC->CR, HSI_UP}, {&RCC->CFGR, 0}, {&RCC->CR, HSI_UP}, /* internal, PLL off */
                  {&RCC->CR, HSI_UP}, {&RCC->CR, HSI_UP}, {&RCC->CR, HSI_UP | RCC_CR_HSEON},
                  {&RCC->CFGR2, 0},                           /* PREDIV1 = 1 */
                  {&RCC->CFGR, FROM_HSE},                     /* while the PLL is off */
                  {&RCC->CR, HSI_UP | HSE_UP | RCC_CR_PLLON}, /* then waits for its flag */
                  {&RCC->CFGR, FROM_HSE | 2},
                  {&RCC->CR, HSI_UP | HSE_UP | PLL_UP | RCC_CR_CSSON}); /* clock security */
    TEST_ASSERT_EQUAL_INT(CLOCK_CRYSTAL_PLL, info->source);
    TEST_ASSERT_EQUAL_UINT32(24000000, info->core_hz);
    TEST_ASSERT_EQUAL_UINT32(24000000, info->tick_timer_hz);
    TEST_ASSERT_EQUAL_UINT32(24000000, info->uart_hz);
    TEST_ASSERT_EQUAL_UINT32(24000000, clock_timer_hz(RCC_TIM1));
    TEST_ASSERT_NULL(info->note);
    /* The internal oscillator must stay on, because the flash controller needs it. */
    TEST_ASSERT_TRUE(regmodel_get(&RCC->CR) & RCC_CR_HSION);
}

static void test_no_crystal_runs_the_pll_from_the_internal_oscillator(void) {
    regmodel_rcc.hse_polls = REGMODEL_NEVER;
    const clock_info_t *info = clock_init();
    TEST_ASSERT_EQUAL_INT(CLOCK_INTERNAL_PLL, info->source);
    TEST_ASSERT_EQUAL_UINT32(20000000, info->core_hz);
    TEST_ASSERT_EQUAL_HEX32(FROM_HSI | 2, regmodel_get(&RCC->CFGR) & ~(uint32_t)RCC_CFGR_SWS);
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CR) & RCC_CR_CSSON);
    TEST_ASSERT_NOT_NULL(strstr(info->note, "external oscillator did not start"));
}

static void expect_internal(const clock_info_t *info, const char *note) {
    TEST_ASSERT_EQUAL_INT(CLOCK_INTERNAL, info->source);
    TEST_ASSERT_EQUAL_UINT32(8000000, info->core_hz);
    TEST_ASSERT_EQUAL_UINT32(8000000, info->uart_hz);
    TEST_ASSERT_NOT_NULL(strstr(info->note, note));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CFGR) & RCC_CFGR_SW);
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&RCC->CR) & RCC_CR_PLLON);
}

static void test_no_lock_leaves_the_internal_oscillator(void) {
    regmodel_rcc.pll_polls = REGMODEL_NEVER;
    expect_internal(clock_init(), "PLL did not lock");
}

static void test_no_switch_goes_back(void) {
    regmodel_rcc.switch_polls = REGMODEL_NEVER;
    expect_internal(clock_init(), "did not switch");
}

static void test_the_emulator_is_recognised(void) {
    regmodel_reset();
    regmodel_absent(REGMODEL_ADDRESS(RCC), REGMODEL_ADDRESS(&RCC->CFGR2));
    const clock_info_t *info = clock_init();
    TEST_ASSERT_TRUE(info->emulated);
    TEST_ASSERT_EQUAL_UINT32(24000000, info->tick_timer_hz); /* SysTick */
    TEST_ASSERT_NOT_NULL(strstr(info->note, "emulator"));
    TEST_ASSERT_EQUAL_UINT(1, regmodel_read_count(&RCC->CR));
}

TEST_LIST_BEGIN
TEST(test_the_planned_clock_in_the_manuals_order)
TEST(test_no_crystal_runs_the_pll_from_the_internal_oscillator)
TEST(test_no_lock_leaves_the_internal_oscillator)
TEST(test_no_switch_goes_back)
TEST(test_the_emulator_is_recognised)
TEST_LIST_END

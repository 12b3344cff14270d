/* Tests the monitor of the chip's supply. */
#include "test/support/harness.h"

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/power.h"
#include "hal/stm32/handlers.h"
#include "hal/stm32/regs.h"
#include "test/support/hal/regmodel.h"

#ifdef HAL_STM32F1
enum { LEVEL = 7 };
#else
enum { LEVEL = 5 };
#endif

static uint32_t latched;

void latch_set(uint32_t cause) {
    latched |= cause;
}

/* Writing ones clears the flags. */
static uint32_t pr_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)address;
    (void)width;
    return stored & ~value;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    latched = 0;
    regmodel_device(REGMODEL_ADDRESS(&EXTI->PR), REGMODEL_ADDRESS(&EXTI->PR), NULL, pr_write);
    regmodel_set(&EXTI->PR, 1 << 16 | 1 << 3); /* an old event, and one of another line */
    regmodel_set(&PWR->CR, 1 << 14 | 2 << 5);  /* voltage scale, another level */
}

/* The interrupt is ready before the detector is on, so that a supply that is low already shows. */
static void test_the_detector_is_switched_on_last(void) {
    regmodel_log(REGMODEL_ADDRESS(EXTI), REGMODEL_ADDRESS(&EXTI->PR));
    regmodel_log(REGMODEL_ADDRESS(PWR), REGMODEL_ADDRESS(&PWR->CSR));
    power_init();
    EXPECT_WRITES({&EXTI->RTSR, 1 << 16}, {&EXTI->PR, 1 << 16}, {&EXTI->IMR, 1 << 16},
                  {&PWR->CR, 1 << 14 | LEVEL << 5}, {&PWR->CR, 1 << 14 | LEVEL << 5 | 1 << 4});
    TEST_ASSERT_EQUAL_HEX32(1 << 28, regmodel_get(&RCC->APB1ENR));
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_BREAK, host_irq.priority[1]);
    TEST_ASSERT_EQUAL_HEX32(0, latched);
}

static void test_a_falling_supply_latches(void) {
    power_init();
    TEST_ASSERT_FALSE(power_low());
    regmodel_set(&PWR->CSR, 1 << 2);
    regmodel_set(&EXTI->PR, 1 << 16 | 1 << 3);
    power_irq();
    TEST_ASSERT_TRUE(power_low());
    TEST_ASSERT_EQUAL_HEX32(LATCH_POWER, latched);
    TEST_ASSERT_EQUAL_HEX32(1 << 3, regmodel_get(&EXTI->PR)); /* not another line's event */
}

TEST_LIST_BEGIN
TEST(test_the_detector_is_switched_on_last)
TEST(test_a_falling_supply_latches)
TEST_LIST_END

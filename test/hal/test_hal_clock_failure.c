/* Tests the NMI of the clock security (hal/stm32/clock_failure.c). */
#include "hal/cortexm/link.h"
#include "hal/latch.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/handlers.h"
#include "test/support/hal/regmodel.h"
#include "test/support/harness.h"

static uint32_t latched;
static unsigned crashes;

void latch_set(uint32_t cause) {
    latched |= cause;
}

void fault_entry(void) {
    crashes++;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    latched = crashes = 0;
}

static void test_a_failed_oscillator_latches(void) {
    regmodel_set(&RCC->CIR, 1 << 7); /* CSSF */
    clock_failure_irq();
    TEST_ASSERT_EQUAL_HEX32(1 << 23, regmodel_get(&RCC->CIR)); /* CSSC */
    TEST_ASSERT_EQUAL_HEX32(LATCH_CLOCK, latched);
    TEST_ASSERT_EQUAL_UINT(0, crashes);
}

static void test_another_nmi_is_a_crash(void) {
    clock_failure_irq();
    TEST_ASSERT_EQUAL_UINT(1, crashes);
    TEST_ASSERT_EQUAL_HEX32(0, latched);
    TEST_ASSERT_EQUAL_UINT(0, regmodel_write_count(&RCC->CIR));
}

TEST_LIST_BEGIN
TEST(test_a_failed_oscillator_latches)
TEST(test_another_nmi_is_a_crash)
TEST_LIST_END

/* Tests home switches: their pins have pull-ups, and a closed switch is low. */
#include "test/support/harness.h"

#include "hal/stm32/board.h"
#include "hal/switches.h"
#include "test/support/hal/regmodel.h"

const board_t board = {.home = {.count = 3, .pin = {PIN(C, 0), PIN(C, 12), PIN(D, 2)}}};

void setUp(void);
void setUp(void) {
    regmodel_reset();
}

static void test_inputs_are_pulled_up(void) {
    regmodel_set(&GPIO(PORT_C)->MODER, 0xFFFFFFFF);
    switches_init();
    TEST_ASSERT_EQUAL_HEX32(0xFCFFFFFC, regmodel_get(&GPIO(PORT_C)->MODER));
    TEST_ASSERT_EQUAL_HEX32(1 << 24 | 1, regmodel_get(&GPIO(PORT_C)->PUPDR));
    TEST_ASSERT_EQUAL_HEX32(1 << 4, regmodel_get(&GPIO(PORT_D)->PUPDR));
    TEST_ASSERT_EQUAL_HEX32(1 << PORT_C | 1 << PORT_D, regmodel_get(&RCC->AHB1ENR));
}

/* An input that is not pulled down is open; neighbouring pins have no effect. */
static void test_closed_is_low(void) {
    TEST_ASSERT_EQUAL_UINT(3, switches_count());
    regmodel_set(&GPIO(PORT_C)->IDR, 0xFFFF);
    regmodel_set(&GPIO(PORT_D)->IDR, 0xFFFF);
    TEST_ASSERT_EQUAL_HEX32(0, switches_read());
    regmodel_set(&GPIO(PORT_C)->IDR, 0xEFFF);
    TEST_ASSERT_EQUAL_HEX32(2, switches_read());
    regmodel_set(&GPIO(PORT_C)->IDR, 1 << 12);
    regmodel_set(&GPIO(PORT_D)->IDR, 0);
    TEST_ASSERT_EQUAL_HEX32(1 | 4, switches_read());
}

TEST_LIST_BEGIN
TEST(test_inputs_are_pulled_up)
TEST(test_closed_is_low)
TEST_LIST_END

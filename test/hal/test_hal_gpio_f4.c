/*
 * Tests the pins of the F2 and F4: the clock of the port is on first, the level is set before the
 * direction, and no pin changes its neighbours.
 */
#include "test/support/harness.h"

#include "hal/stm32/gpio.h"
#include "test/support/hal/regmodel.h"

const board_t board;

void setUp(void);
void setUp(void) {
    regmodel_reset();
    for (unsigned port = 0; port < 4; port++) {
        regmodel_log(REGMODEL_ADDRESS(GPIO(port)), REGMODEL_ADDRESS(&GPIO(port)->AFR[1]));
    }
    regmodel_log(REGMODEL_ADDRESS(&RCC->AHB1ENR), REGMODEL_ADDRESS(&RCC->AHB1ENR));
}

static void test_output_is_at_its_level_before_it_drives(void) {
    gpio_output(PIN(C, 8), true);
    unsigned n = regmodel_log_count();
    TEST_ASSERT_EQUAL_HEX32(REGMODEL_ADDRESS(&RCC->AHB1ENR), regmodel_log_at(0).address);
    TEST_ASSERT_EQUAL_HEX32(1 << PORT_C, regmodel_log_at(0).value);
    TEST_ASSERT_EQUAL_HEX32(REGMODEL_ADDRESS(&GPIO(PORT_C)->BSRR), regmodel_log_at(1).address);
    TEST_ASSERT_EQUAL_HEX32(1 << 8, regmodel_log_at(1).value);
    TEST_ASSERT_EQUAL_HEX32(REGMODEL_ADDRESS(&GPIO(PORT_C)->MODER), regmodel_log_at(n - 1).address);
    TEST_ASSERT_EQUAL_HEX32(1 << 16, regmodel_log_at(n - 1).value);
}

static void test_write_touches_only_set_and_reset(void) {
    gpio_write(PIN(B, 3), false);
    gpio_write(PIN(B, 15), true);
    EXPECT_WRITES({&GPIO(PORT_B)->BSRR, 1 << 19}, {&GPIO(PORT_B)->BSRR, 1 << 15});
}

static void test_alternate_leaves_the_neighbours_alone(void) {
    regmodel_set(&GPIO(PORT_A)->MODER, 0xFFFFFFFF);
    regmodel_set(&GPIO(PORT_A)->PUPDR, 0xFFFFFFFF);
    regmodel_set(&GPIO(PORT_A)->AFR[1], 0xFFFFFFFF);
    regmodel_set(&GPIO(PORT_A)->OTYPER, 0xFFFF);
    gpio_alternate_out(PIN(A, 9), 1, GPIO_PULL_DOWN);
    TEST_ASSERT_EQUAL_HEX32(0xFFFBFFFF,
                            regmodel_get(&GPIO(PORT_A)->MODER)); /* 10: alternate function */
    TEST_ASSERT_EQUAL_HEX32(0xFFFBFFFF, regmodel_get(&GPIO(PORT_A)->PUPDR)); /* 10: pull-down */
    TEST_ASSERT_EQUAL_HEX32(0xFFFFFF1F, regmodel_get(&GPIO(PORT_A)->AFR[1]));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&GPIO(PORT_A)->AFR[0]));
    TEST_ASSERT_EQUAL_HEX32(0xFDFF, regmodel_get(&GPIO(PORT_A)->OTYPER));
}

static void test_analog(void) {
    gpio_analog(PIN(C, 0));
    TEST_ASSERT_EQUAL_HEX32(3, regmodel_get(&GPIO(PORT_C)->MODER));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&GPIO(PORT_C)->PUPDR));
}

static void test_no_pin_is_no_access(void) {
    gpio_output(0, true);
    gpio_write(0, true);
    gpio_analog(0);
    gpio_alternate_out(0, 1, GPIO_PULL_UP);
    gpio_alternate_in(0, 1, GPIO_PULL_UP);
    gpio_input(0, GPIO_PULL_UP);
    TEST_ASSERT_FALSE(gpio_read(0));
    EXPECT_NO_WRITES();
}

TEST_LIST_BEGIN
TEST(test_output_is_at_its_level_before_it_drives)
TEST(test_write_touches_only_set_and_reset)
TEST(test_alternate_leaves_the_neighbours_alone)
TEST(test_analog)
TEST(test_no_pin_is_no_access)
TEST_LIST_END

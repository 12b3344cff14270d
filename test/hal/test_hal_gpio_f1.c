/*
 * Tests the pins of the F1: four bits per pin, and one write that remaps the whole board and keeps
 * the debugger connected.
 */
#include "test/support/harness.h"

#include "hal/stm32/gpio.h"
#include "test/support/hal/regmodel.h"

enum { MAPR = AFIO_MAPR_USART1 | AFIO_MAPR_SWD_ONLY };
const board_t board = {.afio_mapr = MAPR};

/*
 * The JTAG bits of MAPR read as undefined values. A driver that reads the register and writes it
 * back would disconnect the debugger.
 */
static uint32_t mapr_read(uint32_t address, uint32_t stored) {
    (void)address;
    return stored | 7 << 24;
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    regmodel_device(REGMODEL_ADDRESS(&AFIO->MAPR), REGMODEL_ADDRESS(&AFIO->MAPR), mapr_read, NULL);
    regmodel_set(&GPIO(PORT_B)->CR[0], 0x44444444);
    regmodel_set(&GPIO(PORT_B)->CR[1], 0x44444444);
    regmodel_log(REGMODEL_ADDRESS(&AFIO->MAPR), REGMODEL_ADDRESS(&AFIO->MAPR));
    regmodel_log(REGMODEL_ADDRESS(&RCC->APB2ENR), REGMODEL_ADDRESS(&RCC->APB2ENR));
    regmodel_log(REGMODEL_ADDRESS(GPIO(PORT_B)), REGMODEL_ADDRESS(&GPIO(PORT_B)->LCKR));
}

static void test_output_is_at_its_level_before_it_drives(void) {
    gpio_output(PIN(B, 8), true);
    EXPECT_WRITES({&RCC->APB2ENR, 1 << 0},                               /* AFIO */
                  {&AFIO->MAPR, MAPR}, {&RCC->APB2ENR, 1 << 0 | 1 << 3}, /* port B */
                  {&GPIO(PORT_B)->BSRR, 1 << 8}, {&RCC->APB2ENR, 1 << 0 | 1 << 3},
                  {&GPIO(PORT_B)->CR[1], 0x44444441});
}

static void test_alternate_out_and_in(void) {
    gpio_alternate_out(PIN(B, 6), 0, GPIO_PULL_NONE);
    gpio_alternate_in(PIN(B, 7), 0, GPIO_PULL_UP);
    TEST_ASSERT_EQUAL_HEX32(0x89444444, regmodel_get(&GPIO(PORT_B)->CR[0]));
    TEST_ASSERT_EQUAL_HEX32(1 << 7, regmodel_get(&GPIO(PORT_B)->BSRR)); /* pulled up */
    TEST_ASSERT_EQUAL_HEX32(MAPR, regmodel_get(&AFIO->MAPR));
    gpio_alternate_in(PIN(B, 7), 0, GPIO_PULL_DOWN);
    TEST_ASSERT_EQUAL_HEX32(1 << 23, regmodel_get(&GPIO(PORT_B)->BSRR));
    gpio_alternate_in(PIN(B, 7), 0, GPIO_PULL_NONE);
    TEST_ASSERT_EQUAL_HEX32(0x49444444, regmodel_get(&GPIO(PORT_B)->CR[0]));
}

static void test_input_is_read(void) {
    gpio_input(PIN(C, 12), GPIO_PULL_UP);
    TEST_ASSERT_EQUAL_HEX32(0x00080000, regmodel_get(&GPIO(PORT_C)->CR[1]));
    TEST_ASSERT_EQUAL_HEX32(1 << 12, regmodel_get(&GPIO(PORT_C)->BSRR)); /* pulled up */
    regmodel_set(&GPIO(PORT_C)->IDR, 1 << 12);
    TEST_ASSERT_TRUE(gpio_read(PIN(C, 12)));
    TEST_ASSERT_FALSE(gpio_read(PIN(C, 11)));
}

static void test_analog(void) {
    gpio_analog(PIN(B, 0));
    TEST_ASSERT_EQUAL_HEX32(0x44444440, regmodel_get(&GPIO(PORT_B)->CR[0]));
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
TEST(test_alternate_out_and_in)
TEST(test_input_is_read)
TEST(test_analog)
TEST(test_no_pin_is_no_access)
TEST_LIST_END

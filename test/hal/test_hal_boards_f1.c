/*
 * Tests the board file of the value line Discovery. Beside the checks of every board: the F1 cannot
 * select functions per pin, so an alternate output of one peripheral must not be an output of
 * another active peripheral.
 */
#include "test/support/harness.h"

#define board board_vldiscovery
#include "boards/stm32vldiscovery/board.c"
#undef board

#include "test/support/board_check.h"

/* Valid with TIM1 partly remapped and USART1 and SPI1 remapped (RM0041, AFIO_MAPR). */
static const pin_function_t functions[] = {
    {PIN(A, 6), 0, "TIM1_BKIN"}, {PIN(A, 8), 0, "TIM1_CH1"},  {PIN(A, 9), 0, "TIM1_CH2"},
    {PIN(A, 10), 0, "TIM1_CH3"}, {PIN(A, 11), 0, "TIM1_CH4"}, {PIN(A, 7), 0, "TIM1_CH1N"},
    {PIN(B, 0), 0, "TIM1_CH2N"}, {PIN(B, 1), 0, "TIM1_CH3N"}, {PIN(A, 9), 0, "TIM15_BKIN"},
    {PIN(A, 2), 0, "TIM15_CH1"}, {PIN(A, 3), 0, "TIM15_CH2"}, {PIN(B, 15), 0, "TIM15_CH1N"},
    {PIN(B, 6), 0, "USART1_TX"}, {PIN(B, 7), 0, "USART1_RX"}, {PIN(B, 3), 0, "SPI1_SCK"},
    {PIN(B, 4), 0, "SPI1_MISO"}, {PIN(B, 5), 0, "SPI1_MOSI"},
};
/* Pins for debugger, crystals, button and LEDs. PB2 is a boot pin, PD0 and PD1 are the 8 MHz
 * crystal. */
static const pin_t reserved[] = {PIN(A, 0), PIN(A, 13), PIN(A, 14), PIN(B, 2), PIN(C, 8),
                                 PIN(C, 9), PIN(C, 14), PIN(C, 15), PIN(D, 0), PIN(D, 1)};

static const chip_facts_t facts = {functions,  sizeof functions / sizeof functions[0],
                                   reserved,   sizeof reserved,
                                   24000000,   24000000,
                                   24000000,   0,
                                   1.03,       0,
                                   128 * 1024, 30000,
                                   60000};

static const board_t *const b = &board_vldiscovery;

static void test_no_pin_is_used_twice(void) {
    check_pins(b, &facts);
}

static void test_every_pin_can_do_its_job(void) {
    static const char *const timers[2] = {"TIM1", "TIM15"};
    static const unsigned channels[2] = {4, 2}, complementary[2] = {3, 1};
    check_motors(b, &facts, timers, channels, complementary);
    check_peripherals(b, &facts, "USART1", "SPI1");
    TEST_ASSERT_EQUAL_UINT(6, b->motor.motor_count);
    TEST_ASSERT_EQUAL_UINT(6, b->encoder.count);
    TEST_ASSERT_EQUAL_PTR(TIM1, b->motor.timers[0].regs);
    TEST_ASSERT_EQUAL_HEX32(1 << 10, b->motor.timers[0].freeze);
    TEST_ASSERT_EQUAL_PTR(TIM15, b->motor.timers[1].regs);
    TEST_ASSERT_EQUAL_HEX32(1 << 22, b->motor.timers[1].freeze);
    TEST_ASSERT_EQUAL_HEX16(RCC_TIM15, b->motor.timers[1].clock);
    TEST_ASSERT_NULL(b->tick.regs); /* the tick uses SysTick */
    TEST_ASSERT_EQUAL_HEX32(1 << 0 | 1 << 2 | 1 << 6 | 2 << 24, b->afio_mapr);
}

/*
 * An active channel drives both CHx and CHxN on every pin that is set to its function.
 */
static void test_no_timer_drives_a_pin_of_somebody_else(void) {
    static const char *const timers[2] = {"TIM1", "TIM15"};
    const pin_t others[] = {b->uart.tx, b->encoder.sck, b->encoder.mosi};
    for (unsigned m = 0; m < b->motor.motor_count; m++) {
        for (unsigned n = 0; n < 2; n++) {
            char output[24];
            const board_motor_t *motor = &b->motor.motors[m];
            snprintf(output, sizeof output, "%s_CH%u%s", timers[motor->timer], motor->channel,
                     n ? "N" : "");
            for (unsigned f = 0; f < facts.function_count; f++) {
                if (strcmp(functions[f].function, output) != 0) {
                    continue;
                }
                for (unsigned i = 0; i < sizeof others; i++) {
                    TEST_ASSERT_NOT_EQUAL_MESSAGE(functions[f].pin, others[i], output);
                }
                for (unsigned k = 0; k < b->motor.motor_count; k++) {
                    if (k != m) {
                        TEST_ASSERT_NOT_EQUAL_MESSAGE(functions[f].pin, b->motor.motors[k].pwm,
                                                      output);
                        TEST_ASSERT_NOT_EQUAL_MESSAGE(functions[f].pin, b->motor.motors[k].pwm_n,
                                                      output);
                    }
                }
            }
        }
    }
}

static void test_clocks_are_within_the_data_sheet(void) {
    const board_clock_t *c = &b->clock;
    TEST_ASSERT_EQUAL_UINT32(24000000, c->hse_hz / c->pll.m * c->pll.n);
    TEST_ASSERT_EQUAL_UINT8(2, c->pll_internal.m); /* fixed by the hardware */
    TEST_ASSERT_TRUE(8e6 / 2 * c->pll_internal.n * facts.internal_fast <= 24e6);
    TEST_ASSERT_TRUE(c->pll.n >= 2 && c->pll.n <= 16 && c->pll_internal.n >= 2);
    TEST_ASSERT_EQUAL_UINT8(1, c->apb1_div); /* clock.c supports no divider */
    TEST_ASSERT_EQUAL_UINT8(1, c->apb2_div);
}

static void test_slots_are_whole_pages(void) {
    check_flash(b, &facts);
    TEST_ASSERT_EQUAL_UINT32(1024, b->flash.geometry.erase_unit);
    TEST_ASSERT_EQUAL_UINT32(2, b->flash.geometry.write_unit);
}

static void test_lines_are_those_of_the_vector_table(void) {
    static const vector_entry_t f100[] = {VECTORS_STM32F100(VECTOR_ENTRY)};
    check_vectors(b, f100, sizeof f100 / sizeof f100[0]);
    static const dma_request_t requests[] = {
        {USART1, {DMA1, RCC_BIT(RCC_BUS_AHB, 0), .stream = 5, .irq = 15}},
        {USART2, {DMA1, RCC_BIT(RCC_BUS_AHB, 0), .stream = 6, .irq = 16}},
    };
    check_rx_dma(b, requests, sizeof requests / sizeof requests[0]);
    TEST_ASSERT_EQUAL_INT(37, b->uart.irq);
    TEST_ASSERT_EQUAL_INT(35, b->encoder.irq);
    TEST_ASSERT_EQUAL_PTR(SPI1, b->encoder.regs);
    TEST_ASSERT_EQUAL_INT(24, b->motor.timers[0].break_irq);
    TEST_ASSERT_EQUAL_INT(24,
                          b->motor.timers[1].break_irq); /* TIM15 shares the break line of TIM1 */
}

TEST_LIST_BEGIN
TEST(test_no_pin_is_used_twice)
TEST(test_every_pin_can_do_its_job)
TEST(test_no_timer_drives_a_pin_of_somebody_else)
TEST(test_clocks_are_within_the_data_sheet)
TEST(test_slots_are_whole_pages)
TEST(test_lines_are_those_of_the_vector_table)
TEST_LIST_END

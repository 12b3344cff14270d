/*
 * Tests the board files of the F2 and F4 boards: no pin is used twice, every pin has the function
 * that it is used for, clocks are within the limits of the data sheets, slots consist of existing
 * sectors, and interrupt lines agree with the vector table.
 */
#include "test/support/harness.h"

#define board board_netduinoplus2
#include "boards/netduinoplus2/board.c"
#undef board
#define board board_netduino2
#include "boards/netduino2/board.c"
#undef board
#define board board_nucleo
#include "boards/nucleo-f446re/board.c"
#undef board

#include "test/support/board_check.h"

/*
 * From the tables of alternate functions in the data sheets; these entries are the same for F205,
 * F405 and F446.
 */
static const pin_function_t functions[] = {
    {PIN(A, 6), 1, "TIM1_BKIN"},  {PIN(B, 12), 1, "TIM1_BKIN"}, {PIN(A, 6), 3, "TIM8_BKIN"},
    {PIN(A, 8), 1, "TIM1_CH1"},   {PIN(A, 9), 1, "TIM1_CH2"},   {PIN(A, 10), 1, "TIM1_CH3"},
    {PIN(A, 11), 1, "TIM1_CH4"},  {PIN(A, 7), 1, "TIM1_CH1N"},  {PIN(B, 0), 1, "TIM1_CH2N"},
    {PIN(B, 1), 1, "TIM1_CH3N"},  {PIN(B, 13), 1, "TIM1_CH1N"}, {PIN(B, 14), 1, "TIM1_CH2N"},
    {PIN(B, 15), 1, "TIM1_CH3N"}, {PIN(C, 6), 3, "TIM8_CH1"},   {PIN(C, 7), 3, "TIM8_CH2"},
    {PIN(C, 8), 3, "TIM8_CH3"},   {PIN(C, 9), 3, "TIM8_CH4"},   {PIN(A, 5), 3, "TIM8_CH1N"},
    {PIN(A, 7), 3, "TIM8_CH1N"},  {PIN(B, 14), 3, "TIM8_CH2N"}, {PIN(B, 15), 3, "TIM8_CH3N"},
    {PIN(A, 9), 7, "USART1_TX"},  {PIN(A, 10), 7, "USART1_RX"}, {PIN(B, 6), 7, "USART1_TX"},
    {PIN(B, 7), 7, "USART1_RX"},  {PIN(A, 2), 7, "USART2_TX"},  {PIN(A, 3), 7, "USART2_RX"},
    {PIN(B, 10), 5, "SPI2_SCK"},  {PIN(B, 13), 5, "SPI2_SCK"},  {PIN(B, 14), 5, "SPI2_MISO"},
    {PIN(C, 2), 5, "SPI2_MISO"},  {PIN(B, 15), 5, "SPI2_MOSI"}, {PIN(C, 3), 5, "SPI2_MOSI"},
    {PIN(A, 6), 2, "TIM3_CH1"},   {PIN(A, 7), 2, "TIM3_CH2"},   {PIN(B, 4), 2, "TIM3_CH1"},
    {PIN(B, 5), 2, "TIM3_CH2"},   {PIN(C, 6), 2, "TIM3_CH1"},   {PIN(C, 7), 2, "TIM3_CH2"},
    {PIN(B, 6), 2, "TIM4_CH1"},   {PIN(B, 7), 2, "TIM4_CH2"},   {PIN(A, 0), 2, "TIM5_CH1"},
    {PIN(A, 1), 2, "TIM5_CH2"},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Pins of the Netduino for debugger, crystal, USB, LEDs, button, SD card and Ethernet. They are not
 * on the headers. */
static const pin_t netduino_reserved[] = {
    PIN(A, 4),  PIN(A, 5),  PIN(A, 7),  PIN(A, 8),  PIN(A, 9), PIN(A, 10), PIN(A, 11),
    PIN(A, 12), PIN(A, 13), PIN(A, 14), PIN(A, 15), PIN(B, 0), PIN(B, 1),  PIN(B, 3),
    PIN(B, 4),  PIN(B, 5),  PIN(B, 11), PIN(C, 8),  PIN(C, 9), PIN(C, 10), PIN(C, 11),
    PIN(C, 12), PIN(C, 13), PIN(C, 14), PIN(C, 15), PIN(D, 2), PIN(H, 0),  PIN(H, 1),
};
/*
 * Pins of the Nucleo for debugger and its SWO, clock input, 32 kHz crystal, LED and button. The
 * F446RE has no PB11, and PB2 is a boot pin.
 */
static const pin_t nucleo_reserved[] = {PIN(A, 5),  PIN(A, 13), PIN(A, 14), PIN(B, 2),
                                        PIN(B, 3),  PIN(B, 11), PIN(C, 13), PIN(C, 14),
                                        PIN(C, 15), PIN(H, 0),  PIN(H, 1)};

#define NETDUINO functions, FUNCTIONS, netduino_reserved, sizeof netduino_reserved
#define NUCLEO   functions, FUNCTIONS, nucleo_reserved, sizeof nucleo_reserved

static const struct {
    const board_t *board;
    chip_facts_t facts;
    const char *uart;
    const usart_t *usart;
    unsigned joints;
} boards[] = {
    {&board_netduinoplus2,
     {NETDUINO, 168000000, 42000000, 84000000, 192000000, 1.045, 30000000, 1024 * 1024, 17000,
      47000},
     "USART1",
     USART1,
     4},
    {&board_netduino2,
     {NETDUINO, 120000000, 30000000, 60000000, 192000000, 1.045, 30000000, 768 * 1024, 17000,
      47000},
     "USART1",
     USART1,
     4},
    {&board_nucleo,
     {NUCLEO, 168000000, 45000000, 90000000, 100000000, 1.045, 30000000, 512 * 1024, 17000, 47000},
     "USART2",
     USART2,
     6},
};
enum { BOARDS = sizeof boards / sizeof boards[0] };

static void test_no_pin_is_used_twice(void) {
    for (unsigned i = 0; i < BOARDS; i++) {
        check_pins(boards[i].board, &boards[i].facts);
    }
}

/* Shows that the check can fail. */
static void test_a_pin_used_twice_would_be_found(void) {
    board_t twice = board_nucleo;
    twice.encoder.select[5] = twice.motor.motors[0].pwm;
    pin_list_t list;
    list_pins(&twice, &list);
    unsigned same = 0;
    for (unsigned i = 0; i < list.count; i++) {
        for (unsigned k = 0; k < i; k++) {
            same += list.pin[i] == list.pin[k];
        }
    }
    TEST_ASSERT_EQUAL_UINT(1, same);
    TEST_ASSERT_EQUAL_UINT(2 + 2 + 6 * 2 + 3 + 3 + 6 + 6 + 1,
                           list.count); /* every pin is in the list */
}

/* The table that the board file of the Nucleo describes for motors with quadrature encoders. */
static void test_a_board_may_have_quadrature_encoders(void) {
    board_t mixed = board_nucleo;
    mixed.encoder.quadrature[4] =
        (board_quadrature_t){TIM5, RCC_TIM5, .a = PIN(A, 0), .b = PIN(A, 1), .af = 2};
    mixed.encoder.quadrature[5] =
        (board_quadrature_t){TIM4, RCC_TIM4, .a = PIN(B, 6), .b = PIN(B, 7), .af = 2};
    mixed.encoder.select[4] = mixed.encoder.select[5] = 0;
    check_pins(&mixed, &boards[2].facts);
    check_encoders(&mixed, &boards[2].facts);
    pin_list_t list, chips;
    list_pins(&mixed, &list);
    list_pins(&board_nucleo, &chips);
    TEST_ASSERT_EQUAL_UINT(chips.count + 2, list.count);
}

static void test_every_pin_can_do_its_job(void) {
    static const char *const timers[2] = {"TIM1", "TIM8"};
    static const unsigned channels[2] = {4, 4}, complementary[2] = {3, 3};
    for (unsigned i = 0; i < BOARDS; i++) {
        const board_t *b = boards[i].board;
        check_motors(b, &boards[i].facts, timers, channels, complementary);
        check_peripherals(b, &boards[i].facts, boards[i].uart, "SPI2");
        TEST_ASSERT_EQUAL_PTR(TIM1, b->motor.timers[0].regs);
        TEST_ASSERT_EQUAL_HEX16(RCC_TIM1, b->motor.timers[0].clock);
        TEST_ASSERT_EQUAL_HEX32(1 << 0, b->motor.timers[0].freeze);
        TEST_ASSERT_EQUAL_PTR(TIM8, b->motor.timers[1].regs);
        TEST_ASSERT_EQUAL_HEX16(RCC_TIM8, b->motor.timers[1].clock);
        TEST_ASSERT_EQUAL_HEX32(1 << 1, b->motor.timers[1].freeze);
        TEST_ASSERT_EQUAL_PTR(SPI2, b->encoder.regs);
        TEST_ASSERT_EQUAL_HEX16(RCC_SPI2, b->encoder.clock);
        TEST_ASSERT_EQUAL_PTR(TIM2, b->tick.regs);
        TEST_ASSERT_EQUAL_HEX16(RCC_TIM2, b->tick.clock);
        TEST_ASSERT_EQUAL_PTR(boards[i].usart, b->uart.regs);
        TEST_ASSERT_EQUAL_HEX16(boards[i].usart == USART1 ? RCC_USART1 : RCC_USART2, b->uart.clock);
        TEST_ASSERT_EQUAL_UINT(boards[i].joints, b->motor.motor_count); /* all can be used */
        TEST_ASSERT_EQUAL_UINT(boards[i].joints, b->encoder.count);
        TEST_ASSERT_EQUAL_HEX32(0, b->afio_mapr);
    }
}

static double check_pll(double source_hz, const board_pll_t *pll, const chip_facts_t *facts,
                        double fast) {
    double input = source_hz / pll->m, vco = input * pll->n, core = vco / pll->p;
    TEST_ASSERT_TRUE(pll->m >= 2 && pll->m <= 63);
    TEST_ASSERT_TRUE(pll->n >= 50 && pll->n <= 432);
    TEST_ASSERT_TRUE(pll->p == 2 || pll->p == 4 || pll->p == 6 || pll->p == 8);
    TEST_ASSERT_TRUE(pll->q >= 2 && pll->q <= 15);
    TEST_ASSERT_TRUE(input >= 0.95e6 && input * fast <= 2.1e6);
    TEST_ASSERT_TRUE(vco >= facts->vco_min_hz && vco * fast <= 432e6);
    TEST_ASSERT_TRUE(core * fast <= facts->core_max_hz);
    TEST_ASSERT_TRUE(vco / pll->q <= 48e6);
    return core;
}

static void test_clocks_are_within_the_data_sheets(void) {
    for (unsigned i = 0; i < BOARDS; i++) {
        const board_clock_t *c = &boards[i].board->clock;
        const chip_facts_t *facts = &boards[i].facts;
        double core = check_pll(c->hse_hz, &c->pll, facts, 1.0);
        TEST_ASSERT_TRUE(core == facts->core_max_hz);
        double internal = check_pll(16e6, &c->pll_internal, facts, facts->internal_fast);
        TEST_ASSERT_TRUE(core / c->apb1_div <= facts->apb1_max_hz);
        TEST_ASSERT_TRUE(core / c->apb2_div <= facts->apb2_max_hz);
        TEST_ASSERT_TRUE(internal * facts->internal_fast / c->apb1_div <= facts->apb1_max_hz);
        TEST_ASSERT_TRUE(internal * facts->internal_fast / c->apb2_div <= facts->apb2_max_hz);
        /* A wait state is needed per 30 MHz at 2.7 to 3.6 V. The test finds too few wait states and
         * one too many. */
        TEST_ASSERT_TRUE(core <= (c->wait_states + 1.0) * facts->hz_per_wait_state);
        TEST_ASSERT_TRUE(core > c->wait_states * (double)facts->hz_per_wait_state);
    }
}

/* Sectors 0 to 3 have 16 KB, sector 4 has 64 KB, the others 128 KB. */
static void test_slots_are_whole_sectors(void) {
    for (unsigned i = 0; i < BOARDS; i++) {
        const board_t *b = boards[i].board;
        check_flash(b, &boards[i].facts);
        TEST_ASSERT_EQUAL_UINT32(4, b->flash.geometry.write_unit);
        TEST_ASSERT_EQUAL_UINT32(0x20000, b->flash.geometry.erase_unit);
        for (unsigned s = 0; s < 2; s++) {
            TEST_ASSERT_GREATER_OR_EQUAL_UINT8(5, b->flash.sector[s]);
            TEST_ASSERT_EQUAL_HEX32(0x08020000 + (b->flash.sector[s] - 5u) * 0x20000,
                                    b->flash.geometry.slot[s].address);
        }
    }
}

static void test_lines_are_those_of_the_vector_table(void) {
    static const vector_entry_t f405[] = {VECTORS_STM32F405(VECTOR_ENTRY)};
    static const vector_entry_t f205[] = {VECTORS_STM32F205(VECTOR_ENTRY)};
    static const vector_entry_t f446[] = {VECTORS_STM32F446(VECTOR_ENTRY)};
    check_vectors(&board_netduinoplus2, f405, sizeof f405 / sizeof f405[0]);
    check_vectors(&board_netduino2, f205, sizeof f205 / sizeof f205[0]);
    check_vectors(&board_nucleo, f446, sizeof f446 / sizeof f446[0]);
    /* RM0033, RM0090 and RM0390 agree on these streams and channels. */
    static const dma_request_t requests[] = {
        {USART1, {DMA2, RCC_BIT(RCC_BUS_AHB, 22), .stream = 2, .channel = 4, .irq = 58}},
        {USART1, {DMA2, RCC_BIT(RCC_BUS_AHB, 22), .stream = 5, .channel = 4, .irq = 68}},
        {USART2, {DMA1, RCC_BIT(RCC_BUS_AHB, 21), .stream = 5, .channel = 4, .irq = 16}},
    };
    /* Numbers in the manuals: TIM1 break 24, TIM8 break 43, TIM2 28, SPI2 36, USART1 37, USART2
     * 38. */
    for (unsigned i = 0; i < BOARDS; i++) {
        const board_t *b = boards[i].board;
        check_rx_dma(b, requests, sizeof requests / sizeof requests[0]);
        TEST_ASSERT_EQUAL_INT(24, b->motor.timers[0].break_irq);
        TEST_ASSERT_EQUAL_INT(43, b->motor.timers[1].break_irq);
        TEST_ASSERT_EQUAL_INT(28, b->tick.irq);
        TEST_ASSERT_EQUAL_INT(36, b->encoder.irq);
        TEST_ASSERT_EQUAL_INT(boards[i].usart == USART1 ? 37 : 38, b->uart.irq);
    }
}

/* Both have the same headers, so boards/PINS.md has one table for both. */
static void test_both_netduinos_have_the_same_pins(void) {
    pin_list_t plus, plain;
    list_pins(&board_netduinoplus2, &plus);
    list_pins(&board_netduino2, &plain);
    TEST_ASSERT_EQUAL_UINT(plus.count, plain.count);
    TEST_ASSERT_EQUAL_MEMORY(plus.pin, plain.pin, plus.count * sizeof plus.pin[0]);
}

TEST_LIST_BEGIN
TEST(test_no_pin_is_used_twice)
TEST(test_a_pin_used_twice_would_be_found)
TEST(test_a_board_may_have_quadrature_encoders)
TEST(test_every_pin_can_do_its_job)
TEST(test_clocks_are_within_the_data_sheets)
TEST(test_slots_are_whole_sectors)
TEST(test_lines_are_those_of_the_vector_table)
TEST(test_both_netduinos_have_the_same_pins)
TEST_LIST_END

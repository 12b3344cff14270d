// The UART driver against a model of the USART, as on silicon (one byte leaves at a time) and as in
// the emulator (the data register is always empty and the transmit interrupt never comes by
// itself). Compiled with a transmit ring of 16 and a receive ring of 8 bytes.
#include "test/harness.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "hal/uart.h"
#include "test/fake_clock.h"
#include "test/regmodel.h"

enum { IRQ = 37 };

const board_t board = {
    .uart = {.regs = USART1,
             .clock = RCC_USART1,
             .tx = PIN(B, 6),
             .rx = PIN(B, 7),
             .af = 7,
             .irq = IRQ},
};

static struct {
    uint32_t status; // receive side and errors
    uint8_t data;    // received
    bool tx_empty;   // TXE
    bool tx_instant; // the emulator: every byte is gone at once
    char sent[256];
    unsigned sent_count;
    unsigned overwritten; // bytes written while the register was full
} line;

static uint32_t usart_read(uint32_t address, uint32_t stored) {
    if (address == REGMODEL_ADDRESS(&USART1->SR)) {
        return line.status | (line.tx_empty ? USART_SR_TXE : 0);
    }
    if (address == REGMODEL_ADDRESS(&USART1->DR)) {
        line.status = 0; // status was read before: clears the flags
        return line.data;
    }
    return stored;
}

static uint32_t usart_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&USART1->DR)) {
        line.overwritten += !line.tx_empty;
        TEST_ASSERT_TRUE(line.sent_count < sizeof line.sent);
        line.sent[line.sent_count++] = (char)value;
        line.tx_empty = line.tx_instant;
    }
    return value;
}

static bool interrupt_enabled(uint32_t bit) {
    return (regmodel_get(&USART1->CR1) & bit) != 0;
}

static void receive(uint8_t byte, uint32_t errors) {
    line.data = byte;
    line.status = USART_SR_RXNE | errors;
    uart_irq();
}

static uart_stats_t base; // the driver counts from start-up, a test from its own beginning

static uart_stats_t counted(void) {
    uart_stats_t now;
    uart_stats(&now);
    return (uart_stats_t){now.sent - base.sent,
                          now.received - base.received,
                          now.tx_dropped - base.tx_dropped,
                          now.rx_dropped - base.rx_dropped,
                          now.rx_overrun - base.rx_overrun,
                          now.rx_framing - base.rx_framing,
                          now.rx_noise - base.rx_noise};
}

void setUp(void);
void setUp(void) {
    regmodel_reset();
    host_irq_reset();
    regmodel_device(REGMODEL_ADDRESS(USART1), REGMODEL_ADDRESS(&USART1->GTPR), usart_read,
                    usart_write);
    fake_clock = (clock_info_t){.core_hz = 168000000, .uart_hz = 84000000};
    // What a test before has left in the rings.
    memset(&line, 0, sizeof line);
    line.tx_empty = line.tx_instant = true;
    uart_irq();
    uint8_t rest[8];
    (void)uart_read(rest, sizeof rest);
    memset(&line, 0, sizeof line);
    line.tx_empty = true;
    uart_stats(&base);
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT(0, line.overwritten);
    TEST_ASSERT_EQUAL_UINT(0, host_irq.lock_depth);
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

static void test_init_is_the_manuals_sequence(void) {
    regmodel_log(REGMODEL_ADDRESS(USART1), REGMODEL_ADDRESS(&USART1->GTPR));
    uart_init(115200);
    EXPECT_WRITES({&USART1->CR1, 0}, {&USART1->CR2, 0}, {&USART1->CR3, 0},
                  {&USART1->BRR, 729}, // 84,000,000 / 115,200 = 729.2
                  {&USART1->CR1, 1 << 13 | 1 << 3 | 1 << 2 | 1 << 5}); // UE, TE, RE, RXNEIE
    TEST_ASSERT_EQUAL_HEX32(1 << 4, regmodel_get(&RCC->APB2ENR));
    TEST_ASSERT_EQUAL_HEX32(0x77000000, regmodel_get(&GPIO(PORT_B)->AFR[0]));
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_UART, host_irq.priority[IRQ]);
}

static void test_divider_is_rounded_and_bounded(void) {
    uart_init(2000000);
    TEST_ASSERT_EQUAL_UINT32(42, regmodel_get(&USART1->BRR));
    uart_init(921600);
    TEST_ASSERT_EQUAL_UINT32(91, regmodel_get(&USART1->BRR)); // 91.1
    uart_init(UINT32_MAX / 2);
    TEST_ASSERT_EQUAL_UINT32(16, regmodel_get(&USART1->BRR));
    uart_init(300);
    TEST_ASSERT_EQUAL_UINT32(0xFFFF, regmodel_get(&USART1->BRR));
    uart_init(0);
    TEST_ASSERT_EQUAL_UINT32(0xFFFF, regmodel_get(&USART1->BRR));
}

static void test_a_write_asks_for_the_interrupt_in_both_ways(void) {
    uart_init(115200);
    TEST_ASSERT_TRUE(uart_write("abc", 3));
    TEST_ASSERT_TRUE(interrupt_enabled(USART_CR1_TXEIE)); // silicon
    TEST_ASSERT_EQUAL_UINT(1, host_irq.pended[IRQ]);      // emulator
    TEST_ASSERT_EQUAL_UINT(0, line.sent_count);           // the caller waited for nothing
}

static void test_silicon_sends_one_byte_an_interrupt(void) {
    uart_init(115200);
    uart_write("abc", 3);
    for (unsigned i = 1; i <= 3; i++) {
        uart_irq();
        TEST_ASSERT_EQUAL_UINT(i, line.sent_count);
        uart_irq(); // a stray one, register still full
        TEST_ASSERT_EQUAL_UINT(i, line.sent_count);
        TEST_ASSERT_EQUAL(i < 3, interrupt_enabled(USART_CR1_TXEIE));
        line.tx_empty = true;
    }
    TEST_ASSERT_EQUAL_STRING_LEN("abc", line.sent, 3);
    TEST_ASSERT_TRUE(interrupt_enabled(USART_CR1_RXNEIE)); // receiving goes on
    TEST_ASSERT_EQUAL_UINT32(3, counted().sent);
}

static void test_the_emulator_sends_all_in_one_interrupt(void) {
    line.tx_instant = true;
    uart_init(115200);
    uart_write("hello, world", 12);
    uart_irq();
    TEST_ASSERT_EQUAL_STRING_LEN("hello, world", line.sent, 12);
    TEST_ASSERT_FALSE(interrupt_enabled(USART_CR1_TXEIE));
}

static void test_a_full_ring_takes_all_or_nothing(void) {
    uart_init(115200);
    TEST_ASSERT_EQUAL_UINT(16, uart_write_free());
    TEST_ASSERT_TRUE(uart_write("0123456789", 10));
    TEST_ASSERT_EQUAL_UINT(6, uart_write_free());
    TEST_ASSERT_FALSE(uart_write("abcdefg", 7));
    TEST_ASSERT_EQUAL_UINT32(7, counted().tx_dropped);
    TEST_ASSERT_TRUE(uart_write("ABCDEF", 6));
    TEST_ASSERT_FALSE(uart_write("x", 1));
    TEST_ASSERT_TRUE(uart_write("", 0));
    TEST_ASSERT_EQUAL_UINT32(8, counted().tx_dropped);
    line.tx_instant = true;
    uart_irq();
    TEST_ASSERT_EQUAL_UINT(16, line.sent_count);
    TEST_ASSERT_EQUAL_STRING_LEN("0123456789ABCDEF", line.sent, 16);
}

static void test_the_rings_wrap(void) {
    line.tx_instant = true;
    uart_init(115200);
    for (unsigned i = 0; i < 20; i++) {
        line.sent_count = 0;
        TEST_ASSERT_TRUE(uart_write("0123456789a", 11));
        uart_irq();
        TEST_ASSERT_EQUAL_STRING_LEN("0123456789a", line.sent, 11);
        uint8_t got[8];
        for (uint8_t b = 0; b < 5; b++) {
            receive((uint8_t)(i + b), 0);
        }
        TEST_ASSERT_EQUAL_UINT(5, uart_read(got, sizeof got));
        TEST_ASSERT_EQUAL_UINT8(i + 4, got[4]);
    }
}

static void test_received_bytes_come_in_order(void) {
    uart_init(115200);
    receive('x', 0);
    receive('y', 0);
    uint8_t got[4];
    TEST_ASSERT_EQUAL_UINT(1, uart_read(got, 1));
    TEST_ASSERT_EQUAL_UINT8('x', got[0]);
    TEST_ASSERT_EQUAL_UINT(1, uart_read(got, 4));
    TEST_ASSERT_EQUAL_UINT8('y', got[0]);
    TEST_ASSERT_EQUAL_UINT(0, uart_read(got, 4));
    TEST_ASSERT_EQUAL_UINT32(2, counted().received);
}

static void test_a_full_receive_ring_drops_the_new_byte(void) {
    uart_init(115200);
    for (uint8_t i = 0; i < 9; i++) {
        receive(i, 0);
    }
    uint8_t got[16];
    TEST_ASSERT_EQUAL_UINT(8, uart_read(got, sizeof got));
    TEST_ASSERT_EQUAL_UINT8(0, got[0]);
    TEST_ASSERT_EQUAL_UINT8(7, got[7]);
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_dropped);
    TEST_ASSERT_EQUAL_UINT32(9, counted().received);
}

static void test_errors_are_counted_apart(void) {
    uart_init(115200);
    receive('a', USART_SR_ORE);
    receive('b', USART_SR_FE);
    receive('c', USART_SR_NE);
    receive('d', USART_SR_PE);
    receive('e', USART_SR_NE | USART_SR_FE);
    uart_stats_t c = counted();
    TEST_ASSERT_EQUAL_UINT32(1, c.rx_overrun);
    TEST_ASSERT_EQUAL_UINT32(2, c.rx_framing);
    TEST_ASSERT_EQUAL_UINT32(3, c.rx_noise);
    TEST_ASSERT_EQUAL_UINT32(5, c.received);
}

static void test_an_overrun_alone_is_cleared_without_inventing_a_byte(void) {
    uart_init(115200);
    line.status = USART_SR_ORE;
    uart_irq();
    TEST_ASSERT_EQUAL_HEX32(0, line.status); // the data register was read
    uint8_t got[4];
    TEST_ASSERT_EQUAL_UINT(0, uart_read(got, 4));
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_overrun);
    TEST_ASSERT_EQUAL_UINT32(0, counted().received);
}

static void test_polled_output(void) {
    uart_init(115200);
    uart_put_polled('!');
    TEST_ASSERT_EQUAL_UINT(1, line.sent_count);
    TEST_ASSERT_EQUAL_INT('!', line.sent[0]);
    unsigned before = regmodel_read_count(&USART1->SR);
    uart_put_polled('?'); // the register is still full: waits, gives up, drops
    TEST_ASSERT_EQUAL_UINT(1, line.sent_count);
    // 2 ms of 168 MHz at four cycles a poll: more than a byte at 9,600 baud.
    TEST_ASSERT_GREATER_OR_EQUAL_UINT(before + 84000, regmodel_read_count(&USART1->SR));
}

static void test_polled_output_before_init_does_not_wait(void) {
    line.tx_empty = false;
    unsigned before = regmodel_read_count(&USART1->SR);
    uart_put_polled('?');
    TEST_ASSERT_EQUAL_UINT(before, regmodel_read_count(&USART1->SR));
    TEST_ASSERT_EQUAL_UINT(0, line.sent_count);
}

TEST_LIST_BEGIN
TEST(test_init_is_the_manuals_sequence)
TEST(test_divider_is_rounded_and_bounded)
TEST(test_a_write_asks_for_the_interrupt_in_both_ways)
TEST(test_silicon_sends_one_byte_an_interrupt)
TEST(test_the_emulator_sends_all_in_one_interrupt)
TEST(test_a_full_ring_takes_all_or_nothing)
TEST(test_the_rings_wrap)
TEST(test_received_bytes_come_in_order)
TEST(test_a_full_receive_ring_drops_the_new_byte)
TEST(test_errors_are_counted_apart)
TEST(test_an_overrun_alone_is_cleared_without_inventing_a_byte)
TEST(test_polled_output)
TEST(test_polled_output_before_init_does_not_wait)
TEST_LIST_END

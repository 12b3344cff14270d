/*
 * Tests the UART driver with a model of the USART, as on silicon (one byte leaves at a time) and as
 * in the emulator (the data register is always empty, and the transmit interrupt never comes on its
 * own). The driver receives by DMA, or by interrupt if there is no DMA. Compiled for F4 and F1 with
 * a transmit ring of 16 and a receive ring of 8 bytes.
 */
#include "test/support/harness.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/handlers.h"
#include "hal/uart.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"

enum { IRQ = 37, DMA_IRQ = 58, RING = 8 };

/* Addresses by the offsets in the manuals: stream 2 of DMA2, on the F1 channel 5 of DMA1. */
#ifdef HAL_STM32F4
enum {
    DMA_BASE = 0x40026400,
    DMA_LAST = DMA_BASE + 0xCC,
    STREAM = DMA_BASE + 0x10 + 2 * 0x18,
    CONTROL = STREAM,
    COUNT = STREAM + 4,
    FROM = STREAM + 8,
    TO = STREAM + 12,
    FLAGS = DMA_BASE,
    CLEAR = DMA_BASE + 8,
    FLAG_MIDDLE = 1 << 20,
    FLAG_END = 1 << 21,
};
#define RX_DMA                                                                                     \
    { DMA2, RCC_DMA2, .stream = 2, .channel = 4, .irq = DMA_IRQ }
#else
enum {
    DMA_BASE = 0x40020000,
    DMA_LAST = DMA_BASE + 0x90,
    STREAM = DMA_BASE + 8 + 4 * 20,
    CONTROL = STREAM,
    COUNT = STREAM + 4,
    FROM = STREAM + 8,
    TO = STREAM + 12,
    FLAGS = DMA_BASE,
    CLEAR = DMA_BASE + 4,
    FLAG_MIDDLE = 1 << 18,
    FLAG_END = 1 << 17,
};
#define RX_DMA                                                                                     \
    { DMA1, RCC_DMA1, .stream = 5, .irq = DMA_IRQ }
#endif
#define AT(address) ((const volatile void *)(uintptr_t)(address))

const board_t board = {
    .uart = {.regs = USART1,
             .clock = RCC_USART1,
             .tx = PIN(B, 6),
             .rx = PIN(B, 7),
             .af = 7,
             .irq = IRQ,
             .rx_dma = RX_DMA},
};

static struct {
    uint32_t status;       /* receive and error flags of the status register */
    uint32_t seen;         /* flags that the driver has read since it last read the data register */
    uint8_t data;          /* last received byte */
    unsigned taken;        /* number of reads of the data register by the driver */
    unsigned late;         /* number of bytes that arrive right before a status read */
    unsigned late_reading; /* before which read of the status; 1 is the next one */
    bool noisy_send;       /* a byte with noise arrives during a send */
    bool tx_empty;         /* TXE */
    bool tx_instant;       /* as in the emulator: every byte is sent at once */
    char sent[256];
    unsigned sent_count;
    unsigned overwritten; /* bytes written while the register was full */
} line;

static struct {
    bool connected;
    bool refuses; /* the stream does not stay enabled */
    bool stuck;   /* the stream cannot be disabled */
    uint32_t left, flags;
    unsigned lock_depth; /* lock depth when the count was read */
    bool masked;         /* interrupts are masked */
    uint8_t next;
} dma;

static void dma_byte(uint8_t byte, uint32_t errors);
static void dma_bytes(unsigned count);

/* Reading the data register clears the flags that the last read of the status has shown. */
static void data_register_read(void) {
    line.status &= ~(line.seen | USART_SR_RXNE);
    line.seen = 0;
}

static uint32_t usart_read(uint32_t address, uint32_t stored) {
    if (address == REGMODEL_ADDRESS(&USART1->SR)) {
        if (line.late_reading > 0 && --line.late_reading == 0) {
            dma.masked = true;
            dma_bytes(line.late);
            dma.masked = false;
        }
        line.seen = line.status;
        return line.status | (line.tx_empty ? USART_SR_TXE : 0);
    }
    if (address == REGMODEL_ADDRESS(&USART1->DR)) {
        line.taken++;
        data_register_read();
        return line.data;
    }
    return stored;
}

static uint32_t dma_read(uint32_t address, uint32_t stored) {
    if (address == FLAGS) {
        return dma.flags;
    }
    if (address == COUNT) {
        dma.lock_depth = host_irq.lock_depth;
        return dma.left;
    }
    return address != CONTROL ? stored
           : dma.refuses      ? stored & ~1u
           : dma.stuck        ? stored | 1u
                              : stored;
}

static uint32_t dma_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == CLEAR) {
        dma.flags &= ~value;
    } else if (address == COUNT) {
        dma.left = value;
    }
    return value;
}

/* The DMA register holds only the lower 32 bits of the ring's address. Finds the full address,
 * assuming that the ring lies within 2 GB of the variable `dma`. */
static uint8_t *dma_ring(void) {
    uintptr_t here = (uintptr_t)&dma;
    int32_t distance = (int32_t)(regmodel_get(AT(TO)) - (uint32_t)here);
    return (uint8_t *)here + distance;
}

/*
 * A byte arrives on the line and is received by DMA. After an overrun nothing arrives until the
 * flag is cleared.
 */
static void dma_byte(uint8_t byte, uint32_t errors) {
    if (line.status & USART_SR_ORE) {
        return;
    }
    TEST_ASSERT_TRUE(regmodel_get(&USART1->CR3) & 1 << 6);
    TEST_ASSERT_TRUE(regmodel_get(AT(CONTROL)) & 1);
    line.data = byte;
    line.status |= errors;
    data_register_read();
    dma_ring()[RING - dma.left--] = byte;
    if (dma.left == RING / 2) {
        dma.flags |= FLAG_MIDDLE;
    } else if (dma.left == 0) {
        dma.left = RING;
        dma.flags |= FLAG_END;
    }
    if (!dma.masked && dma.flags != 0) {
        uart_irq();
        TEST_ASSERT_EQUAL_HEX32(0, dma.flags); /* otherwise the interrupt would never end */
    }
}

static void dma_bytes(unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        dma_byte(dma.next++, 0);
    }
}

static void dma_start(void) {
    if (!dma.connected) {
        regmodel_device(DMA_BASE, DMA_LAST, dma_read, dma_write);
        dma.connected = true;
    }
    uart_init(115200);
}

static void expect_bytes(unsigned first, unsigned count) {
    uint8_t got[2 * RING];
    TEST_ASSERT_EQUAL_UINT(count, uart_read(got, sizeof got));
    if (regmodel_get(&USART1->CR3) & 1 << 6) {
        TEST_ASSERT_EQUAL_UINT(1, dma.lock_depth); /* because interrupts move the head, too */
    }
    for (unsigned i = 0; i < count; i++) {
        TEST_ASSERT_EQUAL_UINT8(first + i, got[i]);
    }
}

static uint32_t usart_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    (void)width;
    (void)stored;
    if (address == REGMODEL_ADDRESS(&USART1->DR)) {
        line.overwritten += !line.tx_empty;
        TEST_ASSERT_TRUE(line.sent_count < sizeof line.sent);
        line.sent[line.sent_count++] = (char)value;
        line.tx_empty = line.tx_instant;
        if (line.noisy_send) {
            dma_byte(dma.next++, USART_SR_NE);
        }
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

static uart_stats_t base; /* the driver counts since start-up, a test since its own start */

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

static void connect(void) {
    regmodel_device(REGMODEL_ADDRESS(USART1), REGMODEL_ADDRESS(&USART1->GTPR), usart_read,
                    usart_write);
    regmodel_absent(DMA_BASE, DMA_LAST);
}

void setUp(void);
void setUp(void) {
    /* Empties the rings of the previous test; uses no DMA, whatever that test used. */
    regmodel_reset();
    memset(&line, 0, sizeof line);
    line.tx_empty = line.tx_instant = true;
    fake_clock = (clock_info_t){.core_hz = 168000000, .uart_hz = 84000000};
    connect();
    uart_init(115200);
    uart_irq();
    uint8_t rest[8];
    (void)uart_read(rest, sizeof rest);
    regmodel_reset();
    host_irq_reset();
    connect();
    memset(&line, 0, sizeof line);
    memset(&dma, 0, sizeof dma);
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
                  {&USART1->BRR, 729}, /* 84,000,000 / 115,200 = 729.2 */
                  {&USART1->CR1, 1 << 13 | 1 << 3 | 1 << 2 | 1 << 5}); /* UE, TE, RE, RXNEIE */
#ifdef HAL_STM32F4
    TEST_ASSERT_EQUAL_HEX32(1 << 4, regmodel_get(&RCC->APB2ENR));
    TEST_ASSERT_EQUAL_HEX32(0x77000000, regmodel_get(&GPIO(PORT_B)->AFR[0]));
#else
    TEST_ASSERT_EQUAL_HEX32(1 << 14 | 1 << 3 | 1, regmodel_get(&RCC->APB2ENR)); /* port B, AFIO */
#endif
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_UART, host_irq.priority[IRQ]);
}

static void test_dma_init_is_the_manuals_sequence(void) {
    regmodel_log(REGMODEL_ADDRESS(USART1), REGMODEL_ADDRESS(&USART1->GTPR));
    regmodel_log(DMA_BASE, DMA_LAST);
    dma_start();
#ifdef HAL_STM32F4
    /* Control: channel 4, highest priority, memory increment, circular, both interrupts, byte
     * transfers. */
    const uint32_t control = 4u << 25 | 3 << 16 | 1 << 10 | 1 << 8 | 1 << 4 | 1 << 3;
    EXPECT_WRITES({&USART1->CR1, 0}, {&USART1->CR2, 0}, {&USART1->CR3, 0}, {&USART1->BRR, 729},
                  {AT(CONTROL), 0}, {AT(CLEAR), 0x3D << 16}, {AT(FROM), 0x40011004},
                  {AT(TO), regmodel_get(AT(TO))}, {AT(COUNT), RING}, {AT(STREAM + 20), 0},
                  {AT(CONTROL), control}, {AT(CONTROL), control | 1},
                  {&USART1->CR3, 1 << 6},                     /* DMAR, no error interrupt */
                  {&USART1->CR1, 1 << 13 | 1 << 3 | 1 << 2}); /* UE, TE, RE, but not RXNEIE */
    TEST_ASSERT_EQUAL_HEX32(1 << 22 | 1 << 1, regmodel_get(&RCC->AHB1ENR)); /* DMA2 and port B */
#else
    const uint32_t control = 3 << 12 | 1 << 7 | 1 << 5 | 1 << 2 | 1 << 1;
    EXPECT_WRITES({&USART1->CR1, 0}, {&USART1->CR2, 0}, {&USART1->CR3, 0}, {&USART1->BRR, 729},
                  {AT(CONTROL), 0}, {AT(CLEAR), 0xF << 16}, {AT(FROM), 0x40013804},
                  {AT(TO), regmodel_get(AT(TO))}, {AT(COUNT), RING}, {AT(CONTROL), control},
                  {AT(CONTROL), control | 1}, {&USART1->CR3, 1 << 6},
                  {&USART1->CR1, 1 << 13 | 1 << 3 | 1 << 2});
    TEST_ASSERT_EQUAL_HEX32(1 << 0, regmodel_get(&RCC->AHBENR));
#endif
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_UART, host_irq.priority[IRQ]);
    TEST_ASSERT_EQUAL_UINT8(IRQ_PRIORITY_UART, host_irq.priority[DMA_IRQ]);
}

static void check_received_by_interrupt(void) {
    TEST_ASSERT_TRUE(interrupt_enabled(USART_CR1_RXNEIE));
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(&USART1->CR3));
    TEST_ASSERT_EQUAL_UINT8(HOST_IRQ_OFF, host_irq.priority[DMA_IRQ]);
    receive('a', 0);
    expect_bytes('a', 1);
}

static void test_without_dma_every_byte_has_its_interrupt(void) {
    dma.refuses = true;
    dma_start();
    check_received_by_interrupt();
    dma.refuses = false;
    dma_start(); /* a stream that stays enabled is used */
    TEST_ASSERT_FALSE(interrupt_enabled(USART_CR1_RXNEIE));
}

#ifdef HAL_STM32F4
static void test_a_stream_that_does_not_go_off_is_not_used(void) {
    dma.stuck = true;
    dma_start();
    check_received_by_interrupt();
    TEST_ASSERT_EQUAL_HEX32(0, regmodel_get(AT(TO))); /* the stream was not written */
}
#endif

static void test_dma_bytes_come_in_order_across_the_end(void) {
    dma_start();
    unsigned first = 0;
    for (unsigned i = 0; i < 50; i++) {
        unsigned count = i % RING; /* the ring starts and ends at every place */
        dma_bytes(count);
        expect_bytes(first, count);
        first += count;
    }
    expect_bytes(first, 0);
    TEST_ASSERT_EQUAL_UINT32(first, counted().received);
    TEST_ASSERT_EQUAL_UINT32(0, counted().rx_dropped);
    TEST_ASSERT_EQUAL_UINT(0, line.taken);
}

static void test_dma_bytes_one_at_a_time(void) {
    dma_start();
    for (unsigned first = 0; first < 5 * 6; first += 6) {
        dma_bytes(6);
        for (unsigned i = 0; i < 6; i++) {
            uint8_t byte;
            TEST_ASSERT_EQUAL_UINT(1, uart_read(&byte, 1));
            TEST_ASSERT_EQUAL_UINT8(first + i, byte);
        }
    }
    TEST_ASSERT_EQUAL_UINT32(0, counted().rx_dropped);
}

static void test_a_ring_that_the_dma_overtook_is_thrown_away(void) {
    for (unsigned count = RING; count < 4 * RING; count++) {
        dma_start();
        uint32_t before = counted().rx_dropped;
        dma.next = 0;
        dma_bytes(count);
        expect_bytes(0, 0);
        TEST_ASSERT_EQUAL_UINT32(before + count, counted().rx_dropped);
        dma_bytes(3);
        expect_bytes(count, 3);
        TEST_ASSERT_EQUAL_UINT32(before + count, counted().rx_dropped);
    }
}

/*
 * During a flash erase no interrupt counts the rounds of the ring. After exactly two rounds the DMA
 * counter looks as if no byte had come, and after two rounds and k bytes as if only k had come.
 */
static void test_rounds_that_nobody_counted_are_seen_by_their_marks(void) {
    for (unsigned count = 2 * RING; count < 3 * RING; count++) {
        dma_start();
        dma_bytes(2);
        expect_bytes(dma.next - 2u, 2);
        uint32_t before = counted().rx_dropped;
        dma.masked = true;
        dma_bytes(count);
        expect_bytes(0, 0);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT32(before + RING, counted().rx_dropped);
        dma.masked = false;
        dma_bytes(3);
        expect_bytes(dma.next - 3u, 3);
    }
}

static void test_bytes_overtaken_while_they_are_copied_are_thrown_away(void) {
    dma_start();
    dma_bytes(4); /* half of the ring: the interrupt counts these */
    line.late = 3;
    line.late_reading = 2; /* after the copy; the ring then contains 7 bytes */
    expect_bytes(0, 4);
    expect_bytes(4, 3);
    dma_start();
    dma_bytes(4);
    line.late = 4;
    line.late_reading = 2; /* after the 8th byte, another may overwrite the first */
    expect_bytes(0, 0);
    TEST_ASSERT_EQUAL_UINT32(8, counted().rx_dropped);
    dma_bytes(1);
    expect_bytes(dma.next - 1u, 1);
}

static void test_dma_errors_count_once_and_take_no_byte_away(void) {
    dma_start();
    dma_byte(0, 0);
    dma_byte(1, USART_SR_FE);
    expect_bytes(0, 2);
    for (unsigned i = 0; i < 3; i++) {
        expect_bytes(0, 0); /* the flag stays until the next byte */
        uart_irq();
    }
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_framing);
    dma_byte(2, 0);
    TEST_ASSERT_EQUAL_HEX32(0, line.status);
    expect_bytes(2, 1);
    dma_byte(3, USART_SR_FE | USART_SR_NE);
    expect_bytes(3, 1);
    dma_byte(4, 0);
    expect_bytes(4, 1);
    TEST_ASSERT_EQUAL_UINT32(2, counted().rx_framing);
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_noise);
    TEST_ASSERT_EQUAL_UINT32(0, counted().rx_overrun);
    /* The flag is set at two successive reads, but by two different errors. */
    dma_byte(5, USART_SR_FE);
    expect_bytes(5, 1);
    dma_byte(6, 0);
    dma_byte(7, USART_SR_FE);
    expect_bytes(6, 2);
    TEST_ASSERT_EQUAL_UINT32(4, counted().rx_framing);
    TEST_ASSERT_EQUAL_UINT(0, line.taken);
}

/* Sending reads the status register. After that read the next byte clears the error flags, so the
 * driver must count errors that it finds while it sends. */
static void test_dma_errors_seen_while_sending_are_counted(void) {
    dma_start();
    dma_byte(0, USART_SR_NE);
    uart_irq(); /* there is nothing to send */
    dma_byte(1, 0);
    expect_bytes(0, 2);
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_noise);
    dma.next = 2;
    line.noisy_send = true;
    uart_write("ab", 2);
    uart_irq();
    line.noisy_send = false;
    dma_byte(3, 0); /* also causes the interrupt at half of the ring */
    TEST_ASSERT_EQUAL_HEX32(0, line.status);
    expect_bytes(2, 2);
    TEST_ASSERT_EQUAL_UINT32(2, counted().rx_noise);
    line.tx_empty = true;
    uart_irq();
    TEST_ASSERT_EQUAL_STRING_LEN("ab", line.sent, 2);
    TEST_ASSERT_FALSE(interrupt_enabled(USART_CR1_TXEIE));
    TEST_ASSERT_FALSE(interrupt_enabled(USART_CR1_RXNEIE));
}

static void test_an_overrun_does_not_end_receiving_by_dma(void) {
    dma_start();
    dma_byte(0, 0);
    line.status = USART_SR_ORE; /* from now on no byte arrives */
    dma_byte(1, 0);
    expect_bytes(0, 1);
    dma_byte(2, 0);
    expect_bytes(2, 1);
    expect_bytes(0, 0);
    TEST_ASSERT_EQUAL_UINT32(1, counted().rx_overrun);
    TEST_ASSERT_EQUAL_UINT32(2, counted().received);
    /* The driver must not read a byte that the DMA is about to take. */
    line.taken = 0;
    line.status = USART_SR_ORE | USART_SR_RXNE;
    expect_bytes(0, 0);
    TEST_ASSERT_EQUAL_UINT(0, line.taken);
    TEST_ASSERT_EQUAL_UINT32(2, counted().rx_overrun);
    line.status = 0;
}

static void test_divider_is_rounded_and_bounded(void) {
    uart_init(2000000);
    TEST_ASSERT_EQUAL_UINT32(42, regmodel_get(&USART1->BRR));
    uart_init(921600);
    TEST_ASSERT_EQUAL_UINT32(91, regmodel_get(&USART1->BRR)); /* 91.1 */
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
    TEST_ASSERT_TRUE(interrupt_enabled(USART_CR1_TXEIE)); /* for silicon */
    TEST_ASSERT_EQUAL_UINT(1, host_irq.pended[IRQ]);      /* for the emulator */
    TEST_ASSERT_EQUAL_UINT(0, line.sent_count);           /* the caller did not wait */
}

static void test_silicon_sends_one_byte_an_interrupt(void) {
    uart_init(115200);
    uart_write("abc", 3);
    for (unsigned i = 1; i <= 3; i++) {
        uart_irq();
        TEST_ASSERT_EQUAL_UINT(i, line.sent_count);
        uart_irq(); /* a spurious interrupt: the register is still full */
        TEST_ASSERT_EQUAL_UINT(i, line.sent_count);
        TEST_ASSERT_EQUAL(i < 3, interrupt_enabled(USART_CR1_TXEIE));
        line.tx_empty = true;
    }
    TEST_ASSERT_EQUAL_STRING_LEN("abc", line.sent, 3);
    TEST_ASSERT_TRUE(interrupt_enabled(USART_CR1_RXNEIE)); /* receiving continues */
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
    TEST_ASSERT_EQUAL_HEX32(0, line.status); /* the data register was read */
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
    uart_put_polled('?'); /* register still full: the driver waits, gives up, drops the byte */
    TEST_ASSERT_EQUAL_UINT(1, line.sent_count);
    /* The driver waits 2 ms at 168 MHz and four cycles per poll, longer than a byte at 9,600
     * baud. */
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
TEST(test_dma_init_is_the_manuals_sequence)
TEST(test_without_dma_every_byte_has_its_interrupt)
#ifdef HAL_STM32F4
TEST(test_a_stream_that_does_not_go_off_is_not_used)
#endif
TEST(test_dma_bytes_come_in_order_across_the_end)
TEST(test_dma_bytes_one_at_a_time)
TEST(test_a_ring_that_the_dma_overtook_is_thrown_away)
TEST(test_rounds_that_nobody_counted_are_seen_by_their_marks)
TEST(test_bytes_overtaken_while_they_are_copied_are_thrown_away)
TEST(test_dma_errors_count_once_and_take_no_byte_away)
TEST(test_dma_errors_seen_while_sending_are_counted)
TEST(test_an_overrun_does_not_end_receiving_by_dma)
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

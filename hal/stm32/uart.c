/*
 * hal/uart.h on a USART (the same on F1, F2 and F4).
 *
 * Receiving is the DMA's work where there is one: an interrupt for every byte would have to wait
 * for the tick, which lasts for many bytes of a fast line. The DMA writes round the ring, and the
 * ring's head follows its counter whenever somebody looks: uart_read, and the interrupts of the
 * line and of the two marks of hal/stm32/dma.h, so that no more than half a ring goes by without a
 * look. Nobody stops the DMA at the reader's place: what it has overtaken is thrown away and
 * counted. A core that sleeps is woken by a mark or the tick, not by a byte. Where there is no DMA,
 * as in the emulator, every byte has its interrupt.
 *
 * Transmitting works on silicon and in the emulator, which never raises the transmit interrupt: a
 * write enables it AND pends the line by hand; the handler sends for as long as the data
 * register is empty.
 */
#include "hal/uart.h"
#include "hal/irq.h"
#include "hal/ring.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/dma.h"
#include "hal/stm32/gpio.h"
#include "hal/stm32/handlers.h"

#ifndef UART_TX_RING
#define UART_TX_RING 1024
#endif
#ifndef UART_RX_RING
#define UART_RX_RING 256
#endif
static_assert((UART_TX_RING & (UART_TX_RING - 1)) == 0, "UART_TX_RING must be a power of two");
static_assert((UART_RX_RING & (UART_RX_RING - 1)) == 0, "UART_RX_RING must be a power of two");
static_assert(UART_RX_RING <= 0x8000, "the DMA counts in 16 bits");

enum { POLLED_BYTE_MS = 2 }; /* a byte at 9,600 baud takes 1.04 ms */
enum { ERRORS = USART_SR_ORE | USART_SR_FE | USART_SR_NE | USART_SR_PE };

static uint8_t tx_data[UART_TX_RING];
static DMA_BUFFER uint8_t rx_data[UART_RX_RING];
static ring_t tx = {.data = tx_data, .size = UART_TX_RING};
static ring_t rx = {.data = rx_data, .size = UART_RX_RING};
static uart_stats_t stats;
static bool by_dma;        /* how bytes are received */
static bool error_counted; /* by_dma: the flags seen at the last look */

void uart_init(uint32_t baud) {
    enum { DIVIDER_MIN = 16, DIVIDER_MAX = 0xFFFF }; /* oversampling by 16 */
    usart_t *usart = board.uart.regs;
    uint32_t divider = baud == 0 ? DIVIDER_MAX : (clock_info()->uart_hz + baud / 2) / baud;
    divider = divider < DIVIDER_MIN ? DIVIDER_MIN : divider > DIVIDER_MAX ? DIVIDER_MAX : divider;
    rcc_enable(board.uart.clock);
    reg_write(&usart->CR1, 0);
    reg_write(&usart->CR2, 0); /* one stop bit */
    reg_write(&usart->CR3, 0);
    reg_write(&usart->BRR, divider);
    by_dma = dma_receive(&board.uart.rx_dma, &usart->DR, rx_data, UART_RX_RING);
    if (by_dma) {
        rx.head = rx.tail = 0; /* where the DMA begins */
        error_counted = false;
        reg_write(&usart->CR3, USART_CR3_DMAR);
    }
    reg_write(&usart->CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE |
                               (by_dma ? 0 : (uint32_t)USART_CR1_RXNEIE));
    /* The pins last: the line rises to idle only when the USART already holds it there. */
    gpio_alternate_out(board.uart.tx, board.uart.af, GPIO_PULL_UP);
    gpio_alternate_in(board.uart.rx, board.uart.af, GPIO_PULL_UP);
    irq_enable(board.uart.irq, IRQ_PRIORITY_UART);
    if (by_dma)
        irq_enable(board.uart.rx_dma.irq, IRQ_PRIORITY_UART);
}

static void count_errors(uint32_t status) {
    stats.rx_overrun += (status & USART_SR_ORE) != 0;
    stats.rx_framing += (status & USART_SR_FE) != 0;
    stats.rx_noise += (status & (USART_SR_NE | USART_SR_PE)) != 0;
}

static void receive(usart_t *usart, uint32_t status) {
    count_errors(status);
    /* Reading the data after the status clears the flags; an overrun alone needs it, too, or the
     * interrupt would come back for ever. */
    uint8_t byte = (uint8_t)reg_read(&usart->DR);
    if (status & USART_SR_RXNE) {
        stats.received++;
        if (!ring_put(&rx, byte))
            stats.rx_dropped++;
    }
}

/* The head of the ring to where the DMA is. Half of the smallest ring, 64 bytes, lasts 0.69 ms at
 * 921,600 baud, longer than a tick; so both marks at once mean that interrupts were off, as while
 * the flash is erased, and nobody knows for how many rounds: one more makes it a ring that was
 * overtaken. Returns how many bytes came since the last look. */
static uint32_t follow_dma(void) {
    uint32_t head = rx.head;
    bool lost_count = dma_marks(&board.uart.rx_dma) == (DMA_MIDDLE | DMA_END);
    uint32_t place = UART_RX_RING - dma_left(&board.uart.rx_dma);
    uint32_t came = ((place - head) & (UART_RX_RING - 1)) + (lost_count ? UART_RX_RING : 0);
    rx.head = head + came;
    stats.received += came;
    return came;
}

/*
 * The status of a USART that is read by the DMA; every reading of it goes through here, in the
 * interrupt or with interrupts locked.
 *
 * An error flag goes away when the status and then the data register is read. Reading the data
 * register here could take a byte away from the DMA. There is no need to: whoever reads it clears
 * the flags that were seen before, so the DMA does, with the next byte. Until then they stand, and
 * count once: again only when a byte came since the last look. That is why the status is read
 * before the counter: a byte that counts has been read by the DMA after the flags of the look
 * before. No interrupt is on for the flags: they would raise it until the next byte.
 *
 * After an overrun nothing is received until it is cleared, the DMA reads no more: this flag must
 * be cleared here, and because nothing is received there is nothing to take away. With RXNE beside
 * it the DMA is about to read the byte, and clears it.
 */
static uint32_t poll(usart_t *usart) {
    uint32_t status = reg_read(&usart->SR);
    bool came = follow_dma() > 0;
    if ((status & ERRORS) && (came || !error_counted))
        count_errors(status);
    error_counted = (status & ERRORS) != 0;
    if ((status & (USART_SR_ORE | USART_SR_RXNE)) == USART_SR_ORE) {
        (void)reg_read(&usart->DR);
        error_counted = false;
    }
    return status;
}

void uart_irq(void) {
    usart_t *usart = board.uart.regs;
    uint32_t status = by_dma ? poll(usart) : reg_read(&usart->SR);
    if (!by_dma && (status & (USART_SR_RXNE | ERRORS)))
        receive(usart, status);
    uint8_t byte;
    while ((status & USART_SR_TXE) && ring_get(&tx, &byte)) {
        reg_write(&usart->DR, byte);
        stats.sent++;
        status = by_dma ? poll(usart) : reg_read(&usart->SR);
    }
    /* The tick may be adding bytes: it must not find its interrupt switched off. */
    uint32_t state = irq_lock();
    if (ring_used(&tx) == 0)
        reg_clear(&usart->CR1, USART_CR1_TXEIE);
    irq_unlock(state);
}

bool uart_write(const void *data, size_t n) {
    uint32_t state = irq_lock();
    bool taken = ring_write(&tx, data, n);
    if (taken && n > 0) {
        reg_set(&board.uart.regs->CR1, USART_CR1_TXEIE);
        irq_pend(board.uart.irq);
    } else if (!taken) {
        stats.tx_dropped += (uint32_t)n;
    }
    irq_unlock(state);
    return taken;
}

size_t uart_write_free(void) {
    return ring_free(&tx);
}

/* Returns the head. */
static uint32_t poll_from_background(void) {
    uint32_t state = irq_lock();
    (void)poll(board.uart.regs);
    uint32_t head = rx.head;
    irq_unlock(state);
    ring_order();
    return head;
}

/* The DMA may overtake the copy, too: whether the bytes are good is known when they are here. A
 * ring that is full to the last byte counts as overtaken: the next one may be on its way. */
static size_t read_dma(void *data, size_t n) {
    uint32_t first = rx.tail;
    if (ring_used(&rx) < n)
        (void)poll_from_background();
    size_t taken = ring_read(&rx, data, n);
    if (taken > 0) {
        uint32_t head = poll_from_background();
        if (head - first >= UART_RX_RING) {
            stats.rx_dropped += head - first;
            rx.tail = head;
            taken = 0;
        }
    }
    return taken;
}

size_t uart_read(void *data, size_t n) {
    return by_dma ? read_dma(data, n) : ring_read(&rx, data, n);
}

void uart_put_polled(char c) {
    usart_t *usart = board.uart.regs;
    if ((reg_read(&usart->CR1) & USART_CR1_UE) == 0)
        return; /* a fault before uart_init: there is no line to wait for */
    uint32_t polls = wait_polls(clock_info()->core_hz, POLLED_BYTE_MS);
    if (reg_wait(&usart->SR, USART_SR_TXE, USART_SR_TXE, polls)) {
        reg_write(&usart->DR, (uint8_t)c);
        stats.sent++;
    }
}

void uart_stats(uart_stats_t *out) {
    uint32_t state = irq_lock();
    *out = stats;
    irq_unlock(state);
}

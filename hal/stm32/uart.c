/*
 * hal/uart.h on a USART (the same on F1, F2 and F4).
 *
 * The DMA receives, if there is one: an interrupt for every byte would have to wait for the tick,
 * which takes as long as many bytes of a fast line. The DMA writes around the ring, and the ring's
 * head is set to the DMA's position in uart_read and in the interrupts of the line and of the two
 * marks of hal/stm32/dma.h, so at least every half ring. Nothing stops the DMA at the reader's
 * position: overwritten bytes are discarded and counted. A mark or the tick wakes a sleeping core,
 * a byte does not. Without DMA, as in the emulator, every byte has its interrupt.
 *
 * Transmitting works on silicon and in the emulator, which never raises the transmit interrupt: a
 * write enables it AND sets the line pending; the handler sends while the data register is empty.
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
static_assert(UART_RX_RING <= 0x8000, "UART_RX_RING must fit the 16-bit counter of the DMA");

enum { POLLED_BYTE_MS = 2 }; /* a byte at 9,600 baud takes 1.04 ms */
enum { ERRORS = USART_SR_ORE | USART_SR_FE | USART_SR_NE | USART_SR_PE };

static uint8_t tx_data[UART_TX_RING];
static DMA_BUFFER uint8_t rx_data[UART_RX_RING];
static ring_t tx = {.data = tx_data, .size = UART_TX_RING};
static ring_t rx = {.data = rx_data, .size = UART_RX_RING};
static uart_stats_t stats;
static bool by_dma;        /* the DMA receives; otherwise every byte has its interrupt */
static bool error_counted; /* if by_dma: the present error flags are already counted */

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
        rx.head = rx.tail = 0; /* the DMA begins at the first byte of the ring */
        error_counted = false;
        reg_write(&usart->CR3, USART_CR3_DMAR);
    }
    reg_write(&usart->CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE |
                               (by_dma ? 0 : (uint32_t)USART_CR1_RXNEIE));
    /* The pins are configured last: the line must not be driven before the USART holds it at
     * idle. */
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
    /* Reading the data after the status clears the flags. This is also necessary after an overrun
     * alone; otherwise the interrupt would be raised again and again. */
    uint8_t byte = (uint8_t)reg_read(&usart->DR);
    if (status & USART_SR_RXNE) {
        stats.received++;
        if (!ring_put(&rx, byte))
            stats.rx_dropped++;
    }
}

/* Sets the head of the ring to the DMA's position and returns how many bytes arrived since the last
 * call. Half of the smallest ring, 64 bytes, lasts 0.69 ms at 921,600 baud. So both marks at once
 * mean that interrupts were off for longer, for example in a long tick or while the flash was
 * erased. The number of rounds is then unknown: adding one ring marks the ring as overtaken. */
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
 * Reads the status of a USART whose data the DMA reads. Every such read goes through here, in the
 * interrupt or with interrupts locked.
 *
 * An error flag is cleared by reading the status and then the data register. Reading the data
 * register here could take a byte from the DMA. It is not necessary: the DMA's own read of the next
 * byte clears the flags that were read before. Until then they stay set and are counted once; they
 * are counted again only if a byte came since the last call. That is why the status is read before
 * the DMA's counter: a byte that is counted was read by the DMA after the flags of the last call.
 * No interrupt is enabled for the flags: they would raise it until the next byte.
 *
 * After an overrun nothing is received until it is cleared, and the DMA reads no more. So that flag
 * is cleared here; there is no byte to take from the DMA. If RXNE is also set, the DMA is about to
 * read the byte, and clears the flag.
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
    /* Interrupts are locked, because the tick may add bytes and enable the transmit interrupt,
     * which must not be disabled after that. */
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

/* Polls the USART with interrupts locked and returns the head of the ring. */
static uint32_t poll_from_background(void) {
    uint32_t state = irq_lock();
    (void)poll(board.uart.regs);
    uint32_t head = rx.head;
    irq_unlock(state);
    ring_order();
    return head;
}

/* Reads received bytes. The DMA may overtake the copy as well, so the bytes are checked after the
 * copy. A ring that is full to the last byte counts as overtaken, because the next byte may be on
 * its way. */
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
        return; /* a fault before uart_init: the line is not set up */
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

// hal/uart.h on a USART (the same on F1, F2 and F4).
//
// Transmitting works on silicon and in the emulator, which never raises the transmit interrupt: a
// write enables it AND pends the line by hand; the handler sends for as long as the data register
// is empty.
#include "hal/uart.h"
#include "hal/irq.h"
#include "hal/ring.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
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

enum { POLLED_BYTE_MS = 2 }; // a byte at 9,600 baud takes 1.04 ms

static uint8_t tx_data[UART_TX_RING], rx_data[UART_RX_RING];
static ring_t tx = {.data = tx_data, .size = UART_TX_RING};
static ring_t rx = {.data = rx_data, .size = UART_RX_RING};
static uart_stats_t stats;

void uart_init(uint32_t baud) {
    enum { DIVIDER_MIN = 16, DIVIDER_MAX = 0xFFFF }; // oversampling by 16
    usart_t *usart = board.uart.regs;
    uint32_t divider = baud == 0 ? DIVIDER_MAX : (clock_info()->uart_hz + baud / 2) / baud;
    divider = divider < DIVIDER_MIN ? DIVIDER_MIN : divider > DIVIDER_MAX ? DIVIDER_MAX : divider;
    rcc_enable(board.uart.clock);
    reg_write(&usart->CR1, 0);
    reg_write(&usart->CR2, 0); // one stop bit
    reg_write(&usart->CR3, 0);
    reg_write(&usart->BRR, divider);
    reg_write(&usart->CR1, USART_CR1_UE | USART_CR1_TE | USART_CR1_RE | USART_CR1_RXNEIE);
    // The pins last: the line rises to idle only when the USART already holds it there.
    gpio_alternate_out(board.uart.tx, board.uart.af, GPIO_PULL_UP);
    gpio_alternate_in(board.uart.rx, board.uart.af, GPIO_PULL_UP);
    irq_enable(board.uart.irq, IRQ_PRIORITY_UART);
}

static void receive(usart_t *usart, uint32_t status) {
    stats.rx_overrun += (status & USART_SR_ORE) != 0;
    stats.rx_framing += (status & USART_SR_FE) != 0;
    stats.rx_noise += (status & (USART_SR_NE | USART_SR_PE)) != 0;
    // Reading the data after the status clears the flags; an overrun alone needs it, too, or the
    // interrupt would come back for ever.
    uint8_t byte = (uint8_t)reg_read(&usart->DR);
    if (status & USART_SR_RXNE) {
        stats.received++;
        if (!ring_put(&rx, byte)) {
            stats.rx_dropped++;
        }
    }
}

void uart_irq(void) {
    enum { RECEIVED = USART_SR_RXNE | USART_SR_ORE | USART_SR_FE | USART_SR_NE | USART_SR_PE };
    usart_t *usart = board.uart.regs;
    uint32_t status = reg_read(&usart->SR);
    if (status & RECEIVED) {
        receive(usart, status);
    }
    uint8_t byte;
    while ((reg_read(&usart->SR) & USART_SR_TXE) && ring_get(&tx, &byte)) {
        reg_write(&usart->DR, byte);
        stats.sent++;
    }
    // The tick may be adding bytes: it must not find its interrupt switched off.
    uint32_t state = irq_lock();
    if (ring_used(&tx) == 0) {
        reg_clear(&usart->CR1, USART_CR1_TXEIE);
    }
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

size_t uart_read(void *data, size_t n) {
    return ring_read(&rx, data, n);
}

void uart_put_polled(char c) {
    usart_t *usart = board.uart.regs;
    if ((reg_read(&usart->CR1) & USART_CR1_UE) == 0) {
        return; // a fault before uart_init: there is no line to wait for
    }
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

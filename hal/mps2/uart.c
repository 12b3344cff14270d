/* hal/uart.h on the CMSDK UART0. */
#include "hal/uart.h"
#include "hal/irq.h"
#include "hal/reg.h"
#include "hal/ring.h"
#include "hal/mps2/regs.h"
#include "hal/mps2/vectors.h"

enum { TX_RING = 4096, RX_RING = 1024 };

static uint8_t tx_data[TX_RING], rx_data[RX_RING];
static ring_t tx = {.data = tx_data, .size = TX_RING};
static ring_t rx = {.data = rx_data, .size = RX_RING};
static uart_stats_t stats;

void uart_init(uint32_t baud) {
    enum { BAUDDIV_MIN = 16 };
    uint32_t divider = baud == 0 ? BAUDDIV_MIN : MPS2_SYSTEM_HZ / baud;
    reg_write(&CMSDK_UART0->BAUDDIV, divider < BAUDDIV_MIN ? BAUDDIV_MIN : divider);
    reg_write(&CMSDK_UART0->CTRL,
              CMSDK_CTRL_TX | CMSDK_CTRL_RX | CMSDK_CTRL_TX_IRQ | CMSDK_CTRL_RX_IRQ);
    irq_enable(MPS2_UART0_RX_IRQ, IRQ_PRIORITY_UART);
    irq_enable(MPS2_UART0_TX_IRQ, IRQ_PRIORITY_UART);
}

/* Sends the next byte. The hardware takes one byte and raises an interrupt when it is sent. */
static void send_next(void) {
    uint8_t byte;
    while ((reg_read(&CMSDK_UART0->STATE) & CMSDK_STATE_TX_FULL) == 0 && ring_get(&tx, &byte)) {
        reg_write(&CMSDK_UART0->DATA, byte);
        stats.sent++;
    }
}

void uart_tx_irq(void) {
    reg_write(&CMSDK_UART0->INT, CMSDK_INT_TX);
    send_next();
}

void uart_rx_irq(void) {
    reg_write(&CMSDK_UART0->INT, CMSDK_INT_RX);
    uint32_t state = reg_read(&CMSDK_UART0->STATE);
    if (state & CMSDK_STATE_RX_OVER) {
        stats.rx_overrun++;
        reg_write(&CMSDK_UART0->STATE, CMSDK_STATE_RX_OVER);
    }
    while (reg_read(&CMSDK_UART0->STATE) & CMSDK_STATE_RX_FULL) {
        uint8_t byte = (uint8_t)reg_read(&CMSDK_UART0->DATA);
        stats.received++;
        if (!ring_put(&rx, byte))
            stats.rx_dropped++;
    }
}

bool uart_write(const void *data, size_t n) {
    uint32_t state = irq_lock();
    bool taken = ring_write(&tx, data, n);
    if (!taken)
        stats.tx_dropped += (uint32_t)n;
    irq_unlock(state);
    if (taken)
        irq_pend(MPS2_UART0_TX_IRQ);
    return taken;
}

size_t uart_write_free(void) {
    return ring_free(&tx);
}

size_t uart_read(void *data, size_t n) {
    return ring_read(&rx, data, n);
}

void uart_put_polled(char c) {
    enum { POLLS_PER_BYTE = 100000 }; /* a byte at 9,600 baud is 26,000 cycles */
    (void)reg_wait(&CMSDK_UART0->STATE, CMSDK_STATE_TX_FULL, 0, POLLS_PER_BYTE);
    reg_write(&CMSDK_UART0->DATA, (uint8_t)c);
}

void uart_stats(uart_stats_t *out) {
    uint32_t state = irq_lock();
    *out = stats;
    irq_unlock(state);
}

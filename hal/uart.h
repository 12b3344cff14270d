/* The console UART: receives by DMA or by interrupt, and transmits from a ring that never blocks
 * the caller. */
#ifndef HAL_UART_H
#define HAL_UART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t sent;       /* bytes handed to the hardware */
    uint32_t received;   /* bytes taken from the hardware */
    uint32_t tx_dropped; /* bytes refused because the transmit ring was full */
    /* bytes lost because the receive ring was full; with DMA a lower bound */
    uint32_t rx_dropped;
    uint32_t rx_overrun; /* bytes that the hardware lost because they were fetched too late */
    uint32_t rx_framing; /* missing stop bits: wrong baud rate or a broken line */
    uint32_t rx_noise;   /* noise or parity errors reported by the hardware */
} uart_stats_t;

void uart_init(uint32_t baud);

/* Takes all n bytes or none, and never waits. A refused write is counted in tx_dropped. May be
 * called from the tick and from the background: interrupts are locked as long as the copy takes. */
bool uart_write(const void *data, size_t n);
size_t uart_write_free(void); /* bytes that uart_write would take now */

/* Reads up to n received bytes and returns how many there were. */
size_t uart_read(void *data, size_t n);

/* Sends one byte by polling, with a bounded wait: for the fault path, where no interrupt runs. */
void uart_put_polled(char c);

void uart_stats(uart_stats_t *out); /* copies consistent values */

#endif

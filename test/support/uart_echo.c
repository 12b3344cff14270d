/*
 * Target program of test/system/test_boot.py. It sends every byte back inverted; after 'Q' it also
 * prints the counters of the UART as a line of plain text.
 */
#include "firmware/print.h"
#include "hal/clock.h"
#include "hal/cpu.h"
#include "hal/tick.h"
#include "hal/uart.h"

int main(void);

void tick_interrupt(void) {}

static void report(void) {
    uart_stats_t stats;
    uart_stats(&stats);
    print_text("\ndone received ");
    print_number(stats.received);
    print_text(" sent ");
    print_number(stats.sent);
    print_text(" dropped ");
    print_number(stats.tx_dropped + stats.rx_dropped);
    print_text(" errors ");
    print_number(stats.rx_overrun + stats.rx_framing + stats.rx_noise);
    print_text("\n");
}

int main(void) {
    (void)clock_init();
    uart_init(115200);
    print_text("echo ready\n");
    for (;;) {
        uint8_t bytes[32];
        size_t n = uart_read(bytes, sizeof bytes);
        for (size_t i = 0; i < n; i++) {
            uint8_t inverted = (uint8_t)~bytes[i];
            while (!uart_write(&inverted, 1)) {
            }
            if (bytes[i] == 'Q') {
                report();
            }
        }
    }
}

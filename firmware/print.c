/* firmware/print.h on the transmit ring. The UART drops and counts bytes that do not fit. */
#include "firmware/print.h"
#include "hal/uart.h"

#include <string.h>

void print_text(const char *text) {
    (void)uart_write(text, strlen(text));
}

void print_number(uint32_t value) {
    char digits[10]; /* up to 4294967295 */
    unsigned first = sizeof digits;
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    (void)uart_write(&digits[first], sizeof digits - first);
}

void print_hex(uint32_t value, unsigned digits) {
    char text[8];
    for (unsigned i = 0; i < digits && i < sizeof text; i++)
        text[i] = "0123456789abcdef"[(value >> (4 * (digits - 1 - i))) & 0xFU];
    (void)uart_write(text, digits);
}

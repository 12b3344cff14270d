/* Prints text and numbers to the console, without printf, whose float formatting alone costs 4,000
 * instructions. */
#ifndef FIRMWARE_PRINT_H
#define FIRMWARE_PRINT_H

#include <stdint.h>

void print_text(const char *text);
void print_number(uint32_t value);
void print_hex(uint32_t value, unsigned digits);

#endif

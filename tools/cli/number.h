/*
 * Decimal numbers to double and back, exactly as strtod and printf round them, several times as
 * fast for the numbers that rows are made of: those of a million rows are what a batch spends its
 * time on.
 */
#ifndef TOOLS_CLI_NUMBER_H
#define TOOLS_CLI_NUMBER_H

#include <stddef.h>

/* Enough for every double with 17 digits. */
#define NUMBER_ROOM 32

/*
 * Reads an ordinary decimal number (no hexadecimal, no inf, no nan) from zero-terminated text.
 * Returns where it ends, or NULL where none begins; the value is infinite where it exceeds a
 * double.
 */
const char *number_scan(const char *text, double *value);

/* Writes the value as "%.{digits}g" does, without the final zero; digits is 9 or 17. Returns the
 * length. */
size_t number_print(char out[NUMBER_ROOM], double value, int digits);

#endif

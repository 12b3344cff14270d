/* Measures the cost of code: core cycles on silicon (DWT), executed instructions under the
 * emulator. */
#ifndef HAL_CYCLES_H
#define HAL_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the counter. Under the emulator it also measures the counter's step per instruction, which
 * depends on the emulator's -icount shift. */
void cycles_init(void);

uint32_t cycles_now(void); /* raw counter; use it only in pairs, with cycles_between or
                            * cycles_steps */

/* Returns the cycles (under the emulator: executed instructions) between two readings, without the
 * cost of reading. Under the emulator the result is exact with the icount shift that the board uses
 * for counting. */
uint32_t cycles_between(uint32_t start, uint32_t end);

bool cycles_are_instructions(void);

/* cycles_between in two parts, for code that has no time to convert: cycles_steps returns how far
 * the raw counter moved, cycles_of_steps converts that to cycles. Steps may be summed, compared and
 * averaged before they are converted. */
uint32_t cycles_steps(uint32_t start, uint32_t end);
uint32_t cycles_of_steps(uint32_t steps);
uint32_t cycles_steps_hz(void); /* rate of the raw counter in real time, also under the emulator */

#endif

/* The monitor of the chip's own supply. While the supply falls it latches LATCH_POWER
 * (hal/latch.h), which switches the outputs off while the core still works. A further fall resets
 * the chip; the pins then float. */
#ifndef HAL_POWER_H
#define HAL_POWER_H

#include <stdbool.h>

void power_init(void); /* after clock_init */
bool power_low(void);  /* the supply is below the threshold now */

#endif

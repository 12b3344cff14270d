/* The motor supply voltage, measured by the ADC through the board's divider. */
#ifndef HAL_SUPPLY_H
#define HAL_SUPPLY_H

#include <stdint.h>

enum { SUPPLY_ERR_ABSENT = -1, SUPPLY_ERR_TIMEOUT = -2 };

void supply_init(void);

/* Returns the last finished conversion, mV, and starts the next one; never waits. A negative result
 * means that this board has no divider, that there is no result yet, or that the ADC has not
 * finished for a thousand calls in a row. */
int32_t supply_read_mV(void);

#endif

/* The motor supply voltage, measured by the ADC through the board's divider, and filtered. */
#ifndef HAL_SUPPLY_H
#define HAL_SUPPLY_H

#include <stdint.h>

typedef enum {
    SUPPLY_OK = 0,
    SUPPLY_ERR_ABSENT = -1,  /* this board has no divider */
    SUPPLY_ERR_TIMEOUT = -2, /* no result yet, or the ADC has stopped */
} supply_status_t;

/* Returns the end of the range: a reading there may stand for any higher voltage. 0: this board has
 * no divider. */
int32_t supply_full_mV(void);
void supply_init(void);

/* Gives the filtered voltage, mV, and starts the next conversion; never waits. *mV changes only if
 * SUPPLY_OK is returned. Called in every tick. */
supply_status_t supply_read(int32_t *mV);

#endif

/* The independent watchdog. Once started it cannot be stopped; a flash erase feeds it. */
#ifndef HAL_WATCHDOG_H
#define HAL_WATCHDOG_H

#include <stdint.h>

enum { WATCHDOG_OK = 0, WATCHDOG_ERR_RANGE = -1, WATCHDOG_ERR_TIMEOUT = -2 };

int watchdog_start(uint32_t timeout_ms);
void watchdog_feed(void);

#endif

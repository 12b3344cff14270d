/* What switches the motor outputs off if the program stops: the independent watchdog, and a timer
 * that the tick must re-arm.
 *
 * While the outputs are on, the timer's interrupt (more urgent than the tick) feeds the watchdog,
 * which bites at most 50 ms after the last feed at every frequency of its oscillator. If no tick
 * has come for 40 ms, that interrupt latches LATCH_TICK, which switches the outputs off, and feeds
 * no more. While the outputs are off, the background feeds the watchdog, which then bites after
 * several seconds, because an erase of the flash takes 2 s. */
#ifndef HAL_WATCHDOG_H
#define HAL_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

enum { WATCHDOG_OK = 0, WATCHDOG_ERR_RANGE = -1, WATCHDOG_ERR_TIMEOUT = -2 };
enum { WATCHDOG_OFF_MS = 5000, WATCHDOG_ON_MS = 50, WATCHDOG_TICK_MS = 40 };

/* Starts both; once started the watchdog cannot be stopped. */
int watchdog_start(void);
bool watchdog_running(void); /* the result of watchdog_start was WATCHDOG_OK */
/* The background and the flash driver feed the watchdog. */
void watchdog_feed(void);
/* The tick calls this in every tick, with whether the outputs are on or about to be switched on.
 * Returns true when the short time is in effect, at most 40 ms after the first call with true; only
 * then may the outputs be switched on. */
bool watchdog_tick(bool outputs_on);

#endif

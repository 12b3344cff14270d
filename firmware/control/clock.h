/* The counter and the lock that the program around the core provides. */
#ifndef FIRMWARE_CONTROL_CLOCK_H
#define FIRMWARE_CONTROL_CLOCK_H

#include <stdint.h>

/* The counter behind the costs of the stages. The program provides it; where it does not, costs are
 * zero and every rate is allowed. */
uint32_t app_clock(void);
uint32_t app_clock_steps(uint32_t start, uint32_t end); /* between two readings */
uint32_t app_clock_hz(void);
uint32_t app_clock_cost(uint32_t steps); /* cycles, or instructions under the emulator */
/* Between them no interrupt comes: none takes time of what is timed, and no tick gets between the
 * few words that are looked at and changed together. */
uint32_t app_clock_lock(void);
void app_clock_unlock(uint32_t state);

#endif

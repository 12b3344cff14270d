/* The counter and the interrupt lock that the program around the core provides. */
#ifndef FIRMWARE_CONTROL_CLOCK_H
#define FIRMWARE_CONTROL_CLOCK_H

#include <stdint.h>

/* The counter for the costs of the stages. If the program does not provide it, costs are zero and
 * every rate is allowed. */
uint32_t app_clock(void);
uint32_t app_clock_steps(uint32_t start, uint32_t end); /* steps between two readings */
uint32_t app_clock_hz(void);
uint32_t app_clock_cost(uint32_t steps); /* cycles, or instructions under the emulator */
/* No interrupt comes between lock and unlock, so that no interrupt disturbs a time measurement and
 * no tick sees a change of several words half done. */
uint32_t app_clock_lock(void);
void app_clock_unlock(uint32_t state);

#endif

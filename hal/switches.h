/*
 * Home switches: contacts to ground that close when a joint is at its switch. A broken or missing
 * wire reads as open; homing then continues to the joint's stop and ends in a fault.
 */
#ifndef HAL_SWITCHES_H
#define HAL_SWITCHES_H

#include <stdint.h>

/* Returns the number of switches, which belong to the first joints; 0 if this board has no inputs
 * for them. */
unsigned switches_count(void);
void switches_init(void);
uint32_t switches_read(void); /* bit i: the switch of joint i is closed */

#endif

/*
 * Home switches: contacts to ground that close where a joint is at its switch. A wire that is
 * broken or not there reads as open: homing then goes on to the joint's stop and ends in a fault.
 */
#ifndef HAL_SWITCHES_H
#define HAL_SWITCHES_H

#include <stdint.h>

unsigned switches_count(void); /* of the first joints; 0: this board has no inputs for them */
void switches_init(void);
uint32_t switches_read(void); /* bit i: that of joint i is closed */

#endif

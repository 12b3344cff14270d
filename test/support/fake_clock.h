/* A clock tree for host tests of drivers that read their clock frequency. */
#ifndef TEST_SUPPORT_FAKE_CLOCK_H
#define TEST_SUPPORT_FAKE_CLOCK_H

#include "hal/clock.h"

extern clock_info_t fake_clock;
extern uint32_t fake_bus_hz, fake_timer_hz;

#endif

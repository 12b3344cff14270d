/* Implements hal/clock.h and the bus clocks of hal/stm32/chip.h with the values that the test
 * sets. */
#include "test/support/fake_clock.h"
#include "hal/stm32/chip.h"

clock_info_t fake_clock;
uint32_t fake_bus_hz, fake_timer_hz;

const clock_info_t *clock_init(void) {
    return &fake_clock;
}

const clock_info_t *clock_info(void) {
    return &fake_clock;
}

uint32_t clock_bus_hz(rcc_bit_t clock) {
    (void)clock;
    return fake_bus_hz;
}

uint32_t clock_timer_hz(rcc_bit_t clock) {
    (void)clock;
    return fake_timer_hz;
}

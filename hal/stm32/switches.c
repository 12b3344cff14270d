/* hal/switches.h on pins with pull-ups. */
#include "hal/switches.h"
#include "hal/stm32/board.h"
#include "hal/stm32/gpio.h"

unsigned switches_count(void) {
    return board.home.count;
}

void switches_init(void) {
    for (unsigned i = 0; i < board.home.count; i++)
        gpio_input(board.home.pin[i], GPIO_PULL_UP);
}

uint32_t switches_read(void) {
    uint32_t closed = 0;
    for (unsigned i = 0; i < board.home.count; i++)
        closed |= (uint32_t)!gpio_read(board.home.pin[i]) << i;
    return closed;
}

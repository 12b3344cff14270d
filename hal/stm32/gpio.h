/* Pins, for the drivers. Every function ignores pin 0 (no pin). Every function opens the port's
 * clock, except gpio_read and gpio_write. gpio_write accesses only the port's set/reset register,
 * so it may be called at any time. */
#ifndef HAL_STM32_GPIO_H
#define HAL_STM32_GPIO_H

#include <stdbool.h>

#include "hal/stm32/board.h"

typedef enum { GPIO_PULL_NONE, GPIO_PULL_UP, GPIO_PULL_DOWN } gpio_pull_t;

void gpio_output(pin_t pin, bool level); /* sets the level before the pin begins to drive */
void gpio_write(pin_t pin, bool level);
void gpio_analog(pin_t pin);
void gpio_input(pin_t pin, gpio_pull_t pull);
bool gpio_read(pin_t pin); /* returns low for pin 0 */

/* Configure a pin that a peripheral drives (pull: F4 only), and a pin that a peripheral reads. */
void gpio_alternate_out(pin_t pin, uint8_t af, gpio_pull_t pull);
void gpio_alternate_in(pin_t pin, uint8_t af, gpio_pull_t pull);

#endif

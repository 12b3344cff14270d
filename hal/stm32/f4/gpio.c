/* Pins of the F2 and F4: each pin selects its own alternate function. */
#include "hal/stm32/gpio.h"
#include "hal/stm32/chip.h"

enum { MODE_INPUT = 0, MODE_OUTPUT = 1, MODE_ALTERNATE = 2, MODE_ANALOG = 3 };
/*
 * Medium: edges of about 10 ns into 50 pF, for all outputs. SCK, at up to 6 MHz on a cable to the
 * encoders, needs it: "low" allows 4 MHz, and its edges of up to 100 ns cross the threshold so
 * slowly that noise beside a motor cable counts as a second clock. "High" gains nothing and rings
 * on a cable. From about 0.5 m on, a resistor of 47 Ohm at the board's end of SCK ends the ringing.
 */
enum { SPEED_MEDIUM = 1 };

static void configure(pin_t pin, uint32_t mode, uint32_t af, gpio_pull_t pull) {
    if (pin == 0)
        return;
    uint32_t n = PIN_NUMBER(pin);
    gpio_t *port = GPIO(PIN_PORT(pin));
    rcc_enable(RCC_GPIO(PIN_PORT(pin)));
    reg_modify(&port->PUPDR, 3u << 2 * n, (uint32_t)pull << 2 * n);
    reg_modify(&port->OSPEEDR, 3u << 2 * n, (uint32_t)SPEED_MEDIUM << 2 * n);
    reg_clear(&port->OTYPER, 1u << n);
    reg_modify(&port->AFR[n / 8], 15u << 4 * (n % 8), af << 4 * (n % 8));
    reg_modify(&port->MODER, 3u << 2 * n, mode << 2 * n);
}

void gpio_output(pin_t pin, bool level) {
    if (pin != 0) {
        rcc_enable(RCC_GPIO(PIN_PORT(pin)));
        gpio_write(pin, level);
        configure(pin, MODE_OUTPUT, 0, GPIO_PULL_NONE);
    }
}

void gpio_write(pin_t pin, bool level) {
    if (pin != 0)
        reg_write(&GPIO(PIN_PORT(pin))->BSRR, 1u << (PIN_NUMBER(pin) + (level ? 0 : 16)));
}

void gpio_analog(pin_t pin) {
    configure(pin, MODE_ANALOG, 0, GPIO_PULL_NONE);
}

void gpio_alternate_out(pin_t pin, uint8_t af, gpio_pull_t pull) {
    configure(pin, MODE_ALTERNATE, af, pull);
}

void gpio_alternate_in(pin_t pin, uint8_t af, gpio_pull_t pull) {
    configure(pin, MODE_ALTERNATE, af, pull);
}

void gpio_input(pin_t pin, gpio_pull_t pull) {
    configure(pin, MODE_INPUT, 0, pull);
}

bool gpio_read(pin_t pin) {
    return pin != 0 && (reg_read(&GPIO(PIN_PORT(pin))->IDR) >> PIN_NUMBER(pin) & 1u) != 0;
}

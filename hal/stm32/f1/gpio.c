/*
 * Pins of the F1: one register remaps the alternate functions in groups, for the whole board.
 */
#include "hal/stm32/gpio.h"
#include "hal/stm32/chip.h"

enum {
    CNF_ANALOG = 0x0,
    CNF_INPUT_FLOATING = 0x4,
    CNF_INPUT_PULLED = 0x8, /* the output register selects pull-up or pull-down */
    CNF_OUTPUT_10MHZ = 0x1,
    CNF_ALTERNATE_10MHZ = 0x9,
};

static void configure(pin_t pin, uint32_t cnf) {
    uint32_t n = PIN_NUMBER(pin);
    rcc_enable(RCC_GPIO(PIN_PORT(pin)));
    reg_modify(&GPIO(PIN_PORT(pin))->CR[n / 8], 15u << 4 * (n % 8), cnf << 4 * (n % 8));
}

/*
 * The register is written as a whole, never read and modified, because its JTAG bits read as
 * undefined (RM0041, AFIO_MAPR).
 */
static void remap(void) {
    rcc_enable(RCC_AFIO);
    reg_write(&AFIO->MAPR, board.afio_mapr);
}

void gpio_output(pin_t pin, bool level) {
    if (pin != 0) {
        remap(); /* frees the JTAG pins */
        rcc_enable(RCC_GPIO(PIN_PORT(pin)));
        gpio_write(pin, level);
        configure(pin, CNF_OUTPUT_10MHZ);
    }
}

void gpio_write(pin_t pin, bool level) {
    if (pin != 0)
        reg_write(&GPIO(PIN_PORT(pin))->BSRR, 1u << (PIN_NUMBER(pin) + (level ? 0 : 16)));
}

void gpio_analog(pin_t pin) {
    if (pin != 0)
        configure(pin, CNF_ANALOG);
}

void gpio_alternate_out(pin_t pin, uint8_t af, gpio_pull_t pull) {
    (void)af;
    (void)pull;
    if (pin != 0) {
        remap();
        configure(pin, CNF_ALTERNATE_10MHZ);
    }
}

void gpio_input(pin_t pin, gpio_pull_t pull) {
    if (pin != 0) {
        remap();
        rcc_enable(RCC_GPIO(PIN_PORT(pin)));
        if (pull != GPIO_PULL_NONE)
            gpio_write(pin, pull == GPIO_PULL_UP);
        configure(pin, pull == GPIO_PULL_NONE ? CNF_INPUT_FLOATING : CNF_INPUT_PULLED);
    }
}

void gpio_alternate_in(pin_t pin, uint8_t af, gpio_pull_t pull) {
    (void)af; /* af is not needed: a peripheral can read any pin that is an input */
    gpio_input(pin, pull);
}

bool gpio_read(pin_t pin) {
    return pin != 0 && (reg_read(&GPIO(PIN_PORT(pin))->IDR) >> PIN_NUMBER(pin) & 1u) != 0;
}

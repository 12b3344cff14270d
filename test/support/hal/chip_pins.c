/* The pins of the chip model: ports, what the board has wired to them, motor stages, ADC. */
#include "test/support/hal/chip_inside.h"

#include <string.h>

#include "test/support/hal/regmodel.h"

enum { PORTS = 8, PORT_BYTES = 0x400 };

static gpio_t port[PORTS];
static bool contact_open[CHIP_BREAKS], driver_fault;

chip_mode_t chip_pin_mode(pin_t pin) {
    return (chip_mode_t)(port[PIN_PORT(pin)].MODER >> 2 * PIN_NUMBER(pin) & 3);
}

unsigned chip_pin_af(pin_t pin) {
    return port[PIN_PORT(pin)].AFR[PIN_NUMBER(pin) / 8] >> 4 * (PIN_NUMBER(pin) % 8) & 15;
}

/* Returns whether a contact or an open drain of the world pulls the pin to ground. */
static bool grounded(pin_t pin) {
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        if (board.motor.timers[i].break_pin == pin)
            return !contact_open[i];
    for (unsigned i = 0; i < board.home.count; i++)
        if (board.home.pin[i] == pin)
            return (chip_world.switches >> i & 1) != 0;
    return pin == board.motor.stage.fault && driver_fault;
}

bool chip_pin_level(pin_t pin) {
    const gpio_t *p = &port[PIN_PORT(pin)];
    const unsigned n = PIN_NUMBER(pin);
    if (pin == 0)
        return false;
    if (chip_pin_mode(pin) == PIN_OUTPUT)
        return (p->ODR >> n & 1) != 0;
    /* a pin that nothing pulls up is low: drivers need their own pull-downs */
    return !grounded(pin) && (p->PUPDR >> 2 * n & 3) == 1;
}

static uint32_t pins_read(uint32_t address) {
    const unsigned k = (address - GPIO_BASE) / PORT_BYTES, offset = address % PORT_BYTES;
    uint32_t word = 0;
    if (offset == offsetof(gpio_t, IDR)) {
        for (unsigned n = 0; n < 16; n++)
            word |= (uint32_t)chip_pin_level((pin_t)(0x80 | k << 4 | n)) << n;
        return word;
    }
    if (offset < sizeof(gpio_t) && offset != offsetof(gpio_t, BSRR))
        memcpy(&word, (const char *)&port[k] + offset, sizeof word);
    return word;
}

static void pins_write(uint32_t address, uint32_t value) {
    const unsigned k = (address - GPIO_BASE) / PORT_BYTES, offset = address % PORT_BYTES;
    if (offset == offsetof(gpio_t, BSRR))
        port[k].ODR = (port[k].ODR & ~(value >> 16)) | (value & 0xFFFF); /* setting wins */
    else if (offset < sizeof(gpio_t) && offset != offsetof(gpio_t, IDR))
        memcpy((char *)&port[k] + offset, &value, sizeof value);
    chip_select_look();
    if (offset != offsetof(gpio_t, BSRR))
        chip_break_look();
}

static void pins_reset(void) {
    memset(port, 0, sizeof port);
    chip_select_look();
}

void chip_estop_contact(unsigned index, bool open) {
    contact_open[index] = open;
    chip_break_look();
    chip_reschedule();
}

void chip_estop(bool open) {
    for (unsigned i = 0; i < CHIP_BREAKS; i++)
        chip_estop_contact(i, open);
}

bool chip_estop_open(void) {
    return contact_open[0] || contact_open[1];
}

void chip_driver_fault(bool active) {
    driver_fault = active;
    chip_reschedule();
}

/* --------------------------------------------------------------------------------- motor stages */

static double pwm_level(const board_motor_t *m, pin_t pin, unsigned channel, bool complementary) {
    if (pin == 0 || chip_pin_mode(pin) != PIN_ALTERNATE)
        return chip_pin_level(pin) ? 1 : 0;
    return chip_pin_af(pin) == m->af ? chip_timer_high(m->timer, channel, complementary) : 0;
}

static bool stages_enabled(void) {
    return board.motor.stage.enable == 0 || chip_pin_level(board.motor.stage.enable);
}

/* A pin that is not left to its timer is on if it is high. */
static bool pin_on(const board_motor_t *m, pin_t pin) {
    if (pin == 0)
        return false;
    return chip_pin_mode(pin) == PIN_ALTERNATE ? chip_timer_moe(m->timer) : chip_pin_level(pin);
}

static bool motor_on(const board_motor_t *m) {
    return pin_on(m, m->pwm) || pin_on(m, m->pwm_n) || pin_on(m, m->in2);
}

chip_motor_t chip_motor(unsigned motor) {
    const board_motor_t *m = &board.motor.motors[motor];
    chip_motor_t out = {0, true, false};
    if (!stages_enabled())
        return out;
    out.on = motor_on(m);
    const double one = m->pwm != 0 ? pwm_level(m, m->pwm, m->channel, false)
                                   : pwm_level(m, m->pwm_n, m->channel, true);
    if (m->direction != 0) {
        out.coasts = false;
        out.level = chip_pin_level(m->direction) ? -one : one;
    } else if (m->in2 != 0) {
        const double two = pwm_level(m, m->in2, m->in2_channel, false);
        out.coasts = one == 0 && two == 0;
        out.level = one - two;
    } else {
        out.coasts = !out.on;
        out.level = out.on ? 2 * one - 1 : 0;
    }
    return out;
}

bool chip_outputs_on(void) {
    if (!stages_enabled())
        return false;
    for (unsigned i = 0; i < board.motor.motor_count; i++)
        if (motor_on(&board.motor.motors[i]))
            return true;
    return false;
}

static bool driven_low(pin_t pin) {
    return pin == 0 || (chip_pin_mode(pin) == PIN_OUTPUT && !chip_pin_level(pin));
}

bool chip_stages_low(void) {
    bool low = driven_low(board.motor.stage.enable) && driven_low(board.motor.stage.brake);
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *m = &board.motor.motors[i];
        low = low && driven_low(m->pwm) && driven_low(m->pwm_n) && driven_low(m->in2) &&
              driven_low(m->direction);
    }
    return low;
}

bool chip_brake_open(void) {
    return chip_pin_level(board.motor.stage.brake);
}

/* ------------------------------------------------------------------------------------------ ADC */

enum { ADC_CYCLES = 480 + 12, ADC_FULL = 4095, ADC_IRQ = 18, CR1_EOCIE = 1 << 5 };
static adc_t adc;
static uint64_t adc_due_at = CHIP_NEVER;

static void adc_convert(void) {
    const board_supply_t *s = &board.supply;
    const double pin_mV = chip_world.supply_broken ? 0
                                                   : (double)chip_world.supply_mV * s->bottom_ohm /
                                                         ((double)s->top_ohm + s->bottom_ohm);
    const double counts = pin_mV * ADC_FULL / s->reference_mV + 0.5;
    adc.DR = counts > ADC_FULL ? ADC_FULL : (uint32_t)counts;
    if ((adc.SQR3 & 31) != s->channel)
        adc.DR = 0;
    adc.SR |= ADC_SR_EOC;
    adc_due_at = CHIP_NEVER;
}

static uint32_t adc_read(uint32_t address) {
    const uint32_t offset = address - REGMODEL_ADDRESS(ADC1);
    uint32_t word = 0;
    if (offset < sizeof adc)
        memcpy(&word, (const char *)&adc + offset, sizeof word);
    if (offset == offsetof(adc_t, DR))
        adc.SR &= ~(uint32_t)ADC_SR_EOC;
    return word;
}

static void adc_write(uint32_t address, uint32_t value) {
    const uint32_t offset = address - REGMODEL_ADDRESS(ADC1);
    if (offset == offsetof(adc_t, SR)) {
        adc.SR &= value;
    } else if (offset < offsetof(adc_t, DR)) {
        memcpy((char *)&adc + offset, &value, sizeof value);
    }
    if (offset == offsetof(adc_t, CR2)) {
        const bool starts = (value & ADC_CR2_SWSTART) && (value & ADC_CR2_ADON);
        adc.CR2 &= ~(uint32_t)ADC_CR2_SWSTART;
        if (starts && !chip_world.adc_dead)
            adc_due_at = chip_now() + (uint64_t)ADC_CYCLES * 4 * 1000000000u /
                                          chip_bus_hz(RCC_BIT(RCC_BUS_APB2, 8));
    }
}

static uint64_t adc_due(void) {
    return chip_world.adc_dead ? CHIP_NEVER : adc_due_at;
}

static void adc_reset(void) {
    memset(&adc, 0, sizeof adc);
    adc_due_at = CHIP_NEVER;
}

bool chip_adc_requests(void) {
    return (adc.SR & ADC_SR_EOC) && (adc.CR1 & CR1_EOCIE);
}

#define PORT_DEVICE(k, reset)                                                                      \
    {                                                                                              \
        GPIO_BASE + PORT_BYTES *(k), GPIO_BASE + PORT_BYTES *(k) + PORT_BYTES - 1, RCC_GPIO(k),    \
            reset, pins_read, pins_write, NULL, NULL                                               \
    }
const chip_device_t chip_pins[] = {
    PORT_DEVICE(0, pins_reset),
    PORT_DEVICE(1, NULL),
    PORT_DEVICE(2, NULL),
    PORT_DEVICE(3, NULL),
    PORT_DEVICE(7, NULL),
    {0x40012000, 0x400120FF, RCC_BIT(RCC_BUS_APB2, 8), adc_reset, adc_read, adc_write, adc_due,
     adc_convert},
};
const unsigned chip_pins_count = sizeof chip_pins / sizeof chip_pins[0];

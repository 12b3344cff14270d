/*
 * Checks that apply to the board file of every board, for test_hal_boards.c and
 * test_hal_boards_f1.c.
 */
#ifndef TEST_SUPPORT_BOARD_CHECK_H
#define TEST_SUPPORT_BOARD_CHECK_H

#include <stdio.h>
#include <string.h>

#include "hal/stm32/board.h"
#include "hal/stm32/vectors.h"
#include "test/support/harness.h"

/* A function that the chip can give to a pin, from the data sheet. */
typedef struct {
    pin_t pin;
    uint8_t af; /* alternate function; 0 on the F1 */
    const char *function;
} pin_function_t;

/* Facts of the chip that are not in the board file. */
typedef struct {
    const pin_function_t *functions;
    unsigned function_count;
    const pin_t *reserved; /* pins that this board or chip uses otherwise */
    unsigned reserved_count;
    uint32_t core_max_hz, apb1_max_hz, apb2_max_hz;
    uint32_t vco_min_hz;  /* F4 only */
    double internal_fast; /* highest frequency of the internal oscillator relative to nominal */
    uint32_t hz_per_wait_state; /* F4 only */
    uint32_t flash_bytes;
    uint32_t lsi_min_hz, lsi_max_hz;
} chip_facts_t;

typedef struct {
    int number;
    const char *handler;
} vector_entry_t;
#define VECTOR_ENTRY(line, function) {line, #function},

enum { PINS_MAX = 64 };
typedef struct {
    pin_t pin[PINS_MAX];
    const char *use[PINS_MAX];
    unsigned count;
} pin_list_t;

static char *pin_name(pin_t pin, char text[8]) {
    snprintf(text, 8, "P%c%u", (char)('A' + PIN_PORT(pin)), (unsigned)PIN_NUMBER(pin));
    return text;
}

static void fail_pin(const board_t *b, pin_t pin, const char *use, const char *why) {
    char message[160], name[8];
    snprintf(message, sizeof message, "%s: %s on %s: %s", b->name, use, pin_name(pin, name), why);
    TEST_FAIL_MESSAGE(message);
}

static void use_pin(pin_list_t *list, pin_t pin, const char *use) {
    if (pin != 0) {
        TEST_ASSERT_LESS_THAN_UINT(PINS_MAX, list->count);
        list->pin[list->count] = pin;
        list->use[list->count++] = use;
    }
}

static void list_pins(const board_t *b, pin_list_t *list) {
    list->count = 0;
    use_pin(list, b->uart.tx, "uart.tx");
    use_pin(list, b->uart.rx, "uart.rx");
    for (unsigned i = 0; i < b->motor.timer_count; i++) {
        use_pin(list, b->motor.timers[i].break_pin, "break_pin");
    }
    for (unsigned i = 0; i < b->motor.motor_count; i++) {
        use_pin(list, b->motor.motors[i].pwm, "pwm");
        use_pin(list, b->motor.motors[i].pwm_n, "pwm_n");
        use_pin(list, b->motor.motors[i].direction, "direction");
        use_pin(list, b->motor.motors[i].in2, "in2");
    }
    use_pin(list, b->motor.stage.enable, "stage.enable");
    use_pin(list, b->motor.stage.brake, "stage.brake");
    use_pin(list, b->motor.stage.fault, "stage.fault");
    use_pin(list, b->encoder.sck, "encoder.sck");
    use_pin(list, b->encoder.miso, "encoder.miso");
    use_pin(list, b->encoder.mosi, "encoder.mosi");
    use_pin(list, b->encoder.power, "encoder.power");
    for (unsigned i = 0; i < b->encoder.count; i++) {
        use_pin(list, b->encoder.select[i], "encoder.select");
        use_pin(list, b->encoder.quadrature[i].a, "quadrature.a");
        use_pin(list, b->encoder.quadrature[i].b, "quadrature.b");
    }
    for (unsigned i = 0; i < b->home.count; i++) {
        use_pin(list, b->home.pin[i], "home.pin");
    }
    use_pin(list, b->supply.pin, "supply.pin");
}

static void check_pins(const board_t *b, const chip_facts_t *facts) {
    pin_list_t list;
    list_pins(b, &list);
    for (unsigned i = 0; i < list.count; i++) {
        if ((list.pin[i] & 0x80) == 0) {
            fail_pin(b, list.pin[i], list.use[i], "not made by PIN()");
        }
        for (unsigned k = 0; k < i; k++) {
            if (list.pin[k] == list.pin[i]) {
                fail_pin(b, list.pin[i], list.use[i], list.use[k]);
            }
        }
        for (unsigned k = 0; k < facts->reserved_count; k++) {
            if (facts->reserved[k] == list.pin[i]) {
                fail_pin(b, list.pin[i], list.use[i], "reserved");
            }
        }
    }
}

static void check_function(const board_t *b, const chip_facts_t *facts, pin_t pin, uint8_t af,
                           const char *function) {
    for (unsigned i = 0; i < facts->function_count; i++) {
        const pin_function_t *f = &facts->functions[i];
        if (f->pin == pin && f->af == af && strcmp(f->function, function) == 0) {
            return;
        }
    }
    fail_pin(b, pin, function, "the chip cannot do that");
}

/* complementary: for each timer the highest channel that has an N output. */
static void check_motors(const board_t *b, const chip_facts_t *facts,
                         const char *const timer_name[2], const unsigned channels[2],
                         const unsigned complementary[2]) {
    char function[24];
    TEST_ASSERT_LESS_OR_EQUAL_UINT(BOARD_MOTORS_MAX, b->motor.motor_count);
    TEST_ASSERT_LESS_OR_EQUAL_UINT(BOARD_TIMERS_MAX, b->motor.timer_count);
    bool timer_used[BOARD_TIMERS_MAX] = {false};
    for (unsigned i = 0; i < b->motor.motor_count; i++) {
        const board_motor_t *m = &b->motor.motors[i];
        TEST_ASSERT_LESS_THAN_UINT(b->motor.timer_count, m->timer);
        TEST_ASSERT_TRUE(m->channel >= 1 && m->channel <= channels[m->timer]);
        TEST_ASSERT_TRUE_MESSAGE(m->pwm != 0 || m->pwm_n != 0, "a motor without output");
        TEST_ASSERT_TRUE_MESSAGE(m->direction != 0 || (m->pwm != 0 && m->pwm_n != 0),
                                 "neither direction nor complementary");
        TEST_ASSERT_TRUE_MESSAGE(m->direction == 0 || m->pwm == 0 || m->pwm_n == 0,
                                 "both outputs and a direction");
        TEST_ASSERT_TRUE(m->pwm_n == 0 || m->channel <= complementary[m->timer]);
        for (unsigned k = 0; k < i; k++) {
            TEST_ASSERT_FALSE_MESSAGE(b->motor.motors[k].timer == m->timer &&
                                          b->motor.motors[k].channel == m->channel,
                                      "a channel used twice");
        }
        if (m->pwm != 0) {
            snprintf(function, sizeof function, "%s_CH%u", timer_name[m->timer], m->channel);
            check_function(b, facts, m->pwm, m->af, function);
        }
        if (m->pwm_n != 0) {
            snprintf(function, sizeof function, "%s_CH%uN", timer_name[m->timer], m->channel);
            check_function(b, facts, m->pwm_n, m->af, function);
        }
        timer_used[m->timer] = true;
    }
    for (unsigned i = 0; i < b->motor.timer_count && i < BOARD_TIMERS_MAX; i++) {
        const board_motor_timer_t *t = &b->motor.timers[i];
        TEST_ASSERT_TRUE_MESSAGE(timer_used[i], "a timer without motor");
        TEST_ASSERT_TRUE_MESSAGE(t->break_pin != 0, "every timer has its own break input");
        TEST_ASSERT_EQUAL_UINT(RCC_BUS_APB2,
                               t->clock >> 8); /* motor.c uses one clock for all timers */
        snprintf(function, sizeof function, "%s_BKIN", timer_name[i]);
        check_function(b, facts, t->break_pin, t->break_af, function);
    }
}

/* Each joint has one encoder: a chip with a select, or a timer that is not the tick's and no other
 * joint's. A timer is named by its place on APB1: TIM2 is the first. */
static void check_encoders(const board_t *b, const chip_facts_t *facts) {
    TEST_ASSERT_LESS_OR_EQUAL_UINT(BOARD_ENCODERS_MAX, b->encoder.count);
    for (unsigned i = 0; i < b->encoder.count; i++) {
        const board_quadrature_t *q = &b->encoder.quadrature[i];
        TEST_ASSERT_EQUAL_MESSAGE(q->regs == NULL, b->encoder.select[i] != 0,
                                  "a joint has a select or a timer");
        if (q->regs == NULL) {
            TEST_ASSERT_NOT_NULL(b->encoder.regs);
            continue;
        }
        unsigned place = (unsigned)((uintptr_t)q->regs - 0x40000000) / 0x400;
        TEST_ASSERT_EQUAL_HEX16(RCC_BIT(RCC_BUS_APB1, place), q->clock);
        TEST_ASSERT_TRUE(q->regs != b->tick.regs);
        for (unsigned k = 0; k < i; k++)
            TEST_ASSERT_TRUE(q->regs != b->encoder.quadrature[k].regs);
        char function[24];
        snprintf(function, sizeof function, "TIM%u_CH1", place + 2);
        check_function(b, facts, q->a, q->af, function);
        snprintf(function, sizeof function, "TIM%u_CH2", place + 2);
        check_function(b, facts, q->b, q->af, function);
    }
}

static void check_peripherals(const board_t *b, const chip_facts_t *facts, const char *uart,
                              const char *spi) {
    char function[24];
    snprintf(function, sizeof function, "%s_TX", uart);
    check_function(b, facts, b->uart.tx, b->uart.af, function);
    snprintf(function, sizeof function, "%s_RX", uart);
    check_function(b, facts, b->uart.rx, b->uart.af, function);
    snprintf(function, sizeof function, "%s_SCK", spi);
    check_function(b, facts, b->encoder.sck, b->encoder.af, function);
    snprintf(function, sizeof function, "%s_MISO", spi);
    check_function(b, facts, b->encoder.miso, b->encoder.af, function);
    snprintf(function, sizeof function, "%s_MOSI", spi);
    check_function(b, facts, b->encoder.mosi, b->encoder.af, function);
    check_encoders(b, facts);
    TEST_ASSERT_EQUAL_UINT32(facts->lsi_min_hz, b->lsi_min_hz);
    TEST_ASSERT_EQUAL_UINT32(facts->lsi_max_hz, b->lsi_max_hz);
    if (b->supply.bottom_ohm != 0) {
        /* Inputs IN0 to IN7 are on port A, IN8 and IN9 are PB0 and PB1, IN10 to IN15 are PC0 to
         * PC5. */
        unsigned c = b->supply.channel;
        pin_t pin = c < 8 ? PIN(A, c) : c < 10 ? PIN(B, c - 8) : PIN(C, c - 10);
        TEST_ASSERT_EQUAL_HEX8(pin, b->supply.pin);
        /* The product in supply.c must fit 32 bits: the divider times 4,095 counts. */
        uint64_t divider =
            (uint64_t)b->supply.reference_mV * (b->supply.top_ohm + b->supply.bottom_ohm);
        TEST_ASSERT_LESS_THAN_UINT64(UINT32_MAX, divider);
        TEST_ASSERT_LESS_THAN_UINT64(UINT32_MAX - 4095, divider / b->supply.bottom_ohm * 4095);
    }
}

static void check_vector(const vector_entry_t *table, unsigned count, int line,
                         const char *handler) {
    for (unsigned i = 0; i < count; i++) {
        if (table[i].number == line) {
            TEST_ASSERT_EQUAL_STRING(handler, table[i].handler);
            return;
        }
    }
    TEST_FAIL_MESSAGE("a line of the board is not in the vector table");
}

/* A row of the tables of DMA requests and of interrupts in the manual. */
typedef struct {
    const usart_t *usart;
    board_dma_t dma;
} dma_request_t;

static void check_rx_dma(const board_t *b, const dma_request_t *table, unsigned count) {
    const board_dma_t *dma = &b->uart.rx_dma;
    for (unsigned i = 0; i < count; i++) {
        const board_dma_t *can = &table[i].dma;
        if (table[i].usart == b->uart.regs && can->regs == dma->regs && can->clock == dma->clock &&
            can->stream == dma->stream && can->channel == dma->channel && can->irq == dma->irq) {
            return;
        }
    }
    TEST_FAIL_MESSAGE("the requests of the board's USART do not come to its uart.rx_dma");
}

static void check_vectors(const board_t *b, const vector_entry_t *table, unsigned count) {
    check_vector(table, count, 1, "power_irq"); /* PVD and TIM6 are the same on all chips */
    check_vector(table, count, 54, "watchdog_irq");
    check_vector(table, count, b->uart.irq, "uart_irq");
    check_vector(table, count, b->uart.rx_dma.irq, "uart_irq");
    check_vector(table, count, b->encoder.irq, "encoder_irq");
    if (b->tick.regs != NULL) {
        check_vector(table, count, b->tick.irq, "tick_irq");
    }
    for (unsigned i = 0; i < b->motor.timer_count; i++) {
        check_vector(table, count, b->motor.timers[i].break_irq, "motor_break_irq");
    }
}

static void check_flash(const board_t *b, const chip_facts_t *facts) {
    const flash_geometry_t *g = &b->flash.geometry;
    for (unsigned i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_UINT32(0, g->slot[i].address % g->erase_unit);
        TEST_ASSERT_EQUAL_UINT32(0, g->slot[i].size % g->erase_unit);
        TEST_ASSERT_GREATER_THAN_UINT32(0, g->slot[i].size);
        TEST_ASSERT_TRUE(g->slot[i].address >= 0x08000000 &&
                         g->slot[i].address + g->slot[i].size <= 0x08000000 + facts->flash_bytes);
        TEST_ASSERT_FALSE_MESSAGE(g->persistent, "decided at run time");
    }
    TEST_ASSERT_TRUE(g->slot[0].address + g->slot[0].size <= g->slot[1].address ||
                     g->slot[1].address + g->slot[1].size <= g->slot[0].address);
}

#endif

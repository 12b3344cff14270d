/*
 * Prints the pins of a board as the tables of boards/README.md, so that the page cannot differ from
 * the board file. For test_hal_boards.c and test_hal_boards_f1.c.
 */
#ifndef TEST_SUPPORT_BOARD_PINS_H
#define TEST_SUPPORT_BOARD_PINS_H

#include "test/support/board_check.h"

/* The label that is printed on the board beside a pin. */
typedef struct {
    pin_t pin;
    const char *label;
} pin_label_t;

typedef struct {
    const pin_label_t *labels; /* NULL: the board prints the pin names of the chip */
    unsigned label_count;
    const char *uart, *spi;
    const char *timers[BOARD_TIMERS_MAX];
} pin_words_t;

static void print_pin(const pin_words_t *words, pin_t pin) {
    char name[8];
    if (pin == 0) {
        printf("none");
        return;
    }
    printf("%s", pin_name(pin, name));
    for (unsigned i = 0; i < words->label_count; i++) {
        if (words->labels[i].pin == pin) {
            printf(" (%s)", words->labels[i].label);
        }
    }
}

static void print_joints(const board_t *b, const pin_words_t *words) {
    printf("| joint | PWM | direction | encoder select | home switch |\n|---|---|---|---|---|\n");
    for (unsigned i = 0; i < b->motor.motor_count; i++) {
        const board_motor_t *m = &b->motor.motors[i];
        printf("| %u | ", i + 1);
        print_pin(words, m->pwm != 0 ? m->pwm : m->pwm_n);
        printf(", %s CH%u%s | ", words->timers[m->timer], m->channel, m->pwm != 0 ? "" : "N");
        print_pin(words, m->direction);
        printf(" | ");
        print_pin(words, i < b->encoder.count ? b->encoder.select[i] : 0);
        printf(" | ");
        print_pin(words, i < b->home.count ? b->home.pin[i] : 0);
        printf(" |\n");
    }
}

static void print_shared(const board_t *b, const pin_words_t *words) {
    printf("\n| signal | pin |\n|---|---|\n| console, TX and RX of %s | ", words->uart);
    print_pin(words, b->uart.tx);
    printf(" and ");
    print_pin(words, b->uart.rx);
    printf(" |\n| encoders, SCK, MISO and MOSI of %s | ", words->spi);
    print_pin(words, b->encoder.sck);
    printf(", ");
    print_pin(words, b->encoder.miso);
    printf(" and ");
    print_pin(words, b->encoder.mosi);
    printf(" |\n| e-stop, all of them to one contact | ");
    for (unsigned i = 0; i < b->motor.timer_count; i++) {
        printf("%s", i == 0 ? "" : " and ");
        print_pin(words, b->motor.timers[i].break_pin);
    }
    printf(" |\n| motor supply, through %.1f kOhm over %.1f kOhm | ", b->supply.top_ohm / 1e3,
           b->supply.bottom_ohm / 1e3);
    print_pin(words, b->supply.pin);
    printf(", full scale %.1f V |\n", b->supply.reference_mV * 1e-3 *
                                          (b->supply.top_ohm + b->supply.bottom_ohm) /
                                          b->supply.bottom_ohm);
    if (b->encoder.power != 0) {
        printf("| switches the 3.3 V and 5 V of the headers on | ");
        print_pin(words, b->encoder.power);
        printf(" |\n");
    }
}

static void print_pins(const char *block, const board_t *b, const pin_words_t *words) {
    printf("measured-block %s\n", block);
    print_joints(b, words);
    print_shared(b, words);
    printf("measured-end\n");
}

#endif

/* The description of a board for the drivers: a const struct in boards/<board>/board.c. It contains
 * everything that differs between boards of one chip family. */
#ifndef HAL_STM32_BOARD_H
#define HAL_STM32_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/flash.h"
#include "hal/stm32/regs.h"

/* A pin; 0 means no pin. */
typedef uint8_t pin_t;
enum { PORT_A, PORT_B, PORT_C, PORT_D, PORT_H = 7 };
#define PIN(port, number) ((pin_t)(0x80 | (PORT_##port) << 4 | (number)))
#define PIN_PORT(pin)     ((pin) >> 4 & 7u)
#define PIN_NUMBER(pin)   ((pin)&15u)

enum { BOARD_TIMERS_MAX = 2, BOARD_MOTORS_MAX = 6, BOARD_ENCODERS_MAX = 6 };

/* Core clock = source / m * n / p. */
typedef struct {
    /* F4: 2 to 63, so that source / m is 1 to 2 MHz. F1: PREDIV1; 2 for the internal oscillator */
    uint8_t m;
    uint16_t n; /* F4: 192 to 432. F1: 2 to 16 */
    uint8_t p;  /* F4: 2, 4, 6, 8. F1: 1 */
    uint8_t q;  /* F4: 2 to 15, so that the USB clock is at most 48 MHz. F1: 0 */
} board_pll_t;

typedef struct {
    uint32_t hse_hz; /* frequency of the crystal or external clock, Hz */
    bool hse_bypass; /* true: an external clock signal, not a crystal */
    board_pll_t pll; /* used with hse_hz */
    /* Used with the internal oscillator. The core clock must stay within its limit if the
     * oscillator runs as fast as its tolerance allows. */
    board_pll_t pll_internal;
    uint8_t wait_states;        /* wait states of the flash at the core clock and 2.7 to 3.6 V; F1:
                                 * 0 */
    uint8_t apb1_div, apb2_div; /* 1, 2, 4, 8, 16 */
    uint32_t pwr_vos;           /* VOS bits of PWR_CR for the core clock; 0 if the chip has none */
} board_clock_t;

/* The DMA stream of a peripheral, from the manual's table of DMA requests. */
typedef struct {
    dma_t *regs; /* NULL: no DMA */
    rcc_bit_t clock;
    uint8_t stream;  /* number of the stream. F1: number of the channel, from 1 */
    uint8_t channel; /* channel of the stream. F1: 0, because each request is wired to one
                      * channel */
    int irq;
} board_dma_t;

typedef struct {
    usart_t *regs;
    rcc_bit_t clock;
    pin_t tx, rx;
    uint8_t af; /* alternate function. F1: 0, see afio_mapr */
    int irq;
    board_dma_t rx_dma;
} board_uart_t;

typedef struct {
    tim_t *regs; /* a 32-bit timer; NULL: the tick is SysTick */
    rcc_bit_t clock;
    int irq;
} board_tick_t;

/* A timer with a break input; all of them are on APB2. */
typedef struct {
    tim_t *regs;
    rcc_bit_t clock;
    uint32_t freeze; /* bit of this timer in DBGMCU_FREEZE_TIMERS */
    /* E-stop input. It is pulled to the active level, so that an open wire stops the motors. */
    pin_t break_pin;
    uint8_t break_af;      /* F1: 0 */
    bool break_active_low; /* false: active high, for a closed contact to ground */
    int break_irq;
} board_motor_timer_t;

/* One motor. With `direction`, the PWM comes from `pwm` or from `pwm_n`, whichever is given (the
 * complementary output also works alone). With `in2`, `pwm` is IN1 of a driver with two inputs:
 * zero duty holds both inputs high, which shorts the motor; off holds both low. With neither, pwm
 * and pwm_n are given, with dead time, and zero duty means that each output is on for half of the
 * period. */
typedef struct {
    uint8_t timer;       /* index into timers */
    uint8_t channel;     /* 1 to 4 */
    uint8_t af;          /* F1: 0 */
    pin_t pwm;           /* CHx; 0: none */
    pin_t pwm_n;         /* CHxN; 0: none */
    pin_t direction;     /* high for negative duty; 0: none */
    pin_t in2;           /* IN2, on CHy of the same timer; 0: none */
    uint8_t in2_channel; /* y, 1 to 4 */
} board_motor_t;

/* Pins that all motor drivers of the board share; 0: none. Off is the level to which the wire must be
 * pulled, because the pin floats while the chip is in reset. */
typedef struct {
    pin_t enable;               /* high switches the drivers on; low: the motors coast */
    pin_t brake;                /* high opens the brakes; low: springs close them */
    bool enable_low, brake_low; /* the other way round: low is on, low opens */
    /* times from the pin's edge until the slowest brake is open, and until it holds */
    uint16_t brake_open_ms, brake_close_ms;
    pin_t fault;     /* the drivers pull it low (open drain) when they fail; it is pulled up */
    bool fault_high; /* the other way round: high is a fault; a broken wire is one, too */
} board_stage_t;

typedef struct {
    unsigned timer_count, motor_count;
    board_motor_timer_t timers[BOARD_TIMERS_MAX];
    board_motor_t motors[BOARD_MOTORS_MAX];
    uint32_t dead_time_ns; /* between the two outputs of a complementary motor; 0: none */
    board_stage_t stage;
} board_motors_t;

/* A quadrature encoder at channels 1 and 2 of a timer with an encoder mode. */
typedef struct {
    tim_t *regs; /* NULL: this joint has an AS5047P */
    rcc_bit_t clock;
    pin_t a, b; /* CH1, CH2; pulled up */
    uint8_t af; /* F1: 0 */
} board_quadrature_t;

typedef struct {
    spi_t *regs;
    rcc_bit_t clock;
    pin_t sck, miso, mosi;
    uint8_t af;  /* F1: 0 */
    pin_t power; /* driven high before the encoders are used; 0: always supplied */
    int irq;
    unsigned count;
    pin_t select[BOARD_ENCODERS_MAX]; /* of the AS5047P of each joint; 0: quadrature */
    board_quadrature_t quadrature[BOARD_ENCODERS_MAX];
} board_encoders_t;

/* Home switches: contacts to ground. */
typedef struct {
    unsigned count; /* number of switches; they belong to the first joints */
    pin_t pin[BOARD_ENCODERS_MAX];
} board_home_t;

typedef struct {
    pin_t pin;
    uint8_t channel;       /* channel of ADC1 */
    uint32_t reference_mV; /* full scale of the ADC, mV */
    uint32_t top_ohm;      /* resistor from the motor supply to the pin */
    uint32_t bottom_ohm;   /* resistor from the pin to ground; 0: this board has no divider */
} board_supply_t;

typedef struct {
    flash_geometry_t geometry; /* persistent and writable are set at run time */
    uint8_t sector[2];         /* F4: number of the first sector of each slot. F1: 0 */
} board_flash_t;

typedef struct {
    const char *name;
    board_clock_t clock;
    board_uart_t uart;
    board_tick_t tick;
    board_motors_t motor;
    board_encoders_t encoder;
    board_home_t home;
    board_supply_t supply;
    board_flash_t flash;
    uint32_t lsi_min_hz, lsi_max_hz; /* frequency of the watchdog's oscillator, data sheet, Hz */
    /* F1: pin remapping of the whole board. F4: 0, because each pin selects its own function. */
    uint32_t afio_mapr;
} board_t;

extern const board_t board;

#endif

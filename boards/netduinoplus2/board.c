/*
 * Netduino Plus 2: STM32F405RG, 25 MHz crystal. Only pins of the Arduino-style headers are used;
 * the comment at each pin is its name on the board.
 *
 * The headers carry 22 pins, among them five outputs of timers with a break input (TIM1's are
 * complementary outputs, which also work alone). They serve four joints, the supply voltage, both
 * e-stop inputs, the console, and one output each that enables the motor drivers and opens the
 * brakes. No pin is left for the fault pin of the drivers, for home switches or for a fifth joint,
 * whose quadrature encoder would need both inputs of a timer.
 *
 * E-stop: connect D4 and D9 to one emergency stop, a closed contact to ground. If it opens, or is
 * not wired at all, the pull-ups stop the motors. PWM and direction float from reset until the
 * first instructions of the firmware: PWM needs pull-downs. Console: USART1 on the SDA/SCL pins,
 * 3.3 V; it is the first serial port of the emulator. PB2 switches the 5 V and 3.3 V of the headers
 * on.
 */
#include "hal/stm32/board.h"

const board_t board = {
    .name = "netduinoplus2",
    .clock =
        {
            .hse_hz = 25000000,
            .pll = {.m = 25, .n = 336, .p = 2, .q = 7}, /* 168 MHz */
            /* 160 MHz nominal: the RC oscillator may run 4.5 % fast, and the limit is 168 MHz. */
            .pll_internal = {.m = 16, .n = 320, .p = 2, .q = 7},
            .wait_states = 5,
            .apb1_div = 4, /* 42 MHz */
            .apb2_div = 2, /* 84 MHz */
            .pwr_vos = 1 << 14,
        },
    /* SDA, SCL */
    .uart = {USART1, RCC_USART1, .tx = PIN(B, 6), .rx = PIN(B, 7), .af = 7, .irq = 37,
             .rx_dma = {DMA2, RCC_DMA2, .stream = 2, .channel = 4, .irq = 58}},
    .tick = {TIM2, RCC_TIM2, .irq = 28},
    .motor =
        {
            .timer_count = 2,
            .timers =
                {
                    {TIM1, RCC_TIM1, DBGMCU_FREEZE_TIM1, .break_pin = PIN(B, 12), .break_af = 1,
                     .break_irq = 24}, /* D4 */
                    {TIM8, RCC_TIM8, DBGMCU_FREEZE_TIM8, .break_pin = PIN(A, 6), .break_af = 3,
                     .break_irq = 43}, /* D9 */
                },
            .motor_count = 4,
            .motors =
                {
                    {0, 1, .af = 1, .pwm_n = PIN(B, 13), .direction = PIN(A, 0)}, /* D13, D8 */
                    {0, 2, .af = 1, .pwm_n = PIN(B, 14), .direction = PIN(A, 1)}, /* D12, D7 */
                    {0, 3, .af = 1, .pwm_n = PIN(B, 15), .direction = PIN(A, 2)}, /* D11, D3 */
                    {1, 1, .af = 3, .pwm = PIN(C, 6), .direction = PIN(A, 3)},    /* D1, D2 */
                },
            /* D5, D0. The times of the brakes are an example: take those of the data sheet. */
            .stage = {.enable = PIN(B, 8),
                      .brake = PIN(C, 7),
                      .brake_open_ms = 60,
                      .brake_close_ms = 60},
        },
    .encoder =
        {
            SPI2, RCC_SPI2, .sck = PIN(B, 10), /* D10 */
            .miso = PIN(C, 2),                 /* A2 */
            .mosi = PIN(C, 3),                 /* A3 */
            .af = 5, .power = PIN(B, 2), .irq = 36, .count = 4,
            .select = {PIN(C, 1), PIN(C, 4), PIN(C, 5), PIN(B, 9)}, /* A1, A4, A5, D6 */
        },
    /* Divider of 47 kOhm and 3.3 kOhm: full scale is 50.3 V. */
    .supply = {.pin = PIN(C, 0), /* A0 */
               .channel = 10,
               .reference_mV = 3300,
               .top_ohm = 47000,
               .bottom_ohm = 3300},
    /* The slots are the last two of twelve sectors. */
    .flash = {.geometry = {.slot = {{0x080C0000, 0x20000}, {0x080E0000, 0x20000}},
                           .erase_unit = 0x20000,
                           .write_unit = 4,
                           .erase_unit_ms = 2000},
              .sector = {10, 11}},
    .lsi_min_hz = 17000,
    .lsi_max_hz = 47000,
};

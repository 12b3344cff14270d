/*
 * Netduino 2: STM32F205RF, 25 MHz crystal, the headers of the Netduino Plus 2, whose board file
 * explains the choice of the pins. The comment at each pin is its name on the board.
 *
 * E-stop: connect D4 and D9 to one emergency stop, a closed contact to ground. If it opens, or is
 * not wired at all, the pull-ups stop the motors. Console: USART1 on the SDA/SCL pins, 3.3 V. Not
 * checked on a board: whether PB2 switches the supply of the headers here too.
 */
#include "hal/stm32/board.h"

const board_t board = {
    .name = "netduino2",
    .clock =
        {
            .hse_hz = 25000000,
            .pll = {.m = 25, .n = 240, .p = 2, .q = 5}, /* 120 MHz */
            /* 114 MHz nominal: the RC oscillator may run 4.5 % fast, and the limit is 120 MHz. */
            .pll_internal = {.m = 16, .n = 228, .p = 2, .q = 5},
            .wait_states = 3,
            .apb1_div = 4, /* 30 MHz */
            .apb2_div = 2, /* 60 MHz */
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
    /* The RF has 768 KB; these are the last two of its ten sectors. (The emulator has 1 MB.) */
    .flash = {.geometry = {.slot = {{0x08080000, 0x20000}, {0x080A0000, 0x20000}},
                           .erase_unit = 0x20000,
                           .write_unit = 4,
                           .erase_unit_ms = 2000},
              .sector = {8, 9}},
    .lsi_min_hz = 17000,
    .lsi_max_hz = 47000,
};

/*
 * ST Nucleo-F446RE: STM32F446RE, 8 MHz from the ST-LINK (MCO) into the oscillator's bypass. Six
 * joints on the morpho connectors. 168 MHz is the highest clock without the over-drive; a faster
 * clock has no advantage here.
 *
 * E-stop: connect PB12 and PA6 to one emergency stop, a closed contact to ground. If it opens, or
 * is not wired at all, the pull-ups stop the motors. PB10 enables the drivers, PA7 opens the
 * brakes, PA12 is the drivers' fault pin; each may stay open. All outputs of the stages float from
 * reset until the first instructions of the firmware, and while the chip is flashed: PWM, enable
 * and brake need pull-downs. BOOT0 stays low: the chip's own boot loader drives some of these pins.
 *
 * Console: USART2, which the ST-LINK shows as a serial port. PA5 (LED), PC13 (button), PC14/PC15
 * (32 kHz crystal) and PA13/PA14/PB3 (debugger) are not used.
 */
#include "hal/stm32/board.h"

const board_t board = {
    .name = "nucleo-f446re",
    .clock =
        {
            .hse_hz = 8000000,
            .hse_bypass = true,
            .pll = {.m = 4, .n = 168, .p = 2, .q = 7}, /* 168 MHz */
            /* 160 MHz nominal: the RC oscillator may run 4.5 % fast, and the limit is 168 MHz. */
            .pll_internal = {.m = 8, .n = 160, .p = 2, .q = 7},
            .wait_states = 5,
            .apb1_div = 4, /* 42 MHz */
            .apb2_div = 2, /* 84 MHz */
            .pwr_vos = 3 << 14,
        },
    .uart = {USART2, RCC_USART2, .tx = PIN(A, 2), .rx = PIN(A, 3), .af = 7, .irq = 38,
             .rx_dma = {DMA1, RCC_DMA1, .stream = 5, .channel = 4, .irq = 16}},
    .tick = {TIM2, RCC_TIM2, .irq = 28},
    .motor =
        {
            .timer_count = 2,
            .timers =
                {
                    {TIM1, RCC_TIM1, DBGMCU_FREEZE_TIM1, .break_pin = PIN(B, 12), .break_af = 1,
                     .break_irq = 24},
                    {TIM8, RCC_TIM8, DBGMCU_FREEZE_TIM8, .break_pin = PIN(A, 6), .break_af = 3,
                     .break_irq = 43},
                },
            .motor_count = 6,
            .motors =
                {
                    {0, 1, .af = 1, .pwm = PIN(A, 8), .direction = PIN(C, 8)},
                    {0, 2, .af = 1, .pwm = PIN(A, 9), .direction = PIN(C, 9)},
                    {0, 3, .af = 1, .pwm = PIN(A, 10), .direction = PIN(C, 10)},
                    {0, 4, .af = 1, .pwm = PIN(A, 11), .direction = PIN(C, 11)},
                    {1, 1, .af = 3, .pwm = PIN(C, 6), .direction = PIN(C, 12)},
                    {1, 2, .af = 3, .pwm = PIN(C, 7), .direction = PIN(D, 2)},
                },
            /* The times are usual for a spring-applied brake of a few N m. Change them to those of
             * the data sheet of your brake, with the relay that switches it. */
            .stage = {.enable = PIN(B, 10),
                      .brake = PIN(A, 7),
                      .brake_open_ms = 60,
                      .brake_close_ms = 60,
                      .fault = PIN(A, 12)},
        },
    /*
     * For motors with quadrature encoders: joint 5 can use TIM5, and then joint 6 can use TIM4, which
     * takes the selects of both: .quadrature = {[4] = {TIM5, RCC_TIM5, .a = PIN(A, 0), .b = PIN(A, 1),
     * .af = 2}, [5] = {TIM4, RCC_TIM4, .a = PIN(B, 6), .b = PIN(B, 7), .af = 2}}, and 0 in .select.
     */
    .encoder =
        {
            SPI2,
            RCC_SPI2,
            .sck = PIN(B, 13),
            .miso = PIN(B, 14),
            .mosi = PIN(B, 15),
            .af = 5,
            .irq = 36,
            .count = 6,
            .select = {PIN(B, 0), PIN(B, 1), PIN(B, 4), PIN(B, 5), PIN(B, 6), PIN(B, 7)},
        },
    .home = {.count = 6, .pin = {PIN(C, 0), PIN(C, 1), PIN(C, 2), PIN(C, 3), PIN(C, 4), PIN(C, 5)}},
    /* Divider of 47 kOhm and 3.3 kOhm: full scale is 50.3 V. */
    .supply = {.pin = PIN(A, 4),
               .channel = 4,
               .reference_mV = 3300,
               .top_ohm = 47000,
               .bottom_ohm = 3300},
    /* The slots are the last two of eight sectors. */
    .flash = {.geometry = {.slot = {{0x08040000, 0x20000}, {0x08060000, 0x20000}},
                           .erase_unit = 0x20000,
                           .write_unit = 4,
                           .erase_unit_ms = 2000},
              .sector = {6, 7}},
    .lsi_min_hz = 17000,
    .lsi_max_hz = 47000,
};

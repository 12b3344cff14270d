/*
 * ST STM32 value line Discovery: STM32F100RB, 8 MHz crystal, 24 MHz. Six joints on two timers; each
 * timer has its own break input, so the e-stop needs no software for any motor.
 *
 * The F1 remaps alternate functions in groups, and a timer channel that is on drives BOTH of its
 * pins that are set to "alternate function" (its complementary output, too, because of OSSI and
 * OSSR). So TIM1 is partly remapped, with channels 2 and 3 on their complementary outputs PB0 and
 * PB1, which leaves PA9 to TIM15's break input. USART1 is remapped to PB6/PB7. SPI1 is remapped to
 * PB3-PB5, because TIM15's complementary output shares PB15 with SPI2. This takes the JTAG pins;
 * SWD stays.
 *
 * E-stop: connect PA6 and PA9 to one emergency stop, a closed contact to ground. If it opens, or is
 * not wired at all, the pull-ups stop the motors. PA4 enables the drivers, PA5 opens the brakes,
 * PA12 is the drivers' fault pin; each may stay open. All outputs of the stages float from reset
 * until the first instructions of the firmware, and while the chip is flashed: PWM, enable and
 * brake need pull-downs.
 *
 * Console: USART1 on PB6/PB7, 3.3 V. PA0 (button), PC8/PC9 (LEDs), PA13/PA14 (debugger) and
 * PC14/PC15 (32 kHz crystal) are not used.
 */
#include "hal/stm32/board.h"

const board_t board = {
    .name = "stm32vldiscovery",
    .clock =
        {
            .hse_hz = 8000000,
            .pll = {.m = 1, .n = 3, .p = 1}, /* 24 MHz */
            /* 20 MHz nominal: the RC oscillator may run fast, and 24 MHz is the limit. */
            .pll_internal = {.m = 2, .n = 5, .p = 1},
            .apb1_div = 1,
            .apb2_div = 1,
        },
    .uart = {USART1, RCC_USART1, .tx = PIN(B, 6), .rx = PIN(B, 7), .irq = 37,
             .rx_dma = {DMA1, RCC_DMA1, .stream = 5, .irq = 15}},
    .motor =
        {
            .timer_count = 2,
            .timers =
                {
                    {TIM1, RCC_TIM1, DBGMCU_FREEZE_TIM1, .break_pin = PIN(A, 6), .break_irq = 24},
                    {TIM15, RCC_TIM15, DBGMCU_FREEZE_TIM15, .break_pin = PIN(A, 9),
                     .break_irq = 24},
                },
            .motor_count = 6,
            .motors =
                {
                    {0, 1, .pwm = PIN(A, 8), .direction = PIN(C, 0)},
                    {0, 2, .pwm_n = PIN(B, 0), .direction = PIN(C, 1)},
                    {0, 3, .pwm_n = PIN(B, 1), .direction = PIN(C, 2)},
                    {0, 4, .pwm = PIN(A, 11), .direction = PIN(C, 3)},
                    {1, 1, .pwm = PIN(A, 2), .direction = PIN(C, 4)},
                    {1, 2, .pwm = PIN(A, 3), .direction = PIN(C, 5)},
                },
            /* The times are usual for a spring-applied brake of a few N m. Change them to those of
             * the data sheet of your brake, with the relay that switches it. */
            .stage = {.enable = PIN(A, 4),
                      .brake = PIN(A, 5),
                      .brake_open_ms = 60,
                      .brake_close_ms = 60,
                      .fault = PIN(A, 12)},
        },
    .encoder =
        {
            SPI1,
            RCC_SPI1,
            .sck = PIN(B, 3),
            .miso = PIN(B, 4),
            .mosi = PIN(B, 5),
            .irq = 35,
            .count = 6,
            .select = {PIN(B, 8), PIN(B, 9), PIN(B, 10), PIN(B, 11), PIN(B, 12), PIN(B, 13)},
        },
    .home = {.count = 6,
             .pin = {PIN(C, 6), PIN(C, 7), PIN(C, 10), PIN(C, 11), PIN(C, 12), PIN(D, 2)}},
    /* Divider of 47 kOhm and 3.3 kOhm: full scale is 50.3 V. */
    .supply = {.pin = PIN(A, 1),
               .channel = 1,
               .reference_mV = 3300,
               .top_ohm = 47000,
               .bottom_ohm = 3300},
    /* The slots are the last 16 of 128 pages. */
    .flash = {.geometry = {.slot = {{0x0801C000, 0x2000}, {0x0801E000, 0x2000}},
                           .erase_unit = 0x400,
                           .write_unit = 2,
                           .erase_unit_ms = 40}},
    .lsi_min_hz = 30000,
    .lsi_max_hz = 60000,
    .afio_mapr = AFIO_MAPR_SPI1 | AFIO_MAPR_USART1 | AFIO_MAPR_TIM1_PARTIAL | AFIO_MAPR_SWD_ONLY,
};

/* What reaches the pins: PWM and direction read back, the e-stop inputs (BKIN) driven by the
 * internal pulls, SPI and ADC with nothing connected. The timers are configured as hal/stm32/motor.c does,
 * but without its lock. */
#include "test/silicon/silicon.h"

#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"

enum { PWM_HZ = 20000, OUTPUTS_MAX = 2 * BOARD_MOTORS_MAX };

typedef struct {
    tim_t *tim;
    pin_t pin;
    uint8_t channel;
    bool inverted; /* the second output of a complementary pair */
} output_t;

static output_t output[OUTPUTS_MAX];
static unsigned outputs;

static void add(const board_motor_t *m, pin_t pin, uint8_t channel, uint32_t enable,
                bool inverted) {
    if (pin == 0)
        return;
    tim_t *tim = board.motor.timers[m->timer].regs;
    const unsigned c = channel - 1u;
    output[outputs++] = (output_t){tim, pin, channel, inverted};
    reg_set(&tim->CCMR[c / 2], (uint32_t)TIM_CCMR_PWM1_PRELOAD << 8 * (c % 2));
    reg_set(&tim->CCER, enable << 4 * c);
    gpio_alternate_out(pin, m->af, GPIO_PULL_DOWN);
}

/* Returns the counts of one period; 0 if a timer does not answer. */
static uint32_t start_timers(void) {
    const uint32_t period = clock_timer_hz(board.motor.timers[0].clock) / PWM_HZ;
    outputs = 0;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        tim_t *tim = board.motor.timers[i].regs;
        rcc_enable(board.motor.timers[i].clock);
        reg_write(&tim->CR1, 0);
        reg_write(&tim->CR2, 0);
        reg_write(&tim->PSC, 0);
        reg_write(&tim->ARR, period - 1);
        reg_write(&tim->CCMR[0], 0);
        reg_write(&tim->CCMR[1], 0);
        reg_write(&tim->CCER, 0);
        reg_write(&tim->BDTR, TIM_BDTR_OSSI | TIM_BDTR_OSSR);
        reg_write(&tim->CR1, TIM_CR1_ARPE | TIM_CR1_URS | TIM_CR1_CEN);
        if (reg_read(&tim->ARR) != period - 1)
            return 0;
    }
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *m = &board.motor.motors[i];
        add(m, m->pwm, m->channel, TIM_CCER_CCE, false);
        add(m, m->pwm_n, m->channel, TIM_CCER_CCNE, m->pwm != 0);
        add(m, m->in2, m->in2_channel, TIM_CCER_CCE, false);
    }
    return period;
}

/* Returns how often a pin is high, in thousandths, over about 150 periods. Random pauses keep the
 * samples from falling into step with the PWM; the error is then below 1 %. */
static uint32_t share_high(pin_t pin) {
    enum { SAMPLES = 40000 };
    uint32_t high = 0, random = 1;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        random = random * 1664525u + 1013904223u;
        for (uint32_t pause = random >> 29; pause > 0; pause--)
            __asm volatile("");
        high += gpio_read(pin);
    }
    return high * 1000 / SAMPLES;
}

static void set_duty(const output_t *o, uint32_t counts, bool on) {
    reg_write(&o->tim->CCR[o->channel - 1], counts);
    reg_write(&o->tim->EGR, TIM_EGR_UG);
    reg_modify(&o->tim->BDTR, TIM_BDTR_MOE, on ? TIM_BDTR_MOE : 0);
    wait_us(100); /* two periods */
}

/* Returns whether a plain output reads back as it is driven, both ways. */
static bool follows(pin_t pin) {
    gpio_output(pin, true);
    wait_us(10);
    const bool high = gpio_read(pin);
    gpio_write(pin, false);
    wait_us(10);
    return high && !gpio_read(pin);
}

void step_pwm(void) {
    static const uint16_t duty[] = {100, 500, 900};
    if (unseen_in_emulator("pwm", "TIM1, TIM8 and GPIO"))
        return;
    const uint32_t period = start_timers();
    uint32_t leak = 0, stuck = 0;
    for (unsigned i = 0; i < outputs; i++) {
        uint32_t worst = 0;
        for (unsigned k = 0; k < sizeof duty / sizeof duty[0]; k++) {
            set_duty(&output[i], period * duty[k] / 1000, true);
            const uint32_t expected = output[i].inverted ? 1000u - duty[k] : duty[k];
            const uint32_t share = share_high(output[i].pin);
            const uint32_t off = share > expected ? share - expected : expected - share;
            worst = off > worst ? off : worst;
        }
        set_duty(&output[i], period / 2, false);
        leak += share_high(output[i].pin);
        result("pwm_error", i + 1, worst, "permille", 0, 20);
    }
    result("pwm_off", 0, leak, "permille", 0, 0);
    for (unsigned i = 0; i < board.motor.motor_count; i++)
        stuck += board.motor.motors[i].direction != 0 && !follows(board.motor.motors[i].direction);
    stuck += board.motor.stage.enable != 0 && !follows(board.motor.stage.enable);
    stuck += board.motor.stage.brake != 0 && !follows(board.motor.stage.brake);
    result("output_pins_stuck", 0, stuck, "pins", 0, 0);
    result("pwm_period", 0, period, "counts", 256, 65535);
}

/* Sets MOE and returns whether it stays. MOE reads correctly only after some cycles. */
static bool enable(tim_t *tim) {
    reg_write(&tim->SR, 0);
    reg_set(&tim->BDTR, TIM_BDTR_MOE);
    (void)reg_read(&tim->BDTR);
    return (reg_read(&tim->BDTR) & TIM_BDTR_MOE) != 0;
}

void step_break(void) {
    if (unseen_in_emulator("break", "TIM1, TIM8 and GPIO"))
        return;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        const board_motor_timer_t *t = &board.motor.timers[i];
        const gpio_pull_t active = t->break_active_low ? GPIO_PULL_DOWN : GPIO_PULL_UP;
        const gpio_pull_t quiet = t->break_active_low ? GPIO_PULL_UP : GPIO_PULL_DOWN;
        rcc_enable(t->clock);
        reg_write(&t->regs->BDTR, TIM_BDTR_OSSI | TIM_BDTR_OSSR | TIM_BDTR_BKE |
                                      (t->break_active_low ? 0 : TIM_BDTR_BKP));
        gpio_alternate_in(t->break_pin, t->break_af, active);
        wait_us(100);
        result("break_ignored", i + 1, enable(t->regs), "flag", 0, 0);
        gpio_alternate_in(t->break_pin, t->break_af, quiet);
        wait_us(100);
        result("break_released", i + 1, enable(t->regs), "flag", 1, 1);
        /* The pull of 30 to 50 kOhm charges the pin, at most 100 pF with a header: 5 us. The time
         * includes the call that changes the pull. */
        const uint32_t start = cycles_now();
        gpio_alternate_in(t->break_pin, t->break_af, active);
        (void)reg_wait(&t->regs->BDTR, TIM_BDTR_MOE, 0, wait_polls(clock_info()->core_hz, 10));
        const uint32_t steps = cycles_steps(start, cycles_now());
        result("break_time", i + 1, (uint32_t)(steps * 1000000000ull / cycles_steps_hz()), "ns", 0,
               20000);
    }
}

/* Exchanges one frame; returns 0x10000 if it does not end. */
static uint32_t frame(gpio_pull_t pull) {
    const board_encoders_t *e = &board.encoder;
    gpio_alternate_in(e->miso, e->af, pull);
    wait_us(100);
    (void)reg_read(&e->regs->DR);
    reg_write(&e->regs->DR, 0xA55A);
    if (!reg_wait(&e->regs->SR, SPI_SR_RXNE, SPI_SR_RXNE, wait_polls(clock_info()->core_hz, 1)))
        return 0x10000;
    return reg_read(&e->regs->DR) & 0xFFFF;
}

void step_spi(void) {
    const board_encoders_t *e = &board.encoder;
    if (unseen_in_emulator("spi", "the pull of MISO"))
        return;
    rcc_enable(e->clock);
    const uint32_t config = SPI_CR1_CPHA | SPI_CR1_MSTR | 3u << SPI_CR1_BR_SHIFT | SPI_CR1_SSI |
                            SPI_CR1_SSM | SPI_CR1_DFF;
    reg_write(&e->regs->CR1, config);
    reg_write(&e->regs->CR1, config | SPI_CR1_SPE);
    gpio_alternate_out(e->sck, e->af, GPIO_PULL_DOWN);
    gpio_alternate_out(e->mosi, e->af, GPIO_PULL_NONE);
    result("spi_pulled_up", 0, frame(GPIO_PULL_UP), "frame", 0xFFFF, 0xFFFF);
    result("spi_pulled_down", 0, frame(GPIO_PULL_DOWN), "frame", 0, 0);
}

#ifdef HAL_STM32F1
enum { VREFINT_MV = 1200, ADC_CR2_TSVREFE = 1 << 23 };
enum { READY = ADC_CR2_ADON | ADC_CR2_TSVREFE | ADC_CR2_EXTSEL_SWSTART | ADC_CR2_EXTTRIG };
#else
enum { VREFINT_MV = 1210, ADC_CCR_TSVREFE = 1 << 23 };
enum { READY = ADC_CR2_ADON };
#endif

/* Converts one channel with the longest sample time; returns 0x10000 if it does not end. */
static uint32_t convert(uint32_t channel) {
    reg_write(&ADC1->SMPR1, 0x00FFFFFF);
    reg_write(&ADC1->SMPR2, 0x3FFFFFFF);
    reg_write(&ADC1->SQR1, 0);
    reg_write(&ADC1->SQR3, channel);
    reg_write(&ADC1->SR, 0);
    reg_write(&ADC1->CR2, READY | ADC_CR2_SWSTART);
    if (!reg_wait(&ADC1->SR, ADC_SR_EOC, ADC_SR_EOC, wait_polls(clock_info()->core_hz, 1)))
        return 0x10000;
    return reg_read(&ADC1->DR) & 0xFFF;
}

void step_adc(void) {
    enum { VREFINT_CHANNEL = 17 };
    if (unseen_in_emulator("adc", "the end of a conversion"))
        return;
    rcc_enable(RCC_ADC1);
    reg_write(&ADC1->CR1, 0);
#ifndef HAL_STM32F1
    reg_write(ADC_CCR, ADC_CCR_ADCPRE_4 | ADC_CCR_TSVREFE);
#endif
    reg_write(&ADC1->CR2, READY);
    wait_us(1000);
#ifdef HAL_STM32F1
    reg_write(&ADC1->CR2, READY | ADC_CR2_CAL);
    (void)reg_wait(&ADC1->CR2, ADC_CR2_CAL, 0, wait_polls(clock_info()->core_hz, 1));
#endif
    const uint32_t reference = convert(VREFINT_CHANNEL);
    /* The reference is 2.5 % accurate, the regulator of a board 3 %. */
    result("adc_vdda", 0, reference > 0 ? VREFINT_MV * 4095u / reference : 0, "mV", 3100, 3500);
    gpio_analog(board.supply.pin);
    result("adc_floating", 0, convert(board.supply.channel), "counts", 0, 4095);
}

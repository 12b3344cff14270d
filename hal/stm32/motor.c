/*
 * hal/motor.h on timers with a break input (TIM1 and TIM8; TIM1 and TIM15 to TIM17 on the F1). The
 * break input is the e-stop.
 *
 * Off means MOE = 0: with OSSI set, the timer then holds every output at its idle level, low. The
 * break input clears MOE without clock or software, and AOE = 0 keeps it clear until motor_enable.
 * A frozen timer (DBG_TIMx_STOP, core halted by a debugger) behaves as if MOE were 0. LOCK level 3
 * protects the break, polarity and output mode settings from stray writes until the next reset. The
 * first write to BDTR fixes the lock bits, so nothing may write it before motor_init: motor_off
 * writes it only if MOE is set.
 */
#include "hal/motor.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"
#include "hal/stm32/handlers.h"

/* Counts of a PWM period. Fewer than 256 counts (8 bits) of duty are too coarse. */
enum { PERIOD_MIN = 256, PERIOD_MAX = 65535 };

static uint32_t period;       /* counts of one PWM period; 0: not configured */
static volatile bool enabled; /* between motor_enable and motor_off */
static volatile bool break_latched;
static bool backward[BOARD_MOTORS_MAX]; /* level of the direction pin */
/* true: the motor waits for a period with zero duty before its direction pin changes */
static bool reversing[BOARD_MOTORS_MAX];

static tim_t *timer_of(const board_motor_t *motor) {
    return board.motor.timers[motor->timer].regs;
}

static bool complementary(const board_motor_t *motor) {
    return motor->direction == 0;
}

static volatile uint32_t *compare_of(const board_motor_t *motor) {
    return &timer_of(motor)->CCR[motor->channel - 1];
}

unsigned motor_count(void) {
    return board.motor.motor_count;
}

/* Returns the DTG field for the shortest dead time that is not below the wanted one, in steps of
 * the timer's clock (RM0090, TIMx_BDTR: up to 127 in steps of 1, up to 254 in steps of 2, up to 504
 * in steps of 8, up to 1008 in steps of 16). */
static uint32_t dead_time_field(uint32_t timer_hz, uint32_t ns) {
    uint32_t counts = (timer_hz / 1000 * ns + 999999) / 1000000;
    if (counts <= 127)
        return counts;
    if (counts <= 2 * 127)
        return 0x80 | ((counts + 1) / 2 - 64);
    if (counts <= 8 * 63)
        return 0xC0 | ((counts + 7) / 8 - 32);
    return counts <= 16 * 63 ? 0xE0 | ((counts + 15) / 16 - 32) : 0xFF;
}

static void configure_timer(unsigned index, uint32_t timer_hz) {
    const board_motor_timer_t *timer = &board.motor.timers[index];
    tim_t *tim = timer->regs;
    uint32_t mode[2] = {0, 0}, outputs = 0;
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        if (motor->timer == index) {
            unsigned c = motor->channel - 1u;
            mode[c / 2] |= (uint32_t)TIM_CCMR_PWM1_PRELOAD << 8 * (c % 2);
            outputs |=
                (uint32_t)((motor->pwm ? TIM_CCER_CCE : 0) | (motor->pwm_n ? TIM_CCER_CCNE : 0))
                << 4 * c;
        }
    }
    reg_write(&tim->CR1, 0);
    reg_write(&tim->DIER, 0);
    reg_write(&tim->CR2, 0); /* idle levels low */
    reg_write(&tim->PSC, 0);
    reg_write(&tim->ARR, period - 1);
    reg_write(&tim->CCMR[0], mode[0]);
    reg_write(&tim->CCMR[1], mode[1]);
    reg_write(&tim->CCER, outputs);
    /* BDTR is written last and in one write, because this write locks the settings. */
    reg_write(&tim->BDTR, dead_time_field(timer_hz, board.motor.dead_time_ns) | TIM_BDTR_OSSI |
                              TIM_BDTR_OSSR | TIM_BDTR_BKE |
                              (timer->break_active_low ? 0 : TIM_BDTR_BKP) | TIM_BDTR_LOCK_3);
    reg_write(&tim->CR1, TIM_CR1_ARPE | TIM_CR1_URS | TIM_CR1_CEN);
}

/* Sets zero voltage on every motor, effective at once. */
static void zero_duty(void) {
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        reg_write(compare_of(motor), complementary(motor) ? period / 2 : 0);
        gpio_write(motor->direction, false);
        backward[i] = reversing[i] = false;
    }
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        reg_write(&board.motor.timers[i].regs->EGR, TIM_EGR_UG);
}

int motor_init(uint32_t pwm_hz) {
    motor_off();
    period = 0;
    if (board.motor.motor_count == 0)
        return MOTOR_ERR_ABSENT;
    uint32_t timer_hz = clock_timer_hz(board.motor.timers[0].clock);
    uint32_t counts = pwm_hz == 0 ? 0 : timer_hz / pwm_hz;
    if (counts < PERIOD_MIN || counts > PERIOD_MAX)
        return MOTOR_ERR_RATE;
    period = counts;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        rcc_enable(board.motor.timers[i].clock);
        reg_set(DBGMCU_FREEZE_TIMERS, board.motor.timers[i].freeze);
        configure_timer(i, timer_hz);
        if (reg_read(&board.motor.timers[i].regs->ARR) != period - 1) {
            period = 0;
            return MOTOR_ERR_ABSENT; /* the emulator does not have this timer */
        }
    }
    /* The pins are configured only now, when the timers hold their outputs low. */
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        const board_motor_timer_t *timer = &board.motor.timers[i];
        gpio_alternate_in(timer->break_pin, timer->break_af,
                          timer->break_active_low ? GPIO_PULL_DOWN : GPIO_PULL_UP);
        irq_enable(timer->break_irq, IRQ_PRIORITY_BREAK);
    }
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        gpio_output(motor->direction, false);
        gpio_alternate_out(motor->pwm, motor->af, GPIO_PULL_DOWN);
        gpio_alternate_out(motor->pwm_n, motor->af, GPIO_PULL_DOWN);
    }
    zero_duty();
    return MOTOR_OK;
}

static int refuse_because_of_break(void) {
    motor_off();
    break_latched = true;
    return MOTOR_ERR_ESTOP;
}

int motor_enable(void) {
    if (period == 0)
        return MOTOR_ERR_ABSENT;
    zero_duty();
    /* While the break input is active its flag cannot be cleared and MOE cannot be set
     * (RM0090 "Using the break function"). */
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        reg_write(&board.motor.timers[i].regs->SR, 0);
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        if (reg_read(&board.motor.timers[i].regs->SR) & TIM_SR_BIF)
            return refuse_because_of_break();
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        reg_set(&board.motor.timers[i].regs->BDTR, TIM_BDTR_MOE);
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        /* MOE reads correctly only after some cycles, so the register is read twice. */
        (void)reg_read(&board.motor.timers[i].regs->BDTR);
        if ((reg_read(&board.motor.timers[i].regs->BDTR) & TIM_BDTR_MOE) == 0)
            return refuse_because_of_break();
    }
    /* The break interrupt is enabled last, so that nothing here overwrites what it sets. */
    break_latched = false;
    enabled = true;
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        reg_write(&board.motor.timers[i].regs->DIER, TIM_DIER_BIE);
    return MOTOR_OK;
}

void motor_off(void) {
    enabled = false;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        tim_t *tim = board.motor.timers[i].regs;
        uint32_t bdtr = reg_read(&tim->BDTR);
        if (bdtr & TIM_BDTR_MOE)
            reg_write(&tim->BDTR, bdtr & ~(uint32_t)TIM_BDTR_MOE);
    }
    for (unsigned i = 0; i < board.motor.motor_count; i++)
        gpio_write(board.motor.motors[i].direction, false);
}

bool motor_enabled(void) {
    bool on = enabled;
    for (unsigned i = 0; i < board.motor.timer_count && on; i++)
        on = (reg_read(&board.motor.timers[i].regs->BDTR) & TIM_BDTR_MOE) != 0;
    return on;
}

/* Sets duty and direction. The compare registers are preloaded: a new duty takes effect in the next
 * period, but the direction pin changes at once. So a reversal first sets zero duty and changes the
 * pin after a period with zero duty has begun. */
static void set_signed(unsigned index, uint32_t counts, bool negative) {
    const board_motor_t *motor = &board.motor.motors[index];
    tim_t *tim = timer_of(motor);
    if (counts == 0 || negative == backward[index]) {
        /* Zero duty needs no direction change, and does not cancel a waiting reversal. */
        reversing[index] = reversing[index] && counts == 0;
        reg_write(compare_of(motor), counts);
        return;
    }
    if (!reversing[index]) {
        reg_write(compare_of(motor), 0);
        reg_write(&tim->SR, ~(uint32_t)TIM_SR_UIF);
        reversing[index] = true;
        return;
    }
    if ((reg_read(&tim->SR) & TIM_SR_UIF) == 0)
        return;
    /* The break interrupt must not come between the test of `enabled` and the change of the pin. */
    uint32_t state = irq_lock();
    if (enabled) {
        gpio_write(motor->direction, negative);
        backward[index] = negative;
        reversing[index] = false;
        reg_write(compare_of(motor), counts);
    }
    irq_unlock(state);
}

void motor_set(unsigned motor, int32_t duty_q15) {
    if (motor >= board.motor.motor_count || !enabled)
        return;
    int32_t duty = duty_q15 > MOTOR_DUTY_ONE    ? MOTOR_DUTY_ONE
                   : duty_q15 < -MOTOR_DUTY_ONE ? -MOTOR_DUTY_ONE
                                                : duty_q15;
    const board_motor_t *m = &board.motor.motors[motor];
    if (complementary(m)) {
        uint32_t share = (uint32_t)(MOTOR_DUTY_ONE + duty); /* 0 to 2 * MOTOR_DUTY_ONE */
        reg_write(compare_of(m), (share * (period / 2) + MOTOR_DUTY_ONE / 2) / MOTOR_DUTY_ONE);
    } else {
        uint32_t size = (uint32_t)(duty < 0 ? -duty : duty);
        set_signed(motor, (size * period + MOTOR_DUTY_ONE / 2) / MOTOR_DUTY_ONE, duty < 0);
    }
}

bool motor_estop_latched(void) {
    return break_latched;
}

/* One handler for all timers. The flag cannot be cleared while the input is active, so the
 * interrupt is disabled until motor_enable; otherwise it would be raised again and again. */
void motor_break_irq(void) {
    bool active = false;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        tim_t *tim = board.motor.timers[i].regs;
        if (reg_read(&tim->SR) & TIM_SR_BIF) {
            reg_write(&tim->DIER, 0);
            active = true;
        }
    }
    if (active) {
        motor_off(); /* switches off the other timers too */
        break_latched = true;
        motor_estop_interrupt();
    }
}

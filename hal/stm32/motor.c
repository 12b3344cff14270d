/*
 * hal/motor.h on timers with a break input (TIM1 and TIM8; TIM1 and TIM15 to TIM17 on the F1). The
 * break input is the e-stop, which belongs to latch.c.
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
#include "hal/latch.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/gpio.h"

/* Counts of a PWM period. Fewer than 256 counts (8 bits) of duty are too coarse. */
enum { PERIOD_MIN = 256, PERIOD_MAX = 65535 };

static uint16_t period;       /* counts of one PWM period; 0: not configured */
static volatile bool enabled; /* between motor_enable and motor_off */
/* One bit for each motor: the level of its direction pin; it waits for a period with zero duty
 * before that pin changes. */
static uint8_t backward, reversing;
static_assert(BOARD_MOTORS_MAX <= 8, "one bit for each motor");

static tim_t *timer_of(const board_motor_t *motor) {
    return board.motor.timers[motor->timer].regs;
}

static volatile uint32_t *compare_of(const board_motor_t *motor, unsigned channel) {
    return &timer_of(motor)->CCR[channel - 1];
}

motor_info_t motor_info(void) {
    const board_stage_t *stage = &board.motor.stage;
    if (period == 0)
        return (motor_info_t){0};
    motor_info_t info = {.count = board.motor.motor_count,
                         .estop = true,
                         .enable = stage->enable != 0,
                         .brake = stage->brake != 0,
                         .fault = stage->fault != 0,
                         .damps = true,
                         .brake_open_ms = stage->brake_open_ms,
                         .brake_close_ms = stage->brake_close_ms};
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        info.estop = info.estop && board.motor.timers[i].break_pin != 0;
    /* With a direction pin, zero duty and off are both PWM low: only an enable pin tells them
     * apart. */
    for (unsigned i = 0; i < info.count; i++)
        info.damps = info.damps && (info.enable || board.motor.motors[i].direction == 0);
    return info;
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
        if (motor->timer != index)
            continue;
        unsigned c = motor->channel - 1u;
        mode[c / 2] |= (uint32_t)TIM_CCMR_PWM1_PRELOAD << 8 * (c % 2);
        outputs |= (uint32_t)((motor->pwm ? TIM_CCER_CCE : 0) | (motor->pwm_n ? TIM_CCER_CCNE : 0))
                   << 4 * c;
        if (motor->in2 != 0) {
            c = motor->in2_channel - 1u;
            mode[c / 2] |= (uint32_t)TIM_CCMR_PWM1_PRELOAD << 8 * (c % 2);
            outputs |= (uint32_t)TIM_CCER_CCE << 4 * c;
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
                              TIM_BDTR_OSSR | (timer->break_pin != 0 ? TIM_BDTR_BKE : 0) |
                              (timer->break_active_low ? 0 : TIM_BDTR_BKP) | TIM_BDTR_LOCK_3);
    reg_write(&tim->DIER, TIM_DIER_BIE);
    reg_write(&tim->CR1, TIM_CR1_ARPE | TIM_CR1_URS | TIM_CR1_CEN);
}

/* Sets zero voltage on every motor, effective at once. */
static void zero_duty(void) {
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        uint32_t zero = motor->in2 != 0 ? period : motor->direction != 0 ? 0 : period / 2u;
        reg_write(compare_of(motor, motor->channel), zero);
        if (motor->in2 != 0)
            reg_write(compare_of(motor, motor->in2_channel), zero);
        gpio_write(motor->direction, false);
    }
    backward = reversing = 0;
    for (unsigned i = 0; i < board.motor.timer_count; i++)
        reg_write(&board.motor.timers[i].regs->EGR, TIM_EGR_UG);
}

static void enable_pin(bool on) {
    gpio_write(board.motor.stage.enable, on != board.motor.stage.enable_low);
}

static void brake_pin(bool open) {
    gpio_write(board.motor.stage.brake, open != board.motor.stage.brake_low);
}

/* Uses no variable: .data and .bss are not filled yet. From reset until here the pins float: the
 * wires need pull-downs. */
void motor_safe(void) {
    gpio_output(board.motor.stage.enable, board.motor.stage.enable_low);
    gpio_output(board.motor.stage.brake, board.motor.stage.brake_low);
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        gpio_output(motor->pwm, false);
        gpio_output(motor->pwm_n, false);
        gpio_output(motor->in2, false);
        gpio_output(motor->direction, false);
    }
}

int motor_init(uint32_t pwm_hz) {
    motor_off();
    motor_safe();
    period = 0;
    if (board.motor.motor_count == 0)
        return MOTOR_ERR_ABSENT;
    uint32_t timer_hz = clock_timer_hz(board.motor.timers[0].clock);
    uint32_t counts = pwm_hz == 0 ? 0 : timer_hz / pwm_hz;
    if (counts < PERIOD_MIN || counts > PERIOD_MAX)
        return MOTOR_ERR_RATE;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        tim_t *tim = board.motor.timers[i].regs;
        rcc_enable(board.motor.timers[i].clock);
        reg_write(&tim->ARR, counts - 1);
        if (reg_read(&tim->ARR) != counts - 1)
            return MOTOR_ERR_ABSENT; /* the emulator does not have this timer */
    }
    period = (uint16_t)counts;
    latch_init(); /* before the timers look at their break inputs: a pin that floats is no e-stop */
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        reg_set(DBGMCU_FREEZE_TIMERS, board.motor.timers[i].freeze);
        configure_timer(i, timer_hz);
    }
    /* The timers hold their outputs low now, so that the pins stay low when they change over. */
    for (unsigned i = 0; i < board.motor.motor_count; i++) {
        const board_motor_t *motor = &board.motor.motors[i];
        gpio_alternate_out(motor->pwm, motor->af, GPIO_PULL_DOWN);
        gpio_alternate_out(motor->pwm_n, motor->af, GPIO_PULL_DOWN);
        gpio_alternate_out(motor->in2, motor->af, GPIO_PULL_DOWN);
    }
    zero_duty();
    return MOTOR_OK;
}

/* Returns whether no cause is latched. MOE that is clear while `enabled` is set was cleared by a
 * break, even if the pulse was too short to set the break flag. */
static bool nothing_latched(void) {
    if (latch_look() == 0 && !motor_enabled() && enabled)
        latch_set(LATCH_ESTOP);
    return latch_look() == 0;
}

/* Hardware and the NMI can switch off between any two steps here, so that each step which switches
 * on is followed by a look at the latch. */
int motor_enable(void) {
    if (period == 0)
        return MOTOR_ERR_ABSENT;
    uint32_t state = irq_lock();
    bool on = nothing_latched();
    if (on) {
        zero_duty();
        for (unsigned i = 0; i < board.motor.timer_count; i++) {
            tim_t *tim = board.motor.timers[i].regs;
            reg_set(&tim->BDTR, TIM_BDTR_MOE);
            (void)reg_read(&tim->BDTR); /* MOE reads correctly only after some cycles */
        }
        enabled = true;
        on = nothing_latched();
    }
    if (on) {
        enable_pin(true);
        on = nothing_latched();
    }
    if (!on)
        motor_off();
    irq_unlock(state);
    return on ? MOTOR_OK : MOTOR_ERR_LATCHED;
}

void motor_off(void) {
    enabled = false;
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        tim_t *tim = board.motor.timers[i].regs;
        uint32_t bdtr = reg_read(&tim->BDTR);
        if (bdtr & TIM_BDTR_MOE)
            reg_write(&tim->BDTR, bdtr & ~(uint32_t)TIM_BDTR_MOE);
    }
    brake_pin(false);
    enable_pin(false);
    for (unsigned i = 0; i < board.motor.motor_count; i++)
        gpio_write(board.motor.motors[i].direction, false);
}

bool motor_enabled(void) {
    bool on = enabled;
    for (unsigned i = 0; i < board.motor.timer_count && on; i++)
        on = (reg_read(&board.motor.timers[i].regs->BDTR) & TIM_BDTR_MOE) != 0;
    return on;
}

/* The break interrupt must not come between the test and the change of the pin. The second test is
 * for the NMI, and for a break whose interrupt waits for the lock. */
void motor_brake_open(bool open) {
    uint32_t state = irq_lock();
    if (open && motor_enabled())
        brake_pin(true);
    if (!open || !motor_enabled())
        brake_pin(false);
    irq_unlock(state);
}

/* Sets duty and direction. The compare registers are preloaded: a new duty takes effect in the next
 * period, but the direction pin changes at once. So a reversal first sets zero duty and changes the
 * pin after a period with zero duty has begun. */
static void set_signed(unsigned index, uint32_t counts, bool negative) {
    const board_motor_t *motor = &board.motor.motors[index];
    volatile uint32_t *compare = compare_of(motor, motor->channel);
    tim_t *tim = timer_of(motor);
    const uint8_t bit = (uint8_t)(1u << index);
    if (counts == 0 || negative == ((backward & bit) != 0)) {
        /* Zero duty needs no direction change, and does not cancel a waiting reversal. */
        if (counts != 0)
            reversing &= (uint8_t)~bit;
        reg_write(compare, counts);
        return;
    }
    if ((reversing & bit) == 0) {
        reg_write(compare, 0);
        reg_write(&tim->SR, ~(uint32_t)TIM_SR_UIF);
        reversing |= bit;
        return;
    }
    if ((reg_read(&tim->SR) & TIM_SR_UIF) == 0)
        return;
    /* The break interrupt must not come between the test of `enabled` and the change of the pin. */
    uint32_t state = irq_lock();
    if (enabled) {
        gpio_write(motor->direction, negative);
        backward ^= bit;
        reversing &= (uint8_t)~bit;
        reg_write(compare, counts);
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
    uint32_t size = (uint32_t)(duty < 0 ? -duty : duty);
    uint32_t counts = (size * period + MOTOR_DUTY_ONE / 2) / MOTOR_DUTY_ONE;
    if (m->in2 != 0) {
        /* One input stays high, and the other one is low for the duty: the motor is driven, and
         * shorted for the rest. A period that begins between the two writes gives a voltage between
         * the old and the new one. */
        reg_write(compare_of(m, m->channel), duty < 0 ? period - counts : period);
        reg_write(compare_of(m, m->in2_channel), duty < 0 ? period : period - counts);
    } else if (m->direction != 0) {
        set_signed(motor, counts, duty < 0);
    } else {
        uint32_t share = (uint32_t)(MOTOR_DUTY_ONE + duty); /* 0 to 2 * MOTOR_DUTY_ONE */
        reg_write(compare_of(m, m->channel),
                  (share * (period / 2u) + MOTOR_DUTY_ONE / 2) / MOTOR_DUTY_ONE);
    }
}

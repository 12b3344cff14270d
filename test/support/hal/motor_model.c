/* Implements test/support/hal/motor_model.h. */
#include "test/support/hal/motor_model.h"

#include <string.h>

#include "hal/host/host.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/stm32/handlers.h"
#include "hal/power.h"
#include "test/support/fake_clock.h"
#include "test/support/hal/regmodel.h"
#include "test/support/harness.h"

#ifdef HAL_STM32F1
enum { FREEZE_A = 1 << 10, FREEZE_B = 1 << 22, IRQ_A = 24, IRQ_B = 24 };
#define CLOCK_B RCC_TIM15
#else
enum { FREEZE_A = 1 << 0, FREEZE_B = 1 << 1, IRQ_A = 24, IRQ_B = 43 };
#define CLOCK_B RCC_TIM8
#endif

static const board_t original = {
    .motor = {.timer_count = 2,
              .timers = {{TIMER_A, RCC_TIM1, FREEZE_A, .break_pin = PIN(B, 12), .break_af = 1,
                          .break_irq = IRQ_A},
                         {TIMER_B, CLOCK_B, FREEZE_B, .break_pin = PIN(A, 6), .break_af = 3,
                          .break_active_low = true, .break_irq = IRQ_B}},
              .motor_count = 5,
              .motors = {{0, 1, .af = 1, .pwm = PIN(A, 8), .direction = PIN(C, 0)},
                         {0, 3, .af = 1, .pwm_n = PIN(B, 15), .direction = PIN(C, 1)},
                         {1, 2, .af = 3, .pwm = PIN(C, 7), .direction = PIN(C, 2)},
                         {0, 2, .af = 1, .pwm = PIN(A, 9), .pwm_n = PIN(B, 14)},
                         {1, 3, .af = 3, .pwm = PIN(C, 8), .in2 = PIN(C, 9), .in2_channel = 4}},
              .dead_time_ns = 500,
              .stage = {.enable = PIN(C, 3),
                        .brake = PIN(C, 4),
                        .brake_open_ms = 40,
                        .brake_close_ms = 30,
                        .fault = PIN(B, 1)}},
};
board_t model_board;
extern const board_t board __attribute__((alias("model_board")));

model_timer_t model_timer[2];
bool model_power_low;
unsigned model_wrong;
static struct { bool active, bdtr_written; } input[2];
static void (*event_call)(void), (*each_call)(void);
static unsigned event_at, accesses;
static bool in_interrupt;

bool power_low(void) {
    return model_power_low;
}

/* ------------------------------------------------------------------------------------- timers */
static tim_t *regs(unsigned timer) {
    return timer == 0 ? TIMER_A : TIMER_B;
}

static void change(const volatile void *reg, uint32_t clear, uint32_t set) {
    regmodel_set(reg, (regmodel_get(reg) & ~clear) | set);
}

bool model_moe(unsigned timer) {
    return (regmodel_get(&regs(timer)->BDTR) & BDTR_MOE) != 0;
}

static bool breaks(unsigned timer) {
    return input[timer].active && (regmodel_get(&regs(timer)->BDTR) & BDTR_BKE);
}

static void apply_break(unsigned timer) {
    if (breaks(timer)) {
        change(&regs(timer)->BDTR, BDTR_MOE, 0);
        change(&regs(timer)->SR, 0, TIM_SR_BIF);
    }
}

static void update_event(unsigned timer) {
    for (unsigned c = 0; c < 4; c++) {
        model_timer[timer].active_compare[c] = regmodel_get(&regs(timer)->CCR[c]);
    }
}

static uint32_t timer_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    unsigned timer =
        address < REGMODEL_ADDRESS(TIMER_A) || address > REGMODEL_ADDRESS(&TIMER_A->BDTR);
    tim_t *tim = regs(timer);
    bool lock3 = (regmodel_get(&tim->BDTR) & BDTR_LOCK) == BDTR_LOCK;
    (void)width;
    if (address == REGMODEL_ADDRESS(&tim->BDTR)) {
        uint32_t frozen = input[timer].bdtr_written ? BDTR_LOCK : 0;
        if (lock3) {
            frozen |= BDTR_DTG | BDTR_OSSI | BDTR_OSSR | BDTR_BKE | BDTR_BKP | BDTR_AOE;
        }
        input[timer].bdtr_written = true;
        value = (stored & frozen) | (value & ~frozen);
        if (input[timer].active && (value & BDTR_BKE)) {
            value &= ~(uint32_t)BDTR_MOE;
            change(&tim->SR, 0, TIM_SR_BIF);
        }
        model_timer[timer].was_on = model_timer[timer].was_on || (value & BDTR_MOE);
        return value;
    }
    if (address == REGMODEL_ADDRESS(&tim->SR)) {
        return (value & stored) | (breaks(timer) ? TIM_SR_BIF : 0);
    }
    if (address == REGMODEL_ADDRESS(&tim->EGR)) {
        if (value & TIM_EGR_UG) {
            update_event(timer);
        }
        return 0;
    }
    bool locked = address == REGMODEL_ADDRESS(&tim->CCMR[0]) ||
                  address == REGMODEL_ADDRESS(&tim->CCMR[1]) ||
                  address == REGMODEL_ADDRESS(&tim->CR2);
    return lock3 && locked ? stored : value;
}

void model_period_ends(unsigned timer) {
    update_event(timer);
    change(&regs(timer)->SR, 0, TIM_SR_UIF);
}

/* --------------------------------------------------------------------------------------- pins */
static void set_input(pin_t pin, bool high) {
    uint32_t bit = 1u << PIN_NUMBER(pin);
    change(&GPIO(PIN_PORT(pin))->IDR, bit, high ? bit : 0);
}

void model_press(unsigned timer, bool active) {
    input[timer].active = active;
    set_input(original.motor.timers[timer].break_pin,
              active != original.motor.timers[timer].break_active_low);
    apply_break(timer);
}

void model_pulse(unsigned timer) {
    model_press(timer, true);
    model_press(timer, false);
}

void model_glitch(unsigned timer) {
    change(&regs(timer)->BDTR, BDTR_MOE, 0);
}

void model_driver_fault(bool active) {
    set_input(original.motor.stage.fault, !active);
}

bool model_level(pin_t pin) {
    return regmodel_get(&GPIO(PIN_PORT(pin))->ODR) >> PIN_NUMBER(pin) & 1;
}

bool model_off(void) {
    bool off = !model_moe(0) && !model_moe(1);
    for (unsigned i = 0; i <= 4; i++) { /* direction, enable, brake */
        off = off && !model_level(PIN(C, i));
    }
    return off;
}

static uint32_t set_reset_write(uint32_t address, unsigned width, uint32_t value, uint32_t stored) {
    static const struct { unsigned timer, channel; } output[3] = {{0, 0}, {0, 2}, {1, 1}};
    gpio_t *port = GPIO((address - GPIO_BASE) / 0x400);
    uint32_t before = regmodel_get(&port->ODR);
    (void)width;
    change(&port->ODR, value >> 16, value & 0xFFFF);
    uint32_t changed = before ^ regmodel_get(&port->ODR);
    for (unsigned i = 0; i < 3 && port == GPIO(PORT_C); i++) {
        model_wrong += (changed >> i & 1) && model_moe(output[i].timer) &&
                       model_timer[output[i].timer].active_compare[output[i].channel] != 0;
    }
    return stored;
}

/* 1: an output of the port, 2: an output of a peripheral, 0: not driven. */
static unsigned drives(pin_t pin) {
    unsigned n = PIN_NUMBER(pin);
#ifdef HAL_STM32F1
    uint32_t mode = regmodel_get(&GPIO(PIN_PORT(pin))->CR[n / 8]) >> 4 * (n % 8) & 15;
    return (mode & 3) == 0 ? 0 : mode & 8 ? 2 : 1;
#else
    uint32_t mode = regmodel_get(&GPIO(PIN_PORT(pin))->MODER) >> 2 * n & 3;
    return mode == 1 || mode == 2 ? mode : 0;
#endif
}

static bool timer_holds_low(const board_motor_t *m, pin_t pin) {
    unsigned channel = pin == m->in2 ? m->in2_channel : m->channel;
    uint32_t output = (pin == m->pwm_n ? 4u : 1u) << 4 * (channel - 1u);
    uint32_t bdtr = regmodel_get(&regs(m->timer)->BDTR);
    return (regmodel_get(&regs(m->timer)->CCER) & output) && (bdtr & BDTR_OSSI) &&
           !(bdtr & BDTR_MOE);
}

bool model_holds_low(pin_t pin) {
    if (drives(pin) == 2) {
        for (unsigned i = 0; i < model_board.motor.motor_count; i++) {
            const board_motor_t *m = &model_board.motor.motors[i];
            if (pin == m->pwm || pin == m->pwm_n || pin == m->in2) {
                return timer_holds_low(m, pin);
            }
        }
    }
    return drives(pin) == 1 && !model_level(pin);
}

/* ------------------------------------------------------------------------------------- accesses */
static bool interrupt_waits(void) {
    bool waits = false;
    for (unsigned i = 0; i < 2; i++) {
        waits = waits || ((regmodel_get(&regs(i)->SR) & TIM_SR_BIF) &&
                          (regmodel_get(&regs(i)->DIER) & TIM_DIER_BIE) &&
                          host_irq.priority[original.motor.timers[i].break_irq] != HOST_IRQ_OFF);
    }
    return waits;
}

void model_settle(void) {
    if (!in_interrupt && host_irq.lock_depth == 0 && interrupt_waits()) {
        in_interrupt = true;
        motor_break_irq();
        in_interrupt = false;
        model_wrong += interrupt_waits();
    }
}

static void step(void) {
    void (*event)(void) = event_call;
    if (event != NULL && accesses == event_at) {
        event_call = NULL;
        event();
    }
    accesses++;
    model_settle();
    if (each_call != NULL) {
        each_call();
    }
}

uint32_t __real_reg_read(const volatile uint32_t *reg);
uint32_t __wrap_reg_read(const volatile uint32_t *reg);
uint32_t __wrap_reg_read(const volatile uint32_t *reg) {
    step();
    return __real_reg_read(reg);
}

void __real_reg_write(volatile uint32_t *reg, uint32_t value);
void __wrap_reg_write(volatile uint32_t *reg, uint32_t value);
void __wrap_reg_write(volatile uint32_t *reg, uint32_t value) {
    step();
    __real_reg_write(reg, value);
}

void model_at(unsigned at, void (*event)(void)) {
    event_call = event;
    event_at = at;
    accesses = 0;
}

void model_each(void (*each)(void)) {
    each_call = each;
}

unsigned model_accesses(void) {
    return accesses;
}

static void quiet_chip(void) {
    regmodel_reset();
    host_irq_reset();
    memset(input, 0, sizeof input);
    memset(model_timer, 0, sizeof model_timer);
    regmodel_device(REGMODEL_ADDRESS(TIMER_A), REGMODEL_ADDRESS(&TIMER_A->BDTR), NULL, timer_write);
    regmodel_device(REGMODEL_ADDRESS(TIMER_B), REGMODEL_ADDRESS(&TIMER_B->BDTR), NULL, timer_write);
    for (unsigned port = PORT_A; port <= PORT_C; port++) {
        regmodel_device(REGMODEL_ADDRESS(&GPIO(port)->BSRR), REGMODEL_ADDRESS(&GPIO(port)->BSRR),
                        NULL, set_reset_write);
    }
    for (unsigned timer = 0; timer < 2; timer++) {
        model_press(timer, false);
    }
    model_driver_fault(false);
    model_power_low = false;
}

void model_start(void) {
    event_call = each_call = NULL;
    model_board = original;
    fake_clock = (clock_info_t){.core_hz = HZ};
    fake_bus_hz = HZ / 2;
    fake_timer_hz = HZ;
    quiet_chip();
    /* Takes back what the previous test left in the drivers. */
    motor_off();
    (void)latch_read();
    (void)latch_clear();
    quiet_chip();
    model_wrong = 0;
}

/* --------------------------------------------------------------------------- around every test */

void setUp(void);
void setUp(void) {
    model_start();
}

void tearDown(void);
void tearDown(void) {
    TEST_ASSERT_EQUAL_UINT_MESSAGE(0, model_wrong,
                                   "a direction changed under load, or an interrupt without end");
    TEST_ASSERT_EQUAL_UINT(0, host_irq.lock_depth);
    TEST_ASSERT_EQUAL_UINT(0, host_irq.unlock_errors);
}

/*
 * hal/latch.h on the break inputs of the motor timers, the fault pin of the drivers and the causes
 * that interrupts set.
 *
 * A break clears MOE and sets BIF in the timer, without clock or program. BIF cannot be cleared
 * while the input is active (RM0090 "Using the break function"), so it is both the memory of a
 * short pulse and the level of a long one. Only rearm() clears it, and only while the outputs are
 * off. The break interrupt switches off what the timer does not: the other timer, enable, brake.
 */
#include "hal/latch.h"

#include <stdatomic.h>

#include "hal/irq.h"
#include "hal/motor.h"
#include "hal/reg.h"
#include "hal/stm32/board.h"
#include "hal/stm32/gpio.h"
#include "hal/stm32/handlers.h"
#include "hal/power.h"

/* Bit 6 + i: the break input of timer i was active. Kept beside the causes and never cleared. */
enum { SEEN_SHIFT = 6, ESTOP_SEEN = 3 << SEEN_SHIFT };
static_assert(BOARD_TIMERS_MAX == 2 && LATCH_POWER < 1 << SEEN_SHIFT, "the bits of SEEN");

/* Atomic, because irq_lock does not hold back the NMI of the clock security. */
static atomic_uchar latched;
static uint8_t told;   /* causes that latch_read has returned: no other can be cleared */
static uint8_t inputs; /* timers whose break input is read; 0: latch_init has not been called */

static tim_t *timer(unsigned index) {
    return board.motor.timers[index].regs;
}

void latch_init(void) {
    for (unsigned i = 0; i < board.motor.timer_count; i++) {
        const board_motor_timer_t *t = &board.motor.timers[i];
        if (t->break_pin != 0) {
            gpio_alternate_in(t->break_pin, t->break_af,
                              t->break_active_low ? GPIO_PULL_DOWN : GPIO_PULL_UP);
            irq_enable(t->break_irq, IRQ_PRIORITY_BREAK);
        }
    }
    gpio_input(board.motor.stage.fault, GPIO_PULL_UP);
    inputs = (uint8_t)board.motor.timer_count;
}

/* The clock security also sets BIF; that is not the e-stop. */
static bool break_flag(void) {
    bool set = false;
    for (unsigned i = 0; i < inputs; i++)
        set |= (reg_read(&timer(i)->SR) & TIM_SR_BIF) != 0;
    return set && (latched & LATCH_CLOCK) == 0;
}

/* Returns the bits SEEN of the break inputs that are active now: the level of the wire, not a flag
 * that noise may have set. */
static uint32_t open_inputs(void) {
    uint32_t open = 0;
    for (unsigned i = 0; i < inputs; i++) {
        const board_motor_timer_t *t = &board.motor.timers[i];
        if (t->break_pin != 0 && gpio_read(t->break_pin) != t->break_active_low)
            open |= 1u << (SEEN_SHIFT + i);
    }
    return open;
}

uint32_t latch_active(void) {
    uint32_t active = latched & LATCH_CLOCK; /* a lost oscillator does not come back */
    if (open_inputs() != 0)
        active |= LATCH_ESTOP;
    if (inputs != 0 && board.motor.stage.fault != 0 &&
        gpio_read(board.motor.stage.fault) == board.motor.stage.fault_high)
        active |= LATCH_DRIVER;
    return active | (power_low() ? LATCH_POWER : 0);
}

uint32_t latch_look(void) {
    uint32_t now = latch_active() | open_inputs() | (break_flag() ? LATCH_ESTOP : 0);
    if (now & ~(uint32_t)latched)
        latch_set(now);
    return latched & ~(uint32_t)ESTOP_SEEN;
}

uint32_t latch_read(void) {
    told = (uint8_t)latch_look();
    return told;
}

bool latch_estop_seen(void) {
    uint32_t all = ((1u << inputs) - 1) << SEEN_SHIFT;
    return inputs != 0 && (latched & all) == all;
}

void latch_set(uint32_t cause) {
    motor_off();
    atomic_fetch_or(&latched, (uint8_t)cause);
}

/* Clears the break flags and enables their interrupt. Returns LATCH_ESTOP if a flag is set again:
 * then the input is active, or was active a moment ago. */
static uint32_t rearm(void) {
    for (unsigned i = 0; i < inputs; i++)
        reg_write(&timer(i)->SR, ~(uint32_t)TIM_SR_BIF); /* writing 1 changes no other flag */
    if (break_flag())
        return LATCH_ESTOP;
    for (unsigned i = 0; i < inputs; i++)
        reg_write(&timer(i)->DIER, TIM_DIER_BIE);
    return 0;
}

uint32_t latch_clear(void) {
    uint32_t state = irq_lock();
    /* A cause that the tick does not know stays: else the tick would find the outputs off without
     * a reason, and switch them on. A known one has switched them off, so that a pulse which comes
     * now changes nothing. */
    uint32_t stay = ~(uint32_t)told | latch_active() | LATCH_CLOCK | ESTOP_SEEN;
    if ((stay & LATCH_ESTOP) == 0)
        stay |= rearm();
    atomic_fetch_and(&latched, (uint8_t)stay);
    told &= (uint8_t)stay;
    irq_unlock(state);
    return latch_look();
}

/* One handler for all timers. The flag stays while the input is active, so the interrupt is
 * disabled until rearm(); otherwise it would be raised again and again. */
void motor_break_irq(void) {
    for (unsigned i = 0; i < inputs; i++)
        if (reg_read(&timer(i)->SR) & TIM_SR_BIF) {
            reg_write(&timer(i)->DIER, 0);
            latch_set(latched & LATCH_CLOCK ? LATCH_CLOCK : LATCH_ESTOP);
        }
}

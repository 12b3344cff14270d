/*
 * A board with two motor timers on the register model, for the tests of motor.c and latch.c (RM0090
 * and RM0041, "Using the break function" and TIMx_BDTR). BDTR locks itself; a break clears MOE and
 * sets BIF; while the input is active MOE cannot be set and BIF cannot be cleared; compare registers
 * are preloaded; BIF with BIE calls motor_break_irq unless irq_lock holds.
 *
 * An event can happen before any access of the driver to a register: a test that repeats a call with
 * the event at access 0, 1, 2 and so on tries every order of driver and hardware. The tests link
 * with --wrap=reg_read and --wrap=reg_write for this.
 */
#ifndef TEST_SUPPORT_HAL_MOTOR_MODEL_H
#define TEST_SUPPORT_HAL_MOTOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/stm32/board.h"

enum { HZ = 168000000, PWM_HZ = 20000, PERIOD = 8400 };

#ifdef HAL_STM32F1
#define TIMER_B TIM15
#else
#define TIMER_B TIM8
#endif
#define TIMER_A TIM1

enum {
    BDTR_DTG = 0xFF,
    BDTR_LOCK = 3 << 8,
    BDTR_OSSI = 1 << 10,
    BDTR_OSSR = 1 << 11,
    BDTR_BKE = 1 << 12,
    BDTR_BKP = 1 << 13,
    BDTR_AOE = 1 << 14,
    BDTR_MOE = 1 << 15,
};

/* The table that the drivers read; model_start restores it. Motors: 0 on CHx with direction, 1 on
 * CHxN with direction, 2 with direction on the other timer, 3 complementary, 4 IN/IN. Direction on
 * PC0 to PC2, enable PC3, brake PC4, fault PB1; break PB12 (active high) and PA6 (active low). */
extern board_t model_board;

typedef struct {
    bool was_on;                /* MOE has been set since model_start */
    uint32_t active_compare[4]; /* CCR of the last update event, which the output uses */
} model_timer_t;
extern model_timer_t model_timer[2];

extern bool model_power_low; /* what power_low returns */
/* A direction pin changed under load, or an interrupt did not end. */
extern unsigned model_wrong;

/* The chip after a reset with every input quiet; the drivers' latch is cleared as far as that
 * goes. */
void model_start(void);

/* Inputs. A pulse begins and ends between two accesses; a glitch is too short for BIF. */
void model_press(unsigned timer, bool active);
void model_pulse(unsigned timer);
void model_glitch(unsigned timer);
void model_driver_fault(bool active);
void model_period_ends(unsigned timer);

/* Outputs. */
bool model_moe(unsigned timer);
bool model_level(pin_t pin); /* output register of a pin */
bool model_off(void);        /* both MOE clear; enable, brake and direction low */
/* The pin is driven low: by its port, or by a timer that holds it at the idle level. */
bool model_holds_low(pin_t pin);

/* Calls `event` before access number `at` from now; `each` is called before every access. */
void model_at(unsigned at, void (*event)(void));
void model_each(void (*each)(void));
unsigned model_accesses(void); /* since model_at */
void model_settle(void);       /* runs an interrupt that waits */

#endif

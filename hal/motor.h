/* Motor outputs: PWM with a direction pin, or complementary PWM, as the board's table states. The
 * outputs are off at reset, after a fault, while the e-stop (BKIN of the timers) is active, and
 * while a debugger halts the core. */
#ifndef HAL_MOTOR_H
#define HAL_MOTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { MOTOR_OK = 0, MOTOR_ERR_RATE = -1, MOTOR_ERR_ESTOP = -2, MOTOR_ERR_ABSENT = -3 };
enum { MOTOR_DUTY_ONE = 32767 }; /* duty for the full supply voltage */

unsigned motor_count(void);

/* Configures timers and pins; the outputs stay off. Returns MOTOR_ERR_RATE if pwm_hz cannot be
 * reached. */
int motor_init(uint32_t pwm_hz);

/* Switches the outputs on with zero duty. Returns MOTOR_ERR_ESTOP if the e-stop is still active. */
int motor_enable(void);

/*
 * Switches all outputs off at once. It may be called at any time: before motor_init, in a fault
 * handler, several times.
 */
void motor_off(void);
bool motor_enabled(void);

/* Duty in Q15, -32767 to 32767, for motor 0 to motor_count() - 1. Larger values are clamped. */
void motor_set(unsigned motor, int32_t duty_q15);

/* Returns true after the e-stop became active, until motor_enable clears the latch; that requires
 * that the e-stop is released. */
bool motor_estop_latched(void);

/* Provided by the firmware; called from the break interrupt after the outputs are off. */
void motor_estop_interrupt(void);

#endif

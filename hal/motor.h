/* The motor stages: PWM with a direction pin, two PWM inputs (IN/IN), or complementary PWM, as the
 * board's table states, with the enable and brake outputs that they share. The outputs are off and
 * the brake is closed at reset and while a cause is latched (hal/latch.h). A debugger that halts
 * the core switches the PWM off, but enable and brake keep their levels: an arm can fall. */
#ifndef HAL_MOTOR_H
#define HAL_MOTOR_H

#include <stdbool.h>
#include <stdint.h>

enum { MOTOR_OK = 0, MOTOR_ERR_RATE = -1, MOTOR_ERR_LATCHED = -2, MOTOR_ERR_ABSENT = -3 };
enum { MOTOR_DUTY_ONE = 32767 }; /* duty for the full supply voltage */

/* What the stages of this board can do. */
typedef struct {
    unsigned count; /* motors; 0 if the timers do not answer */
    bool estop;     /* every timer has an e-stop input */
    bool enable;    /* there is an enable output */
    bool brake;     /* there is a brake output */
    bool fault;     /* there is an input for the fault pin of the motor drivers */
    bool damps;     /* zero duty and off differ at the pins: damp is not release */
    uint16_t brake_open_ms, brake_close_ms; /* times that the brakes take */
} motor_info_t;

/* Drives every pin of the stages to its safe level; the first thing after a reset, before the
 * clocks and before the variables have their values. */
void motor_safe(void);
/* Configures timers, pins and the latch; the outputs stay off. Returns MOTOR_ERR_RATE if pwm_hz
 * cannot be reached. */
int motor_init(uint32_t pwm_hz);
motor_info_t motor_info(void);

/* Switches the outputs on with zero duty; the brake stays closed. Returns MOTOR_ERR_LATCHED while a
 * cause is latched; it never clears one. */
int motor_enable(void);

/*
 * Switches all outputs off and closes the brake, at once. It may be called at any time: before
 * motor_init, in a fault handler, several times.
 */
void motor_off(void);
bool motor_enabled(void);

/* Opens or closes the brake. It opens only while the outputs are on. */
void motor_brake_open(bool open);

/* Duty in Q15, -32767 to 32767, for motor 0 to motor_info().count - 1. Larger values are clamped. */
void motor_set(unsigned motor, int32_t duty_q15);

#endif

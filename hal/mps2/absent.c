/* Functions for hardware that the MPS2 board does not have: motors, encoders, switches, supply
 * measurement, a usable watchdog. Each function answers as its header says for absent hardware, so
 * the firmware needs no special case. */
#include "hal/encoder.h"
#include "hal/motor.h"
#include "hal/reset.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/watchdog.h"

unsigned motor_count(void) {
    return 0;
}

int motor_init(uint32_t pwm_hz) {
    (void)pwm_hz;
    return MOTOR_ERR_ABSENT;
}

int motor_enable(void) {
    return MOTOR_ERR_ABSENT;
}

void motor_off(void) {}

bool motor_enabled(void) {
    return false;
}

void motor_set(unsigned motor, int32_t duty_q15) {
    (void)motor;
    (void)duty_q15;
}

bool motor_estop_latched(void) {
    return false;
}

unsigned encoder_count(void) {
    return 0;
}

void encoder_init(void) {}

encoder_status_t encoder_read(unsigned encoder, uint16_t *counts) {
    (void)encoder;
    (void)counts;
    return ENCODER_ERR_ABSENT;
}

unsigned switches_count(void) {
    return 0;
}

void switches_init(void) {}

uint32_t switches_read(void) {
    return 0;
}

void supply_init(void) {}

int32_t supply_read_mV(void) {
    return SUPPLY_ERR_ABSENT;
}

int watchdog_start(uint32_t timeout_ms) {
    (void)timeout_ms;
    return WATCHDOG_ERR_RANGE;
}

void watchdog_feed(void) {}

reset_reason_t reset_reason(void) {
    return RESET_UNKNOWN;
}

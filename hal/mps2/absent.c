/* Functions for hardware that the MPS2 board does not have: motors, encoders, switches, supply
 * measurement, a usable watchdog. Each function answers as its header says for absent hardware, so
 * the firmware needs no special case. */
#include "hal/encoder.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/power.h"
#include "hal/reset.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/watchdog.h"

void motor_safe(void) {}

motor_info_t motor_info(void) {
    return (motor_info_t){0};
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

void motor_brake_open(bool open) {
    (void)open;
}

void latch_init(void) {}

uint32_t latch_read(void) {
    return 0;
}

uint32_t latch_active(void) {
    return 0;
}

bool latch_estop_seen(void) {
    return false;
}

void latch_set(uint32_t cause) {
    (void)cause; /* nothing is on */
}

uint32_t latch_clear(void) {
    return 0;
}

unsigned encoder_count(void) {
    return 0;
}

encoder_info_t encoder_info(unsigned encoder) {
    (void)encoder;
    return (encoder_info_t){0, false};
}

void encoder_init(void) {}

void encoder_start(void) {}

encoder_status_t encoder_read(unsigned encoder, uint16_t *counts) {
    (void)encoder;
    (void)counts;
    return ENCODER_ERR_ABSENT;
}

uint32_t encoder_busy_ns(void) {
    return 0;
}

unsigned switches_count(void) {
    return 0;
}

void switches_init(void) {}

uint32_t switches_read(void) {
    return 0;
}

int32_t supply_full_mV(void) {
    return 0;
}

void supply_init(void) {}

supply_status_t supply_read(int32_t *mV) {
    (void)mV;
    return SUPPLY_ERR_ABSENT;
}

int watchdog_start(void) {
    return WATCHDOG_ERR_RANGE;
}

bool watchdog_running(void) {
    return false;
}

void watchdog_feed(void) {}

bool watchdog_tick(bool outputs_on) {
    (void)outputs_on;
    return false;
}

void power_init(void) {}

bool power_low(void) {
    return false;
}

reset_reason_t reset_reason(void) {
    return RESET_UNKNOWN;
}

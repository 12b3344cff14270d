/* Describes the hardware to the application: app_hardware and app_unlatch of
 * firmware/control/io.h. */
#include "firmware/control/io.h"
#include "firmware/tick.h"
#include "hal/clock.h"
#include "hal/encoder.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/watchdog.h"

_Static_assert((int)CAUSE_ESTOP == (int)LATCH_ESTOP && (int)CAUSE_DRIVER == (int)LATCH_DRIVER &&
                   (int)CAUSE_TICK == (int)LATCH_TICK && (int)CAUSE_CLOCK == (int)LATCH_CLOCK &&
                   (int)CAUSE_POWER == (int)LATCH_POWER,
               "the application and the HAL name the causes by the same bits");

static uint32_t first(unsigned count) {
    return (1u << count) - 1;
}

void app_hardware(hardware_t *out) {
    const motor_info_t motor = motor_info();
    *out = (hardware_t){.motors = first(motor.count),
                        .encoders = first(encoder_count()),
                        .switches = first(switches_count()),
                        .busy_ns = encoder_busy_ns(),
                        .supply_full_mV = supply_full_mV(),
                        .brake_open_ms = motor.brake_open_ms,
                        .brake_close_ms = motor.brake_close_ms,
                        .active = (uint8_t)latch_active(),
                        .latched = (uint8_t)tick_latched()};
    for (unsigned i = 0; i < encoder_count() && i < HARDWARE_JOINTS; i++) {
        const encoder_info_t encoder = encoder_info(i);
        out->counts[i] = encoder.counts;
        out->absolute |= (uint32_t)encoder.absolute << i;
    }
    out->flags =
        (uint16_t)((motor.estop ? HARDWARE_ESTOP : 0) |
                   (latch_estop_seen() ? HARDWARE_ESTOP_SEEN : 0) |
                   (motor.enable ? HARDWARE_ENABLE : 0) | (motor.brake ? HARDWARE_BRAKE : 0) |
                   (motor.fault ? HARDWARE_DRIVER_FAULT : 0) | (motor.damps ? HARDWARE_DAMPS : 0) |
                   (out->supply_full_mV > 0 ? HARDWARE_SUPPLY : 0) |
                   (watchdog_running() ? HARDWARE_WATCHDOG : 0) |
                   (clock_info()->source == CLOCK_CRYSTAL_PLL ? HARDWARE_CLOCK : 0));
}

uint32_t app_unlatch(void) {
    return latch_clear();
}

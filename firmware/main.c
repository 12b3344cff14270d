/* The firmware: starts the board, prints what it found, runs the tick and the link, and prints the
 * cost of the tick once. */
#include "firmware/app/version.h"
#include "firmware/port.h"
#include "firmware/print.h"
#include "firmware/tick.h"
#include "hal/clock.h"
#include "hal/cpu.h"
#include "hal/cycles.h"
#include "hal/encoder.h"
#include "hal/fault.h"
#include "hal/motor.h"
#include "hal/power.h"
#include "hal/reset.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/tick.h"
#include "hal/uart.h"
#include "hal/watchdog.h"

enum { PWM_HZ = 20000, REPORT_TICKS = 1000 };

static void print_boot(const clock_info_t *clock) {
    print_text("appell ");
    print_text(version_number);
    print_text(" (");
    print_text(version_commit);
    print_text(") on " BOARD_NAME ", build ");
    const uint8_t *id = fault_build_id();
    for (unsigned i = 0; i < 4; i++)
        print_hex(id[i], 2);
    print_text(", reset by ");
    print_text(reset_reason_name(reset_reason()));
    print_text("\nclock: ");
    print_number(clock->core_hz);
    print_text(" Hz");
    if (clock->note != NULL) {
        print_text(", ");
        print_text(clock->note);
    }
    print_text("\n");
}

/* Prints the crash before this boot, if there was one. The record stays until the tool has fetched
 * it. */
static void print_crash(void) {
    const fault_record_t *crash = fault_record();
    if (crash != NULL)
        fault_record_print(crash);
}

/* A restart by watchdog or crash is a fault until the user clears it. */
static void latch_start(void) {
    const reset_reason_t reason = reset_reason();
    if (reason == RESET_WATCHDOG || reason == RESET_WINDOW_WATCHDOG)
        app_fault(tick_app(), APP_FAULT_WATCHDOG);
    else if (fault_record() != NULL)
        app_fault(tick_app(), APP_FAULT_CRASH);
}

static void print_ticks(uint32_t rate_hz) {
    tick_stats_t stats;
    tick_stats(&stats);
    print_text("tick: ");
    print_number(stats.ticks);
    print_text(" ticks at ");
    print_number(rate_hz);
    print_text(cycles_are_instructions() ? " Hz, instructions per interrupt: best "
                                         : " Hz, cycles per interrupt: best ");
    print_number(stats.best);
    print_text(" worst ");
    print_number(stats.worst);
    print_text(", overruns ");
    print_number(stats.overruns);
    print_text("\n");
}

/* Sets the tick timer to the application's rate if that has changed, and returns it. The rate can
 * change only while the application is idle. */
static uint32_t follow_rate(uint32_t running_hz) {
    float wanted_hz = 0;
    (void)app_get(tick_app(), PARAMETER_rate_hz, 0, &wanted_hz);
    if ((uint32_t)wanted_hz != running_hz && tick_start((uint32_t)wanted_hz) != TICK_OK)
        print_text("tick: the timer cannot run at this rate\n");
    return (uint32_t)wanted_hz;
}

int main(void) {
    const clock_info_t *clock = clock_init();
    uart_init(LINK_BAUD);
    cycles_init();
    encoder_init();
    switches_init();
    supply_init();
    /* A board without motors, power monitor or watchdog simulates the arm: fit.c refuses the real
     * one. */
    (void)motor_init(PWM_HZ);
    power_init();
    (void)watchdog_start();
    app_init(tick_app());
    print_crash();
    print_boot(clock);
    link_start(tick_app());
    latch_start();
    uint32_t rate_hz = 0, fed_at = 0;
    bool reported = false;
    for (;;) {
        rate_hz = follow_rate(rate_hz);
        tick_background(rate_hz);
        if (!link_poll())
            cpu_idle();
        if (tick_count() != fed_at) { /* feeds the watchdog only if both tick and background run */
            fed_at = tick_count();
            watchdog_feed();
        }
        if (!reported && tick_count() >= REPORT_TICKS) {
            reported = true;
            print_ticks(rate_hz);
        }
    }
}

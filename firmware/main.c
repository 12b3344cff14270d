// The firmware: brings the board up, says what it found, lets the tick run and reports on it.
#include "firmware/print.h"
#include "firmware/tick.h"
#include "hal/clock.h"
#include "hal/cpu.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/motor.h"
#include "hal/reset.h"
#include "hal/tick.h"
#include "hal/uart.h"

enum { CONSOLE_BAUD = 921600, TICK_RATE_HZ = 1000, REPORT_TICKS = 1000 };

static void print_boot(const clock_info_t *clock) {
    print_text("appell " BOARD_NAME " build ");
    const uint8_t *id = fault_build_id();
    for (unsigned i = 0; i < 4; i++) {
        print_hex(id[i], 2);
    }
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

// The crash before this boot, if there was one: told once.
static void print_crash(void) {
    const fault_record_t *crash = fault_record();
    if (crash != NULL) {
        fault_record_print(crash);
        fault_record_clear();
    }
}

static void print_ticks(void) {
    tick_stats_t stats;
    tick_stats(&stats);
    print_text("tick: ");
    print_number(stats.ticks);
    print_text(" ticks at ");
    print_number(TICK_RATE_HZ);
    print_text(cycles_are_instructions() ? " Hz, instructions in the interrupt best "
                                         : " Hz, cycles in the interrupt best ");
    print_number(stats.best);
    print_text(" worst ");
    print_number(stats.worst);
    print_text(", overruns ");
    print_number(stats.overruns);
    print_text("\n");
}

int main(void) {
    motor_off();
    const clock_info_t *clock = clock_init();
    uart_init(CONSOLE_BAUD);
    cycles_init();
    print_crash();
    print_boot(clock);
    if (tick_start(TICK_RATE_HZ) != TICK_OK) {
        print_text("tick: the timer cannot do this rate\n");
    }
    uint32_t reported = 0;
    for (;;) {
        cpu_idle();
        uint32_t ticks = tick_count();
        if (ticks - reported >= REPORT_TICKS) {
            reported = ticks;
            print_ticks();
        }
    }
}

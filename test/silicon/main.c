/* The order of the self-test (test/silicon/silicon.h). It waits for the host, runs the steps,
 * and goes on after each reset that a step causes; any other reset begins again. */
#include "test/silicon/silicon.h"

#include "firmware/print.h"
#include "hal/clock.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/reset.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/tick.h"
#include "hal/uart.h"

enum { BAUD = 921600, MAGIC = 0x51C0DE01, READY_MS = 500 };
enum { OK, FAILED, UNSEEN };

#define CPUID REG_BLOCK(reg_t, 0xE000ED00)

__attribute__((section(".noinit"))) silicon_kept_t kept;
static size_t room; /* free bytes of the empty transmit ring */

int main(void);

static const struct {
    void (*run)(void);
    void (*after)(void); /* the step causes a reset, and this runs after it */
} steps[] = {
    {step_clock, NULL},
    {step_lsi, NULL},
    {step_hse, NULL},
    {step_watchdog, step_watchdog_after},
    {step_pwm, NULL},
    {step_break, NULL},
    {step_spi, NULL},
    {step_adc, NULL},
    {step_uart, NULL},
    {step_fpu, NULL},
    {step_flash, NULL},
    {step_cycles, NULL},
    /* Last, because after a reset of the core the emulator's tick has a wrong period. */
    {step_stack, step_stack_after},
    {step_unaligned, step_unaligned_after},
    {step_hard_fault, step_hard_fault_after},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

void wait_us(uint32_t us) {
    const uint32_t start = cycles_now();
    while (steps_us(cycles_steps(start, cycles_now())) < us) {
    }
}

uint32_t steps_us(uint32_t steps_) {
    return (uint32_t)((uint64_t)steps_ * 1000000 / cycles_steps_hz());
}

void drain(void) {
    uint32_t polls = wait_polls(clock_info()->core_hz, 1000);
    while (uart_write_free() < room && polls-- > 0) {
    }
    wait_us(50); /* the last two bytes are in the registers of the UART: 22 us */
}

/* A line is shorter than the ring, so nothing of it is dropped. */
static void begin(const char *name, unsigned index) {
    drain();
    print_text("silicon: ");
    print_text(name);
    if (index > 0)
        print_number(index);
}

static void end(unsigned verdict) {
    print_text(verdict == OK ? " ok\n" : verdict == FAILED ? " FAIL\n" : "\n");
    kept.verdict[verdict]++;
}

void result(const char *name, unsigned index, uint32_t value, const char *unit, uint32_t low,
            uint32_t high) {
    begin(name, index);
    print_text(" = ");
    print_number(value);
    print_text(" ");
    print_text(unit);
    print_text(" (expected ");
    print_number(low);
    print_text(" to ");
    print_number(high);
    print_text(")");
    end(value >= low && value <= high ? OK : FAILED);
}

void result_cycles(const char *name, uint32_t value, bool good) {
    begin(name, 0);
    print_text(" = ");
    print_number(value);
    print_text(cycles_are_instructions() ? " instructions" : " cycles");
    end(good ? OK : FAILED);
}

void unseen(const char *name, const char *reason) {
    begin(name, 0);
    print_text(" unseen: ");
    print_text(reason);
    end(UNSEEN);
}

bool unseen_in_emulator(const char *name, const char *what) {
    if (!clock_info()->emulated)
        return false;
    begin(name, 0);
    print_text(" unseen: the emulator does not model ");
    print_text(what);
    end(UNSEEN);
    return true;
}

void print_line(const char *text, uint32_t number) {
    begin(text, 0);
    print_number(number);
    print_text("\n");
}

static void print_ready(void) {
    const uint8_t *id = fault_build_id();
    begin("ready " BOARD_NAME " " SILICON_CHIP " ", 0);
    print_hex(reg_read(&DBGMCU->IDCODE), 8);
    print_text(" ");
    print_hex(reg_read(CPUID), 8);
    print_text(" ");
    for (unsigned i = 0; i < 20; i++)
        print_hex(id[i], 2);
    print_text(clock_info()->emulated ? " emulator\n" : " silicon\n");
}

/* The host answers the line `ready` with S. */
static void await_host(void) {
    for (;;) {
        print_ready();
        const uint32_t start = cycles_now();
        while (steps_us(cycles_steps(start, cycles_now())) < READY_MS * 1000) {
            uint8_t byte;
            if (uart_read(&byte, 1) == 1 && byte == 'S')
                return;
        }
    }
}

static void run_steps(void) {
    for (; kept.step < STEPS; kept.step++) {
        kept.awaited = steps[kept.step].after != NULL;
        drain();
        steps[kept.step].run();
        kept.awaited = 0;
    }
    begin("end: ", 0);
    for (unsigned i = 0; i < 3; i++) {
        print_number(kept.verdict[i]);
        print_text(i == OK ? " ok, " : i == FAILED ? " failed, " : " unseen\n");
    }
}

int main(void) {
    (void)clock_init();
    uart_init(BAUD);
    room = uart_write_free();
    cycles_init();
    (void)reset_reason();
    const bool goes_on = kept.magic == MAGIC && kept.awaited == 1 && kept.step < STEPS;
    kept.awaited = 0;
    if (goes_on) {
        steps[kept.step++].after();
        run_steps();
    }
    for (;;) {
        kept = (silicon_kept_t){0};
        await_host();
        kept.magic = MAGIC;
        fault_record_clear();
        run_steps();
    }
}

/* The self-test image: tests the chip of a bare board, one step after the other, and prints one
 * line per result. `appell silicon` reads the lines:
 *
 *     silicon: NAME = VALUE UNIT (expected LOW to HIGH) ok|FAIL
 *     silicon: NAME unseen: REASON
 */
#ifndef FIRMWARE_SILICON_SILICON_H
#define FIRMWARE_SILICON_SILICON_H

#include <stdbool.h>
#include <stdint.h>

/* What survives the resets that some steps cause. */
typedef struct {
    uint32_t magic;
    uint32_t step;           /* the step that runs */
    uint32_t awaited;        /* 1: this step causes a reset */
    uint32_t verdict[3];     /* number of results: ok, failed, unseen */
    uint32_t lsi_hz;         /* measured; 0: not yet */
    uint32_t watchdog_steps; /* how far the cycle counter got before the watchdog bit */
} silicon_kept_t;
extern silicon_kept_t kept;

/* Prints a result; it is ok if low <= value <= high. An index above 0 is appended to the name. */
void result(const char *name, unsigned index, uint32_t value, const char *unit, uint32_t low,
            uint32_t high);
void unseen(const char *name, const char *reason);
/* A result of the bench, without a range. */
void result_cycles(const char *name, uint32_t value, bool good);
/* True in the emulator; then the result is "unseen: the emulator does not model WHAT". */
bool unseen_in_emulator(const char *name, const char *what);

void print_line(const char *text, uint32_t number);
void drain(void); /* waits until everything printed is sent */
void wait_us(uint32_t us);
uint32_t steps_us(uint32_t steps); /* converts a difference of the cycle counter */

/* The steps. One with `_after` causes a reset; `_after` runs after it. */
void step_clock(void);
void step_lsi(void);
void step_hse(void);
void step_watchdog(void);
void step_watchdog_after(void);
void step_pwm(void);
void step_break(void);
void step_spi(void);
void step_adc(void);
void step_uart(void);
void step_fpu(void);
void step_flash(void);
void step_cycles(void);
void step_stack(void);
void step_stack_after(void);
void step_unaligned(void);
void step_unaligned_after(void);
void step_hard_fault(void);
void step_hard_fault_after(void);

#endif

/* hal/cycles.h on the chip's counter. Under the emulator the counter's step per instruction depends
 * on the -icount shift, so it is measured once on code with a known number of instructions. */
#include "hal/cycles.h"
#include "hal/irq.h"
#include "hal/cortexm/counter.h"

enum { SPIN_INSTRUCTIONS = 20000 };

static bool instructions;
static uint32_t spin_ticks; /* counter steps that SPIN_INSTRUCTIONS take */
static uint32_t read_ticks; /* counter steps between two readings in a row */

/* Two instructions per round; the caller subtracts the cost of reading the counter. */
__attribute__((noinline)) static void spin(void) {
    uint32_t rounds = SPIN_INSTRUCTIONS / 2;
    __asm volatile("1: subs %0, %0, #1\n"
                   "   bne 1b\n"
                   : "+r"(rounds)
                   :
                   : "cc");
}

__attribute__((noinline)) static void spin_none(void) {
    uint32_t rounds = 0;
    __asm volatile("" : "+r"(rounds));
}

/* Interrupts are off, so that no interrupt adds to the measured cost of reading. */
void cycles_init(void) {
    const uint32_t state = irq_lock();
    instructions = counter_start();
    uint32_t a = cycles_now();
    uint32_t b = cycles_now();
    read_ticks = counter_elapsed(a, b);
    if (instructions) {
        a = cycles_now();
        spin();
        b = cycles_now();
        spin_none();
        uint32_t c = cycles_now();
        spin_ticks = counter_elapsed(a, b) - counter_elapsed(b, c);
    }
    irq_unlock(state);
}

uint32_t cycles_now(void) {
    return counter_now();
}

uint32_t cycles_steps(uint32_t start, uint32_t end) {
    return counter_elapsed(start, end);
}

uint32_t cycles_of_steps(uint32_t steps) {
    uint32_t ticks = steps > read_ticks ? steps - read_ticks : 0;
    if (!instructions || spin_ticks == 0)
        return ticks;
    return (uint32_t)(((uint64_t)ticks * SPIN_INSTRUCTIONS + spin_ticks / 2) / spin_ticks);
}

uint32_t cycles_steps_hz(void) {
    return counter_hz();
}

uint32_t cycles_between(uint32_t start, uint32_t end) {
    return cycles_of_steps(counter_elapsed(start, end));
}

bool cycles_are_instructions(void) {
    return instructions;
}

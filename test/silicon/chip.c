/* The UART with its DMA under the tick, the FPU, the flash, and the records of crashes. */
#include "test/silicon/silicon.h"

#include "hal/clock.h"
#include "hal/cortexm/core.h"
#include "hal/cpu.h"
#include "hal/cycles.h"
#include "hal/fault.h"
#include "hal/flash.h"
#include "hal/irq.h"
#include "hal/stm32/board.h"
#include "hal/stm32/chip.h"
#include "hal/tick.h"
#include "hal/uart.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------- tick */

static volatile uint32_t ticks, overruns;
static volatile uint32_t tick_load; /* steps of the cycle counter that a tick spins */

void tick_interrupt(void) {
    const uint32_t start = cycles_now();
    ticks++;
#ifdef __ARM_FP
    __asm volatile("vmov.f32 s0, #31.0\n vmov.f32 s1, #30.0\n vmov.f32 s2, #29.0\n"
                   "vmov.f32 s13, #28.0\n vmov.f32 s14, #27.0\n vmov.f32 s15, #26.0\n"
                   :
                   :
                   : "s0", "s1", "s2", "s13", "s14", "s15");
#endif
    while (cycles_steps(start, cycles_now()) < tick_load) {
    }
    overruns += tick_overrun();
}

/* ---------------------------------------------------------------------------------------- UART */

enum { BAUD = 921600, STREAM_BYTES = 65536, STREAM_EMULATED = 8192, SILENCE_TICKS = 10000 };

static uint32_t dma_counter(void) {
#ifdef HAL_STM32F4
    return reg_read(&board.uart.rx_dma.regs->stream[board.uart.rx_dma.stream].NDTR);
#else
    return reg_read(&board.uart.rx_dma.regs->channel[board.uart.rx_dma.stream - 1].CNDTR);
#endif
}

/* The host sends counted bytes with the top bit set, then E; every byte is sent back. */
typedef struct {
    uint32_t received, gaps, us, moves;
} stream_t;

static stream_t echo(void) {
    stream_t s = {0};
    uint8_t bytes[32], next = 0x80;
    uint32_t heard = ticks, began = 0, last = dma_counter();
    for (bool more = true; more && ticks - heard < SILENCE_TICKS;) {
        size_t n = uart_read(bytes, sizeof bytes);
        s.moves += dma_counter() != last;
        last = dma_counter();
        if (n > 0)
            heard = ticks;
        if (n > 0 && s.received == 0)
            began = cycles_now();
        const uint8_t *mark = memchr(bytes, 'E', n);
        more = mark == NULL;
        n = more ? n : (size_t)(mark - bytes);
        for (size_t i = 0; i < n; i++) {
            s.gaps += bytes[i] != next;
            next = (uint8_t)((bytes[i] + 1) | 0x80);
        }
        s.received += (uint32_t)n;
        while (uart_write_free() < n && ticks - heard < SILENCE_TICKS) {
        }
        (void)uart_write(bytes, n);
    }
    s.us = steps_us(cycles_steps(began, cycles_now()));
    return s;
}

/* The cycle counter must go on while the core sleeps: lost ticks are found with it (hal/tick.h). */
static void test_sleep(void) {
    enum { SLEEPS = 20 };
    const uint32_t first = ticks, start = cycles_now();
    while (ticks - first < SLEEPS)
        cpu_idle();
    result("sleep_counted", 0, steps_us(cycles_steps(start, cycles_now())), "us",
           (SLEEPS - 1) * 1000, (SLEEPS + 1) * 1000);
}

/* The tick takes 0.3 ms of every millisecond, more than with a real arm. It goes on in the next
 * step, because the emulator cannot start it twice. */
void step_uart(void) {
    uart_stats_t before, after;
    const uint32_t bytes = clock_info()->emulated ? STREAM_EMULATED : STREAM_BYTES;
    print_line("send ", bytes);
    drain();
    uart_stats(&before);
    const uint32_t first = ticks, over = overruns, start = cycles_now();
    tick_load = cycles_steps_hz() / 1000 * 3 / 10;
    (void)tick_start(1000);
    const stream_t s = echo();
    const uint32_t ms = steps_us(cycles_steps(start, cycles_now())) / 1000;
    tick_load = 0;
    uart_stats(&after);
    if (clock_info()->emulated && board.tick.regs == NULL) {
        unseen("tick_count", "in the emulator the tick and the clock are one timer");
    } else {
        result("tick_count", 0, ticks - first, "ticks", ms > 2 ? ms - 2 : 0, ms + 2);
        test_sleep();
    }
    result("tick_overruns", 0, overruns - over, "ticks", 0, 0);
    result("uart_echoed", 0, s.received, "bytes", bytes, bytes);
    result("uart_gaps", 0, s.gaps, "gaps", 0, 0);
    result("uart_errors", 0,
           after.rx_dropped + after.rx_overrun + after.rx_framing + after.rx_noise +
               after.tx_dropped - before.rx_dropped - before.rx_overrun - before.rx_framing -
               before.rx_noise - before.tx_dropped,
           "errors", 0, 0);
    if (unseen_in_emulator("uart_rate", "the baud rate")) {
        (void)unseen_in_emulator("dma_moves", "DMA");
        return;
    }
    /* Half of the line's rate at least, otherwise the test proves little; 2 % of tolerance. */
    result("uart_rate", 0, (uint32_t)(s.received * 1000000ull / (s.us + 1)), "bytes/s", BAUD / 20,
           BAUD / 1000 * 102);
    result("dma_moves", 0, s.moves, "moves", 1, STREAM_BYTES);
}

/* ----------------------------------------------------------------------------------------- FPU */

#ifdef __ARM_FP
static uint32_t bits(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* A sum whose every step rounds; a register that an interrupt loses changes it. noipa: the two
 * calls must both run. */
static __attribute__((noipa)) uint32_t long_sum(uint32_t rounds) {
    float a = 1, b = 0.5f, c = 0.25f;
    for (; rounds > 0; rounds--) {
        a = a * 0.999f + 1 / (b + 1);
        b = b * 0.998f + c / (a + 2);
        c = c * 0.997f + a * 0.001f;
    }
    return bits(a) ^ bits(b) ^ bits(c);
}

void step_fpu(void) {
    enum { ROUNDS = 200000 };
    static volatile const float one = 1, three = 3, two = 2, tenth = 0.1f, fifth = 0.2f,
                                least = 0x1p-126f;
    static const uint32_t right[] = {0x3EAAAAAB, 0x3FB504F3, 0x3E99999A, 0x00400000};
    const float found[] = {one / three, __builtin_sqrtf(two), tenth + fifth, least / two};
    uint32_t wrong = 0;
    for (unsigned i = 0; i < 4; i++)
        wrong += bits(found[i]) != right[i];
    result("fpu_wrong", 0, wrong, "results", 0, 0);
    result("fpu_lazy_stacking", 0, FPU->FPCCR >> 30, "flags", 3, 3);
    const uint32_t first = ticks, beside = long_sum(ROUNDS), seen = ticks - first;
    tick_stop();
    const uint32_t alone = long_sum(ROUNDS);
    result("fpu_interrupts", 0, seen, "interrupts", 10, ROUNDS);
    result("fpu_lost", 0, alone != beside, "flag", 0, 0);
}
#else
void step_fpu(void) {
    tick_stop();
    unseen("fpu", "this core has no FPU");
}
#endif

/* --------------------------------------------------------------------------------------- flash */

static void fill(uint8_t *bytes, uint32_t address, size_t n) {
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)((address + i) * 2654435761u >> 24);
}

/* Erases, writes and reads one slot of the store, and erases it again. */
static void test_slot(unsigned index) {
    const flash_geometry_t *g = flash_geometry();
    const flash_slot_t slot = g->slot[index];
    uint8_t wanted[64], found[64];
    uint32_t wrong = 0, start = cycles_now();
    int status = flash_erase(slot.address, slot.size);
    result("flash_erase", index + 1, steps_us(cycles_steps(start, cycles_now())) / 1000, "ms", 1,
           g->erase_unit_ms * (slot.size / g->erase_unit));
    start = cycles_now();
    for (uint32_t a = slot.address; a < slot.address + slot.size && status == FLASH_OK;
         a += sizeof wanted) {
        fill(wanted, a, sizeof wanted);
        status = flash_program(a, wanted, sizeof wanted);
    }
    /* Data sheets: at most 100 us; the time includes reading back. */
    result("flash_write", index + 1,
           steps_us(cycles_steps(start, cycles_now())) / (slot.size / g->write_unit), "us/unit", 1,
           110);
    for (uint32_t a = slot.address; a < slot.address + slot.size; a += sizeof wanted) {
        fill(wanted, a, sizeof wanted);
        flash_read(a, found, sizeof found);
        for (size_t i = 0; i < sizeof wanted; i++)
            wrong += wanted[i] != found[i];
    }
    result("flash_wrong", index + 1, wrong, "bytes", 0, 0);
    if (status == FLASH_OK)
        status = flash_erase(slot.address, slot.size);
    result("flash_error", index + 1, (uint32_t)-status, "error", 0, 0);
}

void step_flash(void) {
    if (unseen_in_emulator("flash", "FLASH"))
        return;
    test_slot(0);
    test_slot(1);
}

/* --------------------------------------------------------------------------------------- crash */

static void check_cause(const char *name, fault_cause_t cause) {
    const fault_record_t *record = fault_record();
    result(name, 0, record != NULL ? record->cause : FAULT_NONE, "cause", cause, cause);
    fault_record_clear();
}

/* The result is used after the call, so that the compiler cannot turn the recursion into a loop. */
static __attribute__((noinline)) uint32_t dig(uint32_t depth) {
    volatile uint32_t hole[16];
    hole[depth & 15] = depth;
    return depth == 0 ? 0 : dig(depth - 1) + hole[depth & 15];
}

void step_stack(void) {
    (void)dig(100000);
    check_cause("stack_guard", FAULT_STACK_OVERFLOW); /* there was no fault */
}

void step_stack_after(void) {
    check_cause("stack_guard", FAULT_STACK_OVERFLOW);
}

void step_unaligned(void) {
    static uint32_t words[2];
    SCB->CCR |= SCB_CCR_UNALIGN_TRP_Msk;
    __DSB();
    (void)*(volatile uint32_t *)((uintptr_t)words + 1);
    check_cause("unaligned", FAULT_UNALIGNED);
}

void step_unaligned_after(void) {
    check_cause("unaligned", FAULT_UNALIGNED);
}

/* Without the exception of its own, an undefined instruction is a hard fault. */
void step_hard_fault(void) {
    SCB->SHCSR &= ~SCB_SHCSR_USGFAULTENA_Msk;
    __DSB();
    __asm volatile("udf #0");
}

void step_hard_fault_after(void) {
    const fault_record_t *record = fault_record();
    result("hard_fault", 0, record != NULL ? record->exception : 0, "exception", 3, 3);
    fault_record_clear();
}

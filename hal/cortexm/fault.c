/* hal/fault.h: handles a fault of the core. Switches the outputs off, writes the record and resets,
 * in that order, on a separate stack, because the old stack may be the cause. */
#include "hal/fault.h"
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"
#include "hal/motor.h"
#include "hal/reset.h"
#include "hal/uart.h"

enum { RECORD_MAGIC = 0x43525348 }; /* "CRSH" */

__attribute__((section(".noinit"))) static fault_record_t kept;

/* Returns the checksum of all words before `check`, rotated so that swapped words are noticed. It
 * only has to detect RAM that lost its power. */
static uint32_t checksum(const fault_record_t *record) {
    const uint32_t *word = (const uint32_t *)record;
    const uint32_t *end = &record->check;
    uint32_t sum = 0x5A5A5A5AU;
    while (word < end)
        sum = ((sum << 5) | (sum >> 27)) ^ *word++;
    return sum;
}

static bool in_ram(uint32_t address, uint32_t bytes) {
    return (address & 3U) == 0 && address >= (uint32_t)__stack_bottom &&
           address <= (uint32_t)__ram_end - bytes;
}

const fault_record_t *fault_record(void) {
    return kept.magic == RECORD_MAGIC && kept.check == checksum(&kept) ? &kept : NULL;
}

/* Keeps the count, which distinguishes a crash loop from a single crash. */
void fault_record_clear(void) {
    kept.cause = FAULT_NONE;
    kept.magic = 0;
}

const uint8_t *fault_build_id(void) {
    enum { NOTE_HEADER_BYTES = 16 };
    return __build_id_note + NOTE_HEADER_BYTES;
}

const char *fault_cause_name(fault_cause_t cause) {
    switch (cause) {
    case FAULT_NONE:
        return "none";
    case FAULT_STACK_OVERFLOW:
        return "stack overflow";
    case FAULT_BAD_ADDRESS:
        return "bad address";
    case FAULT_DIVIDE_BY_ZERO:
        return "division by zero";
    case FAULT_UNDEFINED_INSTRUCTION:
        return "undefined instruction";
    case FAULT_UNALIGNED:
        return "unaligned access";
    case FAULT_UNEXPECTED_INTERRUPT:
        return "interrupt without a handler";
    case FAULT_ASSERT:
        return "assertion";
    case FAULT_OTHER:
        break;
    }
    return "fault of another kind";
}

static fault_cause_t classify(const fault_record_t *record) {
    const uint32_t lazy_fpu_stacking =
        1U << 5; /* MLSPERR; CMSIS defines this name only for cores with an FPU */
    const uint32_t stacking = SCB_CFSR_MSTKERR_Msk | SCB_CFSR_STKERR_Msk | lazy_fpu_stacking;
    bool guard_hit = (record->cfsr & SCB_CFSR_MMARVALID_Msk) != 0 &&
                     record->mmfar >= (uint32_t)__guard_bottom &&
                     record->mmfar < (uint32_t)__stack_bottom;
    if (guard_hit || (record->cfsr & stacking) != 0 || record->sp < (uint32_t)__stack_bottom)
        return FAULT_STACK_OVERFLOW;
    if (record->cfsr & SCB_CFSR_DIVBYZERO_Msk)
        return FAULT_DIVIDE_BY_ZERO;
    if (record->cfsr & SCB_CFSR_UNALIGNED_Msk)
        return FAULT_UNALIGNED;
    if (record->cfsr & SCB_CFSR_USGFAULTSR_Msk)
        return FAULT_UNDEFINED_INSTRUCTION;
    if (record->cfsr & (SCB_CFSR_BUSFAULTSR_Msk | SCB_CFSR_MEMFAULTSR_Msk))
        return FAULT_BAD_ADDRESS;
    return record->exception >= 16 ? FAULT_UNEXPECTED_INTERRUPT : FAULT_OTHER;
}

/* Returns the number of faults since power-up, this one included. RAM that lost power contains
 * neither a valid record nor a cleared one. */
static uint32_t next_count(void) {
    return fault_record() != NULL || kept.magic == 0 ? kept.count + 1 : 1;
}

/* Completes the record and resets. The firmware prints the record at its next boot. */
_Noreturn static void keep(fault_record_t *record) {
    const uint8_t *id = fault_build_id();
    for (unsigned i = 0; i < sizeof record->build_id; i++)
        record->build_id[i] = id[i];
    record->magic = RECORD_MAGIC;
    record->check = checksum(record);
    reset_system();
}

/* Called by fault_entry with the stack pointers as the fault left them and with r4 to r11 on the
 * fault stack. */
_Noreturn __attribute__((used)) static void handle(uint32_t msp, uint32_t psp, uint32_t exc_return,
                                                   const uint32_t *r4_to_r11) {
    motor_off();
    fault_record_t *record = &kept;
    record->count = next_count();
    record->exc_return = exc_return;
    record->exception = __get_IPSR();
    record->cfsr = SCB->CFSR;
    record->hfsr = SCB->HFSR;
    record->mmfar = SCB->MMFAR;
    record->bfar = SCB->BFAR;
    for (unsigned i = 0; i < 8; i++)
        record->r[4 + i] = r4_to_r11[i];
    enum { FRAME_BYTES = 32, FRAME_FPU_BYTES = 104 };
    uint32_t frame = (exc_return & 4U) != 0 ? psp : msp;
    bool stacked = (record->cfsr & (SCB_CFSR_MSTKERR_Msk | SCB_CFSR_STKERR_Msk)) == 0;
    record->frame_valid = stacked && in_ram(frame, FRAME_BYTES);
    record->sp = frame;
    record->r[0] = record->r[1] = record->r[2] = record->r[3] = record->r[12] = 0;
    record->lr = record->pc = record->xpsr = 0;
    if (record->frame_valid) {
        const uint32_t *word = (const uint32_t *)frame;
        for (unsigned i = 0; i < 4; i++)
            record->r[i] = word[i];
        record->r[12] = word[4];
        record->lr = word[5];
        record->pc = word[6];
        record->xpsr = word[7];
        /* If bit 4 of EXC_RETURN is clear, the frame contains FPU registers. If bit 9 of xPSR is
         * set, the frame has a word of padding. */
        uint32_t bytes = (exc_return & 0x10U) != 0 ? FRAME_BYTES : FRAME_FPU_BYTES;
        record->sp = frame + bytes + ((record->xpsr & (1U << 9)) != 0 ? 4U : 0U);
    }
    record->stack_words = 0;
    for (unsigned i = 0; i < FAULT_STACK_WORDS; i++) {
        uint32_t address = record->sp + 4 * i;
        bool readable = in_ram(address, 4) && address < (uint32_t)__stack_top;
        record->stack[i] = readable ? *(const uint32_t *)address : 0;
        record->stack_words += readable ? 1U : 0U;
    }
    record->cause = classify(record);
    keep(record);
}

/*
 * Must not touch the old stack, which can be the cause: a second fault would lock up the core.
 */
__attribute__((naked)) void fault_entry(void) {
    __asm volatile("cpsid i                   \n"
                   "mrs   r0, msp             \n"
                   "mrs   r1, psp             \n"
                   "mov   r2, lr              \n"
                   "ldr   r3, =__fault_stack_top \n"
                   "msr   msp, r3             \n"
                   "push  {r4-r11}            \n"
                   "mov   r3, sp              \n"
                   "b     %[handle]           \n"
                   ".ltorg                    \n"
                   :
                   : [handle] "i"(handle));
}

_Noreturn void fault_assert(void) {
    uint32_t caller = (uint32_t)__builtin_return_address(0);
    __disable_irq();
    motor_off();
    uint32_t count = next_count();
    kept = (fault_record_t){.cause = FAULT_ASSERT,
                            .pc = caller,
                            .sp = (uint32_t)__builtin_frame_address(0),
                            .exception = __get_IPSR(),
                            .count = count};
    keep(&kept);
}

static void print_text(const char *text) {
    while (*text != '\0')
        uart_put_polled(*text++);
}

static void print_hex(uint32_t value, unsigned digits) {
    while (digits-- > 0)
        uart_put_polled("0123456789abcdef"[(value >> (4 * digits)) & 0xFU]);
}

static void print_field(const char *name, uint32_t value) {
    uart_put_polled(' ');
    print_text(name);
    uart_put_polled('=');
    print_hex(value, 8);
}

void fault_record_print(const fault_record_t *record) {
    print_text("crash: ");
    print_text(fault_cause_name((fault_cause_t)record->cause));
    print_field("pc", record->pc);
    print_field("lr", record->lr);
    print_field("sp", record->sp);
    print_field("xpsr", record->xpsr);
    print_text(record->frame_valid ? "\n" : " (registers were not stacked)\n");
    print_text("crash: registers");
    for (unsigned i = 0; i < 13; i++) {
        uart_put_polled(' ');
        print_hex(record->r[i], 8);
    }
    print_text("\ncrash: status");
    print_field("exception", record->exception);
    print_field("cfsr", record->cfsr);
    print_field("hfsr", record->hfsr);
    print_field("mmfar", record->mmfar);
    print_field("bfar", record->bfar);
    print_text("\ncrash: stack");
    for (unsigned i = 0; i < record->stack_words; i++) {
        uart_put_polled(' ');
        print_hex(record->stack[i], 8);
    }
    print_text("\ncrash: build ");
    for (unsigned i = 0; i < sizeof record->build_id; i++)
        print_hex(record->build_id[i], 2);
    print_field("count", record->count);
    uart_put_polled('\n');
}

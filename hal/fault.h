/*
 * Faults of the core: switches the outputs off, then writes a record into RAM that survives the
 * reset that follows.
 */
#ifndef HAL_FAULT_H
#define HAL_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Cause, derived from the fault status when the record is made. */
typedef enum {
    FAULT_NONE = 0,
    FAULT_STACK_OVERFLOW,
    FAULT_BAD_ADDRESS, /* there is no memory at this address, or access is not allowed */
    FAULT_DIVIDE_BY_ZERO,
    /* includes a jump to ARM state and a use of an absent coprocessor */
    FAULT_UNDEFINED_INSTRUCTION,
    FAULT_UNALIGNED,
    FAULT_UNEXPECTED_INTERRUPT, /* a vector without a handler */
    FAULT_ASSERT,               /* fault_assert was called */
    FAULT_OTHER,
} fault_cause_t;

enum { FAULT_STACK_WORDS = 16 };

typedef struct {
    uint32_t magic;
    uint32_t cause; /* fault_cause_t */
    uint32_t r[13]; /* r0 to r12; r0 to r3 and r12 are valid only if frame_valid is set */
    uint32_t sp, lr, pc, xpsr;
    uint32_t exc_return;
    uint32_t exception; /* IPSR: 3 hard fault, 4 memory, 5 bus, 6 usage, 16 + n interrupt n */
    uint32_t cfsr, hfsr, mmfar, bfar;
    uint32_t frame_valid; /* 0: the core could not stack its registers */
    uint32_t stack_words; /* words of stack[] that were readable */
    uint32_t stack[FAULT_STACK_WORDS];
    uint8_t build_id[20]; /* build id of the firmware that crashed */
    uint32_t count;       /* faults since power-up */
    uint32_t check;       /* checksum of all words before this one */
} fault_record_t;

/* Returns the record of the crash before this boot; NULL if there was none or the record is
 * damaged. */
const fault_record_t *fault_record(void);
void fault_record_clear(void);
const char *fault_cause_name(fault_cause_t cause);

/* Makes the same record as a fault of the core, with the caller's address, and resets. */
_Noreturn void fault_assert(void);

/* The build id of this firmware, 20 bytes; the linker writes it. */
const uint8_t *fault_build_id(void);

/* Prints a record in lines through uart_put_polled. */
void fault_record_print(const fault_record_t *record);

#endif

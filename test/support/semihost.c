/* Implements test/support/semihost.h: a call of Arm semihosting is BKPT 0xAB with the operation
 * number in r0 and the argument in r1. */
#include "test/support/semihost.h"

#include <stdint.h>

enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20, REASON_APPLICATION_EXIT = 0x20026 };
enum { LINE_BYTES = 120 };

static char line[LINE_BYTES + 1];
static unsigned used;

static void call(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

void semihost_flush(void) {
    if (used > 0) {
        line[used] = '\0';
        call(SYS_WRITE0, line);
        used = 0;
    }
}

void semihost_put(char c) {
    line[used++] = c;
    if (used == LINE_BYTES || c == '\n') {
        semihost_flush();
    }
}

_Noreturn void semihost_exit(int code) {
    const uint32_t block[2] = {REASON_APPLICATION_EXIT, (uint32_t)code};
    semihost_flush();
    call(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

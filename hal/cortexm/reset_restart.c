/*
 * reset_system of hal/reset.h for chips whose tick is a timer of the emulated F2 and F4.
 *
 * The emulator's timers take the moment of a reset for the beginning of their count and add it to
 * every period: after a reset at 3 s a tick of 1 ms comes every 3.001 s. So on the emulated chip a
 * reset by the firmware is a restart: interrupts, timers and memory protection return to their
 * reset state, and the program starts again. After a crash, inside a handler, a restart is
 * impossible, because the interrupted code would stay interrupted. In that case the core is reset,
 * and the emulator must be restarted before the period of the tick is correct again.
 */
#include "hal/clock.h"
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"
#include "hal/reset.h"
#include "hal/tick.h"

static void interrupts_off(void) {
    enum { BANKS = sizeof NVIC->ICER / sizeof NVIC->ICER[0] };
    __disable_irq();
    tick_stop();
    SysTick->CTRL = 0;
    for (unsigned i = 0; i < BANKS; i++) {
        NVIC->ICER[i] = UINT32_MAX;
        NVIC->ICPR[i] = UINT32_MAX;
    }
    SCB->ICSR = SCB_ICSR_PENDSTCLR_Msk | SCB_ICSR_PENDSVCLR_Msk;
}

__attribute__((noinline)) static _Noreturn void restart(void) {
    interrupts_off();
    MPU->CTRL = 0;
    __set_CONTROL(0); /* discards the floating-point context */
    __ISB();
    __asm volatile("msr msp, %0\n"
                   "bx %1\n"
                   :
                   : "r"(__stack_top), "r"(reset_handler));
    __builtin_unreachable();
}

_Noreturn void reset_system(void) {
    if (clock_info()->emulated && __get_IPSR() == 0)
        restart();
    NVIC_SystemReset();
}

/* The NMI of the clock security system, which clock.c of each family switches on. When the external
 * oscillator fails, the hardware stops it and the PLL, runs the core from the internal oscillator,
 * and breaks the motor timers whose break is enabled. All rates are wrong then, that of the tick
 * too, so the outputs must stay off until the next reset. */
#include "hal/cortexm/link.h"
#include "hal/latch.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/handlers.h"

/* Both calls are the last ones and need no stack: fault_entry finds registers and stack as the
 * exception left them. */
void clock_failure_irq(void) {
    if ((reg_read(&RCC->CIR) & RCC_CIR_CSSF) == 0) {
        fault_entry(); /* an NMI that nobody expects: a crash record */
        return;
    }
    reg_write(&RCC->CIR, RCC_CIR_CSSC); /* otherwise the NMI comes again */
    latch_set(LATCH_CLOCK);
}

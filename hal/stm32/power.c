/* hal/power.h on the programmable voltage detector (RM0090 and RM0041, "Power controller").
 *
 * Its thresholds, from the data sheets, falling and rising, with 100 mV of hysteresis:
 *   F2, F4, PLS = 5: 2.75 to 2.92 V, 2.86 to 2.99 V. The wait states and the programming of the
 *     flash need 2.7 V. PLS = 7 (rising up to 3.21 V) would be within the tolerance of 3.3 V.
 *   F1, PLS = 7: 2.66 to 2.90 V, 2.76 to 3.00 V. The F100 works down to 2.0 V.
 * The brown-out reset of the F2 and F4 is an option byte, which this firmware leaves as it is: off
 * in a new chip, which is then held in reset only below 1.7 V (F1: 1.9 V, it has no brown-out
 * reset). */
#include "hal/power.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/stm32/chip.h"
#include "hal/stm32/handlers.h"

#ifdef HAL_STM32F4
enum { PVD_LEVEL = 5 << 5 };
#else
enum { PVD_LEVEL = 7 << 5 };
#endif
enum { PVD_IRQ = 1 };

/* The detector is switched on last: its output rises when the supply falls, and also now if the
 * supply is low already. */
void power_init(void) {
    reg_set(&EXTI->RTSR, EXTI_PVD);
    reg_write(&EXTI->PR, EXTI_PVD); /* writing a one clears the flag */
    reg_set(&EXTI->IMR, EXTI_PVD);
    irq_enable(PVD_IRQ, IRQ_PRIORITY_BREAK);
    rcc_enable(RCC_PWR);
    reg_modify(&PWR->CR, PWR_CR_PLS, PVD_LEVEL);
    reg_set(&PWR->CR, PWR_CR_PVDE);
}

bool power_low(void) {
    return (reg_read(&PWR->CSR) & PWR_CSR_PVDO) != 0;
}

void power_irq(void) {
    reg_write(&EXTI->PR, EXTI_PVD);
    latch_set(LATCH_POWER);
}

/* Start-up: the vector table, and the code from reset to main. */
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"
#include "hal/motor.h"
#include HAL_VECTORS_H /* CHIP_IRQ_COUNT and CHIP_VECTORS(V): V(interrupt number, handler);
                        * CHIP_NMI and CHIP_SYSTICK if the chip has handlers for them */

typedef void (*vector_t)(void);

typedef struct {
    uint32_t *stack_top;
    vector_t exception[15];
    vector_t irq[CHIP_IRQ_COUNT];
} vectors_t;

/* An interrupt without a handler must lead to a crash record. So the table is first filled with
 * fault_entry, and then the chip's handlers replace some entries. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#define VECTOR(number, handler) [number] = handler,
extern const vectors_t vectors; /* read by tools/dev/stack.py */
__attribute__((section(".vectors"), used)) const vectors_t vectors = {
    .stack_top = __stack_top,
    .exception =
        {
            [0] = reset_handler,
            [1 ... 14] = fault_entry,
#ifdef CHIP_NMI
            [1] = CHIP_NMI,
#endif
#ifdef CHIP_SYSTICK
            [14] = CHIP_SYSTICK,
#endif
        },
    .irq = {[0 ... CHIP_IRQ_COUNT - 1] = fault_entry, CHIP_VECTORS(VECTOR)},
};
#pragma GCC diagnostic pop

_Noreturn void reset_handler(void) {
    /* gdb and boot loaders may enter here with interrupts enabled. */
    __disable_irq();
    motor_safe(); /* until now the pins floated; filling .data and .bss takes milliseconds */
    SCB->VTOR = (uint32_t)&vectors;
#if __FPU_PRESENT == 1U
    SCB->CPACR |= 0xFUL << 20; /* gives full access to CP10 and CP11: the FPU is off after reset */
    __DSB();
    __ISB();
#endif
    const uint32_t *from = __data_load;
    for (uint32_t *to = __data_start; to < __data_end;)
        *to++ = *from++;
    for (uint32_t *to = __bss_start; to < __bss_end;)
        *to++ = 0;
    /* Enables the separate fault exceptions. Makes an integer division by zero a fault; otherwise
     * its result is 0. */
    SCB->SHCSR |= SCB_SHCSR_MEMFAULTENA_Msk | SCB_SHCSR_BUSFAULTENA_Msk | SCB_SHCSR_USGFAULTENA_Msk;
    SCB->CCR |= SCB_CCR_DIV_0_TRP_Msk;
    guard_init();
    __enable_irq();
    main();
    for (;;)
        __WFI();
}

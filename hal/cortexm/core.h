/* CMSIS-Core for the core of this build. hal/hal.mk defines HAL_CORE_H (core_cm3.h, core_cm4.h,
 * core_cm7.h). CMSIS also needs facts about the chip; they are the same for all chips and are
 * defined here. */
#ifndef HAL_CORTEXM_CORE_H
#define HAL_CORTEXM_CORE_H

#include <stdint.h>

typedef enum {
    NonMaskableInt_IRQn = -14,
    HardFault_IRQn = -13,
    MemoryManagement_IRQn = -12,
    BusFault_IRQn = -11,
    UsageFault_IRQn = -10,
    SVCall_IRQn = -5,
    DebugMonitor_IRQn = -4,
    PendSV_IRQn = -2,
    SysTick_IRQn = -1,
    LAST_IRQn = 239, /* makes the enum wide enough for every interrupt line */
} IRQn_Type;

/* The STM32 implement four priority bits; the emulator implements eight and uses the upper four. */
#define __NVIC_PRIO_BITS       4U
#define __Vendor_SysTickConfig 0U
#define __MPU_PRESENT          1U /* the F100 has none: hal/cortexm/guard.c checks MPU->TYPE */
#define __VTOR_PRESENT         1U
#define __CM3_REV              0x0201U
#define __CM4_REV              0x0001U
#define __CM7_REV              0x0001U
#define __ICACHE_PRESENT       0U
#define __DCACHE_PRESENT       0U
#define __DTCM_PRESENT         0U
#ifdef __ARM_FP
#define __FPU_PRESENT 1U
#else
#define __FPU_PRESENT 0U
#endif

/* The CMSIS headers do not compile with these warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wundef"
#include HAL_CORE_H
#pragma GCC diagnostic pop

#endif

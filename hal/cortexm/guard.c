/* The guard under the stack: one MPU region of 1 KB without any access. It has its own 1 KB because
 * a smaller region slows its whole page in the emulator thirty times. A chip without an MPU
 * (STM32F100) has the stack at the bottom of RAM instead, where an overflow leaves the memory. */
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"

enum { GUARD_LOG2 = 10 };

void guard_init(void) {
    uint32_t size = (uint32_t)__stack_bottom - (uint32_t)__guard_bottom;
    if (size == 0 || (MPU->TYPE & MPU_TYPE_DREGION_Msk) == 0)
        return;
    MPU->RBAR = (uint32_t)__guard_bottom | MPU_RBAR_VALID_Msk;
    /* Access permission 0: none, privileged included. No execution either. */
    MPU->RASR = MPU_RASR_XN_Msk | ((GUARD_LOG2 - 1UL) << MPU_RASR_SIZE_Pos) | MPU_RASR_ENABLE_Msk;
    /* The default map for the rest; off inside hard faults (HFNMIENA = 0). */
    MPU->CTRL = MPU_CTRL_PRIVDEFENA_Msk | MPU_CTRL_ENABLE_Msk;
    __DSB();
    __ISB();
}

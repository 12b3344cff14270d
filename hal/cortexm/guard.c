/* The guard under the stack: an MPU region of 1 KB without access. A smaller region would slow its
 * whole page in the emulator thirty times. On a chip without an MPU (STM32F100) the stack is at the
 * bottom of RAM, where an overflow leaves the memory and faults. */
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"

enum { GUARD_LOG2 = 10 };

void guard_init(void) {
    uint32_t size = (uint32_t)__stack_bottom - (uint32_t)__guard_bottom;
    if (size == 0 || (MPU->TYPE & MPU_TYPE_DREGION_Msk) == 0)
        return;
    MPU->RBAR = (uint32_t)__guard_bottom | MPU_RBAR_VALID_Msk;
    /* Access permission 0: no access, not even privileged. No execution either. */
    MPU->RASR = MPU_RASR_XN_Msk | ((GUARD_LOG2 - 1UL) << MPU_RASR_SIZE_Pos) | MPU_RASR_ENABLE_Msk;
    /* The default map for everything else; the MPU is off inside hard faults (HFNMIENA = 0). */
    MPU->CTRL = MPU_CTRL_PRIVDEFENA_Msk | MPU_CTRL_ENABLE_Msk;
    __DSB();
    __ISB();
}

/* The guard under the stack: an MPU region of 1 KB without access. A smaller region would make
 * accesses to its whole page thirty times slower in the emulator. On a chip without an MPU
 * (STM32F100) the stack is at the bottom of RAM, where an overflow leaves the memory and faults. */
#include "hal/cortexm/core.h"
#include "hal/cortexm/link.h"

enum { GUARD_LOG2 = 10 };

void guard_init(void) {
    uint32_t size = (uint32_t)__stack_bottom - (uint32_t)__guard_bottom;
    if (size == 0 || (MPU->TYPE & MPU_TYPE_DREGION_Msk) == 0)
        return;
    MPU->RBAR = (uint32_t)__guard_bottom | MPU_RBAR_VALID_Msk;
    /* Access permission 0 means no access, not even privileged. Execution is forbidden too. */
    MPU->RASR = MPU_RASR_XN_Msk | ((GUARD_LOG2 - 1UL) << MPU_RASR_SIZE_Pos) | MPU_RASR_ENABLE_Msk;
    /* Everything else keeps the default memory map. Inside hard faults the MPU is off (HFNMIENA =
     * 0). */
    MPU->CTRL = MPU_CTRL_PRIVDEFENA_Msk | MPU_CTRL_ENABLE_Msk;
    __DSB();
    __ISB();
}

/* cpu_idle for chips whose tick is a timer that the emulator keeps exact across WFI. */
#include "hal/cpu.h"
#include "hal/cortexm/core.h"

void cpu_idle(void) {
    __WFI();
}

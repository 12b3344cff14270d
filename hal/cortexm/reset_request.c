/* reset_system of hal/reset.h by the core's reset request. */
#include "hal/cortexm/core.h"
#include "hal/reset.h"

_Noreturn void reset_system(void) {
    NVIC_SystemReset();
}

/* hal/irq.h on the nested vectored interrupt controller. */
#include "hal/irq.h"
#include "hal/cortexm/core.h"

uint32_t irq_lock(void) {
    uint32_t state = __get_PRIMASK();
    __disable_irq();
    return state;
}

void irq_unlock(uint32_t state) {
    __set_PRIMASK(state);
}

void irq_enable(int irq, unsigned priority) {
    NVIC_SetPriority((IRQn_Type)irq, priority);
    NVIC_EnableIRQ((IRQn_Type)irq);
}

void irq_disable(int irq) {
    NVIC_DisableIRQ((IRQn_Type)irq);
}

void irq_pend(int irq) {
    NVIC_SetPendingIRQ((IRQn_Type)irq);
}

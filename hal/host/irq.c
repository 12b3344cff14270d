/* hal/irq.h on the host: nothing interrupts, everything is counted. */
#include "hal/irq.h"

#include <assert.h>
#include <string.h>

#include "hal/host/host.h"

host_irq_t host_irq;

void host_irq_reset(void) {
    memset(&host_irq, 0, sizeof host_irq);
    memset(host_irq.priority, HOST_IRQ_OFF, sizeof host_irq.priority);
}

uint32_t irq_lock(void) {
    host_irq.lock_count++;
    uint32_t state = host_irq.lock_depth++;
    if (host_irq.lock_depth > host_irq.lock_depth_max)
        host_irq.lock_depth_max = host_irq.lock_depth;
    return state;
}

void irq_unlock(uint32_t state) {
    if (host_irq.lock_depth == 0 || state != host_irq.lock_depth - 1)
        host_irq.unlock_errors++;
    else
        host_irq.lock_depth--;
}

void irq_enable(int irq, unsigned priority) {
    assert(irq >= 0 && irq < HOST_IRQ_MAX && priority < 16);
    host_irq.priority[irq] = (uint8_t)priority;
}

void irq_disable(int irq) {
    assert(irq >= 0 && irq < HOST_IRQ_MAX);
    host_irq.priority[irq] = HOST_IRQ_OFF;
}

void irq_pend(int irq) {
    assert(irq >= 0 && irq < HOST_IRQ_MAX);
    host_irq.pended[irq]++;
}

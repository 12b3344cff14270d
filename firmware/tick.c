// The control interrupt: called by the HAL's tick timer, at the highest priority but the break
// input.
#include "firmware/tick.h"
#include "hal/cycles.h"
#include "hal/irq.h"
#include "hal/motor.h"
#include "hal/tick.h"

static volatile tick_stats_t stats = {.best = UINT32_MAX};

void tick_interrupt(void) {
    uint32_t start = cycles_now();
    stats.ticks++;
    if (tick_overrun()) {
        stats.overruns++;
    }
    uint32_t cost = cycles_between(start, cycles_now());
    if (cost < stats.best) {
        stats.best = cost;
    }
    if (cost > stats.worst) {
        stats.worst = cost;
    }
}

// The hardware has switched the outputs off already; the supervisor will latch the fault here.
void motor_break_interrupt(void) {
    motor_off();
}

uint32_t tick_count(void) {
    return stats.ticks;
}

void tick_stats(tick_stats_t *out) {
    uint32_t state = irq_lock();
    *out = stats;
    irq_unlock(state);
}

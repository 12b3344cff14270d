/* The control interrupt. The HAL's tick timer calls it at the highest priority except the e-stop.
 * It reads the hardware, runs a tick of the application (firmware/app/tick.c) and writes the
 * hardware. Samples wait in the application's ring until the background sends them. */
#include "firmware/tick.h"
#include "hal/cycles.h"
#include "hal/encoder.h"
#include "hal/irq.h"
#include "hal/motor.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/tick.h"

static app_t app;
static app_inputs_t in;
static app_outputs_t out;
static volatile uint32_t best = UINT32_MAX, worst; /* counter steps */

static void read_hardware(void) {
    in.counts_valid = 0;
    in.parity = 0;
    in.estop = motor_estop_latched();
    if (!out.hardware)
        return; /* the simulated arm has its own encoders and supply */
    in.supply_mV = supply_read_mV();
    in.switches = switches_read();
    for (unsigned i = 0; i < encoder_count() && i < DYN_MAX_JOINTS; i++) {
        uint16_t counts;
        const int status = encoder_read(i, &counts);
        if (status == ENCODER_OK) {
            in.counts[i] = counts;
            in.counts_valid |= 1U << i;
        }
        in.parity |= (uint32_t)(status == ENCODER_ERR_PARITY) << i;
    }
}

static void write_hardware(void) {
    if (!out.enable || !out.hardware) {
        motor_off();
        return;
    }
    if (!motor_enabled() && motor_enable() != MOTOR_OK) {
        app_fault(&app, APP_FAULT_ESTOP);
        return;
    }
    for (unsigned i = 0; i < motor_count() && i < DYN_MAX_JOINTS; i++)
        motor_set(i, out.duty_q15[i]);
}

void tick_interrupt(void) {
    const uint32_t start = cycles_now();
    read_hardware();
    app_tick(&app, &in, &out);
    write_hardware();
    in.overrun = tick_overrun();
    const uint32_t cost = cycles_steps(start, cycles_now());
    best = cost < best ? cost : best;
    worst = cost > worst ? cost : worst;
}

/* Called after the hardware has switched the outputs off; the next tick reports the e-stop. */
void motor_estop_interrupt(void) {
    motor_off();
}

app_t *tick_app(void) {
    return &app;
}

uint32_t tick_count(void) {
    return app.ticks;
}

void tick_stats(tick_stats_t *stats) {
    const uint32_t state = irq_lock();
    *stats = (tick_stats_t){app.ticks, best, worst, app.overruns};
    irq_unlock(state);
    stats->best = cycles_of_steps(stats->best);
    stats->worst = cycles_of_steps(stats->worst);
}

/* The functions of firmware/control/clock.h, and app_switches of firmware/control/io.h. */
uint32_t app_clock(void) {
    return cycles_now();
}

uint32_t app_clock_steps(uint32_t start, uint32_t end) {
    return cycles_steps(start, end);
}

uint32_t app_clock_hz(void) {
    return cycles_steps_hz();
}

uint32_t app_switches(void) {
    return (1U << switches_count()) - 1;
}

uint32_t app_clock_cost(uint32_t steps) {
    return cycles_of_steps(steps);
}

uint32_t app_clock_lock(void) {
    return irq_lock();
}

void app_clock_unlock(uint32_t state) {
    irq_unlock(state);
}

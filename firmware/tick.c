/* The control interrupt. The HAL's tick timer calls it at the highest priority except the e-stop.
 * It reads the hardware, runs a tick of the application (firmware/app/tick.c) and writes the
 * hardware. Samples wait in the application's ring until the background sends them. */
#include "firmware/tick.h"
#include "hal/cycles.h"
#include "hal/encoder.h"
#include "hal/irq.h"
#include "hal/latch.h"
#include "hal/motor.h"
#include "hal/supply.h"
#include "hal/switches.h"
#include "hal/tick.h"
#include "hal/watchdog.h"

static app_t app;
static app_inputs_t in;
static app_outputs_t out;
static volatile uint32_t best = UINT32_MAX, worst;    /* counter steps */
static volatile uint32_t background, background_most; /* tick of the last pass; ticks to the next */

static void read_encoder(unsigned i) {
    uint16_t counts;
    const encoder_status_t status = encoder_read(i, &counts);
    const uint32_t bit = 1U << i;
    if (status == ENCODER_OK) {
        in.counts[i] = counts;
        in.counts_valid |= bit;
    } else if (status == ENCODER_ERR_PARITY) {
        in.parity |= bit;
    } else if (status != ENCODER_ERR_TIMEOUT && status != ENCODER_ERR_ABSENT) {
        in.unwell |= bit;
    }
}

/* Reads the latch in any case, so that the state of the e-stop is known before the real arm is
 * chosen, and the supply, whose filter must know the present voltage then. The simulated arm has its
 * own encoders and supply. */
static void read_hardware(void) {
    in.counts_valid = in.parity = in.unwell = 0;
    in.latched = (uint8_t)latch_read();
    in.lost = tick_lost();
    in.stalled = app.ticks - background > background_most;
    const supply_status_t supply = supply_read(&in.supply_mV);
    if (supply != SUPPLY_OK)
        in.supply_mV = supply == SUPPLY_ERR_ABSENT ? SUPPLY_UNMEASURED : SUPPLY_FAILED;
    if (!out.hardware)
        return;
    in.switches = switches_read();
    for (unsigned i = 0; i < encoder_count() && i < DYN_MAX_JOINTS; i++)
        read_encoder(i);
}

static void write_motors(bool on, bool watched) {
    if (!on) {
        motor_off();
        return;
    }
    if (!motor_enabled() && !watched)
        return; /* the watchdog still has its long time-out, for at most 40 ms */
    const int status = motor_enabled() ? MOTOR_OK : motor_enable();
    if (status == MOTOR_ERR_ABSENT)
        latch_set(LATCH_DRIVER); /* there is no stage that could switch on */
    if (status != MOTOR_OK)
        return; /* the next tick reports what is latched */
    for (unsigned i = 0; i < app.n; i++)
        motor_set(i, out.duty_q15[i]);
    motor_brake_open(out.brake_open);
}

static void write_hardware(void) {
    const bool on = out.enable && out.hardware;
    write_motors(on, watchdog_tick(on));
    in.ready = motor_enabled();
    if (out.hardware)
        encoder_start(); /* for the next tick */
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

uint32_t tick_latched(void) {
    return in.latched;
}

void tick_background(uint32_t rate_hz) {
    background = app.ticks;
    background_most = rate_hz;
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

/* The functions of firmware/control/clock.h. */
uint32_t app_clock(void) {
    return cycles_now();
}

uint32_t app_clock_steps(uint32_t start, uint32_t end) {
    return cycles_steps(start, end);
}

uint32_t app_clock_hz(void) {
    return cycles_steps_hz();
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

/* Implements firmware/app/handover.h. */
#include "firmware/app/handover.h"

#include <math.h>

#include "firmware/app/setup.h"
#include "firmware/app/tick.h"
#include "firmware/control/number.h"
#include "firmware/safety/stop.h"

/* The fraction of the period that a tick may take; the rest remains for the background. */
#define BUDGET 0.9f

/* The tick is kept out, because the check uses its scratch. */
uint32_t control_weak(app_t *app, const control_t *c) {
    const uint32_t lock = app_clock_lock();
    const uint32_t weak = stop_weak(c, &app->memory.scratch, app->loop.q, false);
    app_clock_unlock(lock);
    return weak;
}

int control_change(app_t *app, bool hold) {
    if (APP_CONTROLS == 1 && !app_rests(app))
        return APP_E_STATE;
    if (APP_CONTROLS == 1)
        tick_detach(app);
    const control_t *spare = control_spare(app);
    if (!setup_control(app, control_spare(app)))
        return APP_E_UNITS;
    if (hold && !app_rests(app) && control_weak(app, spare) != APP_NO_JOINT)
        return APP_E_WEAK;
    atomic_signal_fence(memory_order_seq_cst);
    app->pending = 1;
    return APP_OK;
}

int control_place(app_t *app, const float q[]) {
    bool fits = true;
    for (uint32_t i = 0; i < app->n; i++) {
        fits = setup_position(app, i, q[i], &app->sim_arm.q[i]) && fits;
        app->sim_arm.qd[i] = real_known(0);
    }
    return fits ? APP_OK : APP_E_UNITS;
}

/* Measures the time of a tick: runs all stages once on the arm at rest and discards the outputs. */
static void rehearse(app_t *app, control_t *c) {
    static const app_inputs_t nothing;
    app_outputs_t out = {.enable = 1};
    const uint32_t feedforward = c->feedforward, head = app->head;
    app->safety.opening = 0; /* a motion is measured, not the wait for the brakes */
    c->feedforward = FEEDFORWARD_FULL;
    app_sense(app, c, &nothing);
    control_settle(c, &app->loop);
    reference_rest(c, &app->loop);
    const uint32_t state = app_clock_lock(), start = app_clock();
    app_stages_run(app, c, &nothing, &out);
    app->tick_steps = app_clock_steps(start, app_clock());
    app_clock_unlock(state);
    c->feedforward = feedforward;
    app->head = head;
}

void control_forget_readings(app_t *app) {
    for (uint32_t i = 0; i < app->n; i++)
        app->loop.counts[i] = 0;
    const uint32_t lock = app_clock_lock();
    app->switched = app->ticks;
    app->seen = 0;
    app_clock_unlock(lock);
}

/* Chooses the turn of each joint that stays within one turn of an absolute encoder: the one in which
 * the joint is nearest to the middle of its limits. The zero of the encoder may lie anywhere. Not
 * inlined, for the sake of the stack. */
static __attribute__((noinline)) void choose_turns(app_t *app, const control_t *c) {
    for (uint32_t i = 0; i < app->n; i++) {
        const settings_t *s = &app->joint[i];
        const double low = (double)s->position[0], high = (double)s->position[1];
        const double count = setup_count(s);
        const int32_t wrap = c->joint[i].wrap;
        if (c->simulated || !s->bounded || s->home != 0 || c->turning >> i & 1 ||
            high - low > fabs(count) * wrap)
            continue;
        const double middle = ((low + high) / 2 - (double)s->offset) / count;
        const int32_t to = (int32_t)fmax(fmin(middle, 1e9), -1e9);
        int32_t away = (app->seen >> i & 1 ? app->loop.counts[i] - to : 0) % wrap;
        away += away < -wrap / 2 ? wrap : away > wrap / 2 ? -wrap : 0;
        app->loop.counts[i] = to + away;
    }
}

/* Returns the time that the hardware takes in a tick, s. Not inlined: the description of the
 * hardware must not be on the stack while the constants are made. */
static __attribute__((noinline)) float hardware_s(void) {
    hardware_t h;
    app_hardware(&h);
    return 1e-9f * (float)h.busy_ns;
}

static bool fast_enough(const app_t *app, float busy_s) {
    const float rate = app->parameter[PARAMETER_rate_hz], hz = (float)app_clock_hz();
    return !(hz > 0) || app->parameter[PARAMETER_rate_check] == 0 ||
           ((float)app->tick_steps / hz + busy_s) * rate <= BUDGET;
}

/* Not inlined, for the sake of the stack. */
static __attribute__((noinline)) bool setup_sim_arm(app_t *app) {
    const setup_t from = setup_from(app);
    return sim_arm_setup(&from, &app->sim_arm);
}

/* Puts the new constants into use at once. If they stayed pending, the next control_change would
 * withdraw them, and the tick would continue with the constants of the previous arm, or with
 * none. */
int control_settle_all(app_t *app) {
    control_t *c = control_spare(app);
    if (!setup_control(app, c) || !setup_sim_arm(app))
        return APP_E_UNITS;
    float q[DYN_MAX_JOINTS] = {0};
    for (uint32_t i = 0; i < app->n; i++)
        q[i] = setup_position_si(app, i, app->sim_arm.q[i]);
    choose_turns(app, c);
    rehearse(app, c);
    (void)control_place(app, q);
    app->pending = 1;
    control_take(app);
    return fast_enough(app, c->simulated ? 0 : hardware_s()) ? APP_OK : APP_E_RATE;
}

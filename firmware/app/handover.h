/* Hands new constants from the background to the tick. They are made in the spare set and taken
 * over between two ticks. Changes that cannot be made in this way are made while the outputs are
 * off and the tick is detached. */
#ifndef FIRMWARE_APP_HANDOVER_H
#define FIRMWARE_APP_HANDOVER_H

#include <stdatomic.h>

#include "firmware/app/app.h"

/* tick_detach gives the tick's data to the background, tick_attach returns them. In between the
 * tick only counts. The fences keep the compiler from moving memory accesses out of that
 * section. */
static inline void tick_detach(app_t *app) {
    app->detached = 1;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void tick_attach(app_t *app) {
    atomic_signal_fence(memory_order_seq_cst);
    app->detached = 0;
}

/* Returns the constants that the next tick will use. */
static inline control_t *control_next(app_t *app) {
    return &app->control[(app->now + app->pending) % APP_CONTROLS];
}

/* Returns the set that may be written. A pending change is withdrawn, so that the tick does not use
 * it. */
static inline control_t *control_spare(app_t *app) {
    app->pending = 0;
    return &app->control[(app->now + 1) % APP_CONTROLS];
}

/* Returns whether a closed loop must go on with its constants for now. In the tick that takes over others
 * the torques stay as they are (faded in firmware/control/control.c). If every tick did that, the loop
 * would be open; so at most one tick in CHANGE_TICKS does. */
static inline bool control_keeps(const app_t *app) {
#if APP_CONTROLS > 1
    enum { CHANGE_TICKS = 16 };
    const uint32_t fading = app->loop.fading;
    return fading > 0 && fading + CHANGE_TICKS > app->control[app->now].fade_ticks &&
           supervisor_drives(&app->safety);
#else
    (void)app;
    return false;
#endif
}

/* Takes over the new constants, between two control steps. Called by the tick, or by the background
 * while the tick is detached. */
static inline void control_take(app_t *app) {
    if (app->pending) {
        app->now = (app->now + 1) % APP_CONTROLS;
        app->pending = 0;
#if APP_CONTROLS > 1
        app->loop.fading = app->control[app->now].fade_ticks;
#endif
    }
}

/* Makes new constants for the tick. If there is only one control set, the tick stays detached and
 * the caller must call tick_attach. Returns APP_OK or a negative app_error_t; with `hold` APP_E_WEAK if
 * the outputs are on and the motors cannot hold the arm with them. */
int control_change(app_t *app, bool hold);
/* Returns the first joint whose motor cannot hold the arm in its present pose, or APP_NO_JOINT. */
uint32_t control_weak(app_t *app, const control_t *control);
/* Makes all constants that depend on arm and rate. The tick must be detached; it uses the result
 * from its next run on. */
int control_settle_all(app_t *app);
/* Discards the encoder readings because another arm is controlled now. The tick must be
 * detached. */
void control_forget_readings(app_t *app);
/* Moves the simulated arm to q, at rest. The tick must be detached. */
int control_place(app_t *app, const float q[]);

#endif

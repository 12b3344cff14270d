/* How the background gives new constants to the tick. They are made in the spare half and taken
 * over between two ticks; what cannot be done so is done with the tick away, at rest. */
#ifndef FIRMWARE_APP_HANDOVER_H
#define FIRMWARE_APP_HANDOVER_H

#include <stdatomic.h>

#include "firmware/app/app.h"

/* The background takes what is the tick's, and gives it back; in between the tick only counts.
 * Nothing that stands between the two may be moved out by the compiler. */
static inline void tick_detach(app_t *app) {
    app->away = 1;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void tick_attach(app_t *app) {
    atomic_signal_fence(memory_order_seq_cst);
    app->away = 0;
}

/* The constants that the next tick will use. */
static inline control_t *control_next(app_t *app) {
    return &app->control[(app->now + app->pending) % APP_CONTROLS];
}

/* The set that may be written; from here on the tick leaves all as it is. */
static inline control_t *control_spare(app_t *app) {
    app->pending = 0;
    return &app->control[(app->now + 1) % APP_CONTROLS];
}

/* The tick takes over the new constants, between two ticks. */
static inline void control_take(app_t *app) {
    if (app->pending) {
        app->now = (app->now + 1) % APP_CONTROLS;
        app->pending = 0;
    }
}

/* New constants for the tick, which may be left away: tick_attach. APP_OK or a negative
 * app_error_t.
 */
int control_change(app_t *app);
/* Everything that depends on arm and rate, with the tick away; taken over at once. */
int control_settle_all(app_t *app);
/* What was read of the hardware is not this arm's; with the tick away. */
void control_forget_readings(app_t *app);
/* Puts the simulated arm to rest there, with the tick away. */
int control_place(app_t *app, const float q[]);

#endif

/* Requests of the user other than motions: stop, off, clear, place. */
#include <math.h>

#include "firmware/app/handover.h"
#include "firmware/app/tick.h"

static bool outputs_off(const app_t *app) {
    const uint32_t state = app->safety.state;
    return state == APP_STATE_UNCONFIGURED || state == APP_STATE_IDLE ||
           (state == APP_STATE_FAULT && app->safety.stop == APP_STOP_RELEASE);
}

/* Reads the request before the state, because the tick that takes up the request clears it and
 * changes the state. Without a request no tick switches the outputs on. */
bool app_rests(const app_t *app) {
    return !app->closing && outputs_off(app);
}

/* Interrupts are locked: if a tick closed the loop between test and request, this stop would become
 * a release. */
int app_stop(app_t *app) {
    if (app->safety.state == APP_STATE_FAULT)
        return APP_E_STATE;
    const uint32_t lock = app_clock_lock();
    if (outputs_off(app))
        app->leaving = 1; /* discards a motion that is still waiting for the next tick or for its
                           * points */
    else if (app->safety.state != APP_STATE_DAMPING || app->closing)
        app->stopping = 1; /* an arm that is only damped has no motion to stop */
    app_clock_unlock(lock);
    return APP_OK;
}

int app_off(app_t *app) {
    app->leaving = 1;
    return APP_OK;
}

/* If the loop still holds or lowers the arm, it continues to hold after the fault is cleared.
 * Interrupts are locked, because any tick may end the stop or replace it with a worse one. */
int app_clear(app_t *app) {
    const bool real = app->loaded && !app->control[app->now].simulated;
    app_poll(app); /* overrides of guards end at a fault, also if it is cleared at once */
    const uint32_t lock = app_clock_lock();
    const uint32_t stop = app->safety.stop;
    const bool holds = stop <= APP_STOP_LOWER;
    /* While the brakes close, the loop must neither go on against them nor let go. */
    const bool clears = app->safety.state == APP_STATE_FAULT &&
                        !(stop == APP_STOP_HOLD && app->motion.kind != MOTION_HOLD) &&
                        !(holds && app->safety.closing > 0);
    if (clears && real && app_unlatch() != 0) {
        app_clock_unlock(lock);
        return APP_E_LATCHED;
    }
    if (clears) {
        if (stop == APP_STOP_LOWER)
            app->stopping = 1; /* the reference still moves down and must brake */
        app->sim_arm.singular = 0;
        app->safety.guard.late = app->safety.guard.unread = 0;
        app->safety.fault = APP_FAULT_NONE;
        app->safety.fault_joint = APP_NO_JOINT;
        app->safety.state =
            app_state_next(APP_STATE_FAULT, !app->loaded            ? APP_EVENT_FORGET
                                            : holds                 ? APP_EVENT_HELD
                                            : stop == APP_STOP_DAMP ? APP_EVENT_DAMPED
                                                                    : APP_EVENT_CLEAR);
    }
    app_clock_unlock(lock);
    return clears ? APP_OK : APP_E_STATE;
}

int app_place(app_t *app, const float q[]) {
    app->where = UINT32_MAX;
    if (!app_rests(app) || app->safety.state != APP_STATE_IDLE)
        return APP_E_STATE;
    if (app->parameter[PARAMETER_arm] != ARM_SIMULATED)
        return APP_E_SIMULATED;
    for (uint32_t i = 0; i < app->n; i++) {
        const settings_t *s = &app->joint[i];
        app->where = i;
        if (!isfinite(q[i]))
            return APP_E_NUMBER;
        if (s->bounded && !(q[i] >= s->position[0] && q[i] <= s->position[1]))
            return APP_E_POSITION;
    }
    app->where = UINT32_MAX;
    tick_detach(app);
    /* A motion that waits for points would start at the old position. */
    app->motion.kind = MOTION_HOLD;
    const int status = control_place(app, q);
    const control_t *c = control_next(app);
    static const app_inputs_t nothing;
    app_sense(app, c, &nothing); /* senses now, so that a motion may start before the next tick */
    tick_attach(app);
    return status;
}

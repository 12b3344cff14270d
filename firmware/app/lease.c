/* The lease of the client that moves the arm, and the overrides that belong to it. */
#include "firmware/app/handover.h"
#include "firmware/app/setup.h"

/* Ends the lease of the client that says goodbye: what it moved comes to rest. */
static void end(app_t *app) {
    app->lease.left = app->lease.token = 0;
    if (app->motion.kind == MOTION_HOLD)
        return;
    if (app->safety.state == APP_STATE_RUNNING || app->safety.state == APP_STATE_HOMING)
        app->stopping = 1;
    else if (app->safety.state == APP_STATE_IDLE)
        app->leaving = 1; /* discards a motion that waits */
}

/* The command that took the overrides has lost its lease; they wait for the background. */
static void leave_overrides(app_t *app) {
    for (uint32_t k = 0; k < app->overrides.count; k++)
        app->overrides.over[k] = 1;
}

int app_lease(app_t *app, uint32_t token, uint32_t ms) {
    const bool simulated = app->parameter[PARAMETER_arm] == ARM_SIMULATED;
    const uint32_t most = simulated ? LEASE_SIMULATED_MS : LEASE_MS;
    app->where = UINT32_MAX;
    if (token == 0)
        return APP_E_NUMBER;
    const uint32_t lock = app_clock_lock();
    const bool free = !lease_held(&app->lease), mine = lease_mine(&app->lease, token);
    if (ms > 0 && (free || mine)) {
        if (free)
            leave_overrides(app); /* of the one before, whose lease lapsed a moment ago */
        app->lease.token = token;
        app->lease.ms = ms < most ? ms : most;
        app->lease.left = lease_ticks(&app->lease, (uint32_t)app->parameter[PARAMETER_rate_hz]);
    } else if (mine) {
        end(app);
    }
    app_clock_unlock(lock);
    return free || mine ? APP_OK : APP_E_LEASE;
}

/* Returns the place of an override in the list; app->overrides.count if there is none. */
static uint32_t place_of(const app_t *app, uint32_t parameter, uint32_t at) {
    const overrides_t *o = &app->overrides;
    uint32_t k = 0;
    while (k < o->count && (o->parameter[k] != parameter || o->joint[k] != at))
        k++;
    return k;
}

bool setup_overridden(const app_t *app, uint32_t parameter, uint32_t at) {
    return place_of(app, parameter, at) < app->overrides.count;
}

int app_lasting(const app_t *app, uint32_t parameter, uint32_t at, float *value) {
    const uint32_t k = place_of(app, parameter, at);
    const int status = app_get(app, parameter, at, value);
    if (status == APP_OK && k < app->overrides.count)
        *value = app->overrides.beneath[k];
    return status;
}

/* The guards of the real arm cannot be overridden, and neither can what changes only while the
 * outputs are off: a lapsed lease could not take it back at once. */
static bool may_override(const app_t *app, uint32_t parameter) {
    const parameter_info_t *info = &parameter_table[parameter];
    return app->parameter[PARAMETER_arm] == ARM_SIMULATED
               ? parameter != PARAMETER_arm
               : info->weaker == 0 && !info->idle_only && parameter != PARAMETER_brakes;
}

int app_override(app_t *app, uint32_t token, uint32_t parameter, uint32_t at, float value) {
    overrides_t *o = &app->overrides;
    float beneath;
    app->where = at;
    if (!lease_mine(&app->lease, token))
        return APP_E_LEASE;
    if (app_get(app, parameter, at, &beneath) != APP_OK)
        return APP_E_PARAMETER;
    const uint32_t k = place_of(app, parameter, at);
    if (!may_override(app, parameter) || k == APP_OVERRIDES || (k < o->count && o->over[k]))
        return APP_E_OVERRIDE;
    const int status = setup_change(app, parameter, at, value);
    if (status != APP_OK || k < o->count)
        return status;
    o->parameter[k] = (uint8_t)parameter;
    o->joint[k] = (uint8_t)at;
    o->beneath[k] = beneath;
    o->over[k] = 0;
    o->count++;
    setup_notice(app);
    return APP_OK;
}

static void take_out(overrides_t *o, uint32_t k) {
    for (o->count--; k < o->count; k++) {
        o->parameter[k] = o->parameter[k + 1];
        o->joint[k] = o->joint[k + 1];
        o->beneath[k] = o->beneath[k + 1];
        o->over[k] = o->over[k + 1];
    }
}

static bool ends(const overrides_t *o, uint32_t k, bool fault) {
    return o->over[k] || (fault && parameter_table[o->parameter[k]].weaker != 0);
}

/* The last override comes first, so that every step passes through values that have been together
 * before. What the outputs keep from changing stays in the list, and so does whatever else is not
 * back in its place: the next turn tries again. */
static void end_overrides(app_t *app, bool fault) {
    overrides_t *o = &app->overrides;
    float now;
    for (uint32_t k = o->count; k-- > 0;)
        if (ends(o, k, fault))
            (void)setup_restore(app, o->parameter[k], o->joint[k], o->beneath[k]);
    for (uint32_t k = o->count; k-- > 0;)
        if (ends(o, k, fault) && app_get(app, o->parameter[k], o->joint[k], &now) == APP_OK &&
            now == o->beneath[k])
            take_out(o, k);
    setup_notice(app);
}

void setup_end_overrides(app_t *app) {
    leave_overrides(app);
    end_overrides(app, false);
}

void app_poll(app_t *app) {
    if (app->overrides.count == 0)
        return;
    if (!lease_held(&app->lease))
        leave_overrides(app);
    end_overrides(app, app->safety.state == APP_STATE_FAULT);
}

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

/* The command that took the overrides has lost its lease, or a fault ends those of guards. They wait
 * for the background. */
static void leave_overrides(app_t *app, bool all) {
    for (uint32_t k = 0; k < app->overrides.count; k++)
        if (all || parameter_table[app->overrides.row[k].parameter].weaker != 0)
            app->overrides.row[k].over |= OVERRIDE_OVER;
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Neither another rate nor the real arm makes a lease longer than it may be. */
void setup_cap_lease(app_t *app) {
    const bool simulated = app->parameter[PARAMETER_arm] == ARM_SIMULATED;
    const uint32_t lock = app_clock_lock(), rate = (uint32_t)app->parameter[PARAMETER_rate_hz];
    app->lease.ms = least(app->lease.ms, simulated ? LEASE_SIMULATED_MS : LEASE_MS);
    app->lease.left = least(app->lease.left, lease_ticks(&app->lease, rate));
    app_clock_unlock(lock);
}

int app_lease(app_t *app, uint32_t token, uint32_t ms) {
    app->where = UINT32_MAX;
    if (token == 0)
        return APP_E_NUMBER;
    const uint32_t lock = app_clock_lock();
    const bool free = !lease_held(&app->lease), mine = lease_mine(&app->lease, token);
    if (ms > 0 && (free || mine)) {
        if (free)
            leave_overrides(app, true); /* of the one before, whose lease lapsed a moment ago */
        app->lease.token = token;
        app->lease.ms = least(ms, LEASE_SIMULATED_MS);
        app->lease.left = UINT32_MAX;
        setup_cap_lease(app);
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
    while (k < o->count && (o->row[k].parameter != parameter || o->row[k].joint != at))
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
    app_poll(app); /* overrides of the client before do not take those of this one along */
    if (app_get(app, parameter, at, &beneath) != APP_OK)
        return APP_E_PARAMETER;
    const uint32_t k = place_of(app, parameter, at);
    if (!may_override(app, parameter) || k == APP_OVERRIDES || (k < o->count && o->row[k].over))
        return APP_E_OVERRIDE;
    if (app->safety.state == APP_STATE_FAULT && parameter_table[parameter].weaker != 0)
        return APP_E_STATE; /* it would end at once */
    const int status = setup_change(app, parameter, at, value);
    if (status != APP_OK || k < o->count)
        return status;
    o->row[k] = (override_t){(uint8_t)parameter, at & 31u, 0};
    o->beneath[k] = beneath;
    o->count++;
    setup_notice(app);
    return APP_OK;
}

static void take_out(overrides_t *o, uint32_t k) {
    for (o->count--; k < o->count; k++) {
        o->row[k] = o->row[k + 1];
        o->beneath[k] = o->beneath[k + 1];
    }
}

/* The last override comes first, so that every step passes through values that have been together
 * before. What the outputs keep from changing stays in the list, and so does whatever else is not
 * back in its place: the next turn tries again. A value that is refused is tried again only while
 * the outputs are off: each attempt disturbs the torques. */
static void end_overrides(app_t *app) {
    overrides_t *o = &app->overrides;
    const bool rests = app_rests(app);
    float now;
    for (uint32_t k = o->count; k-- > 0;) {
        if (!o->row[k].over || (o->row[k].over == OVERRIDE_REFUSED && !rests))
            continue;
        const int status = setup_restore(app, o->row[k].parameter, o->row[k].joint, o->beneath[k]);
        if (status != APP_OK && status != APP_E_STATE)
            o->row[k].over = OVERRIDE_REFUSED;
    }
    for (uint32_t k = o->count; k-- > 0;)
        if (o->row[k].over && app_get(app, o->row[k].parameter, o->row[k].joint, &now) == APP_OK &&
            now == o->beneath[k])
            take_out(o, k);
    setup_notice(app);
}

void setup_forget_overrides(app_t *app) {
    overrides_t *o = &app->overrides;
    for (uint32_t k = 0; k < o->count; k++)
        *setup_place(app, o->row[k].parameter, o->row[k].joint) = o->beneath[k];
    o->count = 0;
}

void app_poll(app_t *app) {
    const bool left = !lease_held(&app->lease);
    if (left || app->safety.state == APP_STATE_FAULT)
        leave_overrides(app, left);
    if (app->overrides.count > 0)
        end_overrides(app);
    if (app->loaded)
        setup_judge_load(app);
}

/* firmware/link/server_room.h: requests for parameters, samples and motions. */
#include "firmware/link/server_room.h"

#include <string.h>

/* ----------------------------------------------------------------------------------- parameters */

int serve_GET(server_t *server, exchange_t *x) {
    float value;
    if (x->size != 2)
        return LINK_SIZE;
    if (x->in[0] >= PARAMETERS || app_get(server->app, x->in[0], x->in[1], &value) != APP_OK)
        return LINK_INDEX;
    out_f32(x, value);
    (void)app_lasting(server->app, x->in[0], x->in[1], &value);
    out_u8(x, set_contains(&server->store, x->in[0], x->in[1], value));
    return LINK_OK;
}

/* Sets the parameter that `at` names, or overrides it for the client with this token. */
static int set(server_t *server, exchange_t *x, const uint8_t at[6], const uint32_t *token) {
    float value = 0;
    if (at[0] >= PARAMETERS)
        return LINK_INDEX;
    telemetry_t *telemetry = &server->telemetry;
    const float wanted = get_f32(at + 2);
    if (telemetry_allows(telemetry, server->app, at[0], wanted, SERVER_PAYLOAD,
                         server->port->baud) != LINK_OK)
        return LINK_BUDGET;
    const int reason = token ? app_override(server->app, *token, at[0], at[1], wanted)
                             : app_set(server->app, at[0], at[1], wanted);
    if (reason != APP_OK)
        return server_refused(x, reason);
    if (at[0] == PARAMETER_sample_every && telemetry->fields > 0)
        telemetry->every = (uint32_t)wanted; /* for topic CHOICE and for SAVE */
    (void)app_get(server->app, at[0], at[1], &value);
    out_f32(x, value);
    return LINK_OK;
}

int serve_SET(server_t *server, exchange_t *x) {
    return x->size == 6 ? set(server, x, x->in, NULL) : LINK_SIZE;
}

int serve_OVERRIDE(server_t *server, exchange_t *x) {
    if (x->size != 10)
        return LINK_SIZE;
    const uint32_t token = get_u32(x->in);
    return set(server, x, x->in + 4, &token);
}

/* ---------------------------------------------------------------------------------------- lease */

int serve_LEASE(server_t *server, exchange_t *x) {
    if (x->size < 7 || x->in[x->size - 1] != 0)
        return LINK_SIZE;
    const uint32_t ms = get_u16(x->in + 4);
    const telemetry_t *telemetry = &server->telemetry;
    const int reason = app_lease(server->app, get_u32(x->in), ms);
    if (reason == APP_OK && ms > 0 && !server->led) {
        memcpy(server->found, telemetry->field, sizeof server->found);
        server->founds = telemetry->fields;
        (void)app_get(server->app, PARAMETER_sample_every, 0, &server->found_every);
    }
    if (reason == APP_OK)
        server->led = ms > 0;
    for (size_t i = 0; reason == APP_OK && ms > 0 && i + 1 < SERVER_HOLDER && 6 + i < x->size; i++)
        server->holder[i] = (char)x->in[6 + i];
    return server_refused(x, reason);
}

void server_lease(server_t *server) {
    telemetry_budget_t budget;
    if (!server->led || lease_held(&server->app->lease))
        return;
    server->led = 0;
    (void)telemetry_choose(&server->telemetry, server->app, server->found, server->founds,
                           server->founds > 0 ? (uint32_t)server->found_every : 0, SERVER_PAYLOAD,
                           server->port->baud, &budget);
    (void)app_set(server->app, PARAMETER_sample_every, 0, server->found_every);
}

/* Returns APP_OK if the client may do what concerns the arm: it has the lease, which this renews, so
 * that it does not lapse before the request has been carried out; or nobody has it. */
static int allowed(server_t *server, uint32_t token) {
    const lease_t *lease = &server->app->lease;
    if (lease_mine(lease, token))
        return app_lease(server->app, token, lease->ms);
    return lease_held(lease) ? APP_E_LEASE : APP_OK;
}

/* The same for motions: the real arm moves only for the client that has the lease. It must have it
 * after the renewal, because a tick may have ended it before. */
static int leads(server_t *server, uint32_t token) {
    float arm = ARM_SIMULATED;
    (void)app_get(server->app, PARAMETER_arm, 0, &arm);
    const int reason = allowed(server, token);
    return arm != ARM_SIMULATED && !lease_mine(&server->app->lease, token) ? APP_E_LEASE : reason;
}

/* ------------------------------------------------------------------------------------ telemetry */

int serve_TELEMETRY(server_t *server, exchange_t *x) {
    telemetry_budget_t budget;
    if (x->size < 4)
        return LINK_SIZE;
    const int status =
        telemetry_choose(&server->telemetry, server->app, x->in + 4, x->size - 4, get_u32(x->in),
                         SERVER_PAYLOAD, server->port->baud, &budget);
    out_u16(x, budget.bytes);
    out_u32(x, budget.needed);
    out_u32(x, budget.available);
    return status;
}

int serve_CREDIT(server_t *server, exchange_t *x) {
    if (x->size != 4)
        return LINK_SIZE;
    telemetry_pay(&server->telemetry, server->app, get_u32(x->in));
    return LINK_OK;
}

/* -------------------------------------------------------------------------------------- motions */

int serve_MOTION(server_t *server, exchange_t *x) {
    motion_t motion = {0};
    if (x->size < 9 || (x->size - 9) % 4 != 0 || (x->size - 9) / 4 > DYN_MAX_JOINTS)
        return LINK_SIZE;
    motion.kind = x->in[4];
    motion.duration_s = get_f32(x->in + 5);
    const uint32_t values = (uint32_t)(x->size - 9) / 4;
    const bool optional = motion.kind == MOTION_HOLD || motion.kind == MOTION_POINTS;
    if (values != server_joints(server) && !(values == 0 && optional))
        return LINK_SIZE;
    for (uint32_t i = 0; i < values; i++)
        motion.value[i] = get_f32(x->in + 9 + 4 * i);
    int reason = leads(server, get_u32(x->in));
    if (reason == APP_OK)
        reason = app_motion_start(server->app, &motion);
    out_u16(x, (uint32_t)reason);
    out_u8(x, reason != APP_OK ? app_where(server->app) : 0xff);
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

int serve_POINTS(server_t *server, exchange_t *x) {
    const uint32_t n = server_joints(server);
    float q[SERVER_PAYLOAD / 4];
    if (n == 0 || x->size < 4 || (x->size - 4) % (4 * n) != 0)
        return LINK_SIZE;
    const uint32_t points = (uint32_t)(x->size - 4) / (4 * n);
    for (uint32_t i = 0; i < points * n; i++)
        q[i] = get_f32(x->in + 4 + 4 * i);
    int reason = leads(server, get_u32(x->in));
    if (reason == APP_OK)
        reason =
            points == 0 ? app_points_end(server->app) : app_points_push(server->app, q, points);
    out_u16(x, (uint32_t)reason);
    out_u16(x, app_point_credits(server->app));
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

int serve_STOP(server_t *server, exchange_t *x) {
    if (x->size < 1 || x->size != (x->in[0] == 0 ? 1u : 5u))
        return LINK_SIZE;
    if (x->in[0] == 0)
        return server_refused(x, app_stop(server->app));
    const int reason = allowed(server, get_u32(x->in + 1));
    return server_refused(x, reason == APP_OK ? app_off(server->app) : reason);
}

int serve_CLEAR(server_t *server, exchange_t *x) {
    if (x->size != 0)
        return LINK_SIZE;
    if (server->unrestored && server->app->safety.state != APP_STATE_FAULT) {
        server->unrestored = 0;
        return server_refused(x, APP_OK);
    }
    return server_refused(x, app_clear(server->app));
}

int serve_PLACE(server_t *server, exchange_t *x) {
    const uint32_t n = server_joints(server);
    float q[DYN_MAX_JOINTS];
    if (n == 0 || x->size != 4 + 4 * n)
        return LINK_SIZE;
    for (uint32_t i = 0; i < n; i++)
        q[i] = get_f32(x->in + 4 + 4 * i);
    const int reason = allowed(server, get_u32(x->in));
    return server_refused(x, reason == APP_OK ? app_place(server->app, q) : reason);
}

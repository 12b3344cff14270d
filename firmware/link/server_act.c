/* firmware/link/server_room.h: requests for parameters, samples and motions. */
#include "firmware/link/server_room.h"

/* ----------------------------------------------------------------------------------- parameters */

int serve_GET(server_t *server, exchange_t *x) {
    float value;
    if (x->size != 2)
        return LINK_SIZE;
    if (x->in[0] >= PARAMETERS || app_get(server->app, x->in[0], x->in[1], &value) != APP_OK)
        return LINK_INDEX;
    out_f32(x, value);
    out_u8(x, set_contains(&server->store, x->in[0], x->in[1], value));
    return LINK_OK;
}

int serve_SET(server_t *server, exchange_t *x) {
    float value = 0;
    if (x->size != 6)
        return LINK_SIZE;
    if (x->in[0] >= PARAMETERS)
        return LINK_INDEX;
    telemetry_t *telemetry = &server->telemetry;
    const float wanted = get_f32(x->in + 2);
    if (telemetry_allows(telemetry, server->app, x->in[0], wanted, SERVER_PAYLOAD,
                         server->port->baud) != LINK_OK)
        return LINK_BUDGET;
    const int reason = app_set(server->app, x->in[0], x->in[1], wanted);
    if (reason != APP_OK)
        return server_refused(x, reason);
    if (x->in[0] == PARAMETER_sample_every && telemetry->fields > 0)
        telemetry->every = (uint32_t)wanted; /* for topic CHOICE and for SAVE */
    (void)app_get(server->app, x->in[0], x->in[1], &value);
    out_f32(x, value);
    return LINK_OK;
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
    if (x->size < 5 || (x->size - 5) % 4 != 0 || (x->size - 5) / 4 > DYN_MAX_JOINTS)
        return LINK_SIZE;
    motion.kind = x->in[0];
    motion.duration_s = get_f32(x->in + 1);
    const uint32_t values = (uint32_t)(x->size - 5) / 4;
    if (values != 0 && values != server_joints(server))
        return LINK_SIZE;
    for (uint32_t i = 0; i < values; i++)
        motion.value[i] = get_f32(x->in + 5 + 4 * i);
    const int reason = app_motion_start(server->app, &motion);
    out_u16(x, (uint32_t)reason);
    out_u8(x, reason != APP_OK ? app_where(server->app) : 0xff);
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

int serve_POINTS(server_t *server, exchange_t *x) {
    const uint32_t n = server_joints(server);
    if (n == 0 || x->size % (4 * n) != 0)
        return LINK_SIZE;
    const uint32_t points = (uint32_t)x->size / (4 * n);
    int reason = APP_OK;
    if (points == 0)
        reason = app_points_end(server->app);
    else if (app_point_credits(server->app) > 0 && points > app_point_credits(server->app))
        /* If there are more points than credits, none is taken. With no credit at all,
         * app_point_push states the reason. */
        reason = APP_E_ROOM;
    for (uint32_t p = 0; p < points && reason == APP_OK; p++) {
        float q[DYN_MAX_JOINTS];
        for (uint32_t i = 0; i < n; i++)
            q[i] = get_f32(x->in + 4 * (p * n + i));
        reason = app_point_push(server->app, q);
    }
    out_u16(x, (uint32_t)reason);
    out_u16(x, app_point_credits(server->app));
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

int serve_STOP(server_t *server, exchange_t *x) {
    if (x->size != 1)
        return LINK_SIZE;
    return server_refused(x, x->in[0] == 0 ? app_stop(server->app) : app_off(server->app));
}

int serve_CLEAR(server_t *server, exchange_t *x) {
    return x->size == 0 ? server_refused(x, app_clear(server->app)) : LINK_SIZE;
}

int serve_PLACE(server_t *server, exchange_t *x) {
    const uint32_t n = server_joints(server);
    float q[DYN_MAX_JOINTS];
    if (n == 0 || x->size != 4 * n)
        return LINK_SIZE;
    for (uint32_t i = 0; i < n; i++)
        q[i] = get_f32(x->in + 4 * i);
    return server_refused(x, app_place(server->app, q));
}

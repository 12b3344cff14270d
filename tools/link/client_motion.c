/* Commands for the arm, for tools/link/client.h: motions, stops, and rows that the board's kernels
 * evaluate. */
#include <math.h>

#include "firmware/app/app.h"
#include "firmware/params/bytes.h"
#include "tools/link/client.h"

/* -------------------------------------------------------------------------------------- motions */

/* 2000 answers take over 20 ms; ticks are at most 10 ms apart. */
enum { STATE_POLLS = 2000 };

static int send_motion(client_t *client, const motion_t *motion) {
    uint8_t request[9 + 4 * DYN_MAX_JOINTS];
    const uint32_t n =
        motion->kind == MOTION_HOLD || motion->kind == MOTION_POINTS ? 0 : client->device.joints;
    put_u32(request, client->token);
    request[4] = (uint8_t)motion->kind;
    put_f32(request + 5, motion->duration_s);
    for (uint32_t i = 0; i < n; i++)
        put_f32(request + 9 + 4 * i, motion->value[i]);
    return client_ask(client, ASK_MOTION, request, 9 + 4 * (size_t)n);
}

/* Holds an arm that is damped, which must come before any other motion. Returns false if the arm is
 * not damped, or is not held. */
static bool hold_damped(client_t *client) {
    const motion_t hold = {.kind = MOTION_HOLD};
    device_status_t status;
    if (client_status(client, &status) != 0 || status.state != APP_STATE_DAMPING ||
        send_motion(client, &hold) != 0)
        return false;
    for (int i = 0; i < STATE_POLLS && status.state == APP_STATE_DAMPING; i++)
        if (client_status(client, &status) != 0)
            return false;
    return status.state == APP_STATE_RUNNING;
}

int client_motion(client_t *client, const motion_t *motion) {
    if (client_lead(client, "appell") != 0)
        return -1;
    if (send_motion(client, motion) == 0)
        return 0;
    const port_error_t refused = client->error;
    const int status = client->status, reason = client->reason, place = client->place;
    if (reason == APP_E_STATE && hold_damped(client))
        return send_motion(client, motion);
    client->error = refused;
    client->status = status;
    client->reason = reason;
    client->place = place;
    return -1;
}

int client_points(client_t *client, const float *point, uint32_t points, uint32_t *credits) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    const uint32_t numbers = points * client->device.joints;
    if (4 + numbers * 4 > client->device.payload) {
        port_fail(&client->error, "send fewer points at once", "%u points do not fit into a frame",
                  (unsigned)points);
        return -1;
    }
    put_u32(request, client->token);
    for (uint32_t i = 0; i < numbers; i++)
        put_f32(request + 4 + 4 * i, point[i]);
    const int status = client_ask(client, ASK_POINTS, request, 4 + 4 * (size_t)numbers);
    *credits = client->reply_size >= 4 ? get_u16(client->reply + 2) : 0;
    return status;
}

int client_stop(client_t *client, bool at_once) {
    uint8_t request[5] = {at_once};
    put_u32(request + 1, client->token);
    return client_ask(client, ASK_STOP, request, at_once ? 5 : 1);
}

int client_clear(client_t *client) {
    return client_ask(client, ASK_CLEAR, NULL, 0);
}

int client_off(client_t *client) {
    device_status_t first, now;
    if (client_simulated(client, "a release by a command") != 0 || client_stop(client, true) != 0 ||
        client_status(client, &first) != 0)
        return -1;
    for (int i = 0; i < STATE_POLLS; i++) {
        if (client_status(client, &now) != 0)
            return -1;
        if (now.tick == first.tick)
            continue;
        if (now.state == APP_STATE_UNCONFIGURED || now.state == APP_STATE_IDLE)
            return 0;
        if (now.state == APP_STATE_FAULT && client_clear(client) != 0)
            return -1;
    }
    port_fail(&client->error, "look at the board's console", "the outputs do not switch off");
    return -1;
}

int client_place(client_t *client, const float *q) {
    uint8_t request[4 + 4 * DYN_MAX_JOINTS];
    put_u32(request, client->token);
    for (uint32_t i = 0; i < client->device.joints; i++)
        put_f32(request + 4 + 4 * i, q[i]);
    return client_ask(client, ASK_PLACE, request, 4 + 4 * (size_t)client->device.joints);
}

/* ----------------------------------------------------------------------------------------- rows */

int client_wrench(client_t *client, const double wrench[6]) {
    uint8_t request[48];
    for (int i = 0; i < 6; i++)
        put_f64(request + 8 * i, wrench[i]);
    return client_ask(client, ASK_WRENCH, request, sizeof request);
}

int client_row(client_t *client, uint32_t method, const double *in, size_t inputs, double *out,
               size_t outputs, uint32_t *limited, uint32_t *cost) {
    uint8_t request[PROTOCOL_PAYLOAD_MAX];
    for (size_t at = 0; at < inputs;) {
        const size_t most = (client->device.payload - 2u) / 8;
        const size_t n = inputs - at < most ? inputs - at : most;
        put_u16(request, (uint32_t)at);
        for (size_t i = 0; i < n; i++)
            put_f64(request + 2 + 8 * i, in[at + i]);
        if (client_ask(client, ASK_ROW_PUT, request, 2 + 8 * n) != 0)
            return -1;
        at += n;
    }
    request[0] = (uint8_t)method;
    if (client_ask(client, ASK_ROW_RUN, request, 1) != 0)
        return -1;
    *limited = client->reply_size >= 10 ? get_u32(client->reply + 2) : 0;
    *cost = client->reply_size >= 10 ? get_u32(client->reply + 6) : 0;
    for (size_t at = 0; at < outputs;) {
        const size_t most = (client->device.payload - 1u) / 8;
        const size_t n = outputs - at < most ? outputs - at : most;
        put_u16(request, (uint32_t)at);
        request[2] = (uint8_t)n;
        if (client_ask(client, ASK_ROW_GET, request, 3) != 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            out[at + i] =
                client->reply_size >= 8 * (i + 1) ? get_f64(client->reply + 8 * i) : (double)NAN;
        at += n;
    }
    return 0;
}

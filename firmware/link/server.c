/* firmware/link/server.h: reads the line, dispatches requests (firmware/link/server_room.h), and
 * repeats the answer to a repeated ONCE request. */
#include "firmware/params/bytes.h"
#include "firmware/link/server_room.h"

#include <string.h>

/* Not inlined: a status is large, and its stack must be free again before other functions run. */
__attribute__((noinline)) uint32_t server_joints(const server_t *server) {
    app_status_t status;
    app_status(server->app, &status);
    return status.joints;
}

int server_refused(exchange_t *x, int reason) {
    out_u16(x, (uint32_t)reason);
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

int serve_RESET(server_t *server, exchange_t *x) {
    if (x->size != 4)
        return LINK_SIZE;
    if (get_u32(x->in) != RESET_WORD || server->port->reset == NULL)
        return LINK_ABSENT;
    if (!app_rests(server->app))
        return LINK_STATE;
    if (lease_held(&server->app->lease))
        return LINK_LEASED;
    server->resetting = 1;
    return LINK_OK;
}

enum { AGAIN, ONCE };

static const struct {
    int (*run)(server_t *server, exchange_t *x);
    uint8_t once;
} handlers[] = {
#define X(number, name, once, request, reply, help) [number] = {serve_##name, once},
    ASK_TABLE(X)
#undef X
};

static void send(server_t *server, const uint8_t head[PROTOCOL_HEAD], size_t size) {
    uint8_t *content = server->tx + FRAME_WRITE_AT;
    content[0] = (uint8_t)(head[0] | PROTOCOL_REPLY);
    content[1] = head[1];
    server->reply = frame_close(server->tx, PROTOCOL_HEAD + size);
}

__attribute__((noinline)) static int dispatch(server_t *server, uint8_t message, exchange_t *x) {
    return handlers[message].run(server, x);
}

static void answer(server_t *server, const uint8_t *frame, size_t size) {
    const uint8_t message = frame[0];
    uint8_t *const payload = server->tx + FRAME_WRITE_AT + PROTOCOL_HEAD;
    exchange_t x = {.in = frame + PROTOCOL_HEAD,
                    .size = size - PROTOCOL_HEAD,
                    .out = payload,
                    .room = SERVER_PAYLOAD,
                    .used = 1};
    const uint32_t crc = crc32_add(0, frame, size);
    if (server->once_valid && server->once_crc == crc &&
        memcmp(server->once_head, frame, PROTOCOL_HEAD) == 0) {
        memcpy(payload, server->once_reply, server->once_size);
        send(server, frame, server->once_size);
        return;
    }
    /* Any other request shows that the host has the answer or has given up waiting for it, so the
     * answer is forgotten: the sequence numbers come again after 256 requests. */
    const bool known =
        message < sizeof handlers / sizeof handlers[0] && handlers[message].run != NULL;
    server->once_valid = known && handlers[message].once;
    payload[0] = (uint8_t)(known ? dispatch(server, message, &x) : LINK_MESSAGE);
    if (server->once_valid) {
        server->once_crc = crc;
        memcpy(server->once_head, frame, PROTOCOL_HEAD);
        server->once_size = (uint8_t)x.used;
        memcpy(server->once_reply, payload, x.used);
    }
    send(server, frame, x.used);
}

/* Each call through a pointer is in its own function, so that tools/dev/stack.py --indirect can
 * compute a bound on the stack. */
__attribute__((noinline)) static bool line_read(const server_port_t *port, uint8_t *byte) {
    return port->read(port->context, byte, 1) == 1;
}

__attribute__((noinline)) static size_t line_room(const server_port_t *port) {
    return port->write_free(port->context);
}

__attribute__((noinline)) static bool line_write(const server_port_t *port, const uint8_t *bytes,
                                                 size_t size) {
    return port->write(port->context, bytes, size);
}

__attribute__((noinline)) static void start_again(const server_port_t *port) {
    port->reset(port->context);
}

/* Sends the answer in tx. The answer stays there until the line has room. */
static bool flush(server_t *server) {
    if (server->reply > 0) {
        if (line_room(server->port) < server->reply ||
            !line_write(server->port, server->tx, server->reply))
            return false;
        server->reply = 0;
        if (server->resetting)
            start_again(server->port);
    }
    return true;
}

/* Takes at most one request. A change of the tick's rate must take effect in the main loop before
 * the next request, which may be a motion. */
static bool receive(server_t *server) {
    bool any = false;
    uint8_t byte;
    while (flush(server) && line_read(server->port, &byte)) {
        const size_t size = frame_take(&server->reader, byte);
        any = true;
        if (size >= PROTOCOL_HEAD) {
            answer(server, server->rx, size);
            (void)flush(server);
            break;
        }
    }
    return any;
}

static void send_samples(server_t *server) {
    const server_port_t *port = server->port;
    const uint32_t n = server_joints(server);
    for (unsigned i = 0; i < APP_SAMPLES; i++) {
        const size_t size = telemetry_next(&server->telemetry, server->app, n, server->tx,
                                           SERVER_PAYLOAD, line_room(port));
        if (size == 0 || !line_write(port, server->tx, size))
            return;
    }
}

bool server_poll(server_t *server) {
    const bool any = receive(server);
    app_poll(server->app);
    server_lease(server);
    if (server->reply == 0)
        send_samples(server);
    return any;
}

void server_start(server_t *server, app_t *app, const server_port_t *port) {
    memset(server, 0, sizeof *server);
    server->app = app;
    server->port = port;
    server->store.current = STORE_NONE;
    frame_reader_init(&server->reader, server->rx, sizeof server->rx);
    server_load_stored(server);
}

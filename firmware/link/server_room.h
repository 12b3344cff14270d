/* Shared by the files of the server: a request with the place for its answer, and one handler for
 * each message of the protocol. server.c reads the line and calls the handler. The handlers are in
 * server_report.c (reports of the board), server_image.c (robot image and store), server_act.c
 * (parameters, samples, motions) and server_batch.c (computation for the tool). */
#ifndef FIRMWARE_LINK_SERVER_ROOM_H
#define FIRMWARE_LINK_SERVER_ROOM_H

#include "firmware/link/server.h"

/* A request and the place for its answer; `used` is the size of the answer so far. */
typedef struct {
    const uint8_t *in;
    size_t size;
    uint8_t *out;
    size_t room;
    size_t used;
} exchange_t;

/* A handler returns a link_status_t. It writes the answer to x->out, after the place of the
 * status. */
#define X(number, name, once, request, reply, help)                                                \
    int serve_##name(server_t *server, exchange_t *x);
ASK_TABLE(X)
#undef X

static inline void out_u8(exchange_t *x, uint32_t value) {
    x->out[x->used++] = (uint8_t)value;
}

static inline void out_u16(exchange_t *x, uint32_t value) {
    put_u16(x->out + x->used, value);
    x->used += 2;
}

static inline void out_u32(exchange_t *x, uint32_t value) {
    put_u32(x->out + x->used, value);
    x->used += 4;
}

static inline void out_f32(exchange_t *x, float value) {
    put_f32(x->out + x->used, value);
    x->used += 4;
}

/* Writes a text, truncated to the room that is left. */
static inline void out_text(exchange_t *x, const char *text) {
    while (*text != '\0' && x->used + 1 < x->room)
        out_u8(x, (uint8_t)*text++);
    out_u8(x, 0);
}

uint32_t server_joints(const server_t *server);
/* Returns whether the store holds every lasting value of the parameters. */
bool server_saved(const server_t *server);
/* Answers with an app_error_t. */
int server_refused(exchange_t *x, int reason);

/* The turn of the background: what a client chose whose lease has lapsed ends. */
void server_lease(server_t *server);
/* Loads the stored set into the application when the board starts. */
void server_load_stored(server_t *server);

#endif

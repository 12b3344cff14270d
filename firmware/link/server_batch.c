/* firmware/link/server_room.h: requests for batch rows, which the board computes for the tool. */
#include "firmware/link/server_room.h"

int serve_ROW_PUT(server_t *server, exchange_t *x) {
    const server_batch_t *batch = server->port->batch;
    if (batch == NULL)
        return LINK_ABSENT;
    if (x->size < 2 || (x->size - 2) % 8 != 0)
        return LINK_SIZE;
    const uint32_t first = get_u16(x->in), count = (uint32_t)(x->size - 2) / 8;
    if (first + count > batch->row_room)
        return LINK_INDEX;
    for (uint32_t i = 0; i < count; i++)
        batch->row[first + i] = get_f64(x->in + 2 + 8 * i);
    return LINK_OK;
}

__attribute__((noinline)) static int batch_run(const server_batch_t *batch, uint8_t method,
                                               int *reason, uint32_t *limited, uint32_t *cost) {
    return batch->run(batch->context, method, reason, limited, cost);
}

__attribute__((noinline)) static int batch_wrench(const server_batch_t *batch,
                                                  const double wrench[6]) {
    return batch->wrench(batch->context, wrench);
}

int serve_ROW_RUN(server_t *server, exchange_t *x) {
    const server_batch_t *batch = server->port->batch;
    int reason = APP_OK;
    uint32_t limited = 0, cost = 0;
    if (batch == NULL)
        return LINK_ABSENT;
    if (x->size != 1)
        return LINK_SIZE;
    if (!app_rests(server->app))
        return LINK_STATE;
    const int status = batch_run(batch, x->in[0], &reason, &limited, &cost);
    out_u16(x, (uint32_t)reason);
    out_u32(x, limited);
    out_u32(x, cost);
    return status;
}

int serve_ROW_GET(server_t *server, exchange_t *x) {
    const server_batch_t *batch = server->port->batch;
    if (batch == NULL)
        return LINK_ABSENT;
    if (x->size != 3)
        return LINK_SIZE;
    const uint32_t first = get_u16(x->in), count = x->in[2];
    if (first + count > batch->row_room || 8 * count > x->room - x->used)
        return LINK_INDEX;
    for (uint32_t i = 0; i < count; i++) {
        put_f64(x->out + x->used, batch->row[first + i]);
        x->used += 8;
    }
    return LINK_OK;
}

int serve_WRENCH(server_t *server, exchange_t *x) {
    const server_batch_t *batch = server->port->batch;
    double wrench[6];
    if (batch == NULL)
        return LINK_ABSENT;
    if (x->size != sizeof wrench)
        return LINK_SIZE;
    for (unsigned i = 0; i < 6; i++)
        wrench[i] = get_f64(x->in + 8 * i);
    return batch_wrench(batch, wrench);
}

/* firmware/link/server_room.h: rows that the board computes for the tool. */
#include "firmware/link/server_room.h"

int serve_ROW_PUT(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    if (rows == NULL)
        return LINK_ABSENT;
    if (x->size < 2 || (x->size - 2) % 8 != 0)
        return LINK_SIZE;
    const uint32_t first = get_u16(x->in), count = (uint32_t)(x->size - 2) / 8;
    if (first + count > rows->row_room)
        return LINK_INDEX;
    for (uint32_t i = 0; i < count; i++)
        rows->row[first + i] = get_f64(x->in + 2 + 8 * i);
    return LINK_OK;
}

__attribute__((noinline)) static int rows_run(const server_rows_t *rows, uint8_t method,
                                              int *reason, uint32_t *limited, uint32_t *cost) {
    return rows->run(rows->context, method, reason, limited, cost);
}

__attribute__((noinline)) static int rows_wrench(const server_rows_t *rows,
                                                 const double wrench[6]) {
    return rows->wrench(rows->context, wrench);
}

int serve_ROW_RUN(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    int reason = APP_OK;
    uint32_t limited = 0, cost = 0;
    if (rows == NULL)
        return LINK_ABSENT;
    if (x->size != 1)
        return LINK_SIZE;
    if (!app_rests(server->app))
        return LINK_STATE;
    const int status = rows_run(rows, x->in[0], &reason, &limited, &cost);
    out_u16(x, (uint32_t)reason);
    out_u32(x, limited);
    out_u32(x, cost);
    return status;
}

int serve_ROW_GET(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    if (rows == NULL)
        return LINK_ABSENT;
    if (x->size != 3)
        return LINK_SIZE;
    const uint32_t first = get_u16(x->in), count = x->in[2];
    if (first + count > rows->row_room || 8 * count > x->room - x->used)
        return LINK_INDEX;
    for (uint32_t i = 0; i < count; i++) {
        put_f64(x->out + x->used, rows->row[first + i]);
        x->used += 8;
    }
    return LINK_OK;
}

int serve_WRENCH(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    double wrench[6];
    if (rows == NULL)
        return LINK_ABSENT;
    if (x->size != sizeof wrench)
        return LINK_SIZE;
    for (unsigned i = 0; i < 6; i++)
        wrench[i] = get_f64(x->in + 8 * i);
    return rows_wrench(rows, wrench);
}

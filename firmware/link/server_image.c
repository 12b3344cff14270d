/* firmware/link/server_room.h: requests that receive, run and store robot images. */
#include "firmware/params/bytes.h"
#include "firmware/link/server_room.h"

#include <string.h>

static bool in_place(const server_t *server) {
    return (server->port->flags & HELLO_IN_PLACE) != 0;
}

static const uint8_t *slot_image(const server_t *server, unsigned slot) {
    return server->port->slot[slot] + STORE_HEAD + SET_IMAGE;
}

static int store_refused(exchange_t *x, int status) {
    out_u16(x, (uint32_t)(REASON_STORE + status));
    return LINK_STORE;
}

static void runs(server_t *server, const uint8_t *image, uint32_t length, uint8_t source) {
    server->running = image;
    server->running_length = length;
    server->running_crc = crc32_add(0, image, length);
    server->source = source;
    server->reason = APP_OK;
}

static bool has_batch(const server_t *server, int real) {
    const server_batch_t *batch = server->port->batch;
    return batch != NULL && real < 8 && (batch->reals >> real & 1) != 0;
}

int serve_IMAGE_BEGIN(server_t *server, exchange_t *x) {
    if (x->size != 9)
        return LINK_SIZE;
    const uint32_t length = get_u32(x->in + 1);
    const uint8_t target = x->in[0];
    server->incoming = 0;
    if (!app_rests(server->app))
        return LINK_STATE;
    if (target == TARGET_APP && lease_held(&server->app->lease))
        return LINK_LEASED;
    if (target >= TARGET_BATCH && !has_batch(server, target - TARGET_BATCH))
        return LINK_ABSENT;
    if (in_place(server) && target == TARGET_APP) {
        int status = server->port->medium == NULL
                         ? STORE_E_MEDIUM
                         : store_begin(&server->store, length + SET_TABLES);
        if (status == STORE_OK)
            status = set_put_head(&server->store, length);
        if (status != STORE_OK)
            return store_refused(x, status);
    } else if (length > server->port->image_room) {
        return LINK_ROOM;
    }
    server->incoming = 1;
    server->incoming_target = target;
    server->incoming_length = length;
    server->incoming_crc = get_u32(x->in + 5);
    server->received = server->received_crc = 0;
    return LINK_OK;
}

int serve_IMAGE_DATA(server_t *server, exchange_t *x) {
    if (x->size < 5)
        return LINK_SIZE;
    const uint32_t offset = get_u32(x->in), count = (uint32_t)x->size - 4;
    const uint8_t *bytes = x->in + 4;
    if (!server->incoming || offset > server->received)
        return LINK_ORDER;
    if (offset < server->received)
        return offset + count == server->received ? LINK_OK : LINK_ORDER;
    if (count > server->incoming_length - offset)
        return LINK_ORDER;
    if (in_place(server) && server->incoming_target == TARGET_APP) {
        if (!app_rests(server->app)) /* the tick stalls while the flash is written */
            return LINK_STATE;
        const int status = store_put(&server->store, bytes, count);
        if (status != STORE_OK) {
            server->incoming = 0;
            return store_refused(x, status);
        }
    } else {
        memcpy(server->port->incoming + offset, bytes, count);
    }
    server->received += count;
    server->received_crc = crc32_add(server->received_crc, bytes, count);
    return LINK_OK;
}

static int answer_image(server_t *server, exchange_t *x, int reason, bool kept) {
    out_u16(x, (uint32_t)reason);
    out_u8(x, reason != APP_OK && server->place < DYN_MAX_JOINTS ? server->place : 0xff);
    out_u8(x, kept);
    return reason == APP_OK ? LINK_OK : reason <= REASON_STORE ? LINK_STORE : LINK_APP;
}

_Static_assert((int)SET_VALUES <= (int)APP_LENT, "the parameters must fit the memory of motions");

/* Saves the parameters of the running arm before another arm is tried (back is false), or restores
 * them (back is true), in two rounds: a lower limit may have to wait for the upper one. */
static void each_parameter(app_t *app, float *value, bool back) {
    for (int round = 0; round < 1 + back; round++) {
        unsigned i = 0;
        for (uint32_t t = 0; t < PARAMETERS; t++) {
            const uint32_t count = parameter_table[t].per_joint ? app->n : 1;
            for (uint32_t joint = 0; joint < count; joint++, i++)
                (void)(back ? app_set(app, t, joint, value[i])
                            : app_lasting(app, t, joint, &value[i]));
        }
    }
}

/* Loads the previous arm and its parameters again. */
static void run_again(server_t *server) {
    float *before = app_lend(server->app); /* load() has saved the parameters there */
    if (app_load(server->app, server->running, server->running_length) == APP_OK && before != NULL)
        each_parameter(server->app, before, true);
}

/* Loads a new arm. If it is refused, the previous arm is loaded again with its parameters. */
static int load(server_t *server, const uint8_t *image, uint32_t length) {
    telemetry_budget_t budget;
    const bool ran = server->running_length > 0;
    float *before = app_lend(server->app);
    if (before == NULL)
        return APP_E_STATE;
    if (ran)
        each_parameter(server->app, before, false);
    const int reason = app_load(server->app, image, length);
    server->place = app_where(server->app);
    if (reason == APP_OK) { /* the telemetry choice was for another arm */
        (void)telemetry_choose(&server->telemetry, server->app, NULL, 0, 0, SERVER_PAYLOAD,
                               server->port->baud, &budget);
    } else if (ran) {
        run_again(server);
    }
    return reason;
}

/* Runs the received image, which is already in the spare slot and is used there. The slot is
 * committed only after the image was accepted. */
static int take_in_place(server_t *server, exchange_t *x) {
    const uint8_t *image = slot_image(server, store_spare(&server->store));
    const int reason = load(server, image, server->incoming_length);
    if (reason != APP_OK)
        return answer_image(server, x, reason, false);
    int status = set_put_tables(&server->store, server->app, &server->telemetry);
    if (status == STORE_OK)
        status = store_commit(&server->store);
    if (status == STORE_OK) {
        runs(server, image, server->incoming_length, SOURCE_STORE);
        return answer_image(server, x, APP_OK, true);
    }
    run_again(server); /* loads the committed image again */
    server->place = UINT32_MAX;
    return answer_image(server, x, REASON_STORE + status, false);
}

__attribute__((noinline)) static int batch_load(const server_batch_t *batch, uint8_t real,
                                                const uint8_t *image, uint32_t length) {
    return batch->load(batch->context, real, image, length);
}

int serve_IMAGE_END(server_t *server, exchange_t *x) {
    if (x->size != 1)
        return LINK_SIZE;
    if (!server->incoming || x->in[0] != server->incoming_target ||
        server->received != server->incoming_length)
        return LINK_ORDER;
    server->incoming = 0;
    if (server->received_crc != server->incoming_crc)
        return LINK_CRC;
    if (!app_rests(server->app))
        return LINK_STATE;
    if (server->incoming_target == TARGET_APP && lease_held(&server->app->lease))
        return LINK_LEASED; /* taken since IMAGE_BEGIN */
    if (server->incoming_target == TARGET_APP && in_place(server))
        return take_in_place(server, x);
    const uint8_t *image = server->port->incoming;
    if (server->incoming_target >= TARGET_BATCH) {
        const server_batch_t *batch = server->port->batch;
        server->place = UINT32_MAX;
        const uint8_t real = (uint8_t)(server->incoming_target - TARGET_BATCH);
        return answer_image(server, x, batch_load(batch, real, image, server->incoming_length),
                            false);
    }
    const int reason = load(server, image, server->incoming_length);
    if (reason == APP_OK) {
        memcpy(server->port->image, image, server->incoming_length);
        runs(server, server->port->image, server->incoming_length, SOURCE_LINK);
    }
    return answer_image(server, x, reason, false);
}

int serve_IMAGE_READ(server_t *server, exchange_t *x) {
    if (x->size != 6)
        return LINK_SIZE;
    const uint32_t offset = get_u32(x->in + 1), count = x->in[5];
    uint32_t length = server->running_length;
    if (x->in[0] > 1 || (x->in[0] == 1 && set_image(&server->store, &length) != STORE_OK))
        return LINK_INDEX;
    if (offset > length || count > length - offset || count > x->room - x->used)
        return LINK_INDEX;
    if (x->in[0] == 1)
        store_read(&server->store, SET_IMAGE + offset, x->out + x->used, count);
    else
        memcpy(x->out + x->used, server->running + offset, count);
    x->used += count;
    return LINK_OK;
}

static int save(server_t *server) {
    store_t *store = &server->store;
    int status = store_begin(store, server->running_length + SET_TABLES);
    if (status == STORE_OK)
        status = set_put_head(store, server->running_length);
    if (status == STORE_OK)
        status = store_put(store, server->running, server->running_length);
    if (status == STORE_OK)
        status = set_put_tables(store, server->app, &server->telemetry);
    return status == STORE_OK ? store_commit(store) : status;
}

int serve_SAVE(server_t *server, exchange_t *x) {
    if (x->size != 0)
        return LINK_SIZE;
    float *before = in_place(server) ? app_lend(server->app) : NULL;
    if (!app_rests(server->app) || (in_place(server) && before == NULL))
        return LINK_STATE;
    if (server->running_length == 0)
        return LINK_NOTHING;
    if (server->port->medium == NULL)
        return store_refused(x, STORE_E_MEDIUM);
    /* The flash wears: what is stored already is not written again. */
    const bool same = server->source == SOURCE_STORE && server_saved(server) &&
                      set_chosen(&server->store, &server->telemetry);
    const int status = same ? STORE_OK : save(server);
    if (status != STORE_OK)
        return store_refused(x, status);
    if (!same && in_place(server)) { /* the same image is now in the other slot */
        each_parameter(server->app, before, false);
        server->running = slot_image(server, (unsigned)server->store.current);
        const int reason = app_load(server->app, server->running, server->running_length);
        if (reason != APP_OK)
            return server_refused(x, reason);
        each_parameter(server->app, before, true);
    }
    server->source = SOURCE_STORE;
    out_u8(x, (server->port->flags & HELLO_PERSISTENT) != 0);
    out_u32(x, server->store.sequence);
    return LINK_OK;
}

void server_load_stored(server_t *server) {
    const server_port_t *port = server->port;
    uint32_t length, fields, every;
    uint8_t field[SAMPLE_FIELDS];
    telemetry_budget_t budget;
    int status = port->medium == NULL ? STORE_E_EMPTY : store_open(&server->store, port->medium);
    if (status == STORE_OK)
        status = set_image(&server->store, &length);
    if (status == STORE_OK && !in_place(server) && length > port->image_room)
        status = STORE_E_ROOM;
    if (status != STORE_OK) {
        server->reason = (int16_t)(REASON_STORE + status);
        if (status != STORE_E_EMPTY)
            app_fault(server->app, APP_FAULT_IMAGE);
        return;
    }
    const uint8_t *image = port->image;
    if (in_place(server))
        image = slot_image(server, (unsigned)server->store.current);
    else
        store_read(&server->store, SET_IMAGE, port->image, length);
    const int reason = app_load(server->app, image, length);
    if (reason != APP_OK) {
        server->reason = (int16_t)reason;
        app_fault(server->app, reason == APP_E_GENERATED ? APP_FAULT_GENERATED : APP_FAULT_IMAGE);
        return;
    }
    runs(server, image, length, SOURCE_STORE);
    server->unrestored = set_take_tables(&server->store, server->app, field, &fields, &every) > 0;
    (void)telemetry_choose(&server->telemetry, server->app, field, fields, every, SERVER_PAYLOAD,
                           port->baud, &budget);
}

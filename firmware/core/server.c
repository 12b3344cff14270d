// firmware/core/server.h: which request does what. Each handler reads its payload, does it, and
// writes its answer behind the status.
#include "firmware/core/server.h"
#include "firmware/core/crc.h"

#include <string.h>

// A request and the place for its answer, which may be shorter than its longest.
typedef struct {
    const uint8_t *in;
    size_t size;
    uint8_t *out;
    size_t room;
    size_t used;
} exchange_t;

typedef int (*handler_t)(server_t *server, exchange_t *x);

static void out_u8(exchange_t *x, uint32_t value) {
    x->out[x->used++] = (uint8_t)value;
}

static void out_u16(exchange_t *x, uint32_t value) {
    put_u16(x->out + x->used, value);
    x->used += 2;
}

static void out_u32(exchange_t *x, uint32_t value) {
    put_u32(x->out + x->used, value);
    x->used += 4;
}

static void out_f32(exchange_t *x, float value) {
    put_f32(x->out + x->used, value);
    x->used += 4;
}

// As much of it as fits.
static void out_text(exchange_t *x, const char *text) {
    while (*text != '\0' && x->used + 1 < x->room) {
        out_u8(x, (uint8_t)*text++);
    }
    out_u8(x, 0);
}

// A status is large: its place on the stack is given back before anything else is done.
__attribute__((noinline)) static bool outputs_off(const server_t *server) {
    app_status_t status;
    app_status(server->app, &status);
    return status.state == APP_STATE_UNCONFIGURED || status.state == APP_STATE_IDLE ||
           (status.state == APP_STATE_FAULT && status.stop == APP_STOP_RELEASE);
}

__attribute__((noinline)) static uint32_t joints(const server_t *server) {
    app_status_t status;
    app_status(server->app, &status);
    return status.joints;
}

static int refused(exchange_t *x, int reason) {
    out_u16(x, (uint32_t)reason);
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

// ------------------------------------------------------------------------------------- discovery

static int do_HELLO(server_t *server, exchange_t *x) {
    const server_port_t *port = server->port;
    server->once_valid = 0;
    if (x->size != 1) {
        return LINK_SIZE;
    }
    out_u8(x, PROTOCOL_VERSION);
    out_u8(x, SERVER_PAYLOAD);
    out_u8(x, DYN_MAX_JOINTS);
    out_u8(x, port->flags);
    out_u32(x, port->baud);
    out_u8(x, TUNABLES);
    out_u8(x, SAMPLE_FIELDS);
    out_u8(x, port->rows != NULL ? port->rows->methods : 0);
    out_text(x, port->board);
    out_text(x, app_real_name());
    out_text(x, port->build);
    return x->in[0] == PROTOCOL_VERSION ? LINK_OK : LINK_VERSION;
}

static bool tunables_saved(const server_t *server) {
    const uint32_t n = joints(server);
    for (uint32_t t = 0; t < TUNABLES; t++) {
        for (uint32_t joint = 0; joint < (tunable_table[t].per_joint ? n : 1); joint++) {
            float value;
            if (app_get(server->app, t, joint, &value) == APP_OK &&
                !set_holds(&server->store, t, joint, value)) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t stored_crc(const server_t *server, uint32_t *length) {
    uint32_t crc = 0;
    if (set_image(&server->store, length) != STORE_OK) {
        return 0;
    }
    for (uint32_t at = 0; at < *length; at += 4) { // an image is whole words
        uint8_t word[4];
        store_read(&server->store, SET_IMAGE + at, word, sizeof word);
        crc = crc32_add(crc, word, sizeof word);
    }
    return crc;
}

__attribute__((noinline)) static const uint8_t *port_crash(const server_port_t *port,
                                                           size_t *size) {
    *size = 0;
    return port->crash != NULL ? port->crash(port->context, size) : NULL;
}

__attribute__((noinline)) static void port_crash_clear(const server_port_t *port) {
    port->crash_clear(port->context);
}

static int do_STATUS(server_t *server, exchange_t *x) {
    app_status_t status;
    app_status(server->app, &status);
    uint32_t length, flags = 0;
    size_t crash = 0;
    const uint32_t crc = stored_crc(server, &length);
    if (server->running_length != length || server->running_crc != crc) {
        flags |= STATUS_UNSAVED_IMAGE;
    }
    if (!tunables_saved(server)) {
        flags |= STATUS_UNSAVED_TUNABLES;
    }
    if (server->telemetry.fields > 0) {
        flags |= STATUS_TELEMETRY;
    }
    if (port_crash(server->port, &crash) != NULL) {
        flags |= STATUS_CRASHED;
    }
    if (status.moving) {
        flags |= STATUS_MOVING;
    }
    out_u8(x, status.state);
    out_u8(x, status.fault);
    out_u8(x, flags);
    out_u8(x, status.joints);
    out_u32(x, status.ticks);
    out_u32(x, status.rate_hz);
    out_u32(x, server->running_length);
    out_u32(x, server->running_crc);
    out_u8(x, server->source);
    out_u16(x, (uint16_t)server->reason);
    out_u16(x, app_knot_credits(server->app));
    out_u32(x, server->store.current == STORE_NONE ? 0 : server->store.sequence);
    return LINK_OK;
}

__attribute__((noinline)) static void port_counters(const server_port_t *port,
                                                    uint32_t counter[COUNTERS]) {
    port->counters(port->context, counter);
}

static int do_COUNTERS(server_t *server, exchange_t *x) {
    app_status_t status;
    app_status(server->app, &status);
    uint32_t counter[COUNTERS] = {0};
    port_counters(server->port, counter);
    counter[COUNTER_TICKS] = status.ticks;
    counter[COUNTER_OVERRUNS] = status.overruns;
    counter[COUNTER_UNPROVED] = status.unproved;
    counter[COUNTER_FRAMES] = server->reader.stats.good;
    counter[COUNTER_DAMAGED] = server->reader.stats.damaged;
    counter[COUNTER_OVERLONG] = server->reader.stats.overlong;
    counter[COUNTER_SAMPLES] = server->telemetry.sent;
    counter[COUNTER_DROPPED] = telemetry_lost(&server->telemetry, server->app);
    for (unsigned i = 0; i < COUNTERS; i++) {
        out_u32(x, counter[i]);
    }
    return LINK_OK;
}

// A record that is longer than an answer goes out in pieces: what is before `skip` or behind the
// room is counted only.
typedef struct {
    exchange_t *x;
    uint32_t skip, total;
} record_t;

static void record_byte(record_t *record, uint32_t byte) {
    if (record->total++ >= record->skip && record->x->used < record->x->room) {
        out_u8(record->x, byte);
    }
}

static void record_bytes(record_t *record, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        record_byte(record, ((const uint8_t *)bytes)[i]);
    }
}

static void record_text(record_t *record, const char *text) {
    record_bytes(record, text, strlen(text) + 1);
}

static void record_f32(record_t *record, float value) {
    uint8_t bytes[4];
    put_f32(bytes, value);
    record_bytes(record, bytes, sizeof bytes);
}

static void describe_robot(const server_t *server, record_t *record) {
    const uint32_t n = joints(server);
    record_byte(record, n);
    if (n == 0) {
        record_text(record, "");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        record_byte(record, get_u32(server->running + IMAGE_HEAD_SIZE + i * IMAGE_JOINT_SIZE));
    }
    const char *name = (const char *)server->running + IMAGE_HEAD_SIZE + n * IMAGE_JOINT_SIZE;
    for (uint32_t i = 0; i <= n; i++) { // of the robot, then of its joints
        record_text(record, name);
        name += strlen(name) + 1;
    }
}

static void describe_tunable(record_t *record, const tunable_info_t *info) {
    record_byte(record, info->per_joint);
    record_byte(record, info->idle_only);
    record_f32(record, info->least);
    record_f32(record, info->most);
    record_f32(record, info->fallback);
    record_text(record, info->name);
    record_text(record, info->unit);
    record_text(record, info->help);
}

static void describe_field(const server_t *server, record_t *record, uint32_t field) {
    const sample_info_t *info = &sample_table[field];
    const uint32_t count = info->per_joint ? joints(server) : 1;
    const bool fixed = app_real_name()[0] == 'q';
    record_byte(record, info->per_joint);
    record_byte(record, info->quantity == QUANTITY_NONE ? KIND_U32 : fixed ? KIND_Q31 : KIND_F32);
    record_byte(record, fixed && info->quantity != QUANTITY_NONE ? count : 0);
    for (uint32_t i = 0; fixed && info->quantity != QUANTITY_NONE && i < count; i++) {
        record_byte(record, (uint32_t)app_exponent(server->app, info->quantity, i));
    }
    record_text(record, info->name);
    record_text(record, quantity_unit(info->quantity, 0));
    record_text(record, quantity_unit(info->quantity, 1));
    record_text(record, info->help);
}

__attribute__((noinline)) static void rows_describe(const server_rows_t *rows, uint8_t method,
                                                    uint8_t *problem, const char **problem_name,
                                                    const char **method_name) {
    rows->describe(rows->context, method, problem, problem_name, method_name);
}

static void describe_method(const server_rows_t *rows, record_t *record, uint8_t method) {
    uint8_t problem;
    const char *problem_name, *method_name;
    rows_describe(rows, method, &problem, &problem_name, &method_name);
    record_byte(record, problem);
    record_byte(record, rows->reals);
    record_text(record, problem_name);
    record_text(record, method_name);
}

static void describe_choice(const telemetry_t *telemetry, record_t *record) {
    uint8_t every[4];
    put_u32(every, telemetry->every);
    record_bytes(record, every, sizeof every);
    record_byte(record, telemetry->fields);
    record_bytes(record, telemetry->field, telemetry->fields);
}

static int do_DESCRIBE(server_t *server, exchange_t *x) {
    if (x->size != 4) {
        return LINK_SIZE;
    }
    const uint8_t index = x->in[1];
    record_t record = {x, get_u16(x->in + 2), 0};
    uint8_t *const total = x->out + x->used;
    out_u16(x, 0);
    switch (x->in[0]) {
    case TOPIC_ROBOT:
        describe_robot(server, &record);
        break;
    case TOPIC_TUNABLE:
        if (index >= TUNABLES) {
            return LINK_INDEX;
        }
        describe_tunable(&record, &tunable_table[index]);
        break;
    case TOPIC_FIELD:
        if (index >= SAMPLE_FIELDS) {
            return LINK_INDEX;
        }
        describe_field(server, &record, index);
        break;
    case TOPIC_METHOD:
        if (server->port->rows == NULL || index >= server->port->rows->methods) {
            return LINK_INDEX;
        }
        describe_method(server->port->rows, &record, index);
        break;
    case TOPIC_CHOICE:
        describe_choice(&server->telemetry, &record);
        break;
    default:
        return LINK_INDEX;
    }
    put_u16(total, record.total);
    return LINK_OK;
}

// -------------------------------------------------------------------------------------- tunables

static int do_GET(server_t *server, exchange_t *x) {
    float value;
    if (x->size != 2) {
        return LINK_SIZE;
    }
    if (x->in[0] >= TUNABLES || app_get(server->app, x->in[0], x->in[1], &value) != APP_OK) {
        return LINK_INDEX;
    }
    out_f32(x, value);
    out_u8(x, set_holds(&server->store, x->in[0], x->in[1], value));
    return LINK_OK;
}

static int do_SET(server_t *server, exchange_t *x) {
    float value = 0;
    if (x->size != 6) {
        return LINK_SIZE;
    }
    if (x->in[0] >= TUNABLES) {
        return LINK_INDEX;
    }
    const int reason = app_set(server->app, x->in[0], x->in[1], get_f32(x->in + 2));
    if (reason != APP_OK) {
        return refused(x, reason);
    }
    (void)app_get(server->app, x->in[0], x->in[1], &value);
    out_f32(x, value);
    return LINK_OK;
}

// ---------------------------------------------------------------------------------------- images

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

static bool has_rows(const server_t *server, int real) {
    const server_rows_t *rows = server->port->rows;
    return rows != NULL && real < 8 && (rows->reals >> real & 1) != 0;
}

static int do_IMAGE_BEGIN(server_t *server, exchange_t *x) {
    if (x->size != 9) {
        return LINK_SIZE;
    }
    const uint32_t length = get_u32(x->in + 1);
    const uint8_t target = x->in[0];
    server->incoming = 0;
    if (!outputs_off(server)) {
        return LINK_STATE;
    }
    if (target >= TARGET_ROWS && !has_rows(server, target - TARGET_ROWS)) {
        return LINK_ABSENT;
    }
    if (in_place(server) && target == TARGET_APP) {
        int status = server->port->medium == NULL
                         ? STORE_E_MEDIUM
                         : store_begin(&server->store, length + SET_TABLES);
        if (status == STORE_OK) {
            status = set_put_head(&server->store, length);
        }
        if (status != STORE_OK) {
            return store_refused(x, status);
        }
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

static int do_IMAGE_DATA(server_t *server, exchange_t *x) {
    if (x->size < 5) {
        return LINK_SIZE;
    }
    const uint32_t offset = get_u32(x->in), count = (uint32_t)x->size - 4;
    const uint8_t *bytes = x->in + 4;
    if (!server->incoming || offset > server->received) {
        return LINK_ORDER;
    }
    if (offset < server->received) {
        return offset + count == server->received ? LINK_OK : LINK_ORDER;
    }
    if (count > server->incoming_length - offset) {
        return LINK_ORDER;
    }
    if (in_place(server) && server->incoming_target == TARGET_APP) {
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

_Static_assert(SET_VALUES * sizeof(float) <= sizeof((app_t){0}.motion.as),
               "while no motion is on, its memory holds the tunables");

// Tunables of the arm that runs, while another one is tried: kept, or back to what they were.
static void each_tunable(server_t *server, bool back) {
    app_t *app = server->app;
    float *value = app->motion.as.lent;
    app_status_t status;
    app_status(app, &status);
    unsigned i = 0;
    for (uint32_t t = 0; t < TUNABLES; t++) {
        const uint32_t count = tunable_table[t].per_joint ? status.joints : 1;
        for (uint32_t joint = 0; joint < count; joint++, i++) {
            (void)(back ? app_set(app, t, joint, value[i]) : app_get(app, t, joint, &value[i]));
        }
    }
}

// The arm and the tunables from before; without one nothing runs.
static void run_again(server_t *server) {
    if (app_load(server->app, server->running, server->running_length) == APP_OK) {
        each_tunable(server, true);
    }
}

// Takes a new arm over; if it is refused, what ran before runs again as it was.
static int load(server_t *server, const uint8_t *image, uint32_t length) {
    telemetry_budget_t budget;
    const bool ran = server->running_length > 0;
    if (!app_lend(server->app)) {
        return APP_E_STATE;
    }
    if (ran) {
        each_tunable(server, false);
    }
    const int reason = app_load(server->app, image, length);
    server->place = app_where(server->app);
    if (reason == APP_OK) { // whose choice was for another arm
        (void)telemetry_choose(&server->telemetry, server->app, NULL, 0, 0, SERVER_PAYLOAD,
                               server->port->baud, &budget);
    } else if (ran) {
        run_again(server);
    }
    return reason;
}

// The image lies in the spare slot already and is used there; only then it is made to count.
static int take_in_place(server_t *server, exchange_t *x) {
    const uint8_t *image = slot_image(server, store_spare(&server->store));
    const int reason = load(server, image, server->incoming_length);
    if (reason != APP_OK) {
        return answer_image(server, x, reason, false);
    }
    int status = set_put_tables(&server->store, server->app, &server->telemetry);
    if (status == STORE_OK) {
        status = store_commit(&server->store);
    }
    if (status == STORE_OK) {
        runs(server, image, server->incoming_length, SOURCE_STORE);
        return answer_image(server, x, APP_OK, true);
    }
    run_again(server); // what is stored, and not what does not count
    server->place = UINT32_MAX;
    return answer_image(server, x, REASON_STORE + status, false);
}

__attribute__((noinline)) static int rows_load(const server_rows_t *rows, uint8_t real,
                                               const uint8_t *image, uint32_t length) {
    return rows->load(rows->context, real, image, length);
}

static int do_IMAGE_END(server_t *server, exchange_t *x) {
    if (x->size != 1) {
        return LINK_SIZE;
    }
    if (!server->incoming || x->in[0] != server->incoming_target ||
        server->received != server->incoming_length) {
        return LINK_ORDER;
    }
    server->incoming = 0;
    if (server->received_crc != server->incoming_crc) {
        return LINK_CRC;
    }
    if (!outputs_off(server)) {
        return LINK_STATE;
    }
    if (server->incoming_target == TARGET_APP && in_place(server)) {
        return take_in_place(server, x);
    }
    const uint8_t *image = server->port->incoming;
    if (server->incoming_target >= TARGET_ROWS) {
        const server_rows_t *rows = server->port->rows;
        server->place = UINT32_MAX;
        const uint8_t real = (uint8_t)(server->incoming_target - TARGET_ROWS);
        return answer_image(server, x, rows_load(rows, real, image, server->incoming_length),
                            false);
    }
    const int reason = load(server, image, server->incoming_length);
    if (reason == APP_OK) {
        memcpy(server->port->image, image, server->incoming_length);
        runs(server, server->port->image, server->incoming_length, SOURCE_LINK);
    }
    return answer_image(server, x, reason, false);
}

static int do_IMAGE_READ(server_t *server, exchange_t *x) {
    if (x->size != 6) {
        return LINK_SIZE;
    }
    const uint32_t offset = get_u32(x->in + 1), count = x->in[5];
    uint32_t length = server->running_length;
    if (x->in[0] > 1 || (x->in[0] == 1 && set_image(&server->store, &length) != STORE_OK)) {
        return LINK_INDEX;
    }
    if (offset > length || count > length - offset || count > x->room - x->used) {
        return LINK_INDEX;
    }
    if (x->in[0] == 1) {
        store_read(&server->store, SET_IMAGE + offset, x->out + x->used, count);
    } else {
        memcpy(x->out + x->used, server->running + offset, count);
    }
    x->used += count;
    return LINK_OK;
}

static int save(server_t *server) {
    store_t *store = &server->store;
    int status = store_begin(store, server->running_length + SET_TABLES);
    if (status == STORE_OK) {
        status = set_put_head(store, server->running_length);
    }
    if (status == STORE_OK) {
        status = store_put(store, server->running, server->running_length);
    }
    if (status == STORE_OK) {
        status = set_put_tables(store, server->app, &server->telemetry);
    }
    return status == STORE_OK ? store_commit(store) : status;
}

static int do_SAVE(server_t *server, exchange_t *x) {
    if (x->size != 0) {
        return LINK_SIZE;
    }
    if (!outputs_off(server)) {
        return LINK_STATE;
    }
    if (server->running_length == 0) {
        return LINK_NOTHING;
    }
    if (server->port->medium == NULL) {
        return store_refused(x, STORE_E_MEDIUM);
    }
    const int status = save(server);
    if (status != STORE_OK) {
        return store_refused(x, status);
    }
    if (in_place(server)) { // the same bytes, in the other slot
        each_tunable(server, false);
        server->running = slot_image(server, (unsigned)server->store.current);
        const int reason = app_load(server->app, server->running, server->running_length);
        if (reason != APP_OK) {
            return refused(x, reason);
        }
        each_tunable(server, true);
    }
    server->source = SOURCE_STORE;
    out_u8(x, (server->port->flags & HELLO_PERSISTENT) != 0);
    out_u32(x, server->store.sequence);
    return LINK_OK;
}

// ------------------------------------------------------------------------------------- telemetry

static int do_TELEMETRY(server_t *server, exchange_t *x) {
    telemetry_budget_t budget;
    if (x->size < 4) {
        return LINK_SIZE;
    }
    const int status =
        telemetry_choose(&server->telemetry, server->app, x->in + 4, x->size - 4, get_u32(x->in),
                         SERVER_PAYLOAD, server->port->baud, &budget);
    out_u16(x, budget.bytes);
    out_u32(x, budget.needed);
    out_u32(x, budget.available);
    return status;
}

static int do_CREDIT(server_t *server, exchange_t *x) {
    if (x->size != 4) {
        return LINK_SIZE;
    }
    telemetry_pay(&server->telemetry, server->app, get_u32(x->in));
    return LINK_OK;
}

// --------------------------------------------------------------------------------------- motions

static int do_MOTION(server_t *server, exchange_t *x) {
    motion_t motion = {0};
    if (x->size < 5 || (x->size - 5) % 4 != 0 || (x->size - 5) / 4 > DYN_MAX_JOINTS) {
        return LINK_SIZE;
    }
    motion.kind = x->in[0];
    motion.duration_s = get_f32(x->in + 1);
    const uint32_t values = (uint32_t)(x->size - 5) / 4;
    if (values != 0 && values != joints(server)) {
        return LINK_SIZE;
    }
    for (uint32_t i = 0; i < values; i++) {
        motion.value[i] = get_f32(x->in + 5 + 4 * i);
    }
    const int reason = app_motion_start(server->app, &motion);
    out_u16(x, (uint32_t)reason);
    out_u8(x, reason != APP_OK ? app_where(server->app) : 0xff);
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

static int do_KNOTS(server_t *server, exchange_t *x) {
    const uint32_t n = joints(server);
    if (n == 0 || x->size % (4 * n) != 0) {
        return LINK_SIZE;
    }
    const uint32_t points = (uint32_t)x->size / (4 * n);
    int reason = APP_OK;
    if (points == 0) {
        reason = app_knots_end(server->app);
    } else if (app_knot_credits(server->app) > 0 && points > app_knot_credits(server->app)) {
        reason = APP_E_ROOM; // all or none; without any the push knows why
    }
    for (uint32_t p = 0; p < points && reason == APP_OK; p++) {
        float q[DYN_MAX_JOINTS];
        for (uint32_t i = 0; i < n; i++) {
            q[i] = get_f32(x->in + 4 * (p * n + i));
        }
        reason = app_knot_push(server->app, q);
    }
    out_u16(x, (uint32_t)reason);
    out_u16(x, app_knot_credits(server->app));
    return reason == APP_OK ? LINK_OK : LINK_APP;
}

static int do_STOP(server_t *server, exchange_t *x) {
    if (x->size != 1) {
        return LINK_SIZE;
    }
    return refused(x, x->in[0] == 0 ? app_stop(server->app) : app_off(server->app));
}

static int do_CLEAR(server_t *server, exchange_t *x) {
    return x->size == 0 ? refused(x, app_clear(server->app)) : LINK_SIZE;
}

static int do_PLACE(server_t *server, exchange_t *x) {
    const uint32_t n = joints(server);
    float q[DYN_MAX_JOINTS];
    if (n == 0 || x->size != 4 * n) {
        return LINK_SIZE;
    }
    for (uint32_t i = 0; i < n; i++) {
        q[i] = get_f32(x->in + 4 * i);
    }
    return refused(x, app_place(server->app, q));
}

// ------------------------------------------------------------------------------------------ rows

static int do_ROW_PUT(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    if (rows == NULL) {
        return LINK_ABSENT;
    }
    if (x->size < 2 || (x->size - 2) % 8 != 0) {
        return LINK_SIZE;
    }
    const uint32_t first = get_u16(x->in), count = (uint32_t)(x->size - 2) / 8;
    if (first + count > rows->row_room) {
        return LINK_INDEX;
    }
    for (uint32_t i = 0; i < count; i++) {
        rows->row[first + i] = get_f64(x->in + 2 + 8 * i);
    }
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

static int do_ROW_RUN(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    int reason = APP_OK;
    uint32_t limited = 0, cost = 0;
    if (rows == NULL) {
        return LINK_ABSENT;
    }
    if (x->size != 1) {
        return LINK_SIZE;
    }
    if (!outputs_off(server)) {
        return LINK_STATE;
    }
    const int status = rows_run(rows, x->in[0], &reason, &limited, &cost);
    out_u16(x, (uint32_t)reason);
    out_u32(x, limited);
    out_u32(x, cost);
    return status;
}

static int do_ROW_GET(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    if (rows == NULL) {
        return LINK_ABSENT;
    }
    if (x->size != 3) {
        return LINK_SIZE;
    }
    const uint32_t first = get_u16(x->in), count = x->in[2];
    if (first + count > rows->row_room || 8 * count > x->room - x->used) {
        return LINK_INDEX;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_f64(x->out + x->used, rows->row[first + i]);
        x->used += 8;
    }
    return LINK_OK;
}

static int do_WRENCH(server_t *server, exchange_t *x) {
    const server_rows_t *rows = server->port->rows;
    double wrench[6];
    if (rows == NULL) {
        return LINK_ABSENT;
    }
    if (x->size != sizeof wrench) {
        return LINK_SIZE;
    }
    for (unsigned i = 0; i < 6; i++) {
        wrench[i] = get_f64(x->in + 8 * i);
    }
    return rows_wrench(rows, wrench);
}

// ---------------------------------------------------------------------------------------- health

static int do_CRASH(server_t *server, exchange_t *x) {
    const server_port_t *port = server->port;
    size_t size = 0;
    if (x->size != 3) {
        return LINK_SIZE;
    }
    const uint8_t *bytes = port_crash(port, &size);
    record_t record = {x, get_u16(x->in + 1), 0};
    size = bytes != NULL ? size : 0;
    out_u16(x, (uint32_t)size);
    record_bytes(&record, bytes, size);
    if (x->in[0] != 0 && bytes != NULL) {
        port_crash_clear(port);
    }
    return LINK_OK;
}

static int do_STAGES(server_t *server, exchange_t *x) {
    if (x->size != 2) {
        return LINK_SIZE;
    }
    const uint32_t stage = x->in[0];
    if (stage > STAGES) {
        return LINK_INDEX;
    }
    app_stages_t stages;
    app_stages(server->app, &stages);
    out_u32(x, stages.ticks);
    out_u32(x, stages.ticks > 0 ? stages.least[stage] : 0);
    out_u32(x, stages.ticks > 0 ? (uint32_t)(stages.sum[stage] / stages.ticks) : 0);
    out_u32(x, stages.most[stage]);
    out_text(x, stage < STAGES ? stage_name(stage) : "tick");
    if (x->in[1] != 0) {
        app_stages_clear(server->app);
    }
    return LINK_OK;
}

static int do_FAULT(server_t *server, exchange_t *x) {
    app_status_t status;
    app_status(server->app, &status);
    out_u8(x, status.fault);
    out_u8(x, status.fault_joint < 255 ? status.fault_joint : 255);
    out_u8(x, status.stop);
    out_u8(x, status.enabled);
    out_f32(x, status.fault_value);
    out_f32(x, status.fault_limit);
    out_u32(x, status.limited);
    return x->size == 0 ? LINK_OK : LINK_SIZE;
}

static int do_RESET(server_t *server, exchange_t *x) {
    if (x->size != 4) {
        return LINK_SIZE;
    }
    if (get_u32(x->in) != RESET_WORD || server->port->reset == NULL) {
        return LINK_ABSENT;
    }
    if (!outputs_off(server)) {
        return LINK_STATE;
    }
    server->resetting = 1;
    return LINK_OK;
}

// --------------------------------------------------------------------------------- the dispatcher

enum { AGAIN, ONCE };

static const struct {
    handler_t run;
    uint8_t once;
} handlers[] = {
#define X(number, name, once, request, reply, help) [number] = {do_##name, once},
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
    if (message >= sizeof handlers / sizeof handlers[0] || handlers[message].run == NULL) {
        payload[0] = LINK_MESSAGE;
        send(server, frame, 1);
        return;
    }
    const uint32_t crc = crc32_add(0, frame, size);
    if (handlers[message].once && server->once_valid && server->once_crc == crc &&
        memcmp(server->once_head, frame, PROTOCOL_HEAD) == 0) {
        memcpy(payload, server->once_reply, server->once_size);
        send(server, frame, server->once_size);
        return;
    }
    payload[0] = (uint8_t)dispatch(server, message, &x);
    if (handlers[message].once) {
        server->once_valid = 1;
        server->once_crc = crc;
        memcpy(server->once_head, frame, PROTOCOL_HEAD);
        server->once_size = (uint8_t)x.used;
        memcpy(server->once_reply, payload, x.used);
    }
    send(server, frame, x.used);
}

// The calls through pointers, each in a function of its own so that the bound of the stack can be
// computed (tools/stack.py --indirect).
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

// An answer that found no room stays in tx until there is some.
static bool flush(server_t *server) {
    if (server->reply > 0) {
        if (line_room(server->port) < server->reply ||
            !line_write(server->port, server->tx, server->reply)) {
            return false;
        }
        server->reply = 0;
        if (server->resetting) {
            start_again(server->port);
        }
    }
    return true;
}

static bool receive(server_t *server) {
    bool any = false;
    uint8_t byte;
    while (flush(server) && line_read(server->port, &byte)) {
        const size_t size = frame_take(&server->reader, byte);
        any = true;
        if (size >= PROTOCOL_HEAD) {
            answer(server, server->rx, size);
        }
    }
    return any;
}

static void send_samples(server_t *server) {
    const server_port_t *port = server->port;
    const uint32_t n = joints(server);
    for (unsigned i = 0; i < APP_SAMPLES; i++) {
        const size_t size = telemetry_next(&server->telemetry, server->app, n, server->tx,
                                           SERVER_PAYLOAD, line_room(port));
        if (size == 0 || !line_write(port, server->tx, size)) {
            return;
        }
    }
}

bool server_poll(server_t *server) {
    const bool any = receive(server);
    if (server->reply == 0) {
        send_samples(server);
    }
    return any;
}

static void load_stored(server_t *server) {
    const server_port_t *port = server->port;
    uint32_t length, fields, every;
    uint8_t field[SAMPLE_FIELDS];
    telemetry_budget_t budget;
    int status = port->medium == NULL ? STORE_E_EMPTY : store_open(&server->store, port->medium);
    if (status == STORE_OK) {
        status = set_image(&server->store, &length);
    }
    if (status == STORE_OK && !in_place(server) && length > port->image_room) {
        status = STORE_E_ROOM;
    }
    if (status != STORE_OK) {
        server->reason = (int16_t)(REASON_STORE + status);
        if (status != STORE_E_EMPTY) {
            app_fault(server->app, APP_FAULT_PARAMETERS);
        }
        return;
    }
    const uint8_t *image = port->image;
    if (in_place(server)) {
        image = slot_image(server, (unsigned)server->store.current);
    } else {
        store_read(&server->store, SET_IMAGE, port->image, length);
    }
    const int reason = app_load(server->app, image, length);
    if (reason != APP_OK) {
        server->reason = (int16_t)reason;
        app_fault(server->app,
                  reason == APP_E_GENERATED ? APP_FAULT_GENERATED : APP_FAULT_PARAMETERS);
        return;
    }
    runs(server, image, length, SOURCE_STORE);
    server->unknown =
        (uint16_t)set_take_tables(&server->store, server->app, field, &fields, &every);
    (void)telemetry_choose(&server->telemetry, server->app, field, fields, every, SERVER_PAYLOAD,
                           port->baud, &budget);
}

void server_start(server_t *server, app_t *app, const server_port_t *port) {
    memset(server, 0, sizeof *server);
    server->app = app;
    server->port = port;
    server->store.current = STORE_NONE;
    frame_reader_init(&server->reader, server->rx, sizeof server->rx);
    load_stored(server);
}

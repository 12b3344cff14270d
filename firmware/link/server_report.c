/* firmware/link/server_room.h: requests for reports of the board: identity, state, tables, costs
 * and faults. */
#include "firmware/app/fit.h"
#include "firmware/params/bytes.h"
#include "firmware/link/server_room.h"

#include <string.h>

int serve_HELLO(server_t *server, exchange_t *x) {
    const server_port_t *port = server->port;
    if (x->size != 1)
        return LINK_SIZE;
    out_u8(x, PROTOCOL_VERSION);
    out_u8(x, SERVER_PAYLOAD);
    out_u8(x, DYN_MAX_JOINTS);
    out_u8(x, port->flags);
    out_u32(x, port->baud);
    out_u8(x, PARAMETERS);
    out_u8(x, SAMPLE_FIELDS);
    out_u8(x, port->batch != NULL ? port->batch->methods : 0);
    out_text(x, port->board);
    out_text(x, app_real_name());
    out_text(x, port->build);
    return x->in[0] == PROTOCOL_VERSION ? LINK_OK : LINK_VERSION;
}

bool server_saved(const server_t *server) {
    const uint32_t n = server_joints(server);
    for (uint32_t t = 0; t < PARAMETERS; t++) {
        for (uint32_t joint = 0; joint < (parameter_table[t].per_joint ? n : 1); joint++) {
            float value;
            if (app_lasting(server->app, t, joint, &value) == APP_OK &&
                !set_contains(&server->store, t, joint, value))
                return false;
        }
    }
    return true;
}

static uint32_t stored_crc(const server_t *server, uint32_t *length) {
    uint32_t crc = 0;
    if (set_image(&server->store, length) != STORE_OK)
        return 0;
    for (uint32_t at = 0; at < *length; at += 4) { /* the length of an image is a multiple of 4 */
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

int serve_STATUS(server_t *server, exchange_t *x) {
    app_status_t status;
    app_status(server->app, &status);
    uint32_t length, flags = 0;
    size_t crash = 0;
    const uint32_t crc = stored_crc(server, &length);
    if (server->running_length != length || server->running_crc != crc)
        flags |= STATUS_UNSAVED_IMAGE;
    if (!server_saved(server))
        flags |= STATUS_UNSAVED_PARAMETERS;
    if (server->telemetry.fields > 0)
        flags |= STATUS_TELEMETRY;
    if (port_crash(server->port, &crash) != NULL)
        flags |= STATUS_CRASHED;
    if (status.moving)
        flags |= STATUS_MOVING;
    if (server->app->notice & NOTICE_WEAKER)
        flags |= STATUS_WEAKER;
    if (server->app->notice & NOTICE_OVERRIDDEN)
        flags |= STATUS_OVERRIDDEN;
    if (server->unrestored)
        flags |= STATUS_UNRESTORED;
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
    out_u16(x, app_point_credits(server->app));
    out_u32(x, server->store.current == STORE_NONE ? 0 : server->store.sequence);
    const bool told = server->app->notice & NOTICE_LOAD;
    const residual_t load = told ? app_residual(server->app) : (residual_t){APP_NO_JOINT, 0, 0};
    out_u8(x, (uint8_t)load.joint);
    out_f32(x, load.torque);
    out_f32(x, load.mass);
    out_u32(x, status.unhomed);
    out_u32(x, (uint32_t)server->app->safety.guard.supply_mV);
    return LINK_OK;
}

__attribute__((noinline)) static void port_counters(const server_port_t *port,
                                                    uint32_t counter[COUNTERS]) {
    port->counters(port->context, counter);
}

int serve_COUNTERS(server_t *server, exchange_t *x) {
    app_status_t status;
    app_status(server->app, &status);
    uint32_t counter[COUNTERS] = {0};
    port_counters(server->port, counter);
    counter[COUNTER_TICKS] = status.ticks;
    counter[COUNTER_OVERRUNS] = status.overruns;
    counter[COUNTER_LOST] = server->app->lost;
    counter[COUNTER_UNPROVED] = status.unproved;
    counter[COUNTER_FRAMES] = server->reader.stats.good;
    counter[COUNTER_DAMAGED] = server->reader.stats.damaged;
    counter[COUNTER_OVERLONG] = server->reader.stats.overlong;
    counter[COUNTER_SAMPLES] = server->telemetry.sent;
    counter[COUNTER_DROPPED] = telemetry_lost(&server->telemetry, server->app);
    for (unsigned i = 0; i < COUNTERS; i++)
        out_u32(x, counter[i]);
    return LINK_OK;
}

/* A record that is longer than an answer is sent in pieces. Bytes before `skip` or beyond the room
 * are only counted. */
typedef struct {
    exchange_t *x;
    uint32_t skip, total;
} record_t;

static void record_byte(record_t *record, uint32_t byte) {
    if (record->total++ >= record->skip && record->x->used < record->x->room)
        out_u8(record->x, byte);
}

static void record_bytes(record_t *record, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        record_byte(record, ((const uint8_t *)bytes)[i]);
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
    const uint32_t n = server_joints(server);
    record_byte(record, n);
    if (n == 0) {
        record_text(record, "");
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        record_byte(record, get_u32(server->running + IMAGE_HEAD_SIZE + i * IMAGE_JOINT_SIZE));
    const char *name = (const char *)server->running + IMAGE_HEAD_SIZE + n * IMAGE_JOINT_SIZE;
    for (uint32_t i = 0; i <= n; i++) { /* name of the robot, then the names of its joints */
        record_text(record, name);
        name += strlen(name) + 1;
    }
}

static void describe_parameter(record_t *record, const parameter_info_t *info) {
    record_byte(record, info->per_joint);
    record_byte(record, (uint32_t)info->idle_only | (uint32_t)(info->weaker > 0) << 1 |
                            (uint32_t)(info->weaker < 0) << 2);
    record_f32(record, info->least);
    record_f32(record, info->most);
    record_f32(record, info->fallback);
    record_text(record, info->name);
    record_text(record, info->unit);
    record_text(record, info->help);
}

static void describe_field(const server_t *server, record_t *record, uint32_t field) {
    const sample_info_t *info = &sample_table[field];
    const uint32_t count = info->per_joint ? server_joints(server) : 1;
    const bool fixed = app_real_name()[0] == 'q';
    record_byte(record, info->per_joint);
    record_byte(record, info->quantity == QUANTITY_NONE ? KIND_U32 : fixed ? KIND_Q31 : KIND_F32);
    record_byte(record, fixed && info->quantity != QUANTITY_NONE ? count : 0);
    for (uint32_t i = 0; fixed && info->quantity != QUANTITY_NONE && i < count; i++)
        record_byte(record, (uint32_t)app_exponent(server->app, info->quantity, i));
    record_text(record, info->name);
    record_text(record, quantity_unit(info->quantity, 0));
    record_text(record, quantity_unit(info->quantity, 1));
    record_text(record, info->help);
}

__attribute__((noinline)) static void batch_describe(const server_batch_t *batch, uint8_t method,
                                                     uint8_t *problem, const char **problem_name,
                                                     const char **method_name) {
    batch->describe(batch->context, method, problem, problem_name, method_name);
}

static void describe_method(const server_batch_t *batch, record_t *record, uint8_t method) {
    uint8_t problem;
    const char *problem_name, *method_name;
    batch_describe(batch, method, &problem, &problem_name, &method_name);
    record_byte(record, problem);
    record_byte(record, batch->reals);
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

static void describe_lease(const server_t *server, record_t *record) {
    uint8_t left[4];
    put_u32(left, server->app->lease.left);
    record_bytes(record, left, sizeof left);
    record_text(record, lease_held(&server->app->lease) ? server->holder : "");
}

static void describe_override(const overrides_t *overrides, uint32_t k, record_t *record) {
    record_byte(record, overrides->row[k].parameter);
    record_byte(record, overrides->row[k].joint);
    record_f32(record, overrides->beneath[k]);
}

int serve_DESCRIBE(server_t *server, exchange_t *x) {
    if (x->size != 4 && x->size != 5)
        return LINK_SIZE;
    const uint8_t index = x->in[1];
    record_t record = {x, get_u16(x->in + 2), 0};
    uint8_t *const total = x->out + x->used;
    out_u16(x, 0);
    if (x->size == 5 && x->used + x->in[4] < x->room)
        x->room = x->used + x->in[4];
    switch (x->in[0]) {
    case TOPIC_ROBOT:
        describe_robot(server, &record);
        break;
    case TOPIC_PARAMETER:
        if (index >= PARAMETERS)
            return LINK_INDEX;
        describe_parameter(&record, &parameter_table[index]);
        break;
    case TOPIC_FIELD:
        if (index >= SAMPLE_FIELDS)
            return LINK_INDEX;
        describe_field(server, &record, index);
        break;
    case TOPIC_METHOD:
        if (server->port->batch == NULL || index >= server->port->batch->methods)
            return LINK_INDEX;
        describe_method(server->port->batch, &record, index);
        break;
    case TOPIC_CHOICE:
        describe_choice(&server->telemetry, &record);
        break;
    case TOPIC_LEASE:
        describe_lease(server, &record);
        break;
    case TOPIC_OVERRIDE:
        if (index >= server->app->overrides.count)
            return LINK_INDEX;
        describe_override(&server->app->overrides, index, &record);
        break;
    case TOPIC_HEAT:
        for (uint32_t i = 0; i < server->app->n; i++)
            record_byte(&record, app_heat(server->app, i));
        break;
    default:
        return LINK_INDEX;
    }
    put_u16(total, record.total);
    return LINK_OK;
}

/* --------------------------------------------------------------------------------------- health */

int serve_CRASH(server_t *server, exchange_t *x) {
    const server_port_t *port = server->port;
    size_t size = 0;
    if (x->size != 3)
        return LINK_SIZE;
    const uint8_t *bytes = port_crash(port, &size);
    record_t record = {x, get_u16(x->in + 1), 0};
    size = bytes != NULL ? size : 0;
    out_u16(x, (uint32_t)size);
    record_bytes(&record, bytes, size);
    if (x->in[0] != 0 && bytes != NULL)
        port_crash_clear(port);
    return LINK_OK;
}

int serve_STAGES(server_t *server, exchange_t *x) {
    if (x->size != 2)
        return LINK_SIZE;
    const uint32_t stage = x->in[0];
    if (stage > STAGES)
        return LINK_INDEX;
    app_stages_t stages;
    app_stages(server->app, &stages);
    out_u32(x, stages.ticks);
    out_u32(x, stages.ticks > 0 ? stages.least[stage] : 0);
    out_u32(x, stages.ticks > 0 ? (uint32_t)(stages.sum[stage] / stages.ticks) : 0);
    out_u32(x, stages.most[stage]);
    out_text(x, stage < STAGES ? stage_name(stage) : "tick");
    if (x->in[1] != 0)
        app_stages_clear(server->app);
    return LINK_OK;
}

int serve_FAULT(server_t *server, exchange_t *x) {
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

int serve_HARDWARE(server_t *server, exchange_t *x) {
    hardware_t h;
    fit_t fit;
    if (x->size != 1)
        return LINK_SIZE;
    const uint32_t index = x->in[0];
    if (index >= HARDWARE_JOINTS && index >= FITS_JOINT)
        return LINK_INDEX;
    app_hardware(&h);
    fit_check(server->app, true, &fit);
    out_u32(x, fit.bits);
    out_u32(x, index < FITS_JOINT ? fit.joints[index] : 0);
    out_u32(x, h.motors);
    out_u32(x, h.encoders);
    out_u32(x, h.absolute);
    out_u32(x, h.switches);
    out_u32(x, index < HARDWARE_JOINTS ? h.counts[index] : 0);
    out_u16(x, h.brake_open_ms);
    out_u16(x, h.brake_close_ms);
    out_u16(x, h.flags);
    out_u8(x, h.active);
    out_u8(x, h.latched);
    out_u16(x, (h.busy_ns + 999) / 1000);
    return LINK_OK;
}
